"""Torch's functions, called by the traced function on the tensors that it holds."""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any

import torch

from ..arrays.tensor import is_shell
from ..recording.shells import PLAIN, mapped, memory_of, tensors_in
from ..recording.torchnames import GETTERS, METADATA, REFUSED, SIZES, refuse_random, refuse_values
from ..sizes.traced import pinned
from ..state import holds_traced, is_traced

if TYPE_CHECKING:
    from ..recording.recorder import Recorder

_OF_GRADIENTS = frozenset((
    "requires_grad", "grad", "grad_fn", "is_leaf", "retains_grad", "_grad", "_version", "output_nr",
    "requires_grad_", "retain_grad", "register_hook", "register_post_accumulate_grad_hook", "__hash__",
))  # fmt: skip
"""What the shell itself has: a gradient is that of a shell. (So is the object that is hashed.)"""

_CONVERTING = (torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor)


def user_call(recorder: Recorder, func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """What the traced function gets of a call of torch's."""
    shells = recorder.shells
    if name == "__get__":
        return _attribute(recorder, func, args)
    if name == "__set__":
        return _set_attribute(recorder, func, args)
    if func in _CONVERTING and len(args) == (2 if func is torch.Tensor.new_tensor else 1) and (holds_traced(args) or shells.holds(args)):
        return _converted(recorder, func, args, kwargs)
    args, kwargs = _adopted(recorder, args), _adopted(recorder, kwargs)
    if not (shells.holds(args) or shells.holds(kwargs)):
        return _of_constants(recorder, func, name, args, kwargs)
    if name in _OF_GRADIENTS:
        return func(*args, **kwargs)
    if name == "__deepcopy__":
        return _copied(recorder, *args)
    if name in REFUSED:
        shells.fail(*REFUSED[name])
    _check_settings(recorder)
    refuse_values(name)
    if name in METADATA or (name == "type" and len(args) == 1 and not kwargs):
        return _told(recorder, func, args, kwargs)
    if name == "numpy":
        return recorder.bridge.to_numpy(shells.opened(args[0]))
    if _passes(recorder, func, name, args, kwargs):
        return func(*args, **kwargs)  # what reaches the shells is recorded below
    if any(isinstance(x, (types.FunctionType, types.MethodType, functools.partial)) for x in (*args, *kwargs.values())):
        shells.fail("opaque-call", f"torch.{name} is given a function of Python's, which no graph holds",
                    "call the function itself, and choose with torch.where")  # fmt: skip
    target = recorder.target(name, args, kwargs)
    if target is not None and not is_shell(target):
        shells.take(target)
    return _recorded(recorder, func, name, args, kwargs, target)


def _recorded(recorder: Recorder, func: Any, name: str, args: Any, kwargs: Any, target: Any) -> Any:
    shells = recorder.shells
    real_args, real_kwargs = shells.opened(args), shells.opened(kwargs)
    held = [(x, x._version, memory_of(x)) for x in tensors_in((real_args, real_kwargs)) if not x.is_inference()]
    drawn = torch.get_rng_state()
    result = recorder.recorded(func, name, real_args, real_kwargs)
    if not torch.equal(drawn, torch.get_rng_state()):
        refuse_random(name, always=True)
    own = memory_of(target._real) if target is not None else 0
    if any(x._version != version and memory != own for x, version, memory in held):
        shells.fail("side-effect", f"torch.{name} writes into one of its arguments", "write with t[...] = value, or t.copy_(value)")
    shells.settle(target)
    return shells.closed(result)


def _of_constants(recorder: Recorder, func: Any, name: str, args: Any, kwargs: Any) -> Any:
    """A call without anything that the graph computes: a constant."""
    refuse_random(name)
    if any(isinstance(x, torch.Generator) for x in (*args, *kwargs.values())) and name != "manual_seed":
        refuse_random(name, always=True)
    result = func(*args, **kwargs)
    if isinstance(result, torch.Tensor) or (type(result) in (list, tuple) and result):
        recorder.shells.note_made(result, (args, kwargs))
    return result


def _adopted(recorder: Recorder, x: Any) -> Any:
    """`x` with tensors for NumPy's arrays, scalars and numbers of the trace."""
    if is_traced(x):
        return recorder.shells.tensor_of(x)
    return x if isinstance(x, torch.Tensor) else mapped(lambda part: _adopted(recorder, part), x)


def _told(recorder: Recorder, func: Any, args: Any, kwargs: Any) -> Any:
    """What a function tells of tensors without reading them: of those that the shells stand for."""
    shells = recorder.shells
    with recorder.bridge.inside():
        found = recorder.__torch_function__(func, (), shells.opened(args), shells.opened(kwargs))
        name = func.__self__.__name__ if func.__name__ == "__get__" else func.__name__
        if name in SIZES or name in ("shape", "nbytes", "is_same_size"):
            for x in tensors_in(shells.opened(args)):
                pinned(recorder.known_shape(x))
            recorder.bridge.told.add(tuple(found) if isinstance(found, tuple) else found)
    return found


def _attribute(recorder: Recorder, func: Any, args: Any) -> Any:
    shells, attribute = recorder.shells, func.__self__.__name__
    if not shells.holds(args) or attribute in _OF_GRADIENTS:
        return func(*args)
    if attribute in GETTERS:
        with recorder:
            return GETTERS[attribute](args[0])
    if attribute in REFUSED:
        shells.fail(*REFUSED[attribute])
    found = _told(recorder, func, args, {})
    if isinstance(found, torch.Tensor):
        shells.fail("opaque-call", f"Tensor.{attribute} is another tensor of the same memory", "keep that tensor itself")
    return found


def _set_attribute(recorder: Recorder, func: Any, args: Any) -> Any:
    attribute = func.__self__.__name__
    args = _adopted(recorder, args)
    if recorder.shells.holds(args) and attribute not in _OF_GRADIENTS:
        recorder.shells.fail("mutation", f"a tensor's {attribute} is set, with a value of the graph",
                              "copy the values: t.copy_(u), or bind the name to the other tensor")  # fmt: skip
    return func(*args)


def _passes(recorder: Recorder, func: Any, name: str, args: Any, kwargs: Any) -> bool:
    """True for calls that are recorded below: torch does more in them than their function says, or writes where its name does not tell."""
    if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)) or name in ("backward", "grad"):
        return True
    if name.startswith("_foreach_") or isinstance(kwargs.get("out"), (list, tuple)):
        return True
    if torch._C._functorch.peek_interpreter_stack() is not None or torch._C._len_torch_dispatch_stack():
        return True
    if torch._C._is_any_autocast_enabled():
        return True
    found = list(tensors_in((args, kwargs)))
    if torch.is_grad_enabled() and any(x.requires_grad for x in found):
        return True
    return any(not is_shell(x) and type(x) not in PLAIN for x in found)


