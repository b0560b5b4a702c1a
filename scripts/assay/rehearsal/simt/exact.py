"""Floating-point operations in exact arithmetic, one element at a time, for the rare hard cases.

The oracle of ``rounding``: nothing here rounds but ``rounded``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ..arrays import Array

Operation: TypeAlias = "Callable[..., float]"


def repair(result: Array, hard: Array, operands: tuple[Array, ...], operation: Operation, mode: str) -> Array:
    """Return ``result`` (float64) with the elements where ``hard`` is true computed exactly."""
    if not hard.any():
        return result
    result = np.array(result)
    given = [np.broadcast_to(operand, result.shape) for operand in operands]
    for at in np.flatnonzero(np.broadcast_to(hard, result.shape)):
        result[at] = operation(*(float(operand[at]) for operand in given), mode)
    return result


def add(a: float, b: float, mode: str) -> float:
    """Return a + b."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a + b
    return _sum(Fraction(a), Fraction(b), (_negative(a), _negative(b)), mode)


def multiply(a: float, b: float, mode: str) -> float:
    """Return a · b."""
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0 or b == 0:
        return a * b
    return rounded(Fraction(a) * Fraction(b), mode)


def divide(a: float, b: float, mode: str) -> float:
    """Return a / b."""
    if b == 0 or not (math.isfinite(a) and math.isfinite(b)) or a == 0:
        return float(np.divide(np.float64(a), np.float64(b)))
    return rounded(Fraction(a) / Fraction(b), mode)


def square_root(a: float, mode: str) -> float:
    """Return √a."""
    if not math.isfinite(a) or a <= 0:
        return float(np.sqrt(np.float64(a)))
    number, scale = a.as_integer_ratio()
    shift = scale.bit_length() - 1
    # a = n / 2^s: make s even and large, so that the root has far more bits than a result; what is cut off
    # becomes one last bit.
    more = _ROOT_BITS + (shift & 1)
    number <<= more
    root = math.isqrt(number)
    return rounded(Fraction(2 * root + (root * root != number), 1 << (shift + more) // 2 + 1), mode)


_ROOT_BITS = 240


def fma(a: float, b: float, c: float, mode: str) -> float:
    """Return a · b + c, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c if not (math.isfinite(a) and math.isfinite(b)) else c
    signs = (_negative(a) != _negative(b), _negative(c))
    return _sum(Fraction(a) * Fraction(b), Fraction(c), signs, mode)


def _sum(first: Fraction, second: Fraction, negative: tuple[bool, bool], mode: str) -> float:
    """Return a sum; a zero gets the sign of IEEE 754, 6.3."""
    total = first + second
    if total:
        return rounded(total, mode)
    both = negative[0] and negative[1]
    return -0.0 if both or (mode == "rm" and (negative[0] or negative[1])) else 0.0


def _negative(value: float) -> bool:
    return math.copysign(1.0, value) < 0


_BITS = 53
_LOWEST = -1074
_HIGHEST = 1023


def rounded(value: Fraction, mode: str) -> float:
    """Return a number that is not 0 as a float64 (IEEE 754, 4.3)."""
    negative = value < 0
    value = abs(value)
    exponent = max(_magnitude(value) - (_BITS - 1), _LOWEST)
    scaled = value / Fraction(2) ** exponent
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    if _up(rest, whole, mode, negative=negative):
        whole += 1
    if whole and _magnitude(Fraction(whole)) + exponent > _HIGHEST:
        result = _overflow(mode, negative=negative)
    else:
        result = math.ldexp(whole, exponent)
    return -result if negative else result


def _up(rest: Fraction, whole: int, mode: str, *, negative: bool) -> bool:
    """Return whether a magnitude is rounded away from zero."""
    if not rest:
        return False
    if mode == "rn":
        return rest > _HALF or (rest == _HALF and bool(whole & 1))
    return mode == ("rm" if negative else "rp")


_HALF = Fraction(1, 2)


def _overflow(mode: str, *, negative: bool) -> float:
    infinite = mode in {"rn", "rm" if negative else "rp"}
    return math.inf if infinite else math.ldexp((1 << _BITS) - 1, _HIGHEST - _BITS + 1)


def _magnitude(value: Fraction) -> int:
    """Return e with 2^e <= value < 2^(e+1)."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1
