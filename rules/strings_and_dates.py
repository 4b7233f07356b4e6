"""Text, dates, objects and records: what torch has no dtype for."""

from __future__ import annotations

import numpy
import torch

from ..semantics.entering import rule
from ..semantics.table import Refused, refuse


def _number(x):
    if isinstance(x, torch.Tensor):
        raise Refused("text of an array's values", "return the array and make text of it outside", "python-value")
    return x

@rule("numpy.format_float_positional", kind="python",
      examples=("np.format_float_positional(3.14159, precision=3)", "np.format_float_positional(2.5, trim='-')"))  # fmt: skip
def format_float_positional(x, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None, pad_right=None,
                            min_digits=None):  # fmt: skip
    """Of a Python number: text has no place in a graph."""
    return numpy.format_float_positional(_number(x), precision, unique, fractional, trim, sign, pad_left, pad_right, min_digits)

@rule("numpy.format_float_scientific", kind="python", examples=("np.format_float_scientific(31415.9, precision=3)",))
def format_float_scientific(x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None):
    """Of a Python number: text has no place in a graph."""
    return numpy.format_float_scientific(_number(x), precision, unique, trim, sign, pad_left, exp_digits, min_digits)

refuse("numpy.array2string", "numpy.array_repr", "numpy.array_str", reason="text of an array's values has no place in a graph",
       hint="return the array from the node and make text of it outside", finding="python-value")  # fmt: skip
refuse("numpy.busday_count", "numpy.busday_offset", "numpy.is_busday", "numpy.busdaycalendar", "numpy.datetime_as_string",
       "numpy.datetime_data", "numpy.isnat", reason="torch has no dates",
       hint="turn dates into integers before the node: days.astype('datetime64[D]').astype(np.int64)")  # fmt: skip
refuse("numpy.frompyfunc", reason="it calls Python for every element and gives an array of objects",
       hint="use array functions, or np.vectorize", finding="object-dtype")  # fmt: skip
refuse("numpy.recarray", reason="torch has no records", hint="give the fields arrays of their own", finding="object-dtype")
refuse("numpy.nested_iters", reason="it hands out the elements one by one", hint="use array functions, or loops over indices",
       finding="element-iteration")  # fmt: skip
refuse("numpy.broadcast", reason="it hands out the elements one by one",
       hint="use np.broadcast_arrays, or np.broadcast_shapes for the shape", finding="element-iteration")  # fmt: skip

_TEXT = (
    "add center capitalize count decode encode endswith equal expandtabs find greater greater_equal index isalnum isalpha isdecimal "
    "isdigit islower isnumeric isspace istitle isupper less less_equal ljust lower lstrip mod multiply not_equal partition replace "
    "rfind rindex rjust rpartition rstrip startswith str_len strip swapcase title translate upper zfill"
)
_TEXT_OF_CHAR = "array asarray chararray compare_chararrays join rsplit split splitlines"
_RECORDS = "array find_duplicate format_parser fromarrays fromfile fromrecords fromstring"

for _name in [f"char.{n}" for n in f"{_TEXT} {_TEXT_OF_CHAR}".split()] + [f"strings.{n}" for n in f"{_TEXT} slice".split()]:
    refuse(f"numpy.{_name}", reason="torch has no text", hint="work on the text outside the node, pass numbers in", finding="object-dtype")
for _name in _RECORDS.split():
    refuse(f"numpy.rec.{_name}", reason="torch has no records", hint="give the fields arrays of their own", finding="object-dtype")
