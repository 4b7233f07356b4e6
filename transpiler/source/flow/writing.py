"""Calls that write into what they are given: by NumPy's signatures, as keywords, by position and unpacked."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..reading.table import RuleSource, Table

_OPERATORS = ("setitem", "delitem", "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior", "ixor",
              "ilshift", "irshift", "iconcat")  # fmt: skip
_BY_NAME = frozenset(("builtins.setattr", "builtins.delattr", *(f"operator.{n}" for n in _OPERATORS)))
_BY_METHOD = frozenset(f"__{n}__" for n in ("setattr", "delattr", *_OPERATORS))
_METHODS = {"reduce": 3, "accumulate": 3, "reduceat": 4}
"""Where `out` stands among the arguments of a ufunc's methods."""
_BY_KEYWORD = 1000
"""The place of what cannot be given by position."""
_CALLING = ("builtins.map", "builtins.filter", "functools.partial", "functools.reduce", "itertools.starmap", "numpy.apply_along_axis")
"""Functions that call the first argument with the others."""


def writes(name: str, call: ast.Call, table: Table) -> bool:
    """Whether a call of NumPy's, of `operator`'s or of a builtin writes into an argument, or may give it out as its result
    (`copy=False`), or hands out a method that writes (`getattr(x, "fill")`).

    name   what is called; "numpy.ndarray.clip" for a method, whose array is not among the arguments"""
    base, _, last = name.rpartition(".")
    if by_keyword(call) or name in _BY_NAME or last in _BY_METHOD or (name.startswith("numpy.") and last in ("at", "shuffle")):
        return True
    if base == "numpy.ndarray" and last in table.in_place:
        return True
    if name == "builtins.getattr" or last == "__getattribute__":
        asked = [a.value if isinstance(a, ast.Constant) else None for a in call.args[-1 if last == "__getattribute__" else 1 :][:1]]
        return any(a is None or a in table.in_place or a in _BY_METHOD for a in asked or [None])
    rule = table.rules.get(name)
    if rule is None and base in table.rules and last in _METHODS:
        return _reaches(call, _METHODS[last])
    if rule is None:
        return False
    if rule.writes:
        return True
    shift = 1 if name.startswith("numpy.ndarray.") else 0
    places = {parameter: place for parameter in ("out", "copy") if (place := _place(rule, parameter)) is not None}
    return any(_reaches(call, place - shift * (place != _BY_KEYWORD), parameter) for parameter, place in places.items())


def by_keyword(call: ast.Call) -> bool:
    """Whether a call has an `out=`, or a `copy=` that may be anything but True."""
    whole = [k.value for k in call.keywords if k.arg == "copy"]
    return any(k.arg == "out" for k in call.keywords) or any(not (isinstance(v, ast.Constant) and v.value is True) for v in whole)


def _place(rule: RuleSource, parameter: str) -> int | None:
    positional = [p.name for p in rule.parameters if p.kind in ("positional", "positional-only")]
    if parameter in positional:
        return positional.index(parameter)
    return _BY_KEYWORD if any(p.name == parameter for p in rule.parameters) else None


def _reaches(call: ast.Call, place: int, parameter: str = "out") -> bool:
    """Whether a parameter is given by position, with anything but its default, or may be among what is unpacked."""
    starred = place != _BY_KEYWORD and any(isinstance(a, ast.Starred) for a in call.args)
    unpacked = starred or any(k.arg is None for k in call.keywords)
    default = None if parameter == "out" else True
    return unpacked or any(not (isinstance(a, ast.Constant) and a.value is default) for a in call.args[place:][: 1 if default else None])


def called_by(name: str, call: ast.Call) -> ast.Call | None:
    """The call that `map(f, x)` and its kin make of the function they are given; None for all others."""
    keys = [k.value for k in call.keywords if k.arg == "key"]
    if name in ("builtins.sorted", "builtins.min", "builtins.max") and keys:
        function, args, keywords = keys[0], call.args, []
    elif name in _CALLING and len(call.args) > 1:
        function, args, keywords = call.args[0], call.args[1:], call.keywords
        if name == "itertools.starmap":
            args = [ast.Starred(args[0], ast.Load())]
    else:
        return None
    return None if isinstance(function, ast.Lambda) else ast.Call(function, args, keywords)
