"""The rewritten files of a project as modules beside the modules that are loaded: under the same names, in `sys.modules` only while
something of theirs runs.

All modules of the project are loaded anew, rewritten or not, as they hold functions of each other. Code of theirs runs `entered`:
what it imports at a call is of their kind.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import importlib.machinery
import importlib.util
import inspect
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from ...arrays.ways import always_on_torch
from ...codemod.texts import files_around, rewritten_texts
from ...semantics import table
from ...source.reading.project import root_of
from ...support import own_rules
from ...tracing.errors import is_library
from ..comparing.comparison import Tolerance, difference
from . import loading

_EXACTLY = Tolerance(0.0, 0.0, kinds=True)
_loading: list[World] = []
"""The worlds that are being loaded: what verifies at the top of a module is not to load it once more."""


class WorldError(Exception):
    """A rewritten file that cannot be loaded. `finding`: the name, message, hint and severity of the finding that says so.

    as_it_is  whether the file can be loaded once more as it is: then it is the rewriting that is at fault"""

    def __init__(self, as_it_is: bool, path: str, error: BaseException) -> None:
        said = f"{type(error).__name__}: {error}"
        super().__init__(f"{path}: {said}")
        if as_it_is:
            self.finding: tuple[Any, ...] = ("mismatch", f"the rewritten file cannot be imported: {said}")
        else:
            hint = "make the file importable twice in one process"
            message = f"what rewriting makes of the file is not tried, as the file cannot be imported a second time: {said}"
            self.finding = ("not-rewritten", message, hint, "note")


@functools.cache
def _real(file: str) -> str:
    """The real path of a loaded module's file. There are thousands, in few folders."""
    return os.path.realpath(file) if os.path.islink(file) else os.path.join(_real_folder(os.path.dirname(file)), os.path.basename(file))


_real_folder = functools.lru_cache(maxsize=None)(os.path.realpath)


