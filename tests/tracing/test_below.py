"""Torch's ways below Python's dispatch: each is recorded as it is, or refused at the user's line. Never a constant."""

import contextlib
import copy
import functools
import io
import pickle
import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import np2fx
import numpy as np
import pytest
import torch
from torch import func, nn
from torch.nn import functional

X = np.array([1.0, -2.0, 3.5])
Y = np.array([0.5, 4.0, -1.0])
ONES = torch.ones(3, dtype=torch.float64)


def loaded(module):
    """A module that was written to a file of TorchScript, and read again."""
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(module), file)
    file.seek(0)
    return torch.jit.load(file)


class Branching(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


class Listing(nn.Module):
    def forward(self, x):
        found: list[float] = x.tolist()
        return torch.tensor(found, dtype=torch.float64) * 2


class Statistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3, dtype=torch.float64))

    def forward(self, x):
        self.mean.mul_(0.5).add_(x)
        return self.mean.clone()


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 3

    @staticmethod
    def backward(ctx, g):
        return g * 3


@torch.library.custom_op("np2fxtests::increase", mutates_args={"a"})
def increase(a: torch.Tensor) -> None:
    a += 1


@torch.library.custom_op("np2fxtests::doubled", mutates_args=())
def doubled(a: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(a.numpy() * 2)


@torch.jit.script
def scripted(a, b: float):
    return a * b + 1


@torch.jit.script
def scripted_in_place(a):
    a.add_(1)
    return a


torch.manual_seed(0)
LINEAR = nn.Linear(3, 2).double()
LOADED = loaded(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double())
TRACED = torch.jit.trace(nn.Linear(3, 4).double(), ONES)
BRANCHING, LISTING, STATISTICS, DROPPING = map(torch.jit.script, (Branching(), Listing(), Statistics(), nn.Dropout(0.5)))
BUFFER = torch.zeros(3, dtype=torch.float64)
LSTM = nn.LSTM(3, 2, batch_first=True).double()
NORM = nn.BatchNorm1d(3).double()
HOOKED = nn.Linear(3, 2).double()
HOOKED.register_forward_hook(lambda module, given, result: result * 2)
t = torch.from_numpy


def weighed(parameter):
    layer = nn.Linear(3, 1, bias=False).double()
    layer.weight = parameter
    return layer


def autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = t(x)[None].float() @ torch.full((3, 2), 0.3)
    return y.float().numpy()


def autocast_beside_numpy(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x[None].astype(np.float32) @ np.full((3, 2), 0.3, np.float32)
        return y * 2, (t(y) @ torch.full((2, 2), 0.3)).float().numpy()


def backward(x):
    with torch.enable_grad():
        v = t(x).clone().requires_grad_()
        (v**3).sum().backward()
    return v.grad.numpy()


def hooked_gradient(x):
    with torch.enable_grad():
        v = t(x).clone().requires_grad_()
        v.register_hook(lambda g: g * 2)
        return torch.autograd.grad((v * v).sum(), v)[0].numpy()


def in_place(x):
    v = t(x).clone()
    torch.ops.aten.add_.Tensor(v, 1.0)
    before = v * 2
    scripted_in_place(v)
    increase(v)
    torch._foreach_mul_([v], 2.0)
    return before.numpy(), v.numpy()


def into_constant(x):
    b = torch.zeros(3, dtype=torch.float64)
    b[0] = t(x).sum()
    return b.numpy()


def into_view(x):
    b = torch.zeros(2, 3, dtype=torch.float64)
    v = b[1:]
    b[0].copy_(t(x))
    v.view(-1)[:2] = t(x)[1:]
    torch.mul(t(x), 2, out=v[0])
    return (b * 2).numpy(), v.numpy(), b.view(-1)[1:].numpy()


def into_parameter(x):
    layer = nn.Linear(3, 1, bias=False).double()
    layer.load_state_dict({"weight": t(x)[None]})
    return layer(ONES).detach().numpy()


def shaped_in_place(x):
    v = t(x).clone()
    v.unsqueeze_(0)
    return torch.vmap(torch.sum)(v).numpy(), (v + scripted(v, 2.0)).numpy()


def lists(x):
    v = t(x)
    return torch.tensor([v[0], 1.0, x[1], 2]).numpy(), torch.as_tensor([[v[0], v[1]]]).numpy(), torch.tensor([float(x[0]), 2.5]).numpy()


def per_class(x):
    v = t(x)
    is_tensor = type(v) is torch.Tensor and {torch.Tensor: True}.get(type(v), False) and isinstance(v, torch.Tensor)
    return x * 2 if is_tensor and not isinstance(v, nn.Parameter) and type(v).__name__ == "Tensor" else x


def stateful(x):
    state = None
    with torch.no_grad():
        for i in range(2):
            y, state = LSTM(t(x)[None, None] * i, state)
    return y.numpy()


RECORDED = {
    "jit": lambda x: np.clip(LOADED(t(x)).detach().numpy(), -5, 5),
    "jit trace": lambda x: TRACED(t(x)).detach().numpy(),
    "jit function": lambda x: scripted(t(x), 2.0).numpy(),
    "jit inside": lambda x: nn.Sequential(LOADED, nn.ReLU())(t(x)).detach().numpy(),
    "vmap": lambda x: torch.vmap(lambda v: v * t(x))(t(x)[None]).numpy(),
    "grad": lambda x: func.grad(lambda v: (v**3 * t(x)).sum())(t(x)).numpy(),
    "hessian": lambda x: func.hessian(lambda v: (v**3).sum())(t(x)).numpy(),
    "jvp": lambda x: [p.numpy() for p in func.jvp(torch.sin, (t(x),), (ONES,))],
    "vjp": lambda x: func.vjp(torch.sin, t(x))[1](ONES)[0].numpy(),
    "functional_call": lambda x: func.functional_call(LINEAR, {"weight": t(x)[None].expand(2, 3)}, (t(x),)).detach().numpy(),
    "functionalize": lambda x: func.functionalize(lambda v: v.clone().add_(1))(t(x)).numpy(),
    "backward": backward,
    "gradient of a hook": hooked_gradient,
    "jacobian": lambda x: torch.autograd.functional.jacobian(lambda v: v**2, t(x.copy())).numpy(),
    "Parameter": lambda x: weighed(nn.Parameter(t(x)[None]))(ONES).detach().numpy(),
    "Parameter, deep copy": lambda x: copy.deepcopy(weighed(nn.Parameter(t(x)[None])))(ONES).detach().numpy(),
    "ParameterList": lambda x: nn.ParameterList([t(x)])[0].detach().numpy() * 2,
    "Buffer": lambda x: (nn.Buffer(t(x.copy())) * 2).numpy(),
    "Tensor": lambda x: (torch.Tensor(t(x).float()) * 2).numpy(),
    "deepcopy": lambda x: copy.deepcopy({"a": [t(x)]})["a"][0].numpy() * 2,
    "data": lambda x: (t(x).data * 2).numpy(),
    "autocast": autocast,
    "autocast beside NumPy": autocast_beside_numpy,
    "in place": in_place,
    "into a constant": into_constant,
    "into views of a constant": into_view,
    "into a parameter": into_parameter,
    "shaped in place": shaped_in_place,
    "lists of tensors": lists,
    "classes": per_class,
    "state of an LSTM": stateful,
    "autograd.Function": lambda x: Tripled.apply(t(x)).numpy(),
    "custom op": lambda x: doubled(t(x)).numpy(),
    "compiled": lambda x: torch.compile(lambda v: v * 3)(t(x)).numpy(),
    "hook of a module": lambda x: HOOKED(t(x)).detach().numpy(),
    "checkpoint": lambda x: torch.utils.checkpoint.checkpoint(torch.sin, t(x), use_reentrant=False).numpy(),
    "quantized": lambda x: torch.quantize_per_tensor(t(x).float(), 0.1, 0, torch.qint8).dequantize().numpy(),
    "sparse": lambda x: torch.sparse.mm(torch.diag(t(x)).to_sparse(), torch.ones(3, 1, dtype=torch.float64)).numpy(),
    "nested": lambda x: torch.nested.nested_tensor([t(x), t(x)[:2]]).to_padded_tensor(0.0).numpy(),
    "embedding": lambda x: functional.embedding(torch.tensor([0, 1]), t(x)[:, None]).numpy(),
    "no function": lambda x: unseen(t(x)).numpy(),
}


def unseen(v):
    with torch._C.DisableTorchFunction():
        return v * 2


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name):
    function = RECORDED[name]
    graph = np2fx.trace(function, X)
    for x in (X, Y):
        want, got = function(x.copy()), graph(t(x.copy()))
        for w, g in zip(*((want, got) if isinstance(want, (list, tuple)) else ([want], [got])), strict=True):
            assert str(g.dtype).removeprefix("torch.") == str(w.dtype)
            np.testing.assert_allclose(g.detach().numpy(), w, rtol=1e-12)


def pickled(x):
    return pickle.loads(pickle.dumps(t(x))).numpy()


def set_data(x):
    v = torch.zeros(3, dtype=torch.float64)
    v.data = t(x)
    return v.numpy()


def set_memory(x):
    return torch.zeros(3, dtype=torch.float64).set_(t(x)).numpy()


def into_global(x):
    BUFFER.copy_(t(x))
    return (BUFFER * 2).numpy()


def into_memory_of_numpy(x):
    a = np.zeros(3)
    t(a)[0] = t(x).sum()
    return a * 2


def default_dtype(x):
    torch.set_default_dtype(torch.float64)
    try:
        return (t(np.round(x).astype(np.int64)) / 3).numpy()
    finally:
        torch.set_default_dtype(torch.float32)


def in_thread(x):
    v, found = t(x), []
    other = threading.Thread(target=lambda: found.append(v * 2))
    other.start()
    other.join()
    return found[0].numpy()


def in_pool(x):
    with ThreadPoolExecutor(2) as pool:
        return pool.submit(torch.mul, t(x), 2).result().numpy()


def caught(x):
    try:
        return x * t(x).sum().item()
    except Exception:
        return x


class Kind(torch.Tensor):
    pass


REFUSED = {
    "python-value": [
        lambda x: BRANCHING(t(x)).numpy(), lambda x: x * float(f"{t(x).sum():.3f}"), lambda x: x * len(str(t(x))), pickled, caught,
        lambda x: x * len(repr([t(x)])), lambda x: copy.copy(t(x)).numpy(), lambda x: x * t(x).tolist()[0],
        lambda x: x * torch.equal(t(x), ONES),
        lambda x: x * torch.ops.aten._local_scalar_dense(t(x).sum()), lambda x: t(x).clone().apply_(lambda v: v * 2).numpy(),
    ],
    "opaque-call": [
        lambda x: LISTING(t(x)).numpy(), lambda x: x * t(x).storage()[0], lambda x: x * t(x).untyped_storage()[7],
        lambda x: x * (t(x).data_ptr() % 2), lambda x: torch.from_dlpack(t(x)).numpy(), lambda x: torch.from_dlpack(x).numpy(),
        lambda x: t(x).as_subclass(Kind).numpy(), in_thread, in_pool,
        lambda x: torch.cond(t(x).sum() > 3, lambda a: a * 2, lambda a: a - 1, (t(x),)).numpy(),
    ],
    "random": [
        lambda x: DROPPING(t(x)).numpy(), lambda x: t(x).clone().exponential_().numpy(), lambda x: functional.gumbel_softmax(t(x)).numpy(),
        lambda x: torch.distributions.Normal(t(x), 1.0, validate_args=False).sample().numpy(),
        lambda x: torch.ops.aten.bernoulli(torch.sigmoid(t(x))).numpy(),
    ],
    "mutation": [set_data],
    "aliasing": [into_memory_of_numpy],
    "side-effect": [
        lambda x: STATISTICS(t(x)).numpy(), set_memory, into_global, default_dtype,
        lambda x: NORM(t(x)[None].expand(2, 3)).detach().numpy(),
        lambda x: torch.native_batch_norm(t(x)[None], None, None, NORM.running_mean, NORM.running_var, True, 0.1, 1e-5)[0].numpy(),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "function"), [(name, f) for name, functions in REFUSED.items() for f in functions])
def test_refused_at_the_line(name, function):
    with pytest.raises(np2fx.TraceError) as refused:
        np2fx.trace(function, X)
    found = refused.value.findings[0]
    assert found.name == name and found.path == __file__, found
    assert torch.get_default_dtype() is torch.float32


def test_a_tensor_kept_from_an_earlier_trace_is_refused():
    kept = []

    @functools.lru_cache
    def once():
        return kept

    def f(x):
        once().append(t(x) * 2)
        return once()[0].numpy()

    for _ in range(2):
        with pytest.raises(np2fx.TraceError):
            np2fx.trace(f, X)


def filled_by_a_thread(x):
    found = queue.Queue()
    threading.Thread(target=lambda: [found.put(x * i) for i in range(3)], daemon=True).start()
    return found.get() + found.get()


QUESTIONS, ANSWERS = queue.Queue(), queue.Queue()


def answer():
    while (question := QUESTIONS.get()) is not None:
        with contextlib.suppress(np2fx.TraceError):  # who asked gets no answer
            ANSWERS.put(question * 2)


def answered_by_a_thread_that_was_there(x):
    QUESTIONS.put(x)
    return ANSWERS.get()


def test_who_waits_for_another_thread_hears_of_its_refusal():
    worker = threading.Thread(target=answer, daemon=True)
    worker.start()
    try:
        for function in (filled_by_a_thread, answered_by_a_thread_that_was_there):
            with pytest.raises(np2fx.TraceError) as refused:
                np2fx.trace(function, X)
            assert refused.value.findings[0].name == "opaque-call"
    finally:
        QUESTIONS.put(None)
        worker.join()


def test_threads_without_arrays_are_left_alone():
    def f(x):
        found = []
        other = threading.Thread(target=found.append, args=(2,))
        other.start()
        other.join()
        return x * found[0]

    np.testing.assert_array_equal(np2fx.trace(f, X)(t(Y)), Y * 2)
