"""Functions whose calls have a compiled guard, and what they find around them."""

import numpy as np

MEAN = np.array([1.0, 2.0, 3.0])
GAIN = 2.0
EPS = np.float64(0.5)
LEVEL = np.array(3.0)


def centred(x):
    return (x - MEAN) * GAIN


def gain():
    return EPS


def level():
    return LEVEL


def same(x):
    return x


def first(x, k=1):
    return x[k]


def both(a, *, b):
    return a / b


def doubled(x):
    return x * 2


def helped(x):
    return doubled(x) + 1


def picked(x, i):
    return x.reshape(i, -1)


def counted(xs):
    return (x for x in xs)


def length(x):
    return len(x) + x


def scaled(x, factor=2, *, shift=1):
    return x * factor + shift


def unscaled(x, factor=2, *, shift=1):
    return np.sqrt(x) - factor * shift
