"""Rules for OpenCV: `cv2.resize` (nearest and linear) and the commonest `cv2.cvtColor`.

Switched on by `rules = ["np2fx.contrib.cv2_rules"]`. Integers come out bit for bit as OpenCV computes them, which is in fixed point;
float32 to rounding. Which pixels go into which, and their weights, follow from the sizes: a graph is specialised on the image's size.
"""

from __future__ import annotations

import numpy
import torch

from ..rules import Refused, as_tensor, cast, rule

INTER_NEAREST, INTER_LINEAR = 0, 1
COLOR_BGR2RGB, COLOR_BGR2GRAY, COLOR_RGB2GRAY = 4, 6, 7
_WEIGHTS = {COLOR_BGR2GRAY: (0.114, 0.587, 0.299), COLOR_RGB2GRAY: (0.299, 0.587, 0.114)}
_FIXED_WEIGHTS = {COLOR_BGR2GRAY: (3735, 19235, 9798), COLOR_RGB2GRAY: (9798, 19235, 3735)}  # the same, times 2 ** 15
_NEAREST = (torch.uint8, torch.uint16, torch.int16, torch.float32, torch.float64)
_ONE = 2048  # linear weights of uint8 images have 11 bits


@rule("cv2.cvtColor", kind="shape", examples=("cv2.cvtColor(image, cv2.COLOR_BGR2RGB)", "cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)",
                                              "cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)"))  # fmt: skip
def cvt_color(src, code, dst=None, dstCn=0):
    """Images of three channels, uint8, uint16 or float32. BGR to RGB and back, and either to gray."""
    image = as_tensor(src)
    _check(image, "cvtColor", (torch.uint8, torch.uint16, torch.float32), dst)
    if dstCn or code not in (COLOR_BGR2RGB, *_WEIGHTS):
        raise Refused(f"cv2.cvtColor with code {code}", "BGR2RGB, RGB2BGR, BGR2GRAY and RGB2GRAY are known; write others in NumPy")
    if image.ndim != 3 or image.shape[-1] != 3:
        raise ValueError(f"cv2.cvtColor takes an image of three channels, not {tuple(image.shape)}")
    if code == COLOR_BGR2RGB:
        return _torch(image, lambda x: torch.flip(x, (-1,)))
    first, second, third = torch.unbind(image, -1)
    if image.dtype == torch.float32:
        w = _WEIGHTS[code]
        return first * w[0] + second * w[1] + third * w[2]
    w = _FIXED_WEIGHTS[code]
    first, second, third = (cast(c, torch.int64) for c in (first, second, third))
    return cast(torch.bitwise_right_shift(first * w[0] + second * w[1] + third * w[2] + (1 << 14), 15), image.dtype)


@rule("cv2.resize", kind="shape", examples=("cv2.resize(image, (5, 4), interpolation=cv2.INTER_NEAREST)", "cv2.resize(small, (5, 4))",
                                            "cv2.resize(small, (2, 3), interpolation=cv2.INTER_LINEAR)"))  # fmt: skip
def resize(src, dsize, dst=None, fx=0, fy=0, interpolation=INTER_LINEAR):
    """`dsize` is (width, height). INTER_NEAREST for every dtype that OpenCV resizes, INTER_LINEAR for uint8 and float32.

    As in OpenCV, an image of one channel loses its third axis."""
    image = as_tensor(src)
    if interpolation not in (INTER_NEAREST, INTER_LINEAR):
        raise Refused(f"cv2.resize with interpolation={interpolation}", "INTER_NEAREST and INTER_LINEAR are known")
    _check(image, "resize", _NEAREST if interpolation == INTER_NEAREST else (torch.uint8, torch.float32), dst)
    if dsize is None or fx or fy:
        raise Refused("cv2.resize with fx= and fy=", "give the size: cv2.resize(image, (width, height))")
    width, height = (int(n) for n in dsize)
    if image.ndim not in (2, 3) or 0 in image.shape or width < 1 or height < 1:
        raise ValueError(f"cv2.resize takes an image and a positive size, not {tuple(image.shape)} and {(width, height)}")
    if image.ndim == 3 and image.shape[-1] == 1:
        image = torch.squeeze(image, -1)
    if (height, width) == tuple(image.shape[:2]):
        return torch.clone(image)
    if interpolation == INTER_NEAREST:
        rows, columns = (_index(_nearest(n, m), image) for n, m in zip(image.shape[:2], (height, width), strict=True))
        return _torch(image, lambda x: torch.index_select(torch.index_select(x, 0, rows), 1, columns))
    return _linear_uint8(image, height, width) if image.dtype == torch.uint8 else _linear_float(image, height, width)


