"""Floating-point arithmetic (PTX ISA 9.0, sections 9.7.3 to 9.7.5).

Half precision is computed in double precision, where sums and products of halves are exact, and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.types import Type
from ..ptx.values import Instruction
from . import approximate, rounding
from .forms import ROUNDINGS, Builder, Form, Step, binary, form, ternary, unary
from .halves import from_half, to_half
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .linking import Scope

_WIDE = "f32 f64"
_ALL = "f16 f16x2 bf16 bf16x2 f32 f64"
_FLAGS = ROUNDINGS | {"ftz", "sat", "relu"}

_LEAST_NORMAL = np.float32(2.0**-126)
_SCALE = np.float32(2.0**32)
"""Makes results near the least normal number normal; operands of such results stay below the largest."""


def flush(value: Array) -> Array:
    """Return float32 or float16 with subnormal numbers made zeros of their sign."""
    bits = value.view(f"u{value.dtype.itemsize}")
    exponent, sign = (0x7F800000, 0x80000000) if value.dtype == np.float32 else (0x7C00, 0x8000)
    tiny = (bits & exponent) == 0
    return np.where(tiny, bits & sign, bits).astype(bits.dtype).view(value.dtype) if tiny.any() else value


_NANS: dict[int, np.unsignedinteger] = {
    2: np.uint16(0x7FFF),
    4: np.uint32(rounding.F32_NAN),
    8: np.uint64(0x7FF8000000000000),
}


def finish(value: Array, f: Form) -> Array:
    """Return a result flushed and clamped as the instruction says; every NaN is the canonical one."""
    if "sat" in f.flags:
        value = np.where(value > 0, np.minimum(value, value.dtype.type(1)), value.dtype.type(0))
    if "ftz" in f.flags and value.dtype != np.float64:
        value = flush(value)
    if "relu" in f.flags:
        value = np.where(value < 0, value.dtype.type(0), value)
    return canonical(value)


def canonical(value: Array) -> Array:
    """Return floats with every NaN replaced by the canonical one."""
    strange = np.isnan(value)
    if strange.any():
        nan = _NANS[value.dtype.itemsize]
        clean: Array = np.where(strange, nan, value.view(nan.dtype)).view(value.dtype)
        return clean
    return value


def inputs(function: Callable[..., Array], f: Form) -> Callable[..., Array]:
    """Return a function whose operands are flushed first, where the instruction says so."""
    if "ftz" not in f.flags or f.type.size == 8:  # noqa: PLR2004  # .ftz means single precision and halves
        return function
    return lambda *operands: function(*(flush(operand) for operand in operands))


def calculation(f: Form, wide: Callable[..., Array], half: Callable[..., Array]) -> Callable[..., Array]:
    """Return an operation of any floating type.

    Args:
        f: the instruction's modifiers.
        wide: the operation on float32 or float64, with a rounding mode as last argument.
        half: the same on float64, exact or rounded to odd.
    """
    mode = f.one_of(ROUNDINGS, "rn")
    if f.type.size > 2 and f.type.lanes == 1:  # noqa: PLR2004  # a half has two bytes
        return inputs(lambda *operands: finish(wide(*operands, mode), f), f)
    if mode != "rn":
        raise UnsupportedError("halves are rounded to nearest only")
    return half_calculation(f, half)


def half_calculation(f: Form, half: Callable[..., Array]) -> Callable[..., Array]:
    """Return an operation on halves, or pairs of them, from one on float64."""

    def calculate(*operands: Array) -> Array:
        given = [
            from_half(operand, f.type, flush=flush if "ftz" in f.flags else None) for operand in operands
        ]
        return to_half(half(*given), f.type, lambda value: finish(value, f))

    return calculate


def _single_with(f: Form, wide: Callable[..., Array], tiny: Callable[..., Array]) -> Callable[..., Array]:
    """Return an operation that gives zero where ``tiny`` says so, although its result reached 2**-126.

    Args:
        f: the instruction's modifiers; only single precision with ``.ftz`` has such results.
        wide: the operation, with a rounding mode as last argument.
        tiny: gets the same arguments and says where the result was subnormal.
    """
    if "ftz" not in f.flags or f.type.size != 4:  # noqa: PLR2004  # .ftz means single precision
        return wide

    def calculate(*given: object) -> Array:
        value = wide(*given)
        reached = np.abs(value) == _LEAST_NORMAL
        if not reached.any():
            return value
        return np.where(reached & tiny(*given), np.copysign(np.float32(0), value), value)

    return calculate


def _flushed_early(f: Form, wide: Callable[..., Array]) -> Callable[..., Array]:
    """Return a division whose subnormal quotient is flushed before it is rounded up or down.

    So does an H200 (``div.rm.ftz``, ``rcp.rp.ftz``): a quotient just below the smallest normal number gives a
    zero, though rounding in its direction would reach that number.
    """

    def tiny(*given: object) -> Array:
        *operands, mode = given
        short: Array = (flush(wide(*operands, "rz")) == 0) & (mode in {"rm", "rp"})
        return short

    return _single_with(f, wide, tiny)


def _fused_single(f: Form) -> Callable[..., Array]:
    """Return ``rounding.fma`` whose result is subnormal where it is with an exponent without bounds.

    That is IEEE 754-2019, section 7.5, "after rounding", and what an H200 does for ``mul`` and ``fma``
    in every rounding: 2**-126 times 1 - 2**-24 has 24 bits below 2**-126 and is flushed.
    """

    def tiny(a: Array, b: Array, c: Array, mode: str) -> Array:
        short: Array = np.abs(rounding.fma(a * _SCALE, b, c * _SCALE, mode)) < _LEAST_NORMAL * _SCALE
        return short

    return _single_with(f, rounding.fma, tiny)


def _multiplied_single(f: Form) -> Callable[..., Array]:
    """Return ``rounding.multiply`` that is subnormal as ``_fused_single`` is."""

    def tiny(a: Array, b: Array, mode: str) -> Array:
        short: Array = np.abs(rounding.multiply(a * _SCALE, b, mode)) < _LEAST_NORMAL * _SCALE
        return short

    return _single_with(f, rounding.multiply, tiny)


def _multiplied(instruction: Instruction, scope: Scope) -> Step:
    """Build ``mul`` of floats."""
    f = _single(form(instruction, _FLAGS, _ALL))
    function = calculation(f, _multiplied_single(f), np.multiply)
    return binary(instruction, scope, (f.type, f.type), function, f.type)


def _build2(wide: Callable[..., Array], half: Callable[..., Array]) -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, _FLAGS, _ALL)
        return binary(instruction, scope, (f.type, f.type), calculation(_single(f), wide, half), f.type)

    return build


def _single(f: Form) -> Form:
    if len(f.types) > 1:
        raise UnsupportedError("operands of two types are not supported")
    return f


def _subtract(a: Array, b: Array, mode: str) -> Array:
    return rounding.add(a, np.negative(b), mode) if mode != "rn" else np.subtract(a, b)


def fused(instruction: Instruction, scope: Scope) -> Step:
    """Build ``fma`` and ``mad`` of floats: one rounding."""
    f = _single(form(instruction, _FLAGS, _ALL))
    function = calculation(f, _fused_single(f), lambda a, b, c: rounding.odd_sum(a * b, c))
    return ternary(instruction, scope, (f.type, f.type, f.type), function, f.type)


def divide(instruction: Instruction, scope: Scope) -> Step:
    """Build ``div``: rounded, or ``.approx`` and ``.full`` of single precision."""
    f = form(instruction, _FLAGS | {"approx", "full"}, _WIDE)
    if f.flags & {"approx", "full"}:
        if f.type.name != "f32":
            raise UnsupportedError("only single precision is divided approximately")
        chosen = approximate.divide if "approx" in f.flags else np.divide
        function = inputs(lambda a, b: finish(chosen(a, b), f), f)
        return binary(instruction, scope, (f.type, f.type), function, f.type)
    function = calculation(f, _flushed_early(f, rounding.divide), np.divide)
    return binary(instruction, scope, (f.type, f.type), function, f.type)


def _root(wide: Callable[[Array, str], Array], rough: Callable[[Array], Array]) -> Builder:
    """Return the builder of ``sqrt`` or ``rcp``: rounded, or ``.approx``."""

    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, _FLAGS | {"approx"}, _WIDE)
        if "approx" in f.flags:
            if f.type.name == "f64" and (instruction.opcode == "sqrt" or "ftz" not in f.flags):
                raise UnsupportedError("of double precision there is only rcp.approx.ftz")
            return unary(instruction, scope, f.type, _rough(f, rough), f.type)
        return unary(instruction, scope, f.type, calculation(f, _flushed_early(f, wide), np.sqrt), f.type)

    return build


def _rough(f: Form, function: Callable[[Array], Array]) -> Callable[..., Array]:
    """Return an approximate function: computed in double precision and rounded, far within its bound."""
    if f.type.size == 8:  # noqa: PLR2004  # double precision needs no wider type
        return lambda a: finish(function(a), f)
    return inputs(lambda a: finish(function(a.astype(np.float64)).astype(np.float32), f), f)


def _approximate(function: Callable[[Array], Array], types: str = "f32") -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = form(instruction, {"approx", "ftz"}, types)
        if f.type.size == 2 or f.type.lanes > 1:  # noqa: PLR2004  # halves
            return unary(instruction, scope, f.type, half_calculation(f, function), f.type)
        return unary(instruction, scope, f.type, _rough(f, function), f.type)

    return build


def _sign(instruction: Instruction, scope: Scope) -> Step:
    """Build ``abs`` and ``neg``: the sign's bit alone."""
    f = _single(form(instruction, {"ftz"}, _ALL))
    sign = _sign_bits(f.type)
    remove = instruction.opcode == "abs"

    def changed(a: Array) -> Array:
        flushed = flush(a) if "ftz" in f.flags and a.dtype.kind == "f" else a
        bits = flushed.view(sign.dtype)
        result: Array = (bits & ~sign if remove else bits ^ sign).view(a.dtype)
        return result

    return unary(instruction, scope, f.type, changed, f.type)


