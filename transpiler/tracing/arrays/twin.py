"""What stands for an object of NumPy's or Python's in a trace, and the way back to that object."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable
from typing import Any

from ..errors import error


class Twin:
    """A function in a trace: it is called in place of `original`, and is like it in all else."""

    _np2fx_original = True

    def __init__(self, original: Any, function: Callable[..., Any]) -> None:
        with contextlib.suppress(AttributeError, TypeError):
            functools.update_wrapper(self, original, updated=())
        self.original, self.function = original, function

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        return type(self.original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        """A trace sets nothing on what there is: that would outlive it."""
        if "function" in vars(self):
            raise error("side-effect", f"the function sets {name} of {getattr(self, '__name__', 'a function')}", "return the value instead")
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "original"), name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None or not hasattr(type(self.original), "__get__") else types.MethodType(self, instance)

    def __eq__(self, other: object) -> bool:
        return bool(self.original == original_of(other))

    def __hash__(self) -> int:
        return hash(self.original)

    def __copy__(self) -> Twin:
        return self

    def __deepcopy__(self, memo: Any) -> Twin:
        return self

    def __repr__(self) -> str:
        return repr(self.original)


def original_of(x: Any) -> Any:
    """What a twin, or a function that was rebuilt for the trace, stands for; everything else stands for itself."""
    kind = type(x)
    if kind is types.FunctionType:
        made, plain = vars(x).get("_np2fx_rebuilt", (0, x))
        return plain if made == id(x) else x  # `functools.wraps` copies the note
    return x.original if "_np2fx_original" in vars(kind) else x
