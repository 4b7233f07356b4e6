"""The report of a compiled pipeline: one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from .picture import picture


@dataclass
class Told:
    """What the report says of a node.

    place     where its text begins; `source` is the text
    graph     its graph as Python
    calls     how many noted calls the graph was held against, and `worst` the largest difference from what the node gave
    problems  why there is no graph"""

    place: tuple[str, int]
    source: str
    graph: str = ""
    calls: int = 0
    worst: float = 0.0
    problems: list[str] = field(default_factory=list)


_STYLE = """
:root { --paper: #ffffff; --ink: #1f2328; --line: #d1d9e0; --box: #f6f8fa; --good: #1a7f37; --bad: #cf222e; color-scheme: light dark }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --line: #3d444d; --box: #161b22; --good: #3fb950;
--bad: #f85149 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1200px; margin: 2rem auto;
padding: 0 1rem }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 6px; padding: .8rem; overflow-x: auto; font-size: 12.5px;
margin: 0 }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 1rem } .two > div { min-width: 0 }
.good { color: var(--good) } .bad { color: var(--bad) } .picture { overflow-x: auto } h2 { border-bottom: 1px solid var(--line) }
table { border-collapse: collapse } td, th { border: 1px solid var(--line); padding: .2rem .6rem; text-align: left }
"""


def report(name: str, description: Mapping[str, Any], nodes: Mapping[str, Told]) -> str:
    """The page of a pipeline that is described so (see `description`)."""
    rows = "".join(_row(node, told, description["models"][node]) for node, told in nodes.items())
    parts = [
        f"<h1>{escape(name)}</h1>", f'<div class="picture">{picture(description)}</div>',
        f"<table><tr><th>node</th><th>artefact</th><th>held against</th><th>largest difference</th></tr>{rows}</table>",
        *(_node(node, told) for node, told in nodes.items()),
    ]  # fmt: skip
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(name)}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _row(node: str, told: Told, model: Mapping[str, Any]) -> str:
    artefact = model["parameters"].get("model_path") or "none"
    held = f"{told.calls} calls" if told.calls else "nothing"
    cells = (f'<a href="#{escape(node)}">{escape(node)}</a>', escape(artefact), held, f"{told.worst:.3g}" if told.calls else "")
    return "<tr>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>"


def _node(node: str, told: Told) -> str:
    if told.problems:
        said = "".join(f'<pre class="bad">{escape(p)}</pre>' for p in told.problems)
    elif told.calls:
        said = f'<p class="good">The graph gives what the node gave in {told.calls} calls (largest difference {told.worst:.3g}).</p>'
    else:
        said = "<p>The graph was not held against the node.</p>"
    texts = [("NumPy", told.source), ("torch", told.graph)]
    columns = "".join(f"<div><h3>{title}</h3><pre>{escape(text)}</pre></div>" for title, text in texts if text)
    place = f"{told.place[0]}:{told.place[1]}"
    return f'<h2 id="{escape(node)}">{escape(node)}</h2><p><code>{escape(place)}</code></p>{said}<div class="two">{columns}</div>'
