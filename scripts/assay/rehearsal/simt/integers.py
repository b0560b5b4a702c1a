"""Integer arithmetic (PTX ISA 9.0, section 9.7.1).  NumPy's integers wrap as PTX's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.types import TYPES, Type
from ..ptx.values import Instruction
from .dtypes import RAW, SIGNED, dtype
from .forms import Builder, Step, arity, binary, form, ternary, unary
from .operands import reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

_ALL = "u16 u32 u64 s16 s32 s64"
_PACKED = "u16x2 s16x2"


def wider(kind: Type) -> Type:
    """Return the integer type of twice the width."""
    return TYPES[f"{kind.kind}{2 * kind.bits}"]


def high(a: Array, b: Array) -> Array:
    """Return the upper half of the product of two integers of one type."""
    size = a.dtype.itemsize
    if size < 8:  # noqa: PLR2004  # 64-bit products have no wider type
        wide = np.dtype(f"{a.dtype.kind}{2 * size}")
        upper: Array = (a.astype(wide) * b.astype(wide) >> 8 * size).astype(a.dtype)
        return upper
    unsigned = _high64(a.view(np.uint64), b.view(np.uint64))
    if a.dtype.kind == "u":
        return unsigned
    signed = unsigned.view(np.int64)
    return signed - np.where(a < 0, b, 0) - np.where(b < 0, a, 0)


def _high64(a: Array, b: Array) -> Array:
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & low)
    result: Array = a_high * b_high + (middle >> half) + (other >> half)
    return result


def divide(a: Array, b: Array) -> Array:
    """Return a / b cut towards zero; by zero all bits are set, as on hardware (PTX leaves it open)."""
    quotient = _magnitude(a) // np.where(b == 0, 1, _magnitude(b)).astype(_unsigned(a))
    if a.dtype.kind == "i":
        quotient = np.where((a < 0) != (b < 0), -quotient.view(a.dtype), quotient.view(a.dtype))
    return np.where(b == 0, a.dtype.type(-1 if a.dtype.kind == "i" else np.iinfo(a.dtype).max), quotient)


def remainder(a: Array, b: Array) -> Array:
    """Return a - b · (a / b); by zero it is a."""
    rest: Array = a - b * divide(a, b)
    return np.where(b == 0, a, rest)


def _unsigned(a: Array) -> np.dtype[np.unsignedinteger]:
    return RAW[a.dtype.itemsize]


def _magnitude(a: Array) -> Array:
    if a.dtype.kind == "u":
        return a
    return np.where(a < 0, -a, a).view(_unsigned(a))


def _saturated(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return add or subtract of int32, clamped."""

    def clamped(a: Array, b: Array) -> Array:
        wide = function(a.astype(np.int64), b.astype(np.int64))
        return np.clip(wide, -(1 << 31), (1 << 31) - 1).astype(np.int32)

    return clamped


def packed(function: Callable[..., Array], kind: Type) -> Callable[..., Array]:
    """Return a function of pairs of 16-bit integers from one of single ones."""
    element = SIGNED[2] if kind.kind == "s" else RAW[2]

    def pairs(*operands: Array) -> Array:
        split = (np.ascontiguousarray(o).view(element).reshape(-1, 2) for o in operands)
        return np.ascontiguousarray(function(*split)).reshape(-1).view(np.uint32)

    return pairs


def add_or_subtract(function: Callable[[Array, Array], Array]) -> Builder:
    """Return the builder of ``add`` or ``sub`` of integers."""

    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, {"sat"}, f"{_ALL} {_PACKED}")
        chosen = function
        if f.flags:
            if f.type.name != "s32":
                raise UnsupportedError(".sat needs .s32")
            chosen = _saturated(function)
        if f.type.lanes > 1:
            chosen = packed(function, f.type)
        return binary(instruction, scope, (f.type, f.type), chosen, f.type)

    return build


def multiply(instruction: Instruction, scope: Scope) -> Step:
    """Build ``mul.lo``, ``.hi`` and ``.wide``."""
    f = form(instruction, {"lo", "hi", "wide"}, _ALL)
    if "wide" in f.flags:
        result = wider(f.type)
        wide = dtype(result)
        return binary(
            instruction, scope, (f.type, f.type), lambda a, b: a.astype(wide) * b.astype(wide), result
        )
    return binary(instruction, scope, (f.type, f.type), high if "hi" in f.flags else np.multiply, f.type)


def multiply_add(instruction: Instruction, scope: Scope) -> Step:
    """Build ``mad.lo``, ``.hi`` and ``.wide``."""
    f = form(instruction, {"lo", "hi", "wide", "sat"}, _ALL)
    kind = f.type
    if "wide" in f.flags:
        wide = dtype(wider(kind))
        return ternary(
            instruction,
            scope,
            (kind, kind, wider(kind)),
            lambda a, b, c: a.astype(wide) * b.astype(wide) + c,
            wider(kind),
        )
    product = high if "hi" in f.flags else np.multiply
    total = _saturated(np.add) if "sat" in f.flags else np.add
    return ternary(instruction, scope, (kind, kind, kind), lambda a, b, c: total(product(a, b), c), kind)


