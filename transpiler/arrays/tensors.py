"""The border of a function rewritten as torch: arrays in, arrays out, though inside there are only tensors.

`@np2fx.boundary(...)` stands above every function that `np2fx rewrite` has rewritten as torch, so that its callers need not change: given
NumPy arrays it returns NumPy arrays, given tensors it returns tensors. Called from another one it does nothing.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch

from ..pipeline.spec import ScalarSpec, SpecError, TensorSpec, parse
from ..semantics.arrays import rearranged
from ..semantics.dtypes import to_torch
from ..semantics.table import Refused
from ..source.findings.finding import ConversionError, make_finding
from ..support.callables import is_users_code
from ..support.errors import numpys
from ..support.passage import Passage, collect, keep, release
from .signed import signed
from .world import inside

F = TypeVar("F", bound=Callable[..., Any])


def boundary(
    numpy: bool = True,
    floating: tuple[str, ...] = (),
    arrays: tuple[str, ...] = (),
    numbers: tuple[str, ...] = (),
    takes: dict[str, str] | None = None,
    rules: tuple[str, ...] = (),
    keeps: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Decorates a rewritten function. What its rewriting took for granted is checked when it is called: TypeError where it does not hold.

    numpy     arrays become tensors on the way in and arrays again on the way out
    floating  parameters taken for float32 or float64 arrays, all of one dtype
    arrays    parameters taken for arrays
    numbers   parameters taken for Python numbers
    takes     parameters whose dtype and rank the rewriting knows, as specs ("float32[_, _]", or "int" for a Python int); those that
              `@np2fx.node` declares are added
    rules     modules with rules of the project's own that the rewritten text rests on
    keeps     attributes of arguments that the function sets ("self.last"): what it leaves there are arrays when it returns"""
    expected = {n: parse(t) for n, t in (takes or {}).items()}

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        defaults = {n: p.default for n, p in signature.parameters.items()}

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if rules:
                from ..support.own_rules import use_rules  # at the first call: the module may import the one that this function is in

                use_rules(*rules)
            outside = not inside.get()
            with _placed() if outside else contextlib.nullcontext():
                return entered(outside, args, kwargs)

        def entered(outside: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            passage = Passage(arrays=numpy and outside and not _holds_tensor((args, kwargs)), inside=not outside)
            token, laid = inside.set(True), rearranged.set(True)
            collecting = collect() if passage.arrays else None
            try:
                if outside:
                    args, kwargs = passage.inward(args), {k: passage.inward(v) for k, v in kwargs.items()}
                declared = {n: s for n, s in getattr(made, "__np2fx_spec__", {}).items() if isinstance(s, TensorSpec)}
                if floating or arrays or numbers or expected or declared or keeps:
                    given = signature.bind(*args, **kwargs).arguments
                    arguments = {n: v for n, v in given.items() if v is not defaults.get(n, _ABSENT)}
                    _Check(function, arguments).all(floating, arrays, numbers, {**declared, **expected})
                    keep(given, keeps)
                passage.owner, passage.around = function.__qualname__, None if keeps else _step
                with numpys() if outside else contextlib.nullcontext():
                    found = function(*args, **kwargs)
            finally:
                rearranged.reset(laid)
                inside.reset(token)
                release(passage, collecting)
                passage.settle()
            return passage.finished(found)

        made = signed(function, call)
        made.__np2fx_rewritten__ = True
        return made  # type: ignore[no-any-return]

    return decorate


@contextlib.contextmanager
def _step() -> Iterator[None]:
    """Around a step of a generator that a rewritten function has returned."""
    token, laid = inside.set(True), rearranged.set(True)
    try:
        with numpys(), _placed():
            yield
    finally:
        rearranged.reset(laid)
        inside.reset(token)


@contextlib.contextmanager
def _placed() -> Iterator[None]:
    """A refusal of run time is a ConversionError, with the line of the user's code that caused it."""
    try:
        yield
    except Refused as refused:
        path, line, at = "", 0, refused.__traceback__
        while at is not None:
            if is_users_code(at.tb_frame.f_code, at.tb_frame.f_globals):
                path, line = at.tb_frame.f_code.co_filename, at.tb_lineno
            at = at.tb_next
        found = make_finding(refused.name, path=path, line=line, message=refused.message, hint=refused.hint, severity="error")
        raise ConversionError([found]) from refused


class _Check:
    """Holds the arguments of one call against what the rewriting took for granted."""

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        self.name, self.arguments = function.__qualname__, arguments

    def all(self, floating: tuple[str, ...], arrays: tuple[str, ...], numbers: tuple[str, ...], takes: dict[str, Any]) -> None:
        for n in (*floating, *arrays):
            if not isinstance(self.arguments.get(n, _ABSENT), torch.Tensor) and n in self.arguments:
                raise self.error(n, "an array", assumed=True)
        given = {n: self.arguments[n].dtype for n in floating if n in self.arguments}
        for n, dtype in given.items():
            if dtype not in (torch.float32, torch.float64):
                raise self.error(n, "a float32 or float64 array", assumed=True)
        if len(set(given.values())) > 1:
            raise TypeError(
                f"{self.name} was rewritten for arrays of one float dtype, but got {given}: {_way_out(next(iter(given)), 'float32', True)}"
            )
        for n in numbers:
            value = self.arguments.get(n, 0)
            if type(value) not in (bool, int, float):  # of other classes NumPy makes arrays, which promote
                raise self.error(n, "a Python number")
        for n, spec in takes.items():
            value = self.arguments.get(n)
            if isinstance(spec, TensorSpec) and n in self.arguments and not _fits(value, spec):
                raise self.error(n, f"{spec}")
            if isinstance(spec, ScalarSpec) and spec.kind == "int" and n in self.arguments and not _is_int(value):
                raise self.error(n, "a Python int")

    def error(self, parameter: str, wanted: str, assumed: bool = False) -> TypeError:
        value = self.arguments[parameter]
        got = (
            f"a {str(value.dtype).removeprefix('torch.')} array of rank {value.ndim}"
            if isinstance(value, torch.Tensor)
            else f"a {type(value).__name__}"
        )
        derived = isinstance(value, (int, float)) and type(value) not in (bool, int, float)
        way_out = _way_out(parameter, _spec_of(value), assumed, derived)
        return TypeError(f"{self.name} was rewritten for {wanted} in {parameter}, but got {got}: {way_out}")


_ABSENT = object()


def _way_out(parameter: str, spec: Any, assumed: bool, derived: bool = False) -> str:
    """What to do about an argument that the function was not rewritten for. `--exact` takes back what was `assumed`, not what was said."""
    if derived:
        return f"NumPy makes an array of it, whose dtype counts: pass a plain int or float, such as int({parameter})"
    exact = "rewrite with --exact, which takes whatever comes" if spec is None else "or rewrite with --exact"
    if spec is None:
        return exact if assumed else "pass what it was rewritten for, or take the annotation or the spec away and rewrite again"
    told = repr(spec).replace("'", '"')
    declare = f"declare what it takes, such as @np2fx.node({parameter}={told}), and rewrite again"
    return f"{declare}, {exact}" if assumed else declare


def _spec_of(value: Any) -> Any:
    """The spec that a value fits, as `@np2fx.node` takes it; None where there is none, or a long one."""
    if isinstance(value, torch.Tensor):
        text = f"{str(value.dtype).removeprefix('torch.')}[{', '.join('_' * value.ndim)}]"
    elif type(value) in (list, tuple, dict) and 0 < len(value) <= 4:
        parts = [_spec_of(v) for v in (value.values() if isinstance(value, dict) else value)]
        if None in parts or (isinstance(value, dict) and not all(type(k) is str for k in value)):
            return None
        return dict(zip(value, parts, strict=True)) if isinstance(value, dict) else type(value)(parts)
    else:
        text = type(value).__name__
    try:
        parse(text)
    except SpecError:
        return None
    return text


def _is_int(value: Any) -> bool:
    return type(value) is int


def _fits(value: Any, spec: TensorSpec) -> bool:
    """dtype and rank are the spec's; sizes are the caller's."""
    if not isinstance(value, torch.Tensor) or value.dtype != to_torch(spec.dtype):
        return False
    return spec.rank is None or value.ndim == spec.rank


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return True
    if isinstance(value, dict):
        return any(map(_holds_tensor, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_holds_tensor, value))
