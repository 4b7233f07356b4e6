"""The command line: exit codes, output formats, options, and that no traceback reaches a user."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import np2fx.codemod.rewrite
import np2fx.source.findings.check
import pytest
from np2fx.cli import COMMANDS, main
from np2fx.cli.rewrite import diff
from np2fx.source.facts.helpers import Helpers

HEAD = "import numpy as np\nimport np2fx\n\n\n@np2fx.node\ndef f(x):\n"
BAD = HEAD + "    return np.flip(x) + np.random.rand(3)\n"
WARNS = HEAD + "    print(x)\n    return x\n"
GOOD = HEAD + "    return np.sin(x)\n"


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "NP2FX_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "warns.py").write_text(WARNS)
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "plain.py").write_text("import numpy as np\n\n\ndef f(x):\n    return np.random.rand(3)\n")
    return tmp_path


def run(capsys, *argv):
    code = main(argv)
    out = capsys.readouterr()
    assert "Traceback" not in out.err
    return code, out.out, out.err


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["check", "good.py"], 0),
        (["check", "bad.py"], 1),
        (["check", "bad.py", "--exit-zero"], 0),
        (["check", "."], 1),
        (["check"], 1),
        (["check", "warns.py"], 0),
        (["check", "warns.py", "--strict"], 1),
        (["check", "plain.py"], 0),
        (["check", "plain.py", "--all-functions"], 1),
        (["check", "bad.py", "--ignore", "NX1"], 0),
        (["check", "bad.py", "--select", "NX2,python-value"], 0),
        (["check", "bad.py", "--exclude", "bad.py"], 0),
        (["check", "missing.py"], 2),
        (["check", "bad.py", "--select", "nonsense"], 2),
        (["check", "bad.py", "--target", "jax"], 2),
        (["check", "bad.py", "--colour"], 2),
        (["check", "bad.py", "--config", "missing.toml"], 2),
        (["explain", "NX201"], 0),
        (["explain"], 0),
        (["explain", "np.sin"], 0),
        (["explain", "nothing-of-the-kind"], 2),
        (["rules"], 0),
        (["nonsense"], 2),
        ([], 2),
        (["--help"], 0),
        (["--version"], 0),
        *((([name, "--help"], 0)) for name in COMMANDS),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else str(v),
)
def test_exit_code(repo, capsys, argv, code):
    assert run(capsys, *argv)[0] == code


def test_text(repo, capsys):
    _, out, _ = run(capsys, "check", "bad.py")
    assert out.startswith("bad.py:7:25: NX103 [random] ")
    assert "\n 7 |     return np.flip(x) + np.random.rand(3)\n   |                         ^^^^^^^^^^^^^^^^^\n  help: " in out
    assert out.endswith("Found 1 error: 1 node in 1 file\n") and "\033" not in out


def test_colours(repo, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\033[31m" in run(capsys, "check", "bad.py")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033" not in run(capsys, "check", "bad.py")[1]


def test_tabs_keep_the_marks_in_place(repo, capsys):
    (repo / "tabs.py").write_text("import numpy as np\nimport np2fx\n@np2fx.node\ndef f(x):\n\treturn x[::-1]\n")
    _, out, _ = run(capsys, "check", "tabs.py")
    line, marks = re.findall(r"\| (.*)", out)
    assert marks.index("^") == line.index("x[::-1]") and marks.count("^") == len("x[::-1]")


def test_json(repo, capsys):
    code, out, _ = run(capsys, "check", ".", "--output-format", "json")
    found = json.loads(out)
    assert code == 1 and [(f["code"], f["filename"], f["severity"]) for f in found] == [
        ("NX103", "bad.py", "error"),
        ("NX104", "warns.py", "warning"),
    ]
    assert found[0]["location"] == {"row": 7, "column": 25} and found[0]["end_location"] == {"row": 7, "column": 42}
    assert json.loads(run(capsys, "check", "good.py", "--output-format", "json")[1]) == []


def test_github(repo, capsys):
    _, out, _ = run(capsys, "check", "bad.py", "--output-format", "github")
    assert re.fullmatch(r"::error title=np2fx NX103 \[random\],file=bad.py,line=7,col=25,endLine=7,endColumn=42::bad.py:7:25: .*\n", out)


def test_statistics(repo, capsys):
    code, out, _ = run(capsys, "check", ".", "--statistics")
    assert code == 1 and re.findall(r"(\d+)  (NX\d+)  \[.\] (\S+)", out) == [("1", "NX103", "random"), ("1", "NX104", "side-effect")]
    assert json.loads(run(capsys, "check", ".", "--statistics", "--output-format", "json")[1])[0]["count"] == 1


def test_a_folder_without_nodes_is_told_how_to_mark_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.py").write_text("import numpy as np\n")
    code, out, _ = run(capsys, "check", ".")
    assert code == 0 and "NX904 [no-node]" in out and "@np2fx.node" in out
    assert run(capsys, "check", ".", "--strict")[0] == 1
    assert "NX904" not in run(capsys, "check", "plain.py", "--strict")[1]


def test_no_files_at_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "check", ".")[0] == 0


def np2fx_process(*argv, data=b"", cwd=None):
    return subprocess.run(
        [sys.executable, "-c", "import sys; from np2fx.cli import main; sys.exit(main())", *argv], input=data, capture_output=True, cwd=cwd
    )


def test_standard_input(repo):
    done = np2fx_process("check", "-", "--stdin-filename", "pkg/a.py", data=BAD.encode(), cwd=repo)
    assert done.returncode == 1 and done.stdout.startswith(b"pkg/a.py:7:25: NX103") and b"np.random.rand(3)\n" in done.stdout
    assert np2fx_process("check", "-", data=b"", cwd=repo).returncode == 0


def test_a_reader_that_leaves_is_no_error(repo):
    command = f"{sys.executable} -c 'from np2fx.cli import main; raise SystemExit(main([\"rules\"]))' | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=repo)
    assert done.stderr == ""


def test_configuration_mistake(repo, capsys):
    (repo / "pyproject.toml").write_text("[tool.np2fx]\ncolour = 1\n")
    code, out, err = run(capsys, "check", "bad.py")
    assert (code, out) == (2, "") and "colour: unknown key" in err and err.count("\n") == 1


def test_command_line_over_configuration(repo, capsys):
    (repo / "pyproject.toml").write_text('[tool.np2fx]\nselect = ["NX2"]\nignore = ["NX104"]\n')
    assert run(capsys, "check", "bad.py")[0] == 0
    assert run(capsys, "check", "bad.py", "--select", "NX1")[0] == 1
    assert "NX104" not in run(capsys, "check", "warns.py", "--select", "ALL")[1]


@pytest.mark.parametrize("command", ["check", "rewrite"])
def test_an_internal_error_is_one_line(repo, capsys, monkeypatch, command):
    def fail(*_, **__):
        raise RuntimeError("a\nlong story")

    monkeypatch.setattr(np2fx.source.findings.check, "find_nodes", fail)
    monkeypatch.setattr(np2fx.codemod.rewrite.Batch, "rewrite", fail)
    code, _, err = run(capsys, command, "bad.py")
    assert code == 2 and "internal error: RuntimeError: a long story" in err and "report" in err and err.count("\n") == 1
    assert (repo / "bad.py").read_text() == BAD


def test_rules(capsys):
    code, out, _ = run(capsys, "rules", "numpy.sin", "np.add", "--output-format", "json")
    rows = json.loads(out)
    assert code == 0 and [(r["name"], r["status"]) for r in rows] == [("numpy.add", "rule"), ("numpy.sin", "rule")]
    assert rows[0]["torch"].startswith("torch.add") and rows[1]["torch"] == "torch.sin"
    every = json.loads(run(capsys, "rules", "--output-format", "json")[1])
    assert {r["status"] for r in every} == {"rule", "refused"} and all(r.get("torch") or r.get("reason") for r in every)
    assert re.search(r"\d+ names with a rule, \d+ refused", run(capsys, "rules")[1])


@pytest.mark.parametrize("name", ["NX202", "nx202", "reversed-slice", "[reversed-slice]"])
def test_explain_a_finding(capsys, name):
    assert run(capsys, "explain", name)[1].startswith("# reversed-slice (NX202)")


@pytest.mark.parametrize("name", ["numpy.floor_divide", "np.floor_divide", "floor_divide"])
def test_explain_a_rule(capsys, name):
    out = run(capsys, "explain", name)[1]
    assert out.startswith("# numpy.floor_divide") and "division by zero gives 0" in out and "def floor_divide(x1, x2):" in out


def test_explain_a_refusal_and_near_misses(capsys):
    assert "Refused" in run(capsys, "explain", "numpy.loadtxt")[1]
    assert "numpy.arctan2" in run(capsys, "explain", "np.arctan3")[2]
    assert json.loads(run(capsys, "explain", "NX201", "--output-format", "json")[1])["name"] == "scalar-index"


# rewrite


def test_rewrite_writes_what_it_shows(repo, capsys):
    code, out, _ = run(capsys, "rewrite", "good.py", "--diff")
    assert code == 1 and "--- a/good.py" in out and "+    return npx.sin(x)" in out and (repo / "good.py").read_text() == GOOD
    code, out, _ = run(capsys, "rewrite", "good.py", "--check")
    assert code == 1 and "would rewrite good.py" in out and (repo / "good.py").read_text() == GOOD
    code, out, _ = run(capsys, "rewrite", "good.py")
    assert code == 0 and "rewrote good.py" in out
    once = (repo / "good.py").read_text()
    assert "npx.sin(x)" in once and " np.sin" not in once
    assert run(capsys, "rewrite", "good.py")[0] == 0 and (repo / "good.py").read_text() == once
    assert run(capsys, "rewrite", "good.py", "--check")[0] == 0


def test_rewrite_prints_findings_of_another_format_alone(repo, capsys):
    _, out, err = run(capsys, "rewrite", ".", "--check", "--output-format", "json")
    assert "bad.py" in [f["filename"] for f in json.loads(out)] and "would rewrite good.py" in err


def test_rewrite_leaves_what_it_cannot_convert(repo, capsys):
    code, out, _ = run(capsys, "rewrite", "bad.py")
    assert code == 1 and "bad.py:7:" in out and (repo / "bad.py").read_text() == BAD


def test_rewrite_keeps_bytes(repo, capsys):
    data = b"\xef\xbb\xbf" + GOOD.replace("    return", "    # \u00e9\n    return").replace("\n", "\r\n").encode()
    (repo / "good.py").write_bytes(data)
    assert run(capsys, "rewrite", "good.py")[0] == 0
    new = (repo / "good.py").read_bytes()
    assert new.startswith(b"\xef\xbb\xbf") and new.count(b"\n") == new.count(b"\r\n") and "# \u00e9\r\n".encode() in new


def test_rewrite_standard_input(repo):
    done = np2fx_process("rewrite", "-", data=GOOD.encode(), cwd=repo)
    assert done.returncode == 0 and b"npx.sin(x)" in done.stdout
    plain = b"import os\r\nx = 1"
    assert np2fx_process("rewrite", "-", data=plain, cwd=repo).stdout == plain


@pytest.mark.parametrize("text", ["x = = 1  # numpy\n", "# coding: none\nimport numpy\n"])
def test_rewrite_of_what_is_not_python(repo, capsys, text):
    (repo / "broken.py").write_text(text)
    assert run(capsys, "rewrite", "broken.py")[0] == 1
    assert (repo / "broken.py").read_text() == text


def test_an_internal_error_about_the_helpers_of_one_file_leaves_the_others(repo, capsys, monkeypatch):
    helper = "import numpy as np\n\n\ndef half(x):\n    return np.sqrt(x / 2)\n\n\nOTHER = half(np.ones(3))\n"
    text = HEAD.replace("np2fx\n", "np2fx\nfrom helpers import half\n", 1) + "    return half(x)\n"
    package = repo / "package"
    package.mkdir()
    for name, content in {"pyproject.toml": "", "helpers.py": helper, "a.py": text, "b.py": text, "c.py": text}.items():
        (package / name).write_text(content)
    links = Helpers.links

    def fails_in_b(self, parsed, function):
        if parsed.path.endswith("b.py"):
            raise RecursionError("too deep")
        return links(self, parsed, function)

    monkeypatch.setattr(Helpers, "links", fails_in_b)
    code, _, err = run(capsys, "rewrite", "package")
    assert code == 2 and err.count("\n") == 1 and "b.py: internal error: RecursionError: too deep" in err
    texts = [(package / f"{name}.py").read_text().replace("@np2fx.node", "") for name in ("a", "b", "c", "helpers")]
    assert ["@np" in text for text in texts] == [False, False, False, True]
    assert (package / "b.py").read_text() == text


def test_a_diff_has_the_lines_that_git_sees():
    old = "a = 1\n\x0c\nb = '\u2028'\nc = 3\r\nd = 4"
    text = diff(old, old.replace("c = 3", "c = 5"), "m.py")
    assert text.split("\n")[2:] == [
        "@@ -1,5 +1,5 @@", " a = 1", " \x0c", " b = '\u2028'", "-c = 3\r", "+c = 5\r", " d = 4", "\\ No newline at end of file", "",
    ]  # fmt: skip


MISTAKES = {
    "np2fx is no table": ("[tool]\nnp2fx = 3\n", "np2fx must be a table"),
    "tool is no table": ("tool = 'np2fx'\n", "tool must be a table"),
    "a module of rules that is not there": ('[tool.np2fx]\nrules = ["no_such.rules"]\n', "the rule module no_such.rules is neither under"),
    "a module of rules that is not Python": ('[tool.np2fx]\nrules = ["broken"]\n', "broken.py:1: this is not Python"),
    "a rule that is there already": ('[tool.np2fx]\nrules = ["again"]\n', "numpy.sin has two entries in the table"),
    "rules that are no list": ("[tool.np2fx]\nrules = 3\n", "must be a list of strings"),
}


@pytest.mark.parametrize("command", [["check", "good.py"], ["check", "--target=np2fx", "."], ["rewrite", "--diff", "good.py"], ["rules"]])
@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_the_configuration_is_no_bug(repo, capsys, command, text, message):
    (repo / "pyproject.toml").write_text(text)
    (repo / "broken.py").write_text("def f(:\n")
    (repo / "again.py").write_text('from np2fx.rules import rule\n\n\n@rule("numpy.sin", kind="elementwise")\ndef sin(x):\n    return x\n')
    assert main(command) == 2
    said = capsys.readouterr().err
    assert message in said and "internal error" not in said and "Traceback" not in said
