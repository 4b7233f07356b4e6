"""The tracer: what happens when a NumPy call meets traced arrays.

NumPy itself runs the call on the real values, and its errors are the function's. The rule of the call runs on the
torch side, under the recorder. What comes out is wrapped again: NumPy's value and torch's tensor side by side.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch
from torch import fx

from ..rules._arrays import as_tensor, cast
from ..rules._dtypes import to_numpy, to_torch
from ..rules._table import Refused, Rule
from ..rules._ufunc import Ufunc
from .array import TracedNpArray
from .errors import TraceError, error, user_frame
from .recorder import Recorder
from .scalar import TracedScalar
from .special import SPECIAL, holds_traced, leaves
from .storage import Storage, owner_of
from .table import SHAPE_ONLY, Known, find
from .table import method as known_method

_ATOMS = (int, float, bool, complex, str, bytes, type(None), numpy.dtype, type(Ellipsis))
_INPLACE = frozenset({"sort", "partition", "fill", "put", "resize", "itemset", "setfield", "byteswap", "setflags"})
_WAY_OUT = {
    "data-dependent-branch": "use np.where to choose between values, or split the node here",
    "python-value": "stay with arrays and NumPy scalars, or split the node here",
    "opaque-call": "make the array with NumPy (np.array, np.asarray), or split the node here",
}


class Tracer:
    """One trace: its graph, the recorder, and the memory that its arrays live in.

    paused   True while NumPy, a rule or the tracer itself runs: what they call is not traced
    failure  the first TraceError, which the traced function may have caught
    caught   where NumPy raised inside the trace, if it did: (place, error)"""

    def __init__(self) -> None:
        self.graph = fx.Graph()
        self.root = torch.nn.Module()
        self.recorder = Recorder(self.graph, self.root, self)
        self.storages: dict[int, Storage] = {}
        self.paused = False
        self.failure: TraceError | None = None
        self.caught: tuple[tuple[str, int], BaseException] | None = None
        self.diagnose = False
        self._floats: tuple[Any, int, Any] | None = None

    # Entry points, one a kind of call

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """A NumPy function."""
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
            out, args, kwargs = _take_out(known.rule, args, kwargs) if known.rule is not None else (kwargs.get("out"), args, kwargs)
            target = None
            if known.rule is not None and known.rule.writes is not None:
                target = _bound(known.rule, args, kwargs)[known.rule.writes]
            real = _Real(function, args, kwargs, {} if out is None or known.rule is None else {"out": out})
            return self._run(known, real, out if target is None else target, lambda a, k: self._body(known, a, k))

    def ufunc(self, function: numpy.ufunc, method: str, inputs: Any, kwargs: Any) -> Any:
        """A ufunc or one of its methods."""
        with self.inside():
            known = find(function)
            function = known.function
            kwargs = dict(kwargs)
            out = kwargs.pop("out", None)
            if method == "__call__" and len(inputs) > function.nin:
                out, inputs = inputs[function.nin :], inputs[: function.nin]
            if out is not None and not isinstance(out, tuple):
                out = (out,)
            if out is not None and all(o is None for o in out):
                out = None
            self._mark(known.name if method == "__call__" else f"{known.name}.{method}")
            if method == "at":
                real = _Real(function.at, inputs, kwargs, {})
                return self._run(known, real, inputs[0], lambda a, k: self._ufunc_of(known).at_value(*a, **k))
            inputs = tuple(self._array_of_list(x) if isinstance(x, (list, tuple)) else x for x in inputs)
            self._check_weak(inputs)
            real = _Real(getattr(function, method), inputs, kwargs, {} if out is None else {"out": out if method == "__call__" else out[0]})
            return self._run(known, real, out, lambda a, k: self._ufunc_rule(known, method, a, k, out))

    def method(self, array: Any, name: str, args: Any, kwargs: Any) -> Any:
        """A method of an array or scalar."""
        with self.inside():
            known = known_method(name)
            self._mark(known.name)
            if name == "resize":
                return self._resize(array, *args, **kwargs)
            if name == "setflags":
                return array._value.setflags(*args, **kwargs)
            rule = known.rule
            function = getattr(array._value, name)
            out = None
            if rule is not None:
                out, rest, kwargs = _take_out(rule, (array, *args), kwargs)
                args = rest[1:]
            elif name in ("__array_namespace__",):
                return numpy
            real = _Real(lambda _, *a, **k: function(*a, **k), (array, *args), kwargs, {} if out is None else {"out": out})
            target = array if rule is not None and rule.writes else out
            if name in _INPLACE and rule is None and not self.is_constant(array):
                self._unmapped(known)
            if name in _INPLACE and isinstance(array, TracedNpArray):
                array._storage.check_writable()
            return self._run(known, real, target, lambda a, k: self._body(known, a, k))

    def attribute(self, array: Any, name: str) -> Any:
        """An attribute such as `T`, `real`, `imag`."""
        with self.inside():
            known = known_method(name)
            self._mark(known.name)
            real = _Real(lambda x: getattr(x, name), (array,), {}, {})
            return self._run(known, real, None, lambda a, k: self._body(known, a, k))

    def getitem(self, array: Any, key: Any) -> Any:
        """`array[key]`. A view at a position that depends on values remembers where it comes from."""
        with self.inside():
            known = known_method("__getitem__")
            self._mark("numpy.ndarray.__getitem__")
            key = self._key(key)
            real = _Real(lambda a, k: a[k], (array, key), {}, {})
            return self._run(known, real, None, lambda a, k: self._body(known, a, k))

    def setitem(self, array: TracedNpArray, key: Any, value: Any) -> None:
        """`array[key] = value`."""
        with self.inside():
            known = known_method("__setitem__")
            self._mark("numpy.ndarray.__setitem__")
            real = _Real(_setitem, (array, self._key(key), value), {}, {})
            self._run(known, real, array, lambda a, k: self._body(known, a, k))

    # The call itself

    def _run(self, known: Known, real: _Real, target: Any, rule: Callable[..., Any]) -> Any:
        """Run NumPy, then the rule on the torch side; wrap, or write into `target`."""
        traced: list[Any] = []
        targets = [] if target is None else [t for t in (target if isinstance(target, tuple) else (target,)) if t is not None]
        self._check_targets(targets, real)
        args, torch_args = self._split(real.args, traced)
        kwargs, torch_kwargs = self._split(real.kwargs, traced)
        extra = self._split(real.extra, [])[0]
        result = self.numpy(lambda: real.function(*args, **kwargs, **extra))
        same = self._same(result, real)
        if not traced and all(self.is_constant(t) for t in targets):
            return same if same is not None else self.constant(result, real)
        if known.name in SHAPE_ONLY or (known.rule is not None and known.rule.kind == "python"):
            return result
        tensors = self._tensors(known, rule, torch_args, torch_kwargs)
        if targets:
            self._write(targets, tensors)
            return None if result is None else same if same is not None else target
        self._floats = self._floating(known, traced, real)
        return same if same is not None else self._wrap(result, tensors, known)

    def _tensors(self, known: Known, rule: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What the rule makes of torch's side of the arguments."""
        self.recorder.current = known.name
        try:
            return rule(args, kwargs)
        except Refused as refused:
            self.fail(refused.name, f"{known.name}: {refused.message}", refused.hint)
        except TraceError:
            raise
        except Exception as problem:
            self._rule_failed(known, problem)
        finally:
            self.recorder.current = ""

    def numpy(self, run: Callable[[], Any]) -> Any:
        """Run NumPy itself, and note what it raises."""
        try:
            return run()
        except TraceError:
            raise
        except Exception as problem:
            if self.caught is None:
                frame = user_frame()
                self.caught = ((frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0), problem)
            raise

    def _body(self, known: Known, args: Any, kwargs: Any) -> Any:
        if known.rule is None:
            self._unmapped(known)
        if known.name.startswith("numpy.ndarray.") and args and isinstance(args[0], (numpy.ndarray, numpy.generic)):
            args = (as_tensor(args[0]), *args[1:])
        return known.rule.body(*args, **kwargs)

    def _ufunc_of(self, known: Known) -> Ufunc:
        if known.rule is None or not isinstance(known.rule.call, Ufunc):
            self._unmapped(known)
        return known.rule.call

    def _ufunc_rule(self, known: Known, method: str, args: Any, kwargs: Any, out: Any) -> Any:
        kwargs = {k: v for k, v in kwargs.items() if k not in ("order", "subok")}
        if method == "__call__":
            where = kwargs.pop("where", True)
            if known.rule is None:
                self._unmapped(known)
            pure = known.rule.call.compute if isinstance(known.rule.call, Ufunc) else known.rule.body
            if kwargs.get("signature") is not None or kwargs.get("sig") is not None:
                raise Refused("signature= is not supported", "use dtype=")
            result = pure(*args, **kwargs)
            if where is True:
                return result
            held = None if out is None else tuple(self.tensor(o) for o in out)
            return Ufunc.masked(known.rule.call, result, held[0] if held is not None and len(held) == 1 else held, where)
        return getattr(self._ufunc_of(known), method)(*args, **kwargs)

    # Splitting arguments into NumPy's and torch's side

    def split(self, x: Any) -> Any:
        """What NumPy gets for `x`."""
        return self._split(x, [])[0]

    def _split(self, x: Any, traced: list[Any]) -> tuple[Any, Any]:
        """What NumPy gets and what the rule gets; traced values that are no constants are added to `traced`."""
        kind = type(x)
        if kind in _ATOMS:
            return x, x
        if kind is TracedNpArray:
            if x._value is None:
                self.fail("opaque-call", "an array came back from code that the tracer cannot see", "split the node around that call")
            if self.is_constant(x):
                return x._value, x._value
            traced.append(x)
            return x._value, self.tensor(x)
        if kind is TracedScalar:
            traced.append(x)
            return x._value, x._tensor
        if kind is tuple or kind is list:
            pairs = [self._split(i, traced) for i in x]
            return kind(p[0] for p in pairs), kind(p[1] for p in pairs)
        if kind is dict:
            both = {k: self._split(v, traced) for k, v in x.items()}
            return {k: v[0] for k, v in both.items()}, {k: v[1] for k, v in both.items()}
        if kind is slice:
            parts = [self._split(i, traced) for i in (x.start, x.stop, x.step)]
            return slice(*(p[0] for p in parts)), slice(*(p[1] for p in parts))
        return self._split_other(x, traced)

    def _split_other(self, x: Any, traced: list[Any]) -> tuple[Any, Any]:
        if isinstance(x, torch.Tensor):
            if self.recorder.node(x) is None:
                return numpy.asarray(x.detach()), x
            traced.append(x)
            return x.detach().resolve_conj().resolve_neg().numpy(), x
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            pairs = [self._split(i, traced) for i in x]
            return type(x)(*(p[0] for p in pairs)), type(x)(*(p[1] for p in pairs))
        original = getattr(type(x), "_np2fx_original", None) if not isinstance(x, type) else None
        if isinstance(x, type) and "_np2fx_original" in vars(type(x)):
            original = x.__base__
            return original, original
        if original is not None:
            return x.original, x.original
        if isinstance(x, (types.FunctionType, types.MethodType, functools.partial)):
            return getattr(x, "_np2fx_twin_of", x), self._callback(x)
        if isinstance(x, numpy.ndarray) and type(x) is not numpy.ndarray and not isinstance(x, TracedNpArray):
            self.fail("opaque-call", f"a {type(x).__name__} is not a plain array", "convert it with np.asarray before the node")
        return x, x

    def _callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A user's function that a rule calls with tensors: it sees traced arrays."""

        @functools.wraps(function, updated=())
        def call(*args: Any, **kwargs: Any) -> Any:
            current, self.recorder.current = self.recorder.current, ""
            paused, self.paused = self.paused, False
            try:
                given = [self.adopt(a) if isinstance(a, torch.Tensor) else a for a in args]
                return self._split(function(*given, **kwargs), [])[1]
            finally:
                self.recorder.current, self.paused = current, paused

        return call

    def is_constant(self, x: Any) -> bool:
        """True for arrays that do not depend on the inputs, and for whatever is not traced."""
        if type(x) is TracedNpArray:
            return x._storage is not None and x._storage.value is None and x._tensor is None
        return type(x) is not TracedScalar

    def tensor(self, x: Any) -> torch.Tensor:
        """The present torch value of a traced array or scalar, or of a constant."""
        if type(x) is TracedScalar:
            return x._tensor
        if type(x) is not TracedNpArray:
            return x if isinstance(x, torch.Tensor) else as_tensor(x)
        storage = x._storage
        source = storage
        while source.base is not None:
            if source.base[0]._storage.version != source.base[1]:
                self.fail("aliasing", "a view at a computed position is read after its array was written to", "copy the view when it is made")
            source = source.base[0]._storage
        if x._tensor is None or x._version != storage.version:
            x._tensor, x._version = storage.read(x._value), storage.version
        return x._tensor

    def _key(self, key: Any) -> Any:
        """A list with traced parts is an index array to NumPy."""
        if isinstance(key, tuple):
            return tuple(map(self._key, key))
        return self._array_of_list(key) if isinstance(key, list) else key

    def _array_of_list(self, x: Any) -> Any:
        return self.call(numpy.array, (x,), {}) if holds_traced(x) else x

    def _check_weak(self, inputs: Any) -> None:
        """A scalar that may be Python's or NumPy's must not meet a dtype for which that makes a difference."""
        if any(type(x) is TracedScalar and x._weak for x in inputs):
            for x in inputs:
                dtype = getattr(x, "dtype", None)
                if dtype is not None and dtype not in (numpy.float64, numpy.complex128) and dtype.kind in "fc":
                    self.fail("numpy-scalar", "min or max gave a Python number or a NumPy scalar, which is not known here", "use np.minimum or np.maximum")

    # Wrapping results

    def _wrap(self, real: Any, made: Any, known: Known) -> Any:
        """NumPy's result together with the rule's."""
        if isinstance(real, (tuple, list)):
            if not isinstance(made, (tuple, list)) or len(made) != len(real):
                self.fail("mismatch", f"the rule of {known.name} returns {type(made).__name__}, NumPy {len(real)} values")
            parts = [self._wrap(r, m, known) for r, m in zip(real, made, strict=True)]
            return type(real)(*parts) if hasattr(real, "_fields") else type(real)(parts)
        if isinstance(real, (bool, int, float, complex)) and isinstance(made, torch.Tensor) and self.recorder.node(made) is not None:
            real = numpy.asarray(real)[()]
        if isinstance(real, numpy.generic):
            tensor = made if isinstance(made, torch.Tensor) else as_tensor(made)
            self._check_same(real, tensor, known)
            return real if self.recorder.node(tensor) is None else TracedScalar(real, tensor)
        if not isinstance(real, numpy.ndarray):
            return real
        tensor = made if isinstance(made, torch.Tensor) else as_tensor(made)
        self._check_same(real, tensor, known)
        if self.recorder.node(tensor) is None:
            return self.constant(real)
        return self.array(real, tensor)

    def _check_same(self, real: Any, tensor: torch.Tensor, known: Known) -> None:
        wanted = real.dtype.newbyteorder("=")
        if real.shape != tuple(tensor.shape) or wanted != to_numpy(tensor.dtype):
            got = f"{to_numpy(tensor.dtype)} of shape {tuple(tensor.shape)}"
            self.fail("mismatch", f"the rule of {known.name} gives {got}, NumPy {wanted} of shape {real.shape}")
        if self.diagnose and known.name not in ("numpy.empty", "numpy.empty_like"):
            from .compare import difference

            why = difference(real, tensor)
            if why is not None:
                self.fail("mismatch", f"the rule of {known.name} gives another value than NumPy: {why}")

    def array(self, real: numpy.ndarray[Any, Any], tensor: torch.Tensor) -> TracedNpArray:
        """A traced array; a view where the NumPy array is one."""
        owner = owner_of(real)
        storage = self.storages.get(id(owner))
        if storage is None:
            real = real if owner is real else real.copy(order="K")
            return TracedNpArray.make(real, self.new_storage(real, tensor, "fresh"), tensor)
        if self._floats is None:
            storage.materialise()
            return TracedNpArray.make(real, storage, tensor)
        floating = Storage(real, tensor, "fresh")
        floating.base = self._floats
        return TracedNpArray.make(real, floating, tensor)

    def _floating(self, known: Known, traced: list[Any], real: _Real) -> tuple[Any, int, Any] | None:
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

    def adopt(self, tensor: torch.Tensor) -> Any:
        """A recorded tensor (0-d: a scalar) as a traced array with a copy of its value."""
        with self.inside():
            real = tensor.detach().resolve_conj().resolve_neg().numpy().copy()
            return self.array(real, tensor) if real.ndim else TracedScalar(real[()], tensor)

    def constant(self, real: Any, call: _Real | None = None) -> Any:
        """Arrays that do not depend on the inputs, as traced arrays, so that writes into them are seen."""
        if isinstance(real, (tuple, list)) and any(isinstance(r, (numpy.ndarray, tuple, list)) for r in real):
            parts = [self.constant(r, call) for r in real]
            return type(real)(*parts) if hasattr(real, "_fields") else type(real)(parts)
        if type(real) is not numpy.ndarray:
            return real
        owner = owner_of(real)
        storage = self.storages.get(id(owner))
        if storage is None:
            storage = self.new_storage(owner, None, "outside" if call is not None and _shares(call, owner) else "fresh")
        return TracedNpArray.make(real, storage, None)

    def outside(self, real: numpy.ndarray[Any, Any]) -> TracedNpArray:
        """An array from before the trace, as a constant that must not be written to."""
        owner = owner_of(real)
        storage = self.storages.get(id(owner)) or self.new_storage(owner, None, "outside")
        return TracedNpArray.make(real, storage, None)

    def new_storage(self, owner: numpy.ndarray[Any, Any], value: Any, origin: str) -> Storage:
        """The storage of memory that was not known before."""
        storage = self.storages[id(owner)] = Storage(owner, value, origin)
        return storage

    def _same(self, result: Any, real: _Real) -> Any:
        """The traced array that NumPy handed back as it was, if it did (`np.asarray(x) is x`, `out=x`)."""
        if isinstance(result, numpy.ndarray):
            for x in (*real.args, *leaves(tuple(real.extra.values()))):
                if type(x) is TracedNpArray and x._value is result:
                    return x
        return None

    # Writing

    def _check_targets(self, targets: list[Any], real: _Real) -> None:
        if not targets:
            return
        traced = any(not self.is_constant(x) for x in leaves((real.args, real.kwargs)))
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

    def _write(self, targets: list[Any], made: Any) -> None:
        values = list(made) if isinstance(made, (tuple, list)) else [made]
        for target, value in zip(targets, values, strict=False):
            tensor = value if isinstance(value, torch.Tensor) else as_tensor(value)
            tensor = cast(tensor, to_torch(target.dtype))
            if tuple(tensor.shape) != target._value.shape:
                tensor = torch.broadcast_to(tensor, target._value.shape)
            self.write(target, tensor)

    def write(self, target: TracedNpArray, tensor: torch.Tensor) -> None:
        """`tensor` is the new value of `target`; NumPy has written its own already."""
        storage = target._storage
        if storage.base is not None:
            base, _, key = storage.base
            if key is None:
                self.fail("aliasing", "a write through a view of a view at a computed position", "write with one index: x[i, 1:] = y")
            new = self._body(known_method("__setitem__"), (self.tensor(base), self._split(key, [])[1], tensor), {})
            self.write(base, new)
            storage.base = (base, base._storage.version, key)
        storage.write(target._value, tensor)
        if storage.covers(target._value) or storage.base is not None:
            target._tensor, target._version = tensor, storage.version

    def _resize(self, array: TracedNpArray, *shape: Any, refcheck: bool = True) -> None:
        """`x.resize(...)`: the array gets memory of its own, as NumPy allows it where no other array sees it."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        if not self.is_constant(array):
            self.fail("mutation", "x.resize() changes an array of the graph in place", "x = np.resize(x, shape), or pad or slice")
        array._storage.check_writable()
        new = numpy.zeros(wanted, array.dtype)
        count = min(new.size, array._value.size)
        new.reshape(-1)[:count] = array._value.reshape(-1)[:count]
        self._rebind(array, new)

    def reshape_in_place(self, array: TracedNpArray, shape: Any) -> None:
        """`x.shape = ...`."""
        with self.inside():
            view = array._value.view()
            view.shape = shape
            tensor = None if self.is_constant(array) else torch.reshape(self.tensor(array), view.shape)
            array._value, array._tensor, array._version = view, tensor, array._storage.version
            array._reset(view)

    def _rebind(self, array: TracedNpArray, new: numpy.ndarray[Any, Any]) -> None:
        array._value, array._storage = new, self.new_storage(new, None, "fresh")
        numpy.ndarray.__setstate__(array, (1, new.shape, new.dtype, False, new.tobytes()))

    # torch's side (see Recorder.bridge)

    def arguments(self, args: Any, kwargs: Any) -> Any:
        """The arguments of a torch call of user code, with tensors for traced arrays."""
        with self.inside():
            return self._to_torch(tuple(args)), {k: self._to_torch(v) for k, v in kwargs.items()}

    def _to_torch(self, x: Any) -> Any:
        if type(x) is TracedNpArray:
            return self.to_torch(x)
        if type(x) is TracedScalar:
            return x._tensor
        if type(x) in (list, tuple):
            return type(x)(map(self._to_torch, x))
        return x

    def to_torch(self, x: Any) -> Any:
        """`torch.from_numpy`: the tensor shares the array's memory, so neither may be written to from now on."""
        if type(x) is not TracedNpArray:
            return x
        with self.inside():
            x._storage.lent = True
            if self.is_constant(x):
                return torch.from_numpy(x._value)
            tensor = self.tensor(x)
            self.recorder.shared.add(tensor.untyped_storage().data_ptr())
            return tensor

    def to_numpy(self, tensor: torch.Tensor) -> Any:
        """`Tensor.numpy()` of a recorded tensor."""
        with self.inside():
            real = tensor.detach().resolve_conj().resolve_neg().numpy().copy()
            made = self.array(real, tensor)
            made._storage.lent = True
            self.recorder.shared.add(tensor.untyped_storage().data_ptr())
            return made

    # Leaving, failing

    def leave(self, x: Any, name: str, what: str) -> Any:
        """NumPy's value of a constant. For anything else a TraceError: a value cannot leave the graph."""
        if type(x) is TracedNpArray and x._value is not None and self.is_constant(x):
            return x._value
        with self.inside():
            kind = f"{x._value.dtype} scalar" if type(x) is TracedScalar else f"{numpy.ndarray.dtype.__get__(x)} array"  # type: ignore[attr-defined]
            messages = {
                "data-dependent-branch": f"a branch ({what}) hangs on a {kind} that is only known when the graph runs",
                "python-value": f"a {kind} of the graph becomes a Python value ({what})",
                "opaque-call": f"a {kind} of the graph goes into {what}",
            }
            self.fail(name, messages[name], _WAY_OUT[name])

    def fixed(self, x: TracedNpArray, name: str) -> Any:
        """An attribute that tells of memory: only a constant has it."""
        if self.is_constant(x) or (name in ("base", "flags", "strides") and x._value is not None):
            return getattr(x._value, name)
        with self.inside():
            self.fail("opaque-call", f".{name} hands out the memory of an array of the graph", "stay with NumPy functions, or split the node")

    def _unmapped(self, known: Known) -> Any:
        if known.refusal is not None:
            self.fail(known.refusal.finding, f"{known.name}: {known.refusal.reason}", known.refusal.hint)
        self.fail("unmapped-function", f"{known.name} has no torch equivalent", "write it with other NumPy functions, or split the node around it")

    def _rule_failed(self, known: Known, problem: Exception) -> Any:
        message = f"{known.name} cannot be recorded: {type(problem).__name__}: {problem}".split("\n")[0]
        if isinstance(problem, TypeError) and known.rule is not None and "argument" in str(problem):
            self.fail("unsupported-argument", message, "leave the argument out, or do its work in another call", problem)
        if "not implemented for" in str(problem) or isinstance(problem, NotImplementedError):
            self.fail("unsupported-dtype", message, "cast to float32, float64 or int64 first", problem)
        self.fail("mismatch", message, "write it with other NumPy functions, or split the node around it", problem)

    def fail(self, name: str, message: str, hint: str = "", cause: BaseException | None = None) -> Any:
        """Raise TraceError at the user's line."""
        raise error(name, message, hint) from cause

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """The tracer is at work: NumPy is itself meanwhile. The first TraceError is remembered, also if the traced function catches it."""
        paused, self.paused = self.paused, True
        try:
            yield
        except TraceError as failure:
            if self.failure is None:
                self.failure = failure
            raise
        finally:
            self.paused = paused

    def _mark(self, name: str) -> None:
        frame = user_frame()
        if frame is not None:
            self.recorder.place = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


