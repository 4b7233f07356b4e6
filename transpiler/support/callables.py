"""What a callable is to tensors: the rule of a NumPy function, a refusal, a function of the user's, something that understands them."""

from __future__ import annotations

import collections
import dataclasses
import functools
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import Any

import numpy
import torch

from .. import rules
from ..semantics.arrays import as_tensor, is_weak
from ..semantics.dtypes import to_torch
from ..semantics.table import REFUSALS, Refusal, Refused, original, version


def scalar(dtype: str, value: Any = 0) -> torch.Tensor:
    """`numpy.float32(value)`: a scalar (an array where `value` is one) of that dtype."""
    if is_weak(value) or isinstance(value, (bool, str)):
        return as_tensor(getattr(numpy, dtype)(value))
    made = as_tensor(value, to_torch(dtype))
    return made.clone() if made is value and made.ndim == 0 else made  # an array of that dtype is returned as it is


def numpy_rule(function: Any) -> Callable[..., Any] | None:
    """The rule of a NumPy function, ufunc, ufunc method or dtype; Refused where NumPy's name has none; None for others."""
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, numpy.ufunc):
        return getattr(numpy_rule(function.__self__), function.__name__)
    if isinstance(function, type) and issubclass(function, numpy.generic):
        return functools.partial(scalar, numpy.dtype(function).name)
    try:
        rules.load_once()
        found = _by_identity(version()).get(function)
    except TypeError:
        return None
    if found is not None:
        return found
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, numpy.ufunc) or (callable(function) and module.split(".")[0] == "numpy" and not isinstance(function, type)):
        name = f"{module}.{getattr(function, '__name__', function)}"
        refusal = REFUSALS.get(name) or REFUSALS.get(f"numpy.{getattr(function, '__name__', '')}")
        if refusal is not None:
            raise Refused(f"{name}: {refusal.reason}", refusal.hint, refusal.finding)
        raise Refused(
            f"{name} has no rule",
            "compute it from what the rules cover, or split the node",
            "random" if "random" in name else "unmapped-function",
        )
    return None


def check_refusal(function: Any) -> None:
    """Refused, with its reason, for a function that a module of rules refuses, or whose class it refuses."""
    refused = _refused_by_identity(version())
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    owner = getattr(module, (getattr(function, "__qualname__", None) or "").partition(".")[0], None)
    for known in (function, getattr(function, "__self__", None), owner):
        refusal = refused.get(id(known))
        if refusal is not None:
            raise Refused(f"{getattr(function, '__qualname__', function)}: {refusal.reason}", refusal.hint, refusal.finding)


@functools.lru_cache(maxsize=1)
def _refused_by_identity(table_version: int) -> dict[int, Refusal]:
    """Functions of other libraries that are refused, by their id (they live as long as their modules)."""
    found = ((original(name), refusal) for name, refusal in REFUSALS.items() if not name.startswith("numpy."))
    return {id(function): refusal for function, refusal in found if function is not None}


@functools.lru_cache(maxsize=1)
def _by_identity(table_version: int) -> dict[Any, Callable[..., Any]]:
    """The function objects that have a rule, NumPy's and those of other libraries -> what stands for them."""
    found: dict[Any, Callable[..., Any]] = {}
    for name, rule in rules.load_once().items():
        function = original(name)
        if function is not None:
            try:
                found.setdefault(function, rule.call)
            except TypeError:
                continue
    return found


def holds_array(value: Any) -> bool:
    if isinstance(value, (torch.Tensor, numpy.ndarray, numpy.generic)):
        return True
    if isinstance(value, dict):
        return any(map(holds_array, value.values()))
    return isinstance(value, (list, tuple)) and any(map(holds_array, value))


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


def understands_tensors(function: Any) -> bool:
    """torch itself, rules, builtins and the standard library, containers, dataclasses, rewritten functions."""
    if isinstance(function, torch.nn.Module) or hasattr(function, "__np2fx_rewritten__"):
        return True
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (torch.Tensor, list, dict, set, str, tuple, collections.deque, torch.nn.Module)):
        return True
    if isinstance(function, type):
        holders = (tuple, list, dict, set, BaseException, int, float, complex, bool, str)
        known = (type, super, object, range, enumerate, zip, map, filter, reversed, slice)
        return dataclasses.is_dataclass(function) or issubclass(function, holders) or function in known
    module = (getattr(function, "__module__", None) or getattr(type(owner), "__module__", "") or "").split(".")[0]
    return module in ("torch", "np2fx", "builtins", "_operator") or module in sys.stdlib_module_names
