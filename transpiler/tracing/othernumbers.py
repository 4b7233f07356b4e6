"""Calls with other Python numbers than those that a graph was traced with: one more graph, in which these are inputs.

The graph itself keeps the numbers that it was traced with, and so do the files that are made of it: nothing is an input that no spec
declares. A call in which some differ has a graph of its own, made when it first comes and held against NumPy as any other. In it they
are traced numbers (see declared): weak, and refused wherever Python itself needs them (an axis, the rounds of a loop, text, a key)."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from .arrays.declared import KINDS, declarable
from .errors import TraceError
from .surroundings.structure import Fixed, Node, flatten, laid_over, leaf_order, match, rebuild, same

if TYPE_CHECKING:
    from .module import Face, TracedModule

_TYPES = tuple(KINDS.values())


def served(module: TracedModule, arguments: dict[str, Any], args: Any, kwargs: Any, refused: TraceError) -> Any:
    """What a call gives, from a graph in which the numbers are inputs that are others in it.

    Raises `refused` where something else differs, or where the function needs to know these numbers."""
    face: Face = module.face
    apart = _numbers_apart(face, arguments)
    if not apart:
        large = any(type(x) is int and not declarable(x) for x in arguments.values())
        raise (_own_problem(module, arguments) if large else None) or refused
    kinds = {**face.declared, **apart}
    key = tuple(sorted(kinds.items()))
    if key not in face.others:
        try:
            face.others[key] = _traced(module, arguments, kinds)
        except TraceError as problem:
            raise refused from problem
    return _as_returned(face, face.others[key](*args, **kwargs))


def _numbers_apart(face: Face, arguments: dict[str, Any]) -> dict[str, str]:
    """The arguments that are other Python numbers than when the function was traced, with their types, where nothing else differs."""
    found: dict[str, str] = {}
    if set(face.inputs.keys) != arguments.keys():
        return found
    for name, part in zip(face.inputs.keys, face.inputs.parts, strict=True):
        x = arguments[name]
        if isinstance(part, Fixed) and type(part.value) in _TYPES and declarable(x):
            if not same(part.value, x):
                found[name] = type(x).__name__
        elif match(part, x, []) is not None:
            return {}
    return found


def _traced(module: TracedModule, arguments: dict[str, Any], kinds: dict[str, str]) -> TracedModule:
    """The graph for a call, made on copies of its arrays. Raises what the function itself raises for them."""
    from .entry import trace_declared
    from .module import copied

    face: Face = module.face
    leaves: list[Any] = []
    for name, part in zip(face.inputs.keys, face.inputs.parts, strict=True):
        match(part, arguments[name], leaves)
    if any(isinstance(x, torch.Tensor) and x.device.type == "meta" for x in leaves):
        raise TraceError()
    copies = copied(face, leaves)
    given = rebuild(laid_over(face.inputs, arguments), copies.__getitem__)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return trace_declared(face.function, inspect.BoundArguments(face.signature, given), kinds)  # type: ignore[arg-type]
    except TraceError:
        raise
    except Exception as problem:
        _raise_own(module, leaves, arguments, problem)


def _own_problem(module: TracedModule, arguments: dict[str, Any]) -> Exception | None:
    """What the function itself raises for an int that no tensor holds, as NumPy's arrays do."""
    leaves: list[Any] = []
    for name, part in zip(module.face.inputs.keys, module.face.inputs.parts, strict=True):
        if not isinstance(part, Fixed) and match(part, arguments[name], leaves) is not None:
            return None
    return module.raised_by_function(module.face, leaves, arguments)


def _raise_own(module: TracedModule, leaves: list[Any], arguments: dict[str, Any], problem: Exception) -> NoReturn:
    """Raise what the function raises, with its arguments as it leaves them."""
    raise module.raised_by_function(module.face, leaves, arguments) or problem


def _as_returned(face: Face, result: Any) -> Any:
    """A result with Python's numbers where the graph itself has such: for what hangs on no array."""
    names = {f.name for f in _fixed(face.returned) if type(f.value) in (*_TYPES, bool)}
    if not names:
        return result
    leaves: list[Any] = []
    structure = flatten(result, "", leaves)
    held = {leaf.index for leaf in leaf_order(structure) if leaf.name in names}
    return rebuild(structure, lambda i: leaves[i].item() if i in held else leaves[i])


def _fixed(structure: Any) -> Iterator[Fixed]:
    if isinstance(structure, Fixed):
        yield structure
    for part in structure.parts if isinstance(structure, Node) else ():
        yield from _fixed(part)
