"""NumPy's array object on a torch tensor, and NumPy's names for it.

`ndarray` is an object that holds a tensor and behaves as `numpy.ndarray` does: operators, indexing, writes through views, 0-d arrays and
scalars, methods, text, copies. Code that was written for NumPy runs on it as it stands. Scalars are NumPy's own; where a gradient hangs on
one, or it lies on another device than the CPU, it is NumPy's scalar with its tensor beside it.

    memory     the memory of an array as NumPy sees it, views that run backwards among it
    scalars    what a 0-d tensor is that is no array
    passing    the way of a call: objects to tensors, a rule, tensors to objects
    ndarray    the array object
    operators  its operators, made from Python's data model
    methods    its methods and attributes, made from the rules and from NumPy's own
    flat       `a.flat`
    ufuncs     NumPy's ufuncs over it
    namespace  NumPy's names over it
    on_torch   the decorator of functions that are NumPy on torch; `boundary` is their way in and out
    ways       which of the dialects the running code is in
    signed     functions that stand for others, with their signature
"""
