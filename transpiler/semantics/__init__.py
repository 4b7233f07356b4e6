"""What the rules share: NumPy's dtypes and promotion, its arrays and scalars, ufuncs, index keys, and the table that the rules go into."""
