"""Moves and address conversions (PTX ISA 9.0, section 9.7.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.types import TYPES, Type
from ..ptx.values import Instruction, Operand, Vector
from .dtypes import RAW
from .forms import Builder, Step, arity, form
from .generic import BASES, WINDOW
from .operands import Reader, reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

_TYPES = "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64"


def owned(lanes: Lanes, value: Array) -> Array:
    """Return a value that no register holds: a copy, unless it is one already."""
    return value.copy() if lanes.index is None and value.shape[0] > 1 else value


def move(instruction: Instruction, scope: Scope) -> Step:
    """Build ``mov``: a copy, or the parts of a value packed or unpacked."""
    f = form(instruction, frozenset(), _TYPES)
    d, a = arity(instruction, 2)
    if isinstance(d, Vector):
        return _unpack(d, reader(a, TYPES[f"b{f.type.bits}"], scope), f.type)
    if isinstance(a, Vector):
        return _pack(d, a, f.type, scope)
    put, read = writer(d, f.type), reader(a, f.type, scope)
    return lambda lanes: put(lanes, owned(lanes, read(lanes)))


def _parts(vector: Vector, kind: Type) -> Type:
    size, odd = divmod(kind.size, len(vector.elements))
    if odd or size not in RAW:
        raise UnsupportedError(f"{len(vector.elements)} parts of .{kind.name}")
    return TYPES[f"b{8 * size}"]


def _unpack(d: Vector, read: Reader, kind: Type) -> Step:
    part = _parts(d, kind)
    puts = [writer(element, part) for element in d.elements]

    def step(lanes: Lanes) -> None:
        value = np.ascontiguousarray(read(lanes))
        parts = value.view(RAW[part.size]).reshape(value.shape[0], len(puts))
        for number, put in enumerate(puts):
            put(lanes, parts[:, number].copy())

    return step


def _pack(d: Operand, a: Vector, kind: Type, scope: Scope) -> Step:
    part = _parts(a, kind)
    put, reads = writer(d, TYPES[f"b{kind.bits}"]), [reader(element, part, scope) for element in a.elements]
    whole = RAW[kind.size]

    def step(lanes: Lanes) -> None:
        value = np.zeros(1, whole)
        for number, read in enumerate(reads):
            value = value | (read(lanes).astype(whole) << whole.type(8 * part.size * number))
        put(lanes, value)

    return step


def convert_address(instruction: Instruction, scope: Scope) -> Step:
    """Build ``cvta`` and ``cvta.to``: between a space's addresses and generic ones."""
    f = form(instruction, {"to", "global", "const", "shared", "local", "param", *_SHARED}, "u32 u64")
    d, a = arity(instruction, 2)
    put, read = writer(d, f.type), reader(a, f.type, scope)
    base = BASES.get(_space(f.flags - {"to"}))
    if base is None:
        return lambda lanes: put(lanes, owned(lanes, read(lanes)))
    change = np.uint64((-base if "to" in f.flags else base) & ((1 << 64) - 1)).astype(RAW[f.type.size])
    return lambda lanes: put(lanes, read(lanes) + change)


_SHARED = frozenset({"shared::cta", "shared::cluster", "param::entry"})


def _space(flags: frozenset[str]) -> str:
    """Return the one space that modifiers name, without its sub-qualifier."""
    if len(flags) != 1:
        raise UnsupportedError("one state space expected")
    return next(iter(flags)).split("::")[0]


def is_in_space(instruction: Instruction, scope: Scope) -> Step:
    """Build ``isspacep``: whether a generic address lies in a space."""
    d, a = arity(instruction, 2)
    space = _space(frozenset(instruction.modifiers))
    put, read = writer(d, TYPES["pred"]), reader(a, TYPES["u64"], scope)
    if space in BASES:
        base = BASES[space]

        def inside(address: Array) -> Array:
            result: Array = (address >= base) & (address < base + WINDOW)
            return result

    elif space == "global":

        def inside(address: Array) -> Array:
            result: Array = address < min(BASES.values())
            return result

    else:
        raise UnsupportedError(f"isspacep.{space} is not supported")
    return lambda lanes: put(lanes, inside(read(lanes)))


BUILDERS: dict[str, Builder] = {"mov": move, "cvta": convert_address, "isspacep": is_in_space}
"""By opcode."""
