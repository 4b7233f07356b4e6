"""Calls in a row: what a function keeps (in caches, attributes, defaults, variables of modules) is NumPy's in the rewritten files, too.

The function is called several times, and between the calls, from outside, what it has called itself: another caller finds what it left
in a cache. Results are compared at once and again at the end, as a later call may write into them; then all that is kept.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from ..inputs.copies import copied
from ..inputs.world import Form, is_for_callers, named
from .bounds import bound_of
from .comparison import Difference, difference
from .outcomes import ends, is_refusal, outcomes_differ
from .running import Outcome, run

if TYPE_CHECKING:
    from ..steps import Verification

CALLS_EACH, FUNCTIONS = 2, 8
"""How many calls of how many functions are made again."""


@dataclass(frozen=True)
class Step:
    """One call: of a function on either side, written as code for either side ("fn" and "torch_fn" are the verified one)."""

    fn: Callable[..., Any]
    form: Callable[..., Any]
    texts: tuple[str, str]
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """The calls up to the one that differs, when it differs, and in what."""

    steps: tuple[Step, ...]
    when: str
    difference: str


def look(work: Verification, form: Any, others: list[Mapping[str, Any]]) -> Found | None:
    """A difference that shows in a row of calls only. `others`: arguments beside the sample."""
    node = lambda args: Step(work.fn, form, ("fn", "torch_fn"), args)  # noqa: E731
    work.around.restore()
    work.restore_for("rewrite")
    try:
        inner = _called(work, form) if isinstance(form, Form) else []
        work.around.restore()
        return _compared(work, form, [node(work.sample), *inner, node(work.sample), *map(node, others), node(work.sample)])
    finally:
        work.around.restore()
        work.restore_for("rewrite")


def _compared(work: Verification, form: Any, steps: list[Step]) -> Found | None:
    different = _kept_apart(work.fn, form)
    made: list[tuple[Step, Outcome, Outcome]] = []
    for step in steps:
        want = run(step.fn, step.fn, step.arguments, torch_side=False, exactly=True)
        got = run(step.form, step.fn, step.arguments, torch_side=False, exactly=True)
        if ends(want.error) or ends(got.error) or want.undefined:
            return None
        made.append((step, want, got))
        if want.error is None and (is_refusal(got.error) or bound_of(got.error) or _is_refused(got.error)):
            if step.fn is work.fn:
                return None
            made.pop()
            continue
        found = outcomes_differ(want, got, work.exactly)
        if found is not None and len(made) == 1:
            return None  # it shows in one call alone
        if found is not None and not _is_excused(work, step, want, got):
            return _found(made, f"after {_said(made[:-1])}, {_call(step)}", found)
    for number, (step, want, got) in enumerate(made[:-1]):
        found = outcomes_differ(want, got, work.exactly)
        if found is not None and not _is_excused(work, step, want, got):
            when = f"what call {number + 1}, {_call(step)}, gave is another after {_said(made[number + 1 :])} more"
            return _found(made, when, found)
    for place, (mine, theirs) in kept(work.fn, form).items():
        found = difference(mine, theirs, work.exactly, place) if place not in different else None
        if found is not None:
            return _found(made, f"after {_said(made)}", found)
    return None


def _is_excused(work: Verification, step: Step, want: Outcome, got: Outcome) -> bool:
    """Whether only numbers differ, of a call that alone would differ as well: the search tells rounding from that."""
    loosely = outcomes_differ(want, got, work.tolerance)
    return step.fn is work.fn and loosely is not None and loosely.want is not None and _rounded(loosely.want, loosely.got)


def _rounded(want: Any, got: Any) -> bool:
    try:
        return bool((abs(want - got) <= 1e-3 * (1 + abs(want)))[~(want == got)].all())
    except Exception:
        return False


def _is_refused(error: BaseException | None) -> bool:
    """A boundary does not take what a function inside was given: it may be called otherwise from outside."""
    return isinstance(error, TypeError) and " was rewritten for " in str(error)


def _found(made: list[tuple[Step, Outcome, Outcome]], when: str, found: Difference) -> Found:
    return Found(tuple(step for step, _, _ in made), when, str(found))


def _call(step: Step) -> str:
    return "the function" if step.texts[0] == "fn" else step.texts[0].rpartition("].")[2].removeprefix("lambda: fn.__self__.")


def _said(made: list[tuple[Step, Outcome, Outcome]]) -> str:
    return f"{len(made)} call{'' if len(made) == 1 else 's'}"


# What the function calls


def _called(work: Verification, form: Form) -> list[Step]:
    """The calls that the function makes to functions of the project which others may call as well."""
    codes = _codes(form.world.modules)
    own = getattr(inspect.unwrap(getattr(work.fn, "__func__", work.fn)), "__code__", None)
    found: list[tuple[str, str, Any, Mapping[str, Any]]] = []

    def note(frame: Any, event: str, _: Any) -> None:
        known = codes.get(frame.f_code) if event == "call" and frame.f_code is not own else None
        if known is None:
            return
        module, qualname, function = known
        if sum(q == qualname for _, q, _, _ in found) >= CALLS_EACH or len({q for _, q, _, _ in found} | {qualname}) > FUNCTIONS:
            return
        with contextlib.suppress(Exception):  # arguments that allow no copy
            found.append((module, qualname, *_arguments(frame, function)))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run(work.fn, work.fn, work.sample, torch_side=False, exactly=True)
    finally:
        sys.setprofile(before)
    owner = getattr(work.fn, "__self__", None)
    steps = (_step(form, owner, *call) for call in found)
    return [step for step in steps if step is not None]


def _codes(modules: Mapping[str, ModuleType]) -> dict[Any, tuple[str, str, FunctionType]]:
    """The code of the functions, methods and properties of some modules: the module's name, the function's there, itself."""
    found = {}
    for name in modules:
        for qualname, member in members(sys.modules.get(name)):
            function = _function(member)
            if function is not None and function.__module__ == name:
                found[function.__code__] = name, qualname, function
    return found


def members(module: Any) -> Iterator[tuple[str, Any]]:
    """The functions and classes' members of a module, by their names there."""
    for name, value in list(vars(module).items()) if module is not None else ():
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield from ((f"{name}.{n}", member) for n, member in list(vars(value).items()))
        else:
            yield name, value


