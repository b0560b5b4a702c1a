"""Runs the planned gates as a graph, side by side, and journals each before another depends on it."""
