"""The table against the installed NumPy: names, signatures, examples, completeness."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
from np2fx.rules import load
from np2fx.semantics.table import Rule
from np2fx.semantics.ufunc import Ufunc

RULES, REFUSALS = load()
ENTRIES: list[Rule] = list({id(entry): entry for entry in RULES.values()}.values())

WITHOUT_EXAMPLES = {
    "index-trick": "an object that is subscripted, not called",
    "layout": "tells of how what was handed in lies in memory, tested by hand",
    "dtype": "answers with a dtype or a Python object, tested by hand",
}
NOT_OURS = {
    "like": "for arrays of other libraries (NEP 35)",
    "device": "takes only 'cpu', which says nothing",
    "subok": "there are no subclasses of a tensor here",
    "signature": "dtype= says the same",
    "ndmax": "bounds the nesting of objects that are not lists",
}
# Namespaces whose public functions must all be in the table, as a rule or as a refusal.
COMPLETE = ("numpy", "numpy.linalg", "numpy.fft")
NOT_ARRAYS = {"test"}  # runs NumPy's own tests


def resolve(name: str) -> Any:
    library, *parts = name.split(".")
    return functools.reduce(getattr, parts, np if library == "numpy" else scipy)


@pytest.mark.parametrize("name", [*RULES, *REFUSALS])
def test_name_is_in_numpy(name: str) -> None:
    resolve(name)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_rule_has_examples(entry: Rule) -> None:
    assert entry.examples or entry.kind in WITHOUT_EXAMPLES


def parameters(f: Callable[..., Any]) -> tuple[list[inspect.Parameter], set[str], bool]:
    """Positional parameters, names of the keyword-only ones, and whether any others are taken too."""
    listed = list(inspect.signature(f).parameters.values())
    positional = [p for p in listed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return positional, {p.name for p in listed if p.kind is p.KEYWORD_ONLY}, any(p.kind is p.VAR_KEYWORD for p in listed)


def has_signature(name: str) -> bool:
    try:
        return not isinstance(RULES[name].call, Ufunc) and bool(inspect.signature(resolve(name)))
    except (TypeError, ValueError, AttributeError):  # attributes, index tricks, and C functions without a signature
        return False


@pytest.mark.parametrize("name", [name for name in RULES if has_signature(name)])
def test_signature_is_numpys(name: str) -> None:
    """The same parameters under the same names; positional ones in the same order."""
    theirs, their_keywords, _ = parameters(resolve(name))
    ours, our_keywords, we_take_more = parameters(RULES[name].call)
    known = {p.name for p in ours} | our_keywords
    for position, (their, our) in enumerate(zip(theirs, ours, strict=False)):
        free = their.kind is their.POSITIONAL_ONLY or (position == 0 and name.startswith("numpy.ndarray."))
        assert free or their.name == our.name, f"parameter {position} is {our.name}, NumPy's is {their.name}"
    wanted = their_keywords | {p.name for p in theirs[1 if name.startswith("numpy.ndarray.") else 0 :] if p.kind is not p.POSITIONAL_ONLY}
    missing = wanted - known - set(NOT_OURS)
    assert we_take_more or not missing, f"the rule has no {', '.join(sorted(missing))}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_parameters_are_numpys(entry: Rule) -> None:
    """A rule takes no parameter that none of its names has in NumPy."""
    names = [name for name in entry.names if has_signature(name)]
    allowed: set[str] = set()
    for name in names:
        theirs, keywords, more = parameters(resolve(name))
        ours, _, _ = parameters(entry.call)
        allowed |= keywords | {p.name for p in theirs} | {our.name for our, _ in zip(ours, theirs, strict=False)}
        if more or any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(resolve(name)).parameters.values()):
            return  # NumPy does not say what it takes
    if names:
        ours, keywords, _ = parameters(entry.call)
        extra = {p.name for p in ours} | keywords
        assert extra <= allowed, f"NumPy has no {', '.join(sorted(extra - allowed))}"


@pytest.mark.parametrize("namespace", COMPLETE)
def test_every_function_has_an_entry(namespace: str) -> None:
    module = resolve(namespace)
    found = {n: getattr(module, n) for n in dir(module) if not n.startswith("_") and n not in NOT_ARRAYS}
    public = [n for n, f in found.items() if callable(f) and not isinstance(f, type)]
    missing = [n for n in public if f"{namespace}.{n}" not in RULES and f"{namespace}.{n}" not in REFUSALS]
    assert not missing, f"neither rule nor refusal: {' '.join(missing)}"
