"""Logic, shifts and bit fields (PTX ISA 9.0, sections 9.7.1 and 9.7.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.types import TYPES, Type
from ..ptx.values import Immediate, Instruction, Pair
from .dtypes import SIGNED
from .forms import Builder, Step, arity, binary, form, ternary, unary
from .operands import reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

U32 = TYPES["u32"]
_ANY = "pred b16 b32 b64"


def _logic(function: Callable[[Array, Array], Array]) -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, frozenset(), _ANY)
        return binary(instruction, scope, (f.type, f.type), function, f.type)

    return build


def _not(instruction: Instruction, scope: Scope) -> Step:
    f = form(instruction, frozenset(), _ANY)
    return unary(instruction, scope, f.type, np.invert, f.type)


def _logical_not(instruction: Instruction, scope: Scope) -> Step:
    f = form(instruction, frozenset(), "b16 b32 b64")
    return unary(instruction, scope, f.type, lambda a: (a == 0).astype(a.dtype), f.type)


def shift_left(a: Array, amount: Array) -> Array:
    """Return a << amount; 0 where the amount is the width or more."""
    width = 8 * a.dtype.itemsize
    shifted: Array = a << np.minimum(amount, width - 1).astype(a.dtype)
    return np.where(amount >= width, a.dtype.type(0), shifted)


def shift_right(a: Array, amount: Array) -> Array:
    """Return a >> amount; from the width on 0, or copies of the sign."""
    width = 8 * a.dtype.itemsize
    shifted: Array = a >> np.minimum(amount, width - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(amount >= width, a.dtype.type(0), shifted)


def _shift(function: Callable[[Array, Array], Array], types: str) -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, frozenset(), types)
        return binary(instruction, scope, (f.type, U32), function, f.type)

    return build


def funnel(instruction: Instruction, scope: Scope) -> Step:
    """Build ``shf``: 32 bits of the 64 bits ``b:a``, shifted."""
    f = form(instruction, {"l", "r", "wrap", "clamp"}, "b32")
    left, wrap = "l" in f.flags, "wrap" in f.flags

    def shifted(a: Array, b: Array, amount: Array) -> Array:
        both = b.astype(np.uint64) << 32 | a
        by = (amount & 31 if wrap else np.minimum(amount, 32)).astype(np.uint64)
        return (both << by >> 32 if left else both >> by).astype(np.uint32)

    return ternary(instruction, scope, (f.type, f.type, U32), shifted, f.type)


def low_bits(count: Array, kind: np.dtype[np.unsignedinteger]) -> Array:
    """Return words whose lowest ``count`` bits are set."""
    return ~shift_left(np.full(1, ~kind.type(0)), count)


def extract(instruction: Instruction, scope: Scope) -> Step:
    """Build ``bfe``: a bit field, extended by the highest bit that it could have."""
    f = form(instruction, frozenset(), "u32 u64 s32 s64")
    kind, width = f.type, f.type.bits
    bits = TYPES[f"b{width}"]

    def field(a: Array, position: Array, length: Array) -> Array:
        position, length = position & 0xFF, length & 0xFF
        valid = np.minimum(length, np.where(position < width, width - position, 0).astype(np.uint32))
        mask = low_bits(valid, a.dtype)
        value = shift_right(a, position) & mask
        if kind.kind == "u":
            return value
        top = np.minimum(position + length - np.uint32(1), width - 1)
        sign = (shift_right(a, top) & 1).astype(np.bool_) & (length > 0)
        return np.where(sign, value | ~mask, value)

    return ternary(instruction, scope, (bits, U32, U32), field, bits)


def insert(instruction: Instruction, scope: Scope) -> Step:
    """Build ``bfi``: a with some of its low bits put into b."""
    f = form(instruction, frozenset(), "b32 b64")
    d, a, b, c, e = arity(instruction, 5)
    put = writer(d, f.type)
    source, target = reader(a, f.type, scope), reader(b, f.type, scope)
    position, length = reader(c, U32, scope), reader(e, U32, scope)

    def step(lanes: Lanes) -> None:
        at, held = position(lanes) & 0xFF, target(lanes)
        mask = shift_left(low_bits(length(lanes) & 0xFF, held.dtype), at)
        put(lanes, (held & ~mask) | (shift_left(source(lanes), at) & mask))

    return step


def leading_zeros(a: Array) -> Array:
    """Return the number of zeros above the highest bit that is set, as uint32."""
    width = 8 * a.dtype.itemsize
    if width == 64:  # noqa: PLR2004  # floats of 53 bits do not hold these
        upper = leading_zeros((a >> np.uint64(32)).astype(np.uint32))
        lower = leading_zeros(a.astype(np.uint32))
        whole = upper == 32  # noqa: PLR2004  # the upper word is 0
        return np.where(whole, upper + lower, upper).astype(np.uint32)
    return (width - np.frexp(a.astype(np.float64))[1]).astype(np.uint32)


def reversed_bits(a: Array) -> Array:
    """Return a with its bits in reverse order."""
    width = 8 * a.dtype.itemsize
    for shift, pattern in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        mask = a.dtype.type(pattern & ((1 << width) - 1))
        a = (a >> shift & mask) | ((a & mask) << shift)
    return a.byteswap()


def _counting(function: Callable[[Array], Array]) -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, frozenset(), "b32 b64")
        return unary(instruction, scope, f.type, lambda a: function(a).astype(np.uint32), U32)

    return build


def _reverse(instruction: Instruction, scope: Scope) -> Step:
    f = form(instruction, frozenset(), "b32 b64")
    return unary(instruction, scope, f.type, reversed_bits, f.type)


def find(instruction: Instruction, scope: Scope) -> Step:
    """Build ``bfind``: the highest bit that is set, of a negative number the highest that is not."""
    f = form(instruction, {"shiftamt"}, "u32 u64 s32 s64")
    width = f.type.bits

    def found(a: Array) -> Array:
        if a.dtype.kind == "i":
            a = np.where(a < 0, ~a, a).view(f"u{a.dtype.itemsize}")
        zeros = leading_zeros(a)
        place = zeros if f.flags else np.uint32(width - 1) - zeros
        return np.where(zeros == width, np.uint32(0xFFFFFFFF), place)

    return unary(instruction, scope, f.type, found, U32)


_PERMUTATIONS = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}
"""Section 9.7.8.7: by mode and the two low bits of the selector, the source byte of each result byte."""


def permute(instruction: Instruction, scope: Scope) -> Step:
    """Build ``prmt``: four bytes chosen from the eight of ``b:a``."""
    f = form(instruction, frozenset(_PERMUTATIONS), "b32")
    mode = f.one_of(frozenset(_PERMUTATIONS), "")
    table = _selectors(mode) if mode else None

    def permuted(a: Array, b: Array, selector: Array) -> Array:
        both = b.astype(np.uint64) << 32 | a
        chosen = selector if table is None else table[selector & 3]
        result: Array = np.zeros(1, np.uint32)
        for byte in range(4):
            nibble = chosen >> 4 * byte & 0xF
            value = (both >> ((nibble & 7).astype(np.uint64) * 8)).astype(np.uint32) & 0xFF
            sign = np.where(value & 0x80, np.uint32(0xFF), np.uint32(0))
            result = result | np.where(nibble & 8, sign, value) << 8 * byte
        return result

    return ternary(instruction, scope, (f.type, f.type, f.type), permuted, f.type)


def _selectors(mode: str) -> Array:
    """Return the plain selector that each value of a mode's selector stands for."""
    return np.array([sum(b << 4 * i for i, b in enumerate(row)) for row in _PERMUTATIONS[mode]], np.uint32)