def _copied(recorder: Recorder, shell: Any, memo: Any) -> Any:
    """`copy.deepcopy(t)`."""
    with recorder:
        made = torch.clone(shell)
    if isinstance(shell, torch.nn.Parameter):
        made._is_param = True
        made.requires_grad_(shell.requires_grad)
    memo[id(shell)] = made
    return made


def _check_settings(recorder: Recorder) -> None:
    """Refuse what torch computes under settings that the function itself has made: a graph runs under those of its caller."""
    if settings() != recorder.settings:
        recorder.shells.fail("side-effect", "the function changes torch's settings (its default dtype, the precision of products)",
                             "change them outside of the node, or cast: t.to(torch.float64)")  # fmt: skip


def settings() -> tuple[Any, ...]:
    """The settings of torch that results hang on."""
    return torch.get_default_dtype(), torch.get_float32_matmul_precision()


def _converted(recorder: Recorder, func: Any, args: Any, kwargs: Any) -> Any:
    """`torch.tensor` and its like, of what is a tensor already, or of lists with tensors in them."""
    before, data, dtype = args[:-1], _adopted(recorder, args[-1]), kwargs.get("dtype")
    shells = recorder.shells
    if isinstance(data, torch.Tensor):
        with recorder:
            wanted = dtype if dtype is not None else before[0].dtype if before else data.dtype
            cast = data if wanted == data.dtype else data.to(wanted)
            return torch.clone(cast) if func not in (torch.as_tensor, torch.asarray) and cast is data else cast
    sample = func(*shells.opened(before), _values(shells.opened(args[-1])), **kwargs)
    with recorder:
        made = _stacked(data, sample.dtype)
    if made.shape != sample.shape:
        shells.fail("mismatch", f"torch.{func.__name__} of a list of tensors", "use torch.stack")
    return made


def _values(data: Any) -> Any:
    """A list with NumPy's scalars and Python's numbers for those of the trace."""
    return data._value if is_traced(data) else mapped(_values, data)


def _stacked(data: Any, dtype: torch.dtype) -> Any:
    if isinstance(data, (list, tuple)):
        return torch.stack([_stacked(part, dtype) for part in data])
    if isinstance(data, torch.Tensor):
        return data.to(dtype)
    return torch.tensor(data, dtype=dtype)
