"""The tracer: what happens when a NumPy call meets traced arrays.

NumPy itself runs the call on the real values, and its errors are the function's. The rule of the call runs on the
torch side, under the recorder. What comes out is wrapped again: NumPy's value and torch's tensor side by side.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable
from typing import Any, NoReturn

import numpy
import torch

from ..rules.arithmetic import scalar_power
from ..semantics.arrays import as_tensor, cast, fits, in_dtype
from ..semantics.destination import for_out
from ..semantics.dtypes import holding, resolve, to_numpy, to_torch
from ..semantics.table import Refused, Rule, is_own
from ..semantics.ufunc import UNINITIALISED, Ufunc, outputs
from .arrays.array import FlatIterator, TracedNpArray
from .arrays.byteorder import OF_BYTES, check_order, native_order
from .arrays.number import DTYPES, TracedNumber, check_numbers, fitted, new_number
from .arrays.scalar import MIXED, TracedScalar
from .arrays.special import SPECIAL
from .arrays.weak import check_method, check_partners, check_power, check_sum, operated
from .arrays.windows import has_window, plain, put, taken
from .calls import Call, bound, listed, setitem, stated, take_out
from .control.untaken import with_other_values
from .errors import TraceError, user_frame
from .recording.compare import difference, largest_in, values_of
from .recording.recorder import LAYOUT, OWN
from .recording.views import Views
from .sizes.traced import TracedSize, pinned
from .state import holds_traced, leaves
from .surroundings.alarms import check_errors
from .table import OF_DTYPES, SHAPE_ONLY, SIZES_ONLY, VECTORIZE, Known, find, trick
from .table import method as known_method
from .widened import wider_call

_INPLACE = frozenset((
    "sort", "partition", "fill", "put", "resize", "itemset", "setfield", "byteswap", "setflags",
))  # fmt: skip
_ROUNDING = frozenset(("elementwise", "reduction", "linalg", "fft", "polynomial", "signal"))
"""Kinds of rules that compute, where others move what there is."""
_PICKING = frozenset(("numpy.ndarray.__getitem__", "numpy.ndarray.__setitem__"))
"""What fails for its key and the shape of its array, whatever the values in it are."""
_FLOAT = numpy.dtype("float64")
_OTHERWISE = "write it with other NumPy functions, or split the node around it"


@functools.cache
def _plan(ufunc: Ufunc, kinds: tuple[Any, ...]) -> tuple[torch.dtype, ...] | None:
    """The float dtype of NumPy's loop where the operands are in it already and the result is too; None where there is more to do."""
    numbers = [k is float or k is int for k in kinds]  # `dtype("float64") == float`, so not by `in`
    dtypes = {k for k, number in zip(kinds, numbers, strict=True) if not number}
    if len(dtypes) != 1 or ufunc.nout != 1 or not dtypes <= {numpy.dtype("float32"), numpy.dtype("float64")}:
        return None
    if any(number and i not in ufunc.numbers for i, number in enumerate(numbers)):
        return None
    (dtype,) = (to_torch(d) for d in dtypes)
    loop = resolve(ufunc.numpy, tuple(k if number else dtype for k, number in zip(kinds, numbers, strict=True)))
    wanted = torch.bool if ufunc.compares else dtype
    return loop if set(loop[:-1]) == {dtype} and loop[-1] == wanted else None


def _number_in(x: Any, dtype: torch.dtype) -> Any:
    """A Python number in the dtype of a loop; a size as a tensor of it."""
    return in_dtype(x, dtype) if type(x) is not TracedSize else x.number(dtype)


def _strong(made: Any) -> torch.Tensor:
    """What a rule gives, as a tensor; a number that it hands back as it got it is weak no longer."""
    tensor = made if isinstance(made, torch.Tensor) else as_tensor(made)
    return torch.clone(tensor) if hasattr(tensor, "_np2fx_number") else tensor


def _weakened(made: Any, weak: bool | str) -> Any:
    """The scalars of a result as such that may be Python's numbers."""
    for x in made if isinstance(made, tuple) else (made,):
        if type(x) is TracedScalar:
            x._weak = weak
            if weak == MIXED:
                check_sum(x._tensor)
    return made


