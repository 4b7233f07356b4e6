"""Calls in the codemod: NumPy's functions, methods and dtypes, Python's builtins, the user's and other people's functions."""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING, Any

from ..source.facts.known import Fact
from ..source.facts.results import SCALAR_TYPES, TORCH_ONLY
from ..source.flow.user_classes import CONVERSIONS
from ..source.reading.compiled import is_compiled
from ..source.reading.text import between, splice
from .inline import inline
from .lists import tensor_of
from .unpacking import ITERATING, elements, matters

if TYPE_CHECKING:
    from .rewriting_expressions import Expressions

_TRACKED = ("sum", "round", "pow", "divmod", "min", "max", "isinstance", "str", "repr", "format", "print", "list", "tuple", "enumerate",
            "zip", "sorted", "reversed", "iter", "map", "setattr", "getattr", "hasattr", "type", "hash", "set", "frozenset", "dict",
            "memoryview", "bytes", "bytearray")  # fmt: skip
"""Builtins that mean something else for tensors than for arrays."""

_LEFT_ALONE = (
    "numpy.errstate",
    "numpy.printoptions",
    "numpy.dtype",
    "numpy.finfo",
    "numpy.iinfo",
    "numpy.seterr",
    "numpy.set_printoptions",
)
"""NumPy's names that touch no array."""

_BRIDGES = ("torch.from_numpy", "torch.as_tensor", "copy.copy", "copy.deepcopy")
"""Functions that mean something else once arrays are tensors."""


def render_call(r: Expressions, e: ast.Call) -> str | None:
    own = r.own_callee(e)
    if own is not None:
        return _renamed(r, e, own)
    callee = r.fact(e.func)
    name = str(callee.value) if callee.kind == "name" else ""
    if name.startswith("numpy."):
        return _numpy(r, e, name)
    if name.startswith("builtins."):
        return _builtin(r, e, name.removeprefix("builtins."))
    if name in _BRIDGES:
        return r.left(e) if len(e.args) == 1 and not e.keywords else None
    if name:
        return _library(r, e, name)
    if isinstance(e.func, ast.Attribute):
        return _method(r, e, e.func)
    if callee.kind == "function" or isinstance(e.func, ast.Lambda):
        return None
    if _is_super(e):
        return None
    return _called(r, e)


def _renamed(r: Expressions, e: ast.Call, function: str) -> str:
    """The call with another function: only its name is replaced."""
    start, end = r.source.span(e)
    begin, stop = r.source.span(e.func)
    pieces = [p for p in r._parts(e, start, end) if p[:2] != (begin, stop)]
    return splice(r.source, start, end, [*pieces, (begin, stop, function)])


def _called(r: Expressions, e: ast.Call) -> str | None:
    """A callable that only run time knows."""
    if not any(r.fact(a).may_lead_to_tensor for a in _arguments(e)) and not _in_doubt(r, e) and not _may_hold_arrays(r, e):
        return None
    return r.left(e)


def _arguments_text(r: Expressions, e: ast.Call, after: int) -> tuple[int, str]:
    """Where a call's parenthesis opens, and the new text from there to the closing one."""
    start, end = r.source.span(e)
    opening = r.source.find("(", after, end)
    if len(e.args) == 1 and isinstance(e.args[0], ast.GeneratorExp) and r.source.span(e.args[0])[0] == opening:
        return opening, f"{r.text(e.args[0])})"  # a lone generator shares the call's parentheses
    return opening, splice(r.source, opening + 1, end, [p for p in r._parts(e, start, end) if p[0] > opening])


def _arguments(e: ast.Call) -> list[ast.expr]:
    return [*e.args, *(k.value for k in e.keywords)]


def _in_doubt(r: Expressions, e: ast.Call) -> bool:
    """A call without arguments may still work on arrays that it holds (a closure, a method), and what was chosen from several or
    stored may be a NumPy function, which makes a scalar of a number."""
    chosen = isinstance(e.func, (ast.IfExp, ast.BoolOp)) or (isinstance(e.func, ast.Name) and e.func.id in r.stored_names)
    return (not e.args and not e.keywords) or (chosen and r.fact(e.func).kind == "unknown")


