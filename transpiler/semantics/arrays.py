"""Arrays and scalars: what NumPy calls an array, as a torch tensor, and how NumPy writes into one.

A NumPy array is a tensor; a NumPy scalar (`x[0]`, `x.sum()`) is a 0-d tensor. NumPy tells 0-d *arrays*, which can be
written to, from scalars, which cannot: a 0-d tensor counts as a scalar unless `zero_d_array` marked it.
Python numbers stay Python numbers: they are weak in NumPy's promotion.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import operator
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy
import torch

from .dtypes import WIDER, can_cast, holding, promote, to_numpy, to_torch
from .table import Refused

Number = (bool, int, float, complex)


def as_tensor(x: Any, dtype: Any = None) -> torch.Tensor:
    """`numpy.asarray` for tensors: tensors are returned as they are (cast where `dtype` says so), lists are stacked."""
    if isinstance(x, torch.Tensor):
        return x if dtype is None else cast(x, to_torch(dtype))
    wanted = None if dtype is None else to_torch(dtype)
    if isinstance(x, torch.SymInt):
        return torch.scalar_tensor(x, dtype=wanted or torch.int64)  # type: ignore[arg-type]
    if isinstance(x, (numpy.ndarray, numpy.generic)):
        return _from_numpy(numpy.asarray(x), wanted)
    if isinstance(x, Number):
        return _from_numpy(numpy.asarray(x, None if wanted is None else to_numpy(wanted)), None)
    if isinstance(x, (list, tuple, range, deque)):
        return _from_sequence(list(x), wanted)
    if hasattr(x, "__np2fx_tensor__"):  # a.flat
        return as_tensor(x.__np2fx_tensor__(), dtype)
    if hasattr(x, "__array__") or isinstance(x, memoryview):
        if holds_tensor(list(getattr(x, "__dict__", {}).values())):
            message = f"what `__array__` of {type(x).__name__} makes of tensors is not known"
            raise Refused(message, "pass the array that it holds", "opaque-call")
        return _from_numpy(numpy.asarray(x), wanted)
    raise Refused(f"a {type(x).__name__} is not an array", "pass arrays, numbers or lists of them", "object-dtype")


def _from_numpy(x: numpy.ndarray[Any, Any], dtype: torch.dtype | None) -> torch.Tensor:
    held = to_numpy(holding(x))  # refuses what torch cannot hold; "longlong" and foreign byte orders become plain
    native = x.astype(held, copy=True)  # a copy: contiguous, writable, no negative strides
    made = torch.from_numpy(native.reshape(x.shape)).to(torch.get_default_device())
    if not x.dtype.isnative:
        made._np2fx_swapped = True  # type: ignore[attr-defined]
    return made if dtype is None else cast(made, dtype)


def is_swapped(x: torch.Tensor) -> bool:
    """True for what holds the values of an array whose bytes lie in the other order."""
    return hasattr(_owner(x), "_np2fx_swapped")


def _from_sequence(items: list[Any], dtype: torch.dtype | None) -> torch.Tensor:
    """`numpy.array` of a list: one dtype for all (Python numbers are not weak here), shapes must agree."""
    if not holds_tensor(items) and not _holds_size(items):
        return _from_numpy(numpy.asarray(items, None if dtype is None else to_numpy(dtype)), None)
    device = _device_in(items)
    parts = [as_tensor(item, dtype) if isinstance(item, torch.Tensor) else as_tensor(item, dtype).to(device) for item in items]
    common = dtype or promote(*(p.dtype for p in parts))
    if dtype is not None:
        for item in items:
            demand_fit(item, dtype)
    if any(p.shape != parts[0].shape for p in parts):
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    return torch.stack([cast(p, common) for p in parts])


def _holds_size(items: Sequence[Any]) -> bool:
    """True for nested lists with a size of a traced graph in them."""
    return any(isinstance(i, torch.SymInt) or (isinstance(i, (list, tuple)) and _holds_size(i)) for i in items)


def _device_in(items: Sequence[Any]) -> torch.device | None:
    """The device of the first tensor in nested lists: constants beside it go there."""
    for i in items:
        found = i.device if isinstance(i, torch.Tensor) else _device_in(i) if isinstance(i, (list, tuple)) else None
        if found is not None:
            return found
    return None


def holds_tensor(x: Any) -> bool:
    """True for a tensor, and for nested lists and tuples with a tensor in them."""
    return isinstance(x, torch.Tensor) or (isinstance(x, (list, tuple)) and any(map(holds_tensor, x)))


def is_size(x: Any) -> bool:
    """True for a size that a graph computes: an int to whoever asks, at the price that the graph holds for that one alone."""
    return isinstance(x, torch.SymInt)


def index_of(x: Any) -> Any:
    """`operator.index`; a size of a graph stays what it is."""
    return x if isinstance(x, torch.SymInt) else operator.index(x)


def known(x: Any) -> Any:
    """A constant for NumPy: a tensor as a NumPy array or scalar, others as they are. What is computed from the inputs cannot be one."""
    if isinstance(x, torch.SymInt):
        return operator.index(x)
    return numpy.asarray(x.tolist(), dtype=to_numpy(x.dtype))[()] if isinstance(x, torch.Tensor) else x


def is_weak(x: Any) -> bool:
    """True for Python's own int, float and complex: they take the dtype of what they meet (NEP 50). An object of a class made of one of
    them, such as a member of an IntEnum, is to NumPy the array that it makes of it."""
    return type(x) in (int, float, complex) or isinstance(x, torch.SymInt)


def stands_for(number: Any, dtype: torch.dtype) -> bool:
    """True for a Python number that torch turns into `dtype` as NumPy does, so that it can stand in the torch call."""
    if not is_weak(number) or isinstance(number, complex) or dtype in WIDER or dtype == torch.bool or dtype.is_complex:
        return False
    if isinstance(number, torch.SymInt):
        return dtype in (torch.float32, torch.float64, torch.int64)  # whose numbers no size exceeds
    if dtype.is_floating_point:
        exact = 2**11 if dtype == torch.float16 else 2**63
        return (
            abs(number) < exact
            if isinstance(number, int)
            else number != number or abs(number) in (0.0, float("inf")) or abs(number) <= torch.finfo(dtype).max
        )
    return isinstance(number, int) and torch.iinfo(dtype).min <= number <= torch.iinfo(dtype).max


def dtype_of(x: Any) -> Any:
    """The torch dtype of an operand, or `int`, `float`, `complex` for a weak Python number."""
    if isinstance(x, torch.Tensor):
        return getattr(x, "_np2fx_number", x.dtype)
    if is_weak(x):
        return int if isinstance(x, int) else float if isinstance(x, float) else complex
    return as_tensor(x).dtype


def in_dtype(x: Any, dtype: torch.dtype) -> Any:
    """A constant number as a Python number, rounded to `dtype` as NumPy would when it casts it into the loop."""
    target = to_numpy(dtype)
    if isinstance(x, torch.SymInt) and target.kind not in "iu":
        return torch.scalar_tensor(x, dtype=dtype)  # type: ignore[arg-type]
    if target.kind in "iu" and isinstance(x, int):
        info = numpy.iinfo(target)
        if not info.min <= x <= info.max:
            raise OverflowError(f"Python integer {x} out of bounds for {target.name}")
        return x if isinstance(x, torch.SymInt) else int(x)
    return target.type(x).item()


def result_type(*operands: Any) -> torch.dtype:
    """`numpy.result_type` of tensors, lists and (weak) Python numbers."""
    return promote(*map(dtype_of, operands))


def cast(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """`x.astype(dtype, copy=False)`: nothing is recorded where nothing changes. Complex to real drops the imaginary part.

    Float to int truncates; what does not fit is undefined in NumPy as in torch (both do what the processor does)."""
    if x.dtype == dtype:
        return x
    if x.dtype.is_complex and not dtype.is_complex and dtype != torch.bool:
        real = torch.real(x)
        return torch.clone(real) if real.dtype == dtype else real.to(dtype)  # the real part is a view, a cast is not
    if dtype == torch.bool:
        return torch.ne(x, 0)
    return x.to(dtype)


def widen(x: torch.Tensor) -> torch.Tensor:
    """uint16/32/64 as int64, in which torch has all kernels; others unchanged. Bits of uint64 beyond int64 wrap."""
    return x.to(WIDER[x.dtype]) if x.dtype in WIDER else x


def bits(a: torch.Tensor) -> torch.Tensor:
    """uint16/32/64 as the signed dtype of the same bits: for torch's functions that only move elements but lack their kernels."""
    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}.get(a.dtype)
    return a if signed is None else a.view(signed)


