"""TracedTensor: what the traced function holds in place of a torch tensor.

Torch has ways below Python's dispatch: TorchScript, `torch.vmap`, `torch.func`, autograd, `nn.Parameter(t)`, other threads. They go past a
recorder of torch's functions, but not past the tensor itself: each operation that reaches it, by whatever way, comes to its
`__torch_dispatch__`. What reads memory without an operation (`pickle`, DLPack, `tolist` in TorchScript) finds none that it may read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .. import state

if TYPE_CHECKING:
    from ..recording.shells import Shells


class _TensorClass(type(torch.Tensor)):  # type: ignore[misc]
    """The class of traced tensors, which is equal to `torch.Tensor`."""

    _np2fx_original = True
    original = property(lambda cls: torch.Tensor)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is torch.Tensor

    def __hash__(cls) -> int:
        return hash(torch.Tensor)


class TracedTensor(torch.Tensor, metaclass=_TensorClass):
    """A torch tensor of a trace: shape, strides and dtype are real, the values are not to be had.

    The object is a shell. Its memory holds poison (NaN, huge odd integers); the tensor itself, which the recorder knows, is in `_real`."""

    _np2fx_shell = True
    _real: torch.Tensor
    _shells: Shells

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        tracer = state.current()
        if tracer is None:
            state.running()  # raises: another thread, or the trace has ended
            raise AssertionError
        return tracer.recorder.shells.below(func, args, kwargs or {})


TracedTensor.__name__ = TracedTensor.__qualname__ = "Tensor"
TracedTensor.__module__ = "torch"


def shell_of(real: torch.Tensor, shells: Shells) -> TracedTensor:
    """A shell of a recorded tensor. (The caller has switched torch's dispatch to Python off.)"""
    plain = real.layout == torch.strided and not real.is_quantized and not real.is_nested and real.device.type == "cpu"
    made = torch.Tensor._make_subclass(TracedTensor, _poison(real) if plain else real)
    if plain:
        torch._C._set_throw_on_mutable_data_ptr(made)  # type: ignore[attr-defined]
    fill(made, real, shells)
    return made


def fill(shell: Any, real: torch.Tensor, shells: Shells) -> None:
    """Let a shell stand for `real`."""
    vars(shell).update(_real=real, _shells=shells)


def _poison(real: torch.Tensor) -> torch.Tensor:
    """Memory of nothing plausible, that lies as that of `real` does."""
    reach = 1 + sum(step * (size - 1) for step, size in zip(real.stride(), real.shape, strict=True)) if real.numel() else 0
    byte = 0xFF if real.is_floating_point() or real.is_complex() else 1 if real.dtype == torch.bool else 0xA5
    memory = torch.full((reach * real.element_size(),), byte, dtype=torch.uint8, device="cpu")
    return memory.view(real.dtype).as_strided(real.shape, real.stride())


def is_shell(x: Any) -> bool:
    """True for traced tensors."""
    return type(x) is TracedTensor