def _may_hold_arrays(r: Expressions, e: ast.Call) -> bool:
    """What is given no array may have some of its own: an object's method, an object that is called."""
    if r.fact(e.func).kind != "unknown" or r.is_ours(e.func):
        return False
    if isinstance(e.func, ast.Attribute):
        return r.fact(e.func.value).kind in ("unknown", "sequence") and (r.thorough or r.computes(f"{e.func.attr}()"))
    return not isinstance(e.func, ast.Name) or (e.func.id in r.own_names and (r.thorough or r.computes("__call__")))


def _is_super(e: ast.Call) -> bool:
    return isinstance(e.func, ast.Name) and e.func.id == "super"


def _numpy(r: Expressions, e: ast.Call, name: str) -> str | None:
    short = name.rpartition(".")[2]
    if name in _LEFT_ALONE and name not in r.table.rules:
        asks = name == "numpy.dtype" and any(r.fact(a).is_tensor for a in _arguments(e))  # of a scalar the dtype that it has
        return _called(r, e) if asks else None
    if name.count(".") == 1 and short in SCALAR_TYPES:
        return _scalar(r, e, SCALAR_TYPES[short])
    if r.uninitialised(e) and e not in r.permitted:
        r.refuse(
            "uninitialised-memory",
            e,
            f"`{r.source.of(e.func)}` hands out whatever the memory held",
            "use np.zeros, or fill it before it is read",
        )
        return None
    rule = r.table.rules.get(name)
    if rule is None:
        base, _, method = name.rpartition(".")
        if base in r.table.rules and method in ("reduce", "accumulate", "reduceat", "outer", "at"):
            return _renamed(r, e, r.npx(name))
        r.unmapped(e.func, name, r.source.of(e.func))
        return None
    _lift_callbacks(r, e, rule)
    r.dtypes |= {k.value for k in e.keywords if k.arg == "dtype" and isinstance(k.value, ast.Attribute) and k.value.attr == "dtype"}
    text = _array_of_list(r, e, rule) if rule.body_name in ("array", "asarray") else None
    text = text or inline(r, e, rule, list(e.args))
    return (text and _laid_out(r, e, text)) or _renamed(r, e, r.npx(name))


def _array_of_list(r: Expressions, e: ast.Call, rule: Any) -> str | None:
    """`np.array([a, b, 0.5])`, as torch makes it."""
    given = [*e.args[1:], *(k.value for k in e.keywords)]
    if r.exact or not e.args or len(given) > 1 or any(k.arg != "dtype" for k in e.keywords) or r.fact(e.args[0]).kind != "sequence":
        return None
    if not given:
        text = tensor_of(r, e.args[0])
        if text is not None and text.startswith("torch.stack([") and "\n" in r.source.of(e):
            r.rendered[e.args[0]] = text[len("torch.stack(") : -1]  # so that `_laid_out` finds it
        return text
    dtype = r.fact(e).dtype
    of_another = isinstance(given[0], ast.Attribute) and given[0].attr == "dtype" and r.fact(given[0].value).is_tensor
    return tensor_of(r, e.args[0], dtype, r.text(given[0]) if of_another else "") if dtype is not None else None


def _laid_out(r: Expressions, e: ast.Call, text: str) -> str | None:
    """The new text in the lines of the old where only the function's name is another; None where comments would be lost."""
    old = r.source.of(e)
    if "\n" not in old and "#" not in old:
        return text
    same = _renamed(r, e, text.partition("(")[0])
    if _words(same) == _words(text):
        return same
    return None if "#" in old else text


def _words(text: str) -> str:
    return re.sub(r",(?=[)\]])", "", re.sub(r"\s+", "", re.sub(r"#[^\n]*", "", text)))


_CALLBACKS = ("func1d", "func", "pyfunc", "function", "funclist")
"""Parameters of NumPy's functions that take functions."""


def _lift_callbacks(r: Expressions, e: ast.Call, rule: Any) -> None:
    """Functions that NumPy is given to call (`np.apply_along_axis(f, ...)`) get tensors here: what they mean for tensors is called."""
    positional = [p.name for p in rule.parameters if p.kind in ("positional", "positional-only")]
    given = [*zip(positional, e.args, strict=False), *((k.arg, k.value) for k in e.keywords)]
    for name, value in given:
        if name in _CALLBACKS:
            _lift_callback(r, value)


