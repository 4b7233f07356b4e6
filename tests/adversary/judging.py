"""The verdict on a program, for each way: right, refused, wrong or crash."""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import re
import signal
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import np2fx
import numpy as np
import torch
from np2fx.tracing.surroundings.structure import rebuild
from np2fx.verifying.comparing.bounds import bound_of
from np2fx.verifying.comparing.comparison import Tolerance, as_array
from np2fx.verifying.comparing.conditioning import _moved as moved
from np2fx.verifying.comparing.conditioning import excuse
from np2fx.verifying.comparing.outcomes import outcomes_differ
from np2fx.verifying.comparing.running import Outcome, run
from np2fx.verifying.comparing.unspecified import settled

from .program import Program
from .rounding import rounding_decides

WAYS = ("convert", "trace")
OTHER_WAYS = ("rewrite", "declared", "forward")
"""The file that rewrite writes, without facts and with specs; the bare graph, its guards in Python gone, at other sizes."""
SECONDS = 20.0
"""How long a program may take in all ways."""
REFUSALS = (np2fx.ConversionError, np2fx.TraceError)
COARSE = {"float16": Tolerance(4e-3, 4e-3), "float32": Tolerance(2e-5, 2e-5), "complex64": Tolerance(2e-5, 2e-5)}
NARROW = {"int8": "float16", "uint8": "float16", "bool": "float16", "int16": "float32", "uint16": "float32"}
"""The floats in which NumPy computes the functions of small integers."""
FUNCTIONS = re.compile(r"\bnp\.(\w*(sin|cos|tan|exp|log|sqrt)\w*|hypot|cbrt|deg2rad|rad2deg|degrees|radians|float16|true_divide|divide|reciprocal|spacing)\b")

ROUNDED = re.compile(r"\b(mean|average|std|var|median|trapezoid|det|norm)\b")
"""What may give 23.999999 where another order of adding gives 24: one apart, when it is put into integers."""
ZEROS = re.compile(r"%|//|mod|median|quantile|percentile|sort|partition|max|min|clip|unique|trunc")
"""What may give a zero of another sign: a remainder, one of several equal zeros."""
UNSTABLE = re.compile(r"argsort\((?!.*stable)")
"""A sort that leaves the order of equal elements open, which verify's own inputs have."""


@dataclass(frozen=True)
class Verdict:
    """kind  right, refused, wrong, crash, or discarded (NumPy itself has no answer that counts)
    why   the finding's name, or what differs"""

    kind: str
    why: str = ""

    @property
    def bad(self) -> bool:
        return self.kind in ("wrong", "crash")


class BoundError(Exception):
    """A graph that is called with what it was not made for, and says so."""


class TooLong(BaseException):
    """A program that does not end: shrinking took the increment out of a loop."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TooLong in what takes longer (where the system has timers)."""

    def stop(*_: Any) -> None:
        raise TooLong

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def judge(program: Program, ways: tuple[str, ...] = WAYS) -> dict[str, Verdict]:
    """The verdicts by way. A program whose answer NumPy leaves open is discarded."""
    module = program.module()
    try:
        with limited(SECONDS):
            wants = [reference(module, args) for args in (program.sample, program.other)]
            if any(w.undefined for w in wants):
                return {way: Verdict("discarded", "undefined in NumPy") for way in ways}
            return {way: _judge(program, way, wants) for way in ways}
    except TooLong:
        return {way: Verdict("discarded", "takes too long") for way in ways}
    finally:
        linecache.cache.pop(module.path, None)


def reference(module: Any, args: list[Any]) -> Outcome:
    """What NumPy makes of a program."""
    return run(module.node, module.node, _named(module.node, args), torch_side=False)


def _named(node: Any, args: list[Any]) -> dict[str, Any]:
    return dict(zip(node.__code__.co_varnames, args, strict=False))


def tolerance(program: Program) -> Tolerance:
    """By dtype; where a program rounds to a coarser one on its way, that one's for all."""
    dtypes = {getattr(a, "dtype", None) for a in program.sample}
    if FUNCTIONS.search(program.source):
        dtypes |= {np.dtype(NARROW[d.name]) for d in dtypes if d is not None and d.name in NARROW}
    return next((t for name, t in COARSE.items() if np.dtype(name) in dtypes or name in program.source), Tolerance())


