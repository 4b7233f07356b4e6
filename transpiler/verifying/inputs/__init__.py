"""What a node is called with, and the functions themselves: files, rewritten files, objects."""
