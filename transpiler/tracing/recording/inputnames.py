"""What the inputs of a graph are called: its parameters, and the nodes that stand for them.

The code of a graph gives each parameter to its node before all else. fx calls the node of a parameter `A` `a`, and that of `sum` `sum_1`:
another parameter of that name would be lost. So there the first one is called otherwise, as torch gives the nodes these names again
whenever it unpickles a graph or traces it once more.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import fx

_TAKEN = frozenset(("self", "torch", "device", "inf", "nan", "NoneType", "fx_pytree", "pytree"))
"""Names that mean something else in the code of `forward`."""


def add_inputs(graph: fx.Graph, names: Sequence[str]) -> list[fx.Node]:
    """Placeholders for these names, which are all different, at the beginning of a graph."""
    taken = {*names, *_TAKEN}
    parameters: list[str] = []
    for name in names:
        parameter = name
        while (parameter in taken and (parameter != name or name in _TAKEN)) or _node_name(parameter) in taken - {parameter}:
            parameter += "_"
        taken |= {parameter, _node_name(parameter)}
        parameters.append(parameter)
    return [graph.placeholder(p) for p in parameters]


def _node_name(parameter: str) -> str:
    """What fx calls the node of a parameter."""
    return fx.Graph().placeholder(parameter).name
