"""The kinds of finding: each way in which NumPy code falls out of a graph, with its name, code, page and examples.

A kind's docstring is its page. `bad` gives exactly this finding and `good` gives none: they are the page's examples and
the kind's tests. `stage` names the command that says it: "check" reads source, "rewrite", "trace" and "verify" say
what only they can know.
"""

from __future__ import annotations

from .file_kinds import FILE_KINDS
from .kind import HEADER, Kind


class UnmappedFunction(Kind):
    """## What it does

    Reports a NumPy function that has no rule: np2fx does not know a torch function that means the same.

    ## Why is this bad?

    A tracer either stops at such a call or, worse, runs it while tracing and keeps the answer as a constant.
    """

    name = "unmapped-function"
    code = "NX101"
    message = "this NumPy function has no torch rule"
    hint = "write it with functions that have one (`np2fx rules`), or bring a rule: [tool.np2fx] rules = [...]"
    bad = HEADER + "@np2fx.node\ndef resample(x):\n    return np.busday_count(x, x + 7)\n"
    good = HEADER + "@np2fx.node\ndef resample(x):\n    return np.subtract(x + 7, x)\n"


class OpaqueCall(Kind):
    """## What it does

    Reports an array handed to code that np2fx cannot see into: SciPy, OpenCV, Numba, a compiled extension.

    ## Why is this bad?

    Compiled code reads the raw buffer. What it computes never reaches the graph, and its answer becomes a constant.
    """

    name = "opaque-call"
    code = "NX102"
    message = "an array is handed to code that cannot be traced"
    hint = "move the call out of the node, write it in NumPy, or bring a rule for it: [tool.np2fx] rules = [...]"
    bad = HEADER.replace("import np2fx\n", "import np2fx\nfrom scipy import ndimage\n") + (
        "@np2fx.node\ndef smooth(x):\n    return ndimage.gaussian_filter(x, 1.0)\n"
    )
    good = HEADER + '@np2fx.node\ndef smooth(x):\n    return np.convolve(x, np.ones(3) / 3, mode="same")\n'


class Random(Kind):
    """## What it does

    Reports random numbers drawn inside a node.

    ## Why is this bad?

    A graph holds the numbers that were drawn while it was made: every later call sees the same "random" ones. torch's
    generator gives other numbers than NumPy's for the same seed, so no translation is exact. `np2fx rewrite --random-as-input`
    makes parameters of them: the function takes the numbers, and where its caller gives none, draws them with NumPy as before.
    """

    name = "random"
    code = "NX103"
    message = "random numbers inside a node become constants of the graph"
    hint = "draw them outside and pass them in as an argument, or rewrite with --random-as-input"
    bad = HEADER + "@np2fx.node\ndef jitter(x):\n    return x + np.random.normal(size=x.shape)\n"
    good = HEADER + "@np2fx.node\ndef jitter(x, noise):\n    return x + noise\n"


class SideEffect(Kind):
    """## What it does

    Reports a node that reads or changes the world outside: printing, files, clocks, global variables, attributes of `self`.

    ## Why is this bad?

    A graph holds array work only. The effect happens once, while the graph is made, and never again; what is read from
    outside becomes a constant.
    """

    name = "side-effect"
    code = "NX104"
    severity = "warning"
    message = "this effect happens while tracing and is lost in the graph"
    hint = "do it outside the node: return what is to be kept, pass in what is to be read"
    bad = HEADER + "@np2fx.node\ndef scale(x):\n    print(x.shape)\n    return x * 2\n"
    good = HEADER + "@np2fx.node\ndef scale(x):\n    return x * 2\n"


class UnsupportedArgument(Kind):
    """## What it does

    Reports an argument of a known NumPy function that its torch rule refuses, such as `order="F"` or an unknown keyword.

    ## Why is this bad?

    Ignoring an argument would compute something else. np2fx supports an argument or refuses it.
    """

    name = "unsupported-argument"
    code = "NX105"
    message = "the torch rule does not support this argument"
    hint = "leave the argument out, or compute what it does with other functions"
    bad = HEADER + "@np2fx.node\ndef double(x):\n    return np.add(x, x, signature='dd->d')\n"
    good = HEADER + "@np2fx.node\ndef double(x):\n    return np.add(x, x, dtype=np.float64)\n"


