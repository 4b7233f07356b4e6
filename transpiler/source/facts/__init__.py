"""What is known of expressions before they run: kinds, dtypes, ranks, and what calls give."""
