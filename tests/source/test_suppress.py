"""Suppression comments."""

from __future__ import annotations

import pytest
from np2fx.source.findings.check import check_source

SOURCE = """import numpy as np
import np2fx


@np2fx.node(x="float32[7]"){decorator}
def f(x):{definition}
    y = x[0] * 2{line}
    return np.sum(
        x[::-1]  # noqa: E501
        + y,
    ){end}
"""


def names(decorator="", definition="", line="", end=""):
    return [f.name for f in check_source(SOURCE.format(decorator=decorator, definition=definition, line=line, end=end))]


def test_without():
    assert names() == ["scalar-index", "reversed-slice"]


@pytest.mark.parametrize(
    "comment",
    [
        "  # np2fx: ignore",
        "  # np2fx: ignore[scalar-index]",
        "  # np2fx:ignore[NX201]",
        "  # np2fx: ignore[random, scalar-index] -- known",
        "  # noqa",
        "  # noqa: NX201",
        "  # noqa: E501,NX201",
        "  # noqa: NX2",
        "  # type: ignore  # noqa: NX201",
        "  # NOQA: nx201",
    ],
)  # fmt: skip
def test_silenced(comment):
    assert names(line=comment) == ["reversed-slice"]


@pytest.mark.parametrize("comment", ["  # np2fx: ignore[random]", "  # noqa: E501", "  # ignore", '  ; s = "# noqa"', "  # np2fx: ignored"])
def test_not_silenced(comment):
    assert names(line=comment.replace("  ;", ";")) == ["scalar-index", "reversed-slice"]


@pytest.mark.parametrize("place", ["decorator", "definition"])
def test_on_the_def(place):
    assert names(**{place: "  # np2fx: ignore[scalar-index]"}) == ["reversed-slice"]
    assert names(**{place: "  # noqa: NX2"}) == []
