"""What happens to values on their way: writes, memory, order, branches that can be choices."""
