"""Pipelines from a running script to files that run without it."""

import contextlib
import linecache

import np2fx
import numpy as np
import pytest
import torch
from np2fx import annotate

yaml = pytest.importorskip("yaml")


def scaled(x, how=None):
    x = annotate.input_tensors("scale", {"x": x})
    y = x * 1.5 + 0.1
    return annotate.output_tensors("scale", {"y": y}, export_with=how)


def bent(y, how=None):
    y = annotate.input_tensors("bend", {"y": y})
    z = np.sin(y)
    return annotate.output_tensors("bend", {"z": z}, export_with=how)


@pytest.fixture
def compiled(tmp_path):
    """Runs a script for some steps, and gives the folder of what was compiled."""

    def run(script, steps=3, **options):
        random = np.random.default_rng(3)
        np2fx.start("made", save_path=tmp_path)
        try:
            for _ in range(steps):
                script(random.normal(size=3))
        finally:
            np2fx.stop()
        np2fx.compile_graph(**options)
        return tmp_path / "made"

    return run


def wiring(folder):
    found = yaml.safe_load((folder / "made.yaml").read_text())["pipeline"]
    return {k: v for k, v in found.items() if v and k != "initial_values"}


def test_a_script_runs_as_it_does_without_a_session(compiled):
    x, seen = np.arange(3.0), []
    alone = bent(scaled(x))
    compiled(lambda _: seen.append(bent(scaled(x))), steps=1)
    assert type(seen[0]) is np.ndarray and np.array_equal(seen[0], alone)


def test_values_that_flow_are_edges(compiled):
    folder = compiled(lambda x: bent(scaled(x)))
    assert wiring(folder) == {"data_flow": {"scale/y": ["bend/y"]}, "inputs": {"scale": ["x"]}, "outputs": {"bend": ["z"]}}


@pytest.mark.parametrize("form", [lambda y: y, np.asarray, lambda y: y.view(), lambda y: torch.from_numpy(y).numpy()])
def test_the_same_memory_is_the_same_value(compiled, form):
    assert wiring(compiled(lambda x: bent(form(scaled(x)))))["data_flow"] == {"scale/y": ["bend/y"]}


def test_values_of_the_step_before_are_feedback(compiled):
    last = [np.zeros(3)]

    def step(x):
        now = scaled(x)
        bent(last[0])
        last[0] = now

    folder = compiled(step)
    assert wiring(folder)["feedback_flow"] == {"scale/y": ["bend/y"]} and "data_flow" not in wiring(folder)


@pytest.mark.parametrize(
    "form", [lambda y: y.copy(), lambda y: np.array([float(v) for v in y]), lambda y: np.array(y.tolist()), lambda y: y[::-1].copy()]
)
def test_values_that_went_through_python_are_findings(compiled, form):
    with pytest.raises(np2fx.PipelineError, match="'y' of node 'bend' has the numbers of scale/y") as refused:
        compiled(lambda x: bent(form(scaled(x))))
    finding = refused.value.findings[0]
    assert "annotate.input_tensors" in linecache.getline(finding.path, finding.line) and finding.hint


def test_values_that_are_written_to_between_nodes_are_findings(compiled):
    def step(x):
        y = scaled(x)
        y += 1
        bent(y)

    with pytest.raises(np2fx.PipelineError, match="is scale/y, which was written to since"):
        compiled(step)


def test_values_that_a_node_reads_without_being_given_them_are_findings(compiled):
    def step(x):
        y = scaled(x)
        w = annotate.input_tensors("add", {"w": x})
        annotate.output_tensors("add", {"z": w + y})

    with pytest.raises(np2fx.PipelineError, match="node 'add' reads `y`, which is scale/y and none of its inputs"):
        compiled(step)


CACHE = {}


@pytest.mark.parametrize("key", ["count", "array"])
def test_what_changes_from_call_to_call_is_a_finding(compiled, key):
    CACHE.update(count=0, array=np.zeros(3))

    def step(x):
        CACHE["count"] += 1
        CACHE["array"] = CACHE["array"] + 1
        x = annotate.input_tensors("scale", {"x": x})
        y = x * CACHE[key]
        annotate.output_tensors("scale", {"y": y})

    with pytest.raises(np2fx.PipelineError, match="output 'y' of node 'scale' comes out of its graph as"):
        compiled(step)


