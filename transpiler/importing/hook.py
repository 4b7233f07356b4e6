"""`np2fx.install` and `np2fx.converted`: an import hook that serves modules as `np2fx rewrite` would write them, and touches no file.

What was rewritten is kept in the user's cache folder, by the file's content, its configuration and np2fx's version."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import hashlib
import importlib
import linecache
import os
import sys
import types
import weakref
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

from ..source.findings.finding import Finding
from ..source.reading import files
from ..source.reading.config import Config, load_config
from ..source.reading.signatures import FILE, root_above
from ..source.reading.table import cache_folder, module_file, own_files

_KEPT = 256
"""So many of the latest texts are kept on disk."""


class Hook(MetaPathFinder):
    """Finds the modules of these names as rewritten ones.

    names     patterns of module names, `pkg.module` or `pkg.*`; a name stands for what is below it too. None are all of the project's
    findings  what was said of those that were imported, by their files"""

    def __init__(self, names: Sequence[str], all_functions: bool, root: str | None = None) -> None:
        self.names, self.all_functions, self.root = tuple(names), all_functions, root
        self.findings: dict[str, list[Finding]] = {}

    def takes(self, name: str) -> bool:
        """Whether a module is one of those."""
        return not self.names or any(fnmatch.fnmatchcase(name, p) or name.startswith(f"{p}.") for p in self.names)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None) -> ModuleSpec | None:
        """The module as Python finds it, with a loader that rewrites its text. None for other modules, and for what has no text."""
        if not self.takes(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None or not self._is_ours(spec.origin):
            return None
        spec.loader = _Loader(fullname, spec.origin, self)
        return spec

    def _is_ours(self, path: str) -> bool:
        path = os.path.realpath(path)
        if self.root is not None and not path.startswith(os.path.realpath(self.root) + os.sep):
            return False
        return bool(self.names) or "site-packages" not in path.split(os.sep)

    def text_of(self, data: bytes, path: str) -> bytes:
        """A module's text as it is rewritten; as it is where nothing is."""
        from .. import __version__
        from ..codemod.rewrite import rewrite_source
        config = load_config(path)
        if not self.all_functions and not files.mentions(data, config.markers()):
            return data
        parts = (__version__, repr(_code()), repr(self.all_functions), _said(config), os.path.realpath(path), repr(_recorded(path)))
        key = hashlib.sha256("\0".join(parts).encode() + data).hexdigest()
        kept = _kept(key)
        if kept is not None:
            return kept
        new, self.findings[path] = rewrite_source(data, path, config, all_functions=self.all_functions)
        _keep(key, new)
        return new  # type: ignore[no-any-return]


class _Loader(SourceFileLoader):
    """Python's own loader, but for the text. Bytecode is made each time: Python's cache is for the text that is in the file."""

    def __init__(self, fullname: str, path: str, hook: Hook) -> None:
        super().__init__(fullname, path)
        self.hook = hook

    def get_code(self, fullname: str) -> types.CodeType:
        data = self.get_data(self.path)
        new = self.hook.text_of(data, self.path)
        shown = self.path
        if new != data:  # its lines are others than those of the file
            shown = f"<np2fx {self.path}>"
            text = files.decode(new, self.path).text
            linecache.cache[shown] = (len(text), None, text.splitlines(keepends=True), shown)
        return compile(new, shown, "exec", dont_inherit=True)

    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        weakref.finalize(module, linecache.cache.pop, f"<np2fx {self.path}>", None)


def loader_of(name: str, path: str, hook: Hook) -> _Loader:
    """What loads the module of this name from a file, as the hook has it rewritten."""
    return _Loader(name, path, hook)


def install(*names: str, all_functions: bool | None = None) -> Hook:
    """Serve modules as `np2fx rewrite` would write them, from now on: those of these names (`pkg.module`, `pkg.*`) and what is below them,
    with all their functions; without names all of the project's, with the functions that are nodes.

    Modules that were imported before stay as they are. Returns the hook: its `findings` say what was refused. Raises ValueError where a
    module of such a name has been imported already."""
    hook = Hook(names, bool(names) if all_functions is None else all_functions)
    before = [n for n in sys.modules if names and hook.takes(n)]
    if before:
        raise ValueError(f"{before[0]} has been imported already; call np2fx.install before it is, or use np2fx.converted")
    sys.meta_path.insert(0, hook)
    importlib.invalidate_caches()
    return hook


def uninstall(hook: Hook) -> None:
    """Serve modules as they are again. Those that were imported stay rewritten."""
    with contextlib.suppress(ValueError):
        sys.meta_path.remove(hook)


@contextlib.contextmanager
def converted(*names: str) -> Iterator[Any]:
    """Within, these modules (and what is below them) are imported anew, as `np2fx rewrite --all-functions` would write them.

        with np2fx.converted("pkg.features") as features:
            features.normalise(tensor)

    Gives the module, a tuple for more than one. Afterwards `sys.modules` holds what it held; modules that others have imported from them
    before are theirs as they were."""
    hook = Hook(names, True)
    before = {n: m for n, m in sys.modules.items() if hook.takes(n)}
    for n in before:
        del sys.modules[n]
    sys.meta_path.insert(0, hook)
    parents = {n: vars(sys.modules[n.rpartition(".")[0]]) for n in before if n.rpartition(".")[0] in sys.modules}
    try:
        modules = tuple(map(importlib.import_module, names))
        yield modules[0] if len(modules) == 1 else modules
    finally:
        uninstall(hook)
        for n in [n for n in sys.modules if hook.takes(n)]:
            del sys.modules[n]
        sys.modules.update(before)
        for n, parent in parents.items():
            parent[n.rpartition(".")[2]] = before[n]


def _said(config: Config) -> str:
    own = [_stamp(module_file(m, config.root)) for m in config.rules]
    return repr((sorted((k, repr(v)) for k, v in vars(config).items()), own))


@functools.cache
def _code() -> tuple[Any, ...]:
    """np2fx itself: its rules and what rewrites by them."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [found for part in ("codemod", "source") for found in os.walk(os.path.join(package, part))]
    own = [os.path.join(folder, name) for folder, _, names in folders for name in names if name.endswith(".py")]
    return tuple(map(_stamp, sorted([*own, *own_files()])))


def _recorded(path: str) -> tuple[int, int] | None:
    """What `np2fx record` has seen of the project's functions, which the text hangs on too."""
    root = root_above(os.path.dirname(os.path.realpath(path)))
    return None if root is None else _stamp(os.path.join(root, FILE))


def _stamp(file: str) -> tuple[int, int]:
    status = os.stat(file)
    return status.st_mtime_ns, status.st_size


def _folder() -> str:
    return os.path.join(cache_folder(), "converted")


def _kept(key: str) -> bytes | None:
    try:
        with open(os.path.join(_folder(), key), "rb") as file:
            return file.read()
    except OSError:
        return None


def _keep(key: str, text: bytes) -> None:
    """Write a text to the cache, and drop the oldest; a folder that cannot be written costs time alone."""
    try:
        os.makedirs(_folder(), exist_ok=True)
        files.write(os.path.join(_folder(), key), text)
        entries = sorted(os.scandir(_folder()), key=lambda e: e.stat().st_mtime)
        for entry in entries[:-_KEPT]:
            os.unlink(entry.path)
    except OSError:
        return
