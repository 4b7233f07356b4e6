"""`signature=` of ufuncs names the loop: values, dtypes and errors are NumPy's."""

import np2fx
import numpy as np
import pytest
import torch
from np2fx import numpy as tnp

X = np.array([1, 2, 120], np.int8)
F = np.array([0.1, -2, 3], np.float32)
ASKED = [
    ("add", (X, 1), "ll->l"), ("add", (X, 1), "dd->d"), ("add", (F, F), (None, None, np.float64)), ("add", (F, 1), ("f8", None, None)),
    ("multiply", (X, X), (np.int64, None, None)), ("divide", (X, 2), "ff->f"), ("sqrt", (F,), "d->d"), ("less", (X, 3), "dd->?"),
    ("less", (X, 300), "ll->?"), ("divmod", (X, 7), "ll->ll"), ("isnan", (F,), "d->?"), ("power", (F, 2), (None, None, "f8")),
    ("hypot", (X, X), "dd->d"), ("negative", (X,), ("i4", None)),
]  # fmt: skip
WRONG = [("add", (F, F), "ll->l"), ("add", (F, F), "dd"), ("add", (F, F), (None, None, bool)), ("sqrt", (F,), "l->l"),
         ("add", (X, 300), "bb->b"), ("less", (X, 300), "bb->?")]  # fmt: skip


def tensors(operands):
    return [torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in operands]


@pytest.mark.parametrize(("name", "operands", "signature"), ASKED)
def test_the_loop_is_numpys(name, operands, signature):
    def fn(*operands):
        with np.errstate(all="ignore"):
            return getattr(np, name)(*operands, signature=signature)

    want = fn(*operands)
    traced = np2fx.trace(fn, *operands)
    for got in (getattr(tnp, name)(*tensors(operands), signature=signature), traced(*tensors(operands))):
        for g, w in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,), strict=True):
            assert g.numpy().dtype == w.dtype
            np.testing.assert_allclose(g.numpy(), w, rtol=1e-6)


@pytest.mark.parametrize(("name", "operands", "signature"), WRONG)
def test_errors_are_numpys(name, operands, signature):
    with pytest.raises(Exception) as known:
        getattr(np, name)(*operands, signature=signature)
    with pytest.raises(known.type):
        getattr(tnp, name)(*tensors(operands), signature=signature)


def test_a_loop_and_a_dtype():
    for call, x in ((np.add, F), (tnp.add, torch.from_numpy(F))):
        with pytest.raises(TypeError):
            call(x, x, signature="dd->d", dtype="d")
