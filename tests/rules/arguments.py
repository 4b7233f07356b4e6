"""Calls with arguments that few give: each parameter of each rule is handed values of other types, shapes and options.

What NumPy raises the rule has to raise, or to refuse; what NumPy gives it has to give, or to refuse.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
from collections.abc import Iterator

import numpy as np
from np2fx.semantics import arrays as tensor_arrays
from np2fx.semantics.table import Refused, Rule
from np2fx.testing.checking import outcome, tensors_of
from np2fx.testing.comparing import different
from np2fx.testing.spelling import run_numpy, run_rules
from np2fx.testing.strategies import Seeded, arrays_of, names_in

VALUES = (
    "None", "'a'", "''", "1.5", "True", "False", "-1", "0", "1", "7", "1180591620717411303424", "-1180591620717411303424",
    "[0]", "[]", "()", "(0, 0)", "[[1]]", "[True]", "[1.5]", "{}", "'K'", "'equiv'", "'unsafe'", "'f4'", "1j", "float('nan')",
    "np.array(1.5)", "np.array([0, 1])", "np.array([[1.0]])", "np.float32(1)", "np.int8(1)", "np.uint64(9223372036854775808)",
    "np.bool_(True)", "np.float32", "object()", "...", "slice(1)", "b'a'", "np.array(['a'])", "[[1], [1, 2]]",
)  # fmt: skip
"""Values of types, signs, sizes, ranks and options that a parameter may not be meant for."""


def odd_calls(entry: Rule) -> Iterator[tuple[str, str, str]]:
    """(call, parameter, value): the first example of each shape with each parameter in turn set to each value."""
    seen: set[str] = set()
    for example in entry.examples:
        try:
            call = ast.parse(example, mode="eval").body
            if not isinstance(call, ast.Call):
                continue
            parameters = _parameters(entry, call)
        except (ValueError, SyntaxError):
            continue
        for place, parameter in enumerate(parameters):
            if parameter.name in seen or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                continue
            changed = _with(call, parameters, place)
            if changed is not None:
                seen.add(parameter.name)
                for value in VALUES:
                    yield changed.replace("__odd__", value), parameter.name, value


def _parameters(entry: Rule, call: ast.Call) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(entry.call).parameters.values())
    is_method = isinstance(call.func, ast.Attribute) and not ast.unparse(call.func).startswith("np.")
    return parameters[1:] if is_method else parameters


def _with(call: ast.Call, parameters: list[inspect.Parameter], place: int) -> str | None:
    """The call with `__odd__` for the parameter at `place`; None where it cannot be given."""
    call = ast.parse(ast.unparse(call), mode="eval").body  # type: ignore[assignment]
    odd, parameter = ast.Name("__odd__", ast.Load()), parameters[place]
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if place < len(call.args) and parameter.kind is not parameter.KEYWORD_ONLY:
        call.args[place] = odd
    elif parameter.kind is parameter.POSITIONAL_ONLY:
        if place != len(call.args):
            return None
        call.args.append(odd)
    else:
        call.keywords = [k for k in call.keywords if k.arg != parameter.name] + [ast.keyword(parameter.name, odd)]
    return ast.unparse(call)


_ENDS_NUMPY = re.compile(r"(cum\w+|accumulate|reduceat)\(.*out=np\.array|np\.diff\(.*\d{12}")
"""Calls that end NumPy's own process: running totals do not look at the rank of their `out`."""


def fault(call: str) -> str | None:
    """What is wrong with the rules' answer to a call, in a line; None where it is NumPy's, NumPy's error, or a refusal."""
    if _ENDS_NUMPY.search(call) or "set_printoptions" in call:  # the latter changes what all others would show
        return None
    arrays = arrays_of(Seeded(11), names_in(call), False)
    arrays = {name: x.copy() for name, x in arrays.items()}
    tensors = tensors_of(arrays)
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"), np.printoptions():
        want, error, texts = outcome(run_numpy, call, arrays)
        with tensor_arrays.mirrored_views():
            got, failure, _ = outcome(run_rules, call, tensors)
    if isinstance(failure, (Refused, AttributeError)) or any("invalid value encountered in cast" in text for text in texts):
        return None if isinstance(failure, Refused) or error is not None or failure is None else f"raises {failure!r}"
    if error is not None:
        if failure is None:
            return f"gives {got!r} where NumPy raises {type(error).__name__}: {error}"
        alike = isinstance(failure, type(error)) or isinstance(error, type(failure))
        return None if alike else f"raises {failure!r} where NumPy raises {type(error).__name__}: {error}"
    if failure is not None:
        return f"raises {failure!r} where NumPy gives {want!r}"
    if type(want) is np.ndarray and want.dtype.kind in "OSUV":
        return None
    why = different(want, got, True)
    for name, array in arrays.items():
        why = why or different(array, tensors[name], path=f"{name} after the call")
    return why
