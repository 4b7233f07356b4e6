"""The arm of fixtures/deployment, from its script to files that drive it alone."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("yaml")
FOLDER = Path(__file__).parents[2] / "fixtures" / "deployment"


@pytest.fixture
def deploy(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import deploy

    yield deploy
    for name in ("deploy", "arm"):
        sys.modules.pop(name, None)


def test_the_files_drive_the_arm_as_the_script_does(deploy, tmp_path):
    folder = deploy.compiled("jit", tmp_path)
    assert deploy.largest_difference(folder, 40) < 1e-6
    wiring = deploy.np2fx.Pipeline.load(folder).description["pipeline"]
    assert wiring["data_flow"] == {
        "camera/spot": ["policy/spot"], "joints/body": ["policy/body"],
        "policy/action": ["smooth/action"], "smooth/target": ["safety/target"],
    }  # fmt: skip
    assert wiring["feedback_flow"] == {
        "policy/hidden": ["policy/hidden"], "smooth/target": ["smooth/last"], "safety/command": ["safety/last"],
    }  # fmt: skip
    assert wiring["inputs"] == {"camera": ["image"], "joints": ["angles", "speeds"]} and wiring["outputs"] == {"safety": ["command"]}
