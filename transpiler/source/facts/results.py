"""What calls give, as facts: Python's builtins, NumPy's functions and methods (from their rule's kind), torch's bridges."""

from __future__ import annotations

import ast
from typing import Any

from ...codemod.plain import FLOATS
from ..reading.walking import walk
from .gives import gives, reduced
from .inference import Inference
from .known import EITHER, NONE, OTHER, SIZE, TEXT, TORCH, UNKNOWN, Fact, array, element_of, number, operated, result

SCALAR_TYPES = {
    "bool_": "bool", "bool": "bool", "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8",
    "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "float16": "float16", "float32": "float32", "float64": "float64",
    "complex64": "complex64", "complex128": "complex128", "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16",
    "intc": "int32", "uintc": "uint32", "int_": "int64", "intp": "int64", "uint": "uint64", "longlong": "int64", "half": "float16",
    "single": "float32", "double": "float64", "csingle": "complex64", "cdouble": "complex128",
}  # fmt: skip
"""NumPy's scalar types by every name they have, and the dtype each makes."""

_SAME_DTYPE = (
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "min",
    "max",
    "amin",
    "amax",
    "ptp",
    "median",
    "nansum",
    "nanmean",
    "nanmin",
    "nanmax",
    "nanstd",
    "nanvar",
)
_POSITIONS = ("argmin", "argmax", "nanargmin", "nanargmax", "count_nonzero")
_TRUTH = ("all", "any")


def call_fact(callee: Fact, call: ast.Call, inference: Inference, table: Any) -> Fact:
    """The fact of a call's result; UNKNOWN where nothing is certain."""
    args = [inference.facts.get(a, UNKNOWN) for a in call.args]
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    if callee.kind == "name":
        full = str(callee.value)
        if full.startswith("builtins."):
            return _builtin(full.removeprefix("builtins."), args)
        if full.startswith("numpy."):
            return UNKNOWN if starred else numpy_call(full, args, call, inference, table)
        if full.startswith("torch."):
            return of_torch(full)
        return _of_unknown(args)
    if isinstance(call.func, ast.Attribute) and not starred:
        owner = inference.facts.get(call.func.value, UNKNOWN)
        if owner.kind in ("torch", "either") or (owner.kind == "unknown" and call.func.attr == "numpy" and not args):
            return _torch_method(owner, call.func.attr)
        if owner.is_tensor:
            return numpy_call(f"numpy.ndarray.{call.func.attr}", [owner, *args], call, inference, table)
        if owner.kind == "sequence" and element_of(owner).kind in ("torch", "either"):
            return EITHER
        if owner.kind == "text":
            return TEXT if call.func.attr in ("format", "join", "strip", "lower", "upper", "replace") else UNKNOWN
    return TORCH if callee.kind == "other" and callee.value == "module" else _of_unknown(args)


def _of_unknown(args: list[Fact]) -> Fact:
    """What a function nobody knows makes of torch tensors may be one too, or an array."""
    return EITHER if any(a.kind in ("torch", "either") for a in args) else UNKNOWN


def of_torch(name: str) -> Fact:
    """The result of torch's own function; a module is what `torch.nn.Linear(...)` makes."""
    last = name.rpartition(".")[2]
    if name.startswith("torch.nn.") and last[:1].isupper():
        return Fact("other", value="module")
    if last[:1].isupper() or last.startswith(
        ("is_", "set_", "get_", "no_grad", "inference_mode", "enable_grad", "device", "manual_seed", "compile", "dtype")
    ):
        return OTHER
    return TORCH


def _torch_method(owner: Fact, attribute: str) -> Fact:
    if attribute == "numpy":
        return Fact("tensor")
    if attribute in ("item", "tolist", "size", "dim", "numel", "stride", "is_floating_point", "is_complex", "data_ptr", "element_size"):
        return (
            Fact("sequence", element=number("int"))
            if attribute in ("size", "stride")
            else UNKNOWN
            if attribute == "tolist"
            else number(None)
        )
    return TORCH if owner.kind == "torch" or attribute in TORCH_ONLY else EITHER