class Tracer(Views):
    """One trace. With a list as `diagnose` the value of every call is compared with NumPy's, and the largest number of each put there."""

    def __init__(self) -> None:
        super().__init__()
        self.diagnose: list[float] | None = None
        self.judged: tuple[Callable[..., Any], Any, Any] | None = None

    # Entry points, one a kind of call

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """A NumPy function."""
        args, kwargs = stated(function, args, kwargs)
        known = find(function)
        function = known.function
        special = SPECIAL.get(known.name)
        if special is not None:
            done = special(self, *args, **kwargs)
            if done is not NotImplemented:
                return done
        if known.name.startswith("numpy.random."):
            self.fail("random", f"{known.name} draws new numbers each time, a graph would repeat these", "pass the random numbers in")
        if isinstance(function, numpy.ufunc):
            return self.ufunc(function, "__call__", args, kwargs)
        with self.inside():
            self._mark(known.name)
            check_partners((args, kwargs))
            out, args, kwargs = take_out(known.rule, args, kwargs) if known.rule is not None else (kwargs.get("out"), args, kwargs)
            target = None
            if known.rule is not None and known.rule.writes is not None:
                target = bound(known.rule, args, kwargs)[known.rule.writes]
            real = Call(function, args, kwargs, {} if out is None or known.rule is None else {"out": out})
            return self._run(known, real, out if target is None else target, lambda a, k: self._body(known, a, k, out))

    def ufunc(self, function: numpy.ufunc, method: str, inputs: Any, kwargs: Any) -> Any:
        """A ufunc or one of its methods."""
        inputs = tuple(x.copy() if type(x) is FlatIterator else x for x in inputs)
        with self.inside():
            known = find(function)
            function = known.function
            kwargs = dict(kwargs)
            out = kwargs.pop("out", None)
            if out is Ellipsis and method in ("__call__", "reduce"):  # new arrays, and no scalars
                made = self.ufunc(function, method, inputs, kwargs)
                return tuple(map(self._as_array, made)) if isinstance(made, tuple) else self._as_array(made)
            if method == "__call__":
                out, inputs = outputs(function, inputs, out), inputs[: function.nin]
            if out is not None and not isinstance(out, tuple):
                out = (out,)
            if out is not None and all(o is None for o in out):
                out = None
            self._mark(known.name if method == "__call__" else f"{known.name}.{method}")
            if method == "__call__" and out is None and not kwargs:
                done = self._elementwise(known, function, inputs)
                if done is not NotImplemented:
                    return done
            if method == "at":
                real = Call(function.at, inputs, kwargs, {})
                return self._run(known, real, inputs[0], lambda a, k: self._ufunc_of(known).at_value(*a, **k))
            inputs = tuple(self._array_of_list(listed(x)) if isinstance(x, (list, tuple, deque)) else x for x in inputs)
            check_partners((inputs, kwargs), function if method == "__call__" else None)
            weak = method == "__call__" and operated(function, inputs)
            inputs = fitted(self, function, method, inputs, kwargs)
            real = Call(getattr(function, method), inputs, kwargs, {} if out is None else {"out": out if method == "__call__" else out[0]})
            made = self._run(known, real, out, lambda a, k: self._ufunc_rule(known, method, a, k, out))
            return _weakened(made, weak) if weak else made

    def _as_array(self, x: Any) -> Any:
        return x if isinstance(x, numpy.ndarray) else self.call(numpy.asarray, (x,), {})

    def _elementwise(self, known: Known, function: numpy.ufunc, inputs: Any) -> Any:
        """The common case, quickly: traced arrays and Python numbers whose loop needs no cast. NotImplemented for all others.

        Nothing is asked of the tensors here: under the recorder each question costs as much as a small operation."""
        if self.diagnose is not None or known.rule is None or type(known.rule.call) is not Ufunc:
            return NotImplemented
        kinds: list[Any] = []
        values: list[Any] = []
        for x in inputs:
            kind = type(x)
            if kind is TracedNpArray and not self.is_constant(x):
                self.check_own(x)
                kinds.append(x._value.dtype)
                values.append(x._value)
            elif kind is float or kind is int:
                kinds.append(kind)
                values.append(x)
            elif kind is TracedSize:
                kinds.append(int)
                values.append(x._value)
            else:
                return NotImplemented
        loop = _plan(known.rule.call, tuple(kinds))
        if loop is None:
            return NotImplemented
        result = self.numpy(lambda: function(*values), True)
        self.rounded.add(result.dtype)
        ready = [_number_in(x, d) if k is float or k is int else self.tensor(x) for x, k, d in zip(inputs, kinds, loop, strict=False)]
        self.recorder.current, self.recorder.pure = known.name, True
        try:
            tensor = known.rule.call.body(*ready)
        except Refused as refused:
            self.fail(refused.name, f"{known.name}: {refused.message}", refused.hint)
        finally:
            self.recorder.current, self.recorder.pure = "", False
        return self.array(result, tensor) if isinstance(result, numpy.ndarray) else self._wrap(result, tensor, known)

    def scalar_power(self, base: Any, exponent: Any) -> Any:
        """`base ** exponent` of scalars and numbers."""
        with self.inside():
            known = find(numpy.power)
            self._mark(known.name)
            check_partners((base, exponent))
            weak = operated(known.function, (base, exponent))
            given, exponent = fitted(self, known.function, "__call__", (base, exponent), {})
            made = self._run(known, Call(operator.pow, (given, exponent), {}, {}), None, lambda a, k: scalar_power(*a))
            if weak:
                check_power(base, made._tensor)
            return _weakened(made, weak) if weak else made

    def method(self, array: Any, name: str, args: Any, kwargs: Any) -> Any:
        """A method of an array or scalar."""
        if name in ("conj", "conjugate") and len(args) == 1 and not kwargs:
            return self.ufunc(numpy.conjugate, "__call__", (array,), {"out": args[0]})
        with self.inside():
            known = known_method(name)
            args = tuple(map(listed, args))
            check_method(array, name)
            check_partners((array, args, kwargs))
            self._mark(known.name)
            if name in OF_BYTES:
                check_order(self, array, name)
            if name == "resize":
                return self.resize(array, *args, **kwargs)
            if name == "setflags":
                return array._value.setflags(*args, **kwargs)
            rule = known.rule
            out = None
            if rule is not None:
                out, rest, kwargs = take_out(rule, (array, *args), kwargs)
                args = rest[1:]
            elif name in ("__array_namespace__",):
                return numpy
            real = Call(lambda x, *a, **k: getattr(x, name)(*a, **k), (array, *args), kwargs, {} if out is None else {"out": out})
            target = array if rule is not None and rule.writes else out
            if name in _INPLACE and rule is None and not self.is_constant(array):
                self._unmapped(known)
            if name in _INPLACE and isinstance(array, TracedNpArray):
                array._storage.check_writable()
            return self._run(known, real, target, lambda a, k: self._body(known, a, k, out))

    def attribute(self, array: Any, name: str) -> Any:
        """An attribute such as `T`, `real`, `imag`."""
        with self.inside():
            known = known_method(name)
            self._mark(known.name)
            real = Call(lambda x: getattr(x, name), (array,), {}, {})
            return self._run(known, real, None, lambda a, k: self._body(known, a, k))

    def getitem(self, array: Any, key: Any) -> Any:
        """`array[key]`. A view at a position that depends on values remembers where it comes from."""
        with self.inside():
            known = known_method("__getitem__")
            self._mark("numpy.ndarray.__getitem__")
            key = plain(self, self._key(key))
            real = Call(lambda a, k: a[k], (array, key), {}, {})
            if has_window(key):
                take = functools.partial(taken, self, real=self.split(key), take=lambda *a: self._body(known, a, {}))
                return self._run(known, real, None, lambda a, _: take(a[0], a[1]))
            return self._run(known, real, None, lambda a, k: self._body(known, a, k))

    def setitem(self, array: TracedNpArray, key: Any, value: Any) -> None:
        """`array[key] = value`."""
        value = listed(value)
        with self.inside():
            known = known_method("__setitem__")
            self._mark("numpy.ndarray.__setitem__")
            key = plain(self, self._key(key))
            real = Call(setitem, (array, key, value), {}, {})
            self._run(known, real, array, lambda a, _: self._assigned(key, *a))

    def _assigned(self, key: Any, array: Any, torch_key: Any, value: Any) -> torch.Tensor:
        """The new value of an array after `array[key] = value`; `torch_key` is torch's side of the key."""
        known = known_method("__setitem__")
        if not has_window(key):
            return self._body(known, (array, torch_key, value), {})  # type: ignore[no-any-return]
        array = as_tensor(array) if isinstance(array, numpy.ndarray) else array
        return put(self, array, torch_key, self.split(key), lambda part, rest: self._body(known, (part, rest, value), {}))

    def trick(self, name: str, original: Any, key: Any) -> Any:
        """`np.r_[key]` and its like."""
        with self.inside():
            known = trick(name, original)
            self._mark(known.name)

            def indexed(args: Any, kwargs: Any) -> Any:
                trick: Any = self._rule(known).body  # an object that is indexed, like NumPy's own
                return trick[args[0]]

            return self._run(known, Call(lambda k: original[k], (key,), {}, {}), None, indexed)

    def vectorised(self, function: Any, options: dict[str, Any], args: Any) -> Any:
        """`np.vectorize(function)(*args)`."""
        with self.inside():
            known = trick("vectorize", VECTORIZE)
            self._mark(known.name)
            real = Call(lambda f, *a: VECTORIZE(f, **options)(*a), (function, *args), {}, {})
            return self._run(known, real, None, lambda a, k: self._rule(known).body(a[0], **options)(*a[1:]))

    # The call itself

    def _run(self, known: Known, real: Call, target: Any, rule: Callable[..., Any]) -> Any:
        """Run NumPy, then the rule on the torch side; wrap, or write into `target`."""
        traced: list[Any] = []
        targets = [] if target is None else [t for t in (target if isinstance(target, tuple) else (target,)) if t is not None]
        self._check_targets(targets, real)
        args, torch_args = self._split(real.args, traced)
        kwargs, torch_kwargs = self._split(real.kwargs, traced)
        extra = self._split(real.extra, [])[0]
        before = self.caught
        try:
            first = real.args[0] if real.args and known.name in _PICKING else None
            computed = any(type(x) is not TracedSize and (x is not first or self.is_loose(x)) for x in traced)
            result = self.numpy(lambda: real.function(*args, **kwargs, **extra), computed)
        except (IndexError, ValueError) as problem:
            kept = [*targets, *(real.args[:1] if known.name.startswith("numpy.ndarray.") else ())]
            other = None if self.on_sample else with_other_values(self, real, problem, kept, targets)
            if other is None:
                raise
            self.caught = before
            return self._run(known, other, target, rule)
        if known.rule is not None and known.rule.kind in _ROUNDING:
            self.rounded.update(getattr(x, "dtype", _FLOAT) for x in (result if isinstance(result, tuple) else (result,)))
        self.judged = (real.function, args, kwargs) if self.diagnose is not None else None
        same = self._same(result, real)
        if known.name in SHAPE_ONLY and traced:
            return self._of_shapes(known, traced, result)
        sized, traced = traced, [x for x in traced if type(x) is not TracedSize]
        if not sized and all(self.is_constant(t) for t in targets):
            return same if same is not None else self.constant(result, real)
        if not isinstance(known.function, numpy.ufunc) and any(type(x) is TracedNumber for x in traced):
            check_numbers(known.name, real, targets, result)
        try:
            tensors = self.tensors_of(known, rule, torch_args, torch_kwargs)
        except TraceError:
            if targets or not all(map(self._settles, sized)):
                raise
            return self.constant(result, real)
        if targets:
            wanted = target if isinstance(target, tuple) else (target,)
            made = list(tensors) if isinstance(tensors, (tuple, list)) else [tensors]
            self._write(targets, [tensor for t, tensor in zip(wanted, made, strict=False) if t is not None], not real.extra)
            if isinstance(target, tuple) and len(targets) != len(target):
                return tuple(self._wrap(r, v, known) if t is None else t for t, r, v in zip(target, result, made, strict=True))
            return None if result is None else same if same is not None else target
        if same is not None:
            return same
        self.floating = self._floating(known, traced, real)
        try:
            made = self._wrap(result, tensors, known)
        finally:
            self.floating = None
        self.note_origin(made, known, real, traced, rule, torch_args, torch_kwargs)
        return made

    def _of_shapes(self, known: Known, traced: list[Any], result: Any) -> Any:
        """What a function tells of shapes and dtypes: the graph holds for these sizes, where it told of sizes."""
        for x in traced:
            if type(x) is TracedSize:
                pinned(x)
            elif known.name not in OF_DTYPES and self.recorder.is_loose(self.tensor(x)):
                self.loose_size()
            elif known.name in SIZES_ONLY and type(x) is TracedNpArray:
                pinned(self.recorder.sizes_of(self.tensor(x), x._value.shape))
        self.told.add(repr(result))
        return result

    def _settles(self, x: Any) -> bool:
        """Let the graph hold for these sizes, where `x` hangs on them alone. Returns whether it does."""
        return pinned(x) is not None if type(x) is TracedSize else self.settle(x)

    def tensors_of(self, known: Known, rule: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What the rule makes of torch's side of the arguments."""
        before, recorder = (self.recorder.current, self.recorder.users), self.recorder
        recorder.current, recorder.users = known.name, known.rule is not None and not is_own(known.rule)
        try:
            return rule(args, kwargs)
        except Refused as refused:
            self.fail(refused.name, f"{known.name}: {refused.message}", refused.hint)
        except TraceError:
            raise
        except Exception as problem:
            self._rule_failed(known, problem)
        finally:
            recorder.current, recorder.users = before

    def is_loose(self, x: Any) -> bool:
        """Whether a size of a traced value depends on values."""
        return self.recorder.is_loose(self.tensor(x))

    def numpy(self, run: Callable[[], Any], traced: bool = False) -> Any:
        """Run NumPy itself, and note what it raises for values that are only known when the graph runs."""
        try:
            return run()
        except TraceError:
            raise
        except Exception as problem:
            if traced and _is_of_shapes(problem):
                self.told.add(type(problem).__name__)
            if traced and self.caught is None and not (_is_of_shapes(problem) and not self.recorder.sizes):
                frame = user_frame()
                self.caught = ((frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0), problem)
            raise

    def _rule(self, known: Known) -> Rule:
        return known.rule or self._unmapped(known)

    def _body(self, known: Known, args: Any, kwargs: Any, out: Any = None) -> Any:
        rule = self._rule(known)
        args, kwargs = native_order(known.name, args, kwargs)
        if known.name.startswith("numpy.ndarray.") and args and isinstance(args[0], (numpy.ndarray, numpy.generic)):
            args = (as_tensor(args[0]), *args[1:])
        return rule.body(*args, **kwargs) if out is None or rule.writes else for_out(rule, out, args, kwargs)

    def _ufunc_of(self, known: Known) -> Ufunc:
        if known.rule is None or not isinstance(known.rule.call, Ufunc):
            self._unmapped(known)
        return known.rule.call

    def _ufunc_rule(self, known: Known, method: str, args: Any, kwargs: Any, out: Any) -> Any:
        kwargs = {k: v for k, v in kwargs.items() if k not in ("order", "subok")}
        if method == "__call__":
            where = kwargs.pop("where", True)
            if out is None and where is not True:
                self._check_mask(where)
            if known.rule is None:
                self._unmapped(known)
            pure = known.rule.call.compute if isinstance(known.rule.call, Ufunc) else known.rule.body
            if kwargs.get("sig") is not None or (kwargs.get("signature") is not None and not isinstance(known.rule.call, Ufunc)):
                raise Refused("signature= is not supported", "use dtype=")
            result = pure(*args, **kwargs)
            if where is True:
                return result
            held = None if out is None else tuple(None if o is None else self.tensor(o) for o in out)
            return Ufunc.masked(result, held[0] if held is not None and len(held) == 1 else held, where, kwargs.get("casting", "same_kind"))
        if out is None or method == "outer":
            return getattr(self._ufunc_of(known), method)(*args, **kwargs)
        return getattr(self._ufunc_of(known), f"{method}_value")(*args, **kwargs, out=out[0])

    def _check_mask(self, where: Any) -> None:
        """Without `out=` a mask must let all elements through: of the sample here, of others the graph asserts it."""
        with torch._C.DisableTorchFunction():
            if self.on_sample and not bool(numpy.all(values_of(where) if isinstance(where, torch.Tensor) else where)):
                raise Refused(*UNINITIALISED)

    def _key(self, key: Any) -> Any:
        """A list with traced parts is an index array to NumPy."""
        if isinstance(key, tuple):
            return tuple(map(self._key, key))
        return self._array_of_list(key) if isinstance(key, list) else key

    def _array_of_list(self, x: Any) -> Any:
        return self.call(numpy.array, (x,), {}) if holds_traced(x) else x

    # Wrapping results

    def _wrap(self, real: Any, made: Any, known: Known) -> Any:
        """NumPy's result together with the rule's."""
        if isinstance(real, (tuple, list)):
            self.told.add(len(real))
            if not isinstance(made, (tuple, list)) or len(made) != len(real):
                self.fail("mismatch", f"the rule of {known.name} returns {type(made).__name__}, NumPy {len(real)} values")
            parts = [self._wrap(r, m, known) for r, m in zip(real, made, strict=True)]
            return type(real)(*parts) if hasattr(real, "_fields") else type(real)(parts)
        if type(real) in DTYPES and isinstance(made, torch.Tensor) and self.recorder.node(made) is not None:
            self._check_same(numpy.asarray(real), made, known)
            return new_number(self, real, made)
        if isinstance(real, numpy.generic):
            tensor = _strong(made)
            self._check_same(real, tensor, known)
            return real if self.recorder.node(tensor) is None else self.note(TracedScalar(real, tensor))
        if not isinstance(real, numpy.ndarray):
            if type(made) is TracedSize and type(real) is int and made._value == real:
                return made
            if type(real) in DTYPES and isinstance(made, torch.Tensor) and made.ndim == 0:
                made = made.item()  # nothing that the graph computes: a Python number like NumPy's
            if type(real) is not type(made) or real != made:
                self.fail("mismatch", f"the rule of {known.name} gives {made!r}, NumPy {real!r}")
            self.told.add(repr(real))
            return real
        tensor = _strong(made)
        self._check_same(real, tensor, known)
        if self.recorder.node(tensor) is None:
            return self.constant(real)
        return self.array(real, tensor)

    def _check_same(self, real: Any, tensor: torch.Tensor, known: Known) -> None:
        with torch._C.DisableTorchFunction():  # nothing hangs on these sizes
            shape, dtype = tuple(tensor.shape), tensor.dtype
        if real.shape != shape or holding(real) != dtype:
            got = f"{to_numpy(dtype)} of shape {shape}"
            self.fail("mismatch", f"the rule of {known.name} gives {got}, NumPy {real.dtype} of shape {real.shape}")
        if self.diagnose is not None and known.name not in ("numpy.empty", "numpy.empty_like"):
            self.diagnose.append(max([largest_in(real), *self.diagnose[-1:]]))
            why = difference(real, tensor, computed_in=self.rounded, largest=self.diagnose[-1])
            if why is not None and self._is_closer(real, tensor):
                why = None
            if why is not None:
                self.fail("mismatch", f"the rule of {known.name} gives another value than NumPy: {why}")

    def _is_closer(self, real: Any, tensor: torch.Tensor) -> bool:
        """Whether torch's result of the call that is judged is at least as close to a float64 run of it as NumPy's. If so, it goes on
        with NumPy's."""
        if self.judged is None:
            return False
        function, args, kwargs = self.judged
        try:
            exact = wider_call(function, args, kwargs)
        except Exception:
            return False
        if not isinstance(exact, (numpy.ndarray, numpy.generic)):
            return False
        if difference(real, tensor, computed_in=self.rounded, exact=exact) is not None:
            return False
        with torch._C.DisableTorchFunction():
            tensor.copy_(as_tensor(real))
        return True

    def _floating(self, known: Known, traced: list[Any], real: Call) -> tuple[Any, int, Any] | None:
        """Where a view of this call would lie at a position that depends on values: its array, that one's version, the key."""
        array = real.args[0] if real.args else None
        if known.name == "numpy.ndarray.__getitem__" and type(array) is TracedNpArray:
            if any(x is not array for x in traced) or array._storage.base is not None:
                return array, array._storage.version, real.args[1]
            return None
        for x in traced:
            if type(x) is TracedNpArray and x._storage.base is not None:
                return x, x._storage.version, None
        return None

    def _same(self, result: Any, real: Call) -> Any:
        """The traced array that NumPy handed back as it was, if it did (`np.asarray(x) is x`, `out=x`)."""
        if isinstance(result, numpy.ndarray):
            for x in (*real.args, *leaves(tuple(real.extra.values()))):
                if type(x) is TracedNpArray and x._value is result:
                    return x
        return None

    # Writing

    def _check_targets(self, targets: list[Any], real: Call) -> None:
        if not targets:
            return
        traced = any(not self.is_constant(x) or type(x) is TracedSize for x in leaves((real.args, real.kwargs)))
        for target in targets:
            if type(target) is TracedNpArray:
                storage = target._storage
                while storage.base is not None:
                    storage = storage.base[0]._storage
                storage.check_writable()
                if traced and target._value.flags.writeable:
                    storage.materialise()
                    target._storage.materialise()
            elif traced:
                self.fail(
                    "side-effect",
                    f"a traced value is written into a {type(target).__name__} that the trace does not know",
                    "make the array inside the function with NumPy, or pass it in",
                )

    def _write(self, targets: list[Any], made: Any, whole: bool) -> None:
        """Let what a rule made be the new values of the targets. `whole`: it made them in the targets' shapes."""
        self.told.update((OWN, LAYOUT))
        values = list(made) if isinstance(made, (tuple, list)) else [made]
        for target, value in zip(targets, values, strict=False):
            tensor = cast(_strong(value), to_torch(target.dtype))
            held = self.tensor(target) if type(target) is TracedNpArray else None
            if held is not None and (self.recorder.is_loose(tensor) or self.recorder.is_loose(held)):
                tensor = tensor.expand_as(held)  # for other values it may not fit
            elif not whole or tensor.shape != target._value.shape:
                shape = target._value.shape if held is None else self.recorder.known_shape(held)
                own = self.recorder.known_shape(tensor)
                if own != shape and fits(own, shape):  # asks of each size whether it is the target's
                    tensor = torch.broadcast_to(tensor, shape)
            self.write(target, tensor)

    def write(self, target: TracedNpArray, tensor: torch.Tensor) -> None:
        """`tensor` is the new value of `target`; NumPy has written its own already."""
        storage = target._storage
        if storage.base is not None:
            base, _, key = storage.base
            if key is None:
                self.fail("aliasing", "a write through a view of a view at a computed position", "write with one index: x[i, 1:] = y")
            new = self._assigned(key, self.tensor(base), self._split(key, [])[1], tensor)
            self.write(base, new)
            storage.base = (base, base._storage.version, key)
        self.put(target, tensor)
        if storage.covers(target._value) or storage.base is not None:
            target._tensor, target._version = tensor, storage.version

    def _unmapped(self, known: Known) -> NoReturn:
        if known.refusal is not None:
            self.fail(known.refusal.finding, f"{known.name}: {known.refusal.reason}", known.refusal.hint)
        shown = known.name.replace("numpy.<lambda> (vectorized)", "what np.frompyfunc makes of a lambda")
        self.fail("unmapped-function", f"{shown} has no torch equivalent", _OTHERWISE)

    def _rule_failed(self, known: Known, problem: Exception) -> NoReturn:
        message = f"{known.name} cannot be recorded: {type(problem).__name__}: {problem}".split("\n")[0]
        if isinstance(problem, TypeError) and known.rule is not None and "argument" in str(problem):
            self.fail("unsupported-argument", message, "leave the argument out, or do its work in another call", problem)
        if "not implemented for" in str(problem) or isinstance(problem, NotImplementedError):
            self.fail("unsupported-dtype", message, "cast to float32, float64 or int64 first", problem)
        self.fail("mismatch", message, _OTHERWISE, problem)

    def _mark(self, name: str) -> None:
        check_errors()
        frame = user_frame()
        if frame is not None:
            self.recorder.place = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


_OF_SHAPES = (
    "operands could not be broadcast together", "cannot reshape array of size", "all the input array",
    "all input arrays must have the same shape", "could not broadcast input array", "non-broadcastable output operand", "shapes ",
    "too many indices for array", "shape mismatch", "matmul: ", "array split does not result",
    "setting an array element with a sequence", "Last 2 dimensions of the array must be square", "zero-size array to reduction operation",
    "attempt to get arg", "need at least one array", "axes don't match array", "cannot select an axis to squeeze out",
    "operands could not be broadcast with remapped", "assignment destination is read-only", "output array is read-only",
)  # fmt: skip
"""How NumPy's errors begin that are raised for shapes and memory, whatever the values are."""


def _is_of_shapes(problem: BaseException) -> bool:
    """True for an error that hangs on shapes alone: whoever catches it has asked for a shape, on which a graph is specialised anyway."""
    if isinstance(problem, numpy.exceptions.AxisError):
        return True
    return isinstance(problem, (ValueError, IndexError, numpy.linalg.LinAlgError)) and str(problem).startswith(_OF_SHAPES)
