"""Plants faults and asks `np2fx.verify` about each."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import linecache
import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import np2fx
import numpy as np
import torch
from np2fx import rules
from np2fx.verifying import check_form
from np2fx.verifying.comparing.comparison import Tolerance, as_array
from np2fx.verifying.comparing.outcomes import outcomes_differ
from np2fx.verifying.comparing.running import Outcome, run
from np2fx.verifying.inputs.plans import free_sizes, plan_of, sample_arguments

from . import graph_faults, rule_faults
from .nodes import SMALL, B, D, F, I, V, W, pipeline

TRIES = 40
"""Inputs on which a fault must change an answer to be one."""


@dataclass
class Score:
    """How many faults were planted, and those that were not caught."""

    planted: int = 0
    idle: int = 0
    missed: list[str] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return 1 - len(self.missed) / max(self.planted, 1)

    def take(self, kind: str, what: str, caught: bool) -> None:
        self.planted += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if not caught:
            self.missed.append(what)

    def text(self) -> str:
        lines = [f"{self.planted} faults planted, {self.planted - len(self.missed)} caught: mutation score {100 * self.share:.2f} %",
                 f"({self.idle} more changed no answer and do not count)"]  # fmt: skip
        lines += [f"    {n} {kind}" for kind, n in sorted(self.kinds.items(), key=lambda item: -item[1])]
        return "\n".join([*lines, *(f"missed: {what}" for what in self.missed)])


def in_graphs(score: Score, limit: int, step: int = 1) -> None:
    """Faults in the graphs of all nodes; of all of them, every `step`-th."""
    count = 0
    for fn, samples in [*SMALL, *pipeline()]:
        arguments = _sample(fn, samples)
        module = _quietly(lambda fn=fn, arguments=arguments: np2fx.trace(fn, **copy.deepcopy(arguments)))
        leaves, _ = module.face.bind((), copy.deepcopy(arguments))
        tensors = [torch.from_numpy(np.array(x)) if not isinstance(x, torch.Tensor) else x for x in leaves]
        for what, mutant in graph_faults.mutants(module, tensors):
            count += 1
            if count % step:
                continue
            if score.planted >= limit:
                return
            if not _differs(fn, arguments, module, mutant, not samples):
                score.idle += 1
                continue
            report = check_form(fn, mutant, *(arguments[n] for n in inspect.signature(fn).parameters if n in arguments), max_examples=100)
            score.take(what.partition(" in `")[0], f"{fn.__name__}: {what}", not report.ok)


def _sample(fn: Callable[..., Any], samples: tuple[Any, ...]) -> dict[str, Any]:
    if samples:
        return dict(zip(inspect.signature(fn).parameters, samples, strict=True))
    plan = plan_of(fn, (), None)
    return dict(sample_arguments(plan, free_sizes(plan), 0))


def _quietly(call: Callable[[], Any]) -> Any:
    nowhere = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        return call()


def _differs(fn: Callable[..., Any], sample: dict[str, Any], original: Any, mutant: Any, declared: bool) -> bool:
    """Whether the fault changes an answer on some input like the sample (or, where the node's inputs are declared, as declared)."""
    plan = plan_of(fn, (), None) if declared else {}
    for seed in range(TRIES):
        arguments = dict(sample_arguments(plan, free_sizes(plan), seed)) if declared else _like(sample, seed)
        want, got = (_outcome(form, fn, arguments) for form in (original, mutant))
        if want.error is None and outcomes_differ(want, got, Tolerance()) is not None:
            return True
    return False


def _outcome(form: Any, fn: Callable[..., Any], arguments: dict[str, Any]) -> Outcome:
    made = run(form, fn, arguments, torch_side=True)
    return Outcome(_arrays(made.result), made.error, _arrays(dict(made.arguments)))


def _arrays(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return as_array(value)
    if isinstance(value, dict):
        return {k: _arrays(v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(_arrays, value))
    return type(value)(map(_arrays, value)) if isinstance(value, (list, tuple)) else value


def _like(value: Any, seed: int) -> Any:
    """Other values for the arrays of a sample; the first input is the sample itself."""
    rng = np.random.default_rng(seed)
    if isinstance(value, dict):
        return {k: _like(v, seed * 31 + i) if seed else v for i, (k, v) in enumerate(value.items())}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_like(v, seed * 31 + i) for i, v in enumerate(value))
    if not isinstance(value, np.ndarray) or seed == 0:
        return value
    if value.dtype.kind == "b":
        return rng.integers(0, 2, value.shape).astype(bool)
    if value.dtype.kind in "iu":
        return rng.integers(0 if value.dtype.kind == "u" else -20, 100, value.shape).astype(value.dtype)
    drawn = rng.normal(0, (1, 3, 0.3)[seed % 3], value.shape).round(seed % 4)
    return drawn.astype(value.dtype)


# Faults in rules: nodes are made of the rules' examples


SAMPLES: dict[str, Any] = {
    "a": D, "b": D[::-1].copy(), "x": D, "y": F.astype(np.float64) + 1, "v": V, "w": W, "m": D, "f": F, "g": F[::-1].copy(),
    "i": I[0] % 2 - 1, "r": np.sort(V), "q": np.array([[4.0, 1.0, 0.5], [1.5, 5.0, 2.0], [0.25, 1.0, 6.0]]),
    "h": np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 2.0], [0.5, 2.0, 6.0]]), "u": np.array([1.0, 2.0, 3.0]), "k": D > 0,
    "z": D + 1j * D[::-1], "B": B,
}  # fmt: skip
"""What the letters of the examples stand for here."""


