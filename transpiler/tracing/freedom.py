"""For which inputs a graph holds beside its samples: the sizes that are free, and the demands that stand in the graph for all others.

What a trace does hangs on sizes only where somebody asks for one. What the traced function is told is noted; where nothing was told and
no rule asked, all sizes are free. Else the function is traced again on other sizes: those are free with which it is told the same and has
the same graph. Sizes that were only changed together must be the same in a call, and at least 2, as 0 and 1 are special in NumPy.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy
import torch

from .control.risks import drop_safe_picks
from .recording.compare import compare_graphs
from .recording.guards import FREE, Form, check, check_inputs
from .recording.layout import layout_of
from .recording.recorder import LAYOUT
from .sizes import extents
from .sizes.extents import Guard
from .surroundings.structure import rebuild

if TYPE_CHECKING:
    from .module import Face, TracedModule

Dimension = tuple[int, int]
"""The number of an array and one of its axes."""

_MOST_GROUPS = 6
"""Of more groups of sizes it is not found out which of them are free alone."""

_REACH = 40
"""So far from a sample's size others are tried."""

_MOST_ELEMENTS = 1 << 22
"""Nor for samples of many more elements."""

_MOST_AXES = 64
"""NumPy has no more: none can be added to such an array."""

_LARGE = 200
"""Nor for graphs of so many nodes: each trace of them takes its time."""


def settle(made: TracedModule, leaves: list[Any], bound: inspect.BoundArguments, prove: bool) -> None:
    """Put into a graph what it demands of its inputs. With `prove` it is found out what it need not demand."""
    face: Face = made.face
    search = _Search(made, leaves, bound)
    free = search.free() if prove else {}
    layouts = [layout_of(x) or () if LAYOUT in face.told else None for x in leaves]
    if prove and LAYOUT in face.told and search.takes_layouts():
        layouts = [None] * len(leaves)
    forms = []
    for i, x in enumerate(leaves):
        sizes = tuple(free.get((face.firsts[i], axis), size) for axis, size in enumerate(x.shape))
        forms.append((_torch_dtype(face, i), sizes, layouts[i]))
    face.forms = tuple(forms)
    face.relations = tuple([(g.relation, g.left, g.right) for g in face.guards if not _is_implied(g, face.forms)])
    guard(made)


def _is_implied(guard: Guard, forms: tuple[Form, ...]) -> bool:
    """Whether what was decided by sizes would be decided so for all inputs of these forms."""

    def of(x: Any) -> Any:
        """An extent in terms of the free sizes: by how much they are more than 2."""
        if not isinstance(x, tuple):
            return x
        if x[0] == "in":
            size = forms[x[1]][1][x[2]]
            return size if size >= 0 else x if size == FREE else extents.add(2, ("in", size, 0))
        if x[0] == "sum":
            total: Any = x[1]
            for part, factor in x[2]:
                total = extents.add(total, of(part), factor)
            return total
        if x[0] == "window":
            return extents.window(of(x[1]), slice(*x[2:]))
        return _MADE[x[0]](*map(of, x[1:]))

    return extents.compare(guard.relation, of(guard.left), of(guard.right)) is True


_MADE: dict[str, Any] = {
    "mul": extents.mul, "floordiv": extents.floordiv, "mod": extents.mod, "pow": extents.power, "max": extents.largest,
    "min": extents.smallest, "joined": extents.broadcast,
}  # fmt: skip


def _torch_dtype(face: Face, i: int) -> torch.dtype:
    from ..semantics.dtypes import to_torch

    return to_torch(face.kinds[i][0])


def guard(module: TracedModule) -> None:
    """Write the demands into the graph: those on inputs before all else, those on values in a form that exports keep."""
    face: Face = module.face
    graph = module.graph
    for node in graph.nodes:
        if node.target is torch._assert_async:
            node.target = check
    inputs = [n for n in graph.nodes if n.op == "placeholder"]
    drop_safe_picks(graph, {n: form[1] for n, form in zip(inputs, face.forms, strict=True)} if len(inputs) == len(face.forms) else {})
    if inputs:
        one = tuple((first, i) for i, first in enumerate(face.firsts) if first != i)
        with graph.inserting_after(inputs[-1]):
            graph.call_function(check_inputs, (tuple(inputs), face.forms, one, _apart(face), face.relations, told(face)))
    module.recompile()