def _check(image, function, dtypes, dst):
    if dst is not None:
        raise Refused(f"cv2.{function} with dst=", "use what it returns")
    if image.dtype not in dtypes:
        raise Refused(f"cv2.{function} of {image.dtype} is not known", "cast to uint8 or float32 first", "unsupported-dtype")


def _torch(image, move):
    """Elements are only moved, but torch moves no uint16."""
    return cast(move(cast(image, torch.int32)), image.dtype) if image.dtype == torch.uint16 else move(image)


def _nearest(n, m):
    """For each of `m` places, which of `n`: OpenCV rounds the left edge down, not the middle."""
    return numpy.minimum(numpy.floor(numpy.arange(m) * (1 / (m / n))).astype(numpy.int64), n - 1)


def _between(n, m, precision, clip):
    """For each of `m` places, the two of `n` it lies between, and the float32 weight of the second.

    `clip` gives the border its own value with weight 1; else both neighbours are the border and the weights stay."""
    places = ((numpy.arange(m) + 0.5) * (1 / (m / n)) - 0.5).astype(precision)
    left = numpy.floor(places)
    weight = (places - left).astype(numpy.float32)
    left = left.astype(numpy.int64)
    if clip:
        weight = numpy.where((left < 0) | (left >= n - 1), numpy.float32(0), weight)
    low = numpy.clip(left, 0, n - 1)
    return low, numpy.minimum(low + 1, n - 1) if clip else numpy.clip(left + 1, 0, n - 1), weight


def _linear_float(image, height, width):
    y0, y1, wy = _between(image.shape[0], height, numpy.float64, True)
    x0, x1, wx = _between(image.shape[1], width, numpy.float64, True)
    wy, wx = _along(wy, 0, image), _along(wx, 1, image)
    rows = torch.index_select(image, 1, _index(x0, image)) * (1 - wx) + torch.index_select(image, 1, _index(x1, image)) * wx
    return torch.index_select(rows, 0, _index(y0, image)) * (1 - wy) + torch.index_select(rows, 0, _index(y1, image)) * wy


def _linear_uint8(image, height, width):
    """Integers throughout: 11 bits of weight a pass, four bits dropped between the two and the rest rounded at the end."""
    y0, y1, wy = _between(image.shape[0], height, numpy.float32, False)
    x0, x1, wx = _between(image.shape[1], width, numpy.float32, True)
    wide = cast(image, torch.int64)
    rows = torch.index_select(wide, 1, _index(x0, image)) * _along(_bits(1 - wx), 1, image)
    rows = torch.bitwise_right_shift(rows + torch.index_select(wide, 1, _index(x1, image)) * _along(_bits(wx), 1, image), 4)
    upper = torch.index_select(rows, 0, _index(y0, image)) * _along(_bits(1 - wy), 0, image)
    lower = torch.index_select(rows, 0, _index(y1, image)) * _along(_bits(wy), 0, image)
    both = torch.bitwise_right_shift(upper, 16) + torch.bitwise_right_shift(lower, 16)
    return cast(torch.bitwise_right_shift(both + 2, 2), torch.uint8)


def _bits(weight):
    return numpy.rint(weight * numpy.float32(_ONE)).astype(numpy.int64)


def _along(weights, axis, image):
    """Weights as a tensor that broadcasts along an axis of the image."""
    shape = [1] * image.ndim
    shape[axis] = -1
    return torch.from_numpy(weights).to(image.device).reshape(shape)


def _index(places, image):
    return torch.from_numpy(places).to(image.device)
