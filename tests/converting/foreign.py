"""Functions in which arrays meet code that nobody converts: classes, texts, threads, Python's own library."""

from __future__ import annotations

import collections
import csv
import decimal
import functools
import io
import json
import operator
import statistics
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch


class Gauge:
    """A property that computes when it is read and when it is set; an attribute that is made when it is asked for."""

    def __init__(self):
        self._q = np.array([1.0, 2.0, 5.0])

    def __getattr__(self, name):
        if name != "cov":
            raise AttributeError(name)
        self.cov = self._q * 10
        return self.cov

    @property
    def q(self):
        return self._q * self._q.std()

    @q.setter
    def q(self, value):
        self._q = value / value.std()

    def updated(self, x):
        self.q = x
        self.q += x
        self.q -= x.mean()
        return self.q

    def on_first_use(self, x):
        self._q = x
        self.cov += 1
        return self.cov


class Halving:
    def __setattr__(self, name, value):
        super().__setattr__(name, value * 0.5)

    def run(self, x):
        self.w = x
        self.w, self.v = x * 2, x[0]
        return self.w + self.v


class Items(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@dataclass
class Sample:
    x: np.ndarray


def norm(x):
    return (x - x.mean()) / x.std()


def in_threads(x):
    with ThreadPoolExecutor(2) as pool:
        return pool.submit(norm, x).result(), list(pool.map(norm, [x, x * 2]))[1], operator.call(norm, x) if x.ndim == 9 else 0


def by_partial(x):
    return functools.partial(norm, x)(), next(map(norm, [x])), functools.reduce(lambda a, b: a.std() + b.std(), [x, x])


def asks_torch(x):
    return x * 100 if torch.is_tensor(x) else x * 2


def rows_of_text(x):
    text = io.StringIO()
    csv.writer(text).writerow([x[0], x.mean(), int(x.sum())])
    return text.getvalue()


def texts(x):
    try:
        raise KeyError(x[0])
    except KeyError as error:
        said = str(error)
    whole = str(Sample(x)), str({"a": x}.values()), str(collections.deque([x[0]])), f"{ {k: v for k, v in zip('ab', x, strict=False)} }"  # noqa: C416
    return *whole, "{a}".format_map({"a": x}), said, "%s %.2f" % (x, x[1]), repr([x]), ", ".join(f"{v:.2f}" for v in x)  # noqa: UP031


def numbers(x):
    mean = x.mean()
    return json.dumps({"mean": mean}), decimal.Decimal(mean), statistics.mean([x[0], x[2]]), {x[0]: 1}[1.0], sorted(x), mean in {mean}


def items(x):
    held = Items(a=x)
    held.b = held.a * 2
    return held.b, sorted(held)


def bytes_of(x):
    return zlib.crc32(x), zlib.adler32(x[1:])


TABLE = {"norm": norm}


def chosen(x, act=norm):
    return act(x) if act is norm and TABLE["norm"] is act and act in (norm, abs) else x


FUNCTIONS = [chosen, in_threads, by_partial, asks_torch, rows_of_text, texts, numbers, items, bytes_of]
METHODS = [(Gauge, "updated"), (Gauge, "on_first_use"), (Halving, "run")]