def policy_step(x, h, weights, policy):
    x = annotate.input_tensors("pre", {"obs": x})
    features = (x - x.mean()) * 2
    if features[0] > 0:
        features = features * 2
    features = annotate.output_tensors("pre", {"features": features}, export_with="jit")

    features = annotate.input_tensors("policy", {"features": features})
    before = annotate.state_tensors("policy", {"h": h})
    h = annotate.update_state("policy", {"h": np.tanh(features @ weights + before)})
    with torch.no_grad():
        action = policy(torch.from_numpy(h)).numpy()
    action = annotate.output_tensors("policy", {"action": action * 2}, export_with="pt2")

    action = annotate.input_tensors("clamp", {"action": action})
    return annotate.output_tensors("clamp", {"safe": np.clip(action, -0.5, 0.5)}, export_with="onnx"), h


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """A pipeline with a branch, state, a torch module and all formats; its folder and how it is run from the script."""
    torch.manual_seed(0)
    weights, module = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32), torch.nn.Linear(4, 2)

    def drive(observations):
        h, found = np.full(4, 0.25, np.float32), []
        for x in observations:
            safe, h = policy_step(x, h, weights, module)
            found.append(safe)
        return found

    folder = tmp_path_factory.mktemp("policy")
    np2fx.start("robot", save_path=folder)
    drive(np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32))
    np2fx.stop()
    assert np2fx.compile_graph() == {"pre": True, "policy": True, "clamp": True}
    return folder / "robot", drive


def test_a_loaded_pipeline_agrees_with_the_script_step_by_step(policy):
    folder, drive = policy
    observations = np.random.default_rng(7).normal(size=(50, 3)).astype(np.float32)
    pipeline = np2fx.Pipeline.load(folder)
    assert (pipeline.inputs, pipeline.outputs) == (["pre/obs"], ["clamp/safe"])
    for _ in range(2):
        pipeline.reset()
        for x, want in zip(observations, drive(observations), strict=True):
            got = pipeline.step({"pre/obs": x})["clamp/safe"]
            assert type(got) is np.ndarray and got.dtype == want.dtype
            np.testing.assert_allclose(got, want, 1e-5, 1e-6)
    assert isinstance(pipeline({"pre/obs": torch.ones(3)})["clamp/safe"], torch.Tensor)


def test_state_is_fed_back_and_begins_as_it_began(policy):
    description = yaml.safe_load((policy[0] / "robot.yaml").read_text())
    assert description["pipeline"]["feedback_flow"] == {"policy/h": ["policy/h"]}
    assert description["np2fx"]["verified"] == {"pre": 4, "policy": 4, "clamp": 4}
    first = np2fx.Pipeline.load(policy[0])._values["policy/h"]
    assert torch.equal(first, torch.full((4,), 0.25))


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({}, "needs 'pre/obs'"),
        ({"pre/obs": np.ones(3, np.float32), "x": np.ones(3)}, "takes no 'x'"),
        ({"pre/obs": np.ones(3)}, "is float64 of rank 1, and the pipeline takes float32 of rank 1"),
    ],
)
def test_other_inputs_are_refused(policy, inputs, why):
    with pytest.raises(np2fx.PipelineError, match=why):
        np2fx.Pipeline.load(policy[0]).step(inputs)


def test_files_that_are_not_those_that_were_written_are_refused(policy, tmp_path):
    import shutil

    for change, why in ((lambda p: p.write_bytes(p.read_bytes() + b"\0"), "its sha256 differs"), (lambda p: p.unlink(), "is missing")):
        copy = tmp_path / why / "robot"
        shutil.copytree(policy[0], copy)
        change(copy / "policy.pt2")
        with pytest.raises(np2fx.PipelineError, match=why):
            np2fx.Pipeline.load(copy)


@annotate.method(export_with="jit")
def centred(x, scale=2.0, mean=np.ones(3)):  # noqa: B008 - an array by default is a constant
    out = (x - mean) * scale
    return out  # noqa: RET504 - its name is the output's


class Bounds:
    @annotate.method(node_name="bounds")
    def of(self, y):
        low = y.min()
        return low, y.max()


def test_functions_and_methods_are_nodes(compiled):
    folder = compiled(lambda x: Bounds().of(centred(x)))
    assert wiring(folder) == {
        "data_flow": {"centred/out": ["bounds/y"]}, "inputs": {"centred": ["x"]}, "outputs": {"bounds": ["low", "output2"]},
    }  # fmt: skip


