"""Files: bytes to text and back without a change, discovery, atomic replacement."""

from __future__ import annotations

import codecs
import importlib
import os
import pathlib
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from np2fx.cli import main
from np2fx.source.reading.files import EncodingError, decode, discover, mentions, write, write_all


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.booleans(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_utf8_round_trip(text, bom, newline):
    data = (codecs.BOM_UTF8 if bom else b"") + ("# np\n" + text.replace("coding", "")).replace("\n", newline).encode()
    source = decode(data)
    assert source.encode(source.text) == data


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-8", "iso8859-15", "shift_jis", "koi8-r"])
def test_cookie_round_trip(encoding):
    sample = {"shift_jis": "日本", "koi8-r": "привет", "iso8859-15": "€"}.get(encoding, "é")
    data = f"#!/usr/bin/python\r\n# -*- coding: {encoding} -*-\r\nx = '{sample}'\r\n".encode(encoding)
    source = decode(data)
    assert sample in source.text and source.newline == "\r\n"
    assert source.encode(source.text) == data


def test_a_cookie_is_one_only_in_a_comment_of_the_first_two_lines():
    data = "x = 1\ny = 2\n# coding: latin-1\nz = 'é'\n".encode()
    assert decode(data).encoding == "utf-8"


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"import numpy\nx = '\xff'\n", 2), (b"import numpy\rx = '\xff'\r", 2),
     (b"# coding: no-such\n", 1), (codecs.BOM_UTF8 + b"# coding: latin-1\n", 1)]
)
def test_what_cannot_be_decoded_says_where(data, line):
    with pytest.raises(EncodingError) as caught:
        decode(data)
    assert caught.value.line == line


def test_what_cannot_be_encoded():
    with pytest.raises(EncodingError, match="iso-8859-1"):
        decode(b"# coding: latin-1\n").encode("x = '\u20ac'")


def test_write_keeps_the_mode_and_leaves_nothing(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    path.chmod(0o755)
    write(str(path), b"new")
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == 0o755
    assert os.listdir(tmp_path) == ["a.py"]


def test_write_follows_a_link(tmp_path):
    (tmp_path / "real.py").write_bytes(b"old")
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    write(str(tmp_path / "link.py"), b"new")
    assert (tmp_path / "link.py").is_symlink() and (tmp_path / "real.py").read_bytes() == b"new"


@pytest.mark.parametrize("step", ["tempfile.mkstemp", "os.chmod", "os.replace"])
def test_a_write_that_fails_names_the_file(tmp_path, monkeypatch, step):
    new = {str(tmp_path / name): b"new" for name in ("a.py", "b.py")}
    for path in map(pathlib.Path, new):
        path.write_bytes(b"old")
    module, _, name = step.partition(".")
    calls, before = [], getattr(importlib.import_module(module), name)

    def fails_at_the_second(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise OSError(28, "No space left on device", str(tmp_path / ".np2fx-x"))
        return before(*args, **kwargs)

    monkeypatch.setattr(step, fails_at_the_second)
    with pytest.raises(OSError) as caught:
        write_all(new)
    monkeypatch.undo()
    assert (caught.value.filename, caught.value.strerror) == (str(tmp_path / "b.py"), "No space left on device")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a.py": b"old", "b.py": b"old"}


def test_a_write_that_fails_leaves_the_file(tmp_path, monkeypatch):
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def refuse(*_):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="no"):
        write(str(path), b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.py"]


@pytest.fixture
def tree(tmp_path):
    names = "a.py pkg/b.py pkg/c.txt pkg/gen/d.py .venv/e.py pkg/__pycache__/f.py build/g.py tests/h.py script"
    for name in names.split():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import numpy\n")
    return tmp_path


def found(tree, *paths, exclude=()):
    return [os.path.relpath(p, tree) for p in discover([str(tree / p) for p in paths or [""]], exclude, str(tree))]


def test_discover(tree):
    assert found(tree) == ["a.py", "pkg/b.py", "pkg/gen/d.py", "tests/h.py"]
    assert found(tree, "script", "pkg", "pkg/b.py") == ["script", "pkg/b.py", "pkg/gen/d.py"]


def test_exclude(tree):
    assert found(tree, exclude=["gen", "tests/"]) == ["a.py", "pkg/b.py"]
    assert found(tree, exclude=["pkg/gen/*.py"]) == ["a.py", "pkg/b.py", "tests/h.py"]
    assert found(tree, "a.py", exclude=["a.py"]) == []


def test_gitignore(tree):
    (tree / ".gitignore").write_text("# made\ngen/\n/a.py\n*.tmp.py\n")
    assert found(tree) == ["pkg/b.py", "tests/h.py"]
    (tree / "pkg" / ".gitignore").write_text("!gen/\n")
    assert found(tree) == ["pkg/b.py", "pkg/gen/d.py", "tests/h.py"]


def test_missing_path(tree):
    with pytest.raises(FileNotFoundError):
        found(tree, "nothing")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"import numpy", True),
        (b"np.sum(x)", True),
        (b"from leapp import annotate", True),
        (b"import os", False),
        (b"", False),
        (b"@exported", True),
    ],
)
def test_prefilter(data, expected):
    assert mentions(data, ["exported"]) is expected


def test_a_rewritten_file_is_no_numpy_file():
    imports = b"import torch\nimport np2fx\nimport np2fx.numpy as npx\n\n\n"
    written = imports + b"@np2fx.boundary(numpy=False)\ndef f(x):\n    return x\n"
    assert not mentions(written)
    assert mentions(written + b"import numpy\n")
    assert mentions(written + b"@np2fx.node\n")


def test_what_is_no_file_is_no_python_file(tmp_path, monkeypatch, capsys):
    """An editor's lock (a link to nowhere), a pipe: a folder is checked and rewritten without them."""
    (tmp_path / "m.py").write_text("import numpy as np\nimport np2fx\n\n\n@np2fx.node(x='float32[n]')\ndef f(x):\n    return np.sin(x)\n")
    (tmp_path / ".#m.py").symlink_to("someone@host.1234:5678")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.py")
    assert list(discover([str(tmp_path)])) == [str(tmp_path / "m.py")]
    monkeypatch.chdir(tmp_path)
    assert main(["check", "."]) == 0 and main(["check", "--target", "np2fx", "."]) == 0 and main(["rewrite", "."]) == 0
    assert "1 file rewritten" in capsys.readouterr().out
