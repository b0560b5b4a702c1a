"""PTX text to immutable values."""
