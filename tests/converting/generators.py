"""Functions with generators, for `convert`: each takes a 2-D array."""

import numpy as np


def nested(x):
    def g():
        for r in x:
            yield np.sin(r) * 2

    return np.stack(list(g()))


def writes_into_views(x):
    y = x.copy()

    def g():
        for r in y:
            yield r[::-1]

    for v in g():
        v[0] = 7
    return y


def scalars_are_no_views(x):
    y = x.ravel().copy()

    def g():
        yield from y

    out = []
    for v in g():
        v += 1
        out.append(v)
    return np.array(out), y


def runs_late(x):
    y = x.copy()

    def g():
        for i in range(len(y)):
            yield y[i] * 1

    h = g()
    next(h)
    y[:] = 0
    return np.stack(list(h))


def is_sent_to(x):
    def running():
        total = np.zeros_like(x[0])
        while True:
            v = yield total
            total = total + v

    a = running()
    next(a)
    for r in x:
        t = a.send(r)
    return t


def delegates(x):
    def a():
        yield x[0]
        return x[1]

    def b():
        last = yield from a()
        yield last / 2

    return np.concatenate(list(b()))


def expressions(x):
    return any(v > 1 for v in x.ravel()), sum(v for v in x.ravel()), max(r.sum() for r in x), tuple(r.mean() for r in x)


def rows(x):
    for r in x:
        yield np.sqrt(r) * 2


def flipped(x):
    for r in x:
        yield r[::-1]


def calls_one(x):
    return np.stack(list(rows(x)))


def writes_through_one(x):
    y = x.copy()
    for r in flipped(y):
        r[0] = 9
    return y


def is_one(x):
    s = x.sum(0)
    for r in x:
        s = r / s
        yield s, {"k": s.max()}
    return s


def gives_an_expression(x):
    return (r * 2 for r in x)


def raises(x):
    return (r[7] for r in x)


PROGRAMS = [nested, writes_into_views, scalars_are_no_views, runs_late, is_sent_to, delegates, expressions, calls_one, writes_through_one,
            is_one, gives_an_expression, raises]  # fmt: skip


def writes_late(x):
    for r in x:
        v = r[::-1]
        yield v
        v[1] = 5


class Keeping:
    def steps(self, x):
        for r in x:
            self.last = r * 2
            yield self.last
