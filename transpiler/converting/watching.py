"""Code of the user's that was not converted, while gradients are at stake: NumPy's own arrays keep none."""

from __future__ import annotations

import contextlib
import dis
import sys
import types
from collections.abc import Iterator
from typing import Any

from ..arrays.memory import is_host
from ..arrays.ndarray import ndarray
from ..arrays.scalars import Graded
from ..semantics.table import Refused
from ..support.callables import is_users_code
from .lifted import Lifted

_OF_VALUES = frozenset(("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "fromiter"))
_FILLED = frozenset(("zeros", "ones", "empty", "full"))


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Within it, Refused is raised where such code is called that makes arrays of values: methods, and what nothing names."""
    if sys.getprofile() is not None:
        yield
        return
    sys.setprofile(_called)
    try:
        yield
    finally:
        sys.setprofile(None)


def _called(frame: types.FrameType, event: str, _: Any) -> None:
    if event != "call" or type(frame.f_globals) is Lifted:
        return
    code = frame.f_code
    if code not in _makes:
        _makes[code] = is_users_code(code, frame.f_globals) and _makes_arrays(code)
    if _makes[code] and any(map(_is_graded, frame.f_locals.values())):
        sys.setprofile(None)
        raise Refused(f"`{code.co_name}` makes an array of NumPy's own, which keeps no gradient and lies on no other device",
                      "make it a function of the module, or pass .detach() of what has a gradient", "opaque-call")  # fmt: skip


def _is_graded(x: Any, inside: bool = False) -> bool:
    """Whether an argument is an array or a scalar that NumPy cannot look at, or holds one."""
    if type(x) is ndarray:
        return not is_host(x._tensor)
    if isinstance(x, Graded):
        return True
    held = x if isinstance(x, (list, tuple)) else list((x if isinstance(x, dict) else getattr(x, "__dict__", {})).values())
    return not inside and any(_is_graded(v, True) for v in held)


_makes: dict[types.CodeType, bool] = {}


def _makes_arrays(code: types.CodeType) -> bool:
    names = set(code.co_names)
    stores = any(i.opname == "STORE_SUBSCR" for i in dis.get_instructions(code))
    return bool(names & _OF_VALUES) or (stores and bool(names & _FILLED))
