"""What an array of a pipeline means to those who deploy it: kept in the description, looked at by nobody else. The names are leapp's."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TEMPORAL = "__temporal_axis__"
"""How leapp writes an axis of time among names of elements."""


@dataclass(frozen=True)
class TemporalAxis:
    """Stands for an axis whose elements are moments, `period_ms` milliseconds apart. Raises ValueError unless that is positive."""

    period_ms: float

    def __post_init__(self) -> None:
        if self.period_ms <= 0:
            raise ValueError(f"moments are a positive time apart, not {self.period_ms} ms")


@dataclass
class TensorSemantics:
    """An array with its meaning, in place of an entry of a dict: `input_tensors(node, TensorSemantics("q", q, kind="joint_position"))`.

    name           what the array is called
    ref            the array
    kind           what it is, a text or an Enum's value
    element_names  the names along each axis, a list of them each (or one list for a vector); a TemporalAxis for an axis of time
    extra          anything else, as plain data"""

    name: str
    ref: Any
    kind: Any = None
    element_names: Any = None
    extra: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is kept in the description."""
        found: dict[str, Any] = {}
        if self.kind is not None:
            found["kind"] = self.kind.value if isinstance(self.kind, enum.Enum) else self.kind
        if self.element_names is not None:
            axes = self.element_names if isinstance(self.element_names, (list, tuple)) else [self.element_names]
            axes = [list(axes)] if all(isinstance(a, str) for a in axes) else axes
            found["element_names"] = [_TEMPORAL if isinstance(a, TemporalAxis) else list(a) for a in axes]
            period = next((a.period_ms for a in axes if isinstance(a, TemporalAxis)), None)
            if period is not None:
                found["temporal_period_ms"] = period
        return {**found, **(self.extra or {})}


@dataclass
class GraphConfigs:
    """What holds for a whole pipeline: the `frequency` of its steps in Hz, and anything else as plain data.

    Raises ValueError unless the frequency is positive."""

    frequency: float | None = None
    extra: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.frequency is not None and self.frequency <= 0:
            raise ValueError(f"a frequency is positive, not {self.frequency}")

    def to_dict(self) -> dict[str, Any]:
        """What is kept in the description."""
        return {**({} if self.frequency is None else {"frequency": self.frequency}), **(self.extra or {})}


def named(node: str, tensors: Any) -> dict[str, Any]:
    """The arrays of a call by name. Raises TypeError for what is neither a dict nor TensorSemantics, one or a list of them."""
    if isinstance(tensors, Mapping):
        return dict(tensors)
    given = meant(tensors)
    if given is None:
        message = f"node {node!r}: give a dict of named arrays, {{'x': x}}, or TensorSemantics, not {type(tensors).__name__}"
        raise TypeError(message)
    return {t.name: t.ref for t in given}


def meant(tensors: Any) -> list[TensorSemantics] | None:
    """The arrays that come with their meaning; None where they don't."""
    given = [tensors] if isinstance(tensors, TensorSemantics) else tensors
    return list(given) if isinstance(given, (list, tuple)) and given and all(isinstance(t, TensorSemantics) for t in given) else None