class World:
    """A project's modules with the texts of `texts` (by real path) in place of their files'. `folders`: where the project's modules lie."""

    def __init__(self, texts: Mapping[str, str], folders: Sequence[str]) -> None:
        self.texts = dict(texts)
        self.folders = tuple(os.path.realpath(folder) + os.sep for folder in folders)
        self.modules: dict[str, ModuleType] = {}
        self._theirs: list[str] = []
        self._looked_at = -1
        self._depth = 0
        self._ruled: tuple[int, frozenset[str]] = (-1, frozenset())
        self._finder = _Finder(self)

    def module(self, name: str, path: str) -> ModuleType:
        """A module of this world: by its name, else by its file. Raises WorldError."""
        if name in self.modules:
            return self.modules[name]
        _loading.append(self)
        try:
            with self.entered():
                try:
                    return importlib.import_module(name)
                except ModuleNotFoundError as e:
                    if e.name != name:
                        raise
                    return loading.load_module(path)
        except (Exception, SystemExit) as e:
            why = e.__cause__ if isinstance(e, loading.LoadError) and e.__cause__ is not None else e
            raise WorldError(self._loads_as_it_is(name, path), path, why) from e
        finally:
            _loading.pop()

    def _loads_as_it_is(self, name: str, path: str) -> bool:
        """Whether a module can be loaded once more without any rewriting."""
        if not self.texts:
            return False
        try:
            World({}, self.folders).module(name, path)
        except WorldError:
            return False
        return True

    def take_over(self) -> None:
        """Give the variables of the modules the values that they have in the modules that are loaded: somebody may have set them since.

        Functions, classes and modules stay what they are here."""
        for name, module in self.modules.items():
            theirs = sys.modules.get(name)
            for variable, value in list(vars(theirs).items()) if theirs is not None else ():
                if variable.startswith("__") or isinstance(value, (FunctionType, type, ModuleType)) or callable(value):
                    continue
                if difference(value, vars(module).get(variable), _EXACTLY) is not None:
                    with contextlib.suppress(Exception):  # what allows no copy
                        vars(module)[variable] = self.adopted(copy.deepcopy(value))

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """This world's modules are the ones that an import finds."""
        if self._depth:
            yield
            return
        if len(sys.modules) != self._looked_at:
            self._theirs = [n for n, m in list(sys.modules.items()) if self._is_ours(m)]
            self._looked_at = len(sys.modules)
        held = {n: sys.modules.pop(n) for n in self._theirs if n in sys.modules}
        sys.modules.update(self.modules)
        known = len(sys.modules)
        sys.meta_path.insert(0, self._finder)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            sys.meta_path.remove(self._finder)
            if len(sys.modules) != known:
                self.modules.update({n: m for n, m in list(sys.modules.items()) if self._is_ours(m)})
            for name in self.modules:
                sys.modules.pop(name, None)
            sys.modules.update(held)

    def _is_ours(self, module: Any) -> bool:
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or module.__name__ == "__main__":
            return False
        if module.__name__ in self._with_rules() and _real(file) not in self.texts:
            return False
        return _real(file).startswith(self.folders) and not is_library(file)

    def _with_rules(self) -> frozenset[str]:
        """The modules of rules, and those whose functions have rules of the project's own, which are found by the functions themselves."""
        names = {*table.RULES, *table.REFUSALS, *(f"{name}.x" for name in own_rules.used())}
        if len(names) != self._ruled[0]:
            own = (name for name in names if not name.startswith("numpy."))
            self._ruled = len(names), frozenset(name.rpartition(".")[0] for name in own)
        return self._ruled[1]

    def loader_of(self, name: str, file: str) -> _Loader | None:
        """What loads a file of another text; None for other files."""
        text = self.texts.get(os.path.realpath(file))
        return None if text is None else _Loader(name, file, text)

    def twin(self, x: Any) -> Any:
        """The class or function of this world that has the module and the name of `x`; `x` itself where there is none."""
        module = self.modules.get(getattr(x, "__module__", None) or "")
        found = None if module is None else named(module, getattr(x, "__qualname__", ""))
        return x if found is None else found

    def adopted(self, x: Any, seen: dict[int, Any] | None = None) -> Any:
        """`x`, whose objects of the project's classes are made objects of this world's, where they stand."""
        seen = {} if seen is None else seen
        if isinstance(x, (FunctionType, type)):
            return self.twin(x)
        if id(x) in seen:
            return x
        kind = type(x)
        if kind is tuple:
            parts = tuple(self.adopted(i, seen) for i in x)
            return x if all(a is b for a, b in zip(parts, x, strict=True)) else parts
        items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
        if items or hasattr(x, "__dict__"):
            seen[id(x)] = x
        for key, item in list(items):
            new = self.adopted(item, seen)
            if new is not item:
                x[key] = new
        if (kind.__module__ or "") in self.modules:
            with contextlib.suppress(TypeError):  # of another layout: it stays what it is
                x.__class__ = self.twin(kind)
            for name, item in list(getattr(x, "__dict__", {}).items()):
                new = self.adopted(item, seen)
                if new is not item:
                    vars(x)[name] = new
        return x

    def function(self, path: str, expression: str) -> Form:
        """A function of a file, written as in its module ("act", "Policy().act"), as it is called from outside."""
        name = loading.module_name(path)
        module = self.module(name, path)
        with self.entered():
            return Form(self, eval(expression, {**vars(module), "importlib": importlib}))

    def form_of(self, fn: Callable[..., Any]) -> Form | None:
        """What `fn` is in this world. None where it has none of its own: it is no function of a module, or one that only rewritten
        functions may call."""
        if isinstance(fn, functools.partial):
            inner = self.form_of(fn.func)
            return None if inner is None else Form(self, functools.partial(inner.function, *fn.args, **fn.keywords))
        owner = getattr(fn, "__self__", None) if inspect.ismethod(fn) else fn if not isinstance(fn, FunctionType) else None
        found = self._named(fn) if owner is None or isinstance(owner, type) else self._of_object(fn, owner)
        return None if found is None or not is_for_callers(fn, found) else Form(self, found)

    def _named(self, fn: Any) -> Any:
        module = self._module_of(fn)
        qualname = getattr(fn, "__qualname__", "")
        if module is None or named(sys.modules[module.__name__], qualname) != fn:
            return None
        return named(module, qualname)

    def _of_object(self, fn: Any, owner: Any) -> Any:
        """The method of a copy of an object, or the copy itself where it is called."""
        if self._module_of(type(owner)) is None:
            return None
        try:
            twin = self.adopted(copy.deepcopy(owner))
        except Exception:
            return None
        return twin if fn is owner else getattr(twin, fn.__name__, None)

    def _module_of(self, x: Any) -> ModuleType | None:
        name = getattr(x, "__module__", None) or ""
        known = sys.modules.get(name)
        if known is None or not self._is_ours(known):
            return None
        return self.module(name, known.__file__ or "")


