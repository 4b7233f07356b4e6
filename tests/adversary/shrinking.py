"""Makes a program that fails smaller: statements go, expressions become their parts, blocks their bodies, arguments plainer.

Each step is kept if the program still runs in NumPy and still fails in the same kind of way.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .program import Program, header_for

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, seconds: float = 20.0) -> Program:
    """The smallest program found in the given time for which `fails` holds, as it holds for `program`."""
    deadline = time.perf_counter() + seconds
    smaller = True
    while smaller and time.perf_counter() < deadline:
        smaller = False
        for candidate in _smaller(program):
            if time.perf_counter() > deadline:
                break
            try:
                if candidate is not program and fails(candidate):
                    program, smaller = candidate, True
                    break
            except Exception:
                continue
    return program


def _smaller(program: Program) -> Iterator[Program]:
    tree = ast.parse(program.source)
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "node")
    for made in _edits(node):
        yield _with(program, made)
    yield from _plainer(program)
    for made in _split_edits(node):
        yield _with(program, made)


def _with(program: Program, node: ast.FunctionDef) -> Program:
    try:
        text = ast.unparse(node)
    except ValueError:  # an expression where only text may stand
        return program
    return Program(f"{header_for(text)}\n\n\n{text}\n", program.sample, program.other)


def _edits(node: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Copies of the function with one thing less, the largest things first."""
    count = len(list(ast.walk(node)))
    for statements_only in (True, False):
        for at in range(count):
            for variant in range(6):
                made = copy.deepcopy(node)
                if not _reduce(made, at, variant, statements_only):
                    break
                yield ast.fix_missing_locations(made)


def _split_edits(node: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Copies with one constant made plainer."""
    for at, n in enumerate(ast.walk(node)):
        if isinstance(n, ast.Constant) and isinstance(n.value, (int, float)) and n.value not in (0, 1, True, False):
            made = copy.deepcopy(node)
            list(ast.walk(made))[at].value = 1  # type: ignore[attr-defined]
            yield made


def _reduce(root: ast.FunctionDef, at: int, variant: int, statements_only: bool) -> bool:
    """Apply the variant-th reduction at the at-th node. False where there is none."""
    target = list(ast.walk(root))[at]
    options: list[Callable[[], None]] = []
    for field, value in ast.iter_fields(target):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt) and statements_only:
            for i, s in enumerate(value):
                if not isinstance(s, ast.Return) or target is not root:
                    options.append(lambda f=field, v=value, i=i: setattr(target, f, v[:i] + v[i + 1 :] or [ast.Pass()]))
                if hasattr(s, "body"):
                    options.append(lambda f=field, v=value, i=i, s=s: setattr(target, f, v[:i] + s.body + v[i + 1 :]))
        elif isinstance(value, list) and not statements_only and value and isinstance(value[0], (ast.expr, ast.keyword)):
            options += [lambda f=field, v=value, i=i: setattr(target, f, v[:i] + v[i + 1 :]) for i in range(len(value))]
            for i, e in enumerate(value):
                options += [lambda f=field, v=value, i=i, c=c: setattr(target, f, [*v[:i], c, *v[i + 1 :]]) for c in _parts(e)]
        elif isinstance(value, ast.expr) and not statements_only:
            options += [lambda f=field, c=c: setattr(target, f, c) for c in _parts(value)]
    # lists of statements have many options: they are spread over the variants of later passes
    if statements_only and options:
        options = options[::-1]
    if variant >= min(len(options), 6 if not statements_only else len(options)):
        return False
    options[variant]()
    return True


def _parts(e: ast.AST) -> list[ast.expr]:
    """What may stand in place of an expression: its own parts."""
    if isinstance(e, (ast.Name, ast.Constant)) or (isinstance(e, ast.Attribute) and ast.unparse(e).startswith("np.")):
        return []
    return [
        c
        for c in ast.iter_child_nodes(e)
        if isinstance(c, ast.Call) or (isinstance(c, ast.expr) and not f"{ast.unparse(c)}.".startswith("np."))
    ][:4]


def _plainer(program: Program) -> Iterator[Program]:
    """The same program on small whole numbers, or on zeros."""
    for make in (lambda a: np.zeros_like(a), lambda a: np.arange(1, a.size + 1).astype(a.dtype).reshape(a.shape), lambda a: np.round(a)):
        for i, a in enumerate(program.sample):
            if isinstance(a, np.ndarray) and not _same(a, made := make(a)):
                sample, other = list(program.sample), list(program.other)
                sample[i] = other[i] = made
                yield Program(program.source, sample, other)


def _same(a: Any, b: Any) -> bool:
    """Already as plain: plainer values are not looked for again."""
    whole = bool(np.all(np.isfinite(a))) and bool(np.all(a == np.round(a)))
    return whole or bool(np.array_equal(a, b))
