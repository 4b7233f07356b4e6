"""What stands above a node: imports, constants and helpers of the kinds that people write."""

HEADER = '''import contextlib
import dataclasses
import operator

import numpy as np

TABLE = np.array([10.0, 20.0, 30.0])
WEIGHTS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], dtype=np.float32)
MASK = np.array([True, False, True])
shift = 1.5
LIMITS = {"low": -1, "high": 2}


def normalise(v, eps=1e-6):
    """Divides by the norm."""
    return v / (np.linalg.norm(v) + eps)


def scale(v, by=2.0):
    return v * by


def two(v):
    return v + 1, v * 2


def affine(v, a, *, b=0):
    return a * v + b


def first(v):
    return v[0]


def centre(v, axis=None):
    if axis is None:
        return v - v.mean()
    return v - v.mean(axis=axis, keepdims=True)


def clamp(v, low, high):
    return np.minimum(np.maximum(v, low), high)


def softmax(v):
    e = np.exp(v - np.max(v, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def relu(v):
    out = v.copy()
    out[out < 0] = 0
    return out


def bump(v, by=1):
    v += by


def zero_first(v):
    v[0] = 0
    return v


def stacked(*parts):
    return np.stack(parts)


def windows(v, size=2):
    return np.array([v[i : i + size] for i in range(len(v) - size + 1)])


def polynomial(t, *coefficients):
    result = 0
    for c in coefficients:
        result = result * t + c
    return result


def apply(f, v):
    return f(v)


def pick(v, name):
    table = {"twice": lambda t: t * 2, "same": lambda t: t}
    return table[name](v)


def norms(v):
    return [np.sqrt((row * row).sum()) for row in v]


def one_hot(v, n=3):
    out = np.zeros((len(v), n), dtype=np.float32)
    out[np.arange(len(v)), v] = 1
    return out


def accumulate(v):
    total = 0
    out = []
    for item in v:
        total = total + item
        out.append(total)
    return np.array(out)


class Box:
    """Holds a value."""

    def __init__(self, value):
        self.value = value

    def doubled(self):
        return self.value * 2


@dataclasses.dataclass
class Seen:
    """An observation."""

    image: np.ndarray
    scale: float = 2.0

    @property
    def spread(self):
        return self.image.std()

    def scaled(self):
        return self.image * self.scale


@dataclasses.dataclass
class Checked:
    """An observation that makes itself ready."""

    image: np.ndarray

    def __post_init__(self):
        self.image = np.asarray(self.image, dtype=np.float64)
        self.mean = self.image.mean()


class Running:
    """A running mean, and the last values."""

    def __init__(self):
        self.count, self.total = 0, np.zeros(())
        self.last = np.zeros(3)

    def update(self, value):
        self.last[self.count % 3], self.count = value, self.count + 1
        self.total = self.total + value
        return self.total / self.count


class Ending:
    """Ends errors of some kinds."""

    def __init__(self, *kinds):
        self.kinds, self.count = kinds, 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.count += kind is not None
        return kind is not None and issubclass(kind, self.kinds)


@contextlib.contextmanager
def trying(*kinds):
    with contextlib.suppress(*kinds):
        yield


def spread(o):
    return o["a"].std()


def walk(o):
    if isinstance(o, dict):
        return {k: walk(v) for k, v in o.items()}
    if isinstance(o, (list, tuple)):
        return [walk(v) for v in o]
    return o * 2


def kind_of(o):
    match o:
        case np.ndarray():
            return 1
        case {"a": v}:
            return v
        case [first, *_]:
            return first
        case _:
            return 0
'''
"""The whole of it stands above every program; what a program does not use is taken away when it is printed."""
