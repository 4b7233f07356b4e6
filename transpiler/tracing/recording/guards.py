"""What a graph demands of its inputs and values, as calls that stand in the graph itself.

Both functions look at who runs them, so that the demand stays in whatever is made of the graph: Python raises, a TorchScript trace
gets a scripted function that raises, `torch.export` and `make_fx` get torch's own assertion operators (and guards on sizes). ONNX has
no assertions: `np2fx.export` has a form of its own for it, and torch's exporters to ONNX are refused.
"""

from __future__ import annotations

import functools
import operator
import sys
import types
from collections.abc import Callable
from typing import Any, List, NoReturn  # noqa: UP035 - TorchScript reads List

import torch
from torch import fx

from ..sizes.extents import Guard
from .layout import layout_of

FREE = -1
"""A size that may be any. A lower number is the name of a free size: at least 2, and the same wherever the name stands."""

SHAPE = "shape_of_"
"""So the names begin that tests of inputs give to shapes."""

Form = tuple[torch.dtype, tuple[int, ...], "tuple[int, ...] | None"]
"""The dtype of an input, its sizes, and its layout (see `layout_of`): None where it does not count, () for C order."""

Pairs = tuple[tuple[int, int], ...]
Relations = tuple[tuple[str, Any, Any], ...]


def check_inputs(inputs: Any, forms: tuple[Form, ...], one: Pairs, apart: Pairs, relations: Relations, what: str) -> None:
    """Raise RuntimeError, with `what` in its text, unless the inputs are what the graph holds for.

    one        pairs of inputs that are one tensor
    apart      pairs of inputs that do not share memory
    relations  what holds between sizes that are free (see extents)"""
    if torch.compiler.is_compiling() or _is_tracing() or type(inputs[0]) is not torch.Tensor or torch._C._len_torch_dispatch_stack():
        _check_elsewhere(inputs, forms, one, apart, relations, what)
        return
    known = _compiled.get(what)
    if known is None or known[0] != forms:
        known = _compiled[what] = forms, _test(forms)
    if not (one or apart or relations) and known[1](*inputs):
        return
    if differ(inputs, forms) or not hold(relations, inputs) or any(not is_one(inputs[a], inputs[b]) for a, b in one):
        _fail(what)
    if any(_share(inputs[a], inputs[b]) for a, b in apart):
        raise RuntimeError(f"two inputs share memory, and did not when the graph was traced ({what})")


def check(condition: Any, message: str) -> None:
    """Raise RuntimeError with `message` unless `condition`, a tensor of one bool, holds."""
    tracing = torch.jit.is_tracing()
    if (tracing or torch.compiler.is_compiling()) and _is_for_onnx():
        _refuse_onnx(message)
    if tracing:
        _scripted().condition(condition, message)
    else:
        torch._assert_async(condition, message)


for _function in (check_inputs, check):
    fx.node.has_side_effect(_function)


_is_tracing = torch._C._is_tracing
"""As `torch.jit.is_tracing`, without what that does for TorchScript's own sake."""


_compiled: dict[str, tuple[tuple[Form, ...], Callable[..., bool]]] = {}
"""What the graphs that run demand, in words, to its forms and their test."""


def _test(forms: tuple[Form, ...]) -> Callable[..., bool]:
    """The test of `differ` written out for these forms: whether tensors are sure to be of them. What is not sure, `differ` finds out."""
    names, dtypes = ([f"{kind}{i}" for i in range(len(forms))] for kind in ("x", "dtype"))
    held = {"Tensor": torch.Tensor, **{name: dtype for name, (dtype, _, _) in zip(dtypes, forms, strict=True)}}
    lines = (f"def factory({', '.join(held)}):", f"    def test({', '.join(names)}):",
             f"        return {' and '.join(tests_of(forms, names, 'Tensor', dtypes))}", "    return test")  # fmt: skip
    made: dict[str, Any] = {}
    exec("\n".join(lines), made)  # the text is this module's own
    return made["factory"](**held)  # type: ignore[no-any-return]


