"""The one table: every rule of `rules/`, by the NumPy names it answers to.

A rule is a torch function with NumPy's name and signature; `@rule` (see `entering`) puts it in the table.
`refuse` records a NumPy name that cannot be torch, with the reason and the way out.
"""

from __future__ import annotations

import contextvars
import importlib
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

noting: contextvars.ContextVar[list[Refused] | None] = contextvars.ContextVar("np2fx_noting", default=None)
"""The refusals that there were during a call, where somebody asks: code that was not converted may have caught one."""


class Refused(Exception):
    """A construct np2fx will not convert. Becomes a finding: `name` is the finding's name, `hint` the way out."""

    def __init__(self, message: str, hint: str = "", name: str = "unsupported-argument") -> None:
        super().__init__(message)
        self.message, self.hint, self.name = message, hint, name
        if (noted := noting.get()) is not None:
            noted.append(self)


@dataclass(frozen=True)
class Rule:
    """One entry of the table.

    names     the NumPy names it answers to, the first is its own ("numpy.std", "numpy.ndarray.std")
    body      the pure torch function (never sees `out`); for a rule that `writes`, it returns that argument's new value
    call      what users and rewritten code call: NumPy's signature in full
    kind      what comes out of it and which inputs test it: elementwise, reduction, shape, creation, linalg, ...
    writes    the parameter that NumPy writes into, if any
    view      True where NumPy returns a view of its first argument
    into      how NumPy fills an `out` of another dtype than the result's (see `destination`); None: it casts the result
    examples  calls in NumPy's own spelling over the strategy names of np2fx.testing.strategies
    """

    names: tuple[str, ...]
    body: Callable[..., Any]
    call: Callable[..., Any]
    kind: str
    writes: str | None = None
    view: bool = False
    examples: tuple[str, ...] = ()
    into: str | None = None

    @property
    def name(self) -> str:
        return self.names[0]


def is_own(entry: Rule) -> bool:
    """Whether a rule is one of np2fx's table, and none of a module that was added to it."""
    package, _, part = str(getattr(entry.body, "__module__", "")).partition(".")
    return package == __name__.partition(".")[0] and not part.startswith("contrib")


@dataclass(frozen=True)
class Refusal:
    """A NumPy name that has no torch meaning: why, and what to do instead."""

    names: tuple[str, ...]
    reason: str
    hint: str
    finding: str = "unmapped-function"


RULES: dict[str, Rule] = {}
REFUSALS: dict[str, Refusal] = {}
CLASSES: dict[str, type] = {}
"""Classes of other libraries, and those that stand for them."""
_changes = 0
_others: set[str] = set()
"""The modules of other libraries whose functions have a rule."""


def version() -> int:
    """Another number after every change of the table, and where another library that it speaks of has been imported: what was made from it
    is right for as long as this stays."""
    return _changes + sum(1_000_000 for module in _others if module in sys.modules)


def register(entry: Rule) -> None:
    if not entry.call.__doc__ and hasattr(entry.call, "__name__"):
        entry.call.__doc__ = f"{entry.name} on torch tensors."
    for name in entry.names:
        _check_new(name)
        RULES[name] = entry


def _check_new(name: str) -> None:
    global _changes
    if name in RULES or name in REFUSALS:
        raise ValueError(f"{name} has two entries in the table")
    if not name.startswith("numpy."):
        module = name.rpartition(".")[0]
        _others.update((module, module.rpartition(".")[0]))  # of a method the one of its class
    _changes += 1


def stands_for(name: str) -> Callable[[type], type]:
    """Let a class in NumPy stand for another library's class `name` in a trace. Its `of` makes an object of it of one of that one's."""

    def enter(kind: type) -> type:
        global _changes
        CLASSES[name] = kind
        _others.add(name.rpartition(".")[0])
        _changes += 1
        return kind

    return enter


def remove(names: Iterable[str]) -> None:
    """Take entries out again: those of a module that failed while it was imported."""
    global _changes
    for name in list(names):
        RULES.pop(name, None)
        REFUSALS.pop(name, None)
        CLASSES.pop(name, None)
        _changes += 1


def original(name: str, imported: bool = True) -> Any:
    """The object that a dotted name ("numpy.linalg.norm", "scipy.special.softmax") stands for.

    Modules on the way are imported, unless only what is `imported` already is meant: what nobody can have met is not there then. None
    where the library, or this version of it, does not have it."""
    parts = name.split(".")
    of_module = _imported if imported else sys.modules.get
    found: Any = sys.modules.get(parts[0]) or of_module(parts[0])
    for n, part in enumerate(parts[1:], 2):
        if found is None:
            return None
        inner = getattr(found, part, None)
        if inner is None and isinstance(found, types.ModuleType) and hasattr(found, "__path__"):
            inner = of_module(".".join(parts[:n]))
        found = inner
    return found


def module_of(kind: type) -> str:
    """The module of a class; "" where it has none, as after `exec` of a bare text."""
    name = getattr(kind, "__module__", None)
    return name if isinstance(name, str) else ""


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def refuse(*names: str, reason: str, hint: str, finding: str = "unmapped-function") -> None:
    """Record that NumPy's `names` cannot be torch: the `reason`, and the way out as `hint`."""
    for name in names:
        _check_new(name)
        REFUSALS[name] = Refusal(names, reason, hint, finding)