def _function(member: Any) -> FunctionType | None:
    """The innermost function of what may be decorated, a property, a static method."""
    if isinstance(member, property):
        member = member.fget
    elif isinstance(member, functools.cached_property):
        member = member.func
    elif isinstance(member, (staticmethod, classmethod)):
        member = member.__func__
    try:
        member = inspect.unwrap(member) if callable(member) else None
    except ValueError:
        return None
    return member if isinstance(member, FunctionType) else None


def _arguments(frame: Any, function: FunctionType) -> tuple[Any, Mapping[str, Any]]:
    """What a function that has just been entered was called on, if it is a method, and with: a copy. Defaults are left out."""
    code, given = frame.f_code, frame.f_locals
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    defaults = dict(zip(reversed(names[: code.co_argcount]), reversed(function.__defaults__ or ()), strict=False))
    defaults.update(function.__kwdefaults__ or {})
    is_method = "." in function.__qualname__ and bool(names)
    owner = given[names.pop(0)] if is_method else None
    passed = {name: given[name] for name in names if name not in defaults or given[name] is not defaults[name]}
    return owner, copied(passed, exactly=True)


def _step(form: Form, owner: Any, module: str, qualname: str, own: Any, arguments: Mapping[str, Any]) -> Step | None:
    """A call made again from outside; None for what only rewritten functions may call."""
    theirs, ours = sys.modules.get(module), form.world.modules.get(module)
    if theirs is None or ours is None:
        return None
    name = qualname.rpartition(".")[2]
    if own is None:
        before, now = named(theirs, qualname), named(ours, qualname)
        texts = f"sys.modules[{module!r}].{qualname}", f"torch_fn.world.function({theirs.__file__!r}, {qualname!r})"
    else:
        twin = getattr(form.function, "__self__", None)
        if own is not owner or twin is None:  # of another object
            return None
        if isinstance(inspect.getattr_static(type(own), name, None), (property, functools.cached_property)):
            asked = functools.partial(getattr, own, name), functools.partial(getattr, twin, name)
            return Step(_without_arguments(asked[0]), Form(form.world, asked[1]), _asking(name), {})
        before, now = getattr(own, name, None), getattr(twin, name, None)
        texts = f"fn.__self__.{name}", f"torch_fn.of_object({name!r})"
    if not callable(before) or not callable(now) or not is_for_callers(before, now):
        return None
    return Step(before, Form(form.world, now), texts, arguments)


def _without_arguments(call: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: call()


def _asking(name: str) -> tuple[str, str]:
    return f"lambda: fn.__self__.{name}", f"torch_fn.asking({name!r})"


# What is kept


def kept(fn: Any, form: Any) -> dict[str, tuple[Any, Any]]:
    """All that either side keeps, by place: what its object holds, variables and defaults of the modules."""
    found: dict[str, tuple[Any, Any]] = {}
    form_function = form.function if isinstance(form, Form) else form
    owner, twin = getattr(fn, "__self__", None), getattr(form_function, "__self__", None)
    if isinstance(fn, MethodType) and not isinstance(owner, type) and hasattr(owner, "__dict__") and hasattr(twin, "__dict__"):
        found["self"] = owner, twin
    for name, ours in (form.world.modules if isinstance(form, Form) else {}).items():
        theirs = sys.modules.get(name)
        if theirs is None:
            continue
        now = dict(members(ours))
        for qualname, member in members(theirs):
            if qualname.rpartition(".")[2].startswith("__") or qualname not in now:
                continue
            function, other = _function(member), _function(now[qualname])
            if function is not None and other is not None:
                if function.__defaults__ and other.__defaults__:
                    found[f"the defaults of {qualname}"] = function.__defaults__, other.__defaults__
            elif not callable(member) and not isinstance(member, (ModuleType, type, property, functools.cached_property)):
                found[f"{name}.{qualname}"] = member, now[qualname]
    return found


def _kept_apart(fn: Any, form: Any) -> set[str]:
    """The places that are not the same to begin with."""
    return {place for place, (mine, theirs) in kept(fn, form).items() if difference(mine, theirs) is not None}
