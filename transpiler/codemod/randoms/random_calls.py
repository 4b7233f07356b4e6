"""NumPy's random functions as the codemod sees them: their parameters, and what of a call can be an input of a graph."""

from __future__ import annotations

import ast

SIGNATURES: dict[str, tuple[str, ...]] = {
    "random": ("size", "dtype", "out"), "random_sample": ("size",), "ranf": ("size",), "sample": ("size",),
    "standard_normal": ("size", "dtype", "out"), "normal": ("loc", "scale", "size"), "uniform": ("low", "high", "size"),
    "randint": ("low", "high", "size", "dtype"), "integers": ("low", "high", "size", "dtype", "endpoint"),
    "exponential": ("scale", "size"), "standard_exponential": ("size", "dtype", "method", "out"), "laplace": ("loc", "scale", "size"),
    "logistic": ("loc", "scale", "size"), "gumbel": ("loc", "scale", "size"), "lognormal": ("mean", "sigma", "size"),
    "poisson": ("lam", "size"), "binomial": ("n", "p", "size"), "gamma": ("shape", "scale", "size"), "beta": ("a", "b", "size"),
    "rayleigh": ("scale", "size"), "standard_t": ("df", "size"), "standard_cauchy": ("size",), "choice": ("a", "size", "replace", "p"),
    "permutation": ("x",),
}  # fmt: skip
"""The parameters of the functions that draw, those of numpy.random and of a Generator taken together."""

SHAPED = ("rand", "randn")
"""Functions whose arguments are the sizes themselves."""

SCALED = {"normal": ("loc", "scale", "standard_normal", (0, 1)), "uniform": ("low", "high", "random", (0, 1))}
"""Functions that shift and scale a standard sample: their two parameters, the standard function, the defaults."""

GENERATORS = ("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator")
INTEGERS = ("randint", "integers", "choice", "permutation", "poisson", "binomial")


def arguments(function: str, call: ast.Call) -> dict[str, ast.expr] | None:
    """The arguments of a call by parameter; None where that cannot be told."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    names = SIGNATURES[function]
    given = dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg is not None}
    return given if len(call.args) <= len(names) and set(given) <= set(names) else None


def literal(e: ast.expr | None) -> bool:
    """A number, text or None that stands there as it is (negative ones too), or a tuple or list of them."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, (ast.USub, ast.UAdd)):
        e = e.operand
    if isinstance(e, (ast.Tuple, ast.List)):
        return all(map(literal, e.elts))
    return isinstance(e, ast.Constant)


def shape_like(e: ast.expr, arrays: set[str], shapes: set[str]) -> bool:
    """Sizes and what is computed from them: nothing in it depends on an array's values.

    arrays  names of arrays
    shapes  names of sizes and shapes"""

    def again(x: ast.expr) -> bool:
        return shape_like(x, arrays, shapes)

    if isinstance(e, ast.Constant):
        return type(e.value) is int
    if isinstance(e, ast.Name):
        return e.id in shapes
    if isinstance(e, (ast.Tuple, ast.List)):
        return all(again(x) for x in e.elts)
    if isinstance(e, ast.Starred):
        return again(e.value)
    if isinstance(e, ast.Attribute):
        return (e.attr in ("shape", "ndim", "size") and path(e.value) in arrays) or path(e).split(".")[0] == "self"
    if isinstance(e, ast.Subscript):
        bounds = [e.slice.lower, e.slice.upper, e.slice.step] if isinstance(e.slice, ast.Slice) else [e.slice]
        values = isinstance(e.value, ast.Name) and e.value.id in arrays  # an element of an array is a value
        return not values and again(e.value) and all(b is None or literal(b) for b in bounds)
    if isinstance(e, ast.BinOp):
        return again(e.left) and again(e.right)
    if isinstance(e, ast.UnaryOp):
        return again(e.operand)
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and not e.keywords:
        if e.func.id == "len" and len(e.args) == 1:
            return path(e.args[0]) in arrays or again(e.args[0])
        return e.func.id in ("int", "tuple", "list", "max", "min") and all(map(again, e.args))
    return False


def path(e: ast.expr) -> str:
    """`self.rng` as text; "" for what is no chain of names."""
    if isinstance(e, ast.Attribute):
        inner = path(e.value)
        return f"{inner}.{e.attr}" if inner else ""
    return e.id if isinstance(e, ast.Name) else ""
