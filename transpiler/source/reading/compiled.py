"""The packages that compute in compiled code: what they make of an array's buffer no graph sees; and the functions of the user's that
they compile (`@numba.njit`), which take NumPy's arrays alone."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from ..findings.targets import words
from .walking import walk

if TYPE_CHECKING:
    from .nodes import Function
    from .project import Parsed, Project

_PACKAGES = words(
    "scipy cv2 numba PIL skimage sklearn pandas polars jax jaxlib tensorflow cupy numexpr shapely librosa soundfile torchvision open3d "
    "pyproj pinocchio mujoco casadi cvxpy osqp networkx h5py bottleneck xarray imageio matplotlib trimesh"
)
_OF_TORCH = ("torch.", "torchvision.ops.", "torchvision.models.")
"""What takes tensors alone, and is torch to whoever calls it."""
_COMPILERS = words("numba jax cython Cython tensorflow taichi warp triton pythran transonic pyccel cupyx torch.jit")
"""What makes compiled functions of Python's, as decorators or called with them."""
_OTHER_THAN_COMPILERS = (
    "numba.typed",
    "numba.types",
    "jax.numpy",
    "jax.random",
    "jax.tree",
    "jax.scipy",
    "tensorflow.keras",
    "tensorflow.math",
)
"""Names in these packages that take a function of the user's, or stand as a decorator, and compile nothing."""


def is_compiled(name: str) -> bool:
    """Whether a dotted name is such a package's."""
    return name.partition(".")[0] in _PACKAGES and not is_torch(name)


def is_torch(name: str) -> bool:
    return name.startswith(_OF_TORCH)


class CompiledFunctions:
    """The functions of a project that are compiled, and those that hand on to such what they are given."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._speaking: dict[Parsed, bool] = {}
        self._handed: dict[Parsed, dict[ast.AST, str]] = {}
        self._through: dict[ast.AST, tuple[ast.Call, str] | None] = {}

    @cached_property
    def _are_any(self) -> bool:
        return any(self._speaks(p) for path in self.project.with_words(_WORDS) if (p := self.project.parsed(path)) is not None)

    def _speaks(self, parsed: Parsed) -> bool:
        if parsed not in self._speaking:
            self._speaking[parsed] = any(parsed.has_word(word) for word in _WORDS)
        return self._speaking[parsed]

    def compiler(self, parsed: Parsed, function: Function) -> str:
        """What compiles a function ("numba.njit"), "" where nothing does."""
        if not self._are_any:
            return ""
        found = (self._of_decorator(parsed, d) for d in function.decorator_list)
        return next(filter(None, found), "") or self._handed_over(parsed).get(function, "")

    def called(self, parsed: Parsed, function: Function) -> tuple[ast.Call, str] | None:
        """The first call in a function by which something reaches compiled code, and what is said of it."""
        if not self._are_any:
            return None
        if function not in self._through:
            self._through[function] = None  # of a circle, the others decide
            self._through[function] = self._find_call(parsed, function)
        return self._through[function]

    def _find_call(self, parsed: Parsed, function: Function) -> tuple[ast.Call, str] | None:
        for call in (n for s in function.body for n in walk(s) if isinstance(n, ast.Call)):
            if all(isinstance(a, ast.Constant) for a in [*call.args, *(k.value for k in call.keywords)]):
                continue
            shown = ast.unparse(call.func)
            if (compiler := self._of_value(parsed, call.func)) != "":
                return call, f"`{shown}` is compiled by {compiler}, and takes NumPy's arrays alone"
            home, callee = self._callee(parsed, function, call.func) or (parsed, None)
            if callee is None or callee is function:
                continue
            if (compiler := self.compiler(home, callee)) != "":
                return call, f"`{shown}` is compiled by {compiler}, and takes NumPy's arrays alone"
            if self.called(home, callee) is not None:
                return call, f"`{shown}` hands arrays to compiled code, which takes NumPy's alone"
        return None

    def _callee(self, parsed: Parsed, function: Function, func: ast.expr) -> tuple[Parsed, Function] | None:
        definition = parsed.names.definition(func)
        if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return parsed, definition
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls"):
            owner = parsed.functions.get(function, ("", False))[0].rpartition(".")[0]
            own = [f for f, (name, method) in parsed.functions.items() if method and owner and name == f"{owner}.{func.attr}"]
            return (parsed, own[-1]) if own else None
        qualified = parsed.names.qualified(func)
        found = self.project.find(qualified, parsed.path, stubs=True) if qualified is not None else None
        return (found[0], found[1]) if found is not None else None

    def _handed_over(self, parsed: Parsed) -> dict[ast.AST, str]:
        """The functions of a module that its text hands to a compiler: `fast = numba.njit(slow)`."""
        if parsed not in self._handed:
            found: dict[ast.AST, str] = {}
            self._handed[parsed] = found
            for n in walk(parsed.tree) if self._speaks(parsed) else ():
                if isinstance(n, ast.Call) and n.args and (compiler := self._of_decorator(parsed, n.func)):
                    found |= {f: compiler for a in n.args if (f := parsed.names.definition(a)) is not None}
        return self._handed[parsed]

    def _of_decorator(self, parsed: Parsed, e: ast.expr) -> str:
        """The compiler that a decorator is: `@njit`, `@njit(cache=True)`, `@partial(jax.jit, ...)`, `@fast` of `fast = jit(...)`."""
        if isinstance(e, ast.Call):
            return next(filter(None, (self._of_decorator(parsed, f) for f in (e.func, *e.args[:1]))), "")
        if not isinstance(e, (ast.Name, ast.Attribute)):
            return ""
        name = parsed.names.qualified(e) or self._one_of(parsed, e)
        return name if _is_compiler(name) else self._of_value(parsed, e, decorator=True)

    def _of_value(self, parsed: Parsed, e: ast.expr, decorator: bool = False) -> str:
        """The compiler whose product a name of the module is: `fast = numba.njit(slow)`."""
        if not isinstance(e, ast.Name) or not self._speaks(parsed) or not parsed.names.is_global_variable(e):
            return ""
        assigned = [s for s in walk(parsed.tree) if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)]
        made = [s.value for s in assigned for t in s.targets if isinstance(t, ast.Name) and t.id == e.id]
        return next(filter(None, (self._of_decorator(parsed, m.func) for m in made if decorator or m.args)), "")  # type: ignore[attr-defined]

    def _one_of(self, parsed: Parsed, e: ast.expr) -> str:
        """What a name may be: `try: from numba import njit`, with something else behind it."""
        bindings = parsed.names.module.bindings.get(e.id, ()) if isinstance(e, ast.Name) else ()
        return next((b.qualified for b in bindings if b.qualified is not None and _is_compiler(b.qualified)), "")


_WORDS = {c.rpartition(".")[2] for c in _COMPILERS}


def _is_compiler(name: str) -> bool:
    return any(name == c or name.startswith(c + ".") for c in _COMPILERS) and not name.startswith(_OTHER_THAN_COMPILERS)
