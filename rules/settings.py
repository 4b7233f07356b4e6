"""NumPy's own settings and dtype names: nothing here touches an array, so NumPy's function is called as it is.

torch reports no floating-point errors, so that a setting under which NumPy raises or calls back is refused.
"""

from __future__ import annotations

import numpy

from ..semantics.dtypes import to_numpy
from ..semantics.entering import rule
from ..semantics.table import Refused, refuse


@rule("numpy.seterr", kind="python", examples=("list(np.seterr())",))
def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """torch neither warns nor raises on floating-point errors: "raise" and "call" are refused."""
    _check_silent(all, divide, over, under, invalid)
    return numpy.seterr(all, divide, over, under, invalid)

@rule("numpy.errstate", kind="python", examples=("np.errstate(all='ignore').__exit__(None, None, None)",))
def errstate(**kwargs):
    _check_silent(*(v for k, v in kwargs.items() if k != "call"))
    return numpy.errstate(**kwargs)

def _check_silent(*settings):
    loud = next((s for s in settings if s not in ("ignore", "warn", "print", "log", None)), None)
    if loud is not None:
        raise Refused(f"floating-point errors that {loud}", "test for what must not happen: if not np.isfinite(x).all(): raise ...")

@rule("numpy.geterr", kind="python", examples=("np.geterr()",))
def geterr():
    return numpy.geterr()

@rule("numpy.set_printoptions", kind="python", examples=("np.set_printoptions()",))
def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None, nanstr=None, infstr=None,
                     formatter=None, sign=None, floatmode=None, *, legacy=None, override_repr=None):  # fmt: skip
    return numpy.set_printoptions(precision, threshold, edgeitems, linewidth, suppress, nanstr, infstr, formatter, sign, floatmode,
                                  legacy=legacy, override_repr=override_repr)  # fmt: skip

@rule("numpy.get_printoptions", kind="python", examples=("np.get_printoptions()['precision']",))
def get_printoptions():
    return numpy.get_printoptions()

@rule("numpy.printoptions", kind="python", examples=("np.printoptions(precision=2).__exit__ is None",))
def printoptions(*args, **kwargs):
    return numpy.printoptions(*args, **kwargs)

@rule("numpy.getbufsize", kind="python", examples=("np.getbufsize()",))
def getbufsize():
    return numpy.getbufsize()

@rule("numpy.setbufsize", kind="python", examples=("np.setbufsize(8192)",))
def setbufsize(size):
    return numpy.setbufsize(size)

@rule("numpy.typename", kind="python", examples=("np.typename('f')", "np.typename(a.dtype.char)"))
def typename(char):
    return numpy.typename(char)

@rule("numpy.mintypecode", kind="python",
      examples=("np.mintypecode(['d', 'f', 'S'])", "np.mintypecode([a, b])", "np.mintypecode('if', 'fd')"))  # fmt: skip
def mintypecode(typechars, typeset="GDFgdf", default="d"):
    """Of arrays and type characters alike."""
    return numpy.mintypecode([t if isinstance(t, str) else to_numpy(t.dtype).char for t in typechars], typeset, default)

refuse("numpy.seterrcall", "numpy.geterrcall", reason="torch reports no floating-point errors that a function could be called for",
       hint="test for what must not happen: if not np.isfinite(x).all(): raise ...", finding="side-effect")  # fmt: skip
refuse("numpy.info", "numpy.show_config", "numpy.show_runtime", "numpy.get_include", "numpy.test", "numpy.linalg.test", "numpy.fft.test",
       "numpy.polynomial.test", "numpy.random.test",
       reason="it tells of NumPy's installation, or runs its tests", hint="call it outside the node", finding="side-effect")  # fmt: skip
refuse("numpy.shares_memory", "numpy.may_share_memory", reason="whether arrays share memory is no part of a graph",
       hint="decide it outside the node, or write the code so that it does not depend on it", finding="python-value")  # fmt: skip