class NumpyOnTorch(Kind):
    """## What it does

    Notes that a function is rewritten as NumPy on torch: its text stays as it was, its arrays are NumPy's array objects on tensors.

    ## Why is this bad?

    It is not bad: the function computes what it did, on torch. Plain torch reads better and costs less; the note says which fact it
    would take.
    """

    name = "numpy-on-torch"
    code = "NX106"
    severity = "note"
    message = "what the function is called with does not decide what it means in torch: it is rewritten as NumPy on torch"
    hint = 'declare it: @np2fx.node(x="float32[n]")'
    stage = "rewrite"
    bad = HEADER + "@np2fx.node\ndef root(x):\n    return np.sqrt(x)\n"
    good = HEADER + '@np2fx.node(x="float32[n]")\ndef root(x):\n    return np.sqrt(x)\n'


class ScalarIndex(Kind):
    """## What it does

    Reports `x[0]` where the result is one element of an array: `x` is 1-D, or as many indices are given as it has axes.

    ## Why is this bad?

    NumPy answers with a scalar object that carries no trace: a tracer that works by dispatch loses it, and the element
    is frozen in the graph. A slice stays an array.
    """

    name = "scalar-index"
    code = "NX201"
    fixable = True
    message = "an index that gives a scalar leaves the graph"
    hint = "keep the axis: `x[0:1]` (or `x[..., 0:1]`), or reduce with an array function"
    bad = HEADER + '@np2fx.node(x="float32[7]")\ndef head(x):\n    return x[0] * 2\n'
    good = HEADER + '@np2fx.node(x="float32[7]")\ndef head(x):\n    return x[0:1] * 2\n'


class ReversedSlice(Kind):
    """## What it does

    Reports a slice with a negative step, such as `x[::-1]`.

    ## Why is this bad?

    torch has no negative strides: the slice raises, and a tensor made from such a view must copy.
    """

    name = "reversed-slice"
    code = "NX202"
    fixable = True
    message = "torch has no slices with a negative step"
    hint = "use np.flip(x, axis)"
    bad = HEADER + "@np2fx.node\ndef backwards(x):\n    return x[::-1]\n"
    good = HEADER + "@np2fx.node\ndef backwards(x):\n    return np.flip(x, 0)\n"


class DataDependentShape(Kind):
    """## What it does

    Reports a result whose shape depends on the values in an array: `np.nonzero`, `np.unique`, `x[x > 0]`, `np.where(c)`. A torch tensor
    that is indexed so counts as well.

    ## Why is this bad?

    A graph's shapes come from the shapes of its inputs. A shape that comes from values is fixed to what it was while
    tracing, or stops the exporter.
    """

    name = "data-dependent-shape"
    code = "NX203"
    message = "the shape of this result depends on array values"
    hint = "keep the shape and mask: np.where(mask, x, 0), or a reduction with where="
    bad = HEADER + "@np2fx.node\ndef positive_sum(x):\n    return np.sum(x[x > 0])\n"
    good = HEADER + "@np2fx.node\ndef positive_sum(x):\n    return np.sum(np.where(x > 0, x, 0))\n"


class PythonValue(Kind):
    """## What it does

    Reports array values turned into Python values: `.item()`, `.tolist()`, `float(x)`, `int(x)`, `bool(x)`, `range(x)`. The values of
    a torch tensor leave a graph in the same way.

    ## Why is this bad?

    A Python number carries no trace: it becomes a constant of the graph, the same for every later input. `np2fx.trace` keeps
    numbers of array values in its graph; it says this where one has to be known while it records: a count, a size, a key.
    """

    name = "python-value"
    code = "NX301"
    message = "an array value becomes a Python value, a constant of the graph"
    hint = "stay in arrays: a 0-d array computes like a number"
    bad = HEADER + "@np2fx.node\ndef normalise(x):\n    return x / float(np.max(x))\n"
    good = HEADER + "@np2fx.node\ndef normalise(x):\n    return x / np.max(x)\n"


class DataDependentBranch(Kind):
    """## What it does

    Reports `if`, `while`, `and`, `or`, `not`, `assert` or a conditional expression decided by array values.

    ## Why is this bad?

    A graph of torch calls has no branches: the one taken while recording is taken for ever. `np2fx.trace` records both ways of most
    branches on values, and makes choices or `torch.cond` of them; it says this where they do not give the same shapes and dtypes.
    """

    name = "data-dependent-branch"
    code = "NX302"
    message = "a branch is decided by array values"
    hint = "compute both sides and choose: np.where(condition, a, b); np.logical_and/or/not for conditions"
    bad = HEADER + "@np2fx.node\ndef rectify(x):\n    if np.sum(x) > 0:\n        return x\n    return -x\n"
    good = HEADER + "@np2fx.node\ndef rectify(x):\n    return np.where(np.sum(x) > 0, x, -x)\n"


