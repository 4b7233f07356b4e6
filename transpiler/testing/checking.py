"""`check_rule`: a rule against the function it stands for."""

from __future__ import annotations

import collections
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ..rules import load
from ..semantics import arrays as tensor_arrays
from ..semantics.table import Refused, Rule, original
from ..semantics.ufunc import Ufunc
from .comparing import aliased_differently, different
from .spelling import run_numpy, run_rules
from .strategies import Seeded, arrays_of, inputs, names_in

WITH_EXTREMES = {"elementwise", "shape", "view", "joining", "indexing", "selection", "sorting", "conversion", "predicate"}
"""Kinds whose elements are moved or computed one by one: the ends of a dtype cannot overflow a sum there."""


class RuleError(AssertionError):
    """A rule that is not what it stands for; the message says where."""


def check_rule(
    rule: Any, examples: Sequence[str] | None = None, inputs: Mapping[str, Any] | None = None, max_examples: int | None = None
) -> None:
    """Hold a rule against the original: signature, value, shape, dtype, errors, written arguments and views.

    rule      a name it answers to ("mylib.norms.fast_norm"), the rule's function, or a `Rule`
    examples  calls in the original's spelling; the rule's own where None. Names are those of `np2fx.testing.strategies` or of `inputs`
    inputs    for names of the examples, a Hypothesis strategy or a list of arrays to draw from

    Raises RuleError where they differ, where more than half of the inputs are refused, and for a rule without an example."""
    entry = find(rule)
    check_signature(entry)
    for example in entry.examples if examples is None else examples:
        check_example(entry, example, inputs or {}, max_examples)
    if not (entry.examples if examples is None else examples):
        raise RuleError(f"{entry.name} has no example: nothing was tested")


def find(rule: Any) -> Rule:
    """The entry of the table. Raises LookupError where there is none."""
    if isinstance(rule, Rule):
        return rule
    rules, refusals = load()
    if isinstance(rule, str):
        if rule in rules:
            return rules[rule]
        why = f"{rule} is refused: {refusals[rule].reason}" if rule in refusals else f"there is no rule for {rule}"
        raise LookupError(f"{why}; are the rules in use ([tool.np2fx] rules, np2fx.use_rules)?")
    found = next((entry for entry in rules.values() if rule in (entry.call, entry.body)), None)
    if found is None:
        raise LookupError(f"{rule!r} is no rule")
    return found


def check_signature(entry: Rule) -> None:
    """Every name exists, and takes what the rule takes: the same parameters, positional ones in the same order.

    Functions whose signature cannot be read (compiled ones, ufuncs) pass. Raises RuleError."""
    for name in entry.names:
        function = original(name)
        if function is None:
            raise RuleError(f"there is no {name}: is it spelled as its library spells it, and is that installed?")
        theirs = _parameters(function)
        if theirs is None or isinstance(entry.call, Ufunc):
            continue
        ours = _parameters(entry.call) or []
        if any(p.kind is p.VAR_KEYWORD for p in ours):
            continue
        fixed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        wanted = [p.name for p in theirs if p.kind in fixed]
        given = [p.name for p in ours if p.kind in fixed]
        if given[: len(wanted)] != wanted:
            raise RuleError(f"the rule takes ({', '.join(given)}), {name} takes ({', '.join(wanted)})")
        missing = {p.name for p in theirs if p.kind is p.KEYWORD_ONLY} - {p.name for p in ours}
        if missing:
            lacking = ", ".join(sorted(missing))
            raise RuleError(f"the rule lacks {lacking}, which {name} takes: support it, or raise Refused where it is given")


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def outcome(run: Any, example: str, arrays: Mapping[str, Any]) -> tuple[Any, Exception | None, list[str]]:
    """The result, or the exception, and the texts of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = run(example, arrays), None
        except Exception as e:
            result, error = None, e
    return result, error, [str(w.message) for w in caught]


def tensors_of(arrays: Mapping[str, Any], device: str = "cpu") -> dict[str, Any]:
    """Tensors of the same values; 0-d ones count as 0-d arrays, as they do in NumPy. What is no array stays what it is."""
    zero_d = tensor_arrays.zero_d_array
    return {name: zero_d(torch.from_numpy(x.copy()).to(device)) if isinstance(x, np.ndarray) else x for name, x in arrays.items()}


def drawn(example: str, given_inputs: Mapping[str, Any], extremes: bool) -> st.SearchStrategy[dict[str, Any]]:
    """What an example's names are drawn from."""
    own = {n: v if isinstance(v, st.SearchStrategy) else st.sampled_from(list(v)) for n, v in given_inputs.items()}
    standard = tuple(n for n in names_in(example) if n not in own)
    return st.tuples(inputs(standard, extremes), st.fixed_dictionaries(own)).map(lambda both: {**both[0], **both[1]})


