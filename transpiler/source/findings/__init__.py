"""`check`: the kinds of finding, and the walk that says them."""