def multiply24(instruction: Instruction, scope: Scope) -> Step:
    """Build ``mul24`` and ``mad24``: of the 48-bit product, ``.lo`` bits 0-31 or ``.hi`` bits 16-47."""
    f = form(instruction, {"lo", "hi"}, "u32 s32")
    kind, wide = f.type, np.dtype(f"{'i' if f.type.kind == 's' else 'u'}8")
    shift = 16 if "hi" in f.flags else 0

    def product(a: Array, b: Array) -> Array:
        # Shifting up and down again keeps 24 bits with their sign.
        short_a, short_b = (x << 8 >> 8 for x in (a, b))
        part: Array = (short_a.astype(wide) * short_b.astype(wide) >> shift).astype(a.dtype)
        return part

    if instruction.opcode == "mul24":
        return binary(instruction, scope, (kind, kind), product, kind)
    return ternary(instruction, scope, (kind, kind, kind), lambda a, b, c: product(a, b) + c, kind)


def _two(function: Callable[[Array, Array], Array], types: str = _ALL) -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, frozenset(), types)
        chosen = packed(function, f.type) if f.type.lanes > 1 else function
        return binary(instruction, scope, (f.type, f.type), chosen, f.type)

    return build


def _one(function: Callable[[Array], Array], types: str = "s16 s32 s64") -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, frozenset(), types)
        return unary(instruction, scope, f.type, function, f.type)

    return build


def absolute_difference(instruction: Instruction, scope: Scope) -> Step:
    """Build ``sad``: c + |a - b|."""
    f = form(instruction, frozenset(), _ALL)

    def sad(a: Array, b: Array, c: Array) -> Array:
        return c + np.where(a < b, b - a, a - b)

    return ternary(instruction, scope, (f.type, f.type, f.type), sad, f.type)


def carrying(instruction: Instruction, scope: Scope) -> Step:
    """Build ``add.cc``, ``addc``, ``sub.cc``, ``subc``, ``mad.cc`` and ``madc`` (section 9.7.2).

    The carry of a subtraction is its borrow.
    """
    f = form(instruction, {"cc", "lo", "hi"}, "u32 s32 u64 s64")
    kind = TYPES[f"u{f.type.bits}"]
    with_product = instruction.opcode.startswith("mad")
    d, *operands = arity(instruction, 4 if with_product else 3)
    put = writer(d, kind)
    if with_product:
        multiplied = [reader(o, f.type, scope) for o in operands[:2]]
        product = high if "hi" in f.flags else np.multiply
        raw = dtype(kind)

        def first(lanes: Lanes) -> Array:
            return product(multiplied[0](lanes), multiplied[1](lanes)).view(raw)

    else:
        given = reader(operands[0], kind, scope)

        def first(lanes: Lanes) -> Array:
            return given(lanes)

    last = reader(operands[-1], kind, scope)
    combine = _with_borrow if instruction.opcode.startswith("sub") else _with_carry
    takes, gives = instruction.opcode.endswith("c"), "cc" in f.flags

    def step(lanes: Lanes) -> None:
        carry = lanes.frame.carry
        if takes and carry.shape[0] != 1:
            carry = lanes.pick(carry)
        result, out = combine(first(lanes), last(lanes), carry if takes else None)
        put(lanes, result)
        if gives:
            lanes.frame.carry = lanes.merged(lanes.frame.carry, out)

    return step


def _with_carry(a: Array, b: Array, carry: Array | None) -> tuple[Array, Array]:
    total = a + b
    out = total < a
    if carry is None:
        return total, out
    more = total + carry
    return more, out | (more < total)


def _with_borrow(a: Array, b: Array, borrow: Array | None) -> tuple[Array, Array]:
    rest = a - b
    out = a < b
    if borrow is None:
        return rest, out
    less = rest - borrow
    return less, out | (rest < borrow)


def _add(instruction: Instruction, scope: Scope) -> Step:
    chosen = carrying if "cc" in instruction.modifiers else add_or_subtract(np.add)
    return chosen(instruction, scope)


def _subtract(instruction: Instruction, scope: Scope) -> Step:
    chosen = carrying if "cc" in instruction.modifiers else add_or_subtract(np.subtract)
    return chosen(instruction, scope)


def _multiply_add(instruction: Instruction, scope: Scope) -> Step:
    return (carrying if "cc" in instruction.modifiers else multiply_add)(instruction, scope)


BUILDERS: dict[str, Builder] = {
    "add": _add,
    "sub": _subtract,
    "addc": carrying,
    "subc": carrying,
    "madc": carrying,
    "mul": multiply,
    "mad": _multiply_add,
    "mul24": multiply24,
    "mad24": multiply24,
    "div": _two(divide),
    "rem": _two(remainder),
    "min": _two(np.minimum, f"{_ALL} {_PACKED}"),
    "max": _two(np.maximum, f"{_ALL} {_PACKED}"),
    "abs": _one(np.abs),
    "neg": _one(np.negative),
    "sad": absolute_difference,
}
"""Integer forms, by opcode; ``floats`` has the forms of the same opcodes for floating-point types."""
