"""What a function finds around it as its twin sees it, always current: NumPy's arrays as tensors, or as arrays on tensors."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import torch

from .. import rules
from ..arrays.ndarray import ndarray
from ..arrays.passing import through
from ..semantics.arrays import as_tensor, given, zero_d_array
from ..semantics.table import REFUSALS, Refusal, Refused, Rule, original

Known = dict[int, tuple[Any, Any]]
"""Arrays that were seen before, and what stands for them."""
Lifting = Callable[[Any, Known, str], Any]
"""What stands for a value that has a name."""


class Lifted(dict):  # type: ignore[type-arg]
    """A view of a module's globals for rewritten code (Python asks a dict subclass for what it does not hold by `__missing__`).

    Names that the rewritten code brings itself (`torch`, `npx`, `ops`) come first."""

    def __init__(self, original: dict[str, Any], own: dict[str, Any], lifting: Lifting | None = None) -> None:
        super().__init__(own)
        self.original, self.lifting = original, lifting or lift
        self.known: Known = {}

    def __missing__(self, name: str) -> Any:
        if name in self.original:
            return self.lifting(self.original[name], self.known, name)
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or name in self.original

    def get(self, name: str, default: Any = None) -> Any:
        try:
            return self[name]
        except KeyError:
            return default


class LiftedModule(types.ModuleType):
    """A module of the user's, whose functions and arrays are what stands for them."""

    def __init__(self, of: types.ModuleType, lifting: Lifting) -> None:
        super().__init__(of.__name__, of.__doc__)
        self.__dict__.update(_of=of, _lifting=lifting, _known={})

    def __getattribute__(self, name: str) -> Any:
        held = object.__getattribute__(self, "__dict__")
        return held if name == "__dict__" else held["_lifting"](getattr(held["_of"], name), held["_known"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__dict__["_of"], name, value)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self.__dict__["_of"]

    def __hash__(self) -> int:
        return hash(self.__dict__["_of"])


def lift_array(value: Any, known: Known) -> Any:
    """A NumPy array as an array on a tensor: on the same memory, or on the default device if that is another one."""
    if torch.get_default_device().type != "cpu":
        tensor = lift(value, known)
        return ndarray.of(tensor) if isinstance(tensor, torch.Tensor) else tensor
    held = known.get(id(value))
    if held is None or held[0] is not value or not isinstance(held[1], ndarray):
        held = known[id(value)] = (value, ndarray._seen(value))
    return held[1]


class Ruled(NamedTuple):
    """What of other libraries than NumPy has rules or is refused, by its id, what stands for the functions, and the packages."""

    functions: dict[int, Callable[..., Any]]
    refused: dict[int, Refusal]
    packages: frozenset[str]


@functools.lru_cache(maxsize=1)
def by_rules(table_version: int) -> Ruled:
    """Those of the table as it is."""
    others = {name: rule for name, rule in rules.load_once().items() if not name.startswith("numpy.")}
    found = {id(of): _by_rule(rule, of) for name, rule in others.items() if (of := original(name)) is not None}
    refusals = {name: refusal for name, refusal in REFUSALS.items() if not name.startswith("numpy.")}
    refused = {id(of): refusal for name, refusal in refusals.items() if (of := original(name)) is not None}
    return Ruled(found, refused, frozenset(name.split(".")[0] for name in [*others, *refusals]))


def refuse(refusal: Refusal, of: Any) -> None:
    """Raise what a module of rules says of a function or a class that code names."""
    raise Refused(f"{getattr(of, '__qualname__', of)}: {refusal.reason}", refusal.hint, refusal.finding)


def _by_rule(rule: Rule, of: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(of, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        return through(rule.call, args, kwargs)

    return call


def lift(value: Any, known: Known | None = None, name: str = "") -> Any:
    """An array or a NumPy scalar as a tensor, which shares the array's memory where torch can.

    `known` remembers the tensors of arrays seen before, for as long as its owner lives."""
    if isinstance(value, numpy.ndarray) and value.dtype.kind in "biufc":
        known = {} if known is None else known
        held = known.get(id(value))
        if held is None or held[0] is not value or _stale(value, held[1]):
            held = known[id(value)] = (value, _shared(value))
        return held[1]
    if isinstance(value, numpy.generic) and value.dtype.kind in "biufc":
        return as_tensor(value)
    return value


def _shared(value: numpy.ndarray[Any, Any]) -> torch.Tensor:
    device = torch.get_default_device()
    if value.flags.writeable and value.dtype.isnative and all(s >= 0 for s in value.strides) and device.type == "cpu":
        try:
            return zero_d_array(given(torch.from_numpy(value)))
        except (TypeError, ValueError):
            pass
    return zero_d_array(as_tensor(value))


def _stale(value: numpy.ndarray[Any, Any], made: torch.Tensor) -> bool:
    """A copy must be made again where the array has been written to, or the default device has changed."""
    if made.device != torch.get_default_device():
        return True
    if made.device.type != "cpu" or made.data_ptr() == value.__array_interface__["data"][0]:
        return False
    return not bool(torch.equal(made, as_tensor(value)))
