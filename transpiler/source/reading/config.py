"""Configuration: `[tool.np2fx]` of the nearest pyproject.toml.

[tool.np2fx]
target = "any"                              # any, np2fx or leapp: for whom findings are said
nodes = ["pkg/pre.py:normalize*"]           # functions that are nodes without a decorator
node-decorators = ["mylib.exported"]        # beside np2fx.node and leapp's annotate.method
rules = ["mylib.torch_rules"]               # modules with rules of the project's own
select = ["NX2", "python-value"]            # codes, prefixes of codes or names
ignore = ["NX104"]
exclude = ["vendored", "tests/data"]
per-file-ignores = { "tests/*" = ["NX2"] }
instances = { "pkg/app.py:Policy" = "make_policy" }   # what makes the objects whose methods `verify` and `trace` call
verify-timeout = 300                        # seconds a node may take under `np2fx verify`; 0: no limit
verify-memory = 4096                        # MB it may take; 0: no limit
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from ..findings.finding import Finding
from ..findings.kinds import KINDS
from .files import match_path

TARGETS = ("any", "np2fx", "leapp")
NODE_DECORATORS = ("np2fx.node", "np2fx.pipeline.node.node", "np2fx.annotate.method", "leapp.annotate.method")


class ConfigError(Exception):
    """A configuration np2fx cannot follow; the message says what and where."""


@dataclass(frozen=True)
class Config:
    """The settings of one project. `root` is the folder of its pyproject.toml; patterns are relative to it."""

    root: str = "."
    target: str = "any"
    nodes: tuple[str, ...] = ()
    node_decorators: tuple[str, ...] = NODE_DECORATORS
    rules: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    verify_timeout: float = 300.0
    verify_memory: float = 4096.0

    def wants(self, finding: Finding) -> bool:
        """Whether a finding is selected and not ignored for its file."""
        if self.select and not any(selects(s, finding) for s in self.select):
            return False
        if any(selects(s, finding) for s in self.ignore):
            return False
        if not self.per_file_ignores:
            return True
        path = self.relative(finding.path)
        return not any(
            match_path(path, pattern) and any(selects(s, finding) for s in names) for pattern, names in self.per_file_ignores.items()
        )

    def relative(self, path: str) -> str:
        """A path as patterns see it: from the project's root, with slashes."""
        return os.path.relpath(os.path.abspath(path), os.path.abspath(self.root)).replace(os.sep, "/")

    def node_patterns(self, path: str) -> list[str]:
        """The patterns of function names that are nodes in this file."""
        here = self.relative(path) if self.nodes else ""
        return [name for file, _, name in (n.rpartition(":") for n in self.nodes) if not file or match_path(here, file)]

    def instance_of(self, path: str, cls_name: str) -> str | None:
        """What makes an object of a class of this file, as the project says it; None where it says nothing."""
        here = self.relative(path) if self.instances else ""
        keys = ((key, *key.rpartition(":")) for key in self.instances)
        return next((self.instances[key] for key, file, _, name in keys if name == cls_name and (not file or match_path(here, file))), None)

    def markers(self) -> list[str]:
        """The last names of the node decorators, which the bytes of a file with a node contain."""
        return [d.rpartition(".")[2] for d in self.node_decorators if d not in NODE_DECORATORS]

    def override(self, **changes: Any) -> Config:
        """A copy with what the command line says in place of the file's settings (None leaves a setting)."""
        return replace(self, **{k: v for k, v in changes.items() if v is not None})


def selects(selector: str, finding: Finding) -> bool:
    """Whether "NX2", "NX201", "scalar-index" or "ALL" stands for the finding."""
    return selector == finding.name or selector == "ALL" or finding.code.startswith(selector)


def check_selector(selector: str) -> str:
    """The selector, or ConfigError where it names no finding."""
    if selector == "ALL" or selector in KINDS or (selector and any(k.code.startswith(selector) for k in KINDS.values())):
        return selector
    raise ConfigError(f"`{selector}` is no finding: use a name, a code or the first letters of a code (`np2fx explain` lists them)")


def load_config(start: str = ".") -> Config:
    """The configuration for a file or folder. Raises ConfigError for TOML that cannot be read and for unknown keys."""
    folder = os.path.abspath(start if os.path.isdir(start) else os.path.dirname(start) or ".")
    while True:
        path = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(path):
            section = _section(path)
            if section is not None:
                return parse_config(section, folder, path)
        parent = os.path.dirname(folder)
        if parent == folder:
            return Config()
        folder = parent


def _section(path: str) -> dict[str, Any] | None:
    """[tool.np2fx] of a pyproject.toml, None where it has none (then the search goes on above it)."""
    with open(path, "rb") as file:
        data = file.read()
    if b"np2fx" not in data:
        return None
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef]
    try:
        section: Any = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    for key in ("tool", "np2fx"):
        section = section.get(key, {} if key == "tool" else None)
        if section is not None and not isinstance(section, dict):
            raise ConfigError(f"{path}: {'[tool] np2fx' if key == 'np2fx' else 'tool'} must be a table, not {section!r}")
    return section


def parse_config(section: dict[str, Any], root: str, path: str = "pyproject.toml") -> Config:
    """A `[tool.np2fx]` table as a Config. Raises ConfigError naming the key."""
    values: dict[str, Any] = {}
    for key, value in section.items():
        name = key.replace("-", "_")
        where = f"{path}: [tool.np2fx] {key}"
        if name not in Config.__dataclass_fields__ or name == "root":
            known = ", ".join(sorted(f.replace("_", "-") for f in Config.__dataclass_fields__ if f != "root"))
            raise ConfigError(f"{where}: unknown key; known are {known}")
        if name == "target":
            if value not in TARGETS:
                raise ConfigError(f"{where}: must be one of {', '.join(TARGETS)}, not {value!r}")
            values[name] = value
        elif name == "per_file_ignores":
            if not isinstance(value, dict):
                raise ConfigError(f"{where}: must be a table of patterns to lists of findings")
            values[name] = {pattern: _strings(names, f"{where}.{pattern}") for pattern, names in value.items()}
        elif name == "instances":
            if not isinstance(value, dict) or not all(isinstance(v, str) and v and ":" in k for k, v in value.items()):
                raise ConfigError(f'{where}: must be a table such as "pkg/app.py:Policy" = "make_policy"')
            values[name] = value
        elif name in ("verify_timeout", "verify_memory"):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise ConfigError(f"{where}: must be a number, 0 for no limit, not {value!r}")
            values[name] = float(value)
        else:
            values[name] = _strings(value, where)
    for names in (values.get("select", ()), values.get("ignore", ()), *values.get("per_file_ignores", {}).values()):
        for selector in names:
            try:
                check_selector(selector)
            except ConfigError as error:
                raise ConfigError(f"{path}: [tool.np2fx] {error}") from None
    for pattern in values.get("nodes", ()):
        if ":" not in pattern:
            raise ConfigError(f"{path}: [tool.np2fx] nodes: `{pattern}` must be FILE:FUNCTION, such as pkg/pre.py:normalize*")
    values["node_decorators"] = tuple(dict.fromkeys((*NODE_DECORATORS, *values.get("node_decorators", ()))))
    return Config(root=root, **values)


def _strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise ConfigError(f"{where}: must be a list of strings")
    return tuple(value)