def test_a_node_may_write_into_what_it_is_given(compiled):
    def step(x):
        y = annotate.input_tensors("centre", {"x": x})
        y -= y.mean()
        annotate.output_tensors("centre", {"y": y}, export_with="jit")
        return y

    pipeline = np2fx.Pipeline.load(compiled(step))
    given = np.arange(3.0)
    np.testing.assert_array_equal(pipeline.step({"centre/x": given})["centre/y"], [-1, 0, 1])
    np.testing.assert_array_equal(given, np.arange(3.0))


@pytest.mark.parametrize("how", ["jit", "pt2", "onnx"])
def test_sizes_that_varied_are_free(tmp_path, how):
    def step(points, weights):
        p, w = annotate.input_tensors("weigh", {"points": points, "weights": weights})
        centred = p - p.mean(axis=0)
        return annotate.output_tensors("weigh", {"sums": (centred * w[:, None]).sum(axis=0), "centred": centred}, export_with=how)

    random = np.random.default_rng(0)
    np2fx.start("made", save_path=tmp_path)
    for n in (4, 6):
        step(random.normal(size=(n, 3)), random.normal(size=n))
    np2fx.stop()
    np2fx.compile_graph()
    pipeline = np2fx.Pipeline.load(tmp_path / "made")
    inputs = pipeline.description["models"]["weigh"]["inputs"]
    assert [a["free_axes"] for a in inputs] == [[0], [0]]
    for n in (3, 11):
        points, weights = random.normal(size=(n, 3)), random.normal(size=n)
        got = pipeline.step({"weigh/points": points, "weigh/weights": weights})
        for name, want in zip(("sums", "centred"), step(points, weights), strict=True):
            np.testing.assert_allclose(got[f"weigh/{name}"], want, 1e-12, 1e-12)


class Recurrent(torch.nn.Module):
    def __init__(self, in_place):
        super().__init__()
        self.linear, self.in_place = torch.nn.Linear(3, 3), in_place
        self.register_buffer("h", torch.zeros(3))
        self.register_buffer("gain", torch.full((3,), 2.0))

    def forward(self, x):
        h = torch.tanh(self.linear(x) + self.h)
        if self.in_place:
            self.h.copy_(h)
        else:
            self.h = h
        return h * self.gain


@pytest.mark.parametrize("in_place", [False, True])
def test_buffers_that_a_module_changes_are_state(compiled, in_place):
    model, random = Recurrent(in_place).eval(), np.random.default_rng(3)

    def step(x):
        x = annotate.input_tensors("policy", {"x": torch.from_numpy(x).float()})
        annotate.module("policy", model)
        with torch.no_grad():
            y = model(x)
        return annotate.output_tensors("policy", {"y": y}, export_with="pt2")

    folder = compiled(step)
    assert wiring(folder)["feedback_flow"] == {"policy/h": ["policy/h"]} and wiring(folder)["inputs"] == {"policy": ["x"]}
    pipeline = np2fx.Pipeline.load(folder)
    model.h = torch.zeros(3)
    for _ in range(5):
        x = random.normal(size=3)
        torch.testing.assert_close(pipeline.step({"policy/x": torch.from_numpy(x).float()})["policy/y"], step(x))


def test_containers_have_their_arrays_by_name(compiled):
    def step(x):
        d = annotate.input_tensors("sum", {"obs": {"q": x, "v": [x * 2]}})
        r = d["q"].sum() + d["v"][0]
        annotate.output_tensors("sum", {"out": {"r": r}}, static_outputs={"axes": np.arange(3)})

    assert wiring(compiled(step)) == {"inputs": {"sum": ["obs_q", "obs_v_0"]}, "outputs": {"sum": ["out_r", "axes"]}}


def left_early(x):
    x = annotate.input_tensors("left", {"x": x})
    if x[0] > 100:
        return None
    return annotate.output_tensors("left", {"y": x})


def ended_elsewhere(x):
    x = annotate.input_tensors("elsewhere", {"x": x})
    return end(x)


def end(x):
    return annotate.output_tensors("elsewhere", {"y": x})


def given_a_number(x):
    annotate.output_tensors("number", {"y": annotate.input_tensors("number", {"x": float(x[0])})})


def never_ended(x):
    with contextlib.suppress(ValueError):
        x = annotate.input_tensors("unended", {"x": x})
        y = np.ones(4) + x
        annotate.output_tensors("unended", {"y": y})