def logic3(instruction: Instruction, scope: Scope) -> Step:
    """Build ``lop3``: any function of three bits, from its table of eight."""
    f = form(instruction, {"or", "and"}, "b32")
    if f.flags:
        return _logic3_predicate(instruction, scope, f.one_of(f.flags, ""))
    d, a, b, c, lut = arity(instruction, 5)
    put = writer(d, f.type)
    table = _table(lut)
    reads = [reader(o, f.type, scope) for o in (a, b, c)]
    return lambda lanes: put(lanes, _looked_up(table, *(read(lanes) for read in reads)))


def _table(lut: object) -> int:
    if not isinstance(lut, Immediate):
        raise UnsupportedError("the table of lop3 is a constant")
    return lut.value & 0xFF


def _logic3_predicate(instruction: Instruction, scope: Scope, combine: str) -> Step:
    d, a, b, c, lut, q = arity(instruction, 6)
    if not isinstance(d, Pair):
        raise UnsupportedError("two destinations expected")
    kind, predicate = TYPES["b32"], TYPES["pred"]
    put, put_predicate = writer(d.first, kind), writer(d.second, predicate)
    table, other = _table(lut), reader(q, predicate, scope)
    reads = [reader(o, kind, scope) for o in (a, b, c)]

    def step(lanes: Lanes) -> None:
        result = _looked_up(table, *(read(lanes) for read in reads))
        known = other(lanes)
        put(lanes, result)
        put_predicate(lanes, (result != 0) | known if combine == "or" else (result != 0) & known)

    return step