class ElementIteration(Kind):
    """## What it does

    Reports a Python loop over the elements or rows of an array: `for v in x`, `list(x)`, `sum(x)`, `map(f, x)`.

    ## Why is this bad?

    The loop is unrolled while tracing: the graph is made for one length, and grows with it.
    """

    name = "element-iteration"
    code = "NX303"
    message = "a Python loop over an array is unrolled into the graph"
    hint = "use a whole-array function: reductions, np.cumsum, broadcasting"
    bad = HEADER + "@np2fx.node\ndef total(x):\n    out = np.zeros(3)\n    for row in x:\n        out = out + row\n    return out\n"
    good = HEADER + "@np2fx.node\ndef total(x):\n    return np.sum(x, axis=0)\n"


class NumpyScalar(Kind):
    """## What it does

    Reports a NumPy scalar made on purpose, such as `np.float32(2)`.

    ## Why is this bad?

    A NumPy scalar is no array: made from an array value it drops out of the graph, and made from a number it promotes
    like a float32 *array* in NumPy but like a plain number in torch, so dtypes come out different.
    """

    name = "numpy-scalar"
    code = "NX304"
    fixable = True
    severity = "warning"
    message = "a NumPy scalar promotes differently in torch, and carries no trace"
    hint = "use a plain Python number, or np.array(value, dtype=...)"
    bad = HEADER + "@np2fx.node\ndef double(x):\n    return x * np.float32(2)\n"
    good = HEADER + "@np2fx.node\ndef double(x):\n    return x * 2.0\n"


class ObjectDtype(Kind):
    """## What it does

    Reports arrays of Python objects: `dtype=object`, `np.object_`, an array literal that holds `None`.

    ## Why is this bad?

    A tensor holds numbers. Work on objects runs in Python, element by element, outside every graph.
    """

    name = "object-dtype"
    code = "NX305"
    message = "a tensor cannot hold Python objects"
    hint = "use a numeric dtype; pad ragged data and keep a mask"
    bad = HEADER + "@np2fx.node\ndef pack(x):\n    return x.astype(object)\n"
    good = HEADER + "@np2fx.node\ndef pack(x):\n    return x.astype(np.float32)\n"


class SpecialisedSize(Kind):
    """## What it does

    Reports a graph that took the size of a dimension declared free (`float32[batch, 7]`) as fixed.

    ## Why is this bad?

    The graph is right for the sample's size only.
    """

    name = "specialised-size"
    code = "NX306"
    stage = "verify"
    message = "the graph is specialised on the size of a free dimension"
    hint = "use -1, broadcasting or axis arguments in place of the size, or declare the size as a number"
    bad = HEADER + '@np2fx.node(x="float32[batch, 3]")\ndef rows(x):\n    return sum(list(x))\n'
    good = HEADER + '@np2fx.node(x="float32[batch, 3]")\ndef rows(x):\n    return np.sum(x, axis=0)\n'


class LeakedConstant(Kind):
    """## What it does

    Reports a value that depends on the inputs but stands in the graph as a constant. Found by tracing twice.

    ## Why is this bad?

    The graph answers every input with a value of the sample's.
    """

    name = "leaked-constant"
    code = "NX307"
    stage = "verify"
    message = "a value that depends on the inputs became a constant of the graph"
    hint = "compute it with array functions of the inputs, or pass it in as an argument"
    bad = HEADER + "steps = [0]\n\n\n@np2fx.node\ndef smooth(x):\n    steps[0] += 1\n    return x / steps[0]\n"
    good = HEADER + "@np2fx.node\ndef smooth(x, steps):\n    return x / steps\n"


class Mismatch(Kind):
    """## What it does

    Reports an input on which the original function, its rewritten form and its graph do not agree.

    ## Why is this bad?

    One of the three is wrong. The counterexample is printed as code that reproduces it.
    """

    name = "mismatch"
    code = "NX308"
    stage = "verify"
    message = "NumPy and torch disagree on an input"
    hint = "run the counterexample; if the function is plain NumPy this is a bug of np2fx, please report it"
    bad = HEADER + "calls = []\n\n\n@np2fx.node\ndef drift(x):\n    calls.append(1)\n    return x + len(calls)\n"
    good = HEADER + "@np2fx.node\ndef drift(x, calls):\n    return x + calls\n"


