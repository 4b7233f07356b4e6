"""Calls, as check reads them: NumPy functions by the rule table, methods, builtins, and code that cannot be traced.

What a NumPy name means comes from the table alone, what comes out of it from its rule's kind.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from ..facts.outcomes import Bound, outcome
from ..facts.values import NONE, NUMBER, OBJECT, TEXT, UNKNOWN, Value, array, copied, dtype_name, element_of, guessed, join_all
from ..facts.values import sequence as sequence_of
from ..reading.table import RuleSource
from ..reading.walking import walk
from .catching import problems
from .deciding import decided, holds
from .outside import Outside
from .targets import RECORDED_BY_LEAPP, follows_branches, words

# NumPy names that are no functions on arrays and so have no rule: types to ask for, settings, errors.
_TYPES = words(
    "ndarray dtype generic number integer inexact floating complexfloating signedinteger unsignedinteger ufunc nditer errstate "
    "printoptions finfo iinfo broadcast_shapes result_type promote_types can_cast min_scalar_type common_type issubdtype isdtype "
    "isscalar iterable get_printoptions geterr"
)
_SCALARS = words(
    "float16 float32 float64 half single double bool bool_ int8 int16 int32 int64 intc intp int_ long longlong short byte uint8 uint16 "
    "uint32 uint64 uintc uintp uint ulong ulonglong ushort ubyte complex64 complex128 csingle cdouble"
)
_NO_TORCH = words(
    "longdouble clongdouble float96 float128 complex192 complex256 str_ bytes_ unicode_ datetime64 timedelta64 void record recarray"
)
_DYNAMIC = words(
    "nonzero flatnonzero argwhere unique unique_all unique_counts unique_inverse unique_values extract setdiff1d setxor1d intersect1d "
    "union1d trim_zeros"
)
_SIZES = words("shape newshape N M num")
"""Parameters of NumPy's functions that are sizes."""
_DRAWS = words(
    "random rand randn randint integers normal standard_normal uniform choice permutation permuted shuffle beta binomial bytes exponential "
    "gamma geometric gumbel laplace logistic lognormal multinomial multivariate_normal poisson random_sample sample standard_cauchy "
    "standard_exponential standard_gamma standard_t triangular vonmises weibull"
)
_MUTATORS = words("append extend insert pop popleft appendleft remove clear update add setdefault put write writelines")
_LOGGING = words("debug info warning error exception critical log")


