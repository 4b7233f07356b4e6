"""np2fx: NumPy functions as torch, at the source, as an FX graph, and proven to agree.

Names load on first use, so that `import np2fx` (and the static half: `check_source`, `rewrite_source`) needs neither torch nor numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arrays.tensors import boundary as boundary
    from .codemod.rewrite import rewrite_source as rewrite_source
    from .converting import convert as convert
    from .importing.hook import converted as converted
    from .importing.hook import install as install
    from .pipeline.deployed.loading import Pipeline as Pipeline
    from .pipeline.export import ExportError as ExportError
    from .pipeline.export import export as export
    from .pipeline.node import node as node
    from .pipeline.random_inputs import random_inputs as random_inputs
    from .pipeline.semantics import GraphConfigs as GraphConfigs
    from .pipeline.semantics import TemporalAxis as TemporalAxis
    from .pipeline.semantics import TensorSemantics as TensorSemantics
    from .pipeline.session.compiling import compile_graph as compile_graph
    from .pipeline.session.errors import PipelineError as PipelineError
    from .pipeline.session.running import start as start
    from .pipeline.session.running import stop as stop
    from .source.findings.check import check_source as check_source
    from .source.findings.finding import ConversionError as ConversionError
    from .source.findings.finding import Finding as Finding
    from .support.own_rules import use_rules as use_rules
    from .tracing import TraceError as TraceError
    from .tracing import trace as trace
    from .verifying import Report as Report
    from .verifying import verify as verify

__version__ = "0.1.0"

_HOME = {
    "boundary": ".arrays.tensors", "convert": ".converting",
    "trace": ".tracing", "TraceError": ".tracing", "TracedNpArray": ".tracing", "TracedTensor": ".tracing",
    "verify": ".verifying", "Report": ".verifying", "check_source": ".source.findings.check", "rewrite_source": ".codemod.rewrite",
    "ConversionError": ".source.findings.finding", "Finding": ".source.findings.finding",
    "node": ".pipeline.node", "annotate": ".pipeline.annotate",
    "use_rules": ".support.own_rules", "random_inputs": ".pipeline.random_inputs",
    "start": ".pipeline.session.running", "stop": ".pipeline.session.running", "compile_graph": ".pipeline.session.compiling",
    "TensorSemantics": ".pipeline.semantics", "TemporalAxis": ".pipeline.semantics", "GraphConfigs": ".pipeline.semantics",
    "PipelineError": ".pipeline.session.errors", "Pipeline": ".pipeline.deployed.loading",
    "install": ".importing.hook", "converted": ".importing.hook",
    "export": ".pipeline.export", "ExportError": ".pipeline.export",
}  # fmt: skip
_RUNTIME = ("torch", "numpy")

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(home, __name__)
    except ModuleNotFoundError as error:
        if error.name not in (*_RUNTIME, "hypothesis"):
            raise
        raise ModuleNotFoundError(f'np2fx.{name} needs {error.name}: pip install "np2fx[torch]"', name=error.name) from None
    found = module if name == "annotate" else getattr(module, name)
    globals()[name] = found
    return found
