"""The section of one rule or refusal as Markdown, made from the table alone: neither NumPy nor torch is imported."""

from __future__ import annotations

import ast
import inspect
import re

from ..source.reading.table import Parameter, RefusalSource, RuleSource

_UFUNC = "out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None"


def rule_section(name: str, rule: RuleSource, level: int = 1, dtypes: str = "") -> str:
    """The page of a rule: its names, NumPy's signature, what differs, examples and the torch body, under headings from `level` on."""
    parts = [f"{'#' * level} {name}", f"`{signature(name, rule)}`"]
    others = [n for n in rule.names if n != name]
    if others:
        parts.append("Also " + ", ".join(f"`{n}`" for n in others) + ".")
    if rule.doc:
        parts.append(inspect.cleandoc(rule.doc))
    parts.append(_kind(rule))
    if dtypes:
        parts.append(dtypes)
    if rule.refused:
        lines = [f"- `{condition}`: {message}" + (f"; instead: {hint}" if hint else "") for condition, message, hint, *_ in rule.refused]
        parts.append("Refused arguments:\n\n" + "\n".join(lines))
    if rule.examples:
        parts.append("Examples, each a test against NumPy on generated arrays:\n\n```python\n" + "\n".join(rule.examples) + "\n```")
    parts.append(f"In torch:\n\n```python\n{body(rule)}\n```")
    return "\n\n".join(parts) + "\n"


def refusal_section(name: str, refusal: RefusalSource, level: int = 1) -> str:
    """The page of a NumPy name that has no torch meaning."""
    return f"{'#' * level} {name}\n\nRefused ({refusal.finding}): {refusal.reason}.\n\nInstead: {refusal.hint}.\n"


def _kind(rule: RuleSource) -> str:
    said = [f"kind {rule.kind}"] + ["a ufunc, with its methods"] * rule.is_ufunc
    said += [f"writes into `{rule.writes}`"] * bool(rule.writes) + ["returns a view"] * rule.view
    return f"Rule: {', '.join(said)}, in `{rule.module}`."


def signature(name: str, rule: RuleSource) -> str:
    """NumPy's signature as the rule has it; an attribute has none."""
    operands = [p for p in rule.parameters if p.kind == "positional-only"] if rule.is_ufunc else list(rule.parameters)
    if name.startswith("numpy.ndarray."):
        tail = name.removeprefix("numpy.ndarray.")
        return f"x.{tail}" if rule.kind == "python" and len(rule.parameters) == 1 else f"x.{tail}({_listed(operands[1:])})"
    if rule.is_ufunc:
        return f"{name}({', '.join(p.name for p in operands)}, /, {_UFUNC})"
    return f"{name}({_listed(operands)})"


def _listed(parameters: list[Parameter]) -> str:
    """Parameters as in a `def`, with `/` and `*` where the kinds change."""
    shown_parts: list[str] = []
    for before, p in zip([None, *parameters], parameters, strict=False):
        kind = before.kind if before else ""
        if kind == "positional-only" and p.kind != "positional-only":
            shown_parts.append("/")
        if p.kind == "keyword" and kind not in ("keyword", "var-positional"):
            shown_parts.append("*")
        stars = {"var-positional": "*", "var-keyword": "**"}.get(p.kind, "")
        shown_parts.append(stars + p.name + (f"={p.default}" if p.default is not None else ""))
    if parameters and parameters[-1].kind == "positional-only":
        shown_parts.append("/")
    return ", ".join(shown_parts)


def body(rule: RuleSource) -> str:
    """The rule's text without decorators and without the docstring, which stands above it."""
    function = rule.function
    lines = rule.source.splitlines()
    start = function.lineno - min([function.lineno, *(d.lineno for d in function.decorator_list)])
    documented = function.body and isinstance(function.body[0], ast.Expr) and ast.get_docstring(function) is not None
    if not documented or len(function.body) == 1:
        return "\n".join(lines[start:])
    first, last = function.body[0].lineno - function.lineno + start, (function.body[0].end_lineno or 0) - function.lineno + start
    return "\n".join([*lines[start:first], *lines[last + 1 :]])


def anchor(name: str) -> str:
    """The anchor that a heading gets where Markdown is shown."""
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


def shown(text: str) -> str:
    """Text that may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