TORCH_ONLY = frozenset((
    "abs_", "backward", "bfloat16", "bool", "chunk", "clamp", "clone", "contiguous", "cpu", "cuda", "detach", "device", "dim", "double",
    "expand", "expand_as", "float", "gather", "half", "index_select", "int", "is_cuda", "long", "masked_fill", "masked_fill_", "narrow",
    "new_ones", "new_zeros", "numel", "permute", "relu", "requires_grad", "requires_grad_", "scatter", "sigmoid", "softmax", "to", "type",
    "type_as", "unbind", "unfold", "unsqueeze", "view_as",
))  # fmt: skip
"""Attributes that a torch tensor has and an ndarray has not."""


def torch_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, text: str) -> set[str]:
    """The parameters that are torch tensors in the original: annotated so, or used with what only a torch tensor has.

    text  the module's: where it never speaks of torch, `.device` is NumPy's"""
    args = function.args
    found = {
        a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs] if a.annotation is not None and _is_tensor_annotation(a.annotation)
    }
    every = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]} - _asked(function)
    numpys = _numpys_devices(function)
    telling = TORCH_ONLY if "torch" in text else TORCH_ONLY - {"device"}
    for n in walk(function):
        if isinstance(n, ast.Attribute) and n.attr in telling and isinstance(n.value, ast.Name) and n.value.id in every - numpys:
            found.add(n.value.id)
    return found


def _numpys_devices(function: ast.AST) -> set[str]:
    """The names whose `.device` is the text that NumPy's arrays have for one: compared with a text, or given to `to_device`."""
    found: list[ast.expr] = []
    for n in walk(function):
        if isinstance(n, ast.Compare):
            sides = [n.left, *n.comparators]
            found += sides if any(map(is_text, sides)) else []
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "to_device":
            found += [n.func.value, *(a.value for a in n.args if isinstance(a, ast.Attribute))]
    devices = [d.value if isinstance(d, ast.Attribute) and d.attr == "device" else d for d in found]
    return {d.id for d in devices if isinstance(d, ast.Name)}


def is_text(e: ast.expr) -> bool:
    """A text as it is written, or a tuple or list with one in it."""
    if isinstance(e, (ast.Tuple, ast.List, ast.Set)):
        return any(map(is_text, e.elts))
    return isinstance(e, ast.Constant) and isinstance(e.value, str)


def _asked(function: ast.AST) -> set[str]:
    """The names whose attributes are asked for, since they may have them or not: with `hasattr`, or in a `try`."""
    found = set()
    for n in walk(function):
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "hasattr" and n.args:
            found |= {n.args[0].id} if isinstance(n.args[0], ast.Name) else set()
        elif isinstance(n, ast.Try) and any(map(catches_attributes, n.handlers)):
            inside = (m for s in n.body for m in walk(s))
            found |= {m.value.id for m in inside if isinstance(m, ast.Attribute) and isinstance(m.value, ast.Name)}
    return found


def catches_attributes(handler: ast.ExceptHandler) -> bool:
    """Whether an attribute that is not there is caught."""
    return handler.type is None or any(name in ast.unparse(handler.type) for name in ("AttributeError", "Exception"))


