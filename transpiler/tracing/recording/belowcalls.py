"""Operations that reach a traced tensor below torch's functions: recorded as the very operations that torch's dispatcher was asked for."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from .shells import Shells

_TELLING = frozenset((
    "is_same_size", "_has_same_storage_numel", "is_pinned", "device", "dim", "sym_size", "sym_numel", "sym_stride", "sym_storage_offset",
    "size", "stride", "numel", "storage_offset", "is_contiguous", "is_strides_like_format", "is_non_overlapping_and_dense", "layout",
    "is_coalesced", "sparse_dim", "dense_dim", "is_floating_point", "is_complex", "_nested_tensor_size", "_fw_primal",
))  # fmt: skip
"""Operations that tell of a tensor without reading it."""

_TRUTHS = frozenset(("is_nonzero", "equal", "allclose", "_local_scalar_dense", "item"))
_READ = "torch reads a value out of the graph ({}): in a branch, a loop or a size of TorchScript, or a function below torch's own"
_DRAWS = "torch.{} draws new numbers each time, a graph would repeat these"


def recorded_below(shells: Shells, func: Any, args: Any, kwargs: Any) -> Any:
    """Run an operation on what the shells in its arguments stand for, and record it."""
    recorder = shells.recorder
    name = func._schema.name.partition("::")[2]
    if name in _TRUTHS:
        shells.fail("python-value", _READ.format(name), "keep it a tensor, or split the node here")
    real_args, real_kwargs = shells.opened(args), shells.opened(kwargs)
    if name in _TELLING:
        return func(*real_args, **real_kwargs)
    written = _written(shells, func, args, kwargs)
    draws = torch.Tag.nondeterministic_seeded in func.tags
    state = torch.get_rng_state() if draws else None
    node_args = recorder.argument(tuple(real_args)), recorder.argument(real_kwargs)
    result = func(*real_args, **real_kwargs)
    if draws and (not torch.equal(state, torch.get_rng_state()) or _generator(real_args, real_kwargs)):  # type: ignore[arg-type]
        shells.fail("random", _DRAWS.format(name), "call .eval(), or pass the numbers in")
    node = recorder.graph.create_node("call_function", func, *node_args)
    recorder.note_place(node)
    node.meta["below"] = True  # what torch made of sizes on the way here, it made of the sample's
    outline = recorder.outline_of(node, func, ("", real_args, real_kwargs), result, torch.Tag.dynamic_output_shape in func.tags)
    recorder.bridge.check_uncaught(func, node, recorder.picks(name, real_args))
    recorder.note_results(result, node, outline)
    for shell in written:
        _settle(shells, shell, func, args, kwargs)
        node.meta["writes"] = True
        if not any(x is shell._real for x in _parts(result)):
            after = recorder.graph.create_node("call_function", torch.ops.aten.alias.default, (recorder.node(shell._real),), {})
            recorder.note_place(after)
            recorder.record(shell._real, after)  # the same memory, read after the write
    return shells.closed(result)


def _written(shells: Shells, func: Any, args: Any, kwargs: Any) -> list[Any]:
    """The shells that the operation writes into, as its schema says."""
    if not func._schema.is_mutable:
        return []
    found: list[Any] = []
    for i, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        for x in _parts(args[i] if i < len(args) else kwargs.get(argument.name)):
            if not getattr(type(x), "_np2fx_shell", False):
                if not shells.holds(x):
                    message = "a value of the graph is written into a tensor that the trace does not know: a parameter, a buffer"
                    shells.fail("side-effect", message, "write with a function of torch's, into a tensor made in the function")
                shells.fail("aliasing", "a value of the graph is written into a view of a tensor", "write with one index: t[i, 1:] = y")
            if x._real.untyped_storage()._cdata in shells.recorder.shared:
                shells.fail("aliasing", "torch writes into a tensor that shares its memory with a NumPy array",
                            "write into a copy: t.clone()")  # fmt: skip
            found.append(x)
    return found


def _settle(shells: Shells, shell: Any, func: Any, args: Any, kwargs: Any) -> None:
    """Where an operation has changed a tensor's shape in place (`squeeze_`), the shell's as well."""
    real = shell._real
    with torch._C._DisableTorchDispatch():
        if not _lies_as(shell, real):
            with contextlib.suppress(RuntimeError):
                func(*args, **kwargs)
        if not _lies_as(shell, real):
            shells.fail("mutation", "torch changes the shape of a tensor in place", "make a new tensor: t = t.reshape(...)")


def _lies_as(shell: Any, real: torch.Tensor) -> bool:
    return real.layout != torch.strided or (shell.size(), shell.stride()) == (real.size(), real.stride())


def _parts(x: Any) -> list[Any]:
    if isinstance(x, torch.Tensor):
        return [x]
    return [t for part in x for t in _parts(part)] if isinstance(x, (list, tuple)) else []


def _generator(args: Any, kwargs: Any) -> bool:
    return any(isinstance(x, torch.Generator) for x in (*args, *kwargs.values()))
