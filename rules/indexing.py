"""Indexing: `a[key]`, `a[key] = value` and `a.flat`, with NumPy's keys, order of axes, copies and views.

How keys are read and what they select is in `semantics.keys` and `semantics.indexing`, which other topics index with too.
"""

from __future__ import annotations

from ..semantics.entering import rule
from ..semantics.indexing import FlatView, assigned, selected


@rule("numpy.ndarray.__getitem__", kind="indexing", view=True, examples=(
    "x[0]", "x[-1]", "x[1:]", "x[::-1]", "x[..., 0]", "x[None]", "x[..., ::-1]", "x[::-2]", "x[i]", "x[[0, -1]]", "x[k]", "x[..., i]",
    "x[0, ...]"))  # fmt: skip
def getitem(a, key):
    """`a[key]`: a view for ints, slices, None and `...`; a copy for index arrays and masks; a scalar where all is picked."""
    return selected(a, key)

@rule("numpy.ndarray.__setitem__", kind="indexing", writes="a", examples=(
    "x.__setitem__(0, 1)", "x.__setitem__((..., slice(None, None, -1)), y)", "x.__setitem__((..., slice(None, None, -2)), 1)",
    "x.__setitem__(k, 0)", "x.__setitem__(k, y[k])", "x.__setitem__(i, 1)", "x.__setitem__(i, y[i])", "x.__setitem__([0, 0, -1], y[:1])",
    "x.__setitem__((0, ...), y[-1])", "x.__setitem__((..., i), y[..., :1])", "x.__setitem__(..., y)",
    "x.__setitem__((None, slice(1, None)), 2)"))  # fmt: skip
def setitem(a, key, value):
    """`a[key] = value`: the new value of `a`. The value is cast as C does ("unsafe") and broadcast; of an index given twice
    the last value stays."""
    return assigned(a, key, value)

@rule("numpy.ndarray.flat", kind="indexing", view=True, examples=(
    "x.flat[0]", "x.flat[::-2]", "x.flat[i]", "x.flat[k.ravel()]", "list(x.flat)", "len(x.flat)",
    "x.flat.__setitem__(slice(None), [1, 2])"))  # fmt: skip
def flat(a):
    """The elements in C order, to be indexed by one number, slice or list: see `FlatView`. Of at most 32 axes, as NumPy's."""
    return FlatView.of(a)
