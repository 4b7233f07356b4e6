"""`np2fx record --write-specs`: what was recorded of a function's parameters, as `@np2fx.node(...)` above it.

    def normalise(state, gain=1.0):            @np2fx.node(state="float32[n, 7]")
                                       ->      def normalise(state, gain=1.0):

A spec that stands there already stays; functions of which no array is recorded, and those inside others, are left alone.
"""

from __future__ import annotations

import ast

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor

from ..pipeline.spec import PYTHON_TYPES
from ..source.reading.names import Names
from ..source.reading.nodes import Node, find_nodes


def with_specs(text: str, path: str) -> str:
    """The text of a module with the specs that were recorded for its functions; the text itself where there are none."""
    tree = ast.parse(text)
    names = Names(tree)
    nodes = find_nodes(tree, names, path=path, all_functions=True)
    wanted = {(n.function.name, n.function.lineno): n for n in nodes if n.function is not None and _missing(n)}
    if not wanted:
        return text
    module = cst.parse_module(text)
    wrapper = cst.metadata.MetadataWrapper(module, unsafe_skip_copy=True)
    positions = wrapper.resolve(cst.metadata.PositionProvider)
    context = CodemodContext(filename=path)
    changed = wrapper.module.visit(_WriteSpecs(wanted, positions))
    if "np2fx" not in names.module.bindings:
        AddImportsVisitor.add_needed_import(context, "np2fx")
        changed = AddImportsVisitor(context).transform_module(changed)
    ast.parse(changed.code)
    return changed.code


def _missing(node: Node) -> dict[str, str]:
    """The specs that a node lacks. With one a number would be an input of graphs, which is not for a recording to say."""
    assert node.function is not None
    taken = {k.arg for k in node.marked.keywords} if node.marked is not None else set()
    told = {} if node.how == "helper" else node.recorded
    return {name: spec for name, spec in told.items() if name not in taken and spec not in PYTHON_TYPES}


class _WriteSpecs(cst.CSTTransformer):
    def __init__(self, wanted: dict[tuple[str, int], Node], positions: object) -> None:
        super().__init__()
        self.wanted, self.positions = wanted, positions

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:
        line = self.positions[original_node].start.line  # type: ignore[index]
        node = self.wanted.get((original_node.name.value, line))
        if node is None:
            return updated_node
        specs = [_keyword(name, spec) for name, spec in _in_order(node)]
        decorators = list(updated_node.decorators)
        for i, decorator in enumerate(decorators):
            if _is_node(decorator.decorator):
                call = decorator.decorator
                given = list(call.args) if isinstance(call, cst.Call) else []
                func = call.func if isinstance(call, cst.Call) else call
                decorators[i] = decorator.with_changes(decorator=cst.Call(func, [*_with_comma(given), *specs]))
                return updated_node.with_changes(decorators=decorators)
        made = cst.Decorator(cst.Call(cst.parse_expression("np2fx.node"), specs))
        if decorators:
            return updated_node.with_changes(decorators=[made, *decorators])
        return updated_node.with_changes(decorators=[made], lines_after_decorators=())


def _in_order(node: Node) -> list[tuple[str, str]]:
    """The specs in the order of the parameters."""
    assert node.function is not None
    args = node.function.args
    order = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return sorted(_missing(node).items(), key=lambda item: order.index(item[0]))


def _keyword(name: str, spec: str) -> cst.Arg:
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(cst.SimpleString(f'"{spec}"'), cst.Name(name), tight)


def _with_comma(args: list[cst.Arg]) -> list[cst.Arg]:
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [*args[:-1], args[-1].with_changes(comma=comma)] if args else []


def _is_node(decorator: cst.BaseExpression) -> bool:
    """Whether a decorator is np2fx's own, by whichever name."""
    target = decorator.func if isinstance(decorator, cst.Call) else decorator
    code = cst.Module([]).code_for_node(target)
    return code in ("node", "np2fx.node")
