"""What each of the two dialects needs of a function's surroundings, and why a function is in the one that it is in."""
