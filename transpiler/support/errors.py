"""torch's errors as NumPy's: what a caller of a NumPy function catches, the caller of its twin catches too.

torch raises RuntimeError where NumPy raises ValueError, and IndexError for an axis that is out of bounds.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

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