def left_by_its_loop(x):
    for _ in range(2):
        y = annotate.input_tensors("loop", {"x": x})
        if y[0] > 100:
            break
        annotate.output_tensors("loop", {"y": y})


def given_a_truth_value(x):
    annotate.output_tensors("truth", {"y": annotate.input_tensors("truth", {"x": x[0] > 0})})


def ended_only(x):
    annotate.output_tensors("unknown", {"y": x})


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (left_early, "node 'left' is left here before it ends"),
        (ended_elsewhere, "node 'elsewhere' begins here, and does not end in the same function"),
        (given_a_number, "'x' of node 'number' is no array: float"),
        (left_by_its_loop, "node 'loop' is no function of its own: 'break' outside loop"),
        (given_a_truth_value, "'x' of node 'truth' is no array: bool"),
        (never_ended, "node 'unended' has begun and never ended"),
        (ended_only, "node 'unknown' ends, and has not begun"),
    ],
)
def test_what_is_no_region_is_refused(compiled, script, why):
    with pytest.raises(np2fx.PipelineError, match=why) as refused:
        compiled(script, steps=1)
    assert refused.value.findings[0].hint


def test_nodes_that_are_called_twice_a_step_are_findings(compiled):
    def step(x):
        y = scaled(x)
        bent(y)
        bent(y)

    with pytest.raises(np2fx.PipelineError, match="'y' of node 'bend' is scale/y of this step, and of the one before"):
        compiled(step)


def test_sessions_begin_and_end(tmp_path):
    with pytest.raises(np2fx.PipelineError, match="no pipeline is under way"):
        np2fx.stop()
    for name, error in ((3, TypeError), ("", ValueError), (".", ValueError)):
        with pytest.raises(error):
            np2fx.start(name, save_path=tmp_path)
    np2fx.start("made", save_path=tmp_path)
    with pytest.raises(np2fx.PipelineError, match=r"call np2fx.stop\(\) first"):
        np2fx.compile_graph()
    np2fx.stop()
    with pytest.raises(np2fx.PipelineError, match="no node was called"):
        np2fx.compile_graph()


def test_leapp_reads_what_is_written(policy):
    """Where leapp is installed: its own runtime runs the files."""
    leapp = pytest.importorskip("leapp")
    manager = leapp.InferenceManager(str(policy[0] / "robot.yaml"))
    pipeline = np2fx.Pipeline.load(policy[0])
    for x in torch.randn(3, 3):
        torch.testing.assert_close(manager.run_policy({"pre/obs": x})["clamp/safe"], pipeline.step({"pre/obs": x})["clamp/safe"])


def test_the_picture_and_the_report_say_what_there_is(policy):
    import xml.etree.ElementTree as ElementTree

    folder = policy[0]
    root = ElementTree.fromstring((folder / "robot.svg").read_text())
    texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"pre", "policy", "clamp", "obs", "safe", "h float32[4]", "agrees in 4 calls", "onnx"} <= set(texts)
    assert sum("back" in p.get("class", "") for p in root.iter("{http://www.w3.org/2000/svg}path")) == 1
    page = (folder / "robot.html").read_text()
    assert 'features = annotate.output_tensors(&quot;pre&quot;' in page and "torch.clamp(" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page


def test_the_report_says_why_there_is_no_graph(tmp_path):
    def step(x):
        x = annotate.input_tensors("rank", {"x": x})
        y = np.asarray(sorted(set(x.tolist())))
        return annotate.output_tensors("rank", {"y": y}, export_with="jit")

    np2fx.start("made", save_path=tmp_path)
    step(np.arange(3.0))
    np2fx.stop()
    results = np2fx.compile_graph(strict=False)
    assert isinstance(results["rank"], np2fx.PipelineError)
    finding = results["rank"].findings[0]
    assert "set(x.tolist())" in linecache.getline(finding.path, finding.line)
    assert finding.message.split(":")[0].split("(")[0] in (tmp_path / "made" / "made.html").read_text()


@pytest.mark.parametrize("form", [lambda x: 8.0 * x, lambda x: 2 + x * 3, lambda x: 1.5 - np.exp(2.0 * x)])
def test_numbers_before_arrays_go_to_onnx(form, tmp_path):
    pytest.importorskip("onnxruntime")
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    path = np2fx.export(np2fx.trace(form, x), tmp_path / "made.onnx", "onnx", example=(x,))
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path))
    (got,) = session.run(None, {session.get_inputs()[0].name: x})
    np.testing.assert_allclose(got, form(x), 1e-6)
