"""NumPy programs for the codemod: each a function and the arguments it is tried on. What they do is Python's and NumPy's everyday."""

from __future__ import annotations

import numpy as np

TABLE = np.array([10.0, 20.0, 30.0, 40.0])
EPS = 1e-6


def helper(v, scale=2.0):
    return v / (np.sqrt(np.sum(v * v)) + EPS) * scale


def unpack_then_write(x):
    a, b, *rest = x
    x[0] = 9
    return a, b, rest


def write_through_reversed(x):
    y = x[::-1]
    y[0] = 7
    x[1] = 5
    return x, y


def scalars_do_not_alias(x):
    s = x[0]
    t = s
    s += 1
    x[0] = 10
    return s, t, x


def loop_over_indices(x):
    for i in range(len(x)):
        x[i] = x[i] * 2 if x[i] > 2 else x[i]
    return x


def errors_are_numpys(x):
    try:
        return x + np.ones(3)
    except ValueError:
        return x * 0


def swap_elements(x):
    x[0], x[1] = x[1], x[0]
    return x


def two_names_one_array(x):
    y = x
    y += 1
    z = x.copy()
    z *= 2
    return x, y, z


def comprehensions(x):
    return [v * 2 for v in x], {k: x[k] for k in range(2)}, sum(v for v in x)


def lambdas(x):
    power = lambda t, k=2: t**k  # noqa: E731
    return power(x), power(x, 3)


def closures(x):
    def inner(z):
        return np.sum(z) * c

    c = 3
    return inner(x)


def texts(x):
    return f"{x.mean():.2f} {x[0]} {x} {x.shape} {len(x)}", str(x.sum()), "%s" % x[1]


def assigning_truncates(x):
    b = np.zeros(4, dtype=int)
    b[:] = x * 1.7
    b += 1
    return b


def casting_error_in_place(x):
    b = np.zeros(4, dtype=int)
    b += x
    return b


def division_kinds(x):
    return x // 0.7, x % 0.7, divmod(x, 2), -x // 1, 7 // x, 2**x


def integer_operators(x):
    i = x.astype(int)
    return i / 2, i // 2, i % 2, i**2, i**2.0, i * 1.5, i > 1.5, i & 1, i << 1, ~i, i @ i


def fill_by_loop(x):
    out = np.empty_like(x)
    for k, v in enumerate(x):
        out[k] = v * k
    return out


def scalar_divided_in_place(x):
    t = x.sum()
    t /= 2
    return t, x / t, isinstance(t, float), isinstance(x, np.ndarray)


def builtins_on_arrays(x):
    return min(x), max(x), sorted(x), sum(x), abs(-x), round(x[0] / 3, 2), x.tolist(), list(x), float(x[1]), int(x[2]), bool(x[0])


def masks_and_lists(x):
    x[x > 2] = 0
    x[[0, 1]] += 5
    return x


def reshaped_views(x):
    y = x.reshape(2, 2)
    y[0, 0] = 100
    return x, y.ravel(), y.flatten()


def default_array(x, k=np.array([1.0, 2.0, 3.0, 4.0])):
    return x * k


def arrays_of_scalars(x):
    return np.array([x[0], x[1], 3]), np.array([[x[0], 0], [0, x[1]]]), np.stack([x, x])


def float32_promotion(x):
    x = x.astype(np.float32)
    return x * np.float64(2), x * 2.0, x.mean(), x.sum(), x**2, x / 3, np.sqrt(x), x * np.pi, x * np.float32(2)


def attributes(x):
    return x.dtype, x.dtype == np.float64, x.size, x.ndim, x.T, np.finfo(x.dtype).eps * x


def chained_assignment(x):
    a = b = np.zeros(3)
    a[0] = x[0]
    return a, b


def write_through_flip(x):
    y = np.flip(x)
    y += np.array([1, 2, 3, 4])
    return x


def overlapping_writes(x):
    x[1:] += x[:-1]
    x[:-1] = x[1:]
    return x


def truth_values(x):
    return (x > 1).any() and x.sum() > 3, not x.any(), 3.0 in x, None if x[0] > 5 else 1


def rows_in_place(x):
    m = x.reshape(2, 2)
    for row in m:
        row *= 2
    return m


def global_table(x):
    return TABLE[x.astype(int) - 1] + helper(x) - helper(v=x, scale=3)


def dispatch_dict(x):
    table = {"add": np.add, "red": np.add.reduce, "own": helper}
    return table["add"](x, 1), table["red"](x), table["own"](x)


def chained_comparison(x):
    return 0 < x[0] < 2 < x[3], [v for v in x if 1 < v <= 3]


def early_return(x):
    if x.mean() > 2:
        return x - x.mean()
    return x


def while_loop(x):
    n = 0
    while x.sum() > 1:
        x = x / 2
        n += 1
    return x, n


def nested_containers(x):
    state = {"a": x, "b": [x[1:], (x[:1],)]}
    state["a"] = state["a"] + 1
    return state


def keyword_and_star(x):
    def scale(*parts, by=2):
        return [p * by for p in parts]

    return scale(*x, by=3), np.add(*[x, x]), dict(k=x)


def walrus(x):
    if (n := len(x)) > 2:
        return x[i := n - 2] * i + n
    return x


def with_errstate(x):
    with np.errstate(divide="ignore"):
        return x / (x - 1)


def attributes_by_name(x):
    std, size = "std", "size"
    return getattr(x, std)(), getattr(x, size), hasattr(x, "cpu"), getattr(x, "nope", 3), type(x) is np.ndarray


def hashed_scalars(x):
    names = {1.0: "one", 2.0: "two"}
    counts = {v: i for i, v in enumerate(x)}
    found = names.get(x[0], "other"), x[0] in {1.0, 2.0}, counts[x[0]] >= 0
    return len(set(x)), len({v + 0 for v in x}), len(dict.fromkeys(x, 1)), found


def repeated_lists(x):
    return [0] * np.argmax(x), "a" * np.argmax(x), (1, 2) * len(x)


def containers_given_to_helpers(x):
    def collect(into, value):
        into.append(value * 2)
        return into

    found = []
    collect(found, x)
    collect(found, x + 1)
    return found, len(found)


def positive_copies(x):
    y = +x
    return y


def add_in_place(v, by=1.0):
    v += by


def helper_writes_through_a_view(x):
    add_in_place(x[::-1][:1])
    y = np.flip(x)
    add_in_place(y, 2.0)
    return x, y


def array_of_a_scalar_is_its_own(x):
    s = x[0]
    t = s[...]
    t[...] = 9
    return s, t, np.take(s, [0, 0], axis=-1)


def overlapping_after_an_augmented_name(x):
    y = 0
    y += x
    y[..., ::2] *= y[1::2]
    return y, np.signbit((x - x) % -x)


def inverse_roots(x):
    y = np.array([-np.inf, -0.0, 4.0]) * x[0]
    k = -0.5
    return y**-0.5, np.power(y, -0.5), y**k


_HELPERS = (helper, add_in_place)
PROGRAMS = [v for v in list(globals().values()) if callable(v) and getattr(v, "__module__", "") == __name__ and v not in _HELPERS]