class Form:
    """A function of a world, for callers outside: they hand it NumPy's arrays, and objects of the classes that they know."""

    def __init__(self, world: World, function: Callable[..., Any]) -> None:
        self.world, self.function = world, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self.world.entered(), always_on_torch():
            args, kwargs = self.world.adopted(args), self.world.adopted(kwargs)
            return self.function(*args, **kwargs)

    def of_object(self, name: str) -> Form:
        """Another method of the object whose method this is."""
        return Form(self.world, getattr(self.function.__self__, name))  # type: ignore[attr-defined]

    def asking(self, name: str) -> Form:
        """What asks the object whose method this is for an attribute."""
        return Form(self.world, functools.partial(getattr, self.function.__self__, name))  # type: ignore[attr-defined]


def named(module: ModuleType, qualname: str) -> Any:
    """What a qualified name means in a module; None for nothing."""
    found: Any = module
    for part in qualname.split(".") if qualname else ():
        found = getattr(found, part, None)
    return None if found is module else found


def is_for_callers(before: Any, now: Any) -> bool:
    """Whether what a function has become may be called from outside, and is to be: it has a boundary, or is what it was and no node, which
    would have been rewritten if that could be done."""
    inner = [inspect.unwrap(getattr(f, "__func__", f)) for f in (before, now)]
    if hasattr(now, "__np2fx_rewritten__") or not all(isinstance(f, FunctionType) for f in inner):
        return True
    return not hasattr(now, "__np2fx_spec__") and _same_code(inner[0].__code__, inner[1].__code__)


def _same_code(a: Any, b: Any) -> bool:
    """Whether two code objects do the same, wherever they stand."""
    if not isinstance(a, type(is_for_callers.__code__)):
        return type(a) is type(b) and repr(a) == repr(b)
    if not isinstance(b, type(a)) or (a.co_code, a.co_names, a.co_varnames) != (b.co_code, b.co_names, b.co_varnames):
        return False
    return len(a.co_consts) == len(b.co_consts) and all(map(_same_code, a.co_consts, b.co_consts))


class _Finder:
    """Finds the modules whose files have other texts."""

    def __init__(self, world: World) -> None:
        self.world = world

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        loader = self.world.loader_of(name, spec.origin) if spec is not None and spec.origin else None
        if loader is None or spec is None or spec.origin is None:
            return None
        return importlib.util.spec_from_file_location(
            name, spec.origin, loader=loader, submodule_search_locations=spec.submodule_search_locations
        )


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a text as if it stood in the file. Its functions have a file name of their own, whose lines are the text's."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text, self.shown = text, f"{path} (rewritten)"

    def get_code(self, fullname: str) -> Any:
        linecache.cache[self.shown] = (len(self.text), None, self.text.splitlines(keepends=True), self.shown)
        return compile(self.text, self.shown, "exec", dont_inherit=True)

    def get_source(self, fullname: str) -> str:
        return self.text


def rewritten(*paths: str) -> World:
    """The project's files as `np2fx rewrite PATHS` would leave them."""
    return world_of(rewritten_texts(paths), paths)


def world_of(texts: Mapping[str, str], paths: Sequence[str]) -> World:
    """The world of a project's files with other texts; `paths` are files and folders of the project."""
    return World(texts, list(dict.fromkeys(_root(path) for path in paths)))


def _root(path: str) -> str:
    """The folder that holds the modules of a path's project."""
    return root_of(os.path.join(path, "x.py") if os.path.isdir(path) else path)


FORM_AROUND = ("from np2fx.verifying.inputs.world import form_around", "torch_fn = form_around(fn)")
"""The lines of a script that make a form as `form_around` does."""


def form_around(fn: Callable[..., Any]) -> Form | None:
    """What `fn` is where its file, and those of its project that it imports, are rewritten. None where nothing is, where the file is a
    script that runs, and for a verification that a module does while it is loaded. Raises WorldError."""
    inner = fn.func if isinstance(fn, functools.partial) else inspect.unwrap(getattr(fn, "__func__", fn))
    named_in = getattr(inner, "__module__", None) if hasattr(inner, "__qualname__") else type(fn).__module__
    known = sys.modules.get(named_in or "")
    file = getattr(known, "__file__", None)
    if _loading or known is None or known.__name__ == "__main__" or not isinstance(file, str) or not os.path.isfile(file):
        return None
    if is_library(file):
        return None
    world = _around(os.path.realpath(file), os.stat(file).st_mtime_ns)
    if not world.texts:
        return None
    world.module(known.__name__, file)
    world.take_over()
    return world.form_of(fn)


@functools.lru_cache(maxsize=16)
def _around(file: str, changed: int) -> World:
    """Kept, as a file has many nodes. `changed` is when it was written."""
    return rewritten(*files_around(file))
