"""The rules that np2fx ships for other libraries, against those libraries."""

from __future__ import annotations

import cv2
import np2fx
import numpy as np
import pytest
import torch
from hypothesis import strategies as st
from np2fx.rules import Refused, lookup
from np2fx.testing import check_rule

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
