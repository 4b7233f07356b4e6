"""A sample of the planted faults: each is caught by `np2fx.verify`."""

from __future__ import annotations

from .planting import Score, in_graphs, in_rules


def test_faults_in_graphs_are_caught():
    score = Score()
    in_graphs(score, limit=45, step=17)
    assert score.planted >= 40
    assert not score.missed, score.text()
    assert len(score.kinds) >= 8


def test_faults_in_rules_are_caught():
    score = Score()
    in_rules(score, limit=20)
    assert score.planted == 20
    assert not score.missed, score.text()
