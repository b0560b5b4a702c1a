"""Half-precision values, IEEE's (``f16``) and the short float32 (``bf16``), single or in pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..ptx.types import Type
from .rounding import narrow


def from_half(value: Array, kind: Type, *, flush: Callable[[Array], Array] | None = None) -> Array:
    """Return halves as float64; of pairs shape (n, 2).

    Args:
        value: float16, or raw bits for pairs and bf16.
        kind: which half.
        flush: what to do with the halves first.
    """
    bits = np.ascontiguousarray(value).view(np.uint16)
    if kind.name.startswith("bf16"):
        floats = (bits.astype(np.uint32) << 16).view(np.float32)
    else:
        floats = bits.view(np.float16)
    if flush is not None:
        floats = flush(floats)
    wide = floats.astype(np.float64)
    return wide.reshape(-1, 2) if kind.lanes > 1 else wide


def to_half(value: Array, kind: Type, finish: Callable[[Array], Array]) -> Array:
    """Return float64 values rounded once to halves, as ``from_half`` takes them.

    Args:
        value: exact, or rounded to odd.
        kind: which half.
        finish: applied to the halves: clamping, canonical NaN.
    """
    flat = np.ascontiguousarray(value).reshape(-1)
    if kind.name.startswith("bf16"):
        bits = to_bf16(finish(_odd32(flat)))
    else:
        bits = finish(flat.astype(np.float16)).view(np.uint16)
    if kind.lanes > 1:
        return bits.view(np.uint32)
    return bits if kind.name == "bf16" else bits.view(np.float16)


def _odd32(value: Array) -> Array:
    """Return float64 as float32 rounded to odd."""
    cut = narrow(value, "rz")
    inexact = (cut != value) & ~np.isnan(value)
    odd: Array = (cut.view(np.uint32) | inexact).view(np.float32)
    return odd


def to_bf16(value: Array, mode: str = "rn") -> Array:
    """Return float32 as the bits of bf16, rounded to nearest even or towards zero."""
    bits = value.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + (bits >> 16 & 1) if mode == "rn" else bits
    return np.where(np.isnan(value), np.uint16(0x7FFF), (rounded >> 16).astype(np.uint16))
