"""Files: which ones, their bytes as text, and text back to the same bytes.

Nothing about a file is changed by reading and writing it: encoding (PEP 263 cookie or BOM) and newlines stay, mode bits too.
"""

from __future__ import annotations

import codecs
import fnmatch
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .text import newline_of

DEFAULT_EXCLUDES = (
    ".git", ".hg", ".svn", ".venv", "venv", ".tox", ".nox", ".eggs", "__pycache__", "node_modules", "site-packages",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", "build", "dist",
)  # fmt: skip
MARKERS = ("np2fx", "input_tensors", "annotate")


class EncodingError(Exception):
    """Bytes that do not fit the file's encoding; the message says which, `line` where (0 where it cannot be said)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Source:
    """A file's text with what is needed to write it back: `text` keeps the newlines the bytes had.

    `encode(text)` is the inverse of reading: `source.encode(source.text)` is the file's bytes."""

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False

    def encode(self, text: str) -> bytes:
        """Bytes of a new text in this file's encoding. Raises EncodingError for characters the encoding lacks."""
        try:
            body = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise EncodingError(f"{error.object[error.start : error.end]!r} is not in {self.encoding}") from None
        return codecs.BOM_UTF8 + body if self.bom else body

    @property
    def newline(self) -> str:
        return newline_of(self.text)


def decode(data: bytes, path: str = "<string>") -> Source:
    """Bytes of a Python file to text. Raises EncodingError for an unknown encoding or bytes that do not fit it."""
    bom = data.startswith(codecs.BOM_UTF8)
    encoding = "utf-8"
    if b"coding" in data[:400]:
        import tokenize

        try:
            encoding = tokenize.detect_encoding(iter(data.splitlines(True)).__next__)[0]
        except SyntaxError as error:
            raise EncodingError(str(error), 1) from None
        encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = len((body[: error.start] + b".").splitlines())
        raise EncodingError(f"byte 0x{body[error.start]:02x} is not {encoding}", line) from None
    except LookupError:
        raise EncodingError(f"unknown encoding {encoding}", 1) from None
    return Source(path, text, encoding, bom)


def read(path: str) -> bytes:
    """The bytes of a file; of standard input for "-". Raises OSError."""
    if path == "-":
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def write(path: str, data: bytes) -> None:
    """Replace a file in one step, keeping its mode bits: a reader sees the old bytes or the new ones, never a part.

    A symbolic link stays one; what it points to is replaced. Raises OSError and then leaves the file as it was."""
    write_all({path: data})


def write_all(new: dict[str, bytes]) -> None:
    """Replace several files, each in one step. Raises OSError where one cannot be written, and then leaves all of them as they were."""
    import tempfile

    made: list[tuple[str, str]] = []
    replaced: list[tuple[str, bytes | None]] = []
    current = ""
    try:
        for path, data in new.items():
            current = path
            target = os.path.realpath(path)
            mode = os.stat(target).st_mode if os.path.exists(target) else None
            handle, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".np2fx-")
            made.append((temporary, target))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            if mode is not None:
                os.chmod(temporary, mode & 0o7777)
        for path, (temporary, target) in zip(new, list(made), strict=True):
            current = path
            before = read(target) if os.path.exists(target) else None
            os.replace(temporary, target)
            made.remove((temporary, target))
            replaced.append((target, before))
    except BaseException as error:
        if isinstance(error, OSError):  # it names the temporary file
            error.filename, error.filename2 = current, None
        for temporary, _ in made:
            os.unlink(temporary)
        for target, before in replaced:
            if before is None:
                os.unlink(target)
            else:
                write(target, before)
        raise


_NUMPY = re.compile(rb"(?<!np2fx\.)numpy(?!=)|np\.")
"""NumPy's name, but not in what np2fx writes into torch files: `import np2fx.numpy as npx`, `@np2fx.boundary(numpy=False)`."""


_WRITTEN = re.compile(rb"import np2fx(\.numpy)?\b|@np2fx\.boundary\b")


