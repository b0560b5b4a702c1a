"""PTX values executed over many threads at once with NumPy."""
