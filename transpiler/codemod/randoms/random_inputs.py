"""`rewrite --random-as-input`: random numbers that a node draws become parameters of it, before the codemod does its work.

    noise = np.random.normal(0, sigma, x.shape)      noise = 0 + sigma * random_1

The function gets a keyword parameter for each call that draws, and a function beside it, which draws what a caller does not give
(`np2fx.random_inputs`). The values are those of before, bit by bit, for the same seed: the same calls are made in the same order. So only
what happens exactly once in every call is lifted: at the top of the function, not in a loop, a branch or behind a return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...source.findings.finding import Finding, make_finding
from ...source.reading.config import Config
from ...source.reading.names import Names
from ...source.reading.nodes import Function, Node, find_nodes
from ...source.reading.text import NEWLINE, Source, lines_of, splice
from ...source.reading.walking import children, walk
from ..imports import insertion_line
from . import random_calls as calls

_DECORATOR = "np2fx.random_inputs"


_PLAIN = (ast.Name, ast.Constant, ast.Attribute, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)
_KEEPS = ("numpy.asarray", "numpy.array", "numpy.atleast_1d", "numpy.atleast_2d", "numpy.ascontiguousarray", "numpy.copy")


class _No(Exception):
    """A draw that cannot be an input: the call, why, and what to do instead."""

    def __init__(self, node: ast.AST, message: str, hint: str) -> None:
        super().__init__(message)
        self.node, self.message, self.hint = node, message, hint


@dataclass
class Lifted:
    """The new text, the names of the nodes whose draws became inputs, what was refused, and which line stands where.

    lines  for each line of the new text the line of the old one"""

    text: str
    names: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def lift_random(text: str, path: str = "<string>", config: Config | None = None, all_functions: bool = False,
                without: frozenset[str] = frozenset()) -> Lifted:  # fmt: skip
    """Make inputs of the random numbers in the nodes of a module. `without` are nodes to leave as they are.

    A node is lifted whole or left; then a finding says which call cannot be lifted and why."""
    tree = ast.parse(text)
    source, names = Source(text), Names(tree)
    nodes = [n for n in find_nodes(tree, names, config, path, all_functions) if n.function and n.how not in ("helper", "region")]
    drawers = drawing_functions(tree, names)
    lifted = Lifted(text)
    edits: list[tuple[int, int, str]] = []
    for node in nodes:
        assert node.function is not None
        if node.function.name in drawers or node.name in without:
            continue
        try:
            made = _Lifter(node, node.function, source, names, tree, nodes).edits()
        except _No as no:
            line = getattr(no.node, "lineno", 1)
            column = source.column(line, getattr(no.node, "col_offset", 0))
            lifted.findings.append(make_finding("random", path=path, line=line, column=column, message=no.message, hint=no.hint))
            continue
        if made:
            edits += made
            lifted.names.add(node.name)
    if edits:
        edits += _import_np2fx(tree, source)
        lifted.text = splice(source, 0, len(source.bytes), edits)
        ast.parse(lifted.text)
    lifted.lines = _lines(source, edits)
    return lifted


def not_rewritten(text: str, findings: list[Finding]) -> set[str]:
    """Of the functions with random inputs in `text`, those in which a finding is an error: they are to stay as they were."""
    tree = ast.parse(text)
    names = Names(tree)
    wrong = {f.line for f in findings if f.severity == "error"}
    found: set[str] = set()
    for node in find_nodes(tree, names, None, all_functions=True):
        f = node.function
        if f is not None and any(str(names.qualified(getattr(d, "func", d))).endswith(".random_inputs") for d in f.decorator_list):
            first, _, last = node.span
            found |= {node.name} if wrong & set(range(first, last + 1)) else set()
    return found


def drawing_functions(tree: ast.Module, names: Names) -> set[str]:
    """The functions that `np2fx.random_inputs` decorators name: they are NumPy's side of a node, and stay so."""
    found: set[str] = set()
    for f in walk(tree):
        for d in getattr(f, "decorator_list", ()):
            if isinstance(d, ast.Call) and str(names.qualified(d.func)).endswith(_DECORATOR.rpartition(".")[2]):
                found |= {a.id for a in d.args if isinstance(a, ast.Name)}
    return found


