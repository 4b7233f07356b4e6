"""Arrays of a module that torch functions read: each as a tensor, made once below its definition, on the same memory.

    MEAN = np.array([0.1, -0.2])
    MEAN_T = torch.from_numpy(MEAN)
"""

from __future__ import annotations

import ast
import os
import re

from ...source.facts.module import Module
from ...source.reading.project import Project
from ...source.reading.walking import walk
from ..plain import COMPUTED


def tensor_name(module: Module, name: str, dtype: str | None, project: Project) -> str | None:
    """What the tensor of a module's array is called; None where it has none, since another array may come in its place."""
    if dtype not in COMPUTED or name not in module.parsed.text or _is_replaced(module, name, project):
        return None
    definition, tensor = _definition(module.tree, name), f"{name}_T"
    tensor = f"_{tensor}" if module.private and not tensor.startswith("_") else tensor
    if definition is None or not _stands_alone(module, definition):
        return None
    standing = _definition(module.tree, tensor)
    if standing is not None:
        return tensor if ast.unparse(standing.value) == f"{module.aliases['torch']}.from_numpy({name})" else None
    return None if module.parsed.has_word(tensor) else tensor


def definition_of(module: Module, name: str, tensor: str) -> tuple[int, int, str] | None:
    """The edit that makes the tensor; None where it stands."""
    definition = _definition(module.tree, name)
    if definition is None or _definition(module.tree, tensor) is not None:
        return None
    start, after = module.source.span(definition)[0], module.source.after_line(definition.end_lineno or definition.lineno)
    at = start + len(module.source.slice(start, after).rstrip("\r\n").encode())
    return at, at, f"{module.source.newline}{tensor} = {module.aliases['torch']}.from_numpy({name})"


def _definition(tree: ast.Module, name: str) -> ast.Assign | None:
    found = [s for s in tree.body if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in s.targets)]
    return found[0] if len(found) == 1 and len(found[0].targets) == 1 else None


def _stands_alone(module: Module, definition: ast.Assign) -> bool:
    """Whether a line can follow a statement."""
    start, end = module.source.span(definition)
    rest = module.source.slice(end, module.source.after_line(definition.end_lineno or definition.lineno)).strip()
    before = module.source.slice(module.source.starts[definition.lineno - 1], start)
    return not before.strip() and (not rest or rest.startswith("#"))


def _is_replaced(module: Module, name: str, project: Project) -> bool:
    """Whether something in the project may bind a module's name anew, as tests do: `app.MEAN = ...`, `setattr(app, "MEAN", ...)`."""
    texts = {os.path.realpath(p): p for p in project.with_words({name})}
    trees = [module.tree, *(parsed.tree for p in texts.values() if (parsed := project.parsed(p)) is not None)]
    word = re.compile(rf"(^|[.:]){re.escape(name)}$")
    for n in (n for tree in trees for n in walk(tree)):
        if isinstance(n, ast.Attribute) and n.attr == name and not isinstance(n.ctx, ast.Load):
            return True
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and word.search(n.value):
            return True
        if isinstance(n, ast.keyword) and n.arg == name:
            return True
    return any(project.parsed(p) is None for p in texts.values())
