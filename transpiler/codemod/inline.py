"""A rule's body in place of its call: what stands in `rules/` is what comes out in the rewritten file.

The rule's source is followed as it would run, with the facts of the call for its parameters: conditions that the facts decide
are decided, names are replaced by the texts they stand for. It is inlined only if that ends in one `return` of torch
calls in which each argument appears at most once; anything else is left to a call of the rule.
"""

from __future__ import annotations

import ast
import dataclasses
import operator
from typing import TYPE_CHECKING, Any

from ..source.facts.known import UNKNOWN, Fact
from ..source.facts.promotion import ASSUMED
from ..source.facts.results import DOUBLES, KEEP_INTEGERS, SCALAR_TYPES
from ..source.flow.harmless import PICKY
from ..source.reading.table import _tree as module_of
from .lists import joined, promoted
from .plain import FLOATS, INTEGERS

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions


_ALONG_THE_LAST = ("torch.diff", "torch.argsort", "torch.sort", "torch.linalg.cross")
"""Functions of torch whose axis is the last one unless they are told another."""
_ORDER = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}


class _Undecided(Exception):
    """The facts do not say which way the rule goes: it has to be called."""


@dataclasses.dataclass(frozen=True)
class _Value:
    """What a name in the rule stands for at this call: its text, and what is known of it. `atom`: needs no parentheses."""

    text: str
    fact: Fact
    atom: bool = True
    given: bool = True


def inline(r: Expressions, call: ast.Call, rule: Any, args: list[ast.expr]) -> str | None:
    """The text of a torch call that means `rule` applied to `args` and the call's keywords; None where it must be called."""
    if r.torch_name != "torch":
        return None  # the file means something else by `torch`: arguments and rule could not be told apart
    if r.exact or r.mirrored or any(isinstance(a, ast.Starred) for a in args) or any(k.arg is None for k in call.keywords):
        return None
    if rule.writes:
        return None
    try:
        into = _in_place(r, call, rule, args)
        env = _bind(r, rule, args, [k for k in call.keywords if k.value is not into])
        if rule.is_ufunc:
            _check_loop(rule, env)
        chosen = [p.name for p in rule.parameters if p.name in env and env[p.name].given and env[p.name].text != p.default]
        env.asked.clear()
        found = r.fact(call)
        lone = call in r.valued or (found.kind == "array" and bool(found.rank))
        text = _Follower(env, rule.file, lone, rule.view).run(rule.function.body)
        if not env.asked.issuperset(chosen):
            return None  # an argument that the rule never looks at on this way: NumPy may not take it
    except (_Undecided, StopIteration):
        return None
    itself = bool(args) and text == r.text(args[0])
    if rule.view and not itself and not (args and r.sees_as_numpy(call, args[0])):
        return None
    r.imported.update(() if itself else ("torch",))
    return text if into is None else f"{text[:-1]}, out={r.text(into)})"


def _in_place(r: Expressions, call: ast.Call, rule: Any, args: list[ast.expr]) -> ast.expr | None:
    """The `out=` of a statement that computes an array of floats from itself and numbers, which torch does there too."""
    out = next((k.value for k in call.keywords if k.arg == "out"), None)
    if not isinstance(out, ast.Name) or call not in r.dropped or rule.kind != "elementwise" or not args or r.text(args[0]) != out.id:
        return None
    numbers = all(r.fact(a).kind == "number" for a in [*args[1:], *(k.value for k in call.keywords if k.value is not out)])
    fact = r.fact(out)
    return out if numbers and fact.kind == "array" and fact.rank and fact.dtype in FLOATS else None


