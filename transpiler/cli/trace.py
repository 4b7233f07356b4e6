"""np2fx trace module:function --samples FILE.npz -o OUT --export jit|onnx|pt2: a function's graph, as a file."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import os
import sys
from typing import Any

from . import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="a module (or a file.py) and a function in it")
    parser.add_argument("--samples", metavar="FILE.npz", required=True, help="one array for each parameter, by name or in order")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file to write; without it the graph is printed")
    parser.add_argument("--export", choices=("jit", "onnx", "pt2"), default="jit", help="the format of OUT (default: jit)")
    parser.add_argument("--sizes", metavar="NAME=SPEC", action="append", default=[],
                        help='names free sizes for onnx and pt2: "x=float32[n, 3]" (default: the specs of the function)')  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from ..source.findings.finding import ConversionError
    from ..tracing import TraceError, trace

    use_own_rules(args.function)
    function = find_function(args.function)
    samples = sample_arguments(function, load_samples(args.samples))
    try:
        graph = trace(function, *samples)
    except (TraceError, ConversionError) as error:
        from . import output

        output.show(error.findings, "text")
        return 1
    except Exception as error:
        raise _own_error(args.function, function, samples) or error from None
    if args.output is None:
        print(graph.graph)
        return 0
    from ..pipeline.export import ExportError, export

    try:
        export(graph, args.output, args.export, samples, sizes=given_sizes(args.sizes))
    except ExportError as error:
        raise UsageError(str(error)) from error
    print(f"wrote {args.output} ({args.export})")
    return 0


def given_sizes(texts: list[str]) -> dict[str, str] | None:
    """`NAME=SPEC`, each. Raises UsageError."""
    from ..pipeline.spec import SpecError, read

    found: dict[str, str] = {}
    for text in texts:
        name, _, spec = text.partition("=")
        if not spec:
            raise UsageError(f"--sizes {text} must be NAME=SPEC, such as x=float32[n, 3]")
        try:
            read(spec)
        except SpecError as error:
            raise UsageError(f"--sizes {text}: {error}") from None
        found[name.strip()] = spec
    return found or None


def load_samples(path: str) -> dict[str, Any]:
    """The arrays of an .npz file by key. Raises UsageError where it is none, FileNotFoundError where there is no file."""
    import zipfile

    import numpy

    try:
        with numpy.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path} is not an .npz file of arrays: {error}") from None


def _own_error(name: str, function: Any, samples: list[Any]) -> UsageError | None:
    """The error that the function itself raises on the samples, as a NumPy function; None where it raises none."""
    import copy

    try:
        function(*copy.deepcopy(samples))
    except Exception as error:
        return UsageError(f"{name} raises on these samples, as a NumPy function: {type(error).__name__}: {error}")
    return None


def use_own_rules(text: str) -> None:
    """The rules of the project (of the file's, or of the working folder's) are put into the table. Raises UsageError."""
    from ..source.reading.config import load_config
    from ..support.own_rules import use_rules

    file = text.rpartition(":")[0]
    config = load_config(file if file.endswith(".py") else ".")
    try:
        use_rules(*config.rules, root=config.root)
    except Exception as error:
        raise UsageError(f"the rules of {', '.join(config.rules)} cannot be loaded: {type(error).__name__}: {error}") from error


def find_function(text: str) -> Any:
    """`package.module:function` or `path/file.py:Class.method` as an object, a method as that of an object. Raises UsageError."""
    module_name, _, name = text.rpartition(":")
    if not module_name or not name:
        raise UsageError(f"`{text}` must be MODULE:FUNCTION, such as pkg.pre:normalize")
    module = _from_file(module_name) if module_name.endswith(".py") else _from_name(module_name)
    owner: Any = None
    found: Any = module
    for part in name.split("."):
        owner, found = found, getattr(found, part, None)
    if not callable(found):
        raise UsageError(f"{module_name} has no function `{name}`")
    return _method(owner, name, module) if isinstance(owner, type) else found


def _method(owner: type, name: str, module: Any) -> Any:
    from ..source.reading.config import load_config
    from ..verifying.inputs.instances import NoInstanceError, hint_for, method_of

    path = getattr(module, "__file__", None) or ""
    config = load_config(path or ".")
    try:
        return method_of(owner, name.rpartition(".")[2], module, path, config)
    except NoInstanceError as why:
        hint = hint_for(owner.__qualname__, config.relative(path))
        raise UsageError(f"{name} is a method, and there is no object to call it on: {why}; {hint}") from why


def _from_file(path: str) -> Any:
    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(os.path.splitext(os.path.basename(path))[0], path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _from_name(name: str) -> Any:
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(f"there is no module `{name}`") from None
        raise UsageError(f"{name} cannot be imported: {error}") from None
    except Exception as error:
        raise UsageError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def sample_arguments(function: Any, arrays: dict[str, Any]) -> list[Any]:
    """Arrays of an .npz in the order of the parameters: by name, or in the file's order (arr_0, arr_1, ...). Raises UsageError."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return list(arrays.values())
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if set(arrays) <= set(names):
        missing = [p.name for p in parameters if p.name in names and p.default is p.empty and p.name not in arrays]
        if missing:
            raise UsageError(f"the samples lack {', '.join(missing)}")
        given = [n for n in names if n in arrays]
        if given != names[: len(given)]:
            raise UsageError(f"the samples must give the first parameters: {', '.join(names)}")
        return [arrays[n] for n in given]
    if all(name.startswith("arr_") for name in arrays):
        return [arrays[n] for n in sorted(arrays, key=lambda n: int(n[4:]))]
    raise UsageError(f"the samples are named {', '.join(arrays)}; the parameters are {', '.join(names)}")
