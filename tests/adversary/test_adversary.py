"""A bounded attack: the same programs on every run."""

from __future__ import annotations

import random

import pytest

from .attacking import attack
from .judging import WAYS, judge, verify
from .program import Program, write
from .shrinking import shrink

PROGRAMS = 200


@pytest.fixture(scope="module")
def totals():
    return attack(seed=1, seconds=600, programs=PROGRAMS, verify_every=0, leaving=0.05, shrinking=False)


def test_no_program_is_wrong_or_crashes(totals):
    assert not totals.failures, totals.text()


def test_few_programs_are_refused(totals):
    assert totals.programs == PROGRAMS
    assert totals.refused_share < 0.05, totals.text()


def test_programs_are_of_many_kinds(totals):
    assert len(totals.constructs) > 200
    assert {"loop", "branch", "set_item", "view_and_write", "with_out", "in_place", "inner_function", "collection"} <= set(totals.constructs)


def test_most_programs_run_in_numpy(totals):
    assert sum(totals.counts[way]["discarded"] for way in WAYS) < 0.1 * PROGRAMS


def test_the_same_seed_writes_the_same_program():
    one, two = (write(random.Random(5)) for _ in range(2))
    assert one is not None and two is not None
    assert one.script == two.script


def test_verify_agrees():
    for seed in range(3):
        program = write(random.Random(seed), leaving=0.0)
        assert program is not None
        assert not verify(program).bad


def test_a_failure_is_made_small():
    program = write(random.Random(11))
    assert program is not None
    made = shrink(program, lambda candidate: "return" in candidate.source, seconds=10)
    assert len(made.source) < len(program.source)


def test_what_rounding_decides_is_no_fault():
    import numpy as np
    from np2fx.verifying.comparing.comparison import Tolerance
    from np2fx.verifying.comparing.running import Outcome

    from .judging import reference
    from .rounding import rounding_decides

    def decides(body: str, got: object) -> bool:
        program = Program(f"import numpy as np\n\n\ndef node(x):\n    return {body}\n", [np.arange(1, 5)], [])
        want = reference(program.module(), program.sample)
        left = {"x": program.sample[0]}
        return rounding_decides(program, lambda m: reference(m, program.sample), want, Outcome(got, None, left), Tolerance())

    assert decides("np.floor(x / 49 * 49)", np.array([1.0, 2, 3, 4]))
    assert decides("np.cos(x * 1e8)", np.cos(np.arange(1, 5) * 1e8) + 1e-8)
    alike = "np.corrcoef(np.full(7, x[0] * 0.7))"  # of a variance that is zero but for rounding
    assert decides(alike, np.float64("nan"))
    assert not decides("np.log(x + 1)", np.array([np.nan, 1.0986122886681098, 1.3862943611198906, 1.6094379124341003]))
    centred = "(lambda m: m / m)(np.subtract(x * 0.1, np.mean(x * 0.1)).mean() + 1e-17)"  # a mean that is zero but for rounding
    assert decides(centred, np.float64("nan"))
    assert not decides("(lambda m: m / m)(x.mean())", np.float64("nan"))
    pole = "(1 / np.array([(x[0] * 0.1 + x[2] * 0.1) - x[3] * 0.1]))"  # a zero that is none one rounding away
    assert decides(pole, np.array([-3e16]))
    assert not decides(pole, np.array([3.0]))
    assert not decides("1 / np.array([x[0] - 1.0])", np.array([3e16]))
    sums = "np.argmin(np.array([x[0] * 0.1 + 0.2, 0.3, 1.0]))"  # the first is one rounding above the second
    assert decides(sums, np.int64(0))
    assert not decides(sums, np.float64(0))
    assert not decides("np.argmin(x * 0.1)", np.int64(2))
    assert not decides("np.cos(x)", np.cos(np.arange(1, 5)) + 1e-8)
    assert not decides("x * 2", np.array([2, 4, 6, 9]))
    assert not decides("x * 2", np.array([2.0, 4, 6, 8]))


def test_a_wrong_answer_is_seen(monkeypatch):
    """A rule with a fault in it is found out."""
    import np2fx
    import numpy as np
    import torch

    program = Program("import numpy as np\n\n\ndef node(x):\n    return x + 1\n", [np.ones(3)], [np.zeros(3)])
    assert {v.kind for v in judge(program).values()} == {"right"}
    monkeypatch.setattr(np2fx, "convert", lambda f: lambda x: torch.add(x, 2))
    assert judge(program)["convert"].kind == "wrong"
    monkeypatch.setattr(np2fx, "convert", lambda f: lambda x: x[7])
    assert judge(program)["convert"].kind == "crash"
