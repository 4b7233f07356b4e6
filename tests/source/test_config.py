"""Configuration: [tool.np2fx] of the nearest pyproject.toml."""

from __future__ import annotations

import pytest
from np2fx.source.findings.finding import make_finding
from np2fx.source.reading.config import NODE_DECORATORS, Config, ConfigError, check_selector, load_config, parse_config


def test_nearest_file_with_a_section(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.np2fx]\ntarget = "leapp"\nnodes = ["pkg/pre.py:norm*"]\n')
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    config = load_config(str(tmp_path / "pkg" / "pre.py"))
    assert config.target == "leapp" and config.root == str(tmp_path)
    assert config.node_patterns(str(tmp_path / "pkg" / "pre.py")) == ["norm*"]
    assert config.node_patterns(str(tmp_path / "pkg" / "post.py")) == []


def test_without_a_file(tmp_path):
    assert load_config(str(tmp_path)) == Config()


def test_decorators_are_added():
    config = parse_config({"node-decorators": ["mylib.exported"]}, ".")
    assert set(config.node_decorators) == {*NODE_DECORATORS, "mylib.exported"} and config.markers() == ["exported"]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"colour": 1}, "colour: unknown key"),
        ({"target": "jax"}, "must be one of"),
        ({"nodes": "a.py:f"}, "list of strings"),
        ({"nodes": ["f"]}, "FILE:FUNCTION"),
        ({"select": ["NX7"]}, "`NX7` is no finding"),
        ({"per-file-ignores": ["NX2"]}, "table"),
        ({"per-file-ignores": {"a": ["nonsense"]}}, "`nonsense` is no finding"),
        ({"root": "."}, "unknown key"),
    ],
)
def test_mistakes_are_named(section, message):
    with pytest.raises(ConfigError, match=message):
        parse_config(section, ".")


def test_toml_that_cannot_be_read(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.np2fx\n")
    with pytest.raises(ConfigError, match="pyproject"):
        load_config(str(tmp_path))


def test_wants():
    scalar, random = make_finding("scalar-index", path="tests/a.py"), make_finding("random", path="pkg/a.py")
    assert Config(select=("NX2",)).wants(scalar) and not Config(select=("NX2",)).wants(random)
    assert not Config(ignore=("random",)).wants(random) and not Config(ignore=("ALL",)).wants(random)
    config = Config(per_file_ignores={"tests/*": ("NX2",)})
    assert not config.wants(scalar) and config.wants(make_finding("scalar-index", path="pkg/a.py"))


def test_selectors():
    assert [check_selector(s) for s in ("NX", "NX2", "NX201", "random", "ALL")]
    with pytest.raises(ConfigError):
        check_selector("")