class UndeclaredInput(Kind):
    """## What it does

    Reports a node that cannot be tried out, because nothing says what its arguments are.

    ## Why is this bad?

    What is not tried is not proven.
    """

    name = "undeclared-input"
    code = "NX309"
    stage = "verify"
    message = "nothing says what the arguments of this node are"
    hint = 'declare them, as in @np2fx.node(x="float32[batch, 7] in [-1, 1]"), or give samples (--samples FILE.npz)'
    bad = HEADER + "@np2fx.node\ndef scale(x, settings):\n    return x * settings.gain\n"
    good = HEADER + "@np2fx.node(x=\"float32[n]\", gain=\"float\")\ndef scale(x, gain):\n    return x * gain\n"


class NodeCrashed(Kind):
    """## What it does

    Reports a node that ended the process in which it was tried out: a crash in compiled code (SIGSEGV), `os._exit`, `sys.exit`.

    ## Why is this bad?

    A graph cannot end a process, and nothing was proven of the node. Every node is run in a process apart, so that the others are
    verified all the same.
    """

    name = "node-crashed"
    code = "NX310"
    stage = "verify"
    message = "the node ended the process that ran it"
    hint = "raise an error where the node exits; keep calls of compiled code that crash out of the node"
    bad = HEADER.replace("import numpy", "import os\n\nimport numpy") + (
        '@np2fx.node(x="float32[7]")\ndef checked(x):\n    if x.size != 6:\n        os._exit(3)\n    return x * 2\n'
    )
    good = HEADER + (
        '@np2fx.node(x="float32[7]")\ndef checked(x):\n    if x.size != 7:\n        raise ValueError("7 joints")\n    return x * 2\n'
    )


class NodeTimedOut(Kind):
    """## What it does

    Reports a node whose verification took longer than its time limit: `--timeout SECONDS`, `verify-timeout` in `[tool.np2fx]`.

    ## Why is this bad?

    It may never end. What was not tried to the end is not proven.
    """

    name = "node-timed-out"
    code = "NX311"
    stage = "verify"
    message = "the verification took longer than its time limit"
    hint = "end the loop after a number of steps that does not hang on values, or give it more time: --timeout SECONDS (0: no limit)"
    bad = HEADER + '@np2fx.node(x="float32[7]")\ndef settle(x):\n    n = 1\n    while n:\n        n += 1\n    return x * n\n'
    good = HEADER + '@np2fx.node(x="float32[7]")\ndef settle(x):\n    for _ in range(10):\n        x = x * 0.5\n    return x\n'


class OutOfMemory(Kind):
    """## What it does

    Reports a node that asked for more memory than it is allowed: `--memory MB`, `verify-memory` in `[tool.np2fx]`.

    ## Why is this bad?

    Where memory runs out there is no answer to compare, so nothing is proven.
    """

    name = "out-of-memory"
    code = "NX312"
    stage = "verify"
    message = "the node asks for more memory than it may have"
    hint = "keep no arrays between calls, try smaller sizes, or give it more memory: --memory MB (0: no limit)"
    bad = HEADER + '@np2fx.node(x="float32[7]")\ndef table(x):\n    return x.sum() + np.zeros(10**15, np.float32)\n'
    good = HEADER + '@np2fx.node(x="float32[7]")\ndef table(x):\n    return x.sum() + np.zeros(10, np.float32)\n'


class AlreadyRewritten(Kind):
    """## What it does

    Reports a node that was rewritten before, and is now verified without what it was.

    ## Why is this bad?

    Held against itself, torch agrees with torch: nothing is proven. `--original git:HEAD~1` (a commit, a file or a folder with the
    code before it was rewritten) holds it against the NumPy it comes from, and so does `np2fx.verify(f, original=numpy_f)`.
    """

    name = "already-rewritten"
    code = "NX313"
    stage = "verify"
    message = "the node is rewritten already: verified against itself it proves nothing"
    hint = "give what it was: --original git:REV, a file or a folder"
    bad = "import np2fx\nimport torch\n\n\n" + (
        '@np2fx.node(x="float32[7]")\n@np2fx.boundary()\ndef sine(x):\n    return torch.sin(x)\n'
    )
    good = HEADER + '@np2fx.node(x="float32[7]")\ndef sine(x):\n    return np.sin(x)\n'


