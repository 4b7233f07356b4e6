"""TraceError: what a trace refuses, with the line of the user's code that asked for it."""

from __future__ import annotations

import functools
import linecache
import os
import sys
import sysconfig
from types import CodeType, FrameType, ModuleType

import numpy
import torch

from ..source.findings.finding import Finding, format_finding, make_finding


class TraceError(Exception):
    """A function that np2fx will not trace; `findings` says where, why and what to do instead."""

    def __init__(self, *findings: Finding) -> None:
        self.findings = list(findings)
        super().__init__("\n".join(format_finding(f) for f in self.findings) or "not traced")


def _folder(path: str) -> str:
    return os.path.realpath(path) + os.sep


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_RULES = os.path.join(os.path.dirname(_PACKAGE), "rules")
_HIDDEN = tuple(
    {
        f(p)
        for f in (_folder, lambda p: p + os.sep)
        for p in (os.path.dirname(numpy.__file__), os.path.dirname(torch.__file__), _PACKAGE, _RULES)
    }
)
_BESIDE = {os.path.dirname(os.path.dirname(os.path.abspath(str(package.__file__)))) for package in (numpy, torch)}
_LIBRARY = (
    *(_folder(path) for path in _BESIDE if os.path.basename(path) in ("site-packages", "dist-packages")),
    _folder(sysconfig.get_paths()["stdlib"]),
    _folder(sysconfig.get_paths()["purelib"]),
    _folder(sysconfig.get_paths()["platlib"]),
    "<frozen",
)
_hidden: dict[CodeType, bool] = {}


@functools.lru_cache(maxsize=4096)  # asked for every frame of every call, and `realpath` reads the disk
def is_library(path: str) -> bool:
    """True for files of Python itself and of installed packages: code that a trace runs as it is."""
    return os.path.realpath(path).startswith(_LIBRARY) or path.startswith(_HIDDEN) or path.startswith("<frozen")


def is_own_module(module: ModuleType) -> bool:
    """True for modules that are neither Python's nor an installed package's: a file's, a folder's, one that was made by hand."""
    file, folders = getattr(module, "__file__", None), getattr(module, "__path__", None)
    if file:
        return not is_library(file)
    if folders is not None:
        return not any(map(is_library, folders))
    return type(module) is ModuleType and (module.__spec__ is None or module.__name__ == "__main__")


def user_frame() -> FrameType | None:
    """The innermost frame that is neither np2fx's, NumPy's nor torch's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_hidden(frame.f_code):
            return frame
        frame = frame.f_back
    return None


def own_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame from here on that is no library's, and whose source there is: compiled code shows frames of "<stringsource>"."""
    while frame is not None and (is_library(frame.f_code.co_filename) or not _has_source(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame


def in_library() -> bool:
    """True where the code of an installed package, or of Python's own library, is at work."""
    frame = user_frame()
    return frame is not None and is_library(frame.f_code.co_filename)


@functools.lru_cache(maxsize=1024)
def _is_file(path: str) -> bool:
    return os.path.isfile(path)


def _has_source(path: str) -> bool:
    return _is_file(path) or bool(linecache.getlines(path))  # a notebook's cell stands in `linecache` alone


def is_hidden(code: CodeType) -> bool:
    """True for code of np2fx, NumPy and torch."""
    hidden = _hidden.get(code)
    if hidden is None:
        hidden = _hidden[code] = code.co_filename.startswith(_HIDDEN) or code.co_filename.startswith("<__array_function__")
    return hidden


def own_place() -> tuple[str, int] | None:
    """File and line of the user's code that is running."""
    frame = own_frame(sys._getframe(1))
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


_OF_CODE = ("python-value", "data-dependent-branch", "opaque-call", "aliasing", "data-dependent-shape")
"""The findings about code, for which a user can do nothing where it is a library's."""


def _library_at_work() -> str:
    """The name of the installed package whose code is running; "" where it is the user's, or Python's own library's."""
    frame = user_frame()
    name = "" if frame is None or not is_library(frame.f_code.co_filename) else str(frame.f_globals.get("__name__")).partition(".")[0]
    return "" if name in sys.stdlib_module_names else name


def error(name: str, message: str, hint: str = "", place: tuple[str, int] | None = None) -> TraceError:
    """A TraceError of the finding `name` at the user's line (or at `place`, a file and a line)."""
    library = _library_at_work() if name in _OF_CODE and place is None else ""
    if library:
        message = f"{message}, in the code of `{library}`"
        hint = "write the step in NumPy, give np2fx a rule for it, or split the node around it"
    if place is None:
        frame = own_frame(sys._getframe(1)) or user_frame()
        place = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
    return TraceError(make_finding(name, path=place[0], line=place[1], message=message, hint=hint))
