"""The libcst passes: what changes source text, one construct a file.

    write_specs   what `np2fx record` saw, as `@np2fx.node(...)` above the functions
"""