def _apart(face: Face) -> tuple[tuple[int, int], ...]:
    """Pairs of inputs that must not be one: of which one is written to, or which the function has compared by `is`."""
    several = [i for i, first in enumerate(face.firsts) if first == i]
    written = {(min(i, j), max(i, j)) for i in face.mutated for j in several if i != j}
    return tuple(sorted(written | face.parted))


def told(face: Face) -> str:
    """What a graph holds for, as specs: `x: float64[5, a], y: float64[a]`."""
    forms = [f"{name}: {form_told(form)}" for name, form in zip(face.names, face.forms, strict=True)]
    return ", ".join([*forms, *(Guard(*relation).told(face.names) for relation in face.relations)])


def form_told(form: Form) -> str:
    dtype, sizes, layout = form
    text = f"{str(dtype).removeprefix('torch.')}[{', '.join(map(_size_told, sizes))}]"
    return text if layout is None else f"{text} in C order" if not layout else f"{text} laid out as when it was traced"


def _size_told(size: int) -> str:
    return str(size) if size >= 0 else "_" if size == FREE else name_of(size)


def name_of(size: int) -> str:
    """The name of a free size: a, b, ..., z, a1, ..."""
    number, letter = divmod(FREE - 1 - size, 26)
    return chr(ord("a") + letter) + (str(number) if number else "")


class _Search:
    """The search for the free sizes of one graph."""

    def __init__(self, made: TracedModule, leaves: list[Any], bound: inspect.BoundArguments) -> None:
        self.made, self.leaves, self.bound = made, leaves, bound
        self.face: Face = made.face
        self.sizes: dict[Dimension, int] = {
            (i, axis): n for i, x in enumerate(leaves) if self.face.firsts[i] == i for axis, n in enumerate(x.shape)
        }
        self.used = {*self.sizes.values(), 0, 1, *(n for n in self.face.told if isinstance(n, int))}
        self.used.update(n for t in self.face.told if isinstance(t, tuple) for n in t if isinstance(n, int))

    def free(self) -> dict[Dimension, int]:
        """The free sizes, each with what `check_inputs` knows it by."""
        if not self.face.told - {LAYOUT} and not self.face.guards:
            return dict.fromkeys(self.sizes, FREE)
        some = {d: n for d, n in self.sizes.items() if n > 1}
        if not some:
            return {}
        groups = [[d for d, m in some.items() if m == n] for n in sorted(set(some.values()))]
        for found in [[[d] for d in some], groups] if len(groups) < len(some) else [groups]:
            if self.holds(found):
                return _named(found)
        if len(groups) > _MOST_GROUPS or self.is_large:
            return {}
        return _named(self.largest(groups))

    def largest(self, groups: list[list[Dimension]]) -> list[list[Dimension]]:
        """Those groups, or single sizes of them, that are free, alone and all together."""
        found: list[list[Dimension]] = []
        for group in groups:
            if len(groups) > 1 and self.holds([group]):
                found.append(group)
            elif 1 < len(group) <= _MOST_GROUPS:
                found += [[d] for d in group if self.holds([[d]])]
        return found if len(found) < 2 or self.holds(found) else []

    def holds(self, groups: list[list[Dimension]]) -> bool:
        """Whether the function has the same graph where each of these groups has a size of its own, a larger one and another."""
        found = [self.others(groups, larger) for larger in (True, False)]
        return all(leaves is not None and self.same(leaves) for leaves in found)

    def others(self, groups: list[list[Dimension]], larger: bool) -> list[Any] | None:
        """The samples with other sizes, which are all new, and for which holds what was decided by sizes; None where there are none."""
        taken = set(self.used)
        wanted = dict(self.sizes)
        for group in groups:
            old = self.sizes[group[0]]
            up, down = range(old + 1, old + _REACH), range(old - 1, 2, -1)
            near = len(groups) + 1  # arrays of many dimensions would be large
            for size in up if larger else [*down, *reversed(up[:near]), *up[near:]]:
                if size not in taken and self.decided({**wanted, **dict.fromkeys(group, size)}):
                    break
            else:
                return None
            taken.add(size)
            wanted.update(dict.fromkeys(group, size))
        if any(math.prod(wanted[i, axis] for axis in range(x.ndim)) > 4 * math.prod(x.shape) + _MOST_ELEMENTS for i, x in self.firsts()):
            return None
        return self.shared(lambda i, x: resized(x, tuple(wanted[i, axis] for axis in range(x.ndim))))

    def decided(self, sizes: dict[Dimension, int]) -> bool:
        """Whether what was decided by sizes would be decided so for others."""
        if not self.face.guards:
            return True
        shapes = [[sizes[self.face.firsts[i], axis] for axis in range(x.ndim)] for i, x in enumerate(self.leaves)]
        return all(guard.holds(shapes) for guard in self.face.guards)

    def shared(self, change: Any) -> list[Any]:
        """The samples, changed. What is one array stays one."""
        made = {i: change(i, x) for i, x in self.firsts()}
        return [made[first] for first in self.face.firsts]

    def firsts(self) -> list[tuple[int, Any]]:
        """The samples, each array once, with their numbers."""
        return [(i, x) for i, x in enumerate(self.leaves) if self.face.firsts[i] == i]

    @property
    def is_large(self) -> bool:
        return len(self.made.graph.nodes) > _LARGE

    def takes_layouts(self) -> bool:
        """Whether the graph is the same for arrays in Fortran order, and for such that are parts of larger ones."""
        if self.is_large or not 0 < max((x.ndim for x in self.leaves), default=0) < _MOST_AXES:
            return False
        return all(self.same(self.shared(lambda i, x, f=f: f(x))) for f in (_turned, _apart_in_memory))

    def same(self, leaves: list[Any]) -> bool:
        """Whether the function is told the same and has the same graph for other samples."""
        from .entry import retrace

        arguments = rebuild(self.face.inputs, leaves.__getitem__)
        with _quiet():
            try:
                other = retrace(self.face, self.face.inputs, leaves, arguments)
            except Exception:  # NumPy's own, or a refusal
                return False
        if set(other.face.guards) != set(self.face.guards):
            return False
        return _answers(other.face) == _answers(self.face) and compare_graphs(self.made, other) is None