def _sign_bits(kind: Type) -> np.unsignedinteger:
    width = 8 * kind.size
    pattern = 0x80008000 if kind.lanes > 1 else 1 << (width - 1)
    sign: np.unsignedinteger = np.dtype(f"u{kind.size}").type(pattern)
    return sign


def smallest(a: Array, b: Array) -> Array:
    """Return the smaller of two floats: -0 below +0, a number rather than NaN."""
    bits_a, bits_b = a.view(f"u{a.dtype.itemsize}"), b.view(f"u{b.dtype.itemsize}")
    return np.where(a == b, (bits_a | bits_b).view(a.dtype), _number(a, b, np.where(a < b, a, b)))


def largest(a: Array, b: Array) -> Array:
    """Return the larger of two floats: +0 above -0, a number rather than NaN."""
    bits_a, bits_b = a.view(f"u{a.dtype.itemsize}"), b.view(f"u{b.dtype.itemsize}")
    return np.where(a == b, (bits_a & bits_b).view(a.dtype), _number(a, b, np.where(a > b, a, b)))


def _number(a: Array, b: Array, chosen: Array) -> Array:
    """Return what was chosen, but the other operand where one is NaN, a signalling one included."""
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen))


def _extreme(function: Callable[[Array, Array], Array]) -> Builder:
    def build(instruction: Instruction, scope: Scope) -> Step:
        f = _single(form(instruction, {"ftz", "NaN", "xorsign", "abs"}, _ALL))
        chosen = _with_nan(function) if "NaN" in f.flags else function
        if "xorsign" in f.flags:
            chosen = _xor_sign(chosen)
        if f.type.size == 2 or f.type.lanes > 1:  # noqa: PLR2004  # halves
            return binary(instruction, scope, (f.type, f.type), half_calculation(f, chosen), f.type)
        whole = inputs(lambda a, b: finish(chosen(a, b), f), f)
        return binary(instruction, scope, (f.type, f.type), whole, f.type)

    return build


