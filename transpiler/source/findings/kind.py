"""What a kind of finding is; the kinds themselves are in `kinds` and `file_kinds`."""

from __future__ import annotations

from typing import ClassVar

HEADER = "import numpy as np\nimport np2fx\n\n\n"


class Kind:
    """A kind of finding. Subclasses are the entries; `name` is their identity, `code` its short form."""

    name: ClassVar[str] = ""
    code: ClassVar[str] = ""
    severity: ClassVar[str] = "error"
    fixable: ClassVar[bool] = False
    message: ClassVar[str] = ""
    hint: ClassVar[str] = ""
    stage: ClassVar[str] = "check"
    bad: ClassVar[str] = ""
    good: ClassVar[str] = ""
