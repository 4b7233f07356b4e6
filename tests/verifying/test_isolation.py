"""np2fx verify runs nodes in processes apart: what ends, hangs or eats memory is a finding, and the others are verified."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import np2fx
import numpy as np
import pytest
from np2fx.cli import main
from np2fx.source.findings.finding import KINDS
from np2fx.source.reading.config import ConfigError, parse_config
from np2fx.verifying.isolation import processes as isolation
from np2fx.verifying.isolation.endings import EXITED, Ending, finding_of
from np2fx.verifying.isolation.jobs import Job
from np2fx.verifying.isolation.memory import can_limit, limited
from np2fx.verifying.isolation.progress import Progress

HEAD = "import ctypes\nimport os\nimport sys\n\nimport numpy as np\nimport np2fx\n\n"
HEALTHY = '@np2fx.node(x="float32[3]")\ndef healthy(x):\n    return x / 2\n\n'
LAST = HEALTHY.replace("healthy", "last")
SPEC = '@np2fx.node(x="float32[3]")\n'
# ctypes.string_at(0) reads address 0
SEGFAULT = SPEC + "def segfault(x):\n    ctypes.string_at(0)\n    return x\n\n"
EXIT = SPEC + "def leaves(x):\n    os._exit(3)\n\n"
POLITE_EXIT = SPEC + "def quits(x):\n    sys.exit(4)\n\n"
LOOP = SPEC + "def loops(x):\n    n = 1\n    while n:\n        n += 1\n    return x\n\n"
EATER = SPEC + "def eats(x):\n    return x + np.ones((1_000_000, 100)).sum()\n\n"
PRINTS = 'print("imported")\n\n' + SPEC + 'def prints(x):\n    print("[]")\n    os.write(1, b"{}")\n    return x\n\n'


def verified(folder: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the report of every node by its name."""
    (folder / "nodes.py").write_text(HEAD + text)
    code = main(["verify", str(folder / "nodes.py"), "--output-format", "json", "--max-examples", "3", *options])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, {report["node"]: report for report in json.loads(out)}


def line_of(text: str, part: str) -> int:
    return (HEAD + text)[: (HEAD + text).index(part)].count("\n") + 1


def test_whatever_ends_a_process_is_a_finding_and_the_others_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = HEALTHY + SEGFAULT + EXIT + POLITE_EXIT + LAST
    code, reports = verified(tmp_path, capsys, text, "-j", "1")
    assert code == 1
    assert list(reports) == ["healthy", "segfault", "leaves", "quits", "last"]
    assert [name for name, report in reports.items() if report["ok"]] == ["healthy", "last"]
    for name, said, place in (("segfault", "SIGSEGV", "ctypes.string_at"), ("leaves", "exit code 3", "os._exit"), ("quits", "code 4", "")):
        (finding,) = reports[name]["findings"]
        assert finding["name"] == "node-crashed" and said in finding["message"] and finding["hint"]
        assert finding["filename"] == str(tmp_path / "nodes.py")
        if place:
            assert finding["location"]["row"] == line_of(text, place)


def test_a_loop_ends_at_the_timeout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, reports = verified(tmp_path, capsys, LOOP + LAST, "--timeout", "2", "-j", "1")
    assert code == 1
    (finding,) = reports["loops"]["findings"]
    assert finding["name"] == "node-timed-out" and "2 s" in finding["message"]
    assert line_of(LOOP, "while n") <= finding["location"]["row"] <= line_of(LOOP, "n += 1")
    assert reports["last"]["ok"], reports["last"]


@pytest.mark.skipif(not can_limit(), reason="this system does not limit memory")
def test_what_eats_memory_is_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, reports = verified(tmp_path, capsys, EATER + LAST, "--memory", "300", "-j", "1")
    assert code == 1
    assert [finding["name"] for finding in reports["eats"]["findings"] if finding["severity"] == "error"] == ["out-of-memory"]
    assert reports["last"]["ok"], reports["last"]


@pytest.mark.skipif(not can_limit(), reason="this system does not limit memory")
def test_a_limit_on_memory_is_lifted_again() -> None:
    with pytest.raises(MemoryError), limited(100):
        np.ones(100_000_000)
    assert np.ones(20_000_000).size
    with limited(0):
        assert np.ones(20_000_000).size