def _is_tensor_annotation(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return "Tensor" in text and "ndarray" not in text and "NDArray" not in text


def _builtin(name: str, args: list[Fact]) -> Fact:
    if name == "len":
        return SIZE
    if name in ("float", "int", "bool", "complex"):
        return number(name)
    if name == "range":
        return Fact("sequence", element=number("int"))
    if name == "enumerate" and args:
        return Fact("sequence", element=Fact("sequence", items=(number("int"), element_of(args[0]))))
    if name == "zip":
        return Fact("sequence", element=Fact("sequence", items=tuple(map(element_of, args))))
    if name in ("list", "tuple", "reversed", "sorted") and args:
        items = args[0].items if args[0].kind == "sequence" and name in ("list", "tuple") else None
        return Fact("sequence", items=items, element=element_of(args[0]))
    if name in ("isinstance", "hasattr", "callable", "any", "all"):
        return number("bool")
    if name in ("str", "repr", "format"):
        return TEXT
    if name == "print":
        return NONE
    if name in ("abs", "min", "max", "sum", "round") and args and all(a.kind == "number" for a in args):
        kinds = {a.dtype for a in args}
        return number(kinds.pop() if len(kinds) == 1 and name != "round" and kinds <= {"int", "float"} else None)
    if name == "abs" and args and args[0].is_tensor:
        return operated("absolute", args[0])
    return UNKNOWN


def numpy_call(name: str, args: list[Fact], call: ast.Call, inference: Inference, table: Any) -> Fact:
    """The result of a NumPy function or method by its qualified name; the array of a method is the first of `args`."""
    short = name.rpartition(".")[2]
    if name.count(".") == 1 and short in SCALAR_TYPES:
        return Fact("scalar", SCALAR_TYPES[short], 0, fresh=True) if not args or args[0].kind in ("number", "scalar") else Fact("unknown")
    rule = table.rules.get(name)
    if rule is None or rule.writes:
        return UNKNOWN
    keywords = {k.arg for k in call.keywords}
    if rule.is_ufunc:
        return _ufunc(rule, args, keywords)
    if rule.kind == "reduction" and short in (*_SAME_DTYPE, *_POSITIONS, *_TRUTH) and args:
        return _reduction(short, args, call, keywords, is_method=name.startswith("numpy.ndarray."))
    if name == "numpy.ndarray.astype" and len(args) <= 2:
        dtype = _dtype_argument(call, inference, 0)
        return array(dtype, args[0].rank, fresh=True) if args[0].kind == "array" else Fact("tensor", dtype, fresh=True)
    if name == "numpy.ndarray.copy" or (name == "numpy.copy" and args and args[0].kind == "array"):
        return Fact(args[0].kind, args[0].dtype, args[0].rank, fresh=True)
    if "out" in keywords:
        return UNKNOWN
    known = gives(name, args, {k.arg: k.value for k in call.keywords}, lambda place: _dtype_argument(call, inference, place))
    if known is not None:
        return known
    if short in ("clip", "where"):
        return _chosen(short, args, keywords)
    if name == "numpy.ndarray.reshape" and len(args) > 1 and not keywords and args[0].kind == "array":
        sizes = args[1].items if len(args) == 2 and args[1].kind == "sequence" else tuple(args[1:])
        if sizes is not None and all(s.kind == "number" for s in sizes):
            return array(args[0].dtype, len(sizes))
    owner = name.removesuffix(f".{short}")
    if short in _OF_FLOATS and owner in ("numpy", "numpy.ndarray", "numpy.linalg") and not keywords - {"axis", "decimals"}:
        return _of_floats(short, args, call, inference)
    if short in _KEEP_DTYPE and args and not keywords & {"dtype", "shape"}:
        return _kept(short, args, call)
    if short in _CREATE and name.count(".") == 1:
        dtype = (
            _dtype_argument(call, inference, _CREATE[short])
            if _gives_dtype(call, _CREATE[short])
            else "float64"
            if short not in ("full", "arange")
            else None
        )
        if short == "linspace" and any(a.kind != "number" for a in args[:2]):
            return Fact("tensor", fresh=True)
        return _created(short, call, dtype)
    if name == "numpy.linalg.norm" and args and args[0].is_tensor and not keywords - {"ord", "axis", "keepdims"}:
        whole = len(args) == 1 and not keywords
        return (
            result(args[0].dtype if args[0].dtype in FLOATS else None, 0)
            if whole
            else Fact("tensor", args[0].dtype if args[0].dtype in FLOATS else None, fresh=True)
        )
    return UNKNOWN


_KEEP_DTYPE = frozenset((
    "reshape", "ravel", "flatten", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d",
    "sort", "flip", "fliplr", "flipud", "roll", "rot90", "tile", "repeat", "concatenate", "stack", "vstack", "hstack", "column_stack",
    "take", "broadcast_to", "zeros_like", "ones_like", "copy", "ascontiguousarray", "diagonal", "tril", "triu", "pad",
))  # fmt: skip
"""Functions whose result has the dtype of what they are given (of all of it, for a list)."""

_OF_FLOATS = frozenset(("cumsum", "cumprod", "round", "around", "diff", "inv", "pinv", "solve", "einsum", "dot", "inner", "outer", "cross"))
"""Functions that make of floats of one dtype an array or a scalar of it."""
_MOST_GIVEN = {"round": 2, "around": 2, "cumsum": 2, "cumprod": 2, "diff": 3, "dot": 2, "outer": 2}
"""More arguments than these may be an `out`, or another dtype."""

_CREATE = {"zeros": 1, "ones": 1, "full": 2, "eye": 3, "identity": 1, "linspace": 5, "arange": 3}
"""Functions that make an array of nothing, and the position of their dtype argument."""


def _of_floats(short: str, args: list[Fact], call: ast.Call, inference: Inference) -> Fact:
    operands = args[1:] if short == "einsum" else args[:1] if short in ("cumsum", "cumprod", "round", "around", "diff") else args[:2]
    dtypes = {a.dtype for a in operands}
    if not operands or not all(a.is_tensor for a in operands) or len(dtypes) != 1:
        return UNKNOWN
    (dtype,), first = dtypes, operands[0]
    if dtype not in FLOATS or len(args) > _MOST_GIVEN.get(short, 99):
        return UNKNOWN
    if first.kind != "array" or not first.rank:
        return Fact("tensor", dtype)
    if short in ("inv", "round", "around"):
        return array(dtype, first.rank, fresh=short != "inv")
    if short in ("cumsum", "cumprod"):
        given = [inference.facts.get(k.value, UNKNOWN) for k in call.keywords if k.arg == "axis"] + args[1:2]
        whole = not given or given[0].kind == "none"
        rank = 1 if whole else first.rank if given[0].kind == "number" else None
        return array(dtype, rank, fresh=True) if rank else Fact("tensor", dtype, fresh=True)
    if short == "diff":
        return array(dtype, first.rank)
    return Fact("tensor", dtype)


def _kept(short: str, args: list[Fact], call: ast.Call) -> Fact:
    first = args[0]
    alone = len(args) == 1 and not call.keywords
    if first.kind == "sequence":
        parts = first.items if first.items else (first.element,) if first.element is not None else ()
        dtypes = {p.dtype for p in parts if p.is_tensor}
        if len(dtypes) != 1 or not all(p.is_tensor for p in parts):
            return Fact("tensor", fresh=True)
        ranks = {p.rank for p in parts} if alone else {None}
        rank = ranks.pop() if len(ranks) == 1 else None
        rank = rank if short == "concatenate" else rank + 1 if short == "stack" and rank is not None else None
        return array(dtypes.pop(), rank, fresh=True)
    if not first.is_tensor or (not alone and (short.startswith("atleast") or short.endswith("_like") or short == "ascontiguousarray")):
        return UNKNOWN
    axes = args[1].items if short == "transpose" and len(args) == 2 and not call.keywords else None
    if axes is not None and first.rank is None:
        return array(first.dtype, len(axes))
    if short == "expand_dims" and first.kind == "array" and first.rank is not None:
        given = [*args[1:], *(UNKNOWN for _ in call.keywords)]
        one = len(call.args) == 2 and given[0].kind == "number"
        return array(first.dtype, first.rank + 1) if one else Fact("array", first.dtype)
    if short in ("transpose", "swapaxes", "moveaxis") and first.kind == "array" and first.rank:
        return array(first.dtype, first.rank)
    if short == "roll" and first.kind == "array" and first.rank:
        return array(first.dtype, first.rank, fresh=True)
    if short in ("sort", "roll", "flip", "zeros_like", "ones_like", "copy") and first.kind == "array" and alone:
        return array(first.dtype, first.rank if first.rank else None, fresh=short != "flip")
    return Fact("tensor", first.dtype)


def _gives_dtype(call: ast.Call, position: int) -> bool:
    return len(call.args) > position or any(k.arg == "dtype" for k in call.keywords)


def _created(short: str, call: ast.Call, dtype: str | None) -> Fact:
    shape = call.args[0] if call.args else None
    rank = {"eye": 2, "identity": 2, "linspace": None, "arange": 1}.get(short)
    if (
        short in ("zeros", "ones", "full")
        and isinstance(shape, (ast.Tuple, ast.List))
        and not any(isinstance(e, ast.Starred) for e in shape.elts)
    ):
        rank = len(shape.elts)
    elif short in ("zeros", "ones", "full") and isinstance(shape, ast.Constant):
        rank = 1
    return array(dtype, rank, fresh=True)


def _dtype_argument(call: ast.Call, inference: Inference, position: int) -> str | None:
    """The dtype that a call is given, at a position or by keyword."""
    given = next((k.value for k in call.keywords if k.arg == "dtype"), call.args[position] if len(call.args) > position else None)
    if given is None:
        return None
    fact = inference.facts.get(given, UNKNOWN)
    if isinstance(given, ast.Attribute) and given.attr == "dtype" and (owner := inference.facts.get(given.value, UNKNOWN)).is_tensor:
        return owner.dtype
    if fact.kind == "text":
        return fact.value if fact.value in SCALAR_TYPES.values() else None
    module, _, last = str(fact.value).rpartition(".")
    if module == "numpy":
        return SCALAR_TYPES.get(last)
    return {"builtins.float": "float64", "builtins.int": "int64", "builtins.bool": "bool"}.get(str(fact.value))


DOUBLES = frozenset(("numpy.float_power",))
"""Ufuncs that compute in float64 whatever float they are given."""


KEEP_INTEGERS = frozenset(f"numpy.{n}" for n in (
    "add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "absolute", "negative", "sign"))  # fmt: skip
"""Ufuncs that compute with integers in their common dtype."""


def _ufunc(rule: Any, args: list[Fact], keywords: set[str | None]) -> Fact:
    if any(isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple) for n in walk(rule.function)):
        return UNKNOWN  # several outputs
    operands = args[: sum(p.kind == "positional-only" for p in rule.parameters)]
    if "out" in keywords or len(args) > len(operands) or any(not (a.is_tensor or a.kind == "number") for a in operands):
        return UNKNOWN
    if rule.kind == "predicate":
        return operated("less", *operands)
    if all(a.kind == "number" for a in operands):
        return Fact("scalar", None, 0, fresh=True)
    made = operated("add", *operands)
    keeps = made.dtype in FLOATS or not KEEP_INTEGERS.isdisjoint(rule.names)
    known = keeps and not set(rule.names) & DOUBLES and not keywords & {"dtype", "casting", "signature"}
    return Fact(made.kind, made.dtype if known else None, made.rank, fresh=True)


def _reduction(short: str, args: list[Fact], call: ast.Call, keywords: set[str | None], is_method: bool) -> Fact:
    a = args[0]
    if not a.is_tensor or "out" in keywords:
        return UNKNOWN
    given = {k.arg: k.value for k in call.keywords}
    position = 0 if is_method else 1
    axis = given.get("axis") or (call.args[position] if len(call.args) > position else None)
    if len(call.args) > position + 1:
        return UNKNOWN
    keepdims = given.get("keepdims")
    kept = isinstance(keepdims, ast.Constant) and keepdims.value is True
    dtype = (
        "int64"
        if short in _POSITIONS
        else "bool"
        if short in _TRUTH
        else reduced(short, a.dtype)
        if "dtype" not in keywords
        else None
    )
    if keepdims is not None and not isinstance(keepdims, ast.Constant):
        return Fact("tensor", dtype, fresh=True)
    if a.rank is None:
        return result(dtype, 0) if axis is None and not kept else Fact("tensor", dtype, fresh=True)
    if kept:
        return result(dtype, a.rank)
    if axis is None or (isinstance(axis, ast.Constant) and axis.value is None):
        return result(dtype, 0)
    if isinstance(axis, ast.Tuple) and all(isinstance(e, (ast.Constant, ast.UnaryOp)) for e in axis.elts):
        return result(dtype, max(a.rank - len(axis.elts), 0))
    if isinstance(axis, (ast.Constant, ast.UnaryOp)):
        return result(dtype, max(a.rank - 1, 0))
    return Fact("tensor", dtype, fresh=True)


def _chosen(short: str, args: list[Fact], keywords: set[str | None]) -> Fact:
    """clip and the three-argument where: broadcast and promoted like a sum."""
    operands = [a for a in (args if short == "clip" else args[1:]) if a.kind != "none"]
    if (
        keywords
        or len(args) != 3
        or any(not (a.is_tensor or a.kind == "number") for a in operands)
        or not any(a.is_tensor for a in operands)
    ):
        return UNKNOWN
    made = operated("add", *operands)
    rank = made.rank
    if short == "where":
        mask = args[0].rank if args[0].kind == "array" else None
        rank = max(rank, mask) if rank is not None and mask is not None else None
    found = result(made.dtype if made.dtype in FLOATS else None, rank)
    return found if rank else Fact("tensor", found.dtype, fresh=True)
