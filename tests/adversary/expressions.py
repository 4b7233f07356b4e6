"""Expressions: templates over the slots of `slots.Filling`, by topic, with how often each topic is drawn."""

from __future__ import annotations

from .writer import Failed, Writer

ARITHMETIC = """
{a:n} + {~}|{a:n} - {~:n}|{a} * {~}|{a:n} / {~:n}|{a:x} // {num}|{a:x} % {num}|{a:x} // {~:x}|{a:x} % {~:x}|-{a:n}|abs({a:n})|+{a:n}
{a} + {num}|{num} - {a:n}|{a:n} * {num}|{a:n} / {num}|{num} / {a:n}|{a:n} ** 2|{a:f} ** 0.5|np.abs({a:f}) ** {num}|2 ** {a:f}|{num} // {a:x}|{num} % {a:x}
{a:i} ** 3|({a:n} + {~:n}) * {num}|{a:n} * {s}|{a:n} + np.float32(1.5)|{a:n} * np.float64(0.5)|{a:r} - np.int64(3)|{a:r} + np.int8(2)|{a:n} * np.pi
divmod({a:x}, {num})|divmod({a:x}, {~:x})[1]|{a:n} * True|{a:b} + {~:b}|{a:b} * 2|{a:n} + [1]|{s} + {s}|{s} * {num}|1 - {a:b}|{a:n} - {a:n}.mean()|{a:f} - {a:f}.max()
{a:n} * 1j|{a} + (1 + 2j)|{a:i} / {~:i}|{a:i} * 0.5|np.float16(2) * {a:f}|{a} - {~:i}
"""
COMPARISON = """
{a:r} > {num}|{a:r} < {~:r}|{a} == {~}|{a} != {num}|{a:r} >= {a:r}.mean()|{a:r} <= {num}|({a:r} > 0) & ({~:r} < 2)|({a:r} > 1) | {~:b}|~{a:b}|{a:b} ^ {~:b}
~({a:r} > 0)|{a:i} & {~:i}|{a:i} \\| 3|{a:i} ^ {~:i}|{a:i} << 2|{a:i} >> 1|{a:i} & 1|~{a:i}|{a:b} & {~:b}|{a:b} \\| {~:b}|np.logical_and({a}, {~})
np.logical_not({a})|np.logical_xor({a}, {~})|np.logical_or({a}, {~:b})|np.isclose({a:r}, {~:r})|np.equal({a}, {~})|np.greater({a:r}, {num})|np.isin({a:r}, [1, 2, 3])
np.isnan({a:q})|np.isfinite({a})|np.signbit(np.nan_to_num({a:f}))|np.array_equal({a}, {~})|np.allclose({a:r}, {~:r})|np.not_equal({a}, {~})|np.invert({a:i})|np.bitwise_and({a:i}, 5)
{num} < {a:r}|{a:c} == {~}|np.isinf({a:q})|np.iscomplex({a})|np.isreal({a})
"""
ELEMENTWISE = """
np.sqrt(np.abs({a:n}))|np.sin({a:n})|np.cos({a:r})|np.tanh({a:n})|np.exp(-np.abs({a:r}))|np.log1p(np.abs({a:r}))|np.floor({a:r})|np.ceil({a:f})|np.rint({a:n})|np.trunc({a:r})
np.round({a}, {pos})|np.round({a:r})|np.sign({a:n})|np.square({a})|np.abs({a})|np.conj({a})|np.real({a})|np.imag({a})|np.angle({a})|np.deg2rad({a:x})|np.rad2deg({a:f})|np.arctan2({a:r}, {~:r})
np.hypot({a:r}, {~:r})|np.maximum({a}, {~})|np.minimum({a}, {num})|np.fmax({a:r}, {~:r})|np.fmin({a:r}, {~:r})|np.copysign({a:f}, np.nan_to_num({~:f}))|np.power(np.abs({a:f}), 1.5)|np.fmod({a:x}, {~:x})
np.mod({a:x}, 3)|np.gcd({a:i}, {~:i})|np.logaddexp({a:f}, {~:f})|np.heaviside({a:f}, 0.5)|np.clip({a:r}, -1, 2)|np.clip({a:r}, {num}, None)|np.clip({a:x}, {~:x}, 3)|{a:r}.clip(0, 2)|{a:r}.round(1)
np.nan_to_num({a})|np.reciprocal({a:f})|np.cbrt({a:f})|np.arctan({a:r})|np.expm1({a:f} / 10)|np.sinc({a:f})|np.interp({a:r}, [0, 1, 2], [5.0, 6.0, 8.0])|np.add({a}, {~})|np.subtract({a:n}, {~:n})
np.multiply({a}, {~})|np.true_divide({a:n}, {num})|np.negative({a:n})|np.float_power(np.abs({a:n}), 2)|np.nextafter({a:f}, {~:f})|np.ldexp({a:f}, 2)|np.modf({a:f})[0]|np.frexp({a:f})[1]
np.add({a:n}, {~:n}, dtype=np.float64)|np.floor_divide({a:x}, 2)|np.real_if_close({a:r})|np.unwrap({A:f})|np.positive({a:n})|np.fabs({a:r})|np.exp2({a:f} / 4)|np.sinh({a:f} / 4)|np.arcsinh({a:r})
np.maximum({a:x}, 0)|np.minimum(np.maximum({a:x}, -1), 1)|np.where({a:b}, 1.0, 0.0)|np.clip({a:i}, 0, 5)|np.spacing({a:f})|np.remainder({a:x}, {num})|np.isneginf({a:f})|np.bitwise_count({a:i})
"""
REDUCTIONS = """
np.sum({A}{axkw}{kd})|{A}.sum({axes})|{A}.mean({axes}{kd})|np.mean({A}{axkw})|np.std({A}{axkw}{kd})|{A:r}.std({axes}, ddof=0)|np.var({A}{axkw})|np.min({A:r}{axkw}{kd})|{A:r}.max({axes})
np.max({A}{axkw})|np.prod({A}{ax1})|np.any({A}{axkw})|{A}.all({axes})|np.argmax({A:r}{ax1})|{A:r}.argmin({ax})|np.ptp({A:n}{ax1})|np.median({A:r}{axkw}{kd})|np.count_nonzero({A}{axkw})
np.nansum({A}{axkw})|np.nanmean({A:r}{axkw})|np.nanmax({A:r}{ax1})|np.nanstd({A:f}{axkw})|np.percentile({A:x}, 30{axkw})|np.quantile({A:x}, [0.25, 0.5]{ax1})|np.average({A:n}{ax1})
np.cumsum({A}{ax1}{dtkw})|{A:n}.cumsum({ax})|np.cumprod({A}{ax1})|np.diff({A}{ax1})|np.sum({A}, dtype=np.float64)|{A}.sum(dtype={dt})|np.add.reduce({A}, axis={ax})|np.maximum.accumulate({A:r}{ax1})
np.add.accumulate({A}, axis={ax})|np.logical_or.reduce({A}, axis={ax})|np.multiply.reduce({A:n}, axis={axes}{kd})|np.minimum.reduce({A:r}, axis={ax})|np.linalg.norm({A:n})|np.linalg.norm({A:n}, axis={ax}{kd})
np.average({V:n}, weights=np.arange(1, {n} + 1))|np.trapezoid({V:n})|np.sum({A}, initial={num})|np.sum({A:n}, where={~:b})|np.mean({A:n}, axis={ax}, where=np.abs({=:r}) >= 0)|np.var({A:n}, ddof=1)
np.max({A:r}, initial=0)|{A:r}.min({ax}, keepdims=True)|np.all({A} > 0)|np.gradient({V:x})|np.ediff1d({V:n})|np.cov({M:x})|np.corrcoef({V:f}, {=:f})|{A}.prod()|np.nanmin({A:f})|np.nanprod({A:r})
np.sum(np.abs({A}) ** 2{axkw})|np.sqrt(np.mean({A:r} ** 2{axkw}{kd}))|{A:n} / {A:n}.sum({ax}, keepdims=True)|np.nanargmax({A:r})|np.nancumsum({A})|np.cumulative_sum({V})
"""
CREATION = """
np.zeros({dims})|np.ones({dims}, {dt})|np.full({dims}, {num})|np.arange({pos})|np.arange(0, {pos}, 0.5)|np.linspace(0, 1, {pos})|np.eye({pos})|np.zeros_like({a})|np.ones_like({a}, dtype={dt})
np.full_like({a}, {num})|np.identity(3)|np.array([1, 2, {num}])|np.array([[1.5, 2], [3, 4]])|np.array([1, 2, 3], dtype={dt})|np.asarray({a})|np.array({a})|np.array({a}, dtype={dt})|np.array([{s}, {s}])
np.array([[{s}, 0], [1, {s}]])|np.asarray([{s}, {num}])|np.tri(3)|np.zeros({A}.shape)|np.zeros(({A}.shape[0], 2), {A}.dtype)|np.zeros(len({A}))|np.full({A}.shape, {s})
np.arange({A}.shape[0])|np.arange(len({A}), dtype=np.float32)|np.meshgrid({V}, {V})[{pm}]|np.indices((2, 3))|np.array([{A}[0], {A}[0]])|np.stack([{A}, {=}])|np.array(3.0)|np.float32({s})|np.array({A}.shape)
np.arange({pos}, -1, -1)|np.logspace(0, 1, 3)|np.ones((2, 1)) * {V}|np.vander({V:x}, 3)|np.diag({V})|np.asarray({a}, dtype={dt})|np.ascontiguousarray({A})|np.int64({num})|np.float64({s:f})|np.fromfunction(lambda i, j: i + j, (2, 3))
np.hanning(4)|np.bartlett({pos})|np.array([{A}.mean(), {A}.max()])|np.array([{A}.shape[0], 2.5])|np.linspace({s}, {s}, 3)|np.zeros((0, 2))|np.array([])
"""
SHAPES = """
{A}.reshape({shape})|np.reshape({A}, {shape})|{A}.ravel()|{A}.flatten()|{A}.T|{A}.transpose()|np.transpose({N}, {perm})|{N}.swapaxes(0, -1)|np.moveaxis({N}, {ax}, {ax})|np.expand_dims({a}, {ed})|np.squeeze({A})
np.broadcast_to({V}, (2, {n}))|np.atleast_2d({a})|np.repeat({A}, {pos}{ax1})|np.tile({A}, 2)|np.tile({V}, (2, 1))|np.roll({A}, {int})|np.roll({A}, {int}, axis={ax})|np.rot90({N})|np.flip({A}{ax1})
np.fliplr({N})|np.flipud({A})|np.pad({A}, 1)|np.pad({A}, 1, mode='edge')|np.pad({V}, ({pos}, 0), constant_values={num})|np.pad({V}, 1, mode='reflect')|np.split({A}, {n})[0]|np.array_split({A}, 2)[{pm}]
np.stack([{A}, {=}], axis={ax})|np.concatenate([{A}, {=}], axis={ax})|np.concatenate(({V}, {V}))|np.hstack([{A}, {=}])|np.vstack([{A}, {=}])|np.vstack(({V}, {=}))|np.dstack([{A}, {=}])
np.column_stack([{V}, {=}])|np.append({A}, {num})|np.insert({V}, 0, {num})|np.delete({V}, {pm})|{A}.reshape(-1)|{A}.reshape({A}.shape[0], -1)|{A}[..., None]|{A}[None]|{a}.copy()|np.copy({A})|np.r_[{V}, {num}]|np.c_[{V}, {=}]
np.rollaxis({N}, {ax})|{A}.squeeze()|{A}.repeat(2)|np.resize({V}, (2, 3))|np.ravel({A}{order})|{N}.T.reshape({shape})|{A}.reshape({shape}{order})|np.concatenate([{A}, {=}], axis=None)|np.broadcast_arrays({A}, {~})[1]
np.swapaxes({N}, {ax}, {ax})|np.hsplit({M}, {last})[0]|np.block([{V}, {=}])|np.stack([{V}, {=}], -1)|np.atleast_1d({a})|np.lib.stride_tricks.sliding_window_view({V}, 1)|np.matrix_transpose({N})
"""
SELECTION = """
{A}[{idx}]|{A}[{idx}]|{A}[{idx}]|{A}[{idx}]|{A}[{sidx}]|{A}[{idx}][{pm}]|np.where({a:b}, {~}, {num})|np.where({a:r} > 0, {=}, {~})|np.where({a:r} > {num}, {=:r} * 2, 0)|np.select([{a:r} > 1, {=:r} < 0], [{=}, 0], {num})
np.take({A}, [0, -1]{ax1})|{A}.take(0, axis={ax})|np.take_along_axis({A:r}, np.argsort({=:r}, axis=-1, kind='stable'), axis=-1)|np.sort({A:r}{ax1})|np.argsort({A:r}{ax1}, kind='stable')|np.argsort({A:x})
np.searchsorted([0.0, 1.0, 2.0], {a:r})|np.digitize({A:x}, [-1, 0, 2])|np.partition({A:r}, 0)[..., 0]|np.diag({M})|np.diagonal({N})|np.tril({N})|np.triu({N}, 1)|np.trace({M})|{M}.trace()|{M}.diagonal()
np.compress([True, False], {A}, axis=0)|np.choose({V:i} % 2, [{=}, -{=:n}])|np.sort({A:x})[::-1]|np.lexsort(({V:x}, {=:x}))|{A:x}[np.argmax({=:x}.ravel()) % {n}]|{A}[-1]|{A}[::-1]|{A}[..., ::-1]|{A}[1:]|{A}[:, None]
np.histogram({A:x}, bins=3, range=(-5, 5))[0]|np.bincount(np.abs({V:i}) % 4, minlength=4)|np.piecewise({a:f}, [{=:f} < 0, {=:f} >= 0], [-1.0, 1.0])|np.extract([True], {V})
np.convolve({V:x}, [1, 0.5])|np.correlate({V:x}, {V:x}, 'full')|np.triu_indices(3)[{pm}]|np.tril_indices({pos})[0]|np.unravel_index(3, (2, 2))[{pm}]|np.flatnonzero(np.arange(4) > 1)|np.polyval([1, 2, 3], {a:n})
"""
PRODUCTS = """
np.dot({V:n}, {=:n})|{V:n} @ {=:n}|{M:n} @ {M:n}.T|np.dot({M:n}, {M:n})|{M:n} @ {V:n}|np.matmul({N:n}, {N:n}.swapaxes(-1, -2))|np.einsum('ij,ij->i', {M:n}, {=:n})|np.einsum('ij,kj->ik', {M:n}, {M:n})
np.einsum('i,j->ij', {V:n}, {V:n})|np.einsum('ij->ji', {M})|np.einsum('ij->j', {M:n})|np.tensordot({A:n}, {=:n}, axes=1)|np.outer({V:n}, {V:n})|np.inner({V:n}, {=:n})|np.kron({V:n}, {V:n})
np.cross({V:n}, {=:n})|np.vdot({V:n}, {=:n})|np.float32(np.linalg.det({M:f} @ {M:f}.T + 9 * np.eye(len({M:f}))))|np.linalg.inv({M:f} @ {M:f}.T + 9 * np.eye(len({M:f})))|np.linalg.solve(9 * np.eye({n}) + 1, {V:f})|np.multiply.outer({V}, {V})
np.add.outer({V:n}, {V:n})|np.subtract.outer({V:x}, {V:x})|{V:n}.dot({=:n})|np.trace({M:n} @ {M:n}.T)|np.einsum('...i,...i->...', {A:n}, {=:n})|{M:b} @ {M:b}.T|np.linalg.matrix_power(np.eye(2) * 2, 3) @ np.ones(2)
np.maximum.outer({V:x}, {V:x})|np.vecdot({A:n}, {=:n})|np.tensordot({M:n}, {M:n}.T, axes=([1], [0]))|np.linalg.norm({V:n}, ord=1)|np.einsum('ii', {M:n})|np.diag({M} @ {M}.T)
"""
CONVERSION = """
{a}.astype({dt})|{A}.astype(np.float32) / 255|{a:r}.astype(float)|np.float32({a:r})|{a}.real|{a}.imag|{a}.conj()|({a:r} > 0).astype({dt})|{a}.astype({a}.dtype)|{a:b}.astype(int)|{a:x}.astype(np.complex64)|{a:f}.astype(np.float16)
{A}.shape|{A}.ndim|{A}.size|len({A})|{A}.shape[-1]|{A}.dtype == np.float32|np.shape({a})|np.ndim({a})|np.size({A}, {ax})|{A}.nbytes|np.result_type({a}, {~})|{a}.astype('int32')|np.iinfo(np.int32).max|np.finfo(np.float32).eps
np.issubdtype({a}.dtype, np.floating)|isinstance({a}, np.ndarray)|{a}.dtype|np.prod({A}.shape)|int(np.prod({A}.shape))|np.asarray({a}).shape|{A:f}.view(np.ndarray)|np.isscalar({num})|np.can_cast(np.int32, np.float64)
"""
BUILTINS = """
abs({a:n})|sum({V:n})|sum({M:n})|round({num}, 1)|len({A})|max({A}.shape)|min({A}.shape)|sum([{A}, {=}])|sum({A}.shape)|tuple({A}.shape)|[v * 2 for v in {A}]|[{A}[i] for i in range({n})]|np.array([v + 1 for v in {A}])
np.stack([r * 2 for r in {A}])|sum(v * w for v, w in zip({V:n}, {=:n}))|[i * v for i, v in enumerate({A})]|dict(a={A}, b=2)['a']|list({A})|tuple({A})|list(zip({A}, {=}))|max({num}, {num})|np.array([r.sum() for r in {A}])
[*{V}]|({A}, {num})[0]|[{A}, {=}][-1]|list(reversed({V}))|list(map(lambda t: t * 2, {A}))|{A} if {A}.ndim > 1 else {A} * 2|{A} if {A}.shape[0] == 3 else -{=:n}|(lambda t, k=2: t * k)({a})|np.array([[i * j for j in range(2)] for i in range({n})])
f'{{A}.shape}'|str({A}.ndim)|[r[0] for r in {N}]|sum(r.sum() for r in {A:n})|all([True, {A}.ndim > 1])|np.array(list({A}))|np.array([{s}, *[1, 2]])|{k: v * 2 for k, v in zip('ab', {A})}|np.array(list(range({n})))|not {num}
"""
LEAVING = """
float({s})|int({s:r})|bool({s})|{A}.tolist()|{V}[0].item()|{a:r}.max().item()|min({V:r})|max({V:r})|sorted({V:r})|f'{{a:r}.sum():.2f}'|{A}[{=:r} > 0]|np.nonzero({A})[0]|np.unique({V:r})|{A}.any() and {num}
{num} in {A}|np.flatnonzero({V})|np.argwhere({A})|1 if {s:r} > 0 else 2|str(bool({s}))|{a:r}[{=:b}].sum()|np.where({V:r} > 0)[0]|range(int(np.sum({V:b})))|'%.2g' % ({A:r}.max(),)|any({V})|all({V:b})|np.array(sorted({V:r}))|np.trim_zeros({V})|Box({a:n}).doubled()
"""
HELPERS = """
normalise({A:n})|normalise({A:n}, eps=0.5)|scale({a:n})|scale({a:n}, 3)|scale({a:n}, by={num})|two({a:n})[1]|affine({a:n}, {num}, b=2)|first({A})|{A} + shift|centre({A:n})|centre({A:n}, axis={ax})|clamp({a:r}, 0, 1)|softmax({A:x})
relu({a:x})|stacked({A}, {=})|windows({V})|polynomial({a:x}, 1, 2, 3)|apply(np.cos, {a:r})|apply(scale, {a:n})|pick({a:n}, 'twice')|pick({a:n}, 'same')|norms({A:n})|one_hot({V:i} % 3)|accumulate({V:n})
"""

