"""The rules that np2fx ships for other libraries, against those libraries."""

from __future__ import annotations

import sys

import cv2
import np2fx
import numpy as np
import pytest
import scipy.fft
import scipy.fft as sf
import torch
from hypothesis import strategies as st
from np2fx.rules import Refused, lookup
from np2fx.semantics.table import original
from np2fx.source.findings.check import check_source
from np2fx.testing import check_rule
from scipy.fft import rfft as plain_rfft
from scipy.spatial.transform import Rotation

SCIPY = ("expit", "logit", "log_expit", "erf", "erfc", "ndtr", "xlogy", "entr", "softmax", "log_softmax", "logsumexp")


@pytest.mark.parametrize("name", SCIPY)
def test_scipy_special(use, name):
    use("np2fx.contrib.scipy_rules")
    check_rule(f"scipy.special.{name}")


@pytest.mark.parametrize("way", ["softmax", "log_softmax"])
def test_scipy_of_integers_is_refused(use, way):
    use("np2fx.contrib.scipy_rules")
    with pytest.raises(Refused, match="int64"):
        lookup(f"scipy.special.{way}").call(torch.arange(3))


SCIPY_FFT = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2",
             "fftfreq", "rfftfreq", "fftshift", "ifftshift")  # fmt: skip


@pytest.mark.parametrize("name", SCIPY_FFT)
def test_scipy_fft(name):
    check_rule(f"scipy.fft.{name}", max_examples=10)


X = np.random.default_rng(0).normal(size=(3, 4))
TAKEN = {
    "half": (lambda f: f.rfft(X.astype("f2")), np.complex64),
    "half spectra": (lambda f: f.irfft(X.astype("f2")), np.float32),
    "workers": (lambda f: f.fft(X, workers=1), np.complex128),
    "one axis": (lambda f: f.fftn(X, s=3, axes=0), np.complex128),
}
FAILING = {
    "twice": lambda f: f.fftn(X, axes=(0, 0)), "rank": lambda f: f.fft2(X[0]),
    "norm": lambda f: f.fft(X, norm="x"), "complex": lambda f: f.rfft(X + 1j), "lengths": lambda f: f.fft2(X, s=(2,)),
    "empty": lambda f: f.fft(X[:, :0]), "axis": lambda f: f.fft(X, axis=5),
}  # fmt: skip


class Rules:
    """What a call of scipy.fft gives by np2fx's rules."""

    def __getattr__(self, name):
        return lambda x, **kwargs: lookup(f"scipy.fft.{name}").call(torch.from_numpy(np.array(x)), **kwargs)


@pytest.mark.parametrize("case", TAKEN)
def test_what_scipy_fft_takes(case):
    call, dtype = TAKEN[case]
    want, got = call(scipy.fft), call(Rules()).resolve_conj().numpy()
    assert want.dtype == got.dtype == dtype
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("case", FAILING)
def test_what_scipy_fft_refuses(case):
    with pytest.raises(Exception) as theirs:
        FAILING[case](scipy.fft)
    with pytest.raises(theirs.type):
        FAILING[case](Rules())


def spectrum(x):
    return sf.fft(x), scipy.fft.rfft(x, n=8), plain_rfft(x), sf.fft2(np.outer(x, x)), sf.fftshift(x)


def test_scipy_fft_needs_no_module_that_is_named():
    x = np.arange(5.0) ** 2
    for way in (np2fx.trace(spectrum, x), np2fx.convert(spectrum)):
        for got, want in zip(way(torch.from_numpy(x)), spectrum(x), strict=True):
            np.testing.assert_allclose(np.asarray(got.resolve_conj() if isinstance(got, torch.Tensor) else got), want)
    assert check_source("import numpy as np, np2fx, scipy.fft\n@np2fx.node\ndef f(x):\n    return scipy.fft.rfft(x)\n") == []


def test_what_overwrites_is_refused():
    with pytest.raises(np2fx.TraceError, match="overwrite_x"):
        np2fx.trace(lambda x: sf.fft(x, overwrite_x=True), np.ones(3))


def test_a_library_that_nobody_has_imported_is_not(monkeypatch):
    monkeypatch.delitem(sys.modules, "wsgiref.simple_server", raising=False)
    monkeypatch.delitem(sys.modules, "wsgiref", raising=False)
    assert original("wsgiref.simple_server.make_server", imported=False) is None
    assert "wsgiref" not in sys.modules
    assert callable(original("wsgiref.simple_server.make_server"))


def images(dtypes, channels=(3,)):
    """Images (height, width, channels) of 1 to 9 pixels a side; 0 channels for those without the axis."""

    def make(drawn):
        dtype, height, width, count, seed = drawn
        rng, shape = np.random.default_rng(seed), (height, width, count) if count else (height, width)
        if np.dtype(dtype).kind == "f":
            return rng.random(shape).astype(dtype)
        return rng.integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)

    size = st.integers(1, 9)
    return st.tuples(st.sampled_from(dtypes), size, size, st.sampled_from(channels), st.integers(0, 9999)).map(make)


def test_cv2_colours(use):
    use("np2fx.contrib.cv2_rules")
    check_rule("cv2.cvtColor", inputs={"image": images(("uint8", "uint16", "float32"))}, max_examples=30)


