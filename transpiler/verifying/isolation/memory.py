"""A limit on the memory that a block of code may take."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

STATM = "/proc/self/statm"


def can_limit() -> bool:
    """Whether this system says how large a process is and keeps it from growing: Linux does."""
    return resource is not None and _size() is not None


def _size() -> int | None:
    """The address space of this process in bytes."""
    try:
        with open(STATM, encoding="ascii") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None


@contextlib.contextmanager
def limited(megabytes: float) -> Iterator[None]:
    """Lets the process grow by so many MB: an allocation beyond raises MemoryError. 0, or a system that cannot: no limit."""
    size = _size() if megabytes and resource is not None else None
    if size is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = size + int(megabytes * 2**20)
    if soft != resource.RLIM_INFINITY:
        wanted = min(wanted, soft)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
