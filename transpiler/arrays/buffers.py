"""The memory of an array for whoever reads bytes: `memoryview(a)`, `bytes(a)`, `hashlib`, `file.write(a)`, sockets.

Python asks a class for its memory by `__buffer__` since 3.12. Before that only classes written in C could be asked: there the slot of the
class is filled by ctypes. The struct it lies in is the same in 3.10 and 3.11, which are the last that need it.

`torch.asarray(a)` would take the bytes for numbers of torch's default dtype, whatever they are. It asks for bytes that can be written to
and nothing else, and then for bytes at all: the first request is refused to everybody (to `readinto(a)` too), the second where it follows
the first.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from ..semantics.table import Refused

_AS_BUFFER = 20
"""Where `tp_as_buffer` lies in `PyTypeObject`, counted in pointers."""


_SIMPLE, _WRITABLE = 0, 1
"""Requests for bare bytes: `PyBUF_SIMPLE`, `PyBUF_WRITABLE`."""
_refused: list[tuple[Any, int]] = []
"""The frame and the place in it that was refused last."""


def _is_misread(flags: int, frame: Any) -> bool:
    """Whether a request is one of those two."""
    place = (frame.f_code, frame.f_lasti) if frame is not None else (None, 0)
    if flags == _WRITABLE:
        _refused[:] = [place]
        return True
    again = flags == _SIMPLE and _refused == [place]
    if again:
        _refused.clear()
    return again


class _Slots(ctypes.Structure):
    """`PyBufferProcs`."""

    _fields_ = (("get", ctypes.c_void_p), ("release", ctypes.c_void_p))


def install(kind: Any) -> None:
    """Make the memory of a class's objects, NumPy's array `_numpy()`, theirs to whoever asks for a buffer."""
    if sys.version_info >= (3, 12):
        kind.__buffer__ = _buffer
    elif sys.implementation.name == "cpython" and _slots(bytearray) and not _slots(int):
        held = _slots(kind)
        if held:
            held.contents.get = ctypes.cast(_get, ctypes.c_void_p).value


def _buffer(self: Any, flags: int) -> memoryview:
    if _is_misread(flags, sys._getframe(1)):
        raise BufferError("torch.asarray would misread these bytes: use np2fx.numpy's own asarray, torch.as_tensor(x), or memoryview(x)")
    return memoryview(self._numpy())


def _slots(kind: type) -> Any:
    words = ctypes.cast(id(kind), ctypes.POINTER(ctypes.c_void_p))
    return ctypes.cast(words[_AS_BUFFER] or 0, ctypes.POINTER(_Slots))


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
def _get(array: Any, view: int, flags: int) -> int:
    # No error can be raised from here. Where there is no such memory Python raises SystemError in the name of who asked.
    if _is_misread(flags, sys._getframe(1)):
        return -1
    try:
        return _of_numpys(array._numpy(), view, flags)
    except (Refused, BufferError, ValueError):
        return -1


_of_numpys = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)(("PyObject_GetBuffer", ctypes.pythonapi))