def _lift_callback(r: Expressions, value: ast.expr) -> None:
    known = r.fact(value).kind == "name" and str(r.fact(value).value).startswith(("builtins.", "torch.", "math.", "operator."))
    if r.astray and not known and not isinstance(value, (ast.Lambda, ast.Starred)) and r.fact(value).kind != "none":
        message = f"what `{r.source.of(value)}` is called with may be an array or a torch tensor"
        r.refuse("opaque-call", value, message, "call it in a loop, on one of them: torch.as_tensor(...) or .numpy()")
    if not isinstance(value, (ast.Lambda, ast.Starred)) and r.fact(value).kind not in ("function", "none"):
        r.leave(value)


def _scalar(r: Expressions, e: ast.Call, dtype: str) -> str | None:
    """`np.float32(2)` is a scalar of that dtype: a 0-d tensor."""
    if e.keywords or len(e.args) > 1:
        r.refuse("unsupported-argument", e, "a NumPy scalar type is called with more than a value", "call it with one value")
        return None
    if (
        len(e.args) == 1
        and r.fact(e.args[0]).kind == "number"
        and r.fact(e.args[0]).dtype in ("int", "float", "bool")
        and not r.exact
        and dtype[0] in "fc"
    ):
        return f"{r.torch()}.tensor({r.text(e.args[0])}, dtype={r.torch_name}.{dtype})"
    return r.left(e)


def _builtin(r: Expressions, e: ast.Call, name: str) -> str | None:
    if name in ("eval", "exec", "globals", "locals", "compile", "__import__"):
        r.refuse("opaque-call", e, f"`{name}` works on source or namespaces that np2fx cannot see", "write the code out")
        return None
    if name in ("memoryview", "bytes", "bytearray") and any(r.fact(a).is_tensor for a in _arguments(e)):
        r.refuse("opaque-call", e, f"`{name}` takes the raw memory of an array", "do it outside the node")
        return None
    if name in ("map", "filter") and e.args:
        _lift_callback(r, e.args[0])
    elif name in ("sorted", "min", "max"):
        for k in e.keywords:
            if k.arg == "key":
                _lift_callback(r, k.value)
    if name == "abs" and e.args and r.fact(e.args[0]).may_be_tensor:
        a = r.fact(e.args[0])
        if not r.exact and a.is_tensor and a.dtype in ("float32", "float64", "floating"):
            return None
        return _renamed(r, e, r.npx("absolute")) if a.is_tensor else r.left(e)
    if name in ("bool", "int", "float", "complex") and any(_differs_in_python(r, a) for a in e.args):
        return _called(r, e)
    if name in CONVERSIONS and any(r.fact(a).kind == "unknown" for a in e.args) and r.computes(*CONVERSIONS[name]):
        return _called(r, e)
    tracked = name in _TRACKED or name.startswith(("set.", "frozenset.", "dict."))
    tracked = tracked or (matters(r) and (name == "filter" or name.removeprefix("list.") in ITERATING))
    if name in _COUNTING and not e.keywords and all(map(_counts, map(r.fact, e.args))):
        return None
    if tracked and any(r.fact(a).kind not in ("number", "text", "none") or isinstance(a, ast.Starred) for a in _arguments(e)):
        return _called(r, e) if name != "isinstance" else _isinstance(r, e)
    return None


_COUNTING = ("list", "tuple", "enumerate", "zip", "sorted", "reversed", "sum", "min", "max")


def _counts(fact: Fact) -> bool:
    """A Python number, or a sequence of nothing else."""
    items = fact.items if fact.items is not None else (fact.element,)
    return fact.kind == "number" or (fact.kind == "sequence" and all(i is not None and i.kind == "number" for i in items))


def _differs_in_python(r: Expressions, e: ast.expr) -> bool:
    """Whether `float(e)` may be something else in torch, which takes an array of one element for its element, and no complex number."""
    fact = r.fact(e)
    if fact.kind == "unknown" and not (r.exact or r.thorough):
        return not isinstance(e, (ast.Name, ast.Attribute, ast.Constant))
    in_doubt = r.exact or r.thorough or fact.dtype is None or fact.dtype.startswith("complex")
    return fact.kind == "array" or (fact.may_be_tensor and in_doubt)