def tests_of(forms: Any, names: list[str], tensor: str, dtypes: list[str]) -> list[str]:
    """What makes sure that tensors are of these forms, as expressions; `tensor` and `dtypes` are how the class and the dtypes are spelt."""
    tests: list[str] = []
    named: dict[int, str] = {}
    for x, kind, (_, sizes, layout) in zip(names, dtypes, forms, strict=True):
        tests.append("False" if layout else f"type({x}) is {tensor} and {x}.dtype is {kind}")
        if layout == ():
            tests.append(f"{x}.is_contiguous()")
        if set(sizes) <= {FREE}:
            tests.append(f"{x}.ndim == {len(sizes)}")
        elif min(sizes) >= 0:
            tests.append(f"{x}.shape == {sizes}")
        else:
            shape = f"{SHAPE}{x}"
            tests.append(f"len({shape} := {x}.shape) == {len(sizes)}")
            for axis, wanted in enumerate(sizes):
                here = f"{shape}[{axis}]"
                if wanted >= 0:
                    tests.append(f"{here} == {wanted}")
                elif wanted < FREE:
                    tests.append(f"{here} == {named[wanted]}" if wanted in named else f"{here} > 1")
                    named.setdefault(wanted, here)
    return tests


def differ(inputs: Any, forms: tuple[Form, ...]) -> bool:
    """Whether some tensor is none of its form."""
    named: dict[int, Any] = {}
    for x, (dtype, sizes, layout) in zip(inputs, forms, strict=True):
        shape = x.shape
        if x.dtype is not dtype and x.dtype != dtype:
            return True
        if shape != sizes:
            if len(shape) != len(sizes):
                return True
            for size, wanted in zip(shape, sizes, strict=True):
                if wanted >= 0 and size != wanted:
                    return True
                if wanted < FREE and (size < 2 or named.setdefault(wanted, size) != size):
                    return True
        if layout is not None and not (layout_of(x) == layout if layout else x.is_contiguous()):
            return True
    return False


def hold(relations: Relations, inputs: Any) -> bool:
    """Whether relations between the sizes of inputs hold."""
    return not relations or all(Guard(*relation).holds([x.shape for x in inputs]) for relation in relations)


def _pinned(inputs: Any, forms: tuple[Form, ...], relations: Relations) -> tuple[Form, ...]:
    """The forms with the sizes of these inputs where something must hold between them: for what can only hold sizes against numbers."""
    tied = {place for relation in relations for place in Guard(*relation).inputs()}
    made = []
    for i, (x, (dtype, sizes, layout)) in enumerate(zip(inputs, forms, strict=True)):
        made.append((dtype, tuple(int(x.shape[axis]) if (i, axis) in tied else n for axis, n in enumerate(sizes)), layout))
    return tuple(made)


def _check_elsewhere(inputs: Any, forms: tuple[Form, ...], one: Pairs, apart: Pairs, relations: Relations, what: str) -> None:
    """`check_inputs` where something else than Python's own run of the graph is going on."""
    proxy = next((x for x in inputs if isinstance(x, fx.Proxy)), None)
    if proxy is not None:  # torch.fx traces the graph once more, as it does when one is unpickled
        proxy.tracer.create_proxy("call_function", check_inputs, (inputs, forms, one, apart, relations, what), {})
        return
    tracing, exporting = torch.jit.is_tracing(), torch.compiler.is_exporting()
    if tracing or exporting:
        if one or any(layout for _, _, layout in forms):
            raise RuntimeError(f"an exported graph cannot tell which inputs are one tensor, nor layouts other than C order: {what}")
        if tracing:
            if _is_for_onnx():
                _refuse_onnx(what)
            _check_scripted(inputs, _pinned(inputs, forms, relations), apart, what)
            return
    if differ(inputs, forms) or not hold(relations, inputs) or any(inputs[a] is not inputs[b] for a, b in one):
        _fail(what)
    if exporting:  # sizes are guards of the program
        for x, (dtype, sizes, _) in zip(inputs, forms, strict=True):
            torch.ops.aten._assert_tensor_metadata.default(x, None, None, dtype)
            for n, wanted in zip(x.shape, sizes, strict=True):
                if wanted < FREE:  # the exporter takes that for granted, and its program does not look: so it is asked of a tensor
                    torch._assert_async(torch.ge(torch.scalar_tensor(n, dtype=torch.int64), 2), f"a size is 0 or 1: {what}")
    elif not torch.compiler.is_compiling():
        _check_in_fx(inputs, _pinned(inputs, forms, relations))


