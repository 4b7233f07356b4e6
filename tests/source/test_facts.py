"""Facts against what happens: each expression of many programs is watched as it runs, and nothing known of it may be wrong."""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
import types

import numpy as np
import pytest
from np2fx.converting import facts as runtime_facts
from np2fx.source.facts.inference import Inference
from np2fx.source.facts.results import call_fact
from np2fx.source.reading.table import load_table

from tests.conformance.cases import arguments, load
from tests.converting import programs

TABLE = load_table()


class Watch(ast.NodeTransformer):
    """Wraps every loaded expression in a call that sees its value."""

    def __init__(self, nodes):
        self.nodes = nodes

    def visit(self, node):
        number = self.nodes.get(node)
        self.generic_visit(node)
        if number is None or isinstance(node, (ast.Slice, ast.Starred, ast.FormattedValue, ast.JoinedStr, ast.Tuple)):
            return node
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return ast.Call(ast.Name("__watch", ast.Load()), [ast.Constant(number), node], [])
        return node


def observed(function, args):
    """(expression's text, its fact, its value) for each time an expression of the function is evaluated."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source)
    node = tree.body[0]
    inference = Inference(runtime_facts.resolver(function), lambda callee, call, inf: call_fact(callee, call, inf, TABLE))
    bound = inspect.signature(function).bind(*args)
    bound.apply_defaults()
    inference.function(node, {n: of_input(v) for n, v in bound.arguments.items()})
    numbers = {n: i for i, n in enumerate(inference.facts)}
    texts = {i: (ast.unparse(n), inference.facts[n]) for n, i in numbers.items()}
    seen = []

    def watch(number, value):
        seen.append((*texts[number], kept(value)))
        return value

    node.decorator_list = []
    watched = ast.fix_missing_locations(Watch(numbers).visit(tree))
    space = types.ModuleType("watched")
    vars(space).update({**function.__globals__, "__watch": watch})
    exec(compile(watched, "<watched>", "exec"), vars(space))
    with contextlib.suppress(Exception):  # what was seen until then still counts
        vars(space)[node.name](*args)
    return seen


def kept(value):
    return (type(value), value.dtype.name, value.ndim) if isinstance(value, (np.ndarray, np.generic)) else value


def of_input(value):
    if isinstance(value, np.ndarray):
        import torch

        try:
            from np2fx.semantics.arrays import zero_d_array

            return runtime_facts.of_argument(zero_d_array(torch.from_numpy(value.copy())))
        except TypeError:
            return runtime_facts.UNKNOWN
    return runtime_facts.of_global(value) if isinstance(value, np.generic) else runtime_facts.of_argument(value)


def contradiction(fact, value):
    """Why a fact does not fit a value; None where it does."""
    is_numpy = (
        isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], type) and issubclass(value[0], (np.ndarray, np.generic))
    )
    if fact.kind in ("array", "scalar", "tensor"):
        if not is_numpy:
            return "no array"
        if fact.kind == "array" and not issubclass(value[0], np.ndarray):
            return "a scalar"
        if fact.kind == "scalar" and not issubclass(value[0], np.generic):
            return "an array"
        if fact.dtype not in (None, "floating", value[1]):
            return f"dtype {value[1]}"
        if fact.rank not in (None, value[2]):
            return f"rank {value[2]}"
    if fact.kind == "number":
        if is_numpy or not isinstance(value, (bool, int, float, complex)):
            return f"no Python number but {value!r}"
        if fact.dtype is not None and type(value).__name__ != fact.dtype:
            return f"a {type(value).__name__}"
        if fact.value is not None and fact.value != value:
            return f"the value {value}"
    if fact.kind == "sequence" and not isinstance(value, (list, tuple, range)) and not hasattr(value, "__next__"):
        return f"no sequence but {value!r}"
    if fact.kind == "text" and not isinstance(value, (str, bytes)):
        return f"no text but {value!r}"
    if fact.kind in ("other", "none") and is_numpy:
        return "an array"
    return None


def wrong(function, args):
    return [(text, fact, why) for text, fact, value in observed(function, args) if (why := contradiction(fact, value))]


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_facts_hold_in_programs(program):
    assert wrong(program, (np.array([1.0, 2.0, 3.0, 4.0]),)) == []
    assert observed(program, (np.array([1.0, 2.0, 3.0, 4.0]),)), "nothing was watched"


def test_facts_hold_in_the_cases():
    failures = []
    watched = 0
    for case in load():
        module = case.module()
        for inputs in case.input_sets():
            seen = observed(module.node, arguments(inputs, module))
            watched += len(seen)
            failures += [(case.id, text, fact, why) for text, fact, value in seen if (why := contradiction(fact, value))]
    assert failures == []
    assert watched > 500
