"""Modules that are rewritten as they are imported: their files stay as they are.

    hook    the finder that `install` and `converted` put before Python's own
"""
