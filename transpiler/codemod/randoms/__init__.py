"""`rewrite --random-as-input`: random numbers that a node draws become its parameters."""