def beside(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """`x` on the device of `a`: nothing is recorded where it is there already."""
    return x if x.device == a.device else x.to(a.device)


def is_recording() -> bool:
    """True while a tracer watches: values may not decide anything."""
    return bool(torch.overrides._get_current_function_mode_stack())


def is_eager(x: torch.Tensor) -> bool:
    """True where the value of a tensor may be asked: nothing watches, traces, compiles or maps."""
    if type(x) not in (torch.Tensor, torch.nn.Parameter) or x.device.type == "meta" or is_recording():
        return False
    if torch.compiler.is_compiling() or torch.jit.is_tracing() or torch._C._len_torch_dispatch_stack():
        return False
    return not torch._C._functorch.is_functorch_wrapped_tensor(x)


def truth(x: torch.Tensor) -> Any:
    """What NumPy returns as Python's own bool (`allclose`): a 0-d tensor only where the value is not to be had, in a graph."""
    return x if x.device.type == "meta" or is_recording() else bool(x)


def demand(condition: Any, error: Exception) -> None:
    """Raise `error` unless `condition` (a bool, or a tensor that must be true everywhere) holds.

    In a graph the check is a node, so that the exported model fails where NumPy raises."""
    if not isinstance(condition, torch.Tensor):
        if not condition:
            raise error
    elif condition.device.type == "meta":
        return
    elif is_recording():
        torch._assert_async(torch.all(condition) if condition.ndim else condition, str(error))
    elif not bool(torch.all(condition)):
        raise error


def python_number(x: torch.Tensor, kind: type) -> torch.Tensor:
    """Mark a 0-d tensor as a Python number (`kind` is int, float or complex) that a graph computes: weak in promotion."""
    x._np2fx_number = kind  # type: ignore[attr-defined]
    return x


def demand_fit(value: Any, dtype: torch.dtype) -> None:
    """NumPy puts a *scalar* into an array of signed integers by way of Python's int, and raises where that does not fit.

    ValueError for NaN, OverflowError for what is too large. Arrays, also 0-d ones, are cast as C does."""
    if not (isinstance(value, torch.Tensor) and is_scalar(value)) or dtype not in _SIGNED or can_cast(value.dtype, dtype, "safe"):
        return
    held = value.real if value.dtype.is_complex else value
    name, info = to_numpy(dtype), torch.iinfo(dtype)
    if held.is_floating_point():
        demand(torch.logical_not(torch.isnan(held)), ValueError("cannot convert float NaN to integer"))
        whole = torch.trunc(held.to(torch.float64))
        fits = torch.logical_and(torch.ge(whole, float(info.min)), torch.lt(whole, float(info.max) + 1.0 if info.bits < 64 else 2.0**63))
    else:
        wide = widen(held).to(torch.int64)  # uint8 beside a negative number would wrap
        fits = torch.logical_and(torch.ge(wide, 0 if value.dtype in WIDER else info.min), torch.le(wide, info.max))
    demand(fits, OverflowError(f"Python integer out of bounds for {name}"))


def bound_in_loop(bound: Any, dtype: torch.dtype, loop: torch.dtype, end: str) -> Any:
    """The bound (`end` is min or max) that a Python int is which a graph computes, in the dtype `loop`. Others are unchanged.

    Where integers of `dtype` end before it, NumPy takes it for no bound: here the last number of the loop. Raises OverflowError."""
    if getattr(bound, "_np2fx_number", None) is not int or loop.is_complex or dtype == loop == torch.int64:
        return bound
    edge = getattr(torch.iinfo(dtype), end)
    beyond = torch.le(bound, edge) if end == "min" else torch.ge(bound, edge)
    if loop.is_floating_point:
        return torch.where(beyond, float("-inf" if end == "min" else "inf"), cast(bound, loop))
    held = torch.where(beyond, getattr(torch.iinfo(loop), end), bound)
    made = cast(held, loop)
    demand(torch.eq(cast(made, torch.int64), held), OverflowError(f"Python integer out of bounds for {to_numpy(loop)}"))
    return made


_SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)