def test_what_a_node_prints_is_not_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nodes.py").write_text(HEAD + PRINTS)
    assert main(["verify", str(tmp_path / "nodes.py"), "--output-format", "json", "--max-examples", "3"]) == 0
    (report,) = json.loads(capfd.readouterr().out)
    assert report["ok"]


def test_several_processes_give_the_order_of_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = EXIT + HEALTHY + SEGFAULT + LAST
    one, two = (verified(tmp_path, capsys, text, "-j", n)[1] for n in ("1", "2"))
    assert list(one) == list(two) == ["leaves", "healthy", "segfault", "last"]
    for reports in (one, two):
        for report in reports.values():
            del report["timings"]
    assert one == two


CHANGES = {
    "the current folder": "os.chdir('/')",
    "error handling of NumPy": "np.seterr(all='raise')",
    "a function of NumPy": "np.tanh = lambda v: v * 0",
    "a function of torch": "torch.add = None",
    "a built-in function": "builtins.len = lambda v: 3",
    "the depth of calls": "sys.setrecursionlimit(60)",
    "the search path": "sys.path.clear()",
    "the modules": "sys.modules.pop('np2fx.tracing', None)",
    "torch's default device": "torch.set_default_device('meta')",
    "torch's default dtype": "torch.set_default_dtype(torch.float64)",
    "descriptors": "os.closerange(3, 64)",
    "all descriptors": "os.closerange(0, 100_000)",
    "output": "os.close(1), os.close(2)",
    "a signal": "signal.signal(signal.SIGALRM, signal.SIG_DFL), signal.alarm(1)",
    "limits": "resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))",
    "its group": "os.killpg(0, signal.SIGKILL)",
    "a copy of itself": "os.fork()",
    "threads": "threading.Thread(target=time.sleep, args=(60,)).start()",
    "a module of the project": "globals().update(helper=None)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_what_a_node_does_to_its_process_ends_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "import builtins, resource, signal, threading, time\nimport torch\n\ndef helper(x):\n    return np.tanh(x) + len(x)\n\n"
    for n, change in enumerate(CHANGES.values()):
        text += SPEC + f"def changes_{n}(x):\n    {change}\n    return x / 2\n\n"
        text += SPEC + f"def innocent_{n}(x):\n    return helper(x) / np.float32(3)\n\n"
    _, reports = verified(tmp_path, capsys, text, "-j", "1")
    assert len(reports) == 2 * len(CHANGES)
    for n, what in enumerate(CHANGES):
        assert reports[f"innocent_{n}"]["ok"], (what, reports[f"innocent_{n}"]["findings"])
        assert reports[f"innocent_{n}"]["checked"]["inputs"] == 3


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
@pytest.mark.parametrize("change", ["os.chdir('/')", "np.seterr(all='raise')", "np.tanh = None", "os.closerange(3, 64)"])
def test_what_the_import_of_a_file_does_ends_with_its_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str) -> None:
    (tmp_path / "a.py").write_text(HEAD + change + "\n" + HEALTHY)
    (tmp_path / "b.py").write_text(HEAD + SPEC + "def later(x):\n    return np.tanh(x) * np.float32(1e30) * np.exp(x)\n")
    main(["verify", str(tmp_path), "--output-format", "json", "--max-examples", "3", "-j", "1"])
    reports = json.loads(capsys.readouterr().out)
    assert reports[1]["ok"], reports[1]["findings"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")
def test_a_file_is_imported_once_and_one_with_threads_for_each_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "imports"
    noting = f"with open({str(log)!r}, 'a') as log:\n    log.write('x')\n"
    nodes = HEALTHY + LAST
    assert verified(tmp_path, capsys, noting + nodes, "-j", "1")[0] == 0
    assert log.read_text() == "xx"  # as it is, and as it is rewritten
    threads = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    assert verified(tmp_path, capsys, noting + threads + nodes, "-j", "1")[0] == 0
    assert log.read_text() == "xx" + 2 * "xx"


def test_without_forks_every_node_has_a_worker_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(isolation, "_BOOT", "import np2fx.verifying.isolation.forking as f; f.can_fork = lambda: False; " + isolation._BOOT)
    text = SPEC + "def changes(x):\n    np.tanh = None\n    return x / 2\n\n"
    text += SPEC + "def later(x):\n    return np.tanh(x)\n\n" + EXIT + LAST
    _, reports = verified(tmp_path, capsys, text, "-j", "1")
    assert [name for name, report in reports.items() if report["ok"]] == ["later", "last"]
    assert "exit code 3" in reports["leaves"]["findings"][0]["message"]


@pytest.mark.parametrize(
    ("text", "said"), [("os._exit(5)\n", "exit code 5"), ("ctypes.string_at(0)\n", "SIGSEGV"), ("while True: pass\n", "after 3 s")]
)
def test_a_file_that_cannot_be_imported(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    (tmp_path / "bad.py").write_text(HEAD + text + HEALTHY + LAST)
    (tmp_path / "good.py").write_text(HEAD + HEALTHY)
    assert main(["verify", str(tmp_path), "--output-format", "json", "--timeout", "3", "--max-examples", "3"]) == 2
    out, err = capsys.readouterr()
    assert [report["ok"] for report in json.loads(out)] == [False, False, True]
    assert err.count("bad.py cannot be imported") == 1 and said in err


@pytest.mark.parametrize("kind", [KINDS[name] for name in ("node-crashed", "node-timed-out", "out-of-memory")], ids=lambda k: k.name)
def test_examples_of_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: Any) -> None:
    (tmp_path / "bad.py").write_text(kind.bad)
    (tmp_path / "good.py").write_text(kind.good)
    main(["verify", str(tmp_path), "--output-format", "json", "--timeout", "4", "--max-examples", "3"])
    bad, good = json.loads(capsys.readouterr().out)
    assert [finding["name"] for finding in bad["findings"] if finding["severity"] == "error"] == [kind.name]
    assert good["ok"], good


def test_text_names_place_reason_and_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nodes.py").write_text(HEAD + SEGFAULT + HEALTHY)
    assert main(["verify", "nodes.py", "--max-examples", "3"]) == 1
    out, err = capsys.readouterr()
    assert "nodes.py:10:1: NX310 [node-crashed] segfault ended its process" in out
    assert "help: " in out and "nodes.py:13: healthy: ok" in out
    assert out.splitlines()[-1] == "1 of 2 nodes verified; not ok: segfault"
    assert "\r" not in err


def test_the_library_call_stays_in_the_process(tmp_path: Path) -> None:
    seen = []

    def noting(x: Any) -> Any:
        seen.append(os.getpid())
        return x

    np2fx.verify(noting, np.ones(3), ways=("trace",), max_examples=2)
    assert set(seen) == {os.getpid()}


def test_the_command_itself_loads_no_torch() -> None:
    code = "import sys, np2fx.verifying.cli; print([name for name in ('torch', 'numpy', 'hypothesis') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_limits_are_configured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.np2fx]\nverify-timeout = 2\n")
    code, reports = verified(tmp_path, capsys, LOOP)
    assert code == 1 and reports["loops"]["findings"][0]["name"] == "node-timed-out"
    assert parse_config({"verify-memory": 100}, ".").verify_memory == 100
    for bad in (True, "many", -1, float("inf")):
        with pytest.raises(ConfigError, match="verify-memory: must be a number"):
            parse_config({"verify-memory": bad}, ".")
    assert main(["verify", str(tmp_path), "--timeout", "-1"]) == 2


def test_signals_are_named() -> None:
    job = Job("a.py", 0, "f", 7)
    found = finding_of(Ending(-signal.SIGKILL, "", False, "cross-check"), job, 0)
    assert "SIGKILL" in found.message and (found.path, found.line) == ("a.py", 7)
    assert "exit code 3" in finding_of(Ending(3, f"{EXITED}\n", False, "trace"), job, 0).message


def test_the_progress_line_is_for_terminals_only() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, shown in ((io.StringIO(), False), (Terminal(), True)):
        with Progress("f", 2, stream) as progress:
            progress.step("trace")
        assert ("trace" in stream.getvalue()) == shown
