"""The Python text of a graph, where it can say the same in less time than `torch.fx` writes it.

The graph is what it is; of its text two things are written otherwise. The demands on inputs are tested in place, and the function that
raises is called where they are not met, or where something else than Python's own run is going on. Constants are taken from where
`torch.nn.Module` looks last.
"""

from __future__ import annotations

import re
from typing import Any

from torch import fx
from torch.fx.graph import CodeGen

from .recording.guards import check_inputs, tests_of

_CONSTANT = re.compile(r"^(\w+) = self\.(_tensor_constant\d+)$")
_WATCHED = "torch.compiler.is_compiling() or torch._C._is_tracing() or torch._C._len_torch_dispatch_stack()"


class Generator(CodeGen):
    """What writes the text of a traced graph."""

    def _gen_python_code(self, nodes: Any, *args: Any, **kwargs: Any) -> Any:
        demands = {repr(n): n for n in nodes if n.target is check_inputs}
        self._body_transformer = lambda body: [_written(line, demands) for line in body]
        try:
            return super()._gen_python_code(nodes, *args, **kwargs)
        finally:
            self._body_transformer = None


def _written(line: str, demands: dict[str, fx.Node]) -> str:
    name, equals, _ = line.partition(" = ")
    if equals and name in demands:
        given: Any = demands[name].args
        inputs, forms, one, apart, relations, _ = given
        if one or apart or relations:
            return line
        tests = tests_of(forms, [repr(x) for x in inputs], "torch.Tensor", [str(dtype) for dtype, _, _ in forms])
        return line if "False" in tests else f"if {_WATCHED} or not ({' and '.join(tests)}): {line}"
    found = _CONSTANT.match(line)
    return line if found is None else f"{found[1]} = self._buffers['{found[2]}']"
