"""PTX types as NumPy's.  A register holds raw bits: an unsigned integer of its width, or a boolean."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..ptx.types import TYPES, Type

DType: TypeAlias = "np.dtype[Any]"

RAW: dict[int, DType] = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
"""Unsigned integers by bytes."""

SIGNED: dict[int, DType] = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}
"""Signed integers by bytes."""

FLOATS: dict[int, DType] = {size: np.dtype(f"f{size}") for size in (2, 4, 8)}
"""Floats by bytes."""

BOOL: DType = np.dtype(np.bool_)


def dtype(kind: Type) -> DType:
    """Return the element type that arithmetic of a PTX type uses; packed and bf16 types are raw bits."""
    if kind.kind == "p":
        return BOOL
    if kind.kind == "f" and kind.lanes == 1 and kind.name != "bf16":
        return FLOATS[kind.size]
    if kind.kind == "s" and kind.lanes == 1:
        return SIGNED[kind.size]
    return RAW[kind.size]


def raw(kind: Type) -> DType:
    """Return the element type in which a register of a PTX type is kept."""
    return BOOL if kind.kind == "p" else RAW[kind.size]


def named(name: str) -> Type:
    """Return a type by its PTX name."""
    return TYPES[name]


def unsigned(size: int) -> Type:
    """Return the untyped bits of so many bytes."""
    return TYPES[f"b{8 * size}"]