def test_cv2_resize(use):
    use("np2fx.contrib.cv2_rules")
    every, two = ("uint8", "uint16", "int16", "float32", "float64"), ("uint8", "float32")
    check_rule("cv2.resize", inputs={"image": images(every, (0, 1, 3)), "small": images(two, (0, 1, 3))}, max_examples=60)


@pytest.mark.parametrize(("height", "width"), [(480, 640), (31, 45), (24, 32), (240, 320), (1, 7)])
def test_cv2_resize_of_real_sizes_is_exact(use, height, width):
    use("np2fx.contrib.cv2_rules")
    image = np.random.default_rng(height).integers(0, 256, (120, 160, 3), dtype=np.uint8)
    for how in (cv2.INTER_LINEAR, cv2.INTER_NEAREST):
        want = cv2.resize(image, (width, height), interpolation=how)
        got = lookup("cv2.resize").call(torch.from_numpy(image), (width, height), interpolation=how)
        assert np.array_equal(got.numpy(), want)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: lookup("cv2.resize").call(x, (4, 4), interpolation=cv2.INTER_CUBIC), "interpolation=2"),
        (lambda x: lookup("cv2.resize").call(x, None, fx=0.5, fy=0.5), "fx= and fy="),
        (lambda x: lookup("cv2.resize").call(x, (4, 4), dst=x), "dst="),
        (lambda x: lookup("cv2.resize").call(x.double(), (4, 4)), "float64"),
        (lambda x: lookup("cv2.cvtColor").call(x, cv2.COLOR_BGR2HSV), "code 40"),
    ],
)
def test_cv2_refusals(use, call, message):
    use("np2fx.contrib.cv2_rules")
    with pytest.raises(Refused, match=message):
        call(torch.zeros((8, 8, 3), dtype=torch.uint8))


def preprocess(image):
    small = cv2.resize(image, (7, 5))
    return cv2.cvtColor(small, cv2.COLOR_BGR2GRAY) / 255


@pytest.mark.parametrize("make", [lambda x: np2fx.trace(preprocess, x), lambda x: np2fx.convert(preprocess)], ids=["trace", "convert"])
def test_a_vision_node(use, make):
    use("np2fx.contrib.cv2_rules")
    image = np.random.default_rng(0).integers(0, 256, (9, 11, 3), dtype=np.uint8)
    assert np.array_equal(make(image)(torch.from_numpy(image)).numpy(), preprocess(image))


RNG = np.random.default_rng(5)
QUATS, VECTORS = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 3))
FIXED = Rotation.from_euler("xyz", [0.1, -0.2, 0.3])


def of_quaternions(q, v):
    r, one = Rotation.from_quat(q), Rotation.from_quat(q[0], scalar_first=True)
    made = r.as_matrix(), r.as_quat(canonical=True), r.as_rotvec(degrees=True), r.magnitude()
    return *made, r.apply(v), one.apply(v, inverse=True), r[1:].as_quat()


def of_matrices(q, v):
    m = Rotation.from_quat(q).as_matrix() * 1.01
    return Rotation.from_matrix(m).as_quat(canonical=True), Rotation.from_matrix(m[0]).as_rotvec()


def of_rotation_vectors(q, v):
    small = v * 1e-4
    return Rotation.from_rotvec(v).as_quat(), Rotation.from_rotvec(small).as_rotvec(), Rotation.from_rotvec(v[0], degrees=True).as_matrix()


def of_euler_angles(q, v):
    one = Rotation.from_euler("ZYX", v[0], degrees=True)
    return Rotation.from_euler("xyz", v).as_matrix(), one.as_quat(), Rotation.from_euler("y", v[0, 0]).as_quat()


def of_products(q, v):
    r = Rotation.from_quat(q[0])
    return (FIXED * r.inv()).apply(v), FIXED.apply(v), (r * Rotation.identity()).as_matrix()


@pytest.mark.parametrize("node", [of_quaternions, of_matrices, of_rotation_vectors, of_euler_angles, of_products])
def test_rotations(use, node):
    use("np2fx.contrib.rotation_rules")
    graph = np2fx.trace(node, QUATS, VECTORS)
    for q, v in ((QUATS, VECTORS), (-QUATS[::-1].copy(), 2 * VECTORS)):
        for got, want in zip(graph(torch.from_numpy(q), torch.from_numpy(v)), node(q, v), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_what_rotations_refuse(use):
    use("np2fx.contrib.rotation_rules")
    graph = np2fx.trace(lambda q: Rotation.from_quat(q).as_matrix(), QUATS)
    with pytest.raises(ValueError, match="zero norm"):
        graph(torch.zeros(4, 4, dtype=torch.float64))
    for node in (lambda q: Rotation.from_quat(q).as_euler("xyz"), lambda q: Rotation.concatenate([Rotation.from_quat(q)]).as_quat()):
        with pytest.raises(np2fx.TraceError, match="has no rule"):
            np2fx.trace(node, QUATS)


def test_rotations_are_off_until_they_are_named():
    with pytest.raises(np2fx.TraceError, match="scipy"):
        np2fx.trace(of_products, QUATS, VECTORS)
