"""Programs of torch's ways below Python's dispatch in any order: the graph is right for other values too, or the function is refused."""

import linecache
import random

import np2fx
import numpy as np
import pytest
import torch

X, Y = np.array([0.5, -2.0, 3.5]), np.array([-1.5, 0.75, 2.0])


@torch.jit.script
def scripted(a, b: float):
    return a * b + 1


@torch.jit.script
def scripted_in_place(a):
    a.mul_(0.5)
    return a[1:]


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


torch.manual_seed(1)
LINEAR = torch.nn.Linear(3, 3).double()
STEPS = (
    "t = t * 2", "u = t", "u = t.view(-1)", "u = t[:]", "t = u", "t = t + u", "u = u - x[0]", "t = torch.sin(t)",
    "x = t.clone().numpy() + x", "t = torch.vmap(lambda v: v * 2 + 1)(t)", "t = torch.vmap(lambda v, w: v * w)(t, u)",
    "t = torch.func.grad(lambda v: (v * u).sum())(t)", "t = torch.func.jvp(torch.sin, (t,), (u,))[1]",
    "t = torch.func.jacrev(lambda v: v ** 2)(t).sum(0)", "t = scripted(t, 1.5)", "u = torch.cat([u[:1], scripted_in_place(t)])",
    "t = Doubled.apply(t)", "t = LINEAR(t).detach()", "u = LOADED(u).detach()",
    "p = torch.nn.Parameter(t, requires_grad=False)\n    u = p * 2", "t.add_(1)", "u.mul_(0.5)", "t[0] = u[1]", "t[1:].copy_(u[:2])",
    "torch.ops.aten.add_.Tensor(t, 1.0)", "torch._foreach_mul_([t], 1.25)", "b[0] = t[0]", "b[1:].copy_(u[1:])", "c.view(-1)[2] = t[2]",
    "t = t + b", "u = u + c * 2", "v = b.view(-1)\n    v.add_(t)", "t = copy.deepcopy(t)", "t = t.data", "t = torch.stack([t, u]).sum(0)",
    "t = torch.tensor([t[0], 1.0, u[2]])",
    "with torch.autocast('cpu', dtype=torch.bfloat16):\n        t = (t.float() @ torch.eye(3)).double()",
    "with torch.enable_grad():\n        g = t.detach().clone().requires_grad_()\n        (g ** 2).sum().backward()\n        t = g.grad",
    "with torch.inference_mode():\n        t = t * 1.5", "t = torch.where(t > 0, t, u)", "d, e, f = t\n    u = torch.stack([f, d, e])",
    "torch.mul(t, 2, out=b)", "t = torch.utils.checkpoint.checkpoint(torch.cos, t, use_reentrant=False)", "c = c.clone()",
    "t = torch.from_numpy(x + 1)",
)  # fmt: skip
END = "return x, (t + 0).numpy(), u.clone().numpy(), b.numpy(), (c * 1).numpy()"


def written(seed):
    """A program, as a function with a source."""
    rng = random.Random(seed)
    head = ["t = torch.from_numpy(x).clone()", "u = torch.from_numpy(x * 2) * 1", "b = torch.ones(3, dtype=torch.float64)", "c = b * 2"]
    text = "def f(x):\n    " + "\n    ".join([*head, *rng.choices(STEPS, k=7), END]) + "\n"
    path = f"<mixed {seed}>"
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    space = {**globals(), "copy": __import__("copy"), "LOADED": torch.jit.script(torch.nn.Tanh())}
    exec(compile(text, path, "exec"), space)
    return space["f"], text


def outcome(call):
    try:
        return [np.asarray(v.detach()) if isinstance(v, torch.Tensor) else v.copy() for v in call()]
    except Exception as error:
        return error


@pytest.mark.parametrize("block", range(8))
def test_graphs_are_right_or_refused(block):
    counts = {True: 0, False: 0}
    for seed in range(block * 8, block * 8 + 8):
        function, text = written(seed)
        wanted = outcome(lambda f=function: f(Y.copy()))
        made = outcome(lambda f=function: np2fx.trace(f, X.copy())(torch.from_numpy(Y.copy())))
        counts[isinstance(made, Exception)] += 1
        if isinstance(made, Exception):
            assert isinstance(made, np2fx.TraceError) or type(made) is type(wanted), f"{text}\n{made!r}"
            continue
        assert not isinstance(wanted, Exception), text
        for w, g in zip(wanted, made, strict=True):
            assert w.dtype == g.dtype, text
            np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-12, err_msg=text)
    assert counts[False] >= 2, counts
