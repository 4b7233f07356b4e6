"""What a verification found and what it tried: for people (`str`), for programs (`to_json`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..source.findings.finding import Finding, format_finding

if TYPE_CHECKING:
    from .comparing.counterexample import Counterexample


@dataclass
class Report:
    """The outcome of `verify`.

    node            the function's name; `path` and `line` say where it is
    ok              whether all three agree on all that was tried, and nothing was refused
    findings        what is wrong, or noteworthy (severity "note")
    counterexample  arguments on which they disagree, shrunk, with code that shows it
    checked         how many inputs were tried, on how many NumPy itself raised, how often each way refused, ...
    timings         seconds by step
    """

    node: str
    path: str = ""
    line: int = 0
    findings: list[Finding] = field(default_factory=list)
    counterexample: Counterexample | None = None
    checked: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, list[int]] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    def count(self, what: str, by: int = 1) -> None:
        self.checked[what] = self.checked.get(what, 0) + by

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}: " if self.path else ""
        verdict = "ok" if self.ok else "not ok"
        lines = [f"{place}{self.node}: {verdict} ({self._tried()}, {sum(self.timings.values()):.1f} s)"]
        for finding in self.findings:
            lines += ["  " + line for line in format_finding(finding).splitlines()]
        if self.counterexample is not None:
            lines += ["", "  Counterexample:", "", *("    " + line for line in str(self.counterexample).splitlines())]
        return "\n".join(lines)

    def _tried(self) -> str:
        tried = [f"{self.checked.get('inputs', 0)} inputs"]
        tried += [f"{n} {words}" for key, words in _WORDS.items() if (n := self.checked.get(key, 0))]
        tried += [f"{name} = {', '.join(map(str, values))}" for name, values in self.sizes.items()]
        return ", ".join(tried)

    def to_json(self) -> dict[str, Any]:
        """Plain data, to be kept beside an exported model."""
        example = self.counterexample
        return {
            "node": self.node,
            "filename": self.path,
            "line": self.line,
            "ok": self.ok,
            "findings": [finding.to_json() for finding in self.findings],
            "counterexample": None if example is None else {"way": example.way, "message": example.message, "code": example.code},
            "checked": dict(self.checked),
            "sizes": dict(self.sizes),
            "timings": {step: round(seconds, 6) for step, seconds in self.timings.items()},
        }


_WORDS = {
    "raised": "on which NumPy raises",
    "undefined": "left out, undefined in NumPy",
    "ties": "with ties that NumPy leaves unordered",
    "closer": "on which torch is closer to a float64 run than NumPy",
    "ill_conditioned": "too ill-conditioned to compare",
    "out_of_memory": "on which one side runs out of memory",
    "overflow": "on which one side overflows",
    "bounded_convert": "beyond the bounds of the converted function's numbers",
    "bounded_trace": "beyond the bounds of the graph's numbers",
    "bounded_rewrite": "beyond the bounds of the rewritten function's numbers",
    "refused_convert": "refused by the converted function",
    "refused_trace": "refused by the graph",
}
