"""What check knows of a value before the code runs: is it an array, does it hang on the node's inputs, whose memory is it.

Beside `facts.py` (kinds and dtypes, for rewriting) check needs two things more: `traced`, whether array values that the node
was given flow into it, and `memory`, the arrays whose buffer a write into it would change.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..reading.names import Names
from .promotion import promote


@dataclass(frozen=True)
class Value:
    """An abstract value.

    kind     array, number (Python's), text, none, sequence, mapping, generator (of random numbers), object (not an array), unknown
    traced   array values given to the node flow into it
    rank     of an array, None where not known; 0 for a NumPy scalar
    dtype    NumPy's name, None where not known
    items    of a sequence of known length; `element` stands for any item of a sequence or mapping
    memory   the arrays that share its buffer: "argument x", or the place that made it
    assumed  an array only because a node's parameter is one unless declared otherwise
    guess    the parameter of which nothing is declared and on which alone it hangs that this is an array, or a number made of one;
             "" where it surely is
    constant a number's value; "Tensor" of an array declared as a torch tensor
    """

    kind: str = "unknown"
    traced: bool = False
    rank: int | None = None
    dtype: str | None = None
    items: tuple[Value, ...] | None = None
    element: Value | None = None
    memory: frozenset[str] = frozenset()
    assumed: bool = False
    guess: str = ""
    constant: Any = None

    @property
    def is_array(self) -> bool:
        return self.kind == "array"

    @property
    def reach(self) -> frozenset[str]:
        """Its own memory and that of what it holds."""
        return self.memory.union(*(v.reach for v in (*(self.items or ()), *filter(None, (self.element,)))))

    @property
    def is_data(self) -> bool:
        """An array, or a number made from one, that hangs on the inputs."""
        return self.traced and self.kind in ("array", "number") and self.constant is not UNSURE


UNSURE = "unsure"
"""The `constant` of an item of a container of which nothing is declared: an array where NumPy or an index takes it for one."""

MAYBE = "?"
"""Before the memory of a value that is a view or a scalar, which has none: `x[0]` of an array of unknown rank."""

UNKNOWN = Value()
NONE = Value("none")
TEXT = Value("text")
OBJECT = Value("object")
NUMBER = Value("number")


def array(traced: bool, rank: int | None = None, dtype: str | None = None, memory: Iterable[str] = ()) -> Value:
    return Value("array", traced, rank, dtype, memory=frozenset(memory))


def sequence(items: Iterable[Value]) -> Value:
    held = tuple(items)
    return Value("sequence", any(v.traced for v in held), items=held)


def element_of(value: Value) -> Value:
    """What iterating over a value gives."""
    if value.items:
        return join_all(value.items)
    if value.element is not None:
        return value.element
    if value.is_array:
        rank = None if value.rank is None else max(value.rank - 1, 0)
        return replace(value, rank=rank, items=None, assumed=False)
    return replace(UNKNOWN, traced=value.traced)


def guessed(value: Value, place: ast.expr, call: str = "") -> Value:
    """What an expression gives, where it is an array by a guess: of a dict whose items nobody has declared, or of a call."""
    text = ast.unparse(place) + call
    return replace(value, guess=text if len(text) <= 40 else text[:37] + "...")


def moved(value: Value, old: str, new: str) -> Value:
    """A value whose memory has another name, and that of what it holds."""
    if old not in value.reach:
        return value
    items = None if value.items is None else tuple(moved(v, old, new) for v in value.items)
    element = None if value.element is None else moved(value.element, old, new)
    return replace(value, items=items, element=element, memory=frozenset(new if m == old else m for m in value.memory))


def holds_array(value: Value) -> bool:
    """Whether a value is, or holds, an array of the node's, as far as it was said what it is."""
    parts = (*(value.items or ()), *filter(None, (value.element,)))
    return (value.is_array and value.is_data) or any(holds_array(v) for v in parts)


def may_hold_array(value: Value) -> bool:
    """Whether a value may be, or hold, an array of the node's."""
    if value.kind in ("sequence", "mapping") and (value.items is not None or value.element is not None):
        return any(may_hold_array(v) for v in (*(value.items or ()), *filter(None, (value.element,))))
    return value.traced and value.kind in ("array", "unknown", "sequence", "mapping")


def copied(value: Value, deep: bool = False) -> Value:
    """A container's copy: the container is new, what it holds is so only in a deep copy."""
    held = element_of(value) if value.kind in ("sequence", "mapping") else None
    if not deep:
        return replace(value, element=held, memory=frozenset())
    items = None if value.items is None else tuple(copied(v, True) for v in value.items)
    return replace(value, items=items, element=None if held is None else copied(held, True), memory=frozenset(), assumed=False)


def hangs_on(*values: Value) -> str:
    """The guess on which alone it hangs that a number is made of array values, of what it is made of."""
    guesses = [v.guess for v in values if v.traced]
    return guesses[0] if guesses and all(guesses) else ""


def join(a: Value, b: Value) -> Value:
    """What is certain of a value that is either."""
    if a == b:
        return a
    memory, traced = a.memory | b.memory, a.traced or b.traced
    if a.kind == b.kind:
        if a.kind == "sequence":
            if a.items is not None and b.items is not None and len(a.items) == len(b.items):
                return Value("sequence", traced, items=tuple(map(join, a.items, b.items)), memory=memory)
            return Value("sequence", traced, element=join(element_of(a), element_of(b)), memory=memory)
        same = {f: getattr(a, f) if getattr(a, f) == getattr(b, f) else None for f in ("rank", "dtype", "constant", "element")}
        guess = hangs_on(a, b) if a.kind == "number" else a.guess and b.guess
        return Value(a.kind, traced, memory=memory, assumed=a.assumed and b.assumed, guess=guess, **same)
    if {a.kind, b.kind} == {"array", "number"}:
        return Value("array", traced, memory=memory, guess=a.guess or b.guess)
    if "none" in (a.kind, b.kind):  # `y = None` before a branch that makes the array
        return a if b.kind == "none" else b
    return Value("unknown", traced, memory=memory)


def join_all(values: Iterable[Value]) -> Value:
    found: Value | None = None
    for value in values:
        found = value if found is None else join(found, value)
    return found or UNKNOWN


def operated(op: str, *operands: Value) -> Value:
    """What an operator or elementwise function gives: an array where one operand is, of the highest rank."""
    traced = any(o.traced for o in operands)
    if not any(o.is_array for o in operands):
        if all(o.kind == "number" for o in operands):
            return Value("number", traced, guess=hangs_on(*operands))
        return Value("unknown", traced)
    unsure = UNSURE if all(o.constant is UNSURE for o in operands if o.is_array) else None
    ranks = [0 if o.kind == "number" else o.rank for o in operands]
    rank = None if any(r is None for r in ranks) else max(r for r in ranks if r is not None)
    dtypes = [_weak(o) if o.kind == "number" else o.dtype for o in operands]
    dtype = "bool" if op in ("compare", "logic") else promote(*dtypes) if all(dtypes) else None  # type: ignore[arg-type]
    if op == "divide" and dtype is not None and not dtype.startswith(("float", "complex")):
        dtype = "float64"
    guesses = [o.guess for o in operands if o.is_array]
    return Value("array", traced, rank, dtype, constant=unsure, guess=guesses[0] if all(guesses) else "")


def _weak(number: Value) -> str | None:
    return number.dtype if number.dtype in ("bool", "int", "float", "complex") else None


def of_constant(value: Any) -> Value:
    """A Python literal."""
    if value is None:
        return NONE
    if isinstance(value, (bool, int, float, complex)):
        return Value("number", dtype=type(value).__name__, constant=value)
    return Value("text", constant=value) if isinstance(value, (str, bytes)) else OBJECT


# What is declared.

_JAXTYPING = {"Float": None, "Int": None, "UInt": None, "Inexact": None, "Num": None, "Shaped": None, "Bool": "bool", "Complex": None}


def of_spec(text: Any) -> Value:
    """A spec such as "float32[batch, 7]" (pipeline/spec.py has the forms), or a container of some. One that cannot be read declares
    nothing."""
    from ...pipeline.spec import ScalarSpec, SpecError, parse

    if text is None:
        return UNKNOWN
    if isinstance(text, (list, tuple)):
        return sequence(map(of_spec, text))
    if isinstance(text, dict):
        held = [of_spec(v) for v in text.values()]
        element = join_all(held)
        return Value("mapping", any(v.traced for v in held), element=element if len({v.kind for v in held}) < 2 else mixed(element))
    try:
        spec = parse(text)
    except SpecError:
        return replace(array(True), assumed=True)
    if isinstance(spec, ScalarSpec):
        return TEXT if spec.kind == "str" else Value("number", dtype=spec.kind)
    return array(True, spec.rank, spec.dtype)


def mixed(element: Value) -> Value:
    """Any item of a container of arrays and others."""
    return replace(element, constant=UNSURE) if element.is_array else Value("unknown", element.traced)


def of_annotation(node: ast.expr | None, names: Names) -> Value | None:
    """A parameter's annotation: NDArray[np.float32], Float32[np.ndarray, "batch 7"], int, dict[str, np.ndarray]. None says nothing."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            inner = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return None
        return _by_name(_head(inner), inner, names)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [of_annotation(s, names) for s in (node.left, node.right) if not (isinstance(s, ast.Constant) and s.value is None)]
        known = [s for s in sides if s is not None]
        arrays = sorted((s for s in known if s.is_array), key=lambda s: s.constant == "Tensor")
        return next(iter(arrays), join_all(known) if known and len(known) == len(sides) else None)
    return None if node is None else _by_name(_head(node), node, names)


def _head(node: ast.expr) -> str:
    base = node.value if isinstance(node, ast.Subscript) else node
    return base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""


def _by_name(name: str, node: ast.expr, names: Names) -> Value | None:
    inside = node.slice if isinstance(node, ast.Subscript) else None
    parts = list(inside.elts) if isinstance(inside, ast.Tuple) else [inside] if inside is not None else []
    if name in ("ndarray", "NDArray", "ArrayLike", "Tensor", "Array"):
        dtype = parts[-1] if parts and name in ("NDArray", "ndarray") else None
        if isinstance(dtype, ast.Subscript):  # ndarray[shape, dtype[float32]]
            dtype = dtype.slice
        return replace(array(True, dtype=dtype_name(dtype) if dtype is not None else None), constant="Tensor" if name == "Tensor" else None)
    if name in _JAXTYPING or re.fullmatch(r"(Float|Int|UInt|Complex|BFloat)\d+", name):
        dims = parts[-1].value if parts and isinstance(parts[-1], ast.Constant) and isinstance(parts[-1].value, str) else None
        words = dims.split() if dims is not None else []
        rank = None if dims is None or any(w.startswith(("...", "*")) for w in words) else len(words)
        return array(True, rank, _JAXTYPING[name] if name in _JAXTYPING else name.lower())
    if name in ("int", "float", "bool", "complex"):
        return Value("number", dtype=name)
    if name in ("str", "bytes", "Path"):
        return TEXT
    if name == "Optional" and parts:
        return of_annotation(parts[0], names)
    if name in ("dict", "Dict", "Mapping"):
        held = of_annotation(parts[1], names) if len(parts) == 2 else None
        return Value("mapping", True, element=held or replace(array(True), assumed=True, constant=UNSURE))
    if name in ("list", "List", "tuple", "Tuple", "Sequence", "Iterable"):
        held = of_annotation(parts[0], names) if parts else None
        return Value("sequence", held is None or held.traced, element=held or Value("unknown", True))
    if name in ("Any", "Union", "") or len(name) == 1:
        return None
    return OBJECT


def dtype_name(node: ast.expr) -> str | None:
    """The dtype an expression spells: np.float32, "float32", float; None where it is not one that torch and NumPy share."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else _head(node)
    text = {"float": "float64", "int": "int64", "bool_": "bool", "double": "float64", "single": "float32", "half": "float16",
            "f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64", "u1": "uint8", "float_": "float64", "complex": "complex128",
            "intp": "int64", "cdouble": "complex128", "csingle": "complex64", "byte": "int8", "ubyte": "uint8"}.get(text, text)  # fmt: skip
    return text if re.fullmatch(r"bool|(float(16|32|64)|u?int(8|16|32|64)|complex(64|128))", text) else None
