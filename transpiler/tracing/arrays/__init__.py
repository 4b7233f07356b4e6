"""What the traced function holds: in place of arrays, NumPy's scalars, Python's numbers, tensors and text."""
