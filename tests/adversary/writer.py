"""The writer: holds the program so far and what NumPy makes of it, and fills templates with what fits."""

from __future__ import annotations

import copy
import io
import random
import re
import textwrap
import warnings
from collections.abc import Callable
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

LARGEST = 150
"""Arrays of more elements are not kept."""

Check = Callable[[Any], bool]


class Failed(Exception):
    """A template that cannot be filled here, or text that NumPy does not take."""


class Writer:
    """A program being written.

    rng       the source of all choices
    header    what stands above the node: helpers and constants
    lines     the statements so far, at the indentation of the body
    env       the variables as NumPy left them after those statements
    leaving   whether constructs that no graph can hold (a branch on a value, `float(x)`) may be written"""

    def __init__(self, rng: random.Random, header: str, names: list[str], sample: list[Any], leaving: bool) -> None:
        self.rng, self.header, self.names, self.sample, self.leaving = rng, header, names, sample, leaving
        self.lines: list[str] = []
        self.depth = 0
        self.counter = 0
        self.used: set[str] = set()
        self.globals: dict[str, Any] = {"np": np}
        exec(header, self.globals)
        self.env: dict[str, Any] = {}
        self.rebuild()

    # Running what is written

    def rebuild(self) -> None:
        """Run all statements again on fresh arguments. Raises what they raise."""
        self.env = {k: v for k, v in self.globals.items() if k != "__builtins__"}
        exec(self.header, self.env)
        for name in ("TABLE", "WEIGHTS", "MASK"):  # writing into a module's constants is no node's business
            self.env[name].flags.writeable = False
        self.env.update(zip(self.names, copy.deepcopy(self.sample), strict=True))
        self._exec("\n".join(line for line in self.lines if "\n    return" not in line or line.startswith("def ")))

    def _exec(self, text: str) -> None:
        with quiet():
            exec(text, self.env)

    def value(self, text: str) -> Any:
        """What an expression gives now. Raises Failed where it raises."""
        try:
            with quiet():
                return eval(text, self.env)
        except Exception as e:
            raise Failed(f"{text}: {e}") from None

    def commit(self, text: str) -> None:
        """Run a statement and keep it. Raises Failed, with everything as it was, where NumPy raises or the values are of no use."""
        names = set(self.env)
        try:
            self._exec(text)
            for name, value in self.env.items():
                if isinstance(value, (np.ndarray, np.generic)) and not useful(value):
                    raise Failed(f"{name} is of no use")
        except Exception as e:
            self.restore(names)
            raise Failed(f"{text}: {e}") from None
        self.lines.append(text)

    def restore(self, names: set[str]) -> None:
        """Undo what a failed statement may have done half. Within a block, where that cannot be done, new names are forgotten."""
        if self.depth == 0:
            self.rebuild()
        else:
            for name in set(self.env) - names:
                del self.env[name]

    def block(self, head: str, write: Callable[[], None], **first: Any) -> str:
        """A compound statement: `head` and a body that `write` writes with the variables `first` as they are on the first pass."""
        outer, self.lines = self.lines, []
        self.depth += 1
        try:
            self.env.update(first)
            write()
            body = self.lines or ["pass"]
        finally:
            self.lines = outer
            self.depth -= 1
        return head + "\n" + textwrap.indent("\n".join(body), "    ")

    # Choosing

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def fresh(self) -> str:
        self.counter += 1
        return f"v{self.counter}"

    def variables(self, check: Check) -> list[str]:
        return [n for n, v in self.env.items() if not n.startswith("__") and n not in self.globals and check(v)]

    def variable(self, check: Check) -> str:
        """A variable that fits, the later ones more likely."""
        found = self.variables(check)
        if not found:
            raise Failed("no variable fits")
        return found[-1] if self.chance(0.35) else self.rng.choice(found)

    def array(self, check: Check, nested: bool = True) -> str:
        """An expression that fits: mostly a variable, sometimes a constant of the module, sometimes another expression."""
        if nested and self.depth < 3 and self.chance(0.3):
            from .expressions import expression

            self.depth += 10
            try:
                for _ in range(2):
                    text = expression(self)
                    if check(self.value(text)):
                        return text
            except Failed:
                pass
            finally:
                self.depth -= 10
        if self.chance(0.04):
            found = [n for n in ("TABLE", "WEIGHTS", "MASK") if check(self.env[n])]
            if found:
                return self.rng.choice(found)
        return self.variable(check)

    def number(self) -> str:
        return self.rng.choice(("2", "3", "-1", "1", "0", "0.5", "2.5", "-1.5", "1e-3", "0.1", "10", "100", "7"))

    # Templates

    def fill(self, template: str) -> str:
        """A template with its slots filled (see `slots`). The first array slot is what axes, shapes and indices are about."""
        from .slots import Filling

        filling = Filling(self)
        return re.sub(r"\{([^{}]*)\}", lambda m: filling.slot(m.group(1)), template)


@contextmanager
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", FutureWarning)
        yield


def writable(value: Any) -> bool:
    """An array that may be written to; NumPy warns of those that only may for now (`broadcast_arrays`)."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return isinstance(value, np.ndarray) and value.flags.writeable
        except FutureWarning:
            return False


def useful(value: Any) -> bool:
    """Small enough, of a dtype that torch has, and not so large in value that rounding swamps all that follows."""
    a = np.asarray(value)
    if a.size > LARGEST or a.ndim > 5 or a.dtype.kind not in "biufc" or a.dtype.char in "gG":
        return False
    if a.dtype.kind in "fc" and a.size:
        with np.errstate(all="ignore"):
            size = np.abs(a[np.isfinite(a)]).astype(np.float64)
        return bool(size.max(initial=0) < 1e6)
    return True