TOPICS = {
    ARITHMETIC: 22, COMPARISON: 8, ELEMENTWISE: 15, REDUCTIONS: 15, CREATION: 8, SHAPES: 16, SELECTION: 16, PRODUCTS: 6, CONVERSION: 5,
    BUILTINS: 6, HELPERS: 7,
}  # fmt: skip


def templates(topic: str) -> list[str]:
    """The templates of a topic; `\\|` stands for the operator."""
    return [t.replace("\0", "|") for line in topic.replace("\\|", "\0").strip().split("\n") for t in _split(line)]


def _split(line: str) -> list[str]:
    """Templates are separated by `|` with no space beside it; ` | ` is the operator."""
    parts, text = [], ""
    for i, c in enumerate(line):
        if c == "|" and line[i - 1 : i] != " ":
            parts.append(text)
            text = ""
        else:
            text += c
    return [*parts, text]


_TABLE = {tuple(templates(topic)): weight for topic, weight in TOPICS.items()}
_LEAVING = templates(LEAVING)


def expression(writer: Writer) -> str:
    """Any expression that NumPy takes. Raises Failed where none is found in a few attempts."""
    for _ in range(6):
        if writer.leaving and writer.chance(0.12):
            template = writer.rng.choice(_LEAVING)
        else:
            (topic,) = writer.rng.choices(list(_TABLE), list(_TABLE.values()))
            template = writer.rng.choice(topic)
        try:
            text = writer.fill(template)
            writer.value(text)
        except Failed:
            continue
        writer.used.add(template)
        return f"({text})" if writer.depth >= 10 else text
    raise Failed("no expression fits")