def _with_nan(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), function(a, b))


def _xor_sign(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """Return a function of the magnitudes whose result has the product's sign."""
    return lambda a, b: np.copysign(
        function(np.abs(a), np.abs(b)), np.where(np.signbit(a) ^ np.signbit(b), -1.0, 1.0)
    ).astype(a.dtype)


def copy_sign(instruction: Instruction, scope: Scope) -> Step:
    """Build ``copysign``: the sign of a, the magnitude of b."""
    f = form(instruction, frozenset(), _WIDE)
    return binary(instruction, scope, (f.type, f.type), lambda a, b: np.copysign(b, a), f.type)


BUILDERS: dict[str, Builder] = {
    "add": _build2(rounding.add, np.add),
    "sub": _build2(_subtract, np.subtract),
    "mul": _multiplied,
    "fma": fused,
    "mad": fused,
    "div": divide,
    "rcp": _root(lambda a, mode: rounding.divide(np.ones(1, a.dtype), a, mode), np.reciprocal),
    "sqrt": _root(rounding.square_root, np.sqrt),
    "rsqrt": _approximate(approximate.reciprocal_root, "f32 f64"),
    "sin": _approximate(np.sin),
    "cos": _approximate(np.cos),
    "lg2": _approximate(np.log2),
    "ex2": _approximate(np.exp2, "f32 f16 f16x2 bf16 bf16x2"),
    "tanh": _approximate(np.tanh, "f32 f16 f16x2 bf16 bf16x2"),
    "abs": _sign,
    "neg": _sign,
    "min": _extreme(smallest),
    "max": _extreme(largest),
    "copysign": copy_sign,
}
"""Floating-point forms, by opcode."""
