"""Processes: what a node does to its own ends with it."""
