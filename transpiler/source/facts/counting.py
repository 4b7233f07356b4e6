"""What the use of a parameter says of it: a count (how often, how many, from where), or something that no array is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..reading.names import FunctionNode, Names
from ..reading.walking import walk

_SHAPED = ("zeros", "ones", "empty", "full", "eye", "identity", "arange", "tri")
_SEEDED = ("seed", "default_rng", "RandomState", "manual_seed")


def counted(function: FunctionNode | ast.Lambda, names: Names) -> set[str]:
    """The names that are counts in a function: in `range(...)`, as a bound of a slice, as a size of a new array, as a seed.

    What such a name is computed from by plain arithmetic is a count too; a name that is indexed or asked for attributes is none.
    """
    every = list(walk(function))
    found = {n for place in _places(every, names) for n in _terms(place)}
    assigned = [(n.targets[0].id, n.value) for n in every
                if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name)]  # fmt: skip
    assigned += [(n.target.id, n.value) for n in every if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)]
    for _ in assigned:
        more = {t for name, value in assigned if name in found for t in _terms(value)} - found
        if not more:
            break
        found |= more
    held = {n.value.id for n in every if isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.value, ast.Name)}
    return found - held


def no_arrays(function: FunctionNode | ast.Lambda, is_method: Callable[[str], bool]) -> dict[str, str]:
    """Name to "object", "mapping" or "sequence", for names that are used as no array is: asked for attributes that an ndarray
    has not, for items by a text, or walked over for elements of that sort; and for names that say so (`file_list`)."""
    every = list(walk(function))
    found: dict[str, str] = {}
    for n in every:
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and not is_method(n.attr) and not n.attr.startswith("__"):
            found[n.value.id] = "mapping" if n.attr in ("items", "keys", "values", "get") else "object"
        elif (
            isinstance(n, ast.Subscript)
            and isinstance(n.value, ast.Name)
            and isinstance(n.slice, ast.Constant)
            and isinstance(n.slice.value, str)
        ):
            found.setdefault(n.value.id, "mapping")
    for n in every:
        if isinstance(n, (ast.For, ast.AsyncFor, ast.comprehension)):
            held = {m.id for m in walk(n.target) if isinstance(m, ast.Name)}
            if held & {k for k, v in found.items() if v != "sequence"}:
                found.update(dict.fromkeys(_walked(n, found), "sequence"))
    for n in every:  # `model, step, x = args`: what holds an object besides arrays is a tuple
        apart = n.targets[0] if isinstance(n, ast.Assign) and isinstance(n.value, ast.Name) else None
        if isinstance(apart, ast.Tuple) and any(isinstance(t, ast.Name) and t.id in found for t in apart.elts):
            found.setdefault(n.value.id, "sequence")  # type: ignore[attr-defined]
    if not isinstance(function, ast.Lambda):
        every_arg = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        found.update({a.arg: "sequence" for a in every_arg if a.arg.endswith("_list") and a.arg not in found})
    return found


def _walked(n: ast.For | ast.AsyncFor | ast.comprehension, found: dict[str, str]) -> Iterator[str]:
    """The names whose elements are of the sort found: `for s in steps`, `for i, s in enumerate(steps)`, `for s, x in zip(steps, xs)`."""
    if isinstance(n.iter, ast.Name):
        yield n.iter.id
    elif isinstance(n.iter, ast.Call) and isinstance(n.iter.func, ast.Name) and isinstance(n.target, ast.Tuple):
        targets = n.target.elts[1:] if n.iter.func.id == "enumerate" else n.target.elts if n.iter.func.id == "zip" else []
        for target, source in zip(targets, n.iter.args, strict=False):
            if isinstance(target, ast.Name) and target.id in found and isinstance(source, ast.Name):
                yield source.id


def _places(every: list[ast.AST], names: Names) -> Iterator[ast.expr]:
    """The expressions in which a value is a count."""
    for n in every:
        if isinstance(n, ast.Slice):
            yield from filter(None, (n.lower, n.upper, n.step))
        elif isinstance(n, ast.Call):
            qualified = names.qualified(n.func) or ""
            tail = qualified.rpartition(".")[2]
            if qualified == "builtins.range" or tail in _SEEDED:
                yield from n.args
            elif qualified.startswith("numpy.") and tail in _SHAPED and n.args:
                yield from n.args[0].elts if isinstance(n.args[0], ast.Tuple) else () if tail == "arange" else n.args[:1]


def _terms(e: ast.expr) -> Iterator[str]:
    """The names an arithmetic expression is made of; none where there is anything else in it that could be an array."""
    if isinstance(e, ast.Name):
        yield e.id
    elif isinstance(e, ast.BinOp):
        yield from _terms(e.left)
        yield from _terms(e.right)
    elif isinstance(e, ast.UnaryOp):
        yield from _terms(e.operand)
    elif isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id in ("min", "max") and len(e.args) > 1:
        for a in e.args:
            yield from _terms(a)