def mentions(data: bytes, markers: Iterable[str] = ()) -> bool:
    """Whether bytes name NumPy or a node marker. What does not is dismissed unread."""
    if _NUMPY.search(data):
        return True
    own = _WRITTEN.sub(b"", data)
    return any(m.encode() in own for m in (*MARKERS, *markers)) or data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def discover(paths: Sequence[str], exclude: Sequence[str] = (), root: str = ".") -> Iterator[str]:
    """The Python files of files and folders, folders in sorted order, each file once. What is no file (an editor's lock, which is a link
    to nowhere; a socket; a pipe) is none of them.

    A file that is named is taken whatever its suffix, unless `exclude` matches it. Raises FileNotFoundError."""
    patterns = (*DEFAULT_EXCLUDES, *exclude)
    seen: set[str] = set()
    for path in paths:
        if path == "-":
            found: Iterable[str] = ["-"]
        elif os.path.isdir(path):
            found = _walk(path, patterns, root)
        elif os.path.exists(path):
            found = [] if _matches(path, exclude, root) else [path]
        else:
            raise FileNotFoundError(path)
        for name in found:
            key = os.path.realpath(name)
            if key not in seen:
                seen.add(key)
                yield name


def _walk(folder: str, patterns: Sequence[str], root: str) -> Iterator[str]:
    ignored = _Gitignore(folder)
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(d for d in folders if not _matches(os.path.join(here, d), patterns, root) and not ignored(here, d, True))
        for name in sorted(names):
            path = os.path.join(here, name)
            if name.endswith(".py") and not _matches(path, patterns, root) and not ignored(here, name, False) and os.path.isfile(path):
                yield os.path.normpath(path)


def _matches(path: str, patterns: Sequence[str], root: str) -> bool:
    """A pattern without a slash names a file or folder anywhere; one with a slash is a path from the project's root."""
    if not patterns:
        return False
    relative = os.path.relpath(os.path.abspath(path), os.path.abspath(root)).replace(os.sep, "/")
    name = os.path.basename(path.rstrip("/"))
    return any(match_path(relative, p) if "/" in p.rstrip("/") else fnmatch.fnmatch(name, p.rstrip("/")) for p in patterns)


def excluded(path: str, exclude: Sequence[str], root: str) -> bool:
    """Whether a file below the project's root is left out, or lies in a folder that is."""
    relative = os.path.relpath(path, root)
    parts = relative.split(os.sep)
    return any(_matches(os.path.join(root, *parts[: n + 1]), (*DEFAULT_EXCLUDES, *exclude), root) for n in range(len(parts)))


def match_path(relative: str, pattern: str) -> bool:
    """Whether a pattern such as "pkg/*.py" or "tests/" matches a path relative to the root, or a folder above it."""
    pattern = pattern.strip("/")
    parts = relative.split("/")
    return any(fnmatch.fnmatch("/".join(parts[: n + 1]), pattern) for n in range(len(parts)))


class _Gitignore:
    """The .gitignore files of a folder and below: plain patterns, `!` and anchored ones; `**` as fnmatch's `*`."""

    def __init__(self, folder: str) -> None:
        self.rules: dict[str, list[tuple[str, bool, bool, bool]]] = {}
        self.top = os.path.abspath(folder)
        here = self.top
        while True:  # the files above count too, up to the repository's root
            self.folder(here)
            parent = os.path.dirname(here)
            if os.path.exists(os.path.join(here, ".git")) or parent == here:
                break
            here = parent
        if not os.path.exists(os.path.join(here, ".git")):  # not a repository: only what is inside the folder
            self.rules = {k: v for k, v in self.rules.items() if k == self.top}

    def folder(self, folder: str) -> list[tuple[str, bool, bool, bool]]:
        if folder not in self.rules:
            self.rules[folder] = []
            try:
                with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="replace") as file:
                    lines = [line.rstrip("\n") for line in file]
            except OSError:
                lines = []
            for line in lines:
                text = line.rstrip()
                if not text or text.startswith("#"):
                    continue
                negated, text = text.startswith("!"), text.removeprefix("!")
                only_folders, text = text.endswith("/"), text.rstrip("/")
                anchored, text = "/" in text, text.lstrip("/").removeprefix("**/")
                self.rules[folder].append((text, negated, only_folders, anchored))
        return self.rules[folder]

    def __call__(self, here: str, name: str, is_folder: bool) -> bool:
        path = os.path.join(os.path.abspath(here), name)
        self.folder(os.path.dirname(path))
        ignored = False
        for folder in sorted(self.rules, key=len):  # a rule nearer to the file is stronger
            if not path.startswith(folder.rstrip(os.sep) + os.sep):
                continue
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            for pattern, negated, only_folders, anchored in self.rules[folder]:
                if only_folders and not is_folder:
                    continue
                if fnmatch.fnmatch(relative if anchored else name, pattern):
                    ignored = not negated
        return ignored
