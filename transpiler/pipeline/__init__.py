"""Nodes and their specs, regions, and the files that graphs are exported to."""
