"""Ufuncs: what all of NumPy's elementwise functions share, said once.

`@ufunc("numpy.add")` makes a rule of a torch function of one or two operands. The machinery around it is NumPy's:
which loop runs (asked of NumPy itself), the casts into it and out of it, `out=`, `where=`, `dtype=`, `casting=`, and the
methods `.reduce`, `.accumulate`, `.reduceat`, `.outer` and `.at`. The body sees operands that are already in the
loop's dtype: tensors, or (where it takes `numbers`) Python numbers already rounded to it.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch

from .arrays import (
    as_tensor,
    beside,
    cast,
    common_shape,
    demand,
    dtype_of,
    holds_tensor,
    in_dtype,
    is_recording,
    is_scalar,
    is_weak,
    on_memory,
    store,
    widen,
    zero_d_array,
)
from .axes import axes_of, mask_of, merged, restored, start_of
from .destination import demand_dtype, demand_shape, for_out
from .dtypes import WIDER, can_cast, resolve, to_numpy, to_torch
from .explaining import explaining
from .indexing import assigned, flat_positions
from .layouts import elementwise, method_laid_out
from .table import Refused, Rule, original, register
from .unsigned import ordered

_FLOATS = (torch.float32, torch.float64)


@functools.cache
def straight(ufunc: Ufunc, kinds: tuple[Any, ...]) -> bool:
    """Whether operands of these dtypes (or `int` and `float` for Python numbers) are in NumPy's loop already, one of floats, and what the
    body gives of them is the result."""
    numbers = [k is float or k is int for k in kinds]
    dtypes = {k for k, number in zip(kinds, numbers, strict=True) if not number}
    if len(kinds) != ufunc.nin or len(dtypes) != 1 or ufunc.nout != 1 or not dtypes <= {*_FLOATS}:
        return False
    if any(number and i not in ufunc.numbers for i, number in enumerate(numbers)):
        return False
    (dtype,) = dtypes
    loop = resolve(ufunc.numpy, kinds)
    return set(loop[:-1]) == {dtype} and loop[-1] == (torch.bool if ufunc.compares else dtype)


UNINITIALISED = ("where= without out= leaves elements uninitialised", "give out=, or use numpy.where", "uninitialised-memory")
"""Why an element that a mask leaves out is refused, the way out, and the finding."""


class Ufunc:
    """A rule for a NumPy ufunc: called like it, with its methods, on tensors and Python numbers.

    Shapes broadcast; dtypes are NumPy's loop dtypes. Raises what NumPy raises: TypeError where there is no loop or
    the cast is not allowed, OverflowError for a Python int that the loop's dtype cannot hold."""

    def __init__(self, name: str, body: Callable[..., Any], numbers: tuple[int, ...], compares: bool, exact_unsigned: bool,
                 unsigned: Callable[..., Any] | None = None) -> None:  # fmt: skip
        self.__name__ = name.rpartition(".")[2]
        self.__doc__ = body.__doc__
        self.body, self.numbers, self.compares, self.exact_unsigned = body, numbers, compares, exact_unsigned
        self.unsigned = unsigned
        self.numpy: numpy.ufunc = original(name)
        if not isinstance(self.numpy, numpy.ufunc):
            raise ValueError(f"{name} is no ufunc here ({self.numpy!r})")
        self.__signature__ = _signature(body)
        self.nin, self.nout, self.nargs = self.numpy.nin, self.numpy.nout, self.numpy.nargs
        self.ntypes, self.types, self.identity, self.signature = (
            self.numpy.ntypes,
            self.numpy.types,
            self.numpy.identity,
            self.numpy.signature,
        )

    def __repr__(self) -> str:
        return f"<rule for numpy.{self.__name__}>"

    @explaining
    def __call__(self, *args: Any, out: Any = None, where: Any = True, casting: str = "same_kind", order: str = "K",
                 dtype: Any = None, subok: bool = True, signature: Any = None) -> Any:  # fmt: skip
        """The ufunc itself; see numpy.ufunc for the parameters. `where` needs `out` (elsewhere NumPy's result is undefined)."""
        if not self.nin <= len(args) <= self.nin + self.nout:
            raise TypeError(
                f"{self.__name__}() takes from {self.nin} to {self.nin + self.nout} positional arguments but {len(args)} were given"
            )
        if out is Ellipsis:  # new arrays, and no scalars
            made = self(*args, where=where, casting=casting, order=order, dtype=dtype, signature=signature)
            return tuple(map(zero_d_array, made)) if isinstance(made, tuple) else zero_d_array(made)
        out = outputs(self, args, out)
        if isinstance(out, tuple) and self.nout == 1:
            (out,) = out
        result = self.compute(*args[: self.nin], dtype=dtype, casting=casting, signature=signature)
        if where is not True:
            result = self.masked(result, out, where, casting)
        return elementwise(result, args) if out is None else store(out, result, casting)

    @staticmethod
    def masked(result: Any, out: Any, where: Any, casting: str = "same_kind") -> Any:
        """`result` where the mask is true, what `out` held elsewhere. Without `out` the mask must be true everywhere."""
        mask = mask_of(where)
        if out is None or (isinstance(out, tuple) and any(o is None for o in out)):
            demand(mask, Refused(*UNINITIALISED))
            several = isinstance(result, tuple)
            made = [torch.clone(torch.broadcast_to(r, common_shape(r.shape, mask.shape))) for r in (result if several else (result,))]
            return tuple(made) if several else made[0]
        if isinstance(result, tuple):
            return tuple(_kept(mask, r, o, casting) for r, o in zip(result, out, strict=True))
        return _kept(mask, result, out, casting)

    def compute(self, *inputs: Any, dtype: Any = None, casting: str = "same_kind", signature: Any = None) -> Any:
        """The pure part: inputs to a new tensor (a tuple of them where the ufunc has several outputs)."""
        if self.__name__ in ("equal", "not_equal") and any(x is None for x in inputs):  # None is an object that no number equals
            for x in inputs:
                if isinstance(x, torch.Tensor) and not is_scalar(x):
                    return torch.full(x.shape, self.__name__ == "not_equal", device=x.device)
        operands = [x if isinstance(x, (torch.Tensor, numpy.generic)) or is_weak(x) else _plain(x) for x in inputs]
        if self.compares and dtype is None and signature is None:
            operands = _comparable(operands)
        loop = resolve(self.numpy, tuple(dtype_of(x) for x in operands), None if dtype is None else to_torch(dtype), casting,
                       self._loop_asked(signature, dtype))  # fmt: skip
        ready = self._ready(operands, loop)
        body = self.body if self.unsigned is None or torch.uint64 not in loop[: self.nin] else self.unsigned
        if self.compares and torch.uint64 in loop[: self.nin]:
            ready = ordered(ready, loop)
        try:
            result = body(*ready)
        except RuntimeError:
            _check_broadcast(ready)
            raise
        if isinstance(result, tuple):
            return tuple(cast(r, d) for r, d in zip(result, loop[self.nin :], strict=True))
        return cast(result, loop[-1])

    def _loop_asked(self, signature: Any, dtype: Any) -> Any:
        """What `signature=` says of the loop, as NumPy's `resolve_dtypes` takes it."""
        asked: Any
        if signature is None or isinstance(signature, str):
            asked = signature
        elif isinstance(signature, tuple) and len(signature) == self.nargs:
            asked = tuple(None if d is None else to_numpy(to_torch(d)) for d in signature)
        else:
            raise Refused("a signature= that is neither text nor a tuple of a dtype for each operand", "use dtype=")
        if asked is not None and dtype is not None:
            raise TypeError("cannot specify both 'signature' and 'dtype'")
        return asked

    def _ready(self, operands: list[Any], loop: tuple[torch.dtype, ...]) -> list[Any]:
        """Operands in the loop's dtype: constants as Python numbers where the body takes them, the rest as tensors."""
        in_unsigned = torch.uint64 in loop[: self.nin]
        if in_unsigned and not (self.exact_unsigned or self.compares or self.unsigned is not None):
            raise Refused(f"numpy.{self.__name__} of uint64 has no torch kernel", "cast to int64 or float64 first", "unsupported-dtype")
        device = next((x.device for x in operands if isinstance(x, torch.Tensor)), None)
        ready: list[Any] = []
        for position, (x, d) in enumerate(zip(operands, loop, strict=False)):
            if isinstance(x, torch.Tensor):
                ready.append(widen(cast(x, d)))
                continue
            if d == torch.bool and isinstance(x, int) and not self.compares and not -(2**63) <= x < 2**63:
                raise OverflowError("Python int too large to convert to C long")
            number = in_dtype(x, d)
            if d == torch.uint64 and number >= 2**63:
                number -= 2**64  # the int64 of the same bits
            if position in self.numbers and device is not None and not in_unsigned:
                ready.append(number)
            else:
                ready.append(torch.tensor(number, dtype=WIDER.get(d, d), device=device))
        return ready

    # The methods. `fast` names the torch reduction of the same meaning; without one, the ufunc is folded along the axis.

    @explaining
    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
               initial: Any = numpy._NoValue, where: Any = True) -> torch.Tensor:  # fmt: skip
        """`numpy.ufunc.reduce`: fold the ufunc along `axis` (an int, a tuple, or None for all axes)."""
        result = self.reduce_value(array, axis, dtype, out, keepdims, initial, where)
        if out is None:
            return method_laid_out(self.numpy.reduce, result, array, axis, keepdims=keepdims, where=where)  # type: ignore[no-any-return]
        return store(out, result, "unsafe")

    def reduce_value(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
                     initial: Any = numpy._NoValue, where: Any = True) -> torch.Tensor:  # fmt: skip
        """The pure part of `reduce`: what is stored in `out`."""
        named = _REDUCTIONS.get(self.__name__)
        extra = {} if dtype is None else {"dtype": dtype}
        extra |= {k: v for k, v, default in (("initial", initial, numpy._NoValue), ("where", where, True)) if v is not default}
        if named is not None and _takes(named, extra):
            return _value_of(named, out, (array,), {"axis": axis, "keepdims": keepdims, **extra})
        if where is not True:
            raise Refused(f"numpy.{self.__name__}.reduce with where= is not supported", "mask the array first")
        a = as_tensor(array)
        demand_dtype(f"{self.__name__}.reduce", out, a.dtype if dtype is None else to_torch(dtype))
        known = {"axis": axis} | ({} if initial is numpy._NoValue else {"initial": 1 if isinstance(initial, torch.Tensor) else initial})
        loop = self._folded(self.numpy.reduce, a, [int(n > 0) for n in a.shape], dtype, known)
        demand_dtype(f"{self.__name__}.reduce", out, loop)
        axes = axes_of(axis, a.ndim)
        flat = merged(cast(a, loop), axes)
        parts = list(torch.unbind(flat, -1))
        if initial is not None and initial is not numpy._NoValue:
            start = start_of(initial, loop, a)
        elif self.numpy.identity is not None and initial is not None:
            start = cast(torch.full((), self.numpy.identity, device=a.device), loop)  # -1 is the largest number of an unsigned dtype
        else:
            start = parts.pop(0)
        folded = functools.reduce(self.compute, parts, start)
        return restored(folded if parts else folded.expand(flat.shape[:-1]), axes, keepdims)

    def _folded(self, method: Callable[..., Any], a: torch.Tensor, shape: Sequence[int], dtype: Any, known: dict[str, Any]) -> torch.dtype:
        """The dtype in which a method folds an array like `a`: asked of NumPy's own, which also raises what it raises for it."""
        given = {k: v for k, v in known.items() if v is not None or k in ("axis", "initial")}
        ones = numpy.broadcast_to(numpy.ones((), to_numpy(a.dtype)), shape)
        loop = to_torch(method(ones, dtype=None if dtype is None else to_numpy(to_torch(dtype)), **given).dtype)
        if self.__name__ == "ldexp":
            raise Refused("folding numpy.ldexp, whose second operand is of another dtype", "write a loop")
        if self.__name__ in ("arctan2", "power") and method != self.numpy.accumulate and loop.is_floating_point:
            raise Refused(f"folding numpy.{self.__name__} of floats, where NumPy skips operands on some processors", "write a loop")
        return loop

    @explaining
    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> torch.Tensor:
        """`numpy.ufunc.accumulate`: all partial results of folding the ufunc along `axis`."""
        result = self.accumulate_value(array, axis, dtype, out)
        if out is None:
            return method_laid_out(self.numpy.accumulate, result, array, axis)  # type: ignore[no-any-return]
        demand_shape(f"numpy.{self.__name__}.accumulate", out, result)
        return store(out, result, "unsafe")

    def accumulate_value(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> torch.Tensor:
        """The pure part of `accumulate`: what is stored in `out`."""
        a = as_tensor(array)
        loop = self._folded(self.numpy.accumulate, a, [int(n > 0) for n in a.shape], dtype, {"axis": axis})
        (axis,) = axes_of(axis, a.ndim)
        named = {"add": "cumsum", "multiply": "cumprod"}.get(self.__name__)
        if named is not None:
            return _value_of(named, out, (a,), {"axis": axis, "dtype": dtype})
        demand_dtype(f"{self.__name__}.accumulate", out, loop)
        parts = torch.unbind(cast(a, loop), axis)
        return torch.stack(list(itertools.accumulate(parts, self.compute)), axis) if parts else cast(a, loop)

    @explaining
    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> torch.Tensor:
        """`numpy.ufunc.reduceat`: the fold of each slice between consecutive `indices`, which must be known when traced."""
        result = self.reduceat_value(array, indices, axis, dtype, out)
        if out is None:
            return method_laid_out(self.numpy.reduceat, result, array, indices, axis)  # type: ignore[no-any-return]
        demand_shape(f"numpy.{self.__name__}.reduceat", out, result)
        return store(out, result)

    def reduceat_value(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> torch.Tensor:
        """The pure part of `reduceat`: what is stored in `out`."""
        a, bounds = as_tensor(array), known_ints(indices, "indices")
        shape = [n if d in axes_of(axis, a.ndim) else int(n > 0) for d, n in enumerate(a.shape)]
        loop = self._folded(self.numpy.reduceat, a, shape, dtype, {"indices": bounds, "axis": axis})
        demand_dtype(f"{self.__name__}.reduceat", out, loop)
        (axis,) = axes_of(axis, a.ndim)
        a = cast(a, loop)
        parts = [
            self._fold(a.narrow(axis, i, j - i), axis) if j > i + 1 else a.select(axis, i)
            for i, j in zip(bounds, [*bounds, a.shape[axis]][1:], strict=True)
        ]
        return torch.stack(parts, axis) if parts else a.narrow(axis, 0, 0)

    def _fold(self, a: torch.Tensor, axis: int) -> torch.Tensor:
        """The fold of at least one element in the array's own dtype, without the identity."""
        if self.__name__ in _REDUCTIONS:
            return cast(self.reduce(a, axis), a.dtype)
        return functools.reduce(self.compute, torch.unbind(a, axis))

    @explaining
    def outer(self, A: Any, B: Any, **kwargs: Any) -> Any:
        """`numpy.ufunc.outer`: the ufunc of every pair, shape `A.shape + B.shape`."""
        a, b = as_tensor(A), as_tensor(B)  # `outer` takes Python numbers for arrays: they are not weak
        a, b = a if holds_tensor(A) else beside(b, a), b if holds_tensor(B) else beside(a, b)
        return self(a.reshape(tuple(a.shape) + (1,) * b.ndim), b, **kwargs)

    @explaining
    def at(self, a: torch.Tensor, indices: Any, b: Any = None) -> None:
        """`numpy.ufunc.at`: unbuffered, so that an index given twice counts twice. Writes into `a`."""
        a = on_memory(a)
        if getattr(a, "_np2fx_read_only", False):
            raise Refused("ufunc.at on a read-only array, into which NumPy writes all the same", "copy the array first", "mutation")
        store(a, self.at_value(a, indices, b), "unsafe")

    def at_value(self, a: torch.Tensor, indices: Any, b: Any = None) -> torch.Tensor:
        """The pure part of `at`: the new value of `a`."""
        positions = flat_positions(a, indices)
        flat, where = a.reshape(-1), positions.reshape(-1)
        values: list[Any] = [None] * where.numel()
        if self.nin == 2:
            operand = as_tensor(b)  # `at` takes Python numbers for arrays: they are not weak
            if self.__name__ in _EXACT_NARROW and _fits(b, a.dtype):
                operand = cast(operand, a.dtype)
            spread = torch.broadcast_to(operand, positions.shape).reshape(-1)
            loop = resolve(self.numpy, (a.dtype, spread.dtype))
            spread = cast(spread, loop[1])
            if self.__name__ in ("add", "subtract") and a.dtype == loop[-1] and a.dtype != torch.bool:
                added = widen(flat).index_add(0, where, widen(spread), alpha=1 if self.__name__ == "add" else -1)
                return cast(added, a.dtype).reshape(a.shape)
            values = list(torch.unbind(spread))
        if _holds_mask(indices) and is_recording():
            raise Refused("how many elements a mask selects decides what the graph looks like", "use numpy.where", "data-dependent-shape")
        for i, v in zip(torch.unbind(where), values, strict=True):  # one after the other: an index given twice counts twice
            old = flat[i.reshape(1)].reshape(())
            new = self.compute(old) if v is None else self.compute(old, v)
            flat = assigned(flat, i, cast(new, a.dtype))
        return flat.reshape(a.shape)


def outputs(function: Any, args: tuple[Any, ...], out: Any) -> tuple[Any, ...] | None:
    """What a call of a ufunc writes into, one entry per output (None: a new array); None where all outputs are new.

    By position the later outputs may be left out. Raises NumPy's errors for what is no such `out`."""
    if len(args) > function.nin:
        if out is not None:
            raise TypeError("cannot specify 'out' as both a positional and keyword argument")
        out = (*args[function.nin :], *(None,) * (function.nargs - len(args)))
    if out is None:
        return None
    if not isinstance(out, tuple):
        if function.nout > 1:
            raise TypeError("'out' must be a tuple of arrays")
        out = (out,)
    if len(out) != function.nout:
        raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
    return None if all(o is None for o in out) else out


def _signature(body: Callable[..., Any]) -> inspect.Signature:
    """A ufunc's signature: the operands by position, then what all ufuncs take."""
    operands = [p.replace(kind=p.POSITIONAL_ONLY) for p in inspect.signature(body).parameters.values()]
    shared = [p.replace(annotation=p.empty) for p in list(inspect.signature(Ufunc.__call__).parameters.values())[2:]]
    return inspect.Signature([*operands, shared[0].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD), *shared[1:]])


_EXACT_NARROW = ("add", "subtract", "multiply", "maximum", "minimum")
"""Computed in a wider dtype and cast back, these give what they give in the narrow one."""


def _fits(number: Any, dtype: torch.dtype) -> bool:
    """True for a Python number that the (numeric) dtype holds exactly."""
    if not is_weak(number) or dtype in (torch.bool, torch.uint64):
        return False
    with numpy.errstate(all="ignore"):
        return bool(numpy.asarray(number).astype(to_numpy(dtype)) == number)


def _kept(mask: torch.Tensor, result: torch.Tensor, out: Any, casting: str) -> torch.Tensor:
    """`result` where the mask is true, `out` elsewhere, whose dtype it has. Raises TypeError where `casting` forbids the cast."""
    out = as_tensor(out)
    if not can_cast(result.dtype, out.dtype, casting):
        made, wanted = to_numpy(result.dtype), to_numpy(out.dtype)
        raise TypeError(f"Cannot cast ufunc output from {made!r} to {wanted!r} with casting rule {casting!r}")
    return torch.where(mask, cast(result, out.dtype), out)


def _holds_mask(indices: Any) -> bool:
    return any(isinstance(i, torch.Tensor) and i.dtype == torch.bool for i in (indices if isinstance(indices, tuple) else (indices,)))


_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}


