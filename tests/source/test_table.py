"""The table read as text is the table that importing the rules gives."""

from __future__ import annotations

import ast
import inspect
import os

import np2fx.rules
import pytest
from np2fx.source.reading import table as table_module
from np2fx.source.reading.table import load_table


def test_same_names_as_the_imported_table():
    rules, refusals = np2fx.rules.load()
    table = load_table()
    assert set(table.rules) == set(rules)
    assert set(table.refusals) == set(refusals)


def test_same_contents_as_the_imported_table():
    rules, refusals = np2fx.rules.load()
    table = load_table()
    for name, found in table.rules.items():
        rule = rules[name]
        assert found.names == rule.names and found.kind == rule.kind, name
        assert (found.writes, found.view, found.examples) == (rule.writes, rule.view, tuple(rule.examples)), name
        if not found.is_ufunc and callable(rule.body):
            assert [p.name for p in found.parameters] == list(inspect.signature(rule.body).parameters), name
    for name, found in table.refusals.items():
        refusal = refusals[name]
        assert (found.reason, found.hint, found.finding) == (refusal.reason, refusal.hint, refusal.finding), name


def test_source_of_a_rule():
    rule = load_table().rules["numpy.add"]
    assert rule.is_ufunc and isinstance(rule.function, ast.FunctionDef) and rule.function.name == "add"
    assert rule.source.startswith("@ufunc(") and "torch.add" in rule.source


RULES = '''
from np2fx.rules import rule, refuse

NAMES = ["zoom", "shift"]


@rule("mylib.norm", "mylib.linalg.norm", kind="reduction", view=True)
def norm(a, axis=None, *, out=None, **options):
    """A page."""
    return a


for name in NAMES:
    refuse(f"scipy.ndimage.{name}", reason="it is compiled", hint="use " + name)
'''


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "src" / "mylib").mkdir(parents=True)
    (tmp_path / "src" / "mylib" / "torch_rules.py").write_text(RULES)
    return tmp_path


def test_rules_of_a_project(project):
    table = load_table(["mylib.torch_rules"], str(project))
    rule = table.rules["mylib.linalg.norm"]
    assert rule.name == "mylib.norm" and rule.view and rule.doc == "A page."
    assert [(p.name, p.kind, p.default) for p in rule.parameters] == [
        ("a", "positional", None), ("axis", "positional", "None"), ("out", "keyword", "None"), ("options", "var-keyword", None),
    ]  # fmt: skip
    assert table.refusals["scipy.ndimage.zoom"].hint == "use zoom"
    assert table.refusal("scipy.ndimage.shift.anything").reason == "it is compiled"
    assert "numpy.add" in table.rules


def test_missing_module(project):
    with pytest.raises(FileNotFoundError, match="other_rules"):
        load_table(["other_rules"], str(project))


def test_cache_follows_the_files(project):
    path = project / "src" / "mylib" / "torch_rules.py"
    load_table(["mylib.torch_rules"], str(project))
    assert list((project / "cache" / "np2fx").iterdir())
    path.write_text(RULES.replace("mylib.norm", "mylib.length"))
    assert "mylib.length" in load_table(["mylib.torch_rules"], str(project)).rules


@pytest.mark.parametrize("text", ["", "{", '{"key": 1}', "[]"])
def test_damaged_cache_is_read_again(project, text):
    load_table(["mylib.torch_rules"], str(project))
    for file in (project / "cache" / "np2fx").iterdir():
        file.write_text(text)
    table_module._load.cache_clear()
    assert "mylib.norm" in load_table(["mylib.torch_rules"], str(project)).rules


def test_cache_folder_that_cannot_be_made(project, monkeypatch):
    blocked = project / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    table_module._load.cache_clear()
    assert "mylib.norm" in load_table(["mylib.torch_rules"], str(project)).rules
    assert os.listdir(project).count("file") == 1