def zero_d_array(x: torch.Tensor) -> torch.Tensor:
    """Mark a 0-d tensor as a 0-d *array*: in-place operators write into it, as NumPy's do. Others are unchanged."""
    if x.ndim == 0:
        x._np2fx_zero_d = True  # type: ignore[attr-defined]
    return x


def is_scalar(x: torch.Tensor) -> bool:
    """True for what NumPy would hold as a scalar, not as an array."""
    return x.ndim == 0 and not getattr(x, "_np2fx_zero_d", False)


def on_memory(a: Any) -> Any:
    """A plain NumPy array as a tensor on its memory, so that views of the tensor are views of it; a copy where torch cannot share.

    Everything else is returned as it is."""
    if type(a) is not numpy.ndarray or a.dtype.kind not in "biufc":
        return a
    if can_share(a):
        return zero_d_array(torch.from_numpy(a))
    made = zero_d_array(as_tensor(a))
    made._np2fx_lone_copy = True  # type: ignore[attr-defined]
    return made if a.flags.writeable else read_only(made)


def can_share(a: numpy.ndarray[Any, Any]) -> bool:
    """True where torch can lay a tensor on an array's memory: on the CPU, writable, native, no negative strides."""
    aligned = all(s >= 0 and s % max(a.itemsize, 1) == 0 for s in a.strides)
    if a.dtype.kind == "c":  # which torch reads in one go, and crashes where NumPy is content with the half of their size
        aligned = aligned and a.__array_interface__["data"][0] % a.itemsize == 0
    return aligned and a.flags.writeable and a.dtype.isnative and torch.get_default_device().type == "cpu"