def _looked_up(table: int, a: Array, b: Array, c: Array) -> Array:
    result: Array = np.zeros(1, np.uint32)
    for row in range(8):
        if table >> row & 1:
            result = result | ((a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c))
    return result


def dot(instruction: Instruction, scope: Scope) -> Step:
    """Build ``dp4a`` and ``dp2a``: c plus the products of bytes, or of halves of a with two bytes of b."""
    f = form(instruction, {"lo", "hi"}, "u32 s32")
    kinds = f.types if len(f.types) == 2 else f.types * 2  # noqa: PLR2004  # one type for each operand
    signed = any(kind.kind == "s" for kind in kinds)
    result = TYPES["s32" if signed else "u32"]
    wide = instruction.opcode == "dp2a"
    start = 2 if "hi" in f.flags else 0

    def sum_of_products(a: Array, b: Array, c: Array) -> Array:
        total = c
        for i in range(2 if wide else 4):
            first = _part(a, i, 16 if wide else 8, kinds[0])
            second = _part(b, start + i if wide else i, 8, kinds[1])
            total = total + (first * second).astype(c.dtype)
        return total

    bits = TYPES["b32"]
    return ternary(instruction, scope, (bits, bits, result), sum_of_products, result)


def _part(word: Array, number: int, width: int, kind: Type) -> Array:
    """Return a byte or half of words as int64."""
    value = (word >> width * number).astype(f"u{width // 8}")
    return (value.view(SIGNED[width // 8]) if kind.kind == "s" else value).astype(np.int64)


def mask_bits(instruction: Instruction, scope: Scope) -> Step:
    """Build ``bmsk``: ``b`` ones from bit ``a``."""
    f = form(instruction, {"clamp", "wrap"}, "b32")
    wrap = "wrap" in f.flags

    def mask(a: Array, b: Array) -> Array:
        position = a & 31 if wrap else np.minimum(a, 32)
        length = b & 31 if wrap else np.minimum(b, 32)
        return shift_left(low_bits(length, np.dtype(np.uint32)), position)

    return binary(instruction, scope, (U32, U32), mask, f.type)


def extend(instruction: Instruction, scope: Scope) -> Step:
    """Build ``szext``: the low ``b`` bits of a, extended by zeros or by their sign."""
    f = form(instruction, {"clamp", "wrap"}, "u32 s32")
    wrap, signed = "wrap" in f.flags, f.type.kind == "s"

    def extended(a: Array, b: Array) -> Array:
        length = b & 31 if wrap else np.minimum(b, 32)
        mask = low_bits(length, np.dtype(np.uint32))
        value = a & mask
        if not signed:
            return value
        sign = (length > 0) & (shift_right(a, np.maximum(length, 1) - np.uint32(1)) & 1).astype(np.bool_)
        return np.where(sign, value | ~mask, value)

    return binary(instruction, scope, (U32, U32), extended, U32)


BUILDERS: dict[str, Builder] = {
    "and": _logic(np.bitwise_and),
    "or": _logic(np.bitwise_or),
    "xor": _logic(np.bitwise_xor),
    "not": _not,
    "cnot": _logical_not,
    "shl": _shift(shift_left, "b16 b32 b64"),
    "shr": _shift(shift_right, "b16 b32 b64 u16 u32 u64 s16 s32 s64"),
    "shf": funnel,
    "bfe": extract,
    "bfi": insert,
    "bfind": find,
    "bmsk": mask_bits,
    "szext": extend,
    "brev": _reverse,
    "popc": _counting(np.bitwise_count),
    "clz": _counting(leading_zeros),
    "prmt": permute,
    "lop3": logic3,
    "dp4a": dot,
    "dp2a": dot,
}
"""By opcode."""
