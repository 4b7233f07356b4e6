"""Warnings and floating-point errors that are made exceptions, or looked for: torch gives none of them.

Under `warnings.simplefilter("error")` or `np.seterr(divide="raise")` NumPy raises where torch goes on with inf and NaN, and a list
of recorded warnings stays empty.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from ..reading.walking import children, walk

RECORDED = "the warnings that NumPy gives are recorded here, and torch gives none"
HINT = "test for what must not happen: if not np.isfinite(x).all(): raise ..."
WORDS = ("simplefilter", "filterwarnings", "catch_warnings", "seterr", "errstate", "Warning", "FloatingPointError")
"""A text without these has nothing to find."""

_LOUD = ("raise", "call")
_OTHERS = frozenset(f"builtins.{kind}Warning" for kind in (
    "Deprecation", "PendingDeprecation", "Future", "Syntax", "Import", "Unicode", "Bytes", "Resource", "Encoding",
))  # fmt: skip
"""Categories of warnings that NumPy's computations do not give."""
_CAUGHT = frozenset((
    "builtins.Warning", "builtins.RuntimeWarning", "builtins.UserWarning", "builtins.FloatingPointError", "numpy.exceptions.ComplexWarning",
    "numpy.exceptions.RankWarning", "numpy.ComplexWarning", "numpy.RankWarning",
))  # fmt: skip

Qualified = Callable[[ast.AST], str | None]


def alarms(tree: ast.Module | None, functions: Iterable[ast.AST], qualified: Qualified) -> Iterator[tuple[ast.AST, str]]:
    """Where a module, on its way to being imported, and these functions or statements ask for such exceptions; and what they do."""
    for node in _at_import(tree) if tree is not None else ():
        yield from _asked(node, qualified)
    for node in (n for part in functions for n in walk(part)):
        yield from _asked(node, qualified)
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            for kind in node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]:
                if qualified(kind) in _CAUGHT:
                    yield kind, f"{ast.unparse(kind)} is caught, which NumPy raises where it is told to, and torch never"


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What runs when a module is imported."""
    for child in children(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield child
            yield from _at_import(child)


def _asked(node: ast.AST, qualified: Qualified) -> Iterator[tuple[ast.AST, str]]:
    if not isinstance(node, ast.Call):
        return
    name, named = qualified(node.func), {k.arg: k.value for k in node.keywords}
    if name in ("warnings.simplefilter", "warnings.filterwarnings"):
        place = 1 if name.endswith("simplefilter") else 2
        action = node.args[0] if node.args else named.get("action")
        category = node.args[place] if len(node.args) > place else named.get("category")
        if _is_error(action) and not _is_other(category, qualified):
            yield node, "warnings become exceptions here, and torch gives no warnings"
    elif name == "warnings.catch_warnings":
        record = named.get("record")
        if record is not None and not (isinstance(record, ast.Constant) and not record.value):
            yield node, RECORDED
        elif named.get("action") is not None and _is_error(named["action"]) and not _is_other(named.get("category"), qualified):
            yield node, "warnings become exceptions here, and torch gives no warnings"
    elif name in ("numpy.seterr", "numpy.errstate"):
        given = [*node.args, *(value for key, value in named.items() if key != "call")]
        loud = next((v.value for v in given if isinstance(v, ast.Constant) and v.value in _LOUD), None)
        if loud is not None:
            yield node, f"floating-point errors {loud} here, and torch reports none"


def _is_error(action: ast.expr | None) -> bool:
    """True for "error", and for what is not known."""
    return action is not None and (not isinstance(action, ast.Constant) or action.value == "error")


def _is_other(category: ast.expr | None, qualified: Qualified) -> bool:
    kinds = category.elts if isinstance(category, ast.Tuple) else [category] if category is not None else []
    return bool(kinds) and all(qualified(kind) in _OTHERS for kind in kinds)
