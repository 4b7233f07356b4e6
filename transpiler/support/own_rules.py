"""`use_rules`: rules that a project brings for its own functions and for other libraries', at run time.

    np2fx.use_rules("mylib.torch_rules", "np2fx.contrib.scipy_rules")

A module of rules is written with `np2fx.rules.rule`, as np2fx's own are; importing it puts its rules into the table. From then on
`convert`, `trace`, `verify` and rewritten code know the functions. The command line reads the names from `[tool.np2fx] rules`.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from ..rules import load
from ..semantics import table as rule_table
from ..source.reading.table import Table, load_table, module_file

_used: dict[str, str] = {}


def use_rules(*modules: str | ModuleType, root: str | None = None) -> None:
    """Put the rules of the named modules into the table. Asking twice is the same as once.

    root  a project's folder: its modules (or those of its `src`) can be named though it is not on `sys.path`

    Raises ModuleNotFoundError for a module that is not there, ValueError for one that says again what the table says already, and
    what the module itself raises; then none of its rules is in the table."""
    for module in modules:
        name = module.__name__ if isinstance(module, ModuleType) else module
        if name in _used:
            continue
        load()  # np2fx's own first, so that a name that is said twice is the project's fault
        known = {*rule_table.RULES, *rule_table.REFUSALS, *rule_table.CLASSES}
        try:
            found = importlib.import_module(name) if root is None else _imported_from(name, root)
        except BaseException:
            rule_table.remove({*rule_table.RULES, *rule_table.REFUSALS, *rule_table.CLASSES} - known)
            raise
        _used[name] = os.path.abspath(found.__file__ or "")


def used() -> tuple[str, ...]:
    """The names of the modules in use, in the order in which they were asked for."""
    return tuple(_used)


def files() -> dict[str, str]:
    """The files of the modules in use, by their names."""
    return dict(_used)


def table() -> Table:
    """The table as text, with the rules of the modules in use: what `convert` reads."""
    return load_table(files=tuple(_used.items()))


def _imported_from(name: str, root: str) -> ModuleType:
    """The module by its name; where Python does not find it, from the project's folder, which is put on `sys.path`."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise
        path = module_file(name, root)
    tail = name.count(".") + (1 if os.path.basename(path) != "__init__.py" else 2)
    folder = path
    for _ in range(tail):
        folder = os.path.dirname(folder)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    return importlib.import_module(name)