def _judge(program: Program, way: str, wants: list[Outcome]) -> Verdict:
    if way in ("rewrite", "declared"):
        return _judge_rewritten(program, way == "declared", wants)
    if way == "forward":
        return _judge_forward(program)
    module = program.module()
    try:
        try:
            with quiet():
                form = np2fx.convert(module.node) if way == "convert" else np2fx.trace(module.node, *copy.deepcopy(program.sample))
        except REFUSALS as e:
            return _refused(e)
        except Exception as e:
            if way == "trace" and wants[0].error is not None:
                same = type(e) is type(wants[0].error)
                return Verdict("right") if same else Verdict("wrong", f"trace raises {said(e)}, NumPy {said(wants[0].error)}")
            return Verdict("crash", f"{way}: {said(e)}")
        for args, want in zip((program.sample, program.other), wants, strict=True):
            verdict = _compare(program, module, form, args, want)
            if verdict is not None:
                return verdict
        return Verdict("right")
    finally:
        linecache.cache.pop(module.path, None)


def _judge_rewritten(program: Program, declared: bool, wants: list[Outcome]) -> Verdict:
    """The module that rewrite writes, called with arrays as the original is."""
    module = program.module()
    try:
        text = program.marked(declared)
        try:
            new, findings = np2fx.rewrite_source(text)
        except Exception as e:
            return Verdict("crash", f"rewrite_source: {said(e)}")
        refused = next((f for f in findings if f.severity == "error"), None)
        if refused is not None:
            return Verdict("refused", f"{refused.name}: {refused.message}")
        try:
            form = Program(new, program.sample, program.other).module().node
        except Exception as e:
            return Verdict("crash", f"the rewritten file: {said(e)}")
        for args, want in zip((program.sample, program.other), wants, strict=True):
            verdict = _compare(program, module, form, args, want, torch_side=False)
            if verdict is not None:
                return verdict
        return Verdict("right")
    finally:
        linecache.cache.pop(module.path, None)


def _judge_forward(program: Program) -> Verdict:
    """The graph without what stands around it in Python, on arguments of other sizes: NumPy's answer or an error."""
    module = program.module()
    try:
        try:
            with quiet():
                graph = np2fx.trace(module.node, *copy.deepcopy(program.sample))
        except Exception:
            return Verdict("refused", "no graph")
        if not graph.face.names:
            return Verdict("refused", "no tensors")

        def bare(*args: Any) -> Any:
            leaves = [x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for x in graph.face.bind(args, {})[0]]
            try:
                result = graph.forward(*leaves)
            except Exception as e:
                raise BoundError(str(e)) from e
            return result if graph.face.outputs is None else rebuild(graph.face.outputs, lambda i: result[i])

        answered = False
        for change in (lambda n: n + 1, lambda n: n + 1 if n > 1 else n, lambda n: max(n - 1, 1), lambda n: 1):
            args = [_resized(a, change) for a in program.other]
            want = reference(module, args)
            if want.undefined:
                continue
            verdict = _compare(program, module, bare, args, want)
            if verdict is not None and verdict.bad:
                return verdict
            answered |= verdict is None
        return Verdict("right") if answered else Verdict("refused", "bound to its sizes")
    finally:
        linecache.cache.pop(module.path, None)


def _resized(a: Any, change: Any) -> Any:
    return np.resize(a, tuple(map(change, a.shape))) if isinstance(a, np.ndarray) and a.ndim else a


def _compare(program: Program, module: Any, form: Any, args: list[Any], want: Outcome, torch_side: bool = True) -> Verdict | None:
    named = _named(module.node, args)
    got = run(form, module.node, named, torch_side=torch_side)
    if isinstance(got.error, REFUSALS):
        return _refused(got.error)
    if isinstance(got.error, BoundError) or "was rewritten for" in str(got.error):
        return Verdict("refused", "not what it was made for")
    if want.error is not None and got.error is not None:
        return None
    allowed = tolerance(program)
    found = outcomes_differ(want, got, allowed)
    if found is None:
        return None
    if want.error is None and (bound := bound_of(got.error)) is not None:
        return Verdict("refused", f"a bound that is documented: {bound[0]}")
    if got.error is not None:
        return Verdict("crash", str(found))
    fresh = program.module().node
    again, left_open = settled(fresh, named)
    if "undefined" in left_open or (left_open and outcomes_differ(again, got, allowed) is None):
        return None
    if re.search(r"argsort|np\.negative", program.source) and outcomes_differ(reference(program.module(stable=True), args), got, allowed) is None:
        return None
    if found.want is not None and ZEROS.search(program.source) and _same_but_zeros(want, got, allowed):
        return None
    if want.error is None and found.want is not None and _fragile(fresh, named, want, allowed):
        return None
    if ROUNDED.search(program.source) and outcomes_differ(want, _one_off(want, got), allowed) is None:
        return None
    if want.error is None and excuse(fresh, named, want, got, allowed) is not None:
        return None
    if want.error is None and rounding_decides(program, lambda moved: reference(moved, args), want, got, allowed):
        return None
    return Verdict("wrong", str(found))


