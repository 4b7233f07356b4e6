"""NumPy programs in a module that means something of its own by `torch`, `npx` and `ops`."""

from __future__ import annotations

from math import sqrt as torch

import numpy as np

npx = 5


def ops(x):
    return x * 2


def a_number_of_the_module(x):
    return np.stack([x, x]), npx


def a_function_of_the_module(x):
    return np.concatenate([ops(x), x])


def an_imported_function(x):
    return np.concatenate([x, x]) * torch(4.0)


def the_module_is_not_there(x):
    if torch is not None:
        return np.concatenate([x] * 3)
    return np.concatenate([x, x])


def a_parameter(x, ops=3):
    return np.percentile(x, 30), ops


def a_local(x):
    torch = x * 2
    return np.concatenate([torch, x]).std(ddof=1)


def an_error(x):
    try:
        raise ValueError(3)
    except ValueError as torch:
        return np.concatenate([x, x]), torch.args


def a_pattern(x):
    match x.shape:
        case (ops, *npx):
            return np.concatenate([x, x]).std(ddof=1), ops, npx


def a_loop(x):
    return [np.percentile(x, ops) * torch for ops, torch in ((20, 2), (30, 3))]


def an_inner_function(x):
    def npx(torch):
        return np.concatenate([torch, torch])

    return npx(x).std(ddof=1)


def a_local_import(x):
    y = np.concatenate([x, x])
    import math as torch

    return y * torch.pi


def _maker():
    ops, npx, torch = 1, 2, 3

    def closure(x):
        return np.percentile(x, 30) * ops + npx + np.concatenate([x, x]) * torch

    return closure


PROGRAMS = [
    a_number_of_the_module, a_function_of_the_module, an_imported_function, the_module_is_not_there, a_parameter, a_local, an_error,
    a_pattern, a_loop, an_inner_function, a_local_import, _maker(), lambda x, torch=2: np.concatenate([x] * torch),
]  # fmt: skip
