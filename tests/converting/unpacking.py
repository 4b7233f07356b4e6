"""Functions in which Python iterates and unpacks arrays itself: the elements are copies in NumPy, the rows are views."""

import collections
import contextlib
import functools
import heapq
import itertools

import np2fx


class Holder:
    def __init__(self):
        self.d = {}


class Lent:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *error):
        return False


@np2fx.node
def swapped(x):
    for i, (a, b) in enumerate(x.reshape(3, 2)):
        x[2 * i] = b
        x[2 * i + 1] = a
    return x


@np2fx.node
def nested_targets(x):
    (a, b), c = x[:2], x[2]
    [d, [e, *g]] = x[0], x[1:4]
    *r, (h, *i), j = 1, 2, x[:3], x[3]
    *(p, q), s = x[:3]
    (t, (u, v)), w = (1, x[4:]), x[4:]
    x[:] = 0
    return a, b, c, d, e, g, h, i, j, r, p, q, s, t, u, v, w


@np2fx.node
def loop_targets(x):
    y, found, before = x.reshape(3, 2), [], 0.0
    for (a, b), c in zip(y, y[::-1], strict=True):
        y[0] = 7
        found += [a, b, c]
    for p, q in y:
        x += 1
        found.append(before + p)
        before = q
    for i, (k,) in enumerate(x.reshape(6, 1)):
        x[i] = 5
        found.append(k)
    for f, *g in y:
        found += [f, *g]
    x[:] = 0
    return found, before


@np2fx.node
def comprehension_targets(x):
    y, pairs = x.reshape(3, 2), [(x[:2], 1), (x[2:4], 2)]
    made = {i: j for i, j in y}  # noqa: C416
    found = [p for (p,) in y[:, :1]], list(made.values()), list(map(float, made)), [(a, b, n) for (a, b), n in pairs]
    steps = (a for a, _ in y)
    first = next(steps)
    x[:] = 9
    return found, first, list(steps)


@np2fx.node
def values(x):
    def asked():
        a, b = yield 1
        (c, d), e = yield a
        yield b, c, d, e

    steps, y = asked(), x.reshape(3, 2)
    found = [next(steps), steps.send(x[:2]), steps.send((x[2:4], 1))]
    (f, g), h = (x[:2] if x[0] > 1 else x[2:4]), x[3]
    i = j, k = m = (x[:2])  # fmt: skip
    p, q = (r := x[:2])
    if x[1] > 1:
        s, (t, u) = x[0], x[:2]
    else:
        s, (t, u) = x[1], x[2:4]
    for (v, w), z in (y[:2], 1), (y[:2], 2):
        found += [v, w, z]
    for x[0], (x[1], o) in zip(x, y, strict=False):  # noqa: B020
        found.append(o)
    x[:] = 0
    return found, f, g, h, i, j, k, m, p, q, r, s, t, u


@np2fx.node
def contexts(x):
    with contextlib.nullcontext(x[:2]) as (a, b), Lent((x[2], x[3:5])) as (c, (d, e)):
        x[:] = 9
    return a, b, c, d, e


@np2fx.node
def chained(x):
    y = a, b = x[:2]
    y += 1
    z = [c, *d] = w = x
    (e, f) = (g, h) = x[:2]
    i, (j, k) = 0, x[1:3]
    x[0] = 99
    return y, a, b, z is x, z, w, c, d, e, f, g, h, i, j, k


@np2fx.node
def chained_places(x):
    o, d = Holder(), {}
    o.a = b, c = x[:2]
    o.e, (f, g) = x[:2], x[2:4]
    d["a"] = h, i = x[:2]
    d["b"], (j, k) = x[:2], x[2:4]
    d["c"], m = x[:2]
    x[4], n = x[:2]
    x[:4] = 9
    return o.a, b, c, o.e, f, g, d, h, i, j, k, m, n, x


@np2fx.node
def lists(x):
    a, b, c = [], [1, 2, 3], x.tolist()
    a.extend(x[:2])
    a.extend(v for v in x[2:3])
    list.extend(a, x[3:5])
    b[1:] = x[:2]
    c[::2] = x[:3]
    c.__iadd__(x[5:])
    x[:] = 9
    return a, b, c


def _filled(held, x):
    held.extend(x[:2])
    if isinstance(held, list):
        held[1:2] = x[2:4]
    else:
        held.extendleft(x[4:5])
    x[:] = 9
    return list(held)


@np2fx.node
def whichever(x):
    return _filled([1], x.copy()), _filled(collections.deque([2], maxlen=3), x.copy())


@np2fx.node
def sets(x):
    found, counted = set(x[:2]), collections.Counter(x[2:3])
    found.update(x[3:5])
    counted.update(x[3:])
    x[:] = 9
    return sorted(found), sorted(counted)


def _given(x):
    got = yield from x
    yield got
    yield from iter(x[:1])


@np2fx.node
def delegated(x):
    steps, found = _given(x), list(_given(x[:2]))
    found.append(next(steps))
    x[:] = 9
    found.append(next(steps))
    return found


@np2fx.node
def library(x):
    both, _ = itertools.tee(x[:2])
    found = [*both, *itertools.chain.from_iterable(x.reshape(3, 2)), *filter(None, x), functools.reduce(lambda a, b: b, x)]
    found += [*heapq.nlargest(2, x), *heapq.nsmallest(2, x), *heapq.merge(x[:1], x[1:2])]
    x[:] = 9
    return found


@np2fx.node
def errors(x):
    found = []
    tries = (
        lambda: [0 for a, (b, c) in [(1, x[:3])]],
        lambda: [0 for a, (b, c) in [(1, x[:1])]],
        lambda: [0 for a, (b, *c), d in [(1, x[:0], 2)]],
        lambda: [0 for a, b in x],
        lambda: [0 for a, b in [(1, 2, 3)]],
        lambda: [0 for (a, b), c in [(1, 2)]],
        lambda: [0 for a, b in 3],
    )
    for attempt in tries:
        try:
            attempt()
        except (TypeError, ValueError) as error:
            found.append(f"{type(error).__name__}: {error}")
    x[:] = 9
    return found


@np2fx.node
def infinite(x):
    try:
        (a, b), c = (x[:2] for _ in itertools.count())
    except ValueError as error:
        return str(error), x
    x[:] = 9
    return a, b, c


NODES = [swapped, nested_targets, loop_targets, comprehension_targets, values, contexts, chained, chained_places, lists, whichever, sets,
         delegated, library, errors, infinite]  # fmt: skip