def _one_off(want: Outcome, got: Outcome) -> Outcome:
    """`got` with the integers that are one away from NumPy's made NumPy's."""
    return Outcome(_nearest(want.result, got.result), got.error, _nearest(dict(want.arguments), dict(got.arguments)))


def _nearest(want: Any, got: Any) -> Any:
    if isinstance(want, dict) and isinstance(got, dict) and want.keys() == got.keys():
        return {k: _nearest(want[k], got[k]) for k in want}
    if isinstance(want, (list, tuple)) and isinstance(got, (list, tuple)) and len(want) == len(got):
        return type(want)(map(_nearest, want, got))
    if not isinstance(want, (np.ndarray, np.generic)) or not isinstance(got, (np.ndarray, np.generic, torch.Tensor)):
        return got
    a, b = np.asarray(want), np.asarray(as_array(got))
    if a.dtype != b.dtype or a.dtype.kind not in "iu" or a.shape != b.shape:
        return got
    return np.where(np.abs(a.astype(float) - b.astype(float)) <= 1, a, b)


def _same_but_zeros(want: Outcome, got: Outcome, allowed: Tolerance) -> bool:
    """Only the signs of infinities differ: one was divided by a zero, and zeros are equal whatever their sign."""
    made = [Outcome(_unsigned(o.result), o.error, _unsigned(dict(o.arguments))) for o in (want, got)]
    return outcomes_differ(made[0], made[1], allowed) is None


def _unsigned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unsigned(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_unsigned, value))
    if isinstance(value, (np.ndarray, np.generic, torch.Tensor)):
        a = as_array(value)
        return np.where(np.isinf(a), np.abs(a), a).astype(a.dtype) if a.dtype.kind == "f" else a
    return value


def _fragile(node: Any, named: dict[str, Any], want: Outcome, allowed: Tolerance) -> bool:
    """NumPy itself answers otherwise one rounding away: a step (floor, a comparison, an order) stands right at a value."""
    return any(outcomes_differ(want, run(node, node, moved(named, np.random.default_rng(seed)), torch_side=False), allowed) for seed in range(6))


def _refused(error: Any) -> Verdict:
    findings = getattr(error, "findings", [])
    return (
        Verdict("refused", f"{findings[0].name}: {findings[0].message}")
        if findings
        else Verdict("crash", f"refused with no finding: {error}")
    )


def verify(program: Program) -> Verdict:
    """The verdict of `np2fx.verify`, which tries inputs of its own: wrong only where it finds a mismatch."""
    module = program.module()
    try:
        report = np2fx.verify(module.node, *copy.deepcopy(program.sample), max_examples=10, shrink_seconds=2.0)
    except Exception as e:
        return Verdict("crash", f"verify: {said(e)}")
    finally:
        linecache.cache.pop(module.path, None)
    errors = [f for f in report.findings if f.severity == "error"]
    wrong = [f for f in errors if f.name in ("mismatch", "leaked-constant")]
    if wrong and _keeps_state(program):
        return Verdict("discarded", "NumPy's second call gives another result than its first")
    if wrong and UNSTABLE.search(program.source):
        return Verdict("discarded", "the order of equals")
    if wrong:
        example = report.counterexample
        more = f" on {dict(example.arguments)}" if example is not None else ""
        return Verdict("wrong", f"{wrong[0].message}{more}")
    return Verdict("refused", f"{errors[0].name}: {errors[0].message}") if errors else Verdict("right")


def _keeps_state(program: Program) -> bool:
    node = program.module().node
    first, second = (run(node, node, _named(node, copy.deepcopy(program.sample)), torch_side=False) for _ in range(2))
    return outcomes_differ(first, second, Tolerance()) is not None


def said(error: BaseException | None) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first}"


@contextlib.contextmanager
def quiet() -> Any:
    nowhere = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        yield
