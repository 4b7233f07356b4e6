"""Which rule answers to which NumPy object: the rule table, looked up by the function that a call meets."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import Any

import numpy

from ..rules import load, load_once
from ..semantics.table import CLASSES, Refusal, Rule, original, version
from .arrays.twin import original_of

SPACES = ("numpy", "numpy.linalg", "numpy.fft")
"""The namespaces whose functions are known by name."""

VECTORIZE = numpy.vectorize
"""The class itself: while tracing the name holds a twin."""

_METHOD = "numpy.ndarray."


@dataclass(frozen=True)
class Known:
    """A NumPy function: the name it is told by, its rule or why it has none."""

    name: str
    function: Any
    rule: Rule | None
    refusal: Refusal | None


def resolve(name: str) -> Any:
    """The object that a dotted name stands for; None where this NumPy (or another library) does not have it, or is not imported."""
    found = original(name, imported=False)
    return original_of(found)  # while a trace is running the name holds a twin


def functions() -> dict[Any, Known]:
    """All public functions of NumPy's main namespaces, and whatever else has a rule, by the function object."""
    load_once()
    return _functions(version())


@functools.lru_cache(maxsize=1)
def _functions(table_version: int) -> dict[Any, Known]:
    rules, refusals = load()
    found: dict[Any, Known] = {}
    names = [n for n in (*rules, *refusals) if not n.startswith(_METHOD)]
    names += [f"{space}.{n}" for space in SPACES for n in dir(resolve(space)) if not n.startswith("_")]
    for name in names:
        function = resolve(name)
        known = is_function(function) if name.startswith("numpy.") else callable(function) and not isinstance(function, type)
        if not known or function in found:
            continue
        found[function] = Known(name, function, rules.get(name), refusals.get(name))
    return found


def spaces() -> tuple[str, ...]:
    """NumPy's namespaces, and the modules and classes of other libraries in which a function has a rule."""
    rules, refusals = load()
    others = dict.fromkeys(n.rpartition(".")[0] for n in (*rules, *refusals, *CLASSES) if not n.startswith("numpy."))
    return (*SPACES, *others)


def is_function(x: Any) -> bool:
    """True for what can be called and is no class: ufuncs, Python and compiled functions."""
    return isinstance(x, (numpy.ufunc, types.FunctionType, types.BuiltinFunctionType)) or type(x).__name__ == "_ArrayFunctionDispatcher"


def find(function: Any) -> Known:
    """What is known of a NumPy function, also where it is not public."""
    function = original_of(function)
    try:
        found = functions().get(function)
    except TypeError:
        found = None
    if found is not None:
        return found
    name = f"{getattr(function, '__module__', None) or 'numpy'}.{getattr(function, '__name__', function)}"
    return Known(name, function, None, None)


def trick(name: str, original: Any) -> Known:
    """What is known of `numpy.r_` and other objects that are no functions."""
    return Known(f"numpy.{name}", original, load_once().get(f"numpy.{name}"), None)


@functools.cache
def method(name: str) -> Known:
    """What is known of the ndarray method or attribute `name`."""
    rules, refusals = load()
    full = _METHOD + name
    return Known(full, getattr(numpy.ndarray, name, None), rules.get(full), refusals.get(full))


PYTHON_VALUES = frozenset((
    "item", "tolist", "tobytes", "tostring", "tofile", "dump", "dumps", "is_integer", "as_integer_ratio", "hex",
))  # fmt: skip
"""Methods that give the values away as Python objects."""

SHAPE_ONLY = frozenset((
    "numpy.shape", "numpy.ndim", "numpy.size", "numpy.isscalar", "numpy.iscomplexobj", "numpy.isrealobj", "numpy.result_type",
    "numpy.can_cast", "numpy.promote_types", "numpy.common_type", "numpy.mintypecode", "numpy.issubdtype", "numpy.isdtype",
    "numpy.shares_memory", "numpy.may_share_memory", "numpy.broadcast_shapes", "numpy.iterable", "numpy.byte_bounds", "numpy.typename",
    "numpy.einsum_path", "numpy.diag_indices_from", "numpy.tril_indices_from", "numpy.triu_indices_from",
))  # fmt: skip
"""Functions whose answer does not depend on values, but only on shapes, dtypes and memory: Python's to know."""

OF_DTYPES = SHAPE_ONLY - {
    "numpy.shape", "numpy.size", "numpy.broadcast_shapes", "numpy.byte_bounds", "numpy.einsum_path", "numpy.diag_indices_from",
    "numpy.tril_indices_from", "numpy.triu_indices_from",
}  # fmt: skip
"""Those of them to which sizes make no difference."""

SIZES_ONLY = frozenset((
    "numpy.broadcast_shapes", "numpy.einsum_path", "numpy.diag_indices_from", "numpy.tril_indices_from", "numpy.triu_indices_from",
))  # fmt: skip
"""Those of them whose answer hangs on sizes."""