class Calls(Outside):
    """What a call gives, and the findings a call is."""

    def visit_Call(self, e: ast.Call) -> Value:
        qualified = self.names.qualified(e.func)
        callee = self.names.definition(e.func)
        if isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.helper(e, callee)
        if qualified is None and isinstance(e.func, ast.Attribute):
            return self.method(e, e.func)
        if isinstance(callee, ast.ClassDef):
            return self.instance(e, callee)
        args, keywords = self.told(e) if qualified == "warnings.warn" or _reads_text(e, qualified) else self.arguments(e)
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

    def told(self, e: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        """The arguments of a call whose text is no finding of its own."""
        self.telling, outer = True, self.telling
        try:
            return self.arguments(e)
        finally:
            self.telling = outer

    def instance(self, e: ast.Call, cls: ast.ClassDef) -> Value:
        """An object of a class of this module. Its methods are walked with it."""
        args, keywords = self.arguments(e)
        traced = any(v.traced for v in (*args, *keywords.values()))
        if traced and any(self.names.qualified(b) == "numpy.ndarray" for b in cls.bases):
            self.say("unmapped-function", e, f"`{cls.name}` is a class of arrays of its own, which no tensor is", "use plain arrays")
        return Value("unknown", traced, memory=frozenset({f"{self.path}:{e.lineno}:{e.col_offset}"}), constant=cls)

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
        if traced and (tail in _DYNAMIC or (name == "numpy.where" and len(args) == 1 and not keywords)):
            self.say("data-dependent-shape", e, f"the shape of what `{ast.unparse(e.func)}` gives depends on array values")
            asked = any((k.arg or "").startswith("return_") and not _is_false(k.value) for k in e.keywords) or len(e.args) > 2
            many = name in ("numpy.nonzero", "numpy.where") or tail.startswith("unique_") or asked or (tail == "unique" and len(e.args) > 1)
            return Value("sequence", True, element=array(True)) if many else self.made(e, array(True))
        if rule is None:
            return self.without_rule(e, name, traced)
        if self.target == "leapp" and traced and tail not in RECORDED_BY_LEAPP and rule.kind != "python":
            self.say("unmapped-function", e, f"LEAPP does not record {name}: its result becomes a constant")
        return self.by_rule(e, rule, method, args, keywords)

    def without_rule(self, e: ast.Call, name: str, traced: bool) -> Value:
        refusal = self.table.refusal(name)
        if refusal is not None:
            self.say(refusal.finding, e, f"{name}: {refusal.reason}", refusal.hint, "error")
            return Value("unknown", False)
        tail = name.rpartition(".")[2]
        known = tail in _TYPES and name != "numpy.ndarray"  # which makes an array when it is called
        if not known and not name.startswith(("numpy.exceptions.", "numpy.testing.", "numpy.typing.")):
            self.say("unmapped-function", e, f"{name} has no torch rule")
            return self.made(e, array(traced))
        if name.startswith("numpy.testing."):
            self.say("data-dependent-branch", e, f"{name} compares values in Python", "assert outside the node")
        return OBJECT

    def random(self, e: ast.Call, name: str, tail: str) -> Value:
        if tail == "SeedSequence":  # mixes numbers, draws none
            return OBJECT
        if tail in ("default_rng", "RandomState", "Generator", "PCG64", "Philox", "MT19937"):
            return Value("generator")
        if tail in ("seed", "set_state", "get_state"):
            self.say("random", e, f"{name} works on NumPy's global generator, which no graph has")
            return UNKNOWN
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
            elif (
                (qualified.startswith("numpy.") and tail in _NO_TORCH)
                or qualified in ("builtins.str", "builtins.bytes")
                or isinstance(node, ast.List)
            ) or (
                text and (text[0] in ">SUMmVGg" or text.lower() in _NO_TORCH or text.startswith(("datetime", "timedelta", "str", "bytes")))
            ):
                self.say("unsupported-dtype", node)

    def by_rule(
        self,
        e: ast.Call,
        rule: RuleSource,
        method: str,
        args: list[Value],
        keywords: dict[str, Value],
        owner: ast.expr | None = None,
    ) -> Value:
        """A call of a function that has a rule: its arguments checked against the rule's parameters, its writes, what it gives."""
        nodes: list[ast.expr] = [*([owner] if owner is not None else []), *e.args]
        bound = self.bound(e, rule, nodes, args, keywords) if not method else {}
        every = [*args, *keywords.values()]
        traced = any(v.traced for v in every)
        if traced and self.guards:
            self.fails(e, rule, bound)
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
        found = outcome(rule, method, args, bound, traced)
        if rule.outputs > 1:
            made = self.made(e, found)
            return sequence_of([replace(made, memory=frozenset(f"{m} {n}" for m in made.memory)) for n in range(rule.outputs)])
        return found if not found.is_array or (found.memory and found.rank != 0) else self.made(e, found)

    def bound(self, e: ast.Call, rule: RuleSource, nodes: list[ast.expr], args: list[Value], keywords: dict[str, Value]) -> Bound:
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
        for name in _SIZES:
            node, value = found.get(name, (None, UNKNOWN))
            if node is not None and not (name == "shape" and rule.kind == "creation"):  # how many there are may be computed
                self.known_number([node, *getattr(node, "elts", ())], [value, *(value.items or ())])
        self.refused(rule, found)
        return found

    def refused(self, rule: RuleSource, bound: Bound) -> None:
        """Findings for arguments that the rule refuses whatever the arrays are."""
        value_of = self.parameter_values(rule, bound)
        for condition, message, hint, finding in rule.refused:
            given = [bound[n.id][0] for n in walk(ast.parse(condition)) if isinstance(n, ast.Name) and n.id in bound]
            if given and holds(condition, value_of):
                short = rule.name.rpartition(".")[2]
                self.say(finding, given[0], message if short in message else f"{rule.name}: {message}", hint)

    def parameter_values(self, rule: RuleSource, bound: Bound) -> Callable[[str], Value]:
        """What a rule's parameters are in a call."""
        defaults = {p.name: p.default for p in rule.parameters}

        def value_of(name: str) -> Value:
            if name in bound:
                return bound[name][1]
            default = defaults.get(name)
            return UNKNOWN if default is None else self.quietly(ast.parse(default, mode="eval").body)

        return value_of

    def fails(self, e: ast.Call, rule: RuleSource, bound: Bound) -> None:
        """The errors that a call raises for some values, in a `try` that catches them."""
        value_of = self.parameter_values(rule, bound)
        for problem in problems(rule):
            known = [decided(test, value_of) for test, _ in problem.tests]
            leads = [k is None or k is wanted for k, (_, wanted) in zip(known, problem.tests, strict=True)]
            by = problem.decided_by
            if all(leads) and (by is None or not bound or any(name in by and v.traced for name, (_, v) in bound.items())):
                self.may_raise(e, problem.name, sure=None not in known or problem.name == "LinAlgError")

    # Methods.

    def method(self, e: ast.Call, func: ast.Attribute) -> Value:
        owner = self.visit(func.value)
        name = func.attr
        if owner.kind == "object" and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls") and name in self.methods:
            args, keywords = self.arguments(e)
            return self.inline(self.methods[name], [owner, *args], keywords, bound=True)
        args, keywords = self.arguments(e)
        if isinstance(owner.constant, ast.ClassDef):
            return self.method_of(owner, owner.constant, name, args, keywords)
        if owner.kind == "executor" or (name == "submit" and args and any(v.traced for v in args[1:])):
            message = "what is handed to threads or processes computes out of the tracer's sight"
            self.say("opaque-call", e, message, "call the function here")
            return Value("unknown", True)
        traced = owner.traced or any(v.traced for v in (*args, *keywords.values()))
        if owner.kind == "generator" or name == "default_rng" or (
            name in _DRAWS and (not owner.is_array or owner.assumed) and _is_generator(func.value)
        ):
            self.say("random", e)
            return UNKNOWN
        if owner.is_array:
            return self.array_method(e, func, owner, args, keywords)
        if owner.kind == "text":
            if name in ("format", "format_map"):
                for node, value in [*zip(e.args, args, strict=True), *((k.value, keywords[k.arg or ""]) for k in e.keywords)]:
                    self.as_text(node, value)
            return replace(TEXT, traced=traced)
        if owner.kind in ("sequence", "mapping"):
            self.state(e, func, owner, args)
            return self.container_method(func, owner, args)
        if any(m.startswith("state ") for m in owner.memory):
            if name in _MUTATORS and self.is_variable(func.value):
                self.effect(e, ast.unparse(func.value))
            elif name in _LOGGING and "log" in ast.unparse(func.value).lower():
                self.say("side-effect", e)
        if owner.kind == "unknown" and name in ("item", "tolist") and owner.traced:
            if follows_branches(self.target):
                return UNKNOWN if name == "tolist" else Value("number", True)
            self.say_of(guessed(array(True), func.value), "python-value", e,
                        f"`.{name}()` makes Python values of its values, constants of the graph")  # fmt: skip
            return NUMBER
        return Value("unknown", traced)

    def method_of(self, owner: Value, cls: ast.ClassDef, name: str, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A method of an object of a class of this module."""
        own = {f.name: f for f in cls.body if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))}
        if name not in own or own[name].decorator_list:
            return Value("unknown", owner.traced or any(v.traced for v in (*args, *keywords.values())))
        outer, self.methods = self.methods, own
        try:
            return self.inline(own[name], [replace(owner, kind="object"), *args], keywords, bound=True)
        finally:
            self.methods = outer

    def is_variable(self, e: ast.expr) -> bool:
        """Whether an expression is a variable of the module, or something that one holds; no function, class or module is."""
        while isinstance(e, (ast.Attribute, ast.Subscript)):
            e = e.value
        return not isinstance(e, ast.Name) or e.id in self.env or self.names.is_global_variable(e)

    def state(self, e: ast.Call, func: ast.Attribute, owner: Value, args: list[Value]) -> None:
        """`HISTORY.append(x)` changes something that outlives the call."""
        given = [m.partition(" ")[2] for m in owner.memory if m.startswith("argument ")]
        if func.attr in _MUTATORS and given and not isinstance(func.value, ast.Call):
            message = f"the node changes its argument `{given[0]}`, a container"
            self.say("mutation", e, message, "return a new container", "error", always=True)
        if func.attr in _MUTATORS and any(m.startswith("state ") for m in owner.memory) and not isinstance(func.value, ast.Call):
            held = func.value.id if isinstance(func.value, ast.Name) else None
            if held is None or held not in self.env or self.env[held].memory == owner.memory:
                self.effect(e, ast.unparse(func.value))

    def container_method(self, func: ast.Attribute, owner: Value, args: list[Value]) -> Value:
        name = func.attr
        if name in ("append", "extend", "insert", "add") and args and isinstance(func.value, ast.Name):
            new = element_of(args[-1]) if name == "extend" else args[-1]
            held = join_all([element_of(owner), new]) if owner.items or owner.element else new
            self.env[func.value.id] = Value("sequence", owner.traced or new.traced, element=held, memory=owner.memory)
            return NONE
        if name == "copy":
            return copied(owner)
        if owner.kind == "mapping":
            element = element_of(owner)
            if name == "items":
                return Value("sequence", owner.traced, element=sequence_of([TEXT, element]))
            if name in ("get", "pop", "setdefault"):
                self.known_number([func], args[:1])
                default = args[1] if len(args) > 1 else NONE
                if default.kind in ("number", "text") and element.assumed:
                    return default
                return guessed(element, func, "(...)") if element.guess else element
            return Value("sequence", owner.traced, element=element if name == "values" else TEXT)
        return element_of(owner) if name == "pop" else Value("unknown", owner.traced and name not in ("index", "count"))

    def array_method(self, e: ast.Call, func: ast.Attribute, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
        name = f"numpy.ndarray.{func.attr}"
        if func.attr in ("__str__", "__repr__", "__format__") and owner.traced:
            self.as_text(func.value, replace(owner, assumed=False))
            return replace(TEXT, traced=True)
        if func.attr in ("item", "tolist") or (
            name not in self.table.rules and func.attr in ("tobytes", "__float__", "__int__", "__bool__")
        ):
            if owner.traced and follows_branches(self.target) and func.attr in ("item", "tolist"):
                number = Value("number", True, guess=owner.guess)
                return number if func.attr == "item" or owner.rank == 0 else Value("sequence", True, element=number)
            if owner.traced:
                self.say_of(owner, "python-value", e, f"`.{func.attr}()` makes Python values of array values, constants of the graph")
            return NUMBER if func.attr == "item" else Value("unknown", False)
        self.dtypes(e, name)
        if func.attr in _DYNAMIC and owner.traced:
            if owner.constant == "Tensor" or "as_tuple" in keywords:  # torch's method of that name
                return Value("unknown", True)
            self.say_of(owner, "data-dependent-shape", e)
            return Value("sequence", True, element=array(True))
        rule = self.table.rules.get(name)
        if rule is not None and owner.guess and not _takes(rule, len(e.args)):
            return Value("unknown", True)  # another object's method of that name, torch's maybe
        if rule is not None:
            if (
                self.target == "leapp"
                and owner.traced
                and func.attr not in RECORDED_BY_LEAPP
                and func.attr not in ("astype", "flatten", "ravel")
            ):
                self.say("unmapped-function", e, f"LEAPP does not record ndarray.{func.attr}: its result becomes a constant")
            return self.by_rule(e, rule, "", [owner, *args], keywords, func.value)
        refusal = self.table.refusals.get(name)
        if refusal is not None:
            if refusal.finding == "mutation":
                self.write(func.value, owner, UNKNOWN)
            self.say(refusal.finding, e, f"{name}: {refusal.reason}", refusal.hint, "error")
            return UNKNOWN
        if owner.assumed and isinstance(func.value, ast.Name):  # not an array: it has a method that ndarray has not
            mapping = func.attr in ("items", "keys", "values", "get")
            element = replace(array(True), guess=owner.guess) if mapping else None
            held = Value("mapping" if mapping else "object", True, element=element, memory=owner.memory)
            self.env[func.value.id] = held
            if mapping:
                return self.container_method(func, held, args)
        return Value("unknown", True)


def _is_generator(node: ast.expr) -> bool:
    """Whether a value of which nothing is known is called as generators of random numbers are: `rng`, `self._rng`, `np_random`."""
    last = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    parts = last.lower().strip("_").split("_")
    return parts[-1] in ("rng", "generator") or last.lower().strip("_").endswith(("np_random", "random_state"))


def _reads_text(e: ast.Call, name: str | None) -> bool:
    """`float(f"{x:.3f}")`: the number is what is said of it."""
    return name in ("builtins.float", "builtins.int", "builtins.complex") and bool(e.args) and isinstance(e.args[0], ast.JoinedStr)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_false(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and e.value is False


def _takes(rule: RuleSource, arguments: int) -> bool:
    """Whether a method's rule takes so many arguments in positions after the array."""
    kinds = [p.kind for p in rule.parameters]
    return "var-positional" in kinds or arguments < sum(k.startswith("positional") for k in kinds)
