"""NumPy on torch: the text of a function stays as it was, with NumPy's names read from `np2fx.numpy`.

    def spread(x):                             @npx.on_torch
        return np.sqrt(x - x.mean())    ->     def spread(x):
                                                   return npx.sqrt(x - x.mean())

What the arrays do is said by NumPy's array object on a tensor (`np2fx.arrays`), not by the text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from ...source.reading.names import FunctionNode, Names
from ...source.reading.nodes import functions_in
from ...source.reading.walking import walk
from ..imports import add_imports, drop_unused, free_names

DECORATOR = "on_torch"


def on_torch(text: str, functions: set[str], wanted_by_others: Callable[[str], bool], private: bool = False) -> str:
    """The text of a module in which some functions, named by their qualified names, are NumPy on torch.

    wanted_by_others  whether another module asks this one for a name, so that its import stays"""
    tree = ast.parse(text)
    names, alias = Names(tree), free_names(tree, private)["npx"]
    wanted = {f: name for f, (name, _) in functions_in(tree) if name in functions}
    if not wanted:
        return text
    columns = _Columns(text)
    renamed: dict[_Place, str] = {}
    for function in wanted:
        for e, path in numpys_names(function, names):
            renamed[columns.place(e)] = ".".join([alias, *path.split(".")[1:]])
        for e in bridges(function, names):
            renamed[columns.place(e)] = f"{ast.unparse(e.value)}.as_tensor"
    lines = {f.lineno for f in wanted}
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    changed = wrapper.module.visit(_OnTorch(renamed, lines, alias, wrapper.resolve(PositionProvider))).code
    return drop_unused(add_imports(changed, {"npx": alias}), text, wanted_by_others)


def numpys_names(function: FunctionNode, names: Names) -> Iterator[tuple[ast.expr, str]]:
    """The names of NumPy's in the body of a function, each at its longest (`np.linalg.norm`), and what it stands for."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "view":
            pending.append(node.func)  # `x.view(np.ndarray)`: of an array of the user's class NumPy's own is asked for
            pending += [a for a in [*node.args, *(k.value for k in node.keywords)] if names.qualified(a) != "numpy.ndarray"]
            continue
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found = names.qualified(node)
            if found is not None and (found == "numpy" or found.startswith("numpy.")):
                yield node, found
                continue
        pending += ast.iter_child_nodes(node)


def unseen_by_torch(function: FunctionNode, names: Names) -> tuple[ast.Call, str] | None:
    """A call of torch's that reads an array past torch's protocol, so that it takes NumPy's own alone, and its name."""
    for call in (n for s in function.body for n in walk(s) if isinstance(n, ast.Call)):
        found = names.qualified(call.func) or ""
        reads = found in _READERS or (found.startswith("torch.") and found.endswith("Tensor"))
        if reads and any(not isinstance(a, (ast.Constant, ast.List, ast.Tuple)) for a in call.args):
            return call, found
    return None


_READERS = ("torch.asarray", "torch.frombuffer")


def bridges(function: FunctionNode, names: Names) -> Iterator[ast.Attribute]:
    """`torch.from_numpy`, which takes NumPy's own arrays alone; `torch.as_tensor` takes ours on the same memory, too."""
    for node in (n for s in function.body for n in ast.walk(s)):
        if isinstance(node, ast.Attribute) and names.qualified(node) == "torch.from_numpy":
            yield node


_Place = tuple[int, int, int, int]
"""Where an expression begins and ends: lines and columns."""


class _Columns:
    """Columns in characters, which libcst counts, from columns in bytes, which `ast` counts."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True) if "\r" not in text else text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def place(self, e: ast.expr) -> _Place:
        last = e.end_lineno or 0
        return e.lineno, self.of(e.lineno, e.col_offset), last, self.of(last, e.end_col_offset or 0)

    def of(self, line: int, column: int) -> int:
        shown = self.lines[line - 1]
        return column if shown.isascii() else len(shown.encode()[:column].decode())


class _OnTorch(cst.CSTTransformer):
    def __init__(self, renamed: dict[_Place, str], lines: set[int], alias: str, positions: object) -> None:
        super().__init__()
        self.renamed, self.lines, self.alias, self.positions = renamed, lines, alias, positions

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.BaseExpression:
        return self._renamed(original_node, updated_node)

    def _renamed(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> cst.BaseExpression:
        at = self.positions[original]  # type: ignore[index]
        new = self.renamed.get((at.start.line, at.start.column, at.end.line, at.end.column))
        return updated if new is None else cst.parse_expression(new).with_changes(lpar=updated.lpar, rpar=updated.rpar)  # type: ignore[attr-defined]

    def leave_FormattedStringExpression(
        self, original_node: cst.FormattedStringExpression, updated_node: cst.FormattedStringExpression
    ) -> cst.FormattedStringExpression | cst.FlattenSentinel[cst.BaseFormattedStringContent]:
        """`f"{np.sum(x)=}"` goes on showing the text that it had."""
        code = cst.Module([]).code_for_node
        if original_node.equal is None or code(original_node.expression) == code(updated_node.expression):
            return updated_node
        shown = "".join(code(p) for p in (original_node.whitespace_before_expression, original_node.expression, original_node.equal))
        plain = updated_node.conversion is None and updated_node.format_spec is None
        value = updated_node.with_changes(equal=None, conversion="r" if plain else updated_node.conversion)
        return cst.FlattenSentinel([cst.FormattedStringText(shown.replace("{", "{{").replace("}", "}}")), value])

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        if self.positions[original_node.name].start.line not in self.lines:  # type: ignore[index]
            return updated_node
        made = cst.Decorator(cst.parse_expression(f"{self.alias}.{DECORATOR}"))
        return updated_node.with_changes(decorators=[*updated_node.decorators, made])
