"""What a traced function keeps for its next call: nothing that depends on its arguments, and no count of its calls."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import TraceError, error
from ..module import Face, copied
from ..probe import others
from .found import Surroundings, told
from .structure import Fixed, Node


def surroundings_of(fn: Callable[..., Any], structure: Any) -> Surroundings:
    """What `fn` may find again at its next call, by itself and by what it is given that is no array."""
    return Surroundings(fn, *_fixed(structure))


def _fixed(structure: Any) -> Iterator[Any]:
    if isinstance(structure, Fixed):
        yield structure.value
    for part in structure.parts if isinstance(structure, Node) else ():
        yield from _fixed(part)


def check_state(before: Surroundings, after: Surroundings, face: Face, leaves: list[Any], again: Callable[[list[Any]], Any]) -> None:
    """Raise TraceError where the function keeps what depends on its arguments, or changes its surroundings at every call.

    before, after  what was reachable before and after the plain run; the trace came after that
    again          calls the function on other arrays

    What it keeps from its first call and finds again later is fine as long as it is the same for all values: a table for a size."""
    now = surroundings_of(face.function, face.inputs)
    if changed := after.changed(now):
        raise _keeps(after if changed[0] in after.words else now, changed[0], "changes", "at every call", face)
    if not before.changed(after, exchanged=True):
        return
    try:
        for other in others(leaves):
            before.restore()
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    again(copied(face, other))
            except Exception:
                continue  # the function has no result for these values
            now = surroundings_of(face.function, face.inputs)
            if changed := after.changed(now):
                raise _keeps(after if changed[0] in after.words else now, changed[0], "keeps", "for its next call", face)
    finally:
        after.restore()


def _keeps(known: Surroundings, path: tuple[str, ...], does: str, when: str, face: Face) -> TraceError:
    what = f"the function {does} {told(path)} {when}" + (", and what is there depends on its arguments" if does == "keeps" else "")
    return error("side-effect", what, "return the value, and pass it in at the next call", known.line_of(path) or face.place)
