"""Calls of a traced graph that are as its sample was: one compiled guard looks at the arguments, and the bare graph runs.

The guard is written out for the arguments that were traced: plain tensors in C order of these dtypes and shapes, no two of them one object,
Python numbers and text of these values. What it does not let in goes the long way, which finds out more, and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules import module as nn_module

from .surroundings.structure import Fixed, Leaf, Node, leaf_order, rebuild

if TYPE_CHECKING:
    from .module import Face, TracedModule

MISSED: Any = object()
"""What a guard gives that does not let a call in."""


def fast_call(module: TracedModule) -> tuple[Callable[..., Any] | None, set[Any]]:
    """A function of the module and the arguments of a call, which gives the graph's result or MISSED; None where a graph has none.
    And the set of the shapes that it lets in (see `shapes_key`), to be filled with those for which the graph is known to hold."""
    try:
        guard = _Guard(module)
        return guard.made(), guard.held["_shapes"]
    except _NoGuard:
        return None, set()


def shapes_key(shapes: tuple[Any, ...]) -> Any:
    """The shapes of a call's arrays, as the guard looks them up."""
    return tuple(shapes[0]) if len(shapes) == 1 else tuple(map(tuple, shapes))


class _NoGuard(Exception):
    """What was traced cannot be told by a few quick tests."""


_STATE = ("_modes", "_dispatching", "_tracing")
"""Nothing may watch: what does sees the demands of the graph as well."""


class _Guard:
    def __init__(self, module: TracedModule) -> None:
        self.module, self.face = module, module.face
        face: Face = module.face
        parameters = face.signature.parameters
        if face.mutated or face.compared or face.parted or face.declared or face.firsts != list(range(len(face.names))) or not face.firsts:
            raise _NoGuard
        if not isinstance(face.inputs, Node) or tuple(face.inputs.keys) != tuple(parameters) or any(face.traced[1]):
            raise _NoGuard
        hooks = [n for n in vars(nn_module) if n.startswith("_global_") and n.endswith("_hooks")]
        self.held: dict[str, Any] = {
            "_Tensor": torch.Tensor, "_missed": MISSED, "_shapes": set(), "_rebuild": rebuild, "_outputs": face.outputs,
            "_bare": module.without_demands(True), "_forward": type(module).forward, "_modes": torch._C._len_torch_function_stack,
            "_dispatching": torch._C._len_torch_dispatch_stack, "_tracing": torch._C._is_tracing,
            **{f"_hooks{i}": getattr(nn_module, n) for i, n in enumerate(hooks)},
        }  # fmt: skip
        self.tests = [f"not {n}()" for n in _STATE] + [f"not {n}" for n in self.held if n.startswith("_hooks")]
        own = [n for n in vars(module) if n.startswith("_") and n.endswith("_hooks") and "forward" in n]
        self.tests += [f"not _module.{n}" for n in own]
        self.tests.append("_module.__class__.forward is _forward")  # not compiled anew since
        self.leaves: dict[int, str] = {}
        for name, part in zip(parameters, face.inputs.parts, strict=True):
            self.argument(name, part)
        names = [self.leaves[i] for i in range(len(face.names))]
        self.tests.append(f"{_tuple([f'{n}.shape' for n in names])} in _shapes")
        self.tests += [f"{a} is not {b}" for i, a in enumerate(names) for b in names[:i]]

    def hold(self, value: Any) -> str:
        name = f"_held{len(self.held)}"
        self.held[name] = value
        return name

    def argument(self, name: str, part: Any) -> None:
        if isinstance(part, Leaf):
            dtype = self.hold(self.face.forms[part.index][0])
            self.tests.append(f"type({name}) is _Tensor and {name}.dtype is {dtype} and {name}.is_contiguous()")
            self.leaves[part.index] = name
        elif isinstance(part, Node) and part.kind in (list, tuple) and leaf_order(part):
            self.tests.append(f"type({name}) is {self.hold(part.kind)} and len({name}) == {len(part.parts)}")
            for i, p in enumerate(part.parts):
                self.argument(f"{name}[{i}]", p)
        elif isinstance(part, Fixed) and (part.value is None or type(part.value) is bool):
            self.tests.append(f"{name} is {part.value}")
        elif isinstance(part, Fixed) and _is_told_by_value(part.value):
            self.tests.append(f"type({name}) is {self.hold(type(part.value))} and {name} == {self.hold(part.value)}")
        else:
            raise _NoGuard

    def made(self) -> Callable[..., Any]:
        parameters = list(self.face.signature.parameters.values())
        told: list[str] = []
        for p in parameters:
            if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
                raise _NoGuard
            if p.kind is p.KEYWORD_ONLY and "*" not in told:
                told.append("*")
            told.append(p.name if p.default is p.empty else f"{p.name}={self.hold(p.default)}")
        if {p.name for p in parameters} & {*self.held, "_module"}:
            raise _NoGuard
        made: dict[str, Any] = {}
        exec("\n".join(self.text(told)), made)  # the text is this module's own
        return made["factory"](**self.held)  # type: ignore[no-any-return]

    def text(self, parameters: list[str]) -> Iterator[str]:
        given = ", ".join(self.leaves[i] for i in range(len(self.leaves)))
        yield f"def factory({', '.join(self.held)}):"
        yield f"    def call(_module, /, {', '.join(parameters)}):"
        yield f"        if not ({' and '.join(self.tests)}):"
        yield "            return _missed"
        if self.face.outputs is None:
            yield f"        return _bare(_module, {given})"
        else:
            yield f"        return _rebuild(_outputs, _bare(_module, {given}).__getitem__)"
        yield "    return call"


def _is_told_by_value(value: Any) -> bool:
    """Whether a value is told by its type and `==`."""
    return type(value) in (int, str) or (type(value) is float and value == value and value != 0)


def _tuple(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
