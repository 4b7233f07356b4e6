"""What a test says of a name in the branch it leads to: `isinstance(x, dict)`, `x is None`, and these joined by and, or, not."""

from __future__ import annotations

import ast
from dataclasses import replace

from ..reading.names import Names
from .values import NONE, NUMBER, OBJECT, TEXT, Value, array, element_of, join_all

_KINDS = {
    **dict.fromkeys(("int", "float", "bool", "complex", "Number", "Integral", "Real"), NUMBER),
    **dict.fromkeys(("str", "bytes", "Path", "PathLike"), TEXT),
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "Sequence", "Iterable", "deque", "Collection"), Value("sequence", True)),
    **dict.fromkeys(("dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict"), Value("mapping", True)),
}


def narrowed(test: ast.expr, holds: bool, env: dict[str, Value], names: Names) -> dict[str, Value]:
    """Name to what it is where a test came out as `holds`; only names about which the test says something."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return narrowed(test.operand, not holds, env, names)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is not holds:
            return {}
        found: dict[str, Value] = {}
        for part in test.values:
            found.update(narrowed(part, holds, {**env, **found}, names))
        return found
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.left, ast.Name) and test.left.id in env:
        none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        if none and isinstance(test.ops[0], ast.Is if holds else ast.IsNot):
            return {test.left.id: NONE}
    if isinstance(test, ast.Call) and len(test.args) == 2 and names.qualified(test.func) == "builtins.isinstance":
        asked, types = test.args
        if isinstance(asked, ast.Name) and asked.id in env:
            value = _isinstance(env[asked.id], _types(types, names), holds)
            return {} if value is None else {asked.id: value}
    return {}


def _types(node: ast.expr, names: Names) -> list[str]:
    """The qualified names of the types an isinstance asks for; "" for one that is not known."""
    if isinstance(node, ast.Tuple):
        return [t for e in node.elts for t in _types(e, names)]
    if isinstance(node, ast.BinOp):
        return _types(node.left, names) + _types(node.right, names)
    return [names.qualified(node) or ""]


def _isinstance(value: Value, types: list[str], holds: bool) -> Value | None:
    """What a value is where it is, or is not, of one of the types; None where that says nothing new."""
    if not holds:
        arrays = "numpy.ndarray" in types or ("torch.Tensor" in types and value.constant == "Tensor")
        return Value("unknown", value.traced, memory=value.memory) if value.is_array and arrays else None
    declared = value.assumed or value.kind in ("unknown", "object") or any(m.startswith("argument ") for m in value.memory)
    if "" in types or not types or not declared or value.kind in ("number", "text"):
        return None
    return join_all(_of_type(value, t) for t in types)


def _of_type(value: Value, qualified: str) -> Value:
    tail = qualified.rpartition(".")[2]
    if qualified in ("numpy.ndarray", "torch.Tensor"):
        held = value if value.is_array else array(True, memory=value.memory)
        return replace(held, assumed=False, constant="Tensor" if tail == "Tensor" else None)
    if qualified.startswith("numpy."):
        return array(True, 0)
    known = _KINDS.get(tail, OBJECT)
    if known.kind not in ("sequence", "mapping"):
        return known if known is not OBJECT else Value("object", memory=value.memory)
    held = element_of(value) if value.kind == known.kind else Value("unknown", True, memory=value.memory)
    return value if value.kind == known.kind else replace(known, element=held, memory=value.memory)