class _Names(dict[str, _Value]):
    """What a rule's names stand for, and which of them have been asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> _Value:
        self.asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


def _bind(r: Expressions, rule: Any, args: list[ast.expr], keywords: list[ast.keyword]) -> _Names:
    env = _Names()
    positional = [p for p in rule.parameters if p.kind in ("positional", "positional-only")]
    if len(args) > len(positional):
        raise _Undecided
    given = {p.name: a for p, a in zip(positional, args, strict=False)}
    for k in keywords:
        if k.arg in given or k.arg not in {p.name for p in rule.parameters if p.kind != "positional-only"}:
            raise _Undecided
        given[k.arg] = k.value
    for p in rule.parameters:
        if p.name in given:
            node = given[p.name]
            env[p.name] = _Value(
                r.text(node), r.fact(node), isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript))
            )
            if rule.kind == "joining" and (display := joined(r, node)) is not None:
                env[p.name] = _Value(*display)
        elif p.default is not None:
            env[p.name] = _Value(p.default, _literal_fact(ast.parse(p.default, mode="eval").body), given=False)
        elif p.kind not in ("var-positional", "var-keyword"):
            raise _Undecided
    if "out" in given and env["out"].fact.kind != "none":
        raise _Undecided
    if not all(_fits(p, given[p.name], env[p.name].fact, rule) for p in rule.parameters if p.name in given):
        raise _Undecided
    no_axes = any(env[name].fact.is_tensor and env[name].fact.rank == 0 for name in given)
    if no_axes and any(name.startswith("axis") and env[name].fact.kind != "none" for name in given):
        raise _Undecided  # torch lets axis 0 and -1 of a 0-d array through wherever it stands
    return env


def _fits(parameter: Any, node: ast.expr, fact: Fact, rule: Any) -> bool:
    """Whether torch takes for a parameter what NumPy takes: it is strict about bools, None and lists of axes, the rule itself is not."""
    default = None if parameter.default is None else _literal_fact(ast.parse(parameter.default, mode="eval").body)
    if parameter.name.startswith("axis") and fact.kind == "sequence":
        return isinstance(node, ast.Tuple) or fact.value == "tuple"
    if fact.kind == "none":
        return default is not None and default.kind == "none"
    if default is not None and default.kind == "number" and (fact.is_tensor or (default.dtype == "bool") != (fact.dtype == "bool")):
        return False
    return fact.kind != "number" or fact.dtype != "bool" or default is not None or rule.kind in ("elementwise", "selection", "predicate")


def _literal_fact(node: ast.expr) -> Fact:
    from ..source.facts.known import name, of_value

    if isinstance(node, ast.Name) and node.id in ("float", "int", "bool", "complex"):
        return name(f"builtins.{node.id}")
    try:
        return of_value(ast.literal_eval(node))
    except ValueError:
        return UNKNOWN


def _check_loop(rule: Any, env: dict[str, _Value]) -> None:
    """A ufunc's body may stand for the call where NumPy's loop is the operands' own float dtype."""
    inputs = [p.name for p in rule.parameters if p.kind == "positional-only"]
    if any(v.given for k, v in env.items() if k not in inputs and k != "out"):
        raise _Undecided
    facts = [env[n].fact for n in inputs]
    if set(rule.names) & (DOUBLES | PICKY):
        raise _Undecided
    dtypes = {f.dtype for f in facts if f.is_tensor}
    integers = not KEEP_INTEGERS.isdisjoint(rule.names)
    if len(dtypes) != 1 or not dtypes <= {*FLOATS, *(INTEGERS if integers else ())}:
        raise _Undecided
    for position, fact in enumerate(facts):
        if fact.is_tensor:
            continue
        known = fact.kind == "number" and (fact.dtype in ("int", "real", "float") if dtypes <= set(FLOATS) else fact.dtype == "int")
        if not known or position not in rule.options.get("numbers", ()):
            raise _Undecided