class _Real:
    """The call that NumPy gets: a function, its arguments as the user gave them, and `out` apart."""

    __slots__ = ("args", "extra", "function", "kwargs")

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, extra: Any) -> None:
        self.function, self.args, self.kwargs, self.extra = function, tuple(args), kwargs, extra


def _setitem(a: Any, key: Any, value: Any) -> None:
    a[key] = value


def _take_out(rule: Rule, args: Any, kwargs: Any) -> tuple[Any, Any, Any]:
    """`out` apart from the other arguments, wherever it stood."""
    position = _out_position(rule)
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    if position is not None and len(args) > position:
        out, args = args[position], (*args[:position], None, *args[position + 1 :])
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out, args, kwargs


@functools.lru_cache(maxsize=None)
def _out_position(rule: Rule) -> int | None:
    parameters = list(inspect.signature(rule.body).parameters.values())
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return names.index("out") if "out" in names else None


def _bound(rule: Rule, args: Any, kwargs: Any) -> dict[str, Any]:
    return inspect.signature(rule.body).bind(*args, **kwargs).arguments


def _shares(call: _Real, owner: numpy.ndarray[Any, Any]) -> bool:
    """True where `owner` is the memory of a plain array among the arguments."""
    return any(type(x) is numpy.ndarray and owner_of(x) is owner for x in leaves((call.args, call.kwargs)))
