"""NumPy programs in which the class of a number decides a dtype."""

from __future__ import annotations

import operator
from enum import IntEnum

import numpy as np


class Level(IntEnum):
    LOW = 0
    HIGH = 2


class Whole(int):
    pass


class Real(float):
    pass


class Imaginary(complex):
    pass


SCALE = Real(1.5)


def operators(x):
    powers = x**Level.HIGH, x ** Real(0.5)
    return x * Level.HIGH, Whole(3) + x, x - SCALE, powers, x // Whole(2), x % Level.HIGH, x > Level.HIGH, x * Imaginary(2)


def scalars(x):
    return x[0] * Level.HIGH, x[0] ** Level.HIGH, x.sum() + Real(2), Level.HIGH ** x[0], np.mean(x) / Level.HIGH, [v * Whole(2) for v in x]


def functions(x):
    return np.add(x, Level.HIGH), np.clip(x, 0, Level.HIGH), np.where(x > 0, x, Level.HIGH), np.maximum(x, Real(0.3)), x.clip(Level.HIGH)


def joined(x):
    return np.append(x, Level.HIGH), np.diff(x, prepend=Level.HIGH), np.select([x > 2], [x], Level.HIGH), np.array([x[0], Level.HIGH])


def in_place(x):
    x += Level.HIGH
    x[Level.LOW] = Real(2.5)
    return x, np.full_like(x, Level.HIGH), np.pad(x, 1, constant_values=Whole(2)), np.sum(x, initial=Real(2))


def positions(x):
    shaped = x.reshape(Level.HIGH, -1), np.sum(x, axis=Whole(0)), np.repeat(x, Level.HIGH), np.zeros(Level.HIGH)
    return x[Level.HIGH], x[: Level.HIGH], shaped


def pythons_arithmetic(x):
    return x * (Level.HIGH + 1), x * -Level.HIGH, x * abs(SCALE), x * Level.HIGH.value, x * int(Level.HIGH)


def chosen(x):
    factor: int = Level.HIGH
    for level in Level:
        factor = level if x[0] > level else factor
    return x * factor


def bools_to_the_power_of_two(x):
    m = x > 1
    return m**2, pow(m, 2), operator.pow(m, 2), (m**2).sum(), m**2 * 100 + 100, m[:2] ** 2, m[..., 0] ** 2, (lambda q, n=2: q**n)(m)


def bools_to_other_powers(x):
    m = x > 1
    return m**3, m**1, m**2.0, np.power(m, 2), m**True, m ** np.int64(2), m ** Whole(2), m ** np.array(2), m[0] ** 2, m.any() ** 2


def bools_to_a_size(x):
    m, n = x > 1, len(x) - 2
    y = m**n
    y += 100
    return y, m ** (n + 1), [q**n for q in (m, x, m[0])]


PROGRAMS = [operators, scalars, functions, joined, in_place, positions, pythons_arithmetic, chosen, bools_to_the_power_of_two,
            bools_to_other_powers, bools_to_a_size]  # fmt: skip