_counts_fixed: contextvars.ContextVar[bool] = contextvars.ContextVar("np2fx_counts_fixed", default=False)


def counts_are_fixed() -> bool:
    """Whether a graph is being made in which as many counts as the function asks for at least are all that there may be."""
    return _counts_fixed.get()


@contextlib.contextmanager
def fixing_counts(fixed: bool) -> Iterator[None]:
    """Let a graph demand so, or not."""
    token = _counts_fixed.set(fixed)
    try:
        yield
    finally:
        _counts_fixed.reset(token)


rearranged: contextvars.ContextVar[bool] = contextvars.ContextVar("np2fx_rearranged", default=False)
"""True while a function runs whose results torch may have laid out in memory otherwise than NumPy would."""


@contextlib.contextmanager
def own_layouts() -> Iterator[None]:
    """For the time of a call only what was given to it (`given`), and views of that, counts as laid out as in NumPy."""
    token = rearranged.set(True)
    try:
        yield
    finally:
        rearranged.reset(token)


def given(x: torch.Tensor) -> torch.Tensor:
    """Mark a tensor that lies in memory as NumPy's array does."""
    x._np2fx_given = True  # type: ignore[attr-defined]
    return x


def has_numpys_layout(x: torch.Tensor) -> bool:
    """Whether an array surely lies in memory as NumPy's does."""
    if not rearranged.get() or sum(n > 1 for n in x.shape) < 2:
        return True
    *_, root = _owners(x)
    return bool(getattr(root, "_np2fx_given", False))


def copied_layout(made: torch.Tensor, of: torch.Tensor, order: str) -> torch.Tensor:
    """`made`, a copy of `of` in a memory order. What lies as NumPy's does, or in an order that was named, has a copy that does so."""
    if rearranged.get() and (order in ("C", "F") or has_numpys_layout(of)):
        given(_owner(made))
    return made


def demand_c_order(x: torch.Tensor) -> None:
    """Refused unless an array surely lies in memory in C order, with nothing between its elements: what was handed in, and parts of it."""
    known = rearranged.get() and getattr(_owner(x), "_np2fx_given", False)
    if not known or not x.is_contiguous() or not x.numel():
        raise Refused("it tells of the layout in memory, which is known of arrays alone that were handed in, in C order",
                      "write the code so that it does not depend on the layout", "python-value")  # fmt: skip


def demand_layout(x: torch.Tensor) -> None:
    """Refused where the order of the elements in memory is asked for, and torch's may not be NumPy's."""
    if not has_numpys_layout(x):
        message = "the order of an intermediate result in memory, which torch may have laid out otherwise than NumPy"
        raise Refused(message, 'say which order is meant: order="C" or "F"', "unsupported-argument")


def read_only(x: torch.Tensor) -> torch.Tensor:
    """Mark a result that NumPy hands out read-only (`broadcast_to`, `diagonal`): writing to it raises ValueError."""
    x._np2fx_read_only = True  # type: ignore[attr-defined]
    return x


