"""Scripts in the forms that leapp documents, run by np2fx, and by leapp where it is installed: only the import line differs."""

import importlib

import numpy as np
import pytest
import torch

yaml = pytest.importorskip("yaml")


@pytest.fixture(params=["np2fx", "leapp"])
def tool(request):
    """What stands in the import line."""
    return pytest.importorskip(request.param)


def quick_start(tool):
    weights = torch.linspace(-1, 1, 32).reshape(8, 4)
    x = tool.annotate.input_tensors("preprocess", {"obs": torch.arange(8.0)})
    features = (x - x.mean()) / (x.std() + 1e-6)
    tool.annotate.output_tensors("preprocess", {"features": features}, export_with="jit")
    features = tool.annotate.input_tensors("policy", {"features": features})
    action = torch.tanh(features @ weights)
    tool.annotate.output_tensors("policy", {"action": action}, export_with="jit")


def numpy_node(tool):
    image = np.arange(24, dtype=np.float32).reshape(4, 6)
    image = tool.annotate.input_tensors("scale", {"image": image})
    scaled = np.clip(image / 255.0, 0.0, 1.0)
    flat = np.transpose(scaled).reshape(-1)
    tool.annotate.output_tensors("scale", {"flat": flat}, export_with="jit")


def feedback(tool):
    last = torch.zeros(3)
    for step in range(3):
        obs, last = tool.annotate.input_tensors("policy", {"obs": torch.full((3,), float(step)), "last": last})
        action = torch.tanh(obs + 0.5 * last)
        last = tool.annotate.output_tensors("policy", {"action": action}, export_with="jit")


def state(tool):
    hidden = torch.zeros(3)
    for step in range(3):
        obs = tool.annotate.input_tensors("policy", {"obs": torch.full((3,), float(step))})
        before = tool.annotate.state_tensors("policy", {"hidden": hidden})
        hidden = torch.tanh(obs + before)
        hidden = tool.annotate.update_state("policy", {"hidden": hidden})
        tool.annotate.output_tensors("policy", {"action": hidden * 2.0}, export_with="jit")


def meaning(tool):
    position = tool.TensorSemantics("position", torch.ones(2), kind="joint_position", element_names=["hip", "knee"])
    x = tool.annotate.input_tensors("gait", position)
    target = tool.TensorSemantics("target", x * 2.0, extra={"unit": "rad"})
    tool.annotate.output_tensors("gait", target, export_with="jit")


def run(tool, script, folder):
    tool.start("made", save_path=str(folder))
    script(tool)
    tool.stop()
    tool.compile_graph(visualize=False)
    return yaml.safe_load((folder / "made" / "made.yaml").read_text())


@pytest.mark.parametrize(
    ("script", "flow", "back", "inputs"),
    [
        (quick_start, {"preprocess/features": ["policy/features"]}, {}, {"preprocess": ["obs"]}),
        (numpy_node, {}, {}, {"scale": ["image"]}),
        (feedback, {}, {"policy/action": ["policy/last"]}, {"policy": ["obs"]}),
        (state, {}, {"policy/hidden": ["policy/hidden"]}, {"policy": ["obs"]}),
        (meaning, {}, {}, {"gait": ["position"]}),
    ],
)
def test_a_script_runs_with_either_import_line(tool, script, flow, back, inputs, tmp_path):
    pipeline = run(tool, script, tmp_path)["pipeline"]
    assert (pipeline["data_flow"], pipeline["feedback_flow"], pipeline["inputs"]) == (flow, back, inputs)


def test_meaning_is_kept(tool, tmp_path):
    model = run(tool, meaning, tmp_path)["models"]["gait"]
    assert model["inputs"][0]["kind"] == "joint_position" and model["inputs"][0]["element_names"] == [["hip", "knee"]]
    assert model["outputs"][0]["unit"] == "rad"


def test_axes_of_time_and_frequencies():
    semantics = importlib.import_module("np2fx.pipeline.semantics")
    history = semantics.TensorSemantics("h", np.zeros((4, 2)), element_names=[semantics.TemporalAxis(20.0), ["x", "y"]])
    assert history.to_dict() == {"element_names": ["__temporal_axis__", ["x", "y"]], "temporal_period_ms": 20.0}
    assert semantics.GraphConfigs(50.0, {"robot": "arm"}).to_dict() == {"frequency": 50.0, "robot": "arm"}
    for made in (lambda: semantics.TemporalAxis(0), lambda: semantics.GraphConfigs(-1)):
        with pytest.raises(ValueError, match="positive"):
            made()
