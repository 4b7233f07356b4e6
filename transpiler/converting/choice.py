"""Which dialect a converted function is in: torch on plain tensors where the facts of the call decide all of it."""

from __future__ import annotations

import ast
from typing import Any

import numpy
import torch

from ..codemod.rewriting import Rewriter
from ..semantics.arrays import as_tensor, can_share, zero_d_array
from ..source.flow.reading import yields
from ..source.reading.walking import walk

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def on_tensor(x: Any) -> Any:
    """An argument as torch takes it, a tensor for an array; None where that is more than a tensor on its memory."""
    if isinstance(x, torch.Tensor):
        return zero_d_array(x)
    if type(x) is numpy.ndarray and x.dtype.kind in "biufc" and can_share(x):
        return zero_d_array(torch.from_numpy(x))
    return as_tensor(x) if isinstance(x, numpy.generic) and x.dtype.kind in "biufc" else x


def is_plain(x: Any) -> bool:
    """Whether an argument is one that plain torch takes: a tensor, a number, a text, None; tuples of such."""
    return type(x) in _PLAIN or isinstance(x, torch.Tensor) or (type(x) is tuple and all(map(is_plain, x)))


_OPEN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.With, ast.Try, ast.Match, ast.GeneratorExp, ast.JoinedStr,
         ast.Global, ast.Nonlocal, ast.NamedExpr)  # fmt: skip
_COUNTING = frozenset(("len", "range", "int", "float", "bool", "abs", "enumerate", "zip", "list", "tuple", "sum", "min", "max", "slice",
                       "isinstance"))  # fmt: skip


def is_torch(r: Rewriter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether what a function became is torch alone, and hands tensors to nothing that was not converted."""
    if not r.is_plain or r.mirrored or r.keeps or r.notes or yields(node):
        return False
    body = node.body if isinstance(node.body, list) else [node.body]
    return not any(_opens(r, n) for s in body for n in walk(s))


def _opens(r: Rewriter, n: ast.AST) -> bool:
    if isinstance(n, _OPEN):
        return True
    if isinstance(n, ast.Attribute):
        return not isinstance(n.ctx, ast.Load) or (r.fact(n.value).kind in ("unknown", "other") and r.fact(n).kind != "name")
    if not isinstance(n, ast.Call):
        return False
    callee = r.fact(n.func)
    name = str(callee.value) if callee.kind == "name" else ""
    given = [*n.args, *(k.value for k in n.keywords)]
    if name.startswith("torch."):
        return any(r.fact(a).may_lead_to_tensor for a in given)  # which are no arrays to torch
    if name.startswith("numpy."):
        return False
    if name.removeprefix("builtins.") in _COUNTING:
        return False
    if isinstance(n.func, ast.Attribute) and (r.fact(n.func.value).is_tensor or r.fact(n.func.value).kind in ("sequence", "text", "torch")):
        return False
    return not name or any(r.fact(a).may_lead_to_tensor for a in given)
