"""Approximate functions: more precise than asked for, with the special cases that PTX states."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

_LARGEST_DIVISOR = np.float32(2.0**126)


def divide(a: Array, b: Array) -> Array:
    """Return a / b of float32 as ``div.approx`` does: divisors above 2^126 give 0 (PTX ISA 9.0, 9.7.3.8)."""
    quotient = np.divide(a, b)
    large = (np.abs(b) > _LARGEST_DIVISOR) & np.isfinite(b)
    if not large.any():
        return quotient
    zero = np.copysign(np.float32(0), quotient)
    return np.where(large, np.where(np.isinf(a), np.float32(np.nan), zero), quotient)


def reciprocal_root(a: Array) -> Array:
    """Return 1/√a; of -0 it is -∞."""
    return np.divide(np.float64(1), np.sqrt(a))
