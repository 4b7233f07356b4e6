"""Real inputs of verify: a file of arrays, or the folder of calls that record keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from np2fx.verifying.checking import Known, verify
from np2fx.verifying.inputs.loading import LoadError
from np2fx.verifying.inputs.samples import Samples


def halve(x, by=2.0):
    return x / by


def test_a_file_holds_one_call(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", **{"halve.x": np.ones(3), "by": 4.0})
    ((x, by),) = Samples(str(tmp_path / "s.npz")).of(halve, __file__, "halve")
    assert x.shape == (3,) and by == 4.0
    assert Samples(str(tmp_path / "s.npz")).of(lambda z: z, __file__, "other") == []
    assert Samples(None).of(halve, __file__, "halve") == []


def test_a_folder_holds_the_calls_of_each_function(tmp_path: Path) -> None:
    for n, values in enumerate((np.ones(3), np.zeros((2, 2)))):
        np.savez(tmp_path / f"pkg.pre.py.halve.{n}.npz", x=values)
    np.savez(tmp_path / "pkg.pre.py.halves.0.npz", x=np.ones(9))
    calls = Samples(str(tmp_path)).of(halve, "/repo/pkg/pre.py", "halve")
    assert [c[0].shape for c in calls] == [(3,), (2, 2)]
    assert Samples(str(tmp_path)).of(halve, "/repo/pkg/post.py", "halve") == []


def test_what_is_no_file_of_samples(tmp_path: Path) -> None:
    (tmp_path / "s.npz").write_text("no")
    with pytest.raises(LoadError, match=r"not an .npz file"):
        Samples(str(tmp_path / "s.npz"))


def doubled(x):
    return x * 2


def doubled_where_small(x):
    return np.where(x == 123456.0, x * 3, x * 2)


def test_further_calls_are_tried() -> None:
    """A difference that only a recorded call shows."""
    assert verify(doubled, np.ones(3), original=doubled_where_small, max_examples=1).ok
    recorded = Known(recorded=([np.full(3, 5.0)], [np.full(3, 123456.0)]))
    report = verify(doubled, np.ones(3), original=doubled_where_small, max_examples=1, known=recorded)
    assert not report.ok and "246912" in str(report)
