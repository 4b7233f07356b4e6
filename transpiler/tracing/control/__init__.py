"""Branches, loops and caught errors that hang on values."""
