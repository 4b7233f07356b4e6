"""A compiled pipeline on disk: its description, and what runs it from the files alone."""