def _isinstance(r: Expressions, e: ast.Call) -> str | None:
    return r.left(e) if len(e.args) == 2 and r.fact(e.args[0]).may_be_tensor else None


_ELEMENTS = ("heapq.nlargest", "heapq.nsmallest", "heapq.merge")
"""Functions of the standard library that hand out elements of what they are given."""

_CALLED = {"functools.reduce": 0, "itertools.starmap": 0, "itertools.takewhile": 0, "itertools.dropwhile": 0, "itertools.filterfalse": 0,
           "itertools.groupby": 1, "itertools.accumulate": 1}  # fmt: skip
"""Where the function stands that a function of the standard library calls."""

_BY_CLASS = {"dataclasses.replace": "__post_init__", "math.ceil": "__ceil__", "math.floor": "__floor__", "math.trunc": "__trunc__"}
"""Functions of the standard library, and the special method that they run."""


def _library(r: Expressions, e: ast.Call, name: str) -> str | None:
    """A function of another library: a rule of the project's, the standard library and torch as they are, others at run time."""
    rule = r.table.rules.get(name)
    if rule is not None:
        text = _called(r, e)
        if text is not None:
            r.rule_modules.add(rule.module)
        return text
    refusal = r.table.refusal(name)
    if refusal is not None and any(r.fact(a).may_be_tensor for a in _arguments(e)):
        r.refuse(refusal.finding, e.func, f"`{r.source.of(e.func)}`: {refusal.reason}", refusal.hint)
        return None
    if r.computes(_BY_CLASS.get(name, "")):
        return _called(r, e)
    for value in [*e.args[_CALLED.get(name, 9) :][:1], *(k.value for k in e.keywords if name in _CALLED and k.arg in ("key", "func"))]:
        _lift_callback(r, value)
    package = name.split(".")[0]
    if package in ("torch", "np2fx") or (
        package in sys.stdlib_module_names and (package in _TAKES_TENSORS or not any(r.fact(a).may_lead_to_tensor for a in _arguments(e)))
        and not (name in _ELEMENTS and matters(r))
    ):
        return None
    if any(r.fact(a).may_be_tensor for a in _arguments(e)) and is_compiled(name):
        twin = f"numpy.{name.removeprefix('scipy.')}"  # scipy.fft.rfft
        way_out = "split the node around it, write the step in NumPy, or give np2fx a rule for it"
        way_out = f"call NumPy's own, `{twin}`, where it does as well; or {way_out}" if twin in r.table.rules else way_out
        r.refuse("opaque-call", e.func, f"`{r.source.of(e.func)}` is code of `{package}`: np2fx cannot see what it does", way_out)
        return None
    return _called(r, e)


_TAKES_TENSORS = frozenset(
    ("abc", "cmath", "contextlib", "copy", "dataclasses", "enum", "math", "sys", "threading", "time", "types", "typing", "weakref")
)
"""The packages of Python's own library that do the same with tensors as with arrays. Others make text, bytes or numbers of NumPy's."""


_MUTATORS = (
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "update",
    "add",
    "setdefault",
    "discard",
    "appendleft",
    "popitem",
    "write",
)
"""Methods that change the container they are called on."""


_OF_SEQUENCES = frozenset(name for kind in (list, tuple, range) for name in dir(kind)) | {"_replace", "_asdict"}
"""Methods of Python's own sequences. Named tuples may have others."""


def _changes_outside(r: Expressions, f: ast.Attribute) -> bool:
    """A container that is not the function's own is changed: a global's, or one that an argument holds."""
    if f.attr not in _MUTATORS or r.fact(f.value).is_tensor or f in r.fills:
        return False
    base: ast.expr = f.value
    while isinstance(base, (ast.Attribute, ast.Subscript)):
        base = base.value
    if not isinstance(base, ast.Name):
        return False
    return base.id not in r.own_names or (base is not f.value and base.id not in r.stored_names)