def check_writable(target: Any) -> None:
    """Raise NumPy's ValueError where `target` is read-only."""
    if is_read_only(target):
        raise ValueError("assignment destination is read-only")


def is_read_only(x: Any) -> bool:
    """True for a tensor that is marked so, or is a view of a read-only argument (see `Passage`)."""
    locked = isinstance(x, torch.Tensor) and x.is_inference() and not torch.is_inference_mode_enabled()
    return locked or getattr(x, "_np2fx_read_only", False)


def check_unshared(target: torch.Tensor) -> None:
    """Refused for a broadcast array, which NumPy writes element after element."""
    if target.is_contiguous() or not target.numel():
        return
    reach = 1
    for stride, n in sorted(zip(target.stride(), target.shape, strict=True)):
        if n > 1 and stride < reach:
            raise Refused("writing into a broadcast array, whose elements share their memory", "write into a copy", "aliasing")
        reach += stride * (n - 1)


def keeps_read_only(call: Callable[..., Any]) -> Callable[..., Any]:
    """A rule that gives views: of what is read-only they are read-only too."""

    @functools.wraps(call)
    def view(*args: Any, **kwargs: Any) -> Any:
        if args and hasattr(args[0], "__np2fx_tensor__"):
            args = (args[0].__np2fx_tensor__(), *args[1:])  # a.flat, which may be read-only as an array
        found = call(*args, **kwargs)
        if args and getattr(args[0], "_np2fx_read_only", False):
            others = {id(x) for x in args}  # broadcast_arrays gives an array of the right shape back itself
            for made in found if isinstance(found, (list, tuple)) else (found,):
                if not isinstance(made, torch.Tensor) or id(made) in others:
                    continue
                if hasattr(made, "_np2fx_mirror") or memory_of(made) in map(memory_of, _owners(args[0])):
                    read_only(made)
        return found

    return view


def store(target: torch.Tensor, value: Any, casting: str = "same_kind") -> torch.Tensor:
    """Write `value` into `target` as NumPy does: broadcast, cast (TypeError unless `casting` allows), seen by all views.

    Returns `target`. Raises ValueError where the target is read-only or the shapes do not broadcast."""
    if isinstance(target, tuple) and len(target) == 1:
        (target,) = target
    if isinstance(target, tuple):
        return tuple(store(t, v, casting) if t is not None else v for t, v in zip(target, value, strict=True))  # type: ignore[return-value]
    if not is_recording():
        target = on_memory(target)  # an array that an object of the program's holds; a trace has no such memory
    if not isinstance(target, torch.Tensor) or is_scalar(target):
        raise TypeError("return arrays must be of ArrayType")
    check_writable(target)
    if getattr(target, "_np2fx_lone_copy", False):
        raise Refused("writing through a view that torch can only give as a copy", "write into the array itself", "aliasing")
    check_unshared(target)
    value = as_tensor(value)
    if not can_cast(value.dtype, target.dtype, casting):
        raise TypeError(f"Cannot cast output from {to_numpy(value.dtype)!r} to {to_numpy(target.dtype)!r} with casting rule {casting!r}")
    if value.shape != target.shape and not fits(value.shape, target.shape):
        raise ValueError(f"could not broadcast input array from shape {tuple(value.shape)} into shape {tuple(target.shape)}")
    if target.untyped_storage().data_ptr() == value.untyped_storage().data_ptr() and target.device.type != "meta":
        value = value.clone()  # NumPy reads all before it writes any
    target.copy_(cast(value, target.dtype))
    written(target)
    return target


def fits(shape: Sequence[int], target: Sequence[int]) -> bool:
    """True for a shape that broadcasts to the target."""
    return len(shape) <= len(target) and all(is_one(n) or n == m or n == 1 for n, m in zip(reversed(shape), reversed(target), strict=False))


def common_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """What shapes broadcast to; of sizes that a graph computes it is asked whether they are the same, and only then whether one is 1.

    Raises ValueError where they do not go together."""
    made: list[int] = []
    for place in range(1, max(map(len, shapes), default=0) + 1):
        size = 1
        for n in [s[-place] for s in shapes if len(s) >= place]:
            if is_one(size) or (not is_one(n) and size != n and size == 1):
                size = n
            elif not is_one(n) and n != size and n != 1:
                raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
        made.append(size)
    return tuple(reversed(made))


