"""Whose code is whose: the user's, or a library's."""

from __future__ import annotations

import functools
import sys
import sysconfig
import types
from typing import Any

_STDLIB = sysconfig.get_path("stdlib")
_SITE = tuple({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


def is_users(function: types.FunctionType) -> bool:
    """True for a function of the user's repo: not the standard library's, not an installed package's."""
    inside: Any = function
    while hasattr(inside, "__np2fx_rewritten__") and hasattr(inside, "__wrapped__"):
        inside = inside.__wrapped__  # the boundary stands for what is in it; other wrappers are of the module they are written in
    return is_users_code(inside.__code__, inside.__globals__)


def is_users_code(code: types.CodeType, around: dict[str, Any]) -> bool:
    """Whether code is the user's, by its file and the module in whose globals it runs."""
    module = str(around.get("__name__") or "").split(".")[0]
    return module not in ("np2fx", "torch", "numpy") and _is_users_file(code.co_filename, module)


def _is_users_file(file: str, package: str) -> bool:
    return not file.startswith(_SITE) and not (file.startswith(_STDLIB) and package in sys.stdlib_module_names)


@functools.cache
def is_users_module(name: str) -> bool:
    """Whether the classes of a module may be the user's: its file tells, and one without a file may be anybody's."""
    package = name.split(".")[0]
    if package in ("np2fx", "torch", "numpy", "builtins") or package in sys.builtin_module_names:
        return False
    return _is_users_file(getattr(sys.modules.get(name), "__file__", None) or "", package)
