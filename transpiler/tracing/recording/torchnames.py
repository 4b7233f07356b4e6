"""Torch's functions by what a trace makes of them: those that tell of a tensor, that give its values away, that draw, that no graph has."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..errors import error

METADATA = frozenset((
    "dim", "size", "numel", "nelement", "ndimension", "stride", "storage_offset", "is_complex", "is_floating_point", "is_signed",
    "is_conj", "is_neg", "is_inference", "is_contiguous", "element_size", "data_ptr", "untyped_storage", "get_device", "is_same_size",
    "__len__", "__hash__", "__repr__", "is_tensor", "is_storage", "result_type", "promote_types", "can_cast", "finfo", "iinfo",
    "is_nonzero_static", "__format__", "__reduce_ex__", "get_default_dtype", "broadcast_shapes", "retain_grad", "register_hook",
    "is_set_to", "__dir__", "is_shared", "has_names", "__dlpack_device__", "is_pinned", "is_coalesced", "sparse_dim", "dense_dim",
    "dim_order", "is_distributed", "_is_view",
))  # fmt: skip
"""Functions that tell of a tensor without reading it."""

SIZES = frozenset(("size", "numel", "nelement", "__len__", "stride"))
LAYOUTS = frozenset(("stride", "is_contiguous", "storage_offset", "data_ptr", "untyped_storage", "is_set_to", "dim_order"))

VALUES = frozenset((
    "item", "tolist", "__float__", "__int__", "__index__", "__complex__", "is_nonzero", "equal", "allclose", "__contains__",
))  # fmt: skip
"""Functions that give values away as Python objects. `__bool__` is a branch."""

GETTERS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "T": lambda x: torch.permute(x, tuple(range(x.ndim))[::-1]),
    "mT": lambda x: torch.transpose(x, -2, -1),
    "H": lambda x: torch.conj(torch.transpose(x, -2, -1)),
    "mH": lambda x: torch.conj(torch.transpose(x, -2, -1)),
    "real": torch.real,
    "imag": torch.imag,
    "data": torch.detach,
}
"""Attributes that are tensors, as the calls they stand for."""

RANDOM = frozenset((
    "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli", "multinomial", "normal", "poisson",
    "dropout", "feature_dropout", "alpha_dropout", "rrelu", "uniform_", "normal_", "random_", "bernoulli_",
))  # fmt: skip
_TEXT = "python-value", "text of a tensor of the graph", "return the tensor and make text of it outside"
_PICKLED = "python-value", "a tensor of the graph is pickled (as copy.copy does)", "copy it: t.clone(), or t.detach() for the same memory"
_MEMORY = "opaque-call", "the memory of a tensor of the graph is handed out", "stay with functions of torch, or split the node here"
_EACH = "python-value", "a function of Python's is called for each element of a tensor", "use functions of torch"
_GIVEN = "mutation", "a tensor is given the memory of another", "copy the values: t.copy_(u), or bind the name to the other tensor"

REFUSED = {
    **dict.fromkeys(("__repr__", "__str__", "__format__"), _TEXT),
    **dict.fromkeys(("__reduce_ex__", "__reduce__", "__setstate__"), _PICKLED),
    **dict.fromkeys(("untyped_storage", "storage", "_typed_storage", "data_ptr", "__dlpack__", "__cuda_array_interface__"), _MEMORY),
    **dict.fromkeys(("apply_", "map_", "map2_"), _EACH),
    **dict.fromkeys(("set_", "share_memory_", "module_load"), _GIVEN),
}
"""Functions that no graph has: finding, message and hint."""


def refuse_random(name: str, always: bool = False) -> None:
    """Raise TraceError for functions that draw random numbers."""
    if always or name in RANDOM:
        raise error("random", f"torch.{name} draws new numbers each time, a graph would repeat these", "pass the random numbers in")


def _value_of(name: str, asking: str) -> tuple[str, str]:
    """What is said of a value that is asked for, in the user's words, and the way out."""
    if asking.endswith(("__getitem__", "__setitem__")):
        hint = "index with arrays, x[i + np.arange(3)], or mask: np.where(np.arange(n) < k, x, 0)"
        return "a slice takes its bounds, which hang on values, out of the graph", hint
    if asking:
        return f"{asking}: a size, a count or an axis hangs on values, and has to be known when the graph is made", _KNOWN
    if name == "__index__":
        return "an index, a count or a bound that hangs on values has to be known when the graph is made", _KNOWN
    what = {"__int__": "int(...)", "__float__": "float(...)", "__complex__": "complex(...)", "__contains__": "in"}.get(name, f".{name}()")
    return f"`{what}` makes a Python value of a tensor of the graph", "keep it a tensor: a tensor without dimensions computes like a number"


_KNOWN = "pass the number in as an argument, or compute with arrays of a fixed size and a mask: np.where(np.arange(n) < k, x, 0)"


def refuse_values(name: str, asking: str = "") -> None:
    """Raise TraceError for functions that give values away as Python objects. `asking` is the NumPy function whose rule does so."""
    if name in ("__bool__", "is_nonzero"):
        raise error(
            "data-dependent-branch",
            "a branch hangs on a value that is only known when the graph runs",
            "use np.where to choose between values, or split the node here",
        )
    if name in VALUES:
        raise error("python-value", *_value_of(name, asking))
    if name == "__array__":
        raise error("opaque-call", "a NumPy function meets a torch tensor of the trace", "call .numpy() on the tensor first")