def _answers(face: Face) -> set[Any]:
    """What the function was told of sizes, but for what was decided by them: the graph demands that in itself."""
    return {t for t in face.told if not (isinstance(t, tuple) and t and isinstance(t[0], Guard))}


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def _named(groups: list[list[Dimension]]) -> dict[Dimension, int]:
    return {d: FREE - 1 - number for number, group in enumerate(groups) for d in group}


def resized(x: Any, shape: tuple[int, ...]) -> Any:
    """An array of another shape of values that are as plausible as those of `x`: its last ones are repeated (what is sorted stays so),
    and the new part of a square matrix is that of the identity (what has an inverse keeps one)."""
    if tuple(x.shape) == shape or not x.ndim:
        return x
    array = x.detach().cpu().numpy() if isinstance(x, torch.Tensor) else x
    more = [(0, max(n - old, 0)) for n, old in zip(shape, array.shape, strict=True)]
    grown = numpy.pad(array, more, mode="edge" if array.size else "constant")
    made = grown[tuple(slice(n) for n in shape)].copy()
    if array.ndim > 1 and array.shape[-1] == array.shape[-2] and shape[-1] == shape[-2] and array.dtype.kind in "fc":
        old, new = array.shape[-1], shape[-1]
        made[..., old:, :] = made[..., :, old:] = 0
        made[..., range(old, new), range(old, new)] = 1
    return torch.from_numpy(made) if isinstance(x, torch.Tensor) else made


def _turned(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return x.detach().permute(*range(x.ndim)[::-1]).contiguous().permute(*range(x.ndim)[::-1]) if x.ndim else x
    return numpy.asfortranarray(x) if x.ndim else x


def _apart_in_memory(x: Any) -> Any:
    if not x.ndim:
        return x
    if isinstance(x, torch.Tensor):
        return torch.stack([x.detach(), x.detach()], -1)[..., 0]
    return numpy.stack([x, x], -1)[..., 0]
