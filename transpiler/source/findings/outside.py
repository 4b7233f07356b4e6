"""Calls that are not NumPy's: builtins and other modules."""

from __future__ import annotations

import ast
from dataclasses import replace

from ..facts.functions import Functions
from ..facts.values import (
    NUMBER,
    UNKNOWN,
    UNSURE,
    Value,
    array,
    copied,
    element_of,
    hangs_on,
    holds_array,
    join_all,
    may_hold_array,
    operated,
)
from ..facts.values import sequence as sequence_of
from ..reading.compiled import is_compiled, is_torch
from ..reading.neighbours import is_neighbour
from .targets import follows_branches, words

_PURE = words("functools itertools operator copy collections typing dataclasses contextlib enum abc types numbers string re json pprint")
_EFFECTS = {
    "time": "error", "datetime": "error", "os": "error", "sys": "warning", "io": "error", "logging": "warning", "warnings": "warning",
    "subprocess": "error", "socket": "error", "pathlib": "error", "pdb": "warning", "shutil": "error", "threading": "error",
    "tempfile": "error",
    "builtins.print": "warning", "builtins.open": "error", "builtins.input": "error", "builtins.exec": "error", "builtins.eval": "error",
    "builtins.breakpoint": "warning",
}  # fmt: skip
_HARMLESS = words(  # of these modules, what only computes with text and numbers
    "os.path.join os.path.basename os.path.dirname os.path.splitext os.path.split os.path.normpath os.path.isabs os.fspath "
    "pathlib.Path pathlib.PurePath pathlib.PurePosixPath datetime.timedelta io.BytesIO io.StringIO sys.getsizeof "
    "threading.Lock threading.RLock threading.local threading.current_thread threading.get_ident"
)
_EXECUTORS = ("concurrent.futures.", "multiprocessing.", "asyncio.", "joblib.")
"""What has functions called in threads, processes and loops of its own."""
_WORKERS = words("ThreadPoolExecutor ProcessPoolExecutor InterpreterPoolExecutor Pool ThreadPool Parallel")
_ITERATES = words("list tuple set frozenset sorted sum map filter enumerate zip iter next reversed all any min max dict")


