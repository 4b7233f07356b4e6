"""Sizes: what they are said with, which are free, and those that hang on values."""