def is_one(size: int) -> bool:
    """True for a size that is 1 whatever the sizes of the inputs are."""
    return not isinstance(size, torch.SymInt) and size == 1


# Views that torch can only give as copies (negative steps, an index that is a tensor). Inside `mirrored_views`, each is
# kept equal to what it would be a view of, so that writes through either are seen through the other, as NumPy's are.
_Pull = Callable[[torch.Tensor], torch.Tensor]
_Push = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
mirrors: list[list[tuple[torch.Tensor, torch.Tensor, _Pull, _Push]]] = []


@contextlib.contextmanager
def mirrored_views() -> Iterator[None]:
    """For the time of a call, copies that stand for NumPy views follow writes both ways.

    A call inside it is part of it: what is handed in and out may be such a copy."""
    if mirrors:
        yield
        return
    mirrors.append([])
    try:
        yield
    finally:
        mirrors.pop()


def mirroring() -> bool:
    """Whether the running call is inside of `mirrored_views`."""
    return bool(mirrors)


def numpy_view(x: torch.Tensor) -> numpy.ndarray[Any, Any]:
    """The memory of a tensor as an array, in NumPy's layout: what is mirrored is flipped."""
    if hasattr(x, "_np2fx_mirror"):
        base, dims = x._np2fx_mirror
        return numpy.flip(numpy_view(base), dims)
    return x.detach().resolve_conj().resolve_neg().numpy()