class Outside(Functions):
    """Builtins and other modules, as check reads them."""

    def builtin(self, e: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        if f"builtins.{name}" in _EFFECTS:
            self.say("side-effect", e, severity_=_EFFECTS[f"builtins.{name}"])
            return UNKNOWN
        arrays = [v for v in args if v.kind in ("array", "text") and v.traced and v.constant is not UNSURE]
        if name in ("float", "int", "bool", "complex", "range", "str", "format", "chr", "slice"):
            if name in ("str", "format"):
                for node, value in zip(e.args, args, strict=False):
                    self.as_text(node, value)
                return Value("text", bool(arrays))
            if any(v.kind == "text" and v.traced for v in args[:1]):
                self.say("python-value", e, f"`{name}(...)` makes a Python value of array values, a constant of the graph")
                return NUMBER
            if follows_branches(self.target) and name in ("float", "int", "bool", "complex"):
                made_of = [*arrays, *(v for v in args if v.kind == "number" and v.traced)]
                return Value("number", bool(made_of), dtype=name, guess=hangs_on(*made_of))
            self.known_number(e.args, args)
            if arrays:
                self.say_of(arrays[0], "python-value", e, f"`{name}(...)` makes a Python value of array values, a constant of the graph")
            return Value("sequence", element=NUMBER) if name == "range" else UNKNOWN if name == "slice" else NUMBER
        if name == "round" and len(args) == 2:
            self.known_number(e.args[:1], args[:1])
        if name in ("repr", "ascii") and args:
            self.as_text(e.args[0], args[0])
            return Value("text", bool(arrays))
        if name in ("bytes", "bytearray", "memoryview") and arrays:
            self.say_of(arrays[0], "python-value", e, f"`{name}(...)` reads the raw buffer of an array, a constant of the graph")
            return UNKNOWN
        if name == "hash" and args:
            self.hashed(e.args[0], args[0])
        if name == "next" and args and any(m.startswith("state ") for m in args[0].memory):
            self.effect(e, ast.unparse(e.args[0]))
        if name in ("abs", "round", "pow", "divmod"):
            return self.made(e, operated("", *args)) if args else UNKNOWN
        if name in ("min", "max") and len(args) > 1:
            if arrays:
                if follows_branches(self.target):
                    return join_all(args)
                data = next((v for v in arrays if not v.guess), arrays[0])
                self.say_of(data, "data-dependent-branch", e, f"`{name}` compares array values in Python", f"use np.{name}imum(a, b)")
                return join_all(args)
            return join_all(args)
        if name in _ITERATES:
            return self.iterating(e, name, args)
        if name == "setattr" and args:
            self.effect(e, "the object")
        if name in ("getattr", "vars", "super", "property"):
            return replace(UNKNOWN, traced=any(a.traced and a.kind == "unknown" for a in args))
        return NUMBER if name in ("len", "isinstance", "hasattr", "callable", "type", "id", "issubclass", "hash") else UNKNOWN

    def iterating(self, e: ast.Call, name: str, args: list[Value]) -> Value:
        """A builtin that walks its arguments in Python."""
        start = 1 if name in ("map", "filter") else 0
        elements = [self.iterated(n, v) for n, v in zip(e.args[start:], args[start:], strict=False)]
        if name in ("set", "frozenset"):
            for node, value in zip(e.args, elements, strict=False):
                self.hashed(node, value)
        if name == "zip":
            return Value("sequence", any(v.traced for v in args), element=sequence_of(elements))
        if name == "enumerate":
            return Value("sequence", any(v.traced for v in args), element=sequence_of([NUMBER, *elements[:1]]))
        if name == "map":
            function = args[0].constant if args else None
            element = replace(UNKNOWN, traced=any(v.traced for v in elements))
            if isinstance(function, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
                element = self.inline(function, elements, {})
            return Value("sequence", True, element=element)
        if name in ("sum", "next", "min", "max"):
            return join_all(elements) if elements else UNKNOWN
        if name in ("any", "all"):
            data = [v for v in elements if v.is_data]
            if data and not args[0].is_array and not follows_branches(self.target):
                self.say_of(data[0], "data-dependent-branch", e)
            return NUMBER
        if name in ("list", "tuple", "reversed") and args and args[0].kind == "sequence":
            return replace(args[0], items=None, element=element_of(args[0])) if name == "reversed" else args[0]
        return Value(
            "sequence", any(v.traced for v in args), element=join_all(elements) if elements else None, items=None if elements else ()
        )

    def foreign(self, e: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A function of another module: traced where it is torch, pure Python or a neighbour; opaque where it is compiled."""
        top = name.split(".")[0]
        every = [*args, *keywords.values()]
        traced = any(v.traced for v in every)
        if top in ("np2fx", "leapp") and name.endswith(".input_tensors"):
            given = e.args[1] if len(e.args) > 1 else None
            count = len(given.values) if isinstance(given, ast.Dict) else 1
            arrays = [array(True, memory=[f"argument {n}"]) for n in range(count)]
            return arrays[0] if count == 1 else sequence_of(arrays)
        if top in ("math", "cmath"):
            if any(v.is_data for v in every):
                if follows_branches(self.target):
                    return Value("number", True, dtype="float")
                data = next(v for v in every if v.is_data)
                self.say_of(data, "python-value", e, f"{name} makes a Python number of an array value", f"use np.{name.rpartition('.')[2]}")
            return replace(NUMBER, dtype="float")
        if name in ("random.seed", "random.getstate", "random.setstate"):
            self.say("random", e, f"{name} works on Python's global generator, which no graph has")
            return UNKNOWN
        if top in ("random", "secrets", "uuid"):
            self.say("random", e)
            return UNKNOWN
        if name.startswith(_EXECUTORS):
            if name.rpartition(".")[2] in _WORKERS:
                return Value("executor")
            if name.rpartition(".")[2] in ("Lock", "RLock", "cpu_count", "current_process"):
                return UNKNOWN
            self.say("opaque-call", e, f"{name} has others compute, out of the tracer's sight", "call the function here")
            return UNKNOWN
        if top in _EFFECTS and name not in _HARMLESS:
            self.say("side-effect", e, f"{name} happens while tracing only", severity_=_EFFECTS[top])
            return UNKNOWN
        if top == "pprint" and args:
            self.as_text(e.args[0], args[0])
        if name == "collections.Counter" and args:
            self.hashed(e.args[0], replace(element_of(args[0]), assumed=args[0].assumed))
        if name in ("copy.copy", "copy.deepcopy") and args:
            return self.made(e, args[0]) if args[0].is_array else copied(args[0], deep=name.endswith("deepcopy"))
        if top == "tqdm" and args:  # shows how far a loop is, and gives what it was given
            return args[0]
        if top in ("functools", "itertools") and any(v.is_array and v.traced and v.rank != 0 for v in args):
            node = next(n for n, v in zip(e.args, args, strict=False) if v.is_array and v.traced)
            self.say("element-iteration", node)
            return Value("unknown", True)
        refusal = self.table.refusal(name)
        if refusal is not None and traced:
            self.say(refusal.finding, e, f"{name}: {refusal.reason}", refusal.hint)
            return UNKNOWN
        handed = [v for v in every if may_hold_array(v)]
        if is_compiled(name) and handed:
            if not any(holds_array(v) for v in handed):
                self.say("opaque-call", e, f"if {name} is given an array, its result becomes a constant", severity_="warning")
            else:
                self.say("opaque-call", e, f"{name} cannot be traced: its result becomes a constant")
            return UNKNOWN
        if is_torch(name) or top in ("np2fx", "leapp", "einops", *_EFFECTS) or top in _PURE or not traced:
            return Value("unknown", traced)
        if is_neighbour(name, self.path, self.root):
            found = self.neighbour(e, name, args, keywords)
            return found if found is not None else Value("unknown", traced)
        if not any(holds_array(v) for v in handed):
            return Value("unknown", traced)
        self.say("opaque-call", e, f"if {name} is not plain NumPy, its result becomes a constant", severity_="warning")
        return Value("unknown", traced)
