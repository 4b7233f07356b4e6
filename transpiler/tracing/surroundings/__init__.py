"""What a function finds around it and may find again at its next call: globals, closures, classes, threads."""
