"""The static half: bytes in, findings out. It imports neither torch nor NumPy, and runs nothing that it reads."""
