"""python -m np2fx.docs [ROOT]: write the made pages of the working tree at ROOT (default: the current folder)."""

from __future__ import annotations

import os
import sys

from .pages import is_made, pages


def main(root: str) -> int:
    """Write every page that differs, remove made pages that no rule stands behind any more, and say how many changed."""
    if not os.path.isdir(os.path.join(root, "docs")):
        print(f"np2fx.docs: {os.path.abspath(root)} has no folder docs", file=sys.stderr)
        return 2
    made, changed = pages(root), 0
    for path, text in made.items():
        target = os.path.join(root, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if _text(target) != text:
            changed += 1
            with open(target, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
    for path in is_made(root):
        if path not in made:
            changed += 1
            os.remove(os.path.join(root, path))
    print(f"{len(made)} pages, {changed} changed")
    return 0


def _text(path: str) -> str | None:
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