def _import_np2fx(tree: ast.Module, source: Source) -> list[tuple[int, int, str]]:
    """`import np2fx` at the top, where the file has it under no name."""
    if _np2fx_name(tree) is not None:
        return []
    line = insertion_line(tree, lines_of(source.text))
    at = source.after_line(line) if line else 0
    return [(at, at, f"import np2fx{source.newline}")]


def _np2fx_name(tree: ast.Module) -> str | None:
    for s in tree.body:
        for a in s.names if isinstance(s, ast.Import) else ():
            if a.name == "np2fx" or (a.name.startswith("np2fx.") and a.asname is None):
                return a.asname or "np2fx"
    return None


def _lines(source: Source, edits: list[tuple[int, int, str]]) -> list[int]:
    """For each line of the new text, the line of the old one that it comes from."""
    found, old, at = [1], 1, 0
    for start, end, text in [*sorted(edits), (len(source.bytes), len(source.bytes), "")]:
        kept = _newlines(source.slice(at, start))
        found += range(old + 1, old + kept + 1)
        old += kept
        found += [old] * _newlines(text)
        old += _newlines(source.slice(start, end))
        at = end
    return found


def _newlines(text: str) -> int:
    return len(NEWLINE.findall(text))


def _numbers(args: ast.arguments) -> set[str]:
    """The parameters that are annotated or defaulted as Python numbers."""
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    found = {a.arg for a, d in pairs if isinstance(d, ast.Constant) and type(d.value) in (int, float)}
    return found | {a.arg for a in (*positional, *args.kwonlyargs) if calls.path(a.annotation or ast.Constant(0)) in ("int", "float")}


def _optional(args: ast.arguments) -> set[str]:
    """The parameters whose default is None, or whose annotation has one in it."""
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    found = {a.arg for a, d in pairs if isinstance(d, ast.Constant) and d.value is None}
    annotated = [a for a in (*positional, *args.kwonlyargs) if a.annotation is not None]
    return found | {a.arg for a in annotated if any(word in ast.unparse(a.annotation) for word in ("None", "Optional"))}  # type: ignore[arg-type]


