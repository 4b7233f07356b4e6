"""A call as text: the node that makes it again, and the expressions of its inputs.

Arrays become inputs of the node, and so do NumPy scalars (`x0[0]`, so that a graph computes with them); numbers, text, lists, types and
functions of NumPy stand in the code. What has no exact text (objects, dates, subclasses, views of one array) is UnfitError.
"""

from __future__ import annotations

import builtins
import math
import operator
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from .docstrings import UnfitError, _text

LARGEST = 400
"""Elements of an input."""
DTYPES = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
)
_SCALAR_TYPES = {np.dtype(name).type: f"np.{name}" for name in DTYPES if name != "bool"} | {
    np.bool_: "np.bool_", np.longlong: "np.longlong",
    np.ulonglong: "np.ulonglong", bool: "bool", int: "int", float: "float", complex: "complex"}  # fmt: skip
_HOMES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.lib.stride_tricks": np.lib.stride_tricks, "np.emath": np.emath,
          "operator": operator, "math": math}  # fmt: skip
_SPOKEN = ("abs", "bool", "complex", "divmod", "float", "int", "len", "max", "min", "pow", "round", "sorted", "sum")


def named_functions() -> dict[int, str]:
    """The public functions of NumPy, operator and math, and the builtins that take arrays, by identity: what code calls them."""
    named: dict[int, str] = {}
    for home, module in _HOMES.items():
        for name in sorted(vars(module), key=lambda n: (n not in getattr(module, "__all__", ()), n)):
            thing = getattr(module, name)
            if (
                not name.startswith("_")
                and callable(thing)
                and (not isinstance(thing, type) or thing in _SCALAR_TYPES or thing is np.ndarray)
            ):
                named.setdefault(id(thing), f"{home}.{name}")
    return named | {id(getattr(builtins, name)): name for name in _SPOKEN} | {id(kind): text for kind, text in _SCALAR_TYPES.items()}


NAMES = named_functions()


class Node:
    """A node in the making: what its inputs are, and how the values of a call are written in it."""

    def __init__(self) -> None:
        self.inputs: dict[str, str] = {}
        self._arrays: list[tuple[np.ndarray[Any, Any], str]] = []

    def text(self, value: Any) -> str:
        """The expression of a value."""
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return f"{self._named(_scalar(value))}[0]"
        if isinstance(value, (type(None), bool, int, str, type(Ellipsis))) and type(value) in (type(None), bool, int, str, type(Ellipsis)):
            return "..." if value is Ellipsis else repr(value)
        if type(value) in (float, complex):
            return number(value)
        if type(value) is slice:
            return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
        if type(value) is range:
            return repr(value)
        if type(value) in (list, tuple):
            inner = ", ".join(map(self.text, value))
            return f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(value) == 1)})"
        if type(value) is dict and all(type(key) in (str, int) for key in value):
            return "{" + ", ".join(f"{key!r}: {self.text(item)}" for key, item in value.items()) + "}"
        if isinstance(value, np.dtype):
            return _dtype(value)
        return _known(value)

    def _array(self, value: np.ndarray[Any, Any]) -> str:
        for other, name in self._arrays:
            if other is value:
                return name
            if np.may_share_memory(other, value):
                raise UnfitError("arrays that share memory")
        name = self._named(laid_out(value))
        self._arrays.append((value, name))
        return name

    def _named(self, text: str) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = text
        return name


def number(value: Any) -> str:
    """A Python float or complex, also what has no literal."""
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    return repr(value) if math.isfinite(value) else f"float('{value}')"


def _scalar(value: np.generic) -> str:
    """An array of one element that is the scalar."""
    if type(value) not in _SCALAR_TYPES:
        raise UnfitError(type(value).__name__)
    return laid_out(np.asarray(value).reshape(1))


def _dtype(value: np.dtype[Any]) -> str:
    if value.name not in DTYPES or not value.isnative:
        raise UnfitError(f"the dtype {value}")
    return f"np.dtype({value.name!r})"


def _known(value: Any) -> str:
    try:
        found = NAMES.get(id(value))
    except Exception:
        found = None
    if found is None:
        raise UnfitError(f"a {type(value).__name__}")
    return found


def laid_out(value: np.ndarray[Any, Any]) -> str:
    """The expression of an array whose axes lie in memory in the same order."""
    if type(value) is not np.ndarray or value.dtype.name not in DTYPES or not value.dtype.isnative or value.size > LARGEST:
        raise UnfitError(f"a {type(value).__name__} of {value.dtype} and {value.size} elements")
    if value.flags.c_contiguous or value.size == 0:
        return _text(value)
    order = sorted(range(value.ndim), key=lambda axis: -abs(value.strides[axis]))
    lying = value.transpose(order)
    if order == list(range(value.ndim)):
        return _text(value)
    back = tuple(int(i) for i in np.argsort(order))
    return f"{_text(lying)}.transpose({back})"


def kind_of(value: Any) -> Any:
    """What values have in common that a function is likely to treat alike; hashable."""
    if isinstance(value, np.ndarray):
        strange = value.dtype.kind in "fc" and value.size <= LARGEST and not bool(np.isfinite(value).all())
        lying = value.flags.c_contiguous, value.flags.f_contiguous
        return value.dtype.str, tuple(min(n, 3) for n in value.shape), lying, strange
    if isinstance(value, np.generic):
        return "scalar", value.dtype.str, kind_of(value.item()) if value.dtype.kind in "biufc" else None
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return type(value), value
    if isinstance(value, int):
        return int, value if abs(value) < 3 else (value > 0, sum(abs(value) >= 2**n for n in (7, 15, 31, 63, 64)))
    if isinstance(value, float):
        return float, value if not math.isfinite(value) else (value > 0, value == 0, value.is_integer())
    if isinstance(value, complex):
        return complex, kind_of(value.real), kind_of(value.imag)
    if isinstance(value, slice):
        return slice, kind_of(value.start), kind_of(value.stop), kind_of(value.step)
    if isinstance(value, (list, tuple)):
        return type(value), min(len(value), 4), tuple(map(kind_of, value[:4]))
    if isinstance(value, dict):
        return dict, tuple((str(key), kind_of(item)) for key, item in value.items())
    return type(value), str(value)[:40]


def node_text(statement: str, names: Iterable[str]) -> str:
    """A module that defines the node."""
    return f"import math\nimport operator\n\nimport numpy as np\n\n\ndef node({', '.join(names)}):\n    {statement}\n"


def is_callable_of_interest(function: Any) -> bool:
    """True for a function that has a name here, a method of an array or scalar, and a method of a ufunc."""
    if id(function) in NAMES:
        return True
    if not isinstance(function, (types.BuiltinMethodType, types.MethodType)):
        return False
    owner = function.__self__
    return type(owner) is np.ndarray or type(owner) in _SCALAR_TYPES or (isinstance(owner, np.ufunc) and id(owner) in NAMES)


def function_text(function: Any, node: Node) -> tuple[str, str]:
    """(expression, NumPy's name) of a function that `is_callable_of_interest`."""
    if (name := NAMES.get(id(function))) is not None:
        return name, name
    owner = function.__self__
    if isinstance(owner, np.ufunc):
        name = f"{NAMES[id(owner)]}.{function.__name__}"
        return name, name
    home = "np.ndarray" if isinstance(owner, np.ndarray) else "np.generic"
    return f"{node.text(owner)}.{function.__name__}", f"{home}.{function.__name__}"