def mirror(base: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
    """`base` flipped along `dims`, as the view that NumPy would give (see `mirrored_views`)."""
    if not mirrors:
        return follow(base, flip(base, dims), lambda base: flip(base, dims), lambda base, copy: flip(copy, dims))
    if all(base.shape[d] <= 1 for d in dims):
        return base[...]
    base, dims = _of_memory(base, dims)
    if not dims:
        return base
    copy = torch.empty_strided(base.shape, _mirrored_strides(base, dims), dtype=base.dtype, device=base.device)
    copy.copy_(flip(base, dims))
    copy._np2fx_mirror = (base, dims)  # type: ignore[attr-defined]
    return follow(base, copy, lambda base: flip(base, dims), lambda base, copy: flip(copy, dims))


def _of_memory(base: torch.Tensor, dims: tuple[int, ...]) -> tuple[torch.Tensor, tuple[int, ...]]:
    """`base` flipped along `dims`, where `base` is a view of a mirror: what is to be flipped of the memory itself, and where. Flipping
    back leaves nothing to flip, and axes that were flipped one after the other merge."""
    copy = _owner(base)
    if not hasattr(copy, "_np2fx_mirror") or base.dtype != copy.dtype or base.numel() == 0:
        return base, dims
    root, flipped = copy._np2fx_mirror
    steps = [torch.arange(n) * stride for n, stride in zip(root.shape, root.stride(), strict=True)]
    places = torch.empty_strided(copy.shape, copy.stride(), dtype=torch.int64)  # where in the root's memory each element is
    grid = torch.meshgrid(*steps, indexing="ij") if steps else ()
    places.copy_(torch.flip(sum(grid, torch.tensor(root.storage_offset())), flipped))
    seen = torch.flip(places.as_strided(base.shape, base.stride(), base.storage_offset() - copy.storage_offset()), dims)
    first = int(seen[(0,) * seen.ndim])
    strides = [int(seen[(0,) * d + (1,) + (0,) * (seen.ndim - d - 1)] - first) if n > 1 else 1 for d, n in enumerate(seen.shape)]
    back = tuple(d for d, stride in enumerate(strides) if stride < 0)
    lowest = first + sum(strides[d] * (seen.shape[d] - 1) for d in back)
    return root.as_strided(seen.shape, list(map(abs, strides)), lowest), back


def flip(x: torch.Tensor, dims: tuple[int, ...]) -> torch.Tensor:
    """torch.flip for all dtypes."""
    return torch.flip(bits(x), dims).view(x.dtype) if x.dtype in WIDER else torch.flip(x, dims)


def runs_backwards(x: torch.Tensor, dim: int) -> bool:
    """Whether an axis that is seen through a mirror goes backwards through NumPy's memory."""
    return dim % x.ndim in _of_memory(x, ())[1]


def _mirrored_strides(base: torch.Tensor, dims: tuple[int, ...]) -> list[int]:
    """Strides for a flipped copy such that it is contiguous, and its axes merge, where NumPy's (negative) strides do.

    What is a view and what a copy of it (ravel, reshape, ascontiguousarray) hangs on that, also after more slicing: axes that go the same
    way keep the ratio of their strides, and between axes that do not there is more room than any slice of the inner one fills."""
    strides = list(base.stride())
    order = sorted((d for d in range(base.ndim) if base.shape[d] > 1), key=lambda d: strides[d])
    made = [1] * base.ndim
    if 0 in base.shape:
        return list(torch.empty(base.shape, device="meta").stride())
    if any(strides[d] == 0 for d in order):  # of a broadcast array, whose axes merge nowhere
        return [2 * stride for stride in torch.empty([n + 1 for n in base.shape], device="meta").stride()]
    scale, reach = 2 if order and order[0] in dims else 1, 1
    for before, d in zip([None, *order], order, strict=False):
        apart = before is not None and strides[d] > strides[before] * (base.shape[before] - 1)
        if before is not None and not ((d in dims) == (before in dims) and apart):
            scale = -(-2 * max(reach, made[before] * base.shape[before]) // strides[d])
        made[d] = scale * strides[d]
        reach += (base.shape[d] - 1) * made[d]
    return made


def follow(base: torch.Tensor, copy: torch.Tensor, pull: _Pull, push: _Push) -> torch.Tensor:
    """`copy`, to be kept as a view of `base`: `pull(base)` is its value, `push(base, copy)` the base's when it is written to.

    Outside `mirrored_views` nothing keeps it so, and writing to it is refused."""
    copy._np2fx_copied_view = True  # type: ignore[attr-defined]
    if mirrors:
        mirrors[-1].append((base, copy, pull, push))
    else:
        copy._np2fx_lone_copy = True  # type: ignore[attr-defined]
    return copy


def is_followed(x: torch.Tensor) -> bool:
    """True for a copy that is kept as a view of another tensor, and for its own views."""
    return any(memory_of(copy) == memory_of(x) for _, copy, _, _ in (mirrors[-1] if mirrors else ()))


def is_copied_view(x: torch.Tensor) -> bool:
    """True for a copy that stands for a view, and for what looks at its memory."""
    return hasattr(_owner(x), "_np2fx_copied_view")


def written(target: torch.Tensor) -> None:
    """Tell the mirrors that `target` was written to."""
    if not mirrors or not mirrors[-1]:
        return
    changed = [memory_of(target)]
    pending = list(mirrors[-1])
    while pending:
        pair = next((p for p in pending if memory_of(p[0]) in changed or memory_of(p[1]) in changed), None)
        if pair is None:
            return
        pending = [p for p in pending if p is not pair]
        base, copy, pull, push = pair
        if memory_of(base) in changed:
            copy.copy_(pull(base))
            changed.append(memory_of(copy))
        else:
            check_unshared(base)
            base.copy_(push(base, copy))
            changed.append(memory_of(base))


def written_outside(a: numpy.ndarray[Any, Any]) -> None:
    """Tell the mirrors that NumPy has written to an array."""
    while isinstance(a.base, numpy.ndarray):
        a = a.base
    if mirroring() and can_share(a):
        written(torch.from_numpy(a))


def _owner(x: torch.Tensor) -> torch.Tensor:
    """The tensor whose memory `x` is a view of."""
    return x if x._base is None else x._base


def _owners(x: torch.Tensor) -> Iterator[torch.Tensor]:
    """What holds the memory of `x`, and, where that is a mirror, what it mirrors, to the end."""
    owner = _owner(x)
    yield owner
    while hasattr(owner, "_np2fx_mirror"):
        owner = _owner(owner._np2fx_mirror[0])
        yield owner


def sharing(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors look at the same memory, in NumPy where they are mirrors. Under a tracer none do: it has values of its own."""
    if is_recording() or "meta" in (a.device.type, b.device.type) or 0 in (a.numel(), b.numel()):
        return False
    return not {*map(memory_of, _owners(a))}.isdisjoint(map(memory_of, _owners(b)))


def memory_of(x: torch.Tensor) -> int:
    return x.untyped_storage().data_ptr()
