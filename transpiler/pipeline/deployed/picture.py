"""A picture of a pipeline: nodes from left to right in the order of their data, edges between their arrays, feedback dashed below.

Plain SVG, which needs nothing but itself; its colours follow the reader's light or dark mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_CHARACTER, _LINE, _HEAD, _GAP, _MARGIN, _BETWEEN = 7.2, 20, 28, 24, 24, 110
"""Sizes in pixels: a letter's width, a line of an array, a node's title, between nodes above each other, around, between columns."""

_STYLE = """
svg { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; --paper: #ffffff; --ink: #1f2328; --line: #8c959f;
--box: #f6f8fa; --good: #1a7f37; --open: #9a6700; --back: #8250df }
@media (prefers-color-scheme: dark) {
svg { --paper: #0d1117; --ink: #e6edf3; --line: #6e7681; --box: #161b22; --good: #3fb950; --open: #d29922; --back: #a371f7 } }
.paper { fill: var(--paper) } text { fill: var(--ink) } .box { fill: var(--box); stroke: var(--line) } .title { font-weight: 600 }
.small { fill: var(--line) } .edge { fill: none; stroke: var(--line); stroke-width: 1.4 }
.back { stroke: var(--back); stroke-dasharray: 5 4 }
.port { fill: var(--line) } .good { fill: var(--good) } .open { fill: var(--open) }
"""


def picture(description: Mapping[str, Any]) -> str:
    """The picture of a pipeline that is described so (see `description`), as the text of an SVG file."""
    boxes = _placed(description)
    wiring = description["pipeline"]
    width = max(b.x + b.width for b in boxes.values()) + min(b.x for b in boxes.values())
    bottom = max(b.y + b.height for b in boxes.values())
    back = _below(boxes, [(s, e) for s, ends in wiring["feedback_flow"].items() for e in ends])
    height = max([bottom, *(low for _, _, low in back)]) + _MARGIN
    parts = [f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>']
    for source, ends in wiring["data_flow"].items():
        parts += [_edge(boxes, source, end) for end in ends]
    parts += [_feedback(boxes, *edge) for edge in back]
    for node, names in wiring["inputs"].items():
        parts += [_loose(*boxes[node].port(name, "inputs"), name, -1) for name in names]
    for node, names in wiring["outputs"].items():
        parts += [_loose(*boxes[node].port(name, "outputs"), name, 1) for name in names]
    parts += [box.drawn() for box in boxes.values()]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">'
    return "\n".join([head, f"<style>{_STYLE}</style>", *parts, "</svg>"]) + "\n"


class _Box:
    """A node in the picture: its title, what it is made of, and its arrays, inputs on the left and outputs on the right."""

    def __init__(self, name: str, model: Mapping[str, Any], verified: int | None) -> None:
        self.name, self.model = name, model
        self.backend = model["parameters"].get("backend") or "not exported"
        self.verdict = f"agrees in {verified} calls" if verified else "not checked"
        self.is_good = bool(verified)
        self.lines = max(len(model["inputs"]), len(model["outputs"]))
        left, right = (max([len(_said(a)) for a in model[side]], default=0) for side in ("inputs", "outputs"))
        self.width = _CHARACTER * max(left + right + 4, len(name) + 4, len(self.backend) + len(self.verdict) + 5)
        self.height = _HEAD + _LINE * (self.lines + 1) + 8
        self.x = self.y = 0.0

    def port(self, name: str, side: str) -> tuple[float, float]:
        """Where an array's edge ends."""
        number = next(i for i, a in enumerate(self.model[side]) if a["name"] == name)
        return self.x + self.width * (side == "outputs"), self.y + _HEAD + _LINE * (number + 0.5) + 4

    def drawn(self) -> str:
        return "\n".join(self._drawn())

    def _drawn(self) -> Iterator[str]:
        yield f'<rect class="box" x="{self.x:.1f}" y="{self.y:.1f}" width="{self.width:.1f}" height="{self.height:.1f}" rx="6"/>'
        yield _text(self.x + self.width / 2, self.y + 19, self.name, "title", "middle")
        for side, anchor, inset in (("inputs", "start", 9), ("outputs", "end", -9)):
            for array in self.model[side]:
                x, y = self.port(array["name"], side)
                yield f'<circle class="port" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
                yield _text(x + inset, y + 4, _said(array), "", anchor)
        y = self.y + self.height - 9
        yield _text(self.x + 9, y, self.backend, "small", "start")
        yield _text(self.x + self.width - 9, y, self.verdict, "good" if self.is_good else "open", "end")


def _said(array: Mapping[str, Any]) -> str:
    free = array.get("free_axes", ())
    return f"{array['name']} {array['dtype']}[{', '.join('*' if i in free else str(n) for i, n in enumerate(array['shape']))}]"


def _placed(description: Mapping[str, Any]) -> dict[str, _Box]:
    """The boxes where they stand: a node to the right of all whose arrays it takes."""
    verified = description.get("np2fx", {}).get("verified", {})
    boxes = {name: _Box(name, model, verified.get(name)) for name, model in description["models"].items()}
    columns = dict.fromkeys(boxes, 0)
    for node in boxes:  # in the order of a step: what they take is placed already
        for source, ends in description["pipeline"]["data_flow"].items():
            if any(end.split("/", 1)[0] == node for end in ends):
                columns[node] = max(columns[node], columns[source.split("/", 1)[0]] + 1)
    outside = [name for side in ("inputs", "outputs") for names in description["pipeline"][side].values() for name in names]
    apart = max(_BETWEEN, 70 + _CHARACTER * max(map(len, outside), default=0))
    x = _MARGIN + apart
    for column in range(max(columns.values(), default=0) + 1):
        here = [boxes[n] for n, c in columns.items() if c == column]
        y = float(_MARGIN)
        for box in here:
            box.x, box.y = x, y
            y += box.height + _GAP
        x += max(b.width for b in here) + apart
    return boxes


def _ends(boxes: Mapping[str, _Box], source: str, end: str) -> tuple[float, float, float, float]:
    (a, out), (b, into) = source.split("/", 1), end.split("/", 1)
    return (*boxes[a].port(out, "outputs"), *boxes[b].port(into, "inputs"))


def _edge(boxes: Mapping[str, _Box], source: str, end: str) -> str:
    x, y, u, v = _ends(boxes, source, end)
    bend = max((u - x) / 2, 30)
    return f'<path class="edge" d="M{x:.1f} {y:.1f} C{x + bend:.1f} {y:.1f} {u - bend:.1f} {v:.1f} {u:.1f} {v:.1f}"/>'


def _below(boxes: Mapping[str, _Box], edges: list[tuple[str, str]]) -> list[tuple[str, str, float]]:
    """Edges of feedback and how far down they run: below all boxes on their way, and below each other."""
    found: list[tuple[str, str, float]] = []
    runs: list[tuple[float, float, float]] = []
    for source, end in edges:
        x, _, u, _ = _ends(boxes, source, end)
        left, right = min(x, u) - 30, max(x, u) + 30
        low = max(b.y + b.height for b in boxes.values() if b.x < right and b.x + b.width > left) + 12
        while any(a < right and b > left and abs(low - y) < 14 for a, b, y in runs):
            low += 16
        runs.append((left, right, low))
        found.append((source, end, low))
    return found


def _feedback(boxes: Mapping[str, _Box], source: str, end: str, low: float) -> str:
    x, y, u, v = _ends(boxes, source, end)
    right, left = x + 26, u - 26
    path = f"M{x:.1f} {y:.1f} H{right:.1f} V{low:.1f} H{left:.1f} V{v:.1f} H{u:.1f}"
    return f'<path class="edge back" d="{path}"/>'


def _loose(x: float, y: float, name: str, side: int) -> str:
    """An array that comes from outside, or goes there."""
    far = x + side * 40
    said = _text(far + side * 5, y + 4, name, "small", "end" if side < 0 else "start")
    return f'<path class="edge" d="M{x:.1f} {y:.1f} H{far:.1f}"/>{said}'


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
