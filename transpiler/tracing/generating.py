"""The Python text of a graph, where it can say the same in less time than `torch.fx` writes it.

The graph is what it is; of its text these things are written otherwise. The demands on inputs are tested in place, and the function that
raises is called where they are not met, or where something else than Python's own run is going on: an exporter, a tracer, a compiler. In
Python's own run (`in_python`) numbers are tensors that are made once, and what is asserted is asked for in the quickest way; where torch
need not know either how a value came about (`in_place`: no gradients, no `torch.func`), what is updated and not needed any more is written
into, not copied. Constants are taken from where `torch.nn.Module` looks last. `print_readable` shows the graph as it is.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch.fx.graph import CodeGen

from .eager import HELD_DTYPES, assert_finite, assert_no_infinity, held_numbers, is_held
from .recording.guards import SHAPE, check, check_inputs, tests_of

_CONSTANT = re.compile(r"^(\w+) = self\.(_tensor_constant\d+)$")
_COUNTER = re.compile(r"^# COUNTER: (\d+)$")
_WATCHED = "torch.compiler.is_dynamo_compiling() or torch._C._is_tracing() or torch._C._len_torch_dispatch_stack()"
_EAGER, _OWN, _NUMBER, _FEW = "in_python", "in_place", "number_", "few_of_"

_BESIDE_NUMBERS = frozenset((
    "add", "sub", "mul", "div", "true_divide", "remainder", "fmod", "floor_divide", "lt", "le", "gt", "ge", "eq", "ne", "where",
))  # fmt: skip
"""Functions that give the same bits for a number and for a tensor of it (`pow` does not)."""

_ALONG = frozenset(("sum", "mean", "amax", "amin", "any", "all", "argmax", "argmin", "cumsum", "cumprod", "cat", "stack"))
"""Functions whose second argument is `dim`, and the third, where there is one, `keepdim`."""

_FRESH = frozenset((
    "add", "sub", "mul", "div", "neg", "abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "roll", "clone", "flip", "cat", "stack", "where",
    "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "select_scatter", "slice_scatter", "cumsum", "clamp", "matmul",
))  # fmt: skip
"""Functions whose result is an array of its own, in which each element has its place."""

_FINITE: tuple[tuple[tuple[Any, ...], list[Any], Callable[..., None]], ...] = (
    ((torch.eq, torch.sum, torch.mul), [(0,), (), (0,)], assert_finite),
    ((torch.all, torch.logical_not, torch.isinf), [(), (), ()], assert_no_infinity),
)
"""What is asserted where matrices must be finite (see `semantics.matrices.finite`): functions, the last to be called first, what they
take besides, and what asserts the same in less time."""

_SHORT = 16
"""Up to so many squares `torch.linalg.vector_norm` sums as exactly as NumPy does. (It scales a single one.)"""


class Generator(CodeGen):
    """What writes the text of a traced graph. `in_python` says that all calls of it are known to be Python's own run, with the inputs
    that the graph demands."""

    def __init__(self, in_python: bool = False) -> None:
        super().__init__()
        self.in_python = in_python

    def _gen_python_code(self, nodes: Any, *args: Any, **kwargs: Any) -> Any:
        self._body_transformer = None if kwargs.get("verbose") else _Text(list(nodes), self.in_python).body
        try:
            return super()._gen_python_code(nodes, *args, **kwargs)
        finally:
            self._body_transformer = None

    def additional_globals(self) -> list[tuple[str, Any]]:
        return [(f.__name__, f) for f in (held_numbers, assert_finite, assert_no_infinity)]


class _Text:
    """The text of one graph.

    flags     which of the two flags are asked in it
    numbers   the numbers that are tensors in Python's own run: what they are (`float32 0.5`), their names and how they are written
    others    the nodes whose text hangs on how the graph is run, with what makes it of torch's own"""

    def __init__(self, nodes: list[fx.Node], in_python: bool) -> None:
        self.nodes, self.in_python = nodes, in_python
        self.inputs = [n for n in nodes if n.op == "placeholder"]
        self.flags: set[str] = set()
        self.numbers: dict[str, tuple[str, str]] = {}
        self.others: dict[fx.Node, Callable[[str], str]] = {}
        names = {repr(n) for n in nodes}
        self.is_free = not any(n.startswith((_EAGER, _OWN, _NUMBER, _FEW, SHAPE)) for n in names)
        self.is_known = self.is_free and bool(self.inputs) and all(n.meta.get("dtype") is not None for n in self.inputs)
        last = _Last(nodes)
        for node in nodes if self.is_known else ():
            if node.target is check and isinstance(node.args[0], fx.Node):
                self.plan_check(node)
            elif node.target is torch.sqrt and not node.kwargs:
                self.plan_norm(node)
            elif node.target in (torch.select_scatter, torch.slice_scatter) and last.is_own(node):
                self.plan_write(node)

    def body(self, lines: list[str]) -> list[str]:
        """The lines of the text, from those of torch's own. A node's call is one of them, what follows it on its line is the next."""
        made: list[str] = []
        node, start, demand = None, None, ""
        for line in lines:
            counter = _COUNTER.match(line)
            if counter is not None:
                node = self.nodes[int(counter[1])]
                if start is None and node.op != "placeholder":
                    start = len(made)
            elif node is not None and line.startswith(f"{node!r} = "):
                if node.target is check_inputs and not demand:
                    start, demand = len(made), line
                line = self.written(node, line)
            made.append(line)
        if start is not None:
            made[start : start + bool(demand)] = self.head(demand)
        return made

    def head(self, demand: str) -> list[str]:
        """What stands before all else: how the graph is run, and what it demands of its inputs."""
        tests = self.tests() if demand else []
        if not self.flags:
            return [f"if {_WATCHED} or not ({' and '.join(tests)}): {demand}" if tests else demand] if demand else []
        asked = tests or [f"type({n!r}) is torch.Tensor and {n!r}.dtype is {n.meta['dtype']}" for n in self.inputs]
        found = [f"{_EAGER} = True\n" if self.in_python else f"{_EAGER} = not ({_WATCHED}) and {' and '.join(asked)}\n"]
        if _OWN in self.flags:
            is_learnt = any(n.op == "get_attr" and "_param" in str(n.target) for n in self.nodes)
            gradients = "True" if is_learnt else " or ".join(f"{n!r}.requires_grad" for n in self.inputs)
            found.append(f"{_OWN} = {_EAGER} and not (torch.is_grad_enabled() and ({gradients})) "
                         "and torch._C._functorch.peek_interpreter_stack() is None\n")  # fmt: skip
        if self.numbers:
            names, plain = zip(*self.numbers.values(), strict=True)
            told = ", ".join(self.numbers)
            held_numbers(told)  # made here, where no mode of torch's is on
            found.append(f"{', '.join(names)}, = held_numbers('{told}') if {_EAGER} else ({', '.join(plain)},)\n")
        if demand:
            found.append(f"if not {_EAGER}: {demand}" if tests else demand)
        return found

    def tests(self) -> list[str]:
        """What makes sure that inputs are as the graph demands, where that can be said in the text."""
        given: Any = next(n for n in self.nodes if n.target is check_inputs).args
        inputs, forms, one, apart, relations, _ = given
        if one or apart or relations or not self.is_free:
            return []
        tests = tests_of(forms, [repr(x) for x in inputs], "torch.Tensor", [str(dtype) for dtype, _, _ in forms])
        return [] if "False" in tests else tests

    def otherwise(self, node: fx.Node, flag: str, text: str, before: str = "") -> None:
        """Let the text of a node be another one where `flag` is true."""
        self.others[node] = lambda line: f"{before}{node!r} = {text} if {flag} else {line.partition(' = ')[2]}"

    def plan_check(self, node: fx.Node) -> None:
        """An assertion."""
        message = repr(node.args[1])
        self.flags.add(_EAGER)
        for functions, rest, quick in _FINITE:
            chain = _chain(node.args[0], functions)
            if chain is not None and [n.args[1:] for n in chain] == rest and not any(n.kwargs for n in chain):
                self.flags.add(_OWN)
                self.otherwise(chain[2], _OWN, f"{quick.__name__}({chain[2].args[0]!r}, {message})")
                for n in (*chain[:2], node):
                    self.otherwise(n, _OWN, "None")
                return
        self.otherwise(node, _EAGER, f"torch._assert_async({node.args[0]!r}, {message})")

    def plan_norm(self, node: fx.Node) -> None:
        """The root of a sum of squares along an axis: of few numbers it is torch's own norm."""
        chain = _chain(node.args[0], (torch.sum, torch.mul))
        if chain is None or chain[0].args[1:] or set(chain[0].kwargs) - {"dim", "keepdim"} or len(set(chain[1].args)) != 1:
            return
        total, squares = chain
        x, axis, flag = squares.args[0], total.kwargs.get("dim"), f"{_FEW}{node!r}"
        if type(axis) is int and isinstance(x, fx.Node) and x.meta.get("dtype") in (torch.float32, torch.float64):
            self.flags.update((_EAGER, _OWN))
            few = f"{flag} = {_OWN} and 1 < {x!r}.shape[{axis}] <= {_SHORT}\n"
            self.otherwise(squares, flag, f"torch.linalg.vector_norm({x!r}, 2, {axis}, {bool(total.kwargs.get('keepdim'))})", few)
            self.otherwise(total, flag, repr(squares))
            self.otherwise(node, flag, repr(total))

    def plan_write(self, node: fx.Node) -> None:
        """An array with a part that is another one: where nothing else sees it, it is written into."""
        base, new, axis, *place = node.args
        if type(axis) is not int or axis < 0 or node.kwargs or len(place) not in (1, 3):
            return
        self.flags.update((_EAGER, _OWN))
        part = _slice_text(*map(repr, place)) if len(place) == 3 else repr(place[0])
        written = f"if {_OWN}: {base!r}[{':, ' * axis}{part}] = {new!r}\n"
        self.otherwise(node, _OWN, repr(base), written)

    def written(self, node: fx.Node, text: str) -> str:
        if node in self.others:
            return self.others[node](text)
        if node.target is operator.getitem:
            return _sliced(node, text)
        if node.target is torch.transpose and node.args[1:] in ((0, 1), (1, 0)) and node.args[0].meta.get("rank") == 2:  # type: ignore[union-attr]
            return f"{node!r} = {node.args[0]!r}.T"
        if getattr(node.target, "__name__", "") in _ALONG and len(node.args) == 1 and type(node.kwargs.get("dim")) is int:
            return text.replace(", dim = ", ", ", 1).replace(", keepdim = ", ", ", 1)
        found = _CONSTANT.match(text)
        return f"{found[1]} = self._buffers['{found[2]}']" if found is not None else self.numbered(node, text)

    def numbered(self, node: fx.Node, text: str) -> str:
        """A call of arrays of one dtype and a number: in Python's own run the number is a tensor."""
        name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
        if not self.is_known or name not in _BESIDE_NUMBERS or node.kwargs or not _is_called(node):
            return text
        operands = node.args[1:] if name == "where" else node.args
        arrays, numbers = ([x for x in operands if isinstance(x, fx.Node) is kind] for kind in (True, False))
        dtypes = {x.meta.get("dtype") for x in arrays}  # type: ignore[union-attr]
        is_pair = len(operands) == 2 and len(numbers) == 1 and type(numbers[0]) in (int, float)
        told, number = HELD_DTYPES.get(dtypes.pop()) if is_pair else None, numbers[0] if is_pair else None  # type: ignore[arg-type]
        if told is None or not is_held(number, told):  # type: ignore[arg-type]
            return text
        self.flags.add(_EAGER)
        key = f"{told} {number!r}"
        held, _ = self.numbers.setdefault(key, (f"{_NUMBER}{len(self.numbers)}", repr(number)))
        args = [held if x is number else repr(x) for x in node.args]
        before = text[: text.index("(")]
        return f"{before}({', '.join(args[1:] if node.op == 'call_method' else args)})"


