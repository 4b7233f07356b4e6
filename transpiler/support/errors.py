"""torch's errors as NumPy's: what a caller of a NumPy function catches, the caller of its twin catches too.

torch raises RuntimeError where NumPy raises ValueError, and IndexError for an axis that is out of bounds.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import torch

from ..semantics.table import Refused

_VALUE = re.compile(
    r"must match the (size|existing size) of|Sizes of tensors must match|stack expects each tensor|is invalid for input of size"
    r"|cannot reshape tensor"
    r"|Expected reduction dim|have non-zero size|Boolean value of Tensor|shapes cannot be multiplied|inconsistent tensor size|size mismatch"
    r"|not broadcastable|doesn't match the broadcast shape|expected m[0-9]? ?and|Expected size for first two dimensions|shape mismatch"
    r"|must have (the )?same (size|length)|only be converted to Python scalars|non-negative|batch1 must|invalid shape dimension"
    r"|Trying to create tensor with negative|only one dimension can be inferred|number of dimensions in the tensor input|duplicate dims"
    r"|appears multiple times in the list of dims|the number of sizes provided|must match the existing size"
)
"""What torch says where NumPy raises ValueError."""


_NO_INDEX = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
_OTHERS: tuple[tuple[str, type[Exception], str], ...] = (
    ("new(): invalid data type 'str'", IndexError, _NO_INDEX),
    ("Tensor does not support deleting items", ValueError, "cannot delete array elements"),
    ("only one element tensors can be converted", TypeError, "only 0-dimensional arrays can be converted to Python scalars"),
)
"""What torch says in a TypeError or a ValueError, and NumPy's error of another class."""


_OF_TORCH = (RuntimeError, IndexError, TypeError, ValueError)
"""The classes of errors in which torch says what NumPy says in others."""


@contextlib.contextmanager
def numpys() -> Iterator[None]:
    """Within it, errors that torch raises for arguments that NumPy refuses as well are raised as NumPy's class."""
    try:
        yield
    except _OF_TORCH as error:
        found = translated(error)
        if found is None:
            raise
        raise found from error


def caught(kinds: Any = BaseException) -> Any:
    """The classes that an `except` clause of a rewritten function catches, asked in the clause itself (`except ops.caught(ValueError):`).

    What torch raises counts as what NumPy would, and a refusal is no error of the program's: no clause catches it."""
    return _caught(sys.exc_info()[1], kinds)


def told(error: BaseException) -> BaseException:
    """What an `except` clause binds: NumPy's error in place of torch's."""
    found = translated(error)
    return error if found is None else found.with_traceback(error.__traceback__)


def passed_on() -> None:
    """At the start of a `finally` that leaves the function or a loop, and so ends any error: a refusal is raised again."""
    error = sys.exc_info()[1]
    if error is not None and _is_refusal(error):
        raise error


class suppress(contextlib.suppress):  # noqa: N801  (rewritten code spells it as contextlib does)
    """`contextlib.suppress` of a rewritten function, which suppresses what `caught` catches."""

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        return error is not None and isinstance(error, _caught(error, self._exceptions))  # type: ignore[attr-defined]


class Hearing:
    """A context in a `with` of a rewritten function: it hears of NumPy's errors, and may end these, but no refusal."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __enter__(self) -> Any:
        return type(self.held).__enter__(self.held)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        found = None if error is None or _is_refusal(error) else translated(error)
        given = (kind, error, traceback) if found is None else (type(found), found.with_traceback(traceback), traceback)
        ended = type(self.held).__exit__(self.held, *given)
        return ended and not _is_refusal(error)


def _is_refusal(error: BaseException | None) -> bool:
    return isinstance(error, Refused) or bool(getattr(error, "findings", None))


def _caught(error: BaseException | None, kinds: Any) -> Any:
    if _is_refusal(error):
        return ()
    found = translated(error)
    if found is None:
        return kinds
    return type(error) if isinstance(found, kinds) and not isinstance(found, Refused) else ()


def translated(error: BaseException | None) -> Exception | None:
    """NumPy's error for what torch raises; None where that is no other one."""
    if not isinstance(error, _OF_TORCH):
        return None
    text = str(error)
    if type(error) in (TypeError, ValueError):
        return next((kind(message) for said, kind, message in _OTHERS if text.startswith(said)), None)
    if isinstance(error, torch.linalg.LinAlgError):
        return numpy.linalg.LinAlgError(text)
    if type(error) is IndexError and text.startswith("Dimension out of range"):
        return numpy.exceptions.AxisError(text)
    if text.startswith("Inplace update to inference tensor"):
        return ValueError("assignment destination is read-only")
    if text.startswith("The shape of the mask [0"):  # as `semantics.keys` says it of a key that is not a plain one
        return Refused("a mask of no elements, which NumPy takes for any axis", "use a mask of the array's shape", "unsupported-argument")
    if text.startswith(("shape mismatch: indexing tensors", "shape mismatch: indexing arrays")):
        return IndexError(text)
    if type(error) in (RuntimeError, IndexError) and _VALUE.search(text):
        return ValueError(text)
    return None
