"""One rewriting: the nodes of some modules with all the helpers they call, whichever modules those stand in.

What is not converted is left out and the rest is done again without it, until everything that is left holds: a node that cannot be
converted is no caller of a helper any more, and a helper that cannot be converted stops the nodes that hand it arrays.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..source.facts.helpers import Helper, Helpers
from ..source.facts.known import UNKNOWN, Fact
from ..source.facts.module import Module
from ..source.facts.promotion import ASSUMED
from ..source.facts.summaries import Called, Summaries
from ..source.findings.alarms import HINT, alarms
from ..source.findings.finding import Finding, make_finding
from ..source.flow.purity import pure_functions, straight_functions
from ..source.flow.reading import awaits, returns_function
from ..source.flow.user_classes import classes_of
from ..source.flow.writing import called_by, writes
from ..source.reading.compiled import CompiledFunctions
from ..source.reading.mentions import REPLACED, YES, Mentions
from ..source.reading.neighbours import is_neighbour
from ..source.reading.nodes import Function, Node, bad_specs
from ..source.reading.project import Parsed, Project
from ..source.reading.text import splice
from ..source.reading.walking import walk
from .dialects.constants import definition_of, tensor_name
from .dialects.lacking import missing
from .imports import add_imports, drop_unused
from .rewriting import Rewriter


@dataclass(eq=False)
class Made:
    """What became of one function: its edits, what the new text needs, what was said.

    open        why it is no plain torch, and comes out as NumPy on torch; "" where it is
    constants   arrays of the module that it reads, and the tensors that stand for them
    stopped_by  functions that have to be converted too, in the order in which they are named, and where
    writes      something in it writes into arrays"""

    node: Node
    module: Module
    helper: Helper | None = None
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    stopped_by: dict[ast.AST, ast.AST] = field(default_factory=dict)
    open: str = ""
    constants: dict[str, str] = field(default_factory=dict)
    writes: bool = False

    @property
    def function(self) -> Function:
        assert self.node.function is not None
        return self.node.function

    @property
    def refused(self) -> bool:
        return any(f.severity == "error" for f in self.findings)


class Job:
    """Rewrites some modules. After `run`, `modules` are those of the helpers too, with their `texts` and `findings`.

    dialect  "auto": torch where the facts decide, NumPy on torch elsewhere; "torch": what is no plain torch is left as it is; "numpy"

    `torch` and `numpys` are what came out in either, nodes and helpers"""

    def __init__(
        self, modules: list[Module], module_of: Callable[[Parsed], Module], project: Project, exact: bool, boundary: str,
        dialect: str = "auto") -> None:  # fmt: skip
        self.modules, self.project, self.exact, self.boundary, self.dialect = list(modules), project, exact, boundary, dialect
        self.of_parsed = {m.parsed: m for m in modules}
        self.module_of = module_of
        self.helpers = Helpers(project, module_of)
        self.compiled = CompiledFunctions(project)
        self.texts: dict[Module, str] = {}
        self.findings: dict[Module, list[Finding]] = {}
        self.said: dict[Function, list[Finding]] = {}
        self.left: set[Function] = set()
        """functions of others that are called as they are"""
        self.refused: set[Function] = set()
        """nodes and helpers that cannot be converted"""
        self.apart: set[Function] = set()
        """functions that are nodes by themselves, though others call them"""
        self.open: set[Function] = set()
        """nodes that are no plain torch, whoever calls them"""
        self.torch: list[Made] = []
        self.numpys: list[Made] = []
        self.found: list[Helper] = []
        self.replaced: dict[ast.AST, bool] = {}
        self._neighbours: dict[tuple[Module, str], bool] = {}
        self._tensors: dict[tuple[Module, str], str | None] = {}
        self._computing: dict[Module, frozenset[str]] = {}
        self.converted: set[ast.AST] = set()
        """the functions that come out as torch, or as NumPy on torch"""
        self.reasons: dict[Function, str] = {}
        """why nodes were no plain torch by themselves"""
        self._foreign: dict[ast.expr, ast.AST | None] = {}

    def _module(self, parsed: Parsed) -> Module:
        """The module of a helper."""
        if parsed not in self.of_parsed:
            self.of_parsed[parsed] = self.module_of(parsed)
        return self.of_parsed[parsed]

    def caller_of(self, module: Module) -> str:
        """The node for whose helper a module is here."""
        return next((h.caller for h in self.found if h.parsed is module.parsed), "")

    def run(self) -> None:
        nodes = {n.function: (n, m) for m in self.modules for n in m.nodes if n.function is not None}
        while True:
            made = self._attempt(nodes)
            without_arrays = {m.function for m in made if self._is_without_arrays(m)}
            if without_arrays:
                self.left |= without_arrays
                continue
            self._spread_refusals(made)
            refused = [m for m in made if m.refused] or self._unparsable(made)
            again = bool(refused)
            for m in refused:
                self.said[m.function] = m.findings
                nodes.pop(m.function, None)
                self.refused.add(m.function)
            again = self._spread_openness(made) or again
            if not again:
                break
        for m in made:
            self.said[m.function] = m.findings
        self.torch, self.numpys = [m for m in made if m.edits and not m.open], [m for m in made if m.open and not m.refused]
        self._finish(made)

    # One attempt.

    def _attempt(self, nodes: dict[Function, tuple[Node, Module]]) -> list[Made]:
        self._plan(nodes)
        found = {h.function for h in self.found}
        nodes = {f: n for f, n in nodes.items() if f not in found}
        made_of = {h.function: (Node(h.qualname, h.function, h.function.body, "helper", in_class=h.method), self._module(h.parsed), h)
                   for h in self.found}  # fmt: skip
        every = [*((n, m, None) for n, m in nodes.values()), *made_of.values()]
        modules = list(dict.fromkeys(m for _, m, _ in every))
        for m in dict.fromkeys([*self.modules, *modules]):
            here = {n.function for n, module, h in every if module is m and n.function is not None}
            known = here | {f for f in m.done if isinstance(f, ast.FunctionDef)}
            m.converted = {f for f in known if not self._is_replaced(m, f)}
        self.converted = set().union(*(m.converted for m in self.modules))
        self._summarise(every)
        in_place = self.modules[0].table.in_place
        trees = self._reached(modules)
        self.pure = pure_functions(trees, self._callee, self._is_foreign, self._writes, in_place, self._makes, self._is_scalar)
        self.straight = straight_functions(trees, self._callee, self._is_foreign)
        converted = {f: m for m in modules for f in m.converted} | {n.function: m for n, m, _ in every if n.function is not None}
        self.called_by_writers = {d for f, m in converted.items() if f not in self.pure for d in self._called(m, f)}
        return [self._function(n, m, h) for n, m, h in every]

    def _plan(self, nodes: dict[Function, tuple[Node, Module]]) -> None:
        """Find the helpers of the nodes that are left. Of functions that are nodes only because all are, those are helpers that none
        but nodes call, or that are NumPy on torch anyhow."""
        while True:
            live = {f: m.parsed for f, (_, m) in nodes.items()}
            self.found, self.links = self.helpers.plan(live, self.refused | self.left | self.apart)
            converted = live | {h.function: h.parsed for h in self.found}
            out: set[Function] = set()
            for h in self.helpers.cyclic(self.found):
                out.add(h.function)
                if h.function in live:
                    continue
                message = f"`{h.qualname}` calls itself: what it means for tensors is found out when it is called"
                module = self._module(h.parsed)
                self.said[h.function] = [self._finding(module, "not-rewritten", h.function, message, "write a loop", "warning")]
            done = dict.fromkeys(link.helper for link in self.links.values() if link.helper.done)
            out |= {h.function for h in done if self.helpers.elsewhere(h, converted, self.links) == REPLACED}
            for h in self.found:
                how = self.helpers.elsewhere(h, converted, self.links) if h.function not in out else YES
                if how == REPLACED:
                    out.add(h.function)
                    self.replaced[h.function] = True
                h.alone = how not in (YES, REPLACED)
                if h.function in live and not h.alone and h.function not in self.open:
                    out.add(h.function)
            if not out:
                return
            self.apart |= {f for f in out if f in live}
            self.left |= {f for f in out if f not in live}

    def _is_replaced(self, module: Module, function: Function) -> bool:
        """Whether something in the project may put another in the place of a function that others of its module call."""
        if function not in self.replaced:
            mentions = Mentions(self.project, module.parsed, function, False) if function in module.named else None
            self.replaced[function] = mentions is not None and mentions.beyond(set()) == REPLACED
        return self.replaced[function]

    def _called(self, module: Module, function: ast.AST) -> set[ast.AST]:
        """The functions that a function names."""
        inside = list(walk(function))
        found = {d for n in inside if isinstance(n, ast.Name) and (d := module.names.definition(n)) is not None}
        return found | {self.links[n].helper.function for n in inside if n in self.links}

    def _callee(self, func: ast.expr) -> ast.AST | None:
        """The function that a call's function is, where these modules have it."""
        if func in self.links:
            link = self.links[func]
            return link.helper.function if link.how != "method" else None
        module = self._where(func)
        found = module.names.definition(func) if module is not None and isinstance(func, ast.Name) else None
        if found is None and module is not None:
            return self._imported(module, func)
        return found if found is None or not self.replaced.get(found) else None

    def _resolve(self, module: Module, e: ast.Name) -> Fact:
        """What a name means in a module: a function that it imports from another one of these is known as one of its own is."""
        found = module.resolve(e)
        if found.kind != "name" or not self._is_neighbour(module, str(found.value)):
            return found
        function = self._imported(module, e)
        return Fact("function", value=function) if function in self.converted else found

    def _imported(self, module: Module, func: ast.expr) -> ast.AST | None:
        """The function of another module of the project that an imported name means, where nothing puts another in its place."""
        if func not in self._foreign:
            qualified = module.names.qualified(func)
            found = self.project.find(qualified, module.path) if qualified is not None and self._is_neighbour(module, qualified) else None
            self._foreign[func] = None
            if found is not None and found[1] in self._module(found[0]).parsed.functions and not found[1].decorator_list:
                self._foreign[func] = found[1] if not self.helpers.is_replaced(found[0], found[1]) else None
        return self._foreign[func]

    def _reached(self, modules: list[Module]) -> list[ast.AST]:
        """The trees of some modules, and of those whose functions they call."""
        seen = dict.fromkeys(modules)
        pending = list(modules)
        while pending:
            module = pending.pop()
            for n in walk(module.tree):
                found = self._callee(n.func) if isinstance(n, ast.Call) and isinstance(n.func, (ast.Name, ast.Attribute)) else None
                home = next((m for m in self.of_parsed.values() if m not in seen and found in m.parsed.functions), None) if found else None
                if home is not None:
                    seen[home] = None
                    pending.append(home)
        return [m.tree for m in seen]

    def _is_scalar(self, function: ast.AST, e: ast.expr) -> bool:
        """Whether something in a function is a number or a scalar, which Python binds anew."""
        walked = self.summaries.walked.get(function)  # type: ignore[call-overload]
        return walked is not None and walked.facts.get(e, UNKNOWN).kind in ("number", "scalar", "text")

    def _makes(self, call: ast.Call) -> bool:
        """Whether a call of NumPy's makes an array that is nobody else's."""
        module = self._where(call.func)
        name = None if module is None else module.names.qualified(call.func)
        if name is None and isinstance(call.func, ast.Attribute) and call.func.attr in ("copy", "astype"):
            return not call.keywords
        rule = self.modules[0].table.rules.get(name or "")
        objects = any(isinstance(a, ast.Name) and a.id == "object" for a in [*call.args, *(k.value for k in call.keywords)])
        keeps = objects or rule is None or rule.view or rule.writes or rule.kind in ("indexing", "arrays", "python")
        return str(name).startswith("numpy.") and not keeps

    def _is_foreign(self, func: ast.expr) -> bool:
        base = func
        while isinstance(base, ast.Attribute):
            base = base.value
        if base is not func and not isinstance(base, ast.Name):
            return False  # a method of what is computed
        module = self._where(func)
        if module is None:
            return True
        qualified = module.names.qualified(func)
        return isinstance(func, ast.Name) if qualified is None else self._is_neighbour(module, qualified)

    def _writes(self, call: ast.Call) -> bool:
        module = self._where(call.func)
        name = None if module is None else module.names.qualified(call.func)
        if name is None and isinstance(call.func, ast.Attribute):
            name = f"numpy.ndarray.{call.func.attr}"
        if writes(name or "", call, self.modules[0].table):
            return True
        inner = called_by(name or "", call)
        if inner is None or self._writes(inner):
            return inner is not None
        return not isinstance(self._callee(inner.func), ast.FunctionDef) and self._is_foreign(inner.func)

    def _where(self, func: ast.AST) -> Module | None:
        base = func
        while isinstance(base, ast.Attribute):
            base = base.value
        return next((m for m in self.of_parsed.values() if m.names.scope(base) is not None), None)

    def _is_neighbour(self, module: Module, qualified: str) -> bool:
        first = qualified.partition(".")[0]
        if (module, first) not in self._neighbours:
            near = first not in ("builtins", "numpy", "torch", "math")
            self._neighbours[module, first] = near and is_neighbour(qualified, module.path, self.project.root or module.config.root)
        return self._neighbours[module, first]

    def _summarise(self, every: list[tuple[Node, Module, Helper | None]]) -> None:
        known: dict[Function, dict[str, Fact]] = {}
        resolve: dict[Function, Any] = {}
        self.assumed: dict[Function, tuple[list[str], list[str]]] = {}
        called = []
        for node, module, helper in every:
            function = node.function
            assert function is not None
            resolve[function] = functools.partial(self._resolve, module)
            if helper is None:
                known[function], floating, numbers = module.parameters(node)
                self.assumed[function] = floating, numbers
                continue
            known[function] = module.declared(function, checked=helper.alone)
            self.assumed[function] = [], []
            values = any(self.helpers.values(m.parsed, n.function, helper) for n, m, _ in every if n.function is not None)
            links = [f for f, link in self.links.items() if link.helper is helper]
            called.append(Called(function, helper.alone, helper.method, values, links))  # type: ignore[arg-type]
        table = self.modules[0].table
        self.summaries = Summaries(resolve, table, known, [] if self.exact else called)

    def _function(self, node: Node, module: Module, helper: Helper | None) -> Made:
        function = node.function
        assert function is not None
        made = Made(node, module, helper)
        made.findings += [self._finding(module, "bad-spec", place, message) for place, message in bad_specs(node)]
        if made.findings:
            return made
        if awaits(function):
            message = f"`{node.name}` is a coroutine, or has one in it"
            made.findings.append(self._finding(module, "not-rewritten", function, message, "await outside of it, and pass the arrays in"))
            return made
        if (compiled := self._compiled(made)) is not None:
            made.findings.append(compiled)
            return made
        for place, message in alarms(module.tree, [function], module.names.qualified) if module.alarming else ():
            made.findings.append(self._finding(module, "side-effect", place, message, HINT, "error"))
        rewriter = Rewriter(module.source, functools.partial(self._resolve, module), module.table, module.path, self.exact)
        rewriter.npx_name, rewriter.torch_name = module.aliases["npx"], module.aliases["torch"]
        rewriter.is_pure = lambda f: self._callee(f) in self.pure
        rewriter.is_straight = lambda f: self._callee(f) in self.straight
        rewriter.is_ours = lambda f: f in self.links or self._is_neighbour(module, str(module.names.qualified(f) or "builtins"))
        rewriter.constant = lambda e: self._constant(made, e.id, str(module.resolve(e).dtype))
        rewriter.own_callee = lambda call: self._own_callee(made, call)
        rewriter.call_fact = self.summaries.call
        rewriter.user_classes = lambda: self._user_classes(module)
        rewriter.hands_out = function in self.called_by_writers
        rewriter.thorough = self.exact
        edits = rewriter.rewrite(function, self.summaries.parameters(function), self.summaries.inference(function))
        made.findings += rewriter.findings
        if (why := rewriter.unfit_generator(function, helper is not None)) is not None:
            made.findings.append(self._finding(module, "not-rewritten", function, f"`{node.name}` {why}", "return a list"))
        if helper is None and self.boundary == "numpy" and returns_function(function):
            made.findings.append(self._maker(module, function))
        made.stopped_by = self._stopped_by(made, rewriter)
        if made.refused or not (edits or not rewriter.is_plain or any(f.is_tensor for f in rewriter.facts.values())):
            return made
        made.open, made.writes = self._why_open(made, rewriter), rewriter.mutates
        if made.open and self.dialect == "torch":
            made.findings.append(self._finding(module, "not-rewritten", function, f"`{node.name}` is no plain torch: {made.open}"))
        if made.open:  # `_finish` says so
            unseen = _unseen(function, module)
            made.findings += [] if unseen is None else [self.reader(module, *unseen)]
            return made
        made.edits, made.imported = edits, {*rewriter.imported, *(["torch"] if made.constants else [])}
        options = self._options(made, rewriter)
        if options or self.boundary == "numpy":
            made.edits = [*edits, self._decorator(module, function, f"@{module.aliases['np2fx']}.boundary({', '.join(options)})")]
            made.imported.add("np2fx")
        return made

    def _compiled(self, made: Made) -> Finding | None:
        """Why a function stays as it is that is compiled, or hands on to compiled code what it is given."""
        parsed, function = made.module.parsed, made.function
        if compiler := self.compiled.compiler(parsed, function):
            message = f"`{made.node.name}` is compiled by {compiler}, which takes NumPy's own text and arrays"
            return self._finding(made.module, "not-rewritten", function, message, "leave it outside of the nodes")
        if (found := self.compiled.called(parsed, function)) is not None:
            call, message = found
            return self._finding(made.module, "opaque-call", call, message, "call it outside, and pass in what it gives", "error")
        return None

    def reader(self, module: Module, call: ast.Call, name: str) -> Finding:
        """Why a function stays as it is that cannot be NumPy on torch."""
        message = f"`{name}` reads NumPy's own arrays alone, past torch's protocol for others"
        return self._finding(module, "opaque-call", call, message, "use torch.as_tensor(x, dtype=...)", "error")

    def _options(self, made: Made, rewriter: Rewriter) -> list[str]:
        """What the boundary of a rewritten function checks and does."""
        function, read = made.function, rewriter.read_names
        parameters = self.summaries.parameters(function)
        assumed, numbers = self.assumed[function]
        used = tuple(a for a in [*assumed, *self.summaries.floating.get(function, [])] if a in read)
        arrays = tuple(a for a in self.summaries.arrays.get(function, []) if a in read)
        counted = [n for n in [*numbers, *self.summaries.numbers.get(function, [])] if n in read]
        whole = [n for n in counted if parameters[n].dtype == "int"]
        takes = {n: _spec(f) for n, f in parameters.items()
                 if f.is_tensor and f.dtype not in (None, ASSUMED) and n not in made.node.declared}  # fmt: skip
        takes |= dict.fromkeys(whole, "int")
        counted = [n for n in counted if n not in whole]
        return [
            *(["numpy=False"] if self.boundary == "none" else []),
            *([f"floating={_literal(used)}"] if used else []),
            *([f"arrays={_literal(arrays)}"] if arrays else []),
            *([f"numbers={_literal(tuple(counted))}"] if counted else []),
            *([f"takes={_literal(takes)}"] if takes else []),
            *([f"keeps={tuple(sorted(rewriter.keeps))!r}"] if rewriter.keeps and self.boundary == "numpy" else []),
            *([f"rules={tuple(sorted(rewriter.rule_modules))!r}"] if rewriter.rule_modules else []),
        ]

    def _why_open(self, made: Made, rewriter: Rewriter) -> str:
        """Why what a function became is not plain torch that takes whatever it took; "" where it is."""
        function, read = made.function, rewriter.read_names
        if self.dialect == "numpy":
            return "asked for"
        if made.helper is not None and not made.helper.alone:
            return self.reasons.get(function, "others that are not rewritten call it too")
        # A number that nothing but an annotation or a default tells of may be NumPy's, an enum's or None.
        told = {*made.node.declared, *made.node.recorded}
        told |= {*self.assumed[function][1]} if made.node.recorded else set()  # nobody passed anything but the default
        assumed, numbers = self.assumed[function] if made.helper is None else ([], [])
        guessed = [*assumed, *(n for n in numbers if n not in told),
                   *self.summaries.floating.get(function, []), *self.summaries.arrays.get(function, [])]  # fmt: skip
        guessed = [n for n in dict.fromkeys(guessed) if n in read]
        if guessed:
            return f"declare what {', '.join(f'`{n}`' for n in guessed)} {'is' if len(guessed) == 1 else 'are'}"
        if rewriter.mirrored:
            return "views of arrays may reach code that writes through them, and torch has some of them only as copies"
        known_arrays = any(f.is_tensor for f in self.summaries.parameters(function).values())
        if "npx" in rewriter.imported and not known_arrays:
            return "nothing says what it is given"
        facts = self.summaries.parameters(function)
        positional = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        known = {*made.node.declared, *(a.arg for a in function.args.args[: made.node.in_class])}
        undeclared = [a.arg for a in positional if a.arg in read - known and facts.get(a.arg, UNKNOWN) == UNKNOWN]
        return "" if rewriter.is_plain else missing(rewriter, undeclared)

    def _user_classes(self, module: Module) -> frozenset[str]:
        if module not in self._computing:
            self._computing[module] = classes_of(self.project, module.parsed, module.table)
        return self._computing[module]

    def _constant(self, made: Made, name: str, dtype: str) -> str | None:
        """The tensor of an array of the module's, which it has by a name of its own."""
        key = made.module, name
        if key not in self._tensors:
            self._tensors[key] = tensor_name(made.module, name, dtype, self.project)
        if (found := self._tensors[key]) is not None:
            made.constants[name] = found
        return found

    def _own_callee(self, made: Made, call: ast.Call) -> str | None:
        """What is called in place of a helper, which is what the text says; None where run time has to look."""
        link = self.links.get(call.func)
        return made.module.source.of(call.func) if link is not None and link.how in ("from", "module") else None

    def _stopped_by(self, made: Made, rewriter: Rewriter) -> dict[ast.AST, ast.AST]:
        """The functions without which a function cannot be converted, and where it names them: those of its module, and helpers that it
        may hand arrays."""
        names = made.module.names
        found: dict[ast.AST, ast.AST] = {}
        for n in sorted((n for n in walk(made.function) if isinstance(n, ast.Name)), key=lambda n: (n.lineno, n.col_offset)):
            if (definition := names.definition(n)) is not None and definition not in found:
                found[definition] = n
        parsed = made.module.parsed
        called: list[tuple[ast.Call, ast.AST]] = [(call, k.helper.function) for call, k in self.helpers.links(parsed, made.function)]
        for e in walk(made.function):
            own = self.helpers.called_of_self(parsed, made.function, e.func) if isinstance(e, ast.Call) else None
            called += [(e, own)] if own is not None else []  # type: ignore[list-item]
        for call, function in called:
            given = [rewriter.fact(a) for a in [*call.args, *(k.value for k in call.keywords)]]
            if any(f.may_lead_to_tensor for f in given):
                found.setdefault(function, call.func)
        found.pop(made.function, None)
        return found

    def _spread_refusals(self, made: list[Made]) -> None:
        """What hands arrays to a function that stays NumPy stays as it is too."""
        refused = {m.function: m.node.name for m in made if m.refused} | {f: getattr(f, "name", "") for f in self.refused}
        changed = True
        while changed:
            changed = False
            for m in made:
                bad = next((f for f in m.stopped_by if f in refused), None) if m.function not in refused else None
                if bad is not None:
                    called = refused[bad]  # type: ignore[index]
                    message, hint = f"`{m.node.name}` calls `{called}`, which cannot be converted", f"mend the findings of `{called}` first"
                    m.findings.append(self._finding(m.module, "not-rewritten", m.stopped_by[bad], message, hint))  # type: ignore[index]
                    refused[m.function] = m.node.name
                    changed = True

    def _unparsable(self, made: list[Made]) -> list[Made]:
        """Those whose new text would not be Python: it is nested more deeply than Python parses, or a mistake of ours, which must not
        reach a file."""
        found = []
        for module in dict.fromkeys(m.module for m in made):
            kept = [m for m in made if m.module is module and m.edits]
            if kept and not _parses(self._spliced(module, kept)):
                wrong = [m for m in kept if not _parses(self._spliced(module, [m]))] or kept
                for m in wrong:
                    m.findings.append(self._finding(module, "not-rewritten", m.function, "the rewritten text would not be Python"))
                found += wrong
        return found

    def _is_without_arrays(self, made: Made) -> bool:
        """Whether a helper elsewhere (or one that others call too) has nothing to do with arrays, as far as its text and its calls tell."""
        helper = made.helper
        links = [link for link in self.links.values() if link.helper is helper]
        if helper is None or (helper.alone and all(link.how in ("own", "method") for link in links)):
            return False
        facts = self.summaries.parameters(made.function).values()
        return not (
            any(f.is_tensor or f.kind in ("sequence", "torch") for f in facts)
            or any(n in self.links for n in walk(made.function))
            or made.module.names_numpy(made.function)
            or made.module.uses_arrays(made.function)
        )

    def _spread_openness(self, made: list[Made]) -> bool:
        """Whether more has to be NumPy on torch: what writes into arrays that such functions may hold too. A node that is, and that others
        call, is walked again as their helper."""
        again, opened = False, {m.function: m.node.name for m in made if m.open}
        changed = True
        while changed:
            changed = False
            for m in made:
                bad = next((f for f in m.stopped_by if f in opened), None) if m.writes and not m.open else None
                if bad is not None:
                    m.open, m.edits, changed = f"it writes into arrays, and calls `{opened[bad]}`", [], True  # type: ignore[index]
                    opened[m.function] = m.node.name
        for m in made:
            if m.open and m.helper is None and m.function in self.apart and m.function not in self.open:
                self.open.add(m.function)
                self.reasons[m.function] = m.open
                self.apart.discard(m.function)
                again = True
        return again

    # The outcome.

    def _finish(self, made: list[Made]) -> None:
        for module in self.of_parsed.values():
            kept = [m for m in made if m.module is module and m.edits]
            text = module.parsed.text
            if kept:
                text = add_imports(self._spliced(module, kept), {k: module.aliases[k] for k in set().union(*(m.imported for m in kept))})
            numpys = {m.node.name for m in self.numpys if m.module is module}
            asked = functools.partial(self.project.asks_for, parsed=module.parsed)
            text = drop_unused(text, module.parsed.text, asked) if kept else text
            if numpys:
                from .dialects.numpy_on_torch import on_torch  # libcst takes a while

                text = on_torch(text, numpys, asked, module.private)
            self._tell(module)
            here = [f for f in self.said if self.said[f] and f in module.parsed.functions]
            nodes = [n.function for n in module.nodes]
            here.sort(key=lambda f: nodes.index(f) if f in nodes else len(nodes))
            findings = [self._region(module, n) for n in module.regions if module in self.modules]
            findings += [self._maker(module, f, "warning") for f in self._left_makers(module)]
            findings += [x for f in here for x in self.said[f]]
            if module not in self.modules and (findings or text != module.parsed.text):
                self.modules.append(module)
            self.texts[module], self.findings[module] = text, findings

    def _tell(self, module: Module) -> None:
        """Say of what is NumPy on torch, and was not asked to be, which fact was missing."""
        for m in self.numpys if self.dialect == "auto" else ():
            if m.module is module:
                message = f"`{m.node.name}` is NumPy on torch: {m.open}"
                hint = "" if m.open.startswith("declare") else "no declaration changes that"
                self.said[m.function] = [*self.said.get(m.function, []), self._finding(module, "numpy-on-torch", m.function, message, hint)]

    def _spliced(self, module: Module, made: list[Made]) -> str:
        edits = {e for m in made for e in m.edits}
        edits |= {e for m in made for name, tensor in m.constants.items() if (e := definition_of(module, name, tensor)) is not None}
        return splice(module.source, 0, len(module.source.bytes), sorted(edits))

    def _decorator(self, module: Module, function: Function, text: str) -> tuple[int, int, str]:
        """An insertion on a line of its own above the `def`, with its indentation and newline."""
        start = module.source.span(function)[0]
        line = module.source.starts[function.lineno - 1]
        indent = module.source.slice(line, start)
        return (line, line, f"{indent}{text}{module.source.newline}") if not indent.strip() else (start, start, "")

    def _region(self, module: Module, node: Node) -> Finding:
        message = f"the region `{node.name}` is not a function of its own"
        return self._finding(module, "not-rewritten", node.body[0], message, "move it into a function and mark that", "warning")

    def _left_makers(self, module: Module) -> list[Function]:
        """The functions that make others and stay NumPy's, with all that is in them."""
        rewritten = {h.function for h in self.found} | {n.function for n in module.nodes}
        return [f for f in module.makers if module in self.modules and not any(n in rewritten for n in walk(f))]

    def _maker(self, module: Module, function: Function, severity: str | None = None) -> Finding:
        message = f"`{function.name}` returns a function, which would compute with tensors after it"
        return self._finding(module, "not-rewritten", function, message, "return arrays, or define the function outside", severity)

    def _finding(self, module: Module, kind: str, node: ast.AST, message: str, hint: str = "", severity: str | None = None) -> Finding:
        line = getattr(node, "lineno", 1)
        column = module.source.column(line, getattr(node, "col_offset", 0))
        end = node.end_lineno if isinstance(node, ast.expr) else None
        end_column = module.source.column(end, node.end_col_offset) if end is not None else 0  # type: ignore[attr-defined]
        severity = severity or (None if kind != "not-rewritten" else "error")
        return make_finding(kind, path=module.path, line=line, column=column, end_line=end or 0, end_column=end_column,
                            message=message, hint=hint, severity=severity)  # fmt: skip


def _unseen(function: Function, module: Module) -> tuple[ast.Call, str] | None:
    if "torch" not in module.parsed.text:
        return None
    from .dialects.numpy_on_torch import unseen_by_torch  # libcst takes a while

    return unseen_by_torch(function, module.names)


def _literal(value: Any) -> str:
    """A tuple of names, or names with specs, in the double quotes that formatters write."""
    return repr(value).replace("'", '"')


def _spec(fact: Fact) -> str:
    """What the boundary checks of a parameter whose dtype is known: "float32[_, _]"."""
    if fact.rank is None:
        return "bool[...]" if fact.dtype == "bool" else str(fact.dtype)  # "bool" is Python's
    return f"{fact.dtype}[{', '.join('_' * fact.rank)}]"


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