def check_example(entry: Rule, example: str, given_inputs: Mapping[str, Any] | None = None, max_examples: int | None = None) -> None:
    """One example of a rule against the original. Raises RuleError."""
    seen: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()

    @settings(max_examples=max_examples or settings().max_examples, deadline=None)
    @given(drawn(example, given_inputs or {}, entry.kind in WITH_EXTREMES))
    def check(arrays: dict[str, Any]) -> None:
        arrays = {name: x.copy() if isinstance(x, np.ndarray) else x for name, x in arrays.items()}
        why, refused = compare(entry, example, arrays)
        seen["ran"] += 1
        if refused is not None:
            seen["refused"] += 1
            reasons[refused.message] += 1
        if why is not None:
            raise RuleError(f"{example}: {why}")

    check()
    if seen["refused"]:
        print(f"{entry.name}: {example} refused {seen['refused']} of {seen['ran']}: {dict(reasons)}")
    if seen["refused"] * 2 > max(seen["ran"], 1):
        raise RuleError(f"{example} is refused for {seen['refused']} of {seen['ran']} inputs: {dict(reasons)}")


def check_many(entry: Rule, example: str, count: int, seed: int = 0) -> None:
    """`check_example` on `count` random inputs from `seed` on: several times faster than Hypothesis. Raises RuleError."""
    names, extremes = names_in(example), entry.kind in WITH_EXTREMES
    for n in range(seed, seed + count):
        arrays = arrays_of(Seeded(n), names, extremes)
        try:
            why, _ = compare(entry, example, {name: x.copy() for name, x in arrays.items()})
        except RuleError as e:
            why = str(e)
        if why is not None:
            raise RuleError(f"{example} with seed {n}: {why}, for {arrays}")


def compare(entry: Rule, example: str, arrays: Mapping[str, Any]) -> tuple[str | None, Refused | None]:
    """What differs on these inputs, or None; and the refusal, if the rule refuses them. Writes into `arrays` what the original writes."""
    tensors = tensors_of(arrays)
    want, error, texts = outcome(run_numpy, example, arrays)
    if any("invalid value encountered in cast" in text for text in texts):
        return None, None  # C leaves open what that gives
    with tensor_arrays.mirrored_views():
        got, failure, _ = outcome(run_rules, example, tensors)
        if isinstance(failure, Refused):
            return None, failure
        if error is not None:
            return (None if failure is not None else f"the original raises {type(error).__name__}: {error}; the rule gives {got!r}"), None
        if failure is not None:
            raise RuleError(f"{example}: the original gives {want!r}; the rule raises {type(failure).__name__}: {failure}") from failure
        why = different(want, got, entry.kind == "elementwise")
        why = why or aliased_differently(want, {n: x for n, x in arrays.items() if isinstance(x, np.ndarray)}, got, tensors)
    for name, array in arrays.items():
        why = why or (different(array, tensors[name], path=f"{name} after the call") if isinstance(array, np.ndarray) else None)
    return why, None