class _Follower:
    """Runs a rule's body on texts.

    lone  a result without dimensions needs no mark that it is an array: it has some, or only its value counts
    view  what is given back may be an argument itself"""

    def __init__(self, env: dict[str, _Value], file: str, lone: bool = False, view: bool = False) -> None:
        self.env, self.file, self.lone, self.view = env, file, lone, view
        self.used: dict[str, int] = {}

    def run(self, body: list[ast.stmt]) -> str:
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ast.If):
                taken = statement.body if self.decide(statement.test) else statement.orelse
                if taken:
                    try:
                        return self.run(taken)
                    except StopIteration:
                        continue
                continue
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
                self.env[statement.targets[0].id] = self.value(statement.value)
                continue
            if isinstance(statement, ast.Return) and statement.value is not None:
                return self.returned(statement.value)
            raise _Undecided
        raise StopIteration

    def returned(self, e: ast.expr) -> str:
        if isinstance(e, ast.IfExp):
            return self.returned(e.body if self.decide(e.test) else e.orelse)
        e = self.unwrapped(e)
        if isinstance(e, ast.Name):
            if not self.view or e.id not in self.env or self.env[e.id].fact.kind != "array":
                raise _Undecided
            return self.env[e.id].text if self.env[e.id].atom else f"({self.env[e.id].text})"
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and not e.keywords:
            function = self.function(e.func.id)
            if function is not None and len(function.args.args) == len(e.args):
                values = {p.arg: self.value(a) for p, a in zip(function.args.args, e.args, strict=True)}
                return _Follower(values, self.file, self.lone, self.view).run(function.body)
        text = self.render(e)
        if any(n > 1 and not self.env[name].atom for name, n in self.used.items()):
            raise _Undecided
        return text

    def unwrapped(self, e: ast.expr) -> ast.expr:
        """Markers of 0-d arrays do nothing where there are dimensions."""
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id in ("zero_d_array", "_same_kind") and e.args:
            source = e.args[-1] if e.func.id == "_same_kind" else None
            fact = self.env[source.id].fact if isinstance(source, ast.Name) and source.id in self.env else UNKNOWN
            if self.lone or (fact.kind == "array" and fact.rank):
                return e.args[0]
            raise _Undecided
        return e

    def _is_torch(self, e: ast.expr) -> bool:
        return isinstance(e, ast.Call) and _is_torch_name(e.func)

    def render(self, e: ast.expr) -> str:
        if isinstance(e, ast.Name):
            if e.id not in self.env:
                raise _Undecided
            value = self.env[e.id]
            if value.fact.kind == "name":
                raise _Undecided  # a NumPy object has no place in a torch call
            if not _simple(value.text):
                self.used[e.id] = self.used.get(e.id, 0) + 1
                if self.used[e.id] > 1:
                    raise _Undecided
            return value.text
        if isinstance(e, ast.Constant):
            return ast.unparse(e)
        if _is_torch_name(e):
            return ast.unparse(e)
        if isinstance(e, ast.UnaryOp) and isinstance(e.operand, ast.Constant):
            return ast.unparse(e)
        if isinstance(e, (ast.List, ast.Tuple)):
            inner = ", ".join(map(self.render, e.elts))
            return f"[{inner}]" if isinstance(e, ast.List) else f"({inner}{',' if len(e.elts) == 1 else ''})"
        if isinstance(e, ast.IfExp):
            return self.render(e.body if self.decide(e.test) else e.orelse)
        if isinstance(e, ast.Call):
            return self.call(e)
        raise _Undecided

    def call(self, e: ast.Call) -> str:
        method = self._method(e)
        known = self.value(e) if method is None and not self._is_torch(e) else None
        if known is not None:
            return known.text
        parts = [self.render(a) for a in e.args]
        if any(k.arg is None for k in e.keywords):
            raise _Undecided
        kept = [k for k in e.keywords if not self.is_torch_default(e, k)]
        if any(k.arg == "keepdim" for k in kept):  # torch's overload without `dim` has no `keepdim`
            kept = [k for k in e.keywords if k in kept or k.arg == "dim"]
        parts += [f"{k.arg}={self.render(k.value)}" for k in kept]
        return f"{method or ast.unparse(e.func)}({', '.join(parts)})"

    def _method(self, e: ast.Call) -> str | None:
        """A tensor's own method: `a.tolist`."""
        if not (isinstance(e.func, ast.Attribute) and isinstance(e.func.value, ast.Name) and e.func.value.id in self.env):
            return None
        owner = self.env[e.func.value.id]
        if not owner.fact.is_tensor:
            raise _Undecided
        text = self.render(e.func.value)
        return f"{text if owner.atom else f'({text})'}.{e.func.attr}"

    def is_torch_default(self, e: ast.Call, k: ast.keyword) -> bool:
        """`dim=None` and `keepdim=False` are what torch does anyway."""
        value = self.env.get(k.value.id) if isinstance(k.value, ast.Name) else None
        constant = value.fact if value is not None else _literal_fact(k.value)
        if k.arg == "dim":
            return constant.kind == "none" or (constant.value == -1 and ast.unparse(e.func) in _ALONG_THE_LAST)
        if k.arg == "n":
            return constant.value == 1
        return k.arg in ("keepdim", "descending") and constant.kind == "number" and constant.value is False

    def value(self, e: ast.expr) -> _Value:
        """What a call of a helper or a name stands for, where it changes nothing for these facts."""
        if isinstance(e, ast.Name) and e.id in self.env:
            return self.env[e.id]
        if isinstance(e, ast.Constant):
            return _Value(ast.unparse(e), _literal_fact(e))
        if isinstance(e, ast.Name) and e.id in ("numpy", "torch"):
            raise _Undecided
        if isinstance(e, ast.Attribute) and isinstance(e.value, ast.Name) and e.attr == "dtype" and e.value.id in self.env:
            owner = self.env[e.value.id].fact
            if owner.is_tensor and owner.dtype is not None:
                return _Value(f"torch.{owner.dtype}", Fact("dtype", owner.dtype, value=owner.dtype))
        if _is_torch_name(e) and ast.unparse(e).removeprefix("torch.") in SCALAR_TYPES.values():
            return self.dtype(_Value("", Fact("text", value=ast.unparse(e).removeprefix("torch."))))
        if isinstance(e, ast.IfExp):
            return self.value(e.body if self.decide(e.test) else e.orelse)
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.args:
            first = self.value(e.args[0])
            plain_float = first.fact.is_tensor and first.fact.dtype in FLOATS
            rest = [self.value(a) for a in e.args[1:]] if len(e.args) > 1 else []
            if e.func.id == "as_tensor" and first.fact.is_tensor and all(v.fact.kind == "none" for v in rest) and not e.keywords:
                return first
            own = [Fact("dtype", first.fact.dtype, value=first.fact.dtype)] if first.fact.is_tensor and first.fact.dtype else []
            if e.func.id == "as_tensor" and own and [v.fact for v in rest] == own and not e.keywords:
                return first
            if e.func.id == "not_negative":
                sure = first.fact.least is not None and first.fact.least >= 0
                return first if sure else _Value(f"max({first.text}, 0)", first.fact)
            if e.func.id == "to_torch" and len(e.args) == 1:
                return self.dtype(first)
            if e.func.id == "cast" and len(rest) == 1 and first.fact.is_tensor and rest[0].fact.kind == "dtype":
                return self.cast(first, rest[0])
            if e.func.id in ("widen", "as_inexact") and plain_float and all(v.fact.kind == "none" for v in rest):
                return first
        raise _Undecided

    def dtype(self, given: _Value) -> _Value:
        """A dtype argument as torch spells it."""
        known = _dtype_of(given.fact)
        if known is None:
            raise _Undecided
        return _Value(f"torch.{known}", Fact("dtype", known, value=known))

    def cast(self, x: _Value, dtype: _Value) -> _Value:
        if x.fact.dtype is None or dtype.fact.dtype is None:
            raise _Undecided
        if x.fact.dtype == dtype.fact.dtype:
            return x
        if x.fact.dtype.startswith("complex") or dtype.fact.dtype == "bool":
            raise _Undecided
        owner = x.text if x.atom else f"({x.text})"
        return _Value(f"{owner}.to({dtype.text})", Fact(x.fact.kind, dtype.fact.dtype, x.fact.rank, fresh=True))

    def decide(self, e: ast.expr) -> bool:
        """A condition of the rule, decided by the facts of the call."""
        if isinstance(e, ast.BoolOp):
            is_and = isinstance(e.op, ast.And)
            undecided = False
            for part in e.values:
                try:
                    if self.decide(part) is not is_and:
                        return not is_and
                except _Undecided:
                    undecided = True
            if undecided:
                raise _Undecided
            return is_and
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
            return not self.decide(e.operand)
        if isinstance(e, ast.Compare) and len(e.ops) == 1:
            return self.compare(e.left, e.ops[0], e.comparators[0])
        if isinstance(e, ast.Compare):
            left = [e.left, *e.comparators[:-1]]
            pairs = zip(left, e.ops, e.comparators, strict=True)
            return self.decide(ast.BoolOp(ast.And(), [ast.Compare(a, [op], [b]) for a, op, b in pairs]))
        if isinstance(e, ast.Call):
            return self.predicate(e)
        if isinstance(e, ast.Name) and e.id in self.env:
            fact = self.env[e.id].fact
            if fact.kind == "number" and fact.value is not None:
                return bool(fact.value)
            if fact.kind == "none":
                return False
        raise _Undecided

    def compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        if isinstance(left, ast.Attribute) and isinstance(left.value, ast.Name) and left.value.id in self.env:
            return self.compare_attribute(self.env[left.value.id].fact, left.attr, op, right)
        if isinstance(left, ast.Call) and ast.unparse(left.func) == "type" and isinstance(op, ast.Is):
            return self.is_number(self.value(left.args[0]).fact, ast.unparse(right))
        if not isinstance(left, ast.Name) or left.id not in self.env:
            raise _Undecided
        if ast.unparse(right) == "numpy._NoValue":
            return (self.env[left.id].text == "numpy._NoValue") is isinstance(op, ast.Is)
        fact, constant = self.env[left.id].fact, _literal_fact(right)
        if constant.kind == "name" and isinstance(op, ast.Is):
            if fact.kind == "unknown":
                raise _Undecided
            return fact.value == constant.value
        if type(op) in _ORDER and fact.kind == constant.kind == "number" and None not in (fact.value, constant.value):
            return bool(_ORDER[type(op)](fact.value, constant.value))
        if isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            wanted = isinstance(op, (ast.Is, ast.Eq))
            if isinstance(right, ast.Tuple) and not right.elts and fact.kind in ("number", "none"):
                return not wanted
            if isinstance(right, ast.Tuple) and not right.elts and fact.kind == "sequence" and fact.items is not None:
                return (len(fact.items) == 0) is wanted
            if constant.kind == "text" and fact.kind == "text" and fact.value is not None:
                return (fact.value == constant.value) is wanted
            if constant.kind == "none":
                if fact.kind in ("unknown", "other"):
                    raise _Undecided
                return (fact.kind == "none") is wanted
            if constant.kind == "number" and fact.kind == "number" and fact.value is not None:
                return (fact.value == constant.value and (fact.dtype == constant.dtype or isinstance(op, (ast.Eq, ast.NotEq)))) is wanted
            if constant.kind == "number" and (fact.is_tensor or fact.kind == "none"):
                return not wanted
        raise _Undecided

    def is_number(self, fact: Fact, kind: str) -> bool:
        """Whether a value is a Python number of one kind."""
        if fact.kind == "unknown" or (fact.kind == "number" and fact.dtype in ("real", None)):
            raise _Undecided
        return fact.kind == "number" and fact.dtype == kind

    def compare_attribute(self, fact: Fact, attribute: str, op: ast.cmpop, right: ast.expr) -> bool:
        if not fact.is_tensor:
            raise _Undecided
        wanted = isinstance(op, (ast.Eq, ast.Is))
        if attribute == "ndim" and fact.rank is not None and isinstance(right, ast.Constant) and type(op) in _ORDER:
            return bool(_ORDER[type(op)](fact.rank, right.value))  # type: ignore[arg-type]
        if attribute == "dtype" and fact.dtype is not None:
            if isinstance(op, (ast.Eq, ast.NotEq)):
                return self.same_dtype(fact.dtype, right) is wanted
            if isinstance(op, (ast.In, ast.NotIn)):
                return self.among(fact.dtype, self.constant(right)) is isinstance(op, ast.In)
        raise _Undecided

    def same_dtype(self, dtype: str, right: ast.expr) -> bool:
        """`dtype == right`, where right is a dtype of torch's or of another argument."""
        if isinstance(right, ast.Attribute) and isinstance(right.value, ast.Name) and right.value.id in self.env and right.attr == "dtype":
            other = self.env[right.value.id].fact
            if not other.is_tensor or other.dtype is None or (ASSUMED in (dtype, other.dtype) and dtype != other.dtype):
                raise _Undecided
            return dtype == other.dtype
        if isinstance(right, ast.Name) and right.id in self.env and self.env[right.id].fact.kind == "dtype":
            return self.among(dtype, [f"torch.{self.env[right.id].fact.dtype}"])
        return self.among(dtype, [ast.unparse(right)])

    def among(self, dtype: str, spelled: list[str]) -> bool:
        if any(not t.startswith("torch.") for t in spelled):
            raise _Undecided
        if dtype != ASSUMED:
            return f"torch.{dtype}" in spelled
        floats = {"torch.float32", "torch.float64"} & set(spelled)
        if len(floats) == 1:
            raise _Undecided
        return len(floats) == 2

    def constant(self, e: ast.expr) -> list[str]:
        """The dtypes in a constant of the rule's file (or in WIDER)."""
        if isinstance(e, ast.Name):
            if e.id == "WIDER":
                return ["torch.uint16", "torch.uint32", "torch.uint64"]
            for s in module_of(self.file).body:
                if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and s.targets[0].id == e.id:
                    e = s.value
                    break
        if isinstance(e, (ast.Tuple, ast.List, ast.Set)):
            return [ast.unparse(x) for x in e.elts]
        raise _Undecided

    def predicate(self, e: ast.Call) -> bool:
        if isinstance(e.func, ast.Attribute) and isinstance(e.func.value, ast.Name) and e.func.value.id in self.env and not e.args:
            fact = self.env[e.func.value.id].fact
            if fact.is_tensor and fact.dtype is not None:
                if e.func.attr == "is_complex":
                    return fact.dtype.startswith("complex")
                if e.func.attr == "is_floating_point":
                    return fact.dtype.startswith("float")
            if fact.is_tensor and e.func.attr == "is_contiguous":
                return True  # it decides between a view and a copy, and where something is written the rule is called
        if (
            isinstance(e.func, ast.Name)
            and e.func.id == "isinstance"
            and len(e.args) == 2
            and isinstance(e.args[0], ast.Name)
            and e.args[0].id in self.env
        ):
            return self.is_instance(self.env[e.args[0].id].fact, ast.unparse(e.args[1]))
        if isinstance(e.func, ast.Name) and e.func.id == "alike" and len(e.args) == 1:
            return self.alike(self.value(e.args[0]).fact)
        if isinstance(e.func, ast.Name) and e.func.id == "scalars" and len(e.args) == 1:
            return self.alike(self.value(e.args[0]).fact, of_scalars=True)
        if isinstance(e.func, ast.Name) and e.func.id == "stands_for" and len(e.args) == 2:
            return self.stands_for(e.args[0], e.args[1])
        helper = self.helper(e)
        if helper is not None:
            return helper
        if isinstance(e.func, ast.Name) and e.func.id in ("is_integral", "is_complex"):
            facts = [self.env[a.id].fact for a in e.args if isinstance(a, ast.Name) and a.id in self.env]
            if any(f.is_tensor and f.dtype in FLOATS for f in facts):
                return False
        raise _Undecided

    def stands_for(self, number: ast.expr, dtype: ast.expr) -> bool:
        """`semantics.arrays.stands_for`: a Python number that torch turns into the dtype as NumPy does."""
        fact = self.value(number).fact
        if isinstance(dtype, ast.Attribute) and isinstance(dtype.value, ast.Name) and dtype.value.id in self.env:
            target = self.env[dtype.value.id].fact.dtype
        else:
            target = self.value(dtype).fact.dtype
        if fact.kind != "number":
            if fact.is_tensor or fact.kind == "none":
                return False
            raise _Undecided
        if target in FLOATS and fact.dtype in ("int", "real", "float"):
            return True
        if target == "int64" and fact.dtype == "int":
            return True  # one that does not fit is an error here and there
        if target in INTEGERS and fact.dtype == "int" and isinstance(fact.value, int):
            low, high = INTEGERS[target]
            return low <= fact.value < high
        raise _Undecided

    def alike(self, fact: Fact, of_scalars: bool = False) -> bool:
        """A list of tensors of one dtype and one rank, above 0 or 0 (`rules.joining.alike`, `scalars`)."""
        items = fact.items or ((fact.element,) if fact.element is not None and fact.items is None else ())
        if fact.kind != "sequence" or not items or any(not i.is_tensor or i.rank is None for i in items):
            raise _Undecided
        if not promoted({i.dtype for i in items}):
            raise _Undecided
        return len({i.rank for i in items}) == 1 and bool(items[0].rank) is not of_scalars

    def helper(self, e: ast.Call) -> bool | None:
        """A predicate of the rule's own file, followed in the same way."""
        if not isinstance(e.func, ast.Name) or e.keywords:
            return None
        function = self.function(e.func.id)
        if function is None or len(function.args.args) != len(e.args):
            return None
        env: dict[str, _Value] = {}
        for p, a in zip(function.args.args, e.args, strict=False):
            if isinstance(a, ast.Attribute) and a.attr == "dtype" and isinstance(a.value, ast.Name) and a.value.id in self.env:
                fact = self.env[a.value.id].fact
                env[p.arg] = _Value("dtype", Fact("dtype", fact.dtype, value=fact.dtype))
            else:
                env[p.arg] = self.value(a)
        return _Follower(env, self.file).truth(function.body)

    def function(self, name: str) -> ast.FunctionDef | None:
        """A function of the rule's own file."""
        return next((s for s in module_of(self.file).body if isinstance(s, ast.FunctionDef) and s.name == name), None)

    def truth(self, body: list[ast.stmt]) -> bool:
        for s in body:
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
                continue
            if isinstance(s, ast.If):
                taken = s.body if self.decide(s.test) else s.orelse
                if taken:
                    return self.truth(taken)
            elif isinstance(s, ast.Return) and s.value is not None:
                if isinstance(s.value, ast.Constant) and isinstance(s.value.value, bool):
                    return s.value.value
                return self.decide(s.value)
            else:
                raise _Undecided
        raise _Undecided

    def is_instance(self, fact: Fact, classes: str) -> bool:
        if classes == "torch.Tensor" and (fact.is_tensor or fact.kind in ("number", "none", "text", "sequence")):
            return fact.is_tensor
        if classes == "tuple" and fact.kind in ("number", "none", "sequence", "text", "array", "scalar", "tensor"):
            if fact.kind == "sequence":
                raise _Undecided
            return False
        known = fact.is_tensor or fact.kind in ("none", "sequence") or (fact.kind == "number" and fact.dtype not in (None, "real"))
        if classes == "int" and known:
            return fact.kind == "number" and fact.dtype in ("int", "bool")
        if classes == "bool" and known:
            return fact.kind == "number" and fact.dtype == "bool"
        raise _Undecided


def _simple(text: str) -> bool:
    """A name, a literal or a dotted chain: may be written twice."""
    return text.replace(".", "").replace("_", "").lstrip("-").isalnum()


def _is_torch_name(e: ast.expr) -> bool:
    """`torch.sum`, `torch.linalg.norm`, `torch.float32`: torch's own, reached by names alone."""
    is_attribute = isinstance(e, ast.Attribute)
    while isinstance(e, ast.Attribute):
        e = e.value
    return is_attribute and isinstance(e, ast.Name) and e.id == "torch"


def _dtype_of(fact: Fact) -> str | None:
    """The dtype that an argument such as `np.float32`, `float` or "f4" names."""
    if fact.kind == "name":
        module, _, last = str(fact.value).rpartition(".")
        if module == "numpy":
            return SCALAR_TYPES.get(last)
        return {"builtins.float": "float64", "builtins.int": "int64", "builtins.bool": "bool", "builtins.complex": "complex128"}.get(
            str(fact.value)
        )
    return str(fact.value) if fact.kind == "text" and fact.value in set(SCALAR_TYPES.values()) else None


__all__ = ["inline"]
