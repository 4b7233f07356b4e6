"""Buffers of torch modules that a node changes: they come into its function and leave it as its other state does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, eq=False)
class Buffer:
    """A buffer: the module that has it, its name there, and what it is called as state."""

    owner: torch.nn.Module
    key: str
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and self.owner is other.owner and self.key == other.key

    __hash__ = None  # type: ignore[assignment]

    @property
    def value(self) -> torch.Tensor:
        found = self.owner._buffers[self.key]
        assert found is not None
        return found

    def put(self, value: torch.Tensor) -> None:
        """Let the module have another tensor for it."""
        self.owner._buffers[self.key] = value


def buffers_of(model: torch.nn.Module, names: list[str] | None) -> list[Buffer]:
    """The buffers of these dotted names, or all. Raises KeyError for a name that the module does not have."""
    found = {}
    for prefix, owner in model.named_modules():
        for key, value in owner._buffers.items():
            if value is not None:
                path = f"{prefix}.{key}" if prefix else key
                found[path] = Buffer(owner, key, path.replace(".", "_"))
    unknown = [n for n in names or () if n not in found]
    if unknown:
        raise KeyError(f"the module has no buffer {unknown[0]!r}; it has {', '.join(found) or 'none'}")
    return [found[n] for n in (found if names is None else names)]


def with_buffers(function: Callable[..., Any], buffers: list[Buffer]) -> Callable[..., Any]:
    """The function with the buffers as further arguments and results; the modules are left as they were."""
    if not buffers:
        return function
    parameters = list(inspect.signature(function).parameters.values())
    taken = {p.name for p in parameters}

    def call(*given: Any) -> tuple[Any, ...]:
        before = [b.value for b in buffers]
        try:
            for buffer, value in zip(buffers, given[len(parameters) :], strict=True):
                buffer.put(value)
            return (*function(*given[: len(parameters)]), *(b.value.detach() for b in buffers))
        finally:
            for buffer, value in zip(buffers, before, strict=True):
                buffer.put(value)

    names = [b.name if b.name not in taken else f"{b.name}_" for b in buffers]
    more = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
    call.__signature__ = inspect.Signature([*parameters, *more])  # type: ignore[attr-defined]
    return call