def _check_in_fx(inputs: Any, forms: tuple[Form, ...]) -> None:
    """Where `make_fx` runs the graph: the demands as nodes of what it makes. A size that the graph asks for is a number there."""
    mode = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.PROXY)
    if mode is None:
        return
    tracer: Any = mode.tracer

    def call(function: Any, *args: Any) -> fx.Proxy:
        return tracer.create_proxy("call_function", function, args, {})  # type: ignore[no-any-return]

    for x, (dtype, sizes, layout) in zip(inputs, forms, strict=True):
        proxy = tracer.unwrap_proxy(x)
        wanted: list[Any] = []
        for axis, size in enumerate(sizes):
            free = size == FREE
            wanted.append(call(torch.ops.aten.sym_size.int, proxy, axis) if free else size if size >= 0 else int(x.shape[axis]))
        steps: list[Any] = [1] if wanted else []
        for size in wanted[:0:-1]:
            steps.insert(0, call(operator.mul, steps[0], size))
        call(torch.ops.aten._assert_tensor_metadata.default, proxy, wanted, steps if layout is not None else None, dtype)


def is_one(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors are the same elements of the same memory."""
    return a is b or a.is_set_to(b)


def _is_for_onnx() -> bool:
    """Whether torch writes an ONNX file. Dynamo takes it that `is_in_onnx_export` is never true, so the flag is read too."""
    exporter = sys.modules.get("torch.onnx._internal.exporter._flags")
    return torch.onnx.is_in_onnx_export() or (exporter is not None and exporter._is_onnx_exporting)


def _share(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.device.type == "meta" or not a.numel() or not b.numel():
        return False
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def _fail(what: str) -> NoReturn:
    raise RuntimeError(f"the graph holds for {what}; trace the function again for other inputs")


def _refuse_onnx(what: str) -> NoReturn:
    raise RuntimeError(f"torch.onnx.export would drop an assertion of this graph ({what}): use np2fx.export(graph, path, 'onnx', ...)")


# TorchScript


def _check_scripted(inputs: Any, forms: tuple[Form, ...], apart: Pairs, what: str) -> None:
    code = _scripted()
    named: dict[int, tuple[torch.Tensor, int]] = {}
    message = f"the graph holds for {what}"
    for x, (dtype, sizes, layout) in zip(inputs, forms, strict=True):
        code.form(x, dtype, list(sizes), layout is not None, message)
        for axis, size in enumerate(sizes):
            y, other = named.setdefault(size, (x, axis))
            if size < FREE and (y is not x or other != axis):
                code.alike(y, other, x, axis, message)
    for a, b in apart:
        code.apart(inputs[a], inputs[b], message)


@functools.cache
def _scripted() -> Any:
    """The functions below as TorchScript: a trace keeps calls of them, where it drops what Python raises."""
    return types.SimpleNamespace(**{f.__name__.strip("_"): torch.jit.script(f) for f in (_condition, _form, _alike, _apart)})


# Each gives something: what gives nothing cannot be called in a TorchScript trace.


def _condition(holds: torch.Tensor, message: str) -> torch.Tensor:
    if not bool(holds):
        raise RuntimeError(message)
    return holds


def _form(x: torch.Tensor, dtype: torch.dtype, sizes: List[int], in_order: bool, message: str) -> torch.Tensor:  # noqa: UP006
    if x.dtype != dtype or x.dim() != len(sizes) or (in_order and not x.is_contiguous()):
        raise RuntimeError(message)
    for i in range(len(sizes)):
        if (sizes[i] >= 0 and x.size(i) != sizes[i]) or (sizes[i] < -1 and x.size(i) < 2):
            raise RuntimeError(message)
    return x


def _alike(x: torch.Tensor, i: int, y: torch.Tensor, j: int, message: str) -> torch.Tensor:
    if x.size(i) != y.size(j):
        raise RuntimeError(message)
    return x


def _apart(x: torch.Tensor, y: torch.Tensor, message: str) -> torch.Tensor:
    if x.is_set_to(y):
        raise RuntimeError(message)
    return x