class Mutation(Kind):
    """## What it does

    Reports a node that writes into an array it was given: `x += 1`, `x[mask] = 0`, `np.add(x, 1, out=x)`, `x.sort()`. A list or a dict
    that it was given and changes (`record["mode"] = x`) counts as well.

    ## Why is this bad?

    The caller's array changes. Tracers and exporters lose such a write, or refuse a graph that writes into its input.
    """

    name = "mutation"
    code = "NX401"
    fixable = True
    severity = "warning"
    message = "the node writes into its argument"
    hint = "work on a copy (`x = x.copy()`), or compute a new array: np.where(mask, 0, x)"
    bad = HEADER + "@np2fx.node\ndef shift(x):\n    x += 1\n    return x\n"
    good = HEADER + "@np2fx.node\ndef shift(x):\n    x = x + 1\n    return x\n"


class Aliasing(Kind):
    """## What it does

    Reports a write through a view: `y = x[1:]; y += 1` also changes `x`. Memory that is read by strides of its own is told as well.

    ## Why is this bad?

    What shares memory in NumPy is easily two values in a graph, and one of them misses the write.
    """

    name = "aliasing"
    code = "NX402"
    severity = "warning"
    message = "a write through a view changes another array too"
    hint = "copy before writing, or write into the array itself"
    bad = HEADER + "@np2fx.node\ndef bump(x):\n    y = x * 2\n    tail = y[1:]\n    tail += 1\n    return y\n"
    good = HEADER + "@np2fx.node\ndef bump(x):\n    y = x * 2\n    return np.concatenate([y[:1], y[1:] + 1])\n"


class UninitialisedMemory(Kind):
    """## What it does

    Reports memory that is read before it is written: an `np.empty` that nothing fills, `where=` without `out=`.

    ## Why is this bad?

    The values are whatever the memory held. No translation can agree with them.
    """

    name = "uninitialised-memory"
    code = "NX403"
    message = "this array's values are whatever the memory held"
    hint = "use np.zeros, give out= with where=, or use np.where"
    bad = HEADER + "@np2fx.node\ndef logarithm(x):\n    return np.log(x, where=x > 0)\n"
    good = HEADER + "@np2fx.node\ndef logarithm(x):\n    return np.where(x > 0, np.log(x), 0)\n"


class UnsupportedDtype(Kind):
    """## What it does

    Reports dtypes torch does not have: long double, strings, dates, structured arrays, big-endian numbers.

    ## Why is this bad?

    There is no tensor that holds the same values.
    """

    name = "unsupported-dtype"
    code = "NX501"
    message = "torch has no such dtype"
    hint = "convert to a numeric dtype before the node"
    bad = HEADER + "@np2fx.node\ndef widen(x):\n    return x.astype(np.longdouble)\n"
    good = HEADER + "@np2fx.node\ndef widen(x):\n    return x.astype(np.float64)\n"


class Float64Promotion(Kind):
    """## What it does

    Notes that a float32 array meets a float64 one, so that the result is float64.

    ## Why is this bad?

    It is exact, but the graph computes in double precision from here on, which many targets do slowly or not at all.
    """

    name = "float64-promotion"
    code = "NX502"
    severity = "note"
    message = "float32 is promoted to float64 here"
    hint = "give the other array a dtype: np.zeros(3, dtype=np.float32)"
    bad = HEADER + '@np2fx.node(x="float32[3]")\ndef centre(x):\n    return x - np.array([0.5, 0.5, 0.5])\n'
    good = HEADER + '@np2fx.node(x="float32[3]")\ndef centre(x):\n    return x - np.array([0.5, 0.5, 0.5], dtype=np.float32)\n'


_EVERY: set[type[Kind]] = {*Kind.__subclasses__(), *FILE_KINDS}
KINDS: dict[str, type[Kind]] = {kind.name: kind for kind in sorted(_EVERY, key=lambda kind: kind.code)}
_BY_CODE = {kind.code: kind for kind in KINDS.values()}


def kind_of(name: str) -> type[Kind]:
    """The kind of a name or a code. Raises KeyError."""
    return KINDS.get(name) or _BY_CODE[name]