class _Lifter:
    """Lifts the draws of one function."""

    def __init__(self, node: Node, function: Function, source: Source, names: Names, tree: ast.Module, nodes: list[Node]) -> None:
        self.node, self.function, self.source, self.names, self.tree, self.nodes = node, function, source, names, tree, nodes
        args = function.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        self.parameters = {a.arg for a in every}
        self.numbers, self.optional = _numbers(args), _optional(args)
        self.annotated = {a.arg for a in every if a.annotation is not None and self._is_generator(a.annotation)}
        self.local_generators = {t.id for s in function.body if isinstance(s, ast.Assign) and self._makes_generator(s.value)
                                 for t in s.targets if isinstance(t, ast.Name)}  # fmt: skip
        self.needed: dict[ast.stmt, None] = {}
        self.used: set[str] = set()

    def edits(self) -> list[tuple[int, int, str]]:
        """The edits that lift every draw of the function; empty where it draws nothing. Raises _No."""
        draws = sorted(self._draws(self.function), key=lambda c: (c.lineno, c.col_offset))
        self._check_helpers()
        if not draws:
            return []
        self._check_callers(draws[0])
        taken = {n.id for n in walk(self.tree) if isinstance(n, ast.Name)} | self.parameters
        made: list[tuple[int, int, str]] = []
        entries: dict[str, str] = {}
        checks: list[str] = []
        parameters: list[str] = []
        number = 0
        for call in draws:
            self._check_place(call)
            number += 1
            while f"random_{number}" in taken:
                number += 1
            name = f"random_{number}"
            drawn, use, check, dtype = self._lifted(call, name)
            entries[name] = drawn
            checks += [check] if check else []
            annotation = self._annotation(dtype)
            parameters.append(f"{name}{annotation} = None" if annotation else f"{name}=None")
            alone = use == name or isinstance(self._parent(call), (ast.Assign, ast.Return))
            made.append((*self.source.span(call), use if alone else f"({use})"))
        self._check_generators(draws)
        self._check_imports(draws)
        made += [self._without(s) for s in self.needed if self._makes_generator(getattr(s, "value", None))]
        return [*made, self._signature(parameters), self._above(entries, checks)]

    # What draws.

    def _draws(self, function: ast.AST) -> Iterator[ast.Call]:
        """The calls that draw. Raises _No for other uses of numpy.random."""
        for n in walk(function):
            if not isinstance(n, ast.Call):
                continue
            name = str(self.names.qualified(n.func))
            if name in calls.GENERATORS:
                if n not in [getattr(s, "value", None) for s in self.function.body if isinstance(s, ast.Assign)]:
                    if n in [*self.function.args.defaults, *self.function.args.kw_defaults]:
                        continue
                    raise _No(n, "a generator is made in the middle of the node", "give it a name first: rng = np.random.default_rng(0)")
                continue
            if name.startswith("numpy.random."):
                method = name.removeprefix("numpy.random.")
                if method not in (*calls.SIGNATURES, *calls.SHAPED):
                    raise _No(n, f"`{self.source.of(n.func)}` changes the generator or its argument", "do it outside the node")
                yield n
            elif isinstance(n.func, ast.Attribute) and n.func.attr in calls.SIGNATURES and self._generator(n.func.value):
                yield n

    def _generator(self, e: ast.expr) -> str | None:
        """The path of an expression that is a random generator: made here or in the module, a parameter, an attribute of one."""
        path = calls.path(e)
        head, _, rest = path.partition(".")
        if not rest and (head in self.local_generators or head in self.annotated):
            return head
        if isinstance(e, ast.Name) and self.names.is_global_variable(e):
            return head if any(self._makes_generator(s.value) for s in self._module_assignments(head)) else None
        if head in self.parameters and not (rest and head not in ("self", "cls")) and (rest or self._only_drawn_from(head)):
            return path
        return None

    def _module_assignments(self, name: str) -> Iterator[ast.Assign]:
        for s in self.tree.body:
            if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in s.targets):
                yield s

    def _makes_generator(self, value: ast.expr | None) -> bool:
        return isinstance(value, ast.Call) and str(self.names.qualified(value.func)) in calls.GENERATORS

    def _is_generator(self, annotation: ast.expr) -> bool:
        inner = [n for n in walk(annotation) if isinstance(n, (ast.Name, ast.Attribute))]
        return any(str(self.names.qualified(n)) in calls.GENERATORS for n in inner)

    def _only_drawn_from(self, parameter: str) -> bool:
        """Every use of a parameter is a method that draws: it is a generator."""
        uses = [n for n in walk(self.function) if isinstance(n, ast.Name) and n.id == parameter]
        parents = {c: n for n in walk(self.function) for c in children(n)}
        return bool(uses) and all(isinstance(p := parents[u], ast.Attribute) and p.attr in calls.SIGNATURES for u in uses)

    # Whether it may be lifted.

    def _check_place(self, call: ast.Call) -> None:
        """The draw happens exactly once in every call of the function."""
        for s in self.function.body:
            inside = any(n is call for n in walk(s))
            if inside and not isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)):
                where = "in a loop" if any(isinstance(n, (ast.For, ast.While)) for n in walk(s)) else "in a branch or a block"
                raise _No(call, f"random numbers drawn {where} cannot be an input: how many there are is not known",
                          "draw them at the top of the function, all at once, and take from them")  # fmt: skip
            if inside and not any(n is call for n in walk(s.value or s)):  # type: ignore[attr-defined]
                raise _No(call, "random numbers drawn for a place to write to", "give the place a name first")
            if inside:
                break
            if any(isinstance(n, ast.Return) for n in walk(s)):
                raise _No(call, "random numbers drawn behind a return are not drawn in every call", "draw them at the top of the function")
        parents = {c: n for n in walk(s) for c in children(n)}
        at: ast.AST = call
        while at in parents:
            at = parents[at]
            if isinstance(at, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)):
                raise _No(call, "random numbers drawn in a comprehension, a lambda or one side of a condition cannot be an input",
                          "draw them at the top of the function, all at once, and take from them")  # fmt: skip

    def _check_helpers(self) -> None:
        """A function of the module that this one calls must not draw: its numbers would come in between."""
        pending, seen = [self.function], {self.function}
        while pending:
            for n in walk(pending.pop()):
                callee = self.names.definition(n.func) if isinstance(n, ast.Call) else None
                if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)) and callee not in seen:
                    inner = [c.func for c in walk(callee) if isinstance(c, ast.Call)]
                    if any(str(self.names.qualified(f)).startswith("numpy.random.") for f in inner):
                        raise _No(n, f"`{callee.name}`, which is called here, draws random numbers", "draw them here, and pass them to it")
                    seen.add(callee)
                    pending.append(callee)

    def _check_callers(self, call: ast.Call) -> None:
        for other in self.nodes:
            for n in walk(other.function) if other.function is not None else ():
                if isinstance(n, ast.Call) and self.names.definition(n.func) is self.function:
                    raise _No(call, f"`{other.name}`, another node, calls `{self.node.name}`, which draws random numbers",
                              "draw them in the caller, and pass them in")  # fmt: skip

    def _check_generators(self, draws: list[ast.Call]) -> None:
        """A generator made here is used for the lifted draws alone."""
        lifted = {id(c.func.value) for c in draws if isinstance(c.func, ast.Attribute)}
        for n in walk(self.function):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in self.local_generators and id(n) not in lifted:
                raise _No(n, f"the generator `{n.id}` is used for more than drawing", "draw at the top of the function")

    def _check_imports(self, draws: list[ast.Call]) -> None:
        """What the drawing function computes with is known outside of the node."""
        imported = {a.asname or a.name.partition(".")[0] for s in walk(self.function)
                    if isinstance(s, (ast.Import, ast.ImportFrom)) for a in s.names}  # fmt: skip
        for call in draws:
            used = {n.id for part in (call, *self.needed) for n in walk(part) if isinstance(n, ast.Name)}
            if inside := sorted(used & imported):
                raise _No(call, f"`{inside[0]}` is imported in the function, and the numbers are drawn outside of it",
                          "import it at the top of the module")  # fmt: skip

    # What it becomes.

    def _lifted(self, call: ast.Call, name: str) -> tuple[str, str, str, str | None]:
        """What draws the standard sample, what takes the call's place, a line that raises what NumPy would raise, the dtype."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else str(self.names.qualified(call.func)).rpartition(".")[2]
        before = self._before(call)
        if isinstance(call.func, ast.Attribute):
            self._need_generator(call.func.value, before)
        if method in calls.SHAPED:
            if not call.args or call.keywords:
                raise self._scalar(call)
            self._need_sizes(call, call.args, before)
            return self.source.of(call), name, "", "float64"
        given = calls.arguments(method, call)
        if given is None or "out" in given:
            raise _No(call, "the arguments of this call cannot be told apart", "give the size by name, and neither out= nor *args")
        size = given.get("x" if method == "permutation" else "size")
        if size is None or (isinstance(size, ast.Constant) and size.value is None):
            raise self._scalar(call)
        if self._may_be_none(size, before):
            raise _No(call, f"without a `{self.source.of(size)}` this is a single random number, which a graph does not take as an input",
                      "give the size a default that is no None")  # fmt: skip
        self._need_sizes(call, [size], before, method == "permutation")
        dtype = "float64" if "dtype" not in given and method not in calls.INTEGERS else None
        rest = {k: v for k, v in given.items() if v is not size}
        if method not in calls.SCALED or not rest:
            if not all(calls.literal(v) or self._is_dtype(v) or self._sizes(v, before, True) for v in rest.values()):
                raise _No(call, f"the arguments of `{self.source.of(call.func)}` are computed in the node",
                          "draw a standard sample, and compute from it")  # fmt: skip
            for v in rest.values():
                self._need(v, before)
            return self.source.of(call), name, "", dtype
        return (*self._scaled(call, method, given, size, name, before), dtype)

    def _scaled(
        self, call: ast.Call, method: str, given: dict[str, ast.expr], size: ast.expr, name: str, before: list[ast.stmt]
    ) -> tuple[str, str, str]:
        """A shifted and scaled sample: the standard one is drawn, and the function shifts and scales it."""
        first, second, standard, defaults = calls.SCALED[method]
        if not isinstance(call.func, ast.Attribute):
            raise _No(call, f"`{method}` was imported by itself", f"call it as np.random.{method}")
        base, size_text = self.source.of(call.func.value), self.source.of(size)
        a, b = given.get(first), given.get(second)
        text = {n: self._text(e, d) for n, e, d in ((first, a, defaults[0]), (second, b, defaults[1]))}
        plain = all(e is None or calls.literal(e) for e in (a, b))
        for e in (a, b):
            if e is not None and not plain:
                if not self._known(e, before):
                    raise _No(call, f"what `{self.source.of(e)}` is cannot be told before the function runs",
                              f"draw {base}.{standard}({size_text}), and scale it")  # fmt: skip
                self._need(e, before)
        shape = f"(0, *{size_text})" if isinstance(size, (ast.Tuple, ast.Attribute)) else f"(0, {size_text})"
        if not plain and not isinstance(size, (ast.Tuple, ast.Attribute, ast.Constant)):
            raise _No(call, "whether the size is one number or several cannot be told here", f"write it as a tuple: ({size_text},)")
        check = "" if plain else f"{base}.{method}({self._bare(a, defaults[0])}, {self._bare(b, defaults[1])}, {shape})"
        if plain:
            self._check_literals(call, method, a, b)
        if method == "normal":
            use = f"{text[first]} + {text[second]} * {name}"
        elif plain:
            use = f"{text[first]} + ({text[second]} - {text[first]}) * {name}"
        else:
            numpy = self._numpy_name()
            if numpy is None:
                raise _No(call, "numpy itself has no name in this file", "import numpy as np")
            use = f"{text[first]} + {numpy}.subtract({self._bare(b, 1)}, {self._bare(a, 0)}, dtype={numpy}.float64) * {name}"
        return f"{base}.{standard}({size_text})", use, check

    def _check_literals(self, call: ast.Call, method: str, a: ast.expr | None, b: ast.expr | None) -> None:
        values = [None if e is None else ast.literal_eval(e) for e in (a, b)]
        negative = method == "normal" and str(values[1]).startswith("-")
        if negative or any(v is not None and type(v) not in (int, float) for v in values):
            raise _No(call, "NumPy raises an error for these arguments", "give numbers, the scale not negative")

    def _text(self, e: ast.expr | None, default: int) -> str:
        """An operand's text, in parentheses where it is more than a name or a number."""
        if e is None:
            return str(default)
        text = self.source.of(e)
        return text if isinstance(e, (ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"

    def _bare(self, e: ast.expr | None, default: int) -> str:
        return str(default) if e is None else self.source.of(e)

    def _scalar(self, call: ast.Call) -> _No:
        return _No(call, "a single random number is a Python number, which a graph does not take as an input", "draw an array: size=(1,)")

    # What the drawing function needs.

    def _before(self, call: ast.Call) -> list[ast.stmt]:
        """The statements of the body that run before the one with the call."""
        return self.function.body[: next(i for i, s in enumerate(self.function.body) if any(n is call for n in walk(s)))]

    def _stores(self, name: str, before: list[ast.stmt]) -> list[ast.stmt]:
        return [s for s in before if any(isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in walk(s))]

    def _known_names(self, before: list[ast.stmt]) -> tuple[set[str], set[str]]:
        """The names that are arrays (or may be) and those that are sizes, as the statements before leave them."""
        arrays, shapes = set(self.parameters), set(self.parameters)
        for s in before:
            stored = {n.id for n in walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
            if isinstance(s, ast.Assign) and len(s.targets) == 1 and calls.shape_like(s.value, arrays, shapes):
                shapes |= stored
                arrays -= stored
            elif isinstance(s, ast.Assign) and len(s.targets) == 1 and self._keeps_array(s.value, arrays):
                arrays |= stored
                shapes -= stored
            else:
                arrays -= stored
                shapes -= stored
        return arrays, shapes

    def _keeps_array(self, value: ast.expr, arrays: set[str]) -> bool:
        """`np.asarray(x)` and its kin: an array whose shape is known before the function runs."""
        name = str(self.names.qualified(value.func)) if isinstance(value, ast.Call) else ""
        args = value.args if isinstance(value, ast.Call) else []
        return name in _KEEPS and len(args) == 1 and calls.path(args[0]) in arrays

    def _sizes(self, e: ast.expr, before: list[ast.stmt], strict: bool = False) -> bool:
        """`strict` takes parameters for arrays unless they say that they are numbers: what is drawn from an array hangs on its values."""
        arrays, shapes = self._known_names(before)
        return calls.shape_like(e, arrays, shapes - (self.parameters - self.numbers) if strict else shapes)

    def _need_sizes(self, call: ast.Call, sizes: list[ast.expr], before: list[ast.stmt], strict: bool = False) -> None:
        for size in sizes:
            if not self._sizes(size, before, strict):
                raise _No(call, f"the size `{self.source.of(size)}` cannot be told from the arguments' shapes",
                          "take it from the shape of an argument")  # fmt: skip
            self._need(size, before)

    def _may_be_none(self, size: ast.expr, before: list[ast.stmt]) -> bool:
        """Whether a size is a parameter whose default or annotation says that there may be none, by this name or another."""
        if not isinstance(size, ast.Name):
            return False
        stores = self._stores(size.id, before)
        if stores:
            return any(isinstance(s, ast.Assign) and self._may_be_none(s.value, before[: before.index(s)]) for s in stores)
        return size.id in self.optional

    def _known(self, e: ast.expr, before: list[ast.stmt]) -> bool:
        """An expression of parameters, constants and names of the module that nothing has changed so far."""
        arrays, shapes = self._known_names(before)
        for n in walk(e):
            if isinstance(n, ast.Name) and n.id not in arrays | shapes and n.id in self._locals():
                return False
            if not isinstance(n, _PLAIN):
                return False
        return True

    def _locals(self) -> set[str]:
        return self.parameters | {n.id for n in walk(self.function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}

    def _need_generator(self, base: ast.expr, before: list[ast.stmt]) -> None:
        if self._generator(base) is None:
            return
        for s in self._stores(calls.path(base), before):
            seeds = s.value.args if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) else []
            if not all(self._known(seed, before[: before.index(s)]) for seed in seeds):
                raise _No(s, "the seed is computed in the node", "pass the generator in")
        self._need(base, before)

    def _need(self, e: ast.expr, before: list[ast.stmt]) -> None:
        """Note the parameters that an expression reads, and the statements that bind its other names. Raises _No."""
        for n in walk(e):
            if not isinstance(n, ast.Name):
                continue
            stores = self._stores(n.id, before)
            for s in stores:
                if not isinstance(s, ast.Assign):
                    raise _No(e, f"`{n.id}` is not bound by a plain assignment", "take sizes from the shape of an argument")
                if s not in self.needed:
                    self._need(s.value, before[: before.index(s)])
                    self.needed[s] = None
            if n.id in self.parameters:
                self.used.add(n.id)

    def _is_dtype(self, e: ast.expr) -> bool:
        return str(self.names.qualified(e)).startswith(("numpy.", "builtins."))

    # The text.

    def _parent(self, call: ast.Call) -> ast.AST | None:
        return next((n for n in walk(self.function) if any(c is call for c in children(n))), None)

    def _numpy_name(self) -> str | None:
        for s in self.tree.body:
            for a in s.names if isinstance(s, ast.Import) else ():
                if a.name == "numpy":
                    return a.asname or "numpy"
        return None

    def _annotation(self, dtype: str | None) -> str:
        numpy = self._numpy_name()
        return f': "{numpy}.typing.NDArray[{numpy}.{dtype}]"' if numpy and dtype else ""

    def _signature(self, parameters: list[str]) -> tuple[int, int, str]:
        """The insertion that adds keyword parameters to the function."""
        args, text = self.function.args, ", ".join(parameters)
        star = "" if args.vararg or args.kwonlyargs else "*, "
        if args.kwarg:
            at = self.source.bytes.rindex(b"**", 0, self.source.span(args.kwarg)[0])
            return at, at, f"{star}{text}, "
        parts = [*args.posonlyargs, *args.args, *args.kwonlyargs, *args.defaults, *filter(None, (args.vararg, *args.kw_defaults))]
        parts += [a.annotation for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg,))) if a.annotation]
        if not parts:
            at = self.source.bytes.index(b"(", self.source.span(self.function)[0]) + 1
            return at, at, f"{star}{text}"
        at = max(self.source.span(p)[1] for p in parts)
        if args.posonlyargs and not args.args and not args.vararg and not args.kwonlyargs:
            at = self.source.bytes.index(b"/", at) + 1
        while self.source.bytes[at : at + 1] in (b")", b" ") and self._closes_default(at):
            at += 1
        return at, at, f", {star}{text}"

    def _closes_default(self, at: int) -> bool:
        """A parenthesis around a default or an annotation, which is no part of its node, closes here."""
        start = self.source.bytes.index(b"(", self.source.span(self.function)[0])
        inside = self.source.bytes[start:at]
        return inside.count(b"(") - inside.count(b")") > 1

    def _above(self, entries: dict[str, str], checks: list[str]) -> tuple[int, int, str]:
        """The drawing function and the decorator, above the function's own decorators."""
        first = min([self.function.lineno, *(d.lineno for d in self.function.decorator_list)])
        line = self.source.starts[first - 1]
        head = self.source.slice(line, self.source.starts[first])
        indent, newline = head[: len(head) - len(head.lstrip())], self.source.newline
        name = f"{self.function.name}_random"
        taken = {getattr(n, "id", getattr(n, "name", "")) for n in walk(self.tree)}
        while name in taken:
            name += "_"
        order = [p for p in (a.arg for a in walk(self.function.args) if isinstance(a, ast.arg)) if p in self.used]
        prelude = [self.source.of(s) for s in sorted(self.needed, key=lambda s: s.lineno)]
        note = [f"{c}  # draws nothing, but raises what NumPy raises for these arguments" for c in checks]
        doc = f'"""The random numbers of `{self.function.name}`, where its caller gives none."""'
        body = [doc, *prelude, *note, f"return {', '.join(entries.values())}"]
        lines = [f"def {name}({', '.join(order)}):", *(f"    {b}" for b in body), *([""] if indent else ["", ""])]
        np2fx = _np2fx_name(self.tree) or "np2fx"
        lines.append(f"@{np2fx}.random_inputs({', '.join([name, *map(repr_, entries)])})")
        return line, line, "".join(f"{indent}{text}{newline}" if text else newline for text in lines)

    def _without(self, s: ast.stmt) -> tuple[int, int, str]:
        """The statement's whole line goes, if it stands alone on it."""
        start, end = self.source.starts[s.lineno - 1], self.source.starts[s.end_lineno or s.lineno]
        alone = self.source.slice(start, end).strip() == self.source.of(s) and len(self.function.body) > 1
        return (start, end, "") if alone else (*self.source.span(s), "pass")


def repr_(text: str) -> str:
    """A string literal in double quotes."""
    return f'"{text}"'