def in_rules(score: Score, limit: int, seed: int = 0) -> None:
    """Faults in the bodies of rules, in random order."""
    faults = [(rule, function, what, code) for rule, function in _bodies() for what, code in rule_faults.mutants(function)]
    random.Random(seed).shuffle(faults)
    for rule, function, what, code in faults:
        if score.planted >= limit:
            return
        nodes = [n for e in rule.examples if (n := _node(rule, e)) is not None]
        changed = [n for n in nodes if _rule_differs(*n, function, code)]
        if not changed:
            score.idle += 1
            continue
        with rule_faults.planted(function, code):
            caught = any(not _verified(fn, samples) for fn, samples in changed)
        score.take("rule: " + what.split(": ")[1].partition(" at ")[0], what, caught)


def _bodies() -> Iterator[tuple[Any, Any]]:
    seen = set()
    for rule in rules.load_once().values():
        function = rule_faults.function_of(rule)
        if function is None or function in seen or not rule.examples or not function.__module__.startswith("np2fx.rules"):
            continue
        seen.add(function)
        yield rule, function


_made: dict[str, Any] = {}


def _node(rule: Any, example: str) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """The example as a node of its own, and samples for the letters in it. None where NumPy does not take them."""
    if example not in _made:
        names = [n for n in SAMPLES if re.search(rf"(?<![\w.]){n}(?![\w(=])", example)]
        text = f"import numpy as np\n\n\ndef node({', '.join(names)}):\n    return {example}\n"
        path = f"/mutants/example_{len(_made)}.py"
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
        space: dict[str, Any] = {}
        exec(compile(text, path, "exec"), space)
        samples = tuple(SAMPLES[n] for n in names)
        try:
            _quietly(lambda: space["node"](*copy.deepcopy(samples)))
            _made[example] = (space["node"], samples) if names else None
        except Exception:
            _made[example] = None
    return _made[example]


def _rule_differs(fn: Callable[..., Any], samples: tuple[Any, ...], function: Any, code: Any) -> bool:
    """Whether the node, as its rules compute it, has another answer with the fault."""
    form = _converted(fn)
    if form is None:
        return False
    sample = dict(zip(inspect.signature(fn).parameters, samples, strict=True))
    for seed in range(TRIES // 4):
        arguments = _like(sample, seed)
        want = _outcome(form, fn, arguments)
        with rule_faults.planted(function, code):
            got = _outcome(form, fn, arguments)
        if want.error is None and outcomes_differ(want, got, Tolerance()) is not None:
            return True
    return False


_forms: dict[Any, Any] = {}


def _converted(fn: Callable[..., Any]) -> Any:
    """The node with each NumPy call as a call of its rule: nothing inlined."""
    if fn not in _forms:
        try:
            _forms[fn] = _with_rules(fn)
        except Exception:
            _forms[fn] = None
    return _forms[fn]


def _with_rules(fn: Callable[..., Any]) -> Callable[..., Any]:
    import np2fx.numpy as npx

    text = "".join(linecache.getlines(fn.__code__.co_filename))
    source = np2fx.rewrite_source(text, all_functions=True, exact=True, boundary="none")[0]
    space: dict[str, Any] = {"npx": npx, "torch": torch, "np": np}
    exec(source, space)
    return space["node"]


def _verified(fn: Callable[..., Any], samples: tuple[Any, ...]) -> bool:
    """What `np2fx.verify` says of the node: of its graph, traced with the rule as it is now, and of its form that calls the rule."""
    try:
        if not check_form(fn, _converted(fn), *copy.deepcopy(samples), way="convert", max_examples=30).ok:
            return False
        return np2fx.verify(fn, *copy.deepcopy(samples), ways=("trace",), max_examples=30, shrink_seconds=0.0).ok
    except Exception:
        return False
