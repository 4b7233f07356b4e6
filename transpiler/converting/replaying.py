"""Rules that were called with arguments of the same kinds before: the torch calls that they made are made again, and nothing is asked.

A rule looks at dtypes, shapes and options, asks NumPy whether it takes such arguments, and then makes a few torch calls. What it looks at
is the key here; the torch calls are watched once, by a function mode of torch's, and written out as a function. A rule that looks at more
(values, memory, strides) is not replayed, nor is one that torch's mode does not see through. Where a replayed call fails, the rule itself
is asked, and raises what it raises. Before they stand for the rule, the calls have to give the same as the rule for three calls' values.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import torch
from torch.overrides import TorchFunctionMode

from ..semantics.arrays import mirrors

_SEEN = 2
"""So often a rule is called with a key before its calls are watched."""
_MOST = 4096
_CONSTANTS = (int, float, bool, complex, str, torch.dtype, numpy.dtype, type(None), type(Ellipsis))


class _Unfit(Exception):
    """What a call does is more than torch calls on its arguments."""


def replayed(rule: Callable[..., Any], careful: bool = False) -> Callable[..., Any]:
    """The rule, for plain tensors and constants. What it gives and does is the same, but for the time it takes.

    careful   it looks at what tensors are marked with, as what gives views does"""
    known: dict[Any, Any] = {}
    tensor, modes, function = torch.Tensor, torch._C._len_torch_function_stack, types.FunctionType

    @functools.wraps(rule, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            parts: list[Any] = [tuple(kwargs), len(args)] if kwargs else []
            given = 0
            for a in (*args, *kwargs.values()) if kwargs else args:
                if type(a) is tensor:
                    given += 1
                    if a.ndim and not careful and a.is_contiguous():
                        parts.append(a.dtype)
                        parts.append(a.shape)
                        continue
                parts.append(_key(a))
            if given > 1 and len({id(a) for a in (*args, *kwargs.values()) if type(a) is tensor}) < given:
                parts.append(_places((*args, *kwargs.values())))
            key = tuple(parts)
            found = known.get(key)
        except (_Unfit, TypeError):
            return rule(*args, **kwargs)
        if mirrors or modes():
            return rule(*args, **kwargs)
        if type(found) is function:
            try:
                return found(*args, **kwargs)
            except Exception:
                return rule(*args, **kwargs)  # which raises NumPy's error
        result = rule(*args, **kwargs)
        if type(found) is _Trial:
            known[key] = found.after(args, kwargs, result)
        elif found != _NEVER and len(known) <= _MOST:
            known[key] = (found or 0) + 1 if (found or 0) < _SEEN else _learnt(rule, args, kwargs, result) or _NEVER
        return result

    return call


class _Trial:
    """Torch calls that have to give what the rule gives for other values too, before they stand for it."""

    def __init__(self, program: Callable[..., Any], left: int = 2) -> None:
        self.program, self.left = program, left

    def after(self, args: Any, kwargs: Any, result: Any) -> Any:
        """What is known after one more call: that they do not, that they may, or the calls themselves."""
        try:
            with torch.no_grad():
                is_same = _same(result, self.program(*args, **kwargs), list(_tensors((args, tuple(kwargs.values())))))
        except Exception:
            is_same = False
        return _NEVER if not is_same else self.program if self.left == 1 else _Trial(self.program, self.left - 1)


def _places(args: tuple[Any, ...]) -> tuple[int, ...]:
    """For each argument the first that is the same object."""
    first: dict[int, int] = {}
    return tuple([first.setdefault(id(a), i) for i, a in enumerate(args)])


def _learnt(rule: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> _Trial | None:
    """The rule's torch calls for such arguments, which give this result for these; None where they do not."""
    inner = list(_tensors([a for a in (*args, *kwargs.values()) if not isinstance(a, torch.Tensor)]))
    if inner and len({id(x) for x in _tensors((args, tuple(kwargs.values())))}) < len(list(_tensors((args, tuple(kwargs.values()))))):
        return None  # one of them in two places may stand for two
    args, kwargs = _copied(args, kwargs)  # the rule has run: what it writes into is written to once
    given = list(_tensors((args, tuple(kwargs.values()))))
    watch = _Watch(args, kwargs)
    with warnings.catch_warnings(record=True) as heard, torch.no_grad():
        warnings.simplefilter("always")
        try:
            with watch:
                watched = rule(*args, **kwargs)
            program = watch.program(watched)
            again = None if program is None else program(*args, **kwargs)
            is_same = program is not None and _same(watched, again, given) and _equal(result, watched)
        except Exception:  # what is watched may be refused, as in a trace
            return None
    return _Trial(program) if program is not None and is_same and not heard else None