def _chain(node: Any, functions: tuple[Any, ...]) -> list[fx.Node] | None:
    """Nodes of these functions, each the first argument of the one before, and of use for nothing else."""
    found: list[fx.Node] = []
    for function in functions:
        if not isinstance(node, fx.Node) or node.target is not function or len(node.users) != 1:
            return None
        found.append(node)
        node = node.args[0]
    return found if isinstance(node, fx.Node) else None


def _sliced(node: fx.Node, text: str) -> str:
    """`x[:, 1:-1]` for `x[(slice(None, None, None), slice(1, -1, None))]`."""
    key = node.args[1]
    plain = f"{node!r} = {node.args[0]!r}[{key!r}]"
    if text != plain or not isinstance(key, (tuple, slice)) or key == ():
        return text
    parts = [_slice_text(*map(repr, (k.start, k.stop, k.step))) if isinstance(k, slice) else "..." if k is Ellipsis else repr(k)
             for k in (key if isinstance(key, tuple) else (key,))]  # fmt: skip
    comma = "," if isinstance(key, tuple) and len(key) == 1 else ""
    return f"{node!r} = {node.args[0]!r}[{', '.join(parts)}{comma}]"


def _slice_text(start: str, stop: str, step: str) -> str:
    start, stop, step = ("" if x == "None" else x for x in (start, stop, step))
    return f"{start}:{stop}" + (f":{step}" if step not in ("", "1") else "")


class _Last:
    """Which arrays nobody sees any more after a node."""

    def __init__(self, nodes: list[fx.Node]) -> None:
        self.place = {n: i for i, n in enumerate(nodes)}
        self.is_plain = not any(n.meta.get("writes") or n.target is torch.ops.aten.copy_.default for n in nodes)

    def is_own(self, node: fx.Node) -> bool:
        """Whether the first argument of a node is an array of its own that only this node and those before it see."""
        base = node.args[0]
        if not self.is_plain or not isinstance(base, fx.Node) or not _is_fresh(base):
            return False
        seen, rest = {base}, [base]
        while rest:
            for user in rest.pop().users:
                if user is not node and self.place[user] >= self.place[node]:
                    return False
                if user is not node and user not in seen and not _is_fresh(user):
                    seen.add(user)  # it may be a view
                    rest.append(user)
        return node.args[1] not in seen


def _is_fresh(node: fx.Node) -> bool:
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    return name in _FRESH and _is_called(node)


def _is_called(node: fx.Node) -> bool:
    """Whether a node is a function or method of torch's, and no operator, module or input."""
    return node.op == "call_method" or (node.op == "call_function" and getattr(node.target, "__module__", "") != "_operator")