def _method(r: Expressions, e: ast.Call, f: ast.Attribute) -> str | None:
    owner = r.fact(f.value)
    name = f"numpy.ndarray.{f.attr}"
    rule = r.table.rules.get(name)
    if _changes_outside(r, f):
        r.refuse(
            "side-effect",
            f,
            f"`{r.source.of(f.value)}` is not the function's own: changing it changes what the next call sees",
            "return the value instead",
        )
        return None
    if owner.kind in ("torch", "either"):
        if f.attr == "numpy":
            return r.left(e)
        if owner.kind == "either" and f.attr not in TORCH_ONLY and name in r.table.rules:
            message = f"`{r.source.of(f.value)}` may be an array or a torch tensor, and `.{f.attr}` is not the same for both"
            r.refuse("opaque-call", f, message, "say which: torch.as_tensor(...) or .numpy()")
        return None
    if owner.kind == "text" and f.attr in ("format", "join"):
        start, end = r.source.span(e)
        wrapped = [
            (*r.source.span(a), r.shown(a))
            for a in _arguments(e)
            if not isinstance(a, ast.Starred)
        ]
        return splice(r.source, start, end, wrapped)
    if not owner.may_be_tensor:
        known = owner.kind in ("text", "number", "none") or (owner.kind == "sequence" and f.attr in _OF_SEQUENCES)
        if owner.kind == "sequence" and f.attr in ITERATING:
            elements(r, *(a for a in e.args if not isinstance(a, ast.Starred)))
            return None
        return None if known else _called_method(r, e, f)
    if owner.is_tensor:
        if rule is None and not r.table.has_attribute(f.attr):
            return r.left(e)  # NumPy's own error, if it comes to that
        if rule is None:
            r.unmapped(f, name, f"ndarray.{f.attr}")
            return None
        text = inline(r, e, rule, [f.value, *e.args]) if "#" not in r.source.of(e) else None
        return text or _shared_method(r, e, f) or r.left(e)
    if (
        rule is not None
        or name in r.table.refusals
        or f.attr in ("numpy", "resize", "tobytes", "dump", "getfield", "setflags", "setfield", "byteswap", "tofile")
    ):
        if r.astray and rule is not None:
            message = f"`{r.source.of(f.value)}` may be an array or a torch tensor, and `.{f.attr}` is not the same for both"
            r.refuse("opaque-call", f, message, "say which: torch.as_tensor(...) or .numpy()")
        return r.left(e)
    return _called_method(r, e, f)


def _shared_method(r: Expressions, e: ast.Call, f: ast.Attribute) -> str | None:
    """`x.reshape(2, -1)` is torch's too, `x.transpose(1, 0)` is its permute, where the arguments are numbers."""
    torch_name = {"reshape": "reshape", "transpose": "permute"}.get(f.attr)
    numbers = bool(e.args) and all(r.fact(a).kind == "number" and r.fact(a).dtype == "int" for a in e.args)
    if torch_name is None or not numbers or e.keywords or r.exact or r.mirrored or r.fact(f.value).kind != "array":
        return None
    if not r.sees_as_numpy(e, f.value):
        return None
    _, rest = _arguments_text(r, e, r.source.span(f)[1])
    lead, owner, closing = _owner_text(r, e, f)
    return f"{lead}{owner}{closing}.{torch_name}({rest}"


def _owner_text(r: Expressions, e: ast.Call, f: ast.Attribute) -> tuple[str, str, str]:
    """What stands before a method's owner, the owner's new text, and what stands between it and the dot (parentheses)."""
    start = r.source.span(e)[0]
    f1 = r.source.span(f)[1]
    v0, v1 = r.source.span(f.value)
    return r.source.slice(start, v0), r.text(f.value), between(r.source.slice(v1, r.source.find(".", v1, f1)))


def _called_method(r: Expressions, e: ast.Call, f: ast.Attribute) -> str | None:
    """A method of something that is no array: of the user's own objects it may hold NumPy."""
    if not e.args and not e.keywords and f.attr in ("items", "keys", "values", "pop", "copy", "clear", "split"):
        return None  # a dict's or a list's, most likely: those of the user's own objects that compute are rare
    return _called(r, e)
