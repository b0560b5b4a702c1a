"""Arithmetic of PTX's floats, rounded once: add, multiply, fused multiply-add, divide, square root.

PTX ISA 9.0, section 9.7.3.  Round-to-nearest-even is NumPy's own.  A single-precision result in another
rounding, and a fused one, is computed in double precision *rounded to odd* and rounded again, which gives the
single rounding's result (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
algorithms
using rounding to odd", IEEE Trans. Computers 57(4), 2008).  In double precision error-free transformations do
the same where no intermediate value overflows or underflows; the few elements where one would are computed
with integers (``exact``).

Rounding modes are PTX's: ``rn`` to nearest even, ``rz`` towards zero, ``rm`` down, ``rp`` up.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from . import exact

F32_NAN = 0x7FFFFFFF
"""Single-precision NaN results are this one (CUDA C++ Programming Guide, "Floating-Point Standard")."""

_MIDDLE = np.int64(0x10000000)
_LOW = np.int64(0x1FFFFFFF)
_TINY32 = 2.0**-126


def add(a: Array, b: Array, mode: str) -> Array:
    """Return a + b; both float32 or both float64."""
    if mode == "rn":
        return np.add(a, b)
    if a.dtype == np.float32:
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        return narrow(_signed_zero(odd_sum(wide_a, wide_b), wide_a, wide_b, mode), mode)
    total = np.add(a, b)
    error = _sum_error(a, b, total)
    result = _signed_zero(_directed(total, error, mode), a, b, mode)
    # Near the largest number the error itself cannot be computed.
    hard = ~np.isfinite(error) & np.isfinite(a) & np.isfinite(b)
    return exact.repair(result, hard, (a, b), exact.add, mode)


def multiply(a: Array, b: Array, mode: str) -> Array:
    """Return a · b; both float32 or both float64."""
    if mode == "rn":
        return np.multiply(a, b)
    if a.dtype == np.float32:
        return narrow(np.multiply(a.astype(np.float64), b.astype(np.float64)), mode)
    product = np.multiply(a, b)
    result = _directed(product, _product_error(a, b, product), mode)
    return exact.repair(result, ~_safe_product(a, b), (a, b), exact.multiply, mode)


def divide(a: Array, b: Array, mode: str) -> Array:
    """Return a / b; both float32 or both float64.

    A quotient of two floats of 24 bits is never so near to one of their kind that 53 bits do not tell.
    """
    if mode == "rn":
        return np.divide(a, b)
    if a.dtype == np.float32:
        return narrow(np.divide(a.astype(np.float64), b.astype(np.float64)), mode)
    result = np.divide(a, b)
    return exact.repair(result, np.ones(result.shape, np.bool_), (a, b), exact.divide, mode)


def square_root(a: Array, mode: str) -> Array:
    """Return √a of float32 or float64."""
    if mode == "rn":
        return np.sqrt(a)
    if a.dtype == np.float32:
        return narrow(np.sqrt(a.astype(np.float64)), mode)
    result = np.sqrt(a)
    return exact.repair(result, np.ones(result.shape, np.bool_), (a,), exact.square_root, mode)


def fma(a: Array, b: Array, c: Array, mode: str) -> Array:
    """Return a · b + c, rounded once; all float32 or all float64."""
    if a.dtype == np.float32:
        return _fma32(a, b, c, mode)
    if mode == "rn":
        return exact.repair(_fma64(a, b, c), ~_safe_fma(a, b, c), (a, b, c), exact.fma, mode)
    result = _fma64(a, b, c)
    return exact.repair(result, np.ones(result.shape, np.bool_), (a, b, c), exact.fma, mode)


def _fma32(a: Array, b: Array, c: Array, mode: str) -> Array:
    product = np.multiply(a.astype(np.float64), b.astype(np.float64))
    wide = c.astype(np.float64)
    if mode != "rn":
        return narrow(_signed_zero(odd_sum(product, wide), product, wide, mode), mode)
    total = np.add(product, wide)
    result: Array = total.astype(np.float32)
    # Rounding twice goes wrong only from the middle between two floats, or where the result is subnormal.
    doubtful = (total.view(np.int64) & _LOW) == _MIDDLE
    doubtful |= (np.abs(total) < _TINY32) & (total != 0)
    if doubtful.any():
        product, wide = (np.broadcast_to(value, total.shape)[doubtful] for value in (product, wide))
        result[doubtful] = odd_sum(product, wide).astype(np.float32)
    return result


def odd_sum(a: Array, b: Array) -> Array:
    """Return a + b of float64 rounded to odd: cut off, and the last bit set if anything was cut off."""
    total = np.add(a, b)
    error = _sum_error(a, b, total)
    return _odd(total, error)


def _odd(total: Array, error: Array) -> Array:
    bits = total.view(np.int64)
    inexact = (error > 0) | (error < 0)
    even = inexact & ((bits & 1) == 0)
    outward = (error > 0) == (total > 0)
    odd: Array = (bits + np.where(even, np.where(outward, 1, -1), 0)).view(np.float64)
    return odd


def narrow(value: Array, mode: str, target: type[np.floating] = np.float32) -> Array:
    """Return float64 values as float32 or float16, in any rounding."""
    result: Array = value.astype(target)
    if mode == "rn":
        return result
    back = result.astype(np.float64)
    if mode == "rz":
        over, towards = np.abs(back) > np.abs(value), target(0)
    elif mode == "rm":
        over, towards = back > value, target(-np.inf)
    else:
        over, towards = back < value, target(np.inf)
    # A value that was infinite before is not over; a finite one that became infinite is.
    return np.where(over, np.nextafter(result, towards), result)


def _signed_zero(total: Array, a: Array, b: Array, mode: str) -> Array:
    """Return a sum with the zero that rounding down gives: -0 unless both terms are +0 (IEEE 754, 6.3)."""
    if mode != "rm":
        return total
    negative = (total == 0) & (np.signbit(a) | np.signbit(b))
    return np.where(negative, -0.0, total)


def _directed(value: Array, error: Array, mode: str) -> Array:
    """Return a value rounded to nearest, moved to the other neighbour where its error wants it."""
    if mode == "rz":
        over, towards = (error < 0) & (value > 0) | (error > 0) & (value < 0), 0.0
    elif mode == "rm":
        over, towards = error < 0, -np.inf
    else:
        over, towards = error > 0, np.inf
    return np.where(over, np.nextafter(value, towards), value)


def _sum_error(a: Array, b: Array, total: Array) -> Array:
    """Return a + b - total exactly (Knuth's TwoSum); NaN where something is infinite."""
    part = total - a
    error: Array = (a - (total - part)) + (b - part)
    return error


_SPLIT = 134217729.0


def _halves(value: Array) -> tuple[Array, Array]:
    scaled = value * _SPLIT
    high = scaled - (scaled - value)
    return high, value - high


def _product_error(a: Array, b: Array, product: Array) -> Array:
    """Return a · b - product exactly (Dekker), where nothing overflows or underflows."""
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error: Array = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return error


def _fma64(a: Array, b: Array, c: Array) -> Array:
    """Return a · b + c where ``_safe_fma`` holds (Boldo and Melquiond, "Fma emulation")."""
    high = a * b
    low = _product_error(a, b, high)
    top = c + low
    top_low = _sum_error(c, low, top)
    value = high + top
    value_low = _sum_error(high, top, value)
    result: Array = value + odd_sum(top_low, value_low)
    return result


def _exponents(value: Array) -> Array:
    """Return exponents so that 2^(e-1) <= |value| < 2^e; 0 for 0."""
    return np.frexp(value)[1].astype(np.int64)


_LARGE = 990
"""Exponents below this: splitting a number multiplies it by 2**27."""

_SMALL = -900
"""Exponents of products above this: the lowest bit of an error term is then no smaller than 2**-1074."""


def _safe_product(a: Array, b: Array) -> Array:
    """Return where the product's error term is exact."""
    first, second = _exponents(a), _exponents(b)
    finite = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    small = (np.maximum(first, second) < _LARGE) & (first + second < _LARGE) & (first + second > _SMALL)
    plain: Array = ~finite | small
    return plain


def _safe_fma(a: Array, b: Array, c: Array) -> Array:
    """Return where ``_fma64`` is right: no term over- or underflows."""
    exponent = _exponents(c)
    term = (c == 0) | ((exponent < _LARGE) & (exponent > _SMALL))
    product = _exponents(a) + _exponents(b)
    inside = (np.maximum(_exponents(a), _exponents(b)) < _LARGE) & (product < _LARGE) & (product > _SMALL)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    safe: Array = finite & (a != 0) & (b != 0) & inside & term
    return safe
