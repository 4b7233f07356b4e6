"""What is written down while the function runs: nodes, memory and views, guards, and what is compared with NumPy."""