def _takes(named: str, parameters: dict[str, Any]) -> bool:
    """True for a rule that knows all these parameters."""
    from ..rules import lookup

    return parameters.keys() <= inspect.signature(lookup(f"numpy.{named}").body).parameters.keys()


def _value_of(named: str, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    """The result of the rule that means the same as a fold."""
    from ..rules import lookup

    rule = lookup(f"numpy.{named}")
    return rule.body(*args, **kwargs) if out is None else for_out(rule, out, args, kwargs)


def _check_broadcast(operands: list[Any]) -> None:
    """NumPy's error where shapes do not go together."""
    shapes = [tuple(x.shape) for x in operands if isinstance(x, torch.Tensor)]
    try:
        common_shape(*shapes)
    except ValueError:
        raise ValueError(f"operands could not be broadcast together with shapes {' '.join(map(str, shapes))}") from None


def _plain(x: Any) -> Any:
    """Python bools become NumPy's (they are not weak); lists and arrays become tensors."""
    return numpy.bool_(x) if isinstance(x, bool) else as_tensor(x)


def _comparable(operands: list[Any]) -> list[Any]:
    """Comparisons with Python ints outside the tensor's dtype are exact in NumPy: compare wider."""
    ints = [x for x in operands if isinstance(x, int) and not isinstance(x, bool)]
    tensors = [x for x in operands if isinstance(x, torch.Tensor)]
    if len(ints) != 1 or len(tensors) != 1 or tensors[0].is_floating_point() or tensors[0].is_complex() or tensors[0].dtype == torch.bool:
        return operands
    (n,), (t,) = ints, tensors
    info = torch.iinfo(t.dtype)
    if info.min <= n <= info.max:
        return operands
    if -(2**63) <= n < 2**63 and t.dtype != torch.uint64:
        return [t.to(torch.int64) if x is t else n for x in operands]
    beyond = 1 if n > 0 else -1  # beside all that the dtype can hold
    return [torch.zeros_like(t, dtype=torch.int64) if x is t else beyond for x in operands]


def known_ints(x: Any, parameter: str) -> list[int]:
    """Integers that must be known when the call is traced (they decide the graph's shape)."""
    if isinstance(x, torch.Tensor):
        raise Refused(
            f"{parameter} is computed from the inputs, but decides what the graph looks like",
            f"pass {parameter} as Python ints",
            "data-dependent-shape",
        )
    return [int(i) for i in numpy.asarray(x).reshape(-1)]


def ufunc(*names: str, numbers: tuple[int, ...] = (), compares: bool = False, exact_unsigned: bool = False,
          unsigned: Callable[..., Any] | None = None, kind: str = "elementwise",
          examples: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Ufunc]:  # fmt: skip
    """Put a torch function in the table as the meaning of NumPy's ufunc `names`.

    numbers         positions at which the body takes Python numbers instead of tensors
    compares        a comparison: exact with Python ints of any size
    kind            "predicate" where bools come out whatever goes in
    exact_unsigned  computed in int64 its bits are right for uint64 too
    unsigned        the body for uint64, which takes and gives int64 of the same bits"""

    def enter(body: Callable[..., Any]) -> Ufunc:
        made = Ufunc(names[0], body, numbers, compares, exact_unsigned, unsigned)
        operands = ("a", "b")[: made.nin]
        short = re.sub(r"^numpy\.", "np.", names[0])
        register(Rule(names, made.compute, made, kind, None, False, examples or (f"{short}({', '.join(operands)})",)))
        return made

    return enter
