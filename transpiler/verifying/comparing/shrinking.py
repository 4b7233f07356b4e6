"""Makes a counterexample plainer: what Hypothesis drew as noise, it cannot shrink element by element; this does.

Every array is cleared in blocks, halves first, as long as the difference stays; what is left is what it hangs on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from ..inputs.copies import copied
from ..inputs.plans import Leaf, Plan


def plainer(arguments: Mapping[str, Any], plan: Plan, differs: Callable[[Mapping[str, Any]], bool], seconds: float) -> dict[str, Any]:
    """Arguments with as many elements as possible set to 0 (or the spec's lower bound) on which `differs` still holds."""
    best: dict[str, Any] = copied(arguments, exactly=True)
    deadline = time.perf_counter() + seconds
    for position, (x, leaf) in enumerate(_arrays_of(best, plan)):
        filling = 0 if leaf.spec.low is None or leaf.spec.high is None else min(max(0, leaf.spec.low), leaf.spec.high)
        size = x.size
        while size >= 1:
            for start in range(0, x.size, size):
                if time.perf_counter() > deadline:
                    return best
                block = slice(start, start + size)
                trial = copied(best, exactly=True)
                flat = list(_arrays_of(trial, plan))[position][0].flat
                cleared = x.dtype.type(filling)
                if (flat[block] == cleared).all():
                    continue
                flat[block] = cleared
                if differs(copied(trial, exactly=True)):
                    best = trial
            size //= 2
    return best


def _arrays_of(arguments: Any, plan: Any) -> Iterator[tuple[np.ndarray[Any, Any], Leaf]]:
    """The writable arrays of the arguments, with their leaves, in the plan's order. A tensor's memory is an array too."""
    if isinstance(plan, Leaf):
        x = arguments.numpy() if isinstance(arguments, torch.Tensor) else arguments
        if isinstance(x, np.ndarray) and x.flags.writeable:
            yield x, plan
    elif isinstance(plan, dict):
        for key, part in plan.items():
            yield from _arrays_of(arguments[key], part)
    elif isinstance(plan, (list, tuple)):
        for item, part in zip(arguments, plan, strict=True):
            yield from _arrays_of(item, part)