def _copied(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with their tensors on copies of their memory: which lie, and share it, as these do."""
    memory: dict[int, Any] = {}
    made: dict[int, torch.Tensor] = {}

    def copy(a: Any) -> Any:
        if isinstance(a, (tuple, list)):
            return type(a)(map(copy, a))
        if not isinstance(a, torch.Tensor):
            return a
        if id(a) not in made:
            storage = a.untyped_storage()
            held = memory.setdefault(storage.data_ptr(), None) or storage.clone()
            memory[storage.data_ptr()] = held
            made[id(a)] = torch.empty(0, dtype=a.dtype).set_(held, a.storage_offset(), a.shape, a.stride())
            made[id(a)].__dict__.update(a.__dict__)
        return made[id(a)]

    return tuple(map(copy, args)), {name: copy(a) for name, a in kwargs.items()}


def _equal(a: Any, b: Any) -> bool:
    """Whether two results have the same values to the bit, wherever they lie."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return type(a) is type(b) and bool(a == b)
    return _same(a.detach().clone(), b.detach().clone(), [])


def _same(a: Any, b: Any, given: list[torch.Tensor]) -> bool:
    """Whether two results are the same to the bit, in the same places of memory where that is the arguments'."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(_same(x, y, given) for x, y in zip(a, b, strict=True))
    if not isinstance(a, torch.Tensor):
        return type(a) in (int, bool, str, type(None)) and a == b
    if a.dtype != b.dtype or a.shape != b.shape or a.stride() != b.stride() or vars(a) != vars(b):
        return False
    views = [any(x.untyped_storage().data_ptr() == g.untyped_storage().data_ptr() for g in given) for x in (a, b)]
    if any(views) and (not all(views) or a.data_ptr() != b.data_ptr()):
        return False
    return torch.equal(*(x.detach().reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8) for x in (a, b)))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for x in value:
            yield from _tensors(x)


_NEVER = -1


def is_marked(a: torch.Tensor) -> bool:
    """Whether something is noted of a tensor that what is made of it hangs on."""
    marks = a.__dict__
    return bool(marks) and not marks.keys() <= _HARMLESS


_HARMLESS = frozenset(("_np2fx_given", "_np2fx_zero_d"))


def _key(a: Any) -> Any:
    """What a rule may know of an argument. Raises _Unfit for what it may know more of."""
    kind = type(a)
    if kind is torch.Tensor:
        if is_marked(a) or (not a.ndim and hasattr(a, "_np2fx_zero_d")) or not a.is_cpu or a.is_neg() or a.is_conj():
            raise _Unfit
        return a.dtype, a.shape, a.stride()
    if kind in (tuple, list):
        return kind, tuple(map(_key, a))
    if kind is slice:
        return kind, _key(a.start), _key(a.stop), _key(a.step)
    if kind is float:
        return a.hex()
    if kind is complex:  # `==` does not tell the signs of its zeros
        return a.real.hex(), a.imag.hex()
    if kind in _CONSTANTS or isinstance(a, type):
        return kind, a
    raise _Unfit


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LOOKS = _words("""
    shape dtype ndim device layout is_cpu is_cuda is_meta itemsize size dim numel nelement is_floating_point is_complex is_signed
    is_contiguous stride element_size __len__ is_conj is_neg promote_types result_type can_cast broadcast_shapes
""")
"""What may be asked of a tensor: it is told by the key."""
_IN_PLACE = _words(
    "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__"
)
_NO = _words("""
    set_ resize_ detach_ share_memory_ requires_grad_ random_ uniform_ normal_ bernoulli rand randn randint randperm multinomial normal
    poisson empty empty_like empty_strided new_empty
""")
"""What gives something else each time, or does what is no value."""
_SHAPED_BY_VALUES = _words("""
    nonzero argwhere unique unique_consecutive _unique2 unique_dim masked_select bincount lstsq linalg_lstsq tensor_split one_hot
    combinations segment_reduce
""")
_SIZES = _words("""
    arange linspace logspace range full zeros ones eye reshape view expand repeat tile narrow roll flip permute unflatten unfold
    repeat_interleave split chunk diagonal select movedim transpose new_zeros new_ones new_full pad
""")
"""Calls in which a tensor that is no array but a number would be a size or a place."""


def _is_shaped_by_values(name: str, args: Any, kwargs: Any) -> bool:
    """Whether the shape of what a torch call gives may hang on values."""
    if name in _SHAPED_BY_VALUES or (name == "where" and len(args) + len(kwargs) < 3):
        return True
    if name == "__getitem__":
        key = args[1] if isinstance(args[1], tuple) else (args[1],)
        masks = any(isinstance(k, torch.Tensor) and k.dtype in (torch.bool, torch.uint8) for k in key)
        return masks or any(isinstance(k, (slice, list)) and any(True for _ in _tensors(_parts(k))) for k in key)
    first = 0 if name in _words("arange linspace logspace range full zeros ones eye") else 1
    return name in _SIZES and any(True for _ in _tensors((tuple(args[first:]), tuple(kwargs.values()))))


def _parts(key: Any) -> tuple[Any, ...]:
    return (key.start, key.stop, key.step) if isinstance(key, slice) else tuple(key)


class _Watch(TorchFunctionMode):
    """The torch calls of one call of a rule, as lines of a function."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__()
        self.names: dict[int, str] = {}
        self.kept: list[Any] = [args, kwargs]  # so that ids stay theirs
        self.held: dict[str, Any] = {}
        self.lines: list[str] = []
        self.inputs: set[int] = set()
        self.constants: dict[str, torch.Tensor] = {}
        self.written: set[int] = set()
        self.places = {x.untyped_storage().data_ptr() for x in _tensors((args, tuple(kwargs.values())))}
        self.unfit = False
        self.keywords = tuple(kwargs)
        for i, a in enumerate((*args, *kwargs.values())):
            self.note_input(a, f"a{i}")
        self.count = len(args)

    def note_input(self, a: Any, name: str) -> None:
        if isinstance(a, torch.Tensor):
            self.names.setdefault(id(a), name)
            self.inputs.add(id(a))
        elif isinstance(a, (tuple, list)):
            for i, x in enumerate(a):
                self.note_input(x, f"{name}[{i}]")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if not self.unfit:
            try:
                self.note(func, args, kwargs or {}, found)
            except _Unfit:
                self.unfit = True
        return found

    def note(self, func: Any, args: Any, kwargs: dict[str, Any], found: Any) -> None:
        name = getattr(func, "__name__", "")
        if name == "__get__":
            name = getattr(getattr(func, "__self__", None), "__name__", "")
            if name in ("T", "mT", "H", "mH", "real", "imag"):
                func = functools.partial(getattr, name=name)
        if name in _LOOKS and not isinstance(found, torch.Tensor):
            return
        if name in _NO or name.endswith("__set__") or "out" in kwargs:
            raise _Unfit
        written = name == "__setitem__" or (name.endswith("_") and not name.endswith("__")) or (name in _IN_PLACE)
        if written:
            place = args[0].untyped_storage().data_ptr()
            if place in self.places or id(args[0]) not in self.names:
                raise _Unfit  # an argument, or what is not known
            self.written.add(place)
        if name == "__setitem__" or name == "_assert_async":
            self.lines.append(f"{self.hold(func)}({self.given(args, kwargs)})")
            return
        if name == "to" and found is args[0] and id(found) not in self.names:
            return  # a constant that is where it should be
        if not _only_tensors(found) or _is_shaped_by_values(name, args, kwargs):
            raise _Unfit
        made = f"v{len(self.lines)}"
        self.lines.append(f"{made} = {self.spelt(func, name, args, kwargs)}")
        self.name(found, made)

    def spelt(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> str:
        if isinstance(func, functools.partial):
            return f"{self.value(args[0])}.{name}"
        return f"{self.hold(func)}({self.given(args, kwargs)})"

    def name(self, found: Any, made: str) -> None:
        if isinstance(found, torch.Tensor):
            self.names.setdefault(id(found), made)
            self.kept.append(found)
        else:
            self.kept.append(found)
            for i, x in enumerate(found):
                self.name(x, f"{made}[{i}]")

    def hold(self, value: Any) -> str:
        for name, held in self.held.items():
            if held is value:
                return name
        self.held[f"h{len(self.held)}"] = value
        return f"h{len(self.held) - 1}"

    def given(self, args: Any, kwargs: dict[str, Any]) -> str:
        return ", ".join([*map(self.value, args), *(f"{k}={self.value(v)}" for k, v in kwargs.items())])

    def value(self, x: Any) -> str:
        """An argument, or a result, as the text has it."""
        if isinstance(x, torch.Tensor):
            if type(x) is not torch.Tensor:
                raise _Unfit
            if id(x) not in self.names:  # a constant that the rule has made of none of its arguments
                name = self.hold(x)
                self.constants[name] = x
                return name
            return self.names[id(x)]
        if type(x) in (tuple, list, torch.Size):
            inner = ", ".join(map(self.value, x))
            return f"[{inner}]" if type(x) is list else f"({inner}{',' if len(x) == 1 else ''})"
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return f"{self.hold(type(x))}({', '.join(map(self.value, x))})"
        if type(x) in (int, bool, str, type(None)):
            return repr(x)
        if type(x) is slice:
            return f"{self.hold(slice)}({self.value(x.start)}, {self.value(x.stop)}, {self.value(x.step)})"
        if type(x) in _CONSTANTS or isinstance(x, (torch.device, torch.memory_format)):
            return self.hold(x)
        raise _Unfit

    def program(self, result: Any) -> Callable[..., Any] | None:
        """What was watched, as a function of the rule's arguments."""
        if self.unfit:
            return None
        try:
            marks = []
            for i, x in enumerate(result if isinstance(result, (tuple, list)) else (result,)):
                if isinstance(x, torch.Tensor) and id(x) not in self.inputs and vars(x):
                    place = "r" if result is x else f"r[{i}]"
                    if any(v is not True for v in vars(x).values()):
                        return None
                    marks += [f"{place}.{k} = True" for k in vars(x)]
            lines = [*self.lines, f"r = {self.value(result)}", *marks, "return r"]
        except _Unfit:
            return None
        # A constant that is written to, or leaves, is a new one in each call.
        touched = self.written | {x.untyped_storage().data_ptr() for x in _tensors(result)}
        new = [n for n, x in self.constants.items() if x.untyped_storage().data_ptr() in touched]
        parameters = [f"a{i}" for i in range(self.count)] + list(self.keywords)
        renamed = [f"a{self.count + i} = {k}" for i, k in enumerate(self.keywords)] + [f"{n} = {n}_.clone()" for n in new]
        text = f"def factory({', '.join(f'{n}_' if n in new else n for n in self.held)}):\n    def replay({', '.join(parameters)}):\n"
        text += "".join(f"        {line}\n" for line in (*renamed, *lines)) + "    return replay"
        space: dict[str, Any] = {}
        exec(text, space)  # the text is this module's own
        return space["factory"](*self.held.values())  # type: ignore[no-any-return]


def _only_tensors(found: Any) -> bool:
    if isinstance(found, (tuple, list)):
        return len(found) > 0 and all(map(_only_tensors, found))
    return type(found) is torch.Tensor
