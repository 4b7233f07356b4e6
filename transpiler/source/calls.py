"""Calls, as check reads them: NumPy functions by the rule table, methods, builtins, and code that cannot be traced.

A mixin of the interpreter; what a NumPy name means comes from the table alone, what comes out of it from its rule's kind.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .names import FunctionNode, Names
from .table import RuleSource, Table
from .targets import RECORDED_BY_LEAPP
from .values import NONE, NUMBER, OBJECT, TEXT, UNKNOWN, Value, array, dtype_name, element_of, join_all, operated
from .values import sequence as sequence_of

# NumPy names that are no functions on arrays and so have no rule: types to ask for, settings, errors.
_TYPES = frozenset(
    "ndarray dtype generic number integer inexact floating complexfloating signedinteger unsignedinteger ufunc nditer errstate printoptions "
    "finfo iinfo broadcast_shapes result_type promote_types can_cast min_scalar_type common_type issubdtype isdtype isscalar iterable "
    "get_printoptions geterr".split()
)
_SCALARS = frozenset(
    "float16 float32 float64 half single double bool bool_ int8 int16 int32 int64 intc intp int_ long longlong short byte uint8 uint16 "
    "uint32 uint64 uintc uintp uint ulong ulonglong ushort ubyte complex64 complex128 csingle cdouble".split()
)
_NO_TORCH = frozenset(
    "longdouble clongdouble float96 float128 complex192 complex256 str_ bytes_ unicode_ datetime64 timedelta64 void record recarray".split()
)
_DYNAMIC = frozenset(
    "nonzero flatnonzero argwhere unique unique_all unique_counts unique_inverse unique_values extract setdiff1d setxor1d intersect1d union1d "
    "trim_zeros".split()
)
_COMPILED = frozenset(
    "scipy cv2 numba PIL skimage sklearn pandas polars jax jaxlib tensorflow cupy numexpr shapely librosa soundfile torchvision open3d pyproj "
    "pinocchio mujoco casadi cvxpy osqp networkx h5py bottleneck xarray imageio matplotlib trimesh".split()
)
_PURE = frozenset("functools itertools operator copy collections typing dataclasses contextlib enum abc types numbers string re json".split())
_EFFECTS = {
    "time": "error", "datetime": "error", "os": "error", "sys": "warning", "io": "error", "logging": "warning", "warnings": "warning",
    "subprocess": "error", "socket": "error", "pathlib": "error", "pdb": "warning", "shutil": "error", "threading": "error", "tempfile": "error",
    "builtins.print": "warning", "builtins.open": "error", "builtins.input": "error", "builtins.exec": "error", "builtins.eval": "error",
    "builtins.breakpoint": "warning",
}  # fmt: skip
_ITERATES = frozenset("list tuple set frozenset sorted sum map filter enumerate zip iter next reversed all any min max dict".split())
_MUTATORS = frozenset("append extend insert pop popleft appendleft remove clear update add setdefault put write writelines".split())
_LOGGING = frozenset("debug info warning error exception critical log".split())
_DEPTH = 12  # of helpers that call helpers


class Calls:
    """What a call gives, and the findings a call is."""

    if TYPE_CHECKING:
        names: Names
        table: Table
        env: dict[str, Value]
        returns: list[Value]
        globals: set[str]
        stack: list[ast.AST]
        done: dict[tuple[object, ...], Value]
        methods: dict[str, FunctionNode]
        target: str
        root: str
        path: str

        def say(self, name: str, node: ast.AST, message: str = "", hint: str = "", severity_: str | None = None) -> None: ...
        def visit(self, e: ast.expr) -> Value: ...
        def quietly(self, node: ast.expr) -> Value: ...
        def block(self, body: Iterable[ast.stmt]) -> None: ...
        def truth(self, node: ast.expr, value: Value) -> None: ...
        def iterated(self, node: ast.expr, value: Value) -> Value: ...
        def write(self, target: ast.expr, owner: Value, value: Value) -> None: ...
        def effect(self, node: ast.AST, what: str) -> None: ...
        def made(self, e: ast.AST, value: Value) -> Value: ...
        def parameters(self, function: FunctionNode | ast.Lambda, declared: dict[str, str], in_class: bool = False) -> dict[str, Value]: ...

    def visit_Call(self, e: ast.Call) -> Value:
        qualified = self.names.qualified(e.func)
        callee = self.names.definition(e.func)
        if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.helper(e, callee)
        if qualified is None and isinstance(e.func, ast.Attribute):
            return self.method(e, e.func)
        args, keywords = self.arguments(e)
        if qualified is None:
            function = self.visit(e.func)
            if function.kind == "function" and isinstance(function.constant, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef)):
                return self.inline(function.constant, args, keywords)
            return Value("unknown", any(v.traced for v in (*args, *keywords.values())))
        if qualified in self.table.rules or qualified.startswith("numpy."):
            return self.numpy(e, qualified, args, keywords)
        if qualified.startswith("builtins."):
            return self.builtin(e, qualified.partition(".")[2], args, keywords)
        return self.foreign(e, qualified, args, keywords)

    def arguments(self, e: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        """The values of a call's arguments; `*args` stands as one sequence, `**kwargs` as ""."""
        return [self.visit(a) for a in e.args], {k.arg or "": self.visit(k.value) for k in e.keywords}

    # Functions of the user's.

    def helper(self, e: ast.Call, function: FunctionNode) -> Value:
        args, keywords = self.arguments(e)
        compiled = [d for d in function.decorator_list if (self.names.qualified(d.func if isinstance(d, ast.Call) else d) or "").split(".")[0] in _COMPILED]
        if compiled and any(v.traced for v in (*args, *keywords.values())):
            self.say("opaque-call", e, f"`{function.name}` is compiled (`@{ast.unparse(compiled[0])}`) and cannot be traced")
            return UNKNOWN
        return self.inline(function, args, keywords)

    def inline(self, function: FunctionNode | ast.Lambda, args: Sequence[Value], keywords: dict[str, Value], bound: bool = False, known: bool = True) -> Value:
        """Walk a function of this module with the values it is called with; its findings stand in its own lines."""
        key = (function, tuple(args), tuple(sorted(keywords.items(), key=lambda k: k[0])))
        if key in self.done:
            return self.done[key]
        if function in self.stack or len(self.stack) > _DEPTH:
            return Value("unknown", any(v.traced for v in (*args, *keywords.values())))
        self.done[key] = UNKNOWN
        nested = isinstance(function, ast.Lambda) or self.names.is_local_function(function)
        outer, returns, globals_ = self.env, self.returns, self.globals
        parameters = self.parameters(function, {}, bound)
        if known:
            parameters.update(_given(function.args, args, keywords, parameters))
        self.env, self.returns, self.globals = {**(outer if nested else {}), **parameters}, [], set()
        self.stack.append(function)
        if isinstance(function, ast.Lambda):
            self.returns.append(self.visit(function.body))
        else:
            self.uninitialised(function.body)
            self.block(function.body)
        self.stack.pop()
        found = join_all(self.returns) if self.returns else NONE
        self.env, self.returns, self.globals = outer, returns, globals_
        self.done[key] = found
        return found

    # NumPy.

    def numpy(self, e: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        every = [*args, *keywords.values()]
        traced = any(v.traced for v in every)
        tail = name.rpartition(".")[2]
        if name.startswith("numpy.random."):
            return self.random(e, name, tail)
        self.dtypes(e, name)
        if tail in _SCALARS and name == f"numpy.{tail}":
            return self.scalar_type(e, tail, args)
        if tail in _NO_TORCH and name == f"numpy.{tail}":
            self.say("unsupported-dtype", e)
            return UNKNOWN
        if name == "numpy.object_":
            self.say("object-dtype", e)
            return UNKNOWN
        rule, method = self.table.rule(name), ""
        if rule is None and self.table.rule(name.rpartition(".")[0]) is not None:
            name, _, method = name.rpartition(".")
            rule = self.table.rules[name]
        if tail in _DYNAMIC or (name == "numpy.where" and len(args) == 1 and not keywords):
            if traced:
                self.say("data-dependent-shape", e, f"the shape of what `{ast.unparse(e.func)}` gives depends on array values")
                many = name in ("numpy.nonzero", "numpy.where") or tail.startswith("unique_")
                return Value("sequence", True, element=array(True)) if many else self.made(e, array(True))
        if rule is None:
            return self.without_rule(e, name, traced)
        if self.target == "leapp" and traced and tail not in RECORDED_BY_LEAPP and rule.kind != "python":
            self.say("unmapped-function", e, f"LEAPP does not record {name}: its result becomes a constant")
        return self.by_rule(e, rule, method, args, keywords)

    def without_rule(self, e: ast.Call, name: str, traced: bool) -> Value:
        refusal = self.table.refusal(name)
        if refusal is not None:
            self.say(refusal.finding, e, f"{name}: {refusal.reason}", refusal.hint)
            return Value("unknown", False)
        tail = name.rpartition(".")[2]
        if tail not in _TYPES and not name.startswith(("numpy.exceptions.", "numpy.testing.", "numpy.typing.")):
            self.say("unmapped-function", e, f"{name} has no torch rule")
            return Value("unknown", False)
        if name.startswith("numpy.testing."):
            self.say("data-dependent-branch", e, f"{name} compares values in Python", "assert outside the node")
        return OBJECT

    def random(self, e: ast.Call, name: str, tail: str) -> Value:
        if tail in ("default_rng", "RandomState", "Generator", "PCG64", "SeedSequence", "Philox", "MT19937"):
            return Value("generator")
        self.say("random", e, f"{name} draws while tracing: the numbers become constants of the graph")
        return UNKNOWN

    def scalar_type(self, e: ast.Call, tail: str, args: list[Value]) -> Value:
        """`np.float32(2)`: a NumPy scalar of a number, a conversion of an array."""
        value = args[0] if args else NUMBER
        self.say("numpy-scalar", e)
        return Value("array", value.traced, value.rank if value.is_array else 0, dtype_name(ast.Name(tail)))

    def dtypes(self, e: ast.Call, name: str) -> None:
        """dtypes that torch lacks, wherever a call says a dtype."""
        said = [k.value for k in e.keywords if k.arg == "dtype"]
        if name.endswith((".astype", ".view", ".dtype")) and e.args:
            said.append(e.args[0])
        elif name in ("numpy.array", "numpy.asarray", "numpy.zeros", "numpy.ones", "numpy.empty") and len(e.args) > 1:
            said.append(e.args[1])
        for node in said:
            qualified = self.names.qualified(node) or ""
            tail = qualified.rpartition(".")[2]
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if qualified in ("builtins.object", "numpy.object_") or text in ("object", "O"):
                self.say("object-dtype", node)
            elif (qualified.startswith("numpy.") and tail in _NO_TORCH) or qualified in ("builtins.str", "builtins.bytes") or isinstance(node, ast.List):
                self.say("unsupported-dtype", node)
            elif text and (text[0] in ">SUMmVGg" or text.lower() in _NO_TORCH or text.startswith(("datetime", "timedelta", "str", "bytes"))):
                self.say("unsupported-dtype", node)

    def by_rule(self, e: ast.Call, rule: RuleSource, method: str, args: list[Value], keywords: dict[str, Value], owner: ast.expr | None = None) -> Value:
        """A call of a function that has a rule: its arguments checked against the rule's parameters, its writes, what it gives."""
        nodes: list[ast.expr] = [*([owner] if owner is not None else []), *e.args]
        bound = self.bound(e, rule, nodes, args, keywords) if not method else {}
        every = [*args, *keywords.values()]
        traced = any(v.traced for v in every)
        if any(k.arg == "signature" for k in e.keywords) and rule.is_ufunc:
            node = next(k for k in e.keywords if k.arg == "signature")
            self.say("unsupported-argument", node.value, "signature= is not supported", "use dtype=")
        out = next((k.value for k in e.keywords if k.arg == "out"), None)
        masked = next((k.value for k in e.keywords if k.arg == "where"), None)
        if rule.is_ufunc and not method and masked is not None and out is None and not _is_true(masked):
            self.say("uninitialised-memory", e, "where= without out= leaves the other elements as the memory held them")
        if out is not None and not (isinstance(out, ast.Constant) and out.value is None):
            value = self.quietly(out)
            for target, held in zip(out.elts, value.items or (), strict=False) if isinstance(out, ast.Tuple) else [(out, value)]:
                self.write(target, held, replace(UNKNOWN, traced=traced))
            return replace(value, traced=value.traced or traced)
        if method == "at" or rule.writes:
            index = 0 if method else next((n for n, p in enumerate(rule.parameters) if p.name == rule.writes), 0)
            if index < len(nodes):
                self.write(nodes[index], args[index], replace(UNKNOWN, traced=traced))
            return NONE
        return self.result(e, rule, method, args, bound, traced)

    def bound(self, e: ast.Call, rule: RuleSource, nodes: list[ast.expr], args: list[Value], keywords: dict[str, Value]) -> dict[str, tuple[ast.expr, Value]]:
        """Parameter to argument. What the rule has no parameter for is a finding."""
        if any(isinstance(n, ast.Starred) for n in nodes) or any(k.arg is None for k in e.keywords):
            return {}
        positional = [p for p in rule.parameters if p.kind in ("positional", "positional-only")]
        found = {p.name: (n, v) for p, n, v in zip(positional, nodes, args, strict=False)}
        if len(nodes) > len(positional) and not any(p.kind == "var-positional" for p in rule.parameters):
            self.say("unsupported-argument", nodes[len(positional)], f"{rule.name} takes {len(positional)} arguments")
        known = {p.name for p in rule.parameters if p.kind in ("positional", "keyword")}
        for keyword in e.keywords:
            if keyword.arg is not None:
                found[keyword.arg] = (keyword.value, keywords[keyword.arg])
                if keyword.arg not in known and not any(p.kind == "var-keyword" for p in rule.parameters):
                    self.say("unsupported-argument", keyword.value, f"the torch rule of {rule.name} has no argument `{keyword.arg}`")
        return found

    def result(self, e: ast.Call, rule: RuleSource, method: str, args: list[Value], bound: dict[str, tuple[ast.expr, Value]], traced: bool) -> Value:
        """What a rule's kind says of its result: rank, dtype, whose memory."""
        first = args[0] if args else UNKNOWN
        if rule.kind == "python":
            return OBJECT if "dtype" in rule.name else NUMBER
        if rule.kind == "arrays":
            return Value("sequence", traced, element=array(traced, memory=first.memory if rule.view else ()), memory=first.memory if rule.view else frozenset())
        dtype = dtype_name(bound["dtype"][0]) if "dtype" in bound else None
        if rule.is_ufunc and method == "reduce":
            return self.made(e, array(traced))
        if rule.is_ufunc:
            numbers = [_as_operand(v) for v in args[:2]]
            found = operated("compare" if rule.options.get("compares") or rule.module.endswith(".logic") and "bitwise" not in rule.name else "", *numbers)
            found = found if found.is_array else array(traced)
            return self.made(e, replace(found, traced=traced, dtype=dtype or (found.dtype if rule.module.endswith((".arithmetic", ".logic")) else _inexact(found.dtype))))
        rank = self.rank(rule, first, bound)
        dtype = dtype or self.made_dtype(rule, first, e, "dtype" in bound)
        value = array(traced, rank, dtype, first.memory if rule.view and first.memory else ())
        return value if value.memory and rank != 0 else self.made(e, value)

    def rank(self, rule: RuleSource, first: Value, bound: dict[str, tuple[ast.expr, Value]]) -> int | None:
        """The rank of a rule's result, where its parameters say it."""
        tail = rule.name.rpartition(".")[2]
        if rule.kind == "reduction" and "cum" not in tail:
            axis, keep = bound.get("axis"), bound.get("keepdims")
            if keep is not None:
                return first.rank
            if axis is None or axis[1].kind == "none":
                return 0
            gone = 1 if axis[1].kind == "number" else len(axis[1].items) if axis[1].items is not None else None
            return None if first.rank is None or gone is None else max(first.rank - gone, 0)
        shape = bound.get("shape") or bound.get("newshape")
        if shape is not None and rule.kind in ("creation", "shape"):
            return 1 if shape[1].kind == "number" else len(shape[1].items) if shape[1].items is not None else None
        if tail in ("arange", "linspace", "logspace", "geomspace", "ravel", "flatten", "concatenate") and first.kind != "array":
            return 1 if tail != "concatenate" else element_of(first).rank
        if tail in ("ravel", "flatten"):
            return 1
        if tail in ("array", "asarray", "ascontiguousarray", "asanyarray", "copy", "astype", "zeros_like", "ones_like", "full_like", "empty_like"):
            return _nested_rank(first)
        if rule.kind == "elementwise":
            ranks = [v.rank if v.is_array else 0 for _, v in bound.values() if v.kind in ("array", "number")]
            return None if any(r is None for r in ranks) else max((r for r in ranks if r is not None), default=None)
        return None

    def made_dtype(self, rule: RuleSource, first: Value, e: ast.Call, said: bool) -> str | None:
        tail = rule.name.rpartition(".")[2]
        if said:
            return None
        if rule.kind == "creation" and tail in ("zeros", "ones", "empty", "eye", "identity", "linspace"):
            return "float64"
        if tail in ("array", "asarray"):
            leaf = first
            while leaf.items:
                leaf = join_all(leaf.items)
            return {"float": "float64", "int": "int64", "bool": "bool"}.get(leaf.dtype or "", leaf.dtype) if leaf.kind in ("number", "array") else None
        if tail == "astype" and e.args:
            return dtype_name(e.args[0])
        if tail in ("sum", "prod", "mean", "std", "var") and (first.dtype or "int").startswith(("int", "uint", "bool")):
            return None
        if tail in ("copy", "reshape", "ravel", "transpose", "flip", "roll", "clip", "squeeze", "sum", "mean", "std", "var", "min", "max"):
            return first.dtype
        return None

    # Methods.

    def method(self, e: ast.Call, func: ast.Attribute) -> Value:
        owner = self.visit(func.value)
        name = func.attr
        if owner.kind == "object" and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls") and name in self.methods:
            args, keywords = self.arguments(e)
            return self.inline(self.methods[name], [owner, *args], keywords, bound=True)
        args, keywords = self.arguments(e)
        traced = owner.traced or any(v.traced for v in (*args, *keywords.values()))
        if owner.kind == "generator" or name in ("standard_normal", "default_rng") or "rng" in ast.unparse(func.value).lower() and not owner.is_array:
            self.say("random", e)
            return UNKNOWN
        if owner.is_array:
            return self.array_method(e, func, owner, args, keywords)
        if owner.kind == "text":
            return TEXT
        if owner.kind in ("sequence", "mapping"):
            self.state(e, func, owner, args)
            return self.container_method(func, owner, args)
        if any(m.startswith("state ") for m in owner.memory):
            if name in _MUTATORS:
                self.effect(e, ast.unparse(func.value))
            elif name in _LOGGING and "log" in ast.unparse(func.value).lower():
                self.say("side-effect", e)
        if owner.kind == "unknown" and name in ("item", "tolist") and owner.traced:
            self.say("python-value", e, f"`.{name}()` makes Python values of array values, constants of the graph")
            return NUMBER
        return Value("unknown", traced)

    def state(self, e: ast.Call, func: ast.Attribute, owner: Value, args: list[Value]) -> None:
        """`HISTORY.append(x)` changes something that outlives the call."""
        if func.attr in _MUTATORS and any(m.startswith("state ") for m in owner.memory) and not isinstance(func.value, ast.Call):
            held = func.value.id if isinstance(func.value, ast.Name) else None
            if held is None or held not in self.env or self.env[held].memory == owner.memory:
                self.effect(e, ast.unparse(func.value))

    def container_method(self, func: ast.Attribute, owner: Value, args: list[Value]) -> Value:
        name = func.attr
        if name in ("append", "extend", "insert", "add") and args and isinstance(func.value, ast.Name):
            new = element_of(args[-1]) if name == "extend" else args[-1]
            held = join_all([element_of(owner), new]) if owner.items or owner.element else new
            memory = owner.memory if any(m.startswith("state") for m in owner.memory) else owner.memory | new.memory
            self.env[func.value.id] = Value("sequence", owner.traced or new.traced, element=held, memory=memory)
            return NONE
        if name == "copy":
            return owner
        if owner.kind == "mapping":
            element = element_of(owner)
            if name == "items":
                return Value("sequence", owner.traced, element=sequence_of([TEXT, element]))
            if name in ("get", "pop", "setdefault"):
                return element
            return Value("sequence", owner.traced, element=element if name == "values" else TEXT)
        return element_of(owner) if name == "pop" else Value("unknown", owner.traced and name not in ("index", "count"))

    def array_method(self, e: ast.Call, func: ast.Attribute, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        name = f"numpy.ndarray.{func.attr}"
        if func.attr in ("item", "tolist") or name not in self.table.rules and func.attr in ("tobytes", "__float__", "__int__", "__bool__"):
            if owner.traced:
                self.say("python-value", e, f"`.{func.attr}()` makes Python values of array values, constants of the graph")
            return NUMBER if func.attr == "item" else Value("unknown", False)
        self.dtypes(e, name)
        if func.attr in _DYNAMIC and owner.traced:
            self.say("data-dependent-shape", e)
            return Value("sequence", True, element=array(True))
        rule = self.table.rules.get(name)
        if rule is not None:
            if self.target == "leapp" and owner.traced and func.attr not in RECORDED_BY_LEAPP and func.attr not in ("astype", "flatten", "ravel"):
                self.say("unmapped-function", e, f"LEAPP does not record ndarray.{func.attr}: its result becomes a constant")
            return self.by_rule(e, rule, "", [owner, *args], keywords, func.value)
        refusal = self.table.refusals.get(name)
        if refusal is not None:
            if refusal.finding == "mutation":
                self.write(func.value, owner, UNKNOWN)
            self.say(refusal.finding, e, f"{name}: {refusal.reason}", refusal.hint)
            return UNKNOWN
        if owner.assumed and isinstance(func.value, ast.Name):  # not an array: it has a method that ndarray has not
            mapping = func.attr in ("items", "keys", "values", "get")
            held = Value("mapping" if mapping else "object", True, element=array(True) if mapping else None, memory=owner.memory)
            self.env[func.value.id] = held
            if mapping:
                return self.container_method(func, held, args)
        return Value("unknown", True)

    # Builtins and other modules.

    def builtin(self, e: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        if f"builtins.{name}" in _EFFECTS:
            self.say("side-effect", e, severity_=_EFFECTS[f"builtins.{name}"])
            return UNKNOWN
        arrays = [(n, v) for n, v in zip(e.args, args, strict=False) if v.is_array and v.traced]
        if name in ("float", "int", "bool", "complex", "range", "str", "format", "chr", "slice"):
            if arrays and name not in ("str", "format"):
                self.say("python-value", e, f"`{name}(...)` makes a Python value of array values, a constant of the graph")
            return Value("sequence", element=NUMBER) if name == "range" else TEXT if name in ("str", "format") else NUMBER
        if name in ("abs", "round", "pow", "divmod"):
            return self.made(e, operated("", *args)) if args else UNKNOWN
        if name in ("min", "max") and len(args) > 1:
            if arrays:
                self.say("data-dependent-branch", e, f"`{name}` compares array values in Python", f"use np.{name}imum(a, b)")
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
        if name == "zip":
            return Value("sequence", any(v.traced for v in args), element=sequence_of(elements))
        if name == "enumerate":
            return Value("sequence", any(v.traced for v in args), element=sequence_of([NUMBER, *elements[:1]]))
        if name == "map":
            function = args[0].constant if args else None
            walked = isinstance(function, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef))
            return Value("sequence", True, element=self.inline(function, elements, {}) if walked else replace(UNKNOWN, traced=any(v.traced for v in elements)))
        if name in ("sum", "next", "min", "max"):
            return join_all(elements) if elements else UNKNOWN
        if name in ("any", "all"):
            if any(v.is_data for v in elements) and not args[0].is_array:
                self.say("data-dependent-branch", e)
            return NUMBER
        if name in ("list", "tuple", "reversed") and args and args[0].kind == "sequence":
            return replace(args[0], items=None, element=element_of(args[0])) if name == "reversed" else args[0]
        return Value("sequence", any(v.traced for v in args), element=join_all(elements) if elements else None, items=None if elements else ())

    def foreign(self, e: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A function of another module: traced where it is torch, pure Python or a neighbour; opaque where it is compiled."""
        top = name.split(".")[0]
        every = [*args, *keywords.values()]
        traced = any(v.traced for v in every)
        if top in ("math", "cmath"):
            if any(v.is_data for v in every):
                self.say("python-value", e, f"{name} makes a Python number of an array value", f"use np.{name.rpartition('.')[2]}")
            return replace(NUMBER, dtype="float")
        if top in ("random", "secrets", "uuid"):
            self.say("random", e)
            return UNKNOWN
        if top in _EFFECTS and name != "os.path.join":
            self.say("side-effect", e, f"{name} happens while tracing only", severity_=_EFFECTS[top])
            return UNKNOWN
        if name in ("copy.copy", "copy.deepcopy") and args:
            return self.made(e, args[0]) if args[0].is_array else args[0]
        if top in ("functools", "itertools") and any(v.is_array and v.traced and v.rank != 0 for v in args):
            node = next(n for n, v in zip(e.args, args, strict=False) if v.is_array and v.traced)
            self.say("element-iteration", node)
            return Value("unknown", True)
        if top in _COMPILED and traced:
            self.say("opaque-call", e, f"{name} cannot be traced: its result becomes a constant")
            return UNKNOWN
        if top in ("torch", "np2fx", "leapp", "einops", "") or top in _PURE or not traced or self.is_neighbour(name):
            return Value("unknown", traced)
        self.say("opaque-call", e, f"if {name} is not plain NumPy, its result becomes a constant", severity_="warning")
        return Value("unknown", traced)

    def is_neighbour(self, name: str) -> bool:
        """Whether a module stands in the same project: a folder or file beside this one or under the root."""
        top = name.split(".")[0]
        folders = [self.root, os.path.join(self.root, "src")]
        here = os.path.dirname(os.path.abspath(self.path))
        folders += [here, os.path.dirname(here)]
        return any(os.path.isfile(os.path.join(f, top + ".py")) or os.path.isdir(os.path.join(f, top)) for f in folders)

    # Memory that nothing wrote.

    def uninitialised(self, body: list[ast.stmt]) -> None:
        """`np.empty` whose array is read though nothing in the function writes into it."""
        tree = ast.Module(body, [])
        made = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and self.names.qualified(n.func) in ("numpy.empty", "numpy.empty_like")]
        if not made:
            return
        written = {_root(n) for n in ast.walk(tree) if isinstance(n, (ast.Subscript, ast.Attribute)) and isinstance(n.ctx, ast.Store)}
        written |= {_root(n.target) for n in ast.walk(tree) if isinstance(n, ast.AugAssign)}
        handed = {_root(a) for n in ast.walk(tree) if isinstance(n, ast.Call) for a in (*n.args, *(k.value for k in n.keywords))}
        handed |= {_root(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in ("fill", "put", "itemset")}
        for statement in ast.walk(tree):
            value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) else None
            if value in made and isinstance(value, ast.Call):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[union-attr]
                if not all(isinstance(t, ast.Name) for t in targets) or {_root(t) for t in targets} & (written | handed):
                    made.remove(value)
        given = [k.value for n in ast.walk(tree) if isinstance(n, ast.Call) for k in n.keywords if k.arg == "out"]
        for call in made:
            if call not in given and not _is_empty_shape(call):
                self.say("uninitialised-memory", call)


def _given(parameters: ast.arguments, args: Sequence[Value], keywords: dict[str, Value], old: dict[str, Value]) -> dict[str, Value]:
    """Parameter to the value a call gives it. What a default fills stays as it is read from the default."""
    positional = [a.arg for a in (*parameters.posonlyargs, *parameters.args)]
    found = dict(zip(positional, args, strict=False))
    found.update({k: v for k, v in keywords.items() if k in old})
    if parameters.vararg:
        found[parameters.vararg.arg] = sequence_of(args[len(positional) :])
    return {k: v for k, v in found.items() if v.kind != "unknown" or k not in old or not old[k].is_array or old[k].assumed}


def _as_operand(value: Value) -> Value:
    return value if value.kind in ("array", "number") else array(value.traced)


def _nested_rank(value: Value) -> int | None:
    """The rank of an array made of nested sequences."""
    if value.is_array:
        return value.rank
    if value.kind == "number":
        return 0
    if value.items:
        inner = {_nested_rank(v) for v in value.items}
        rank = inner.pop()
        return None if inner or rank is None else rank + 1
    return None


def _inexact(dtype: str | None) -> str | None:
    return dtype if dtype is not None and dtype.startswith(("float", "complex")) else None


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_empty_shape(call: ast.Call) -> bool:
    """`np.empty(0)`, `np.empty((0, 3))`: there is no memory to hold anything."""
    return any(isinstance(n, ast.Constant) and n.value == 0 and not isinstance(n.value, bool) for a in call.args[:1] for n in ast.walk(a))
