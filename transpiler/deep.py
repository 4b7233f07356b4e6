"""`deep`: functions that walk syntax by recursion go as deep as Python's own parser does.

A sum of 600 terms is a tree 600 deep, of which a walk takes several frames a level. Where Python's recursion limit ends such a walk, it is
done again from the start, in a thread with a large stack and a higher limit. What is `deep` must not mind being begun twice.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def deep(function: _Function) -> _Function:
    """The function, with room for trees of any depth that Python can parse."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            from .room import in_thread, is_inside  # `threading` costs a start of `check` what it seldom needs

            if is_inside():
                raise
        return in_thread(functools.partial(function, *args, **kwargs))

    return call  # type: ignore[return-value]
