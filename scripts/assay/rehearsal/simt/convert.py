"""Conversions between numbers (PTX ISA 9.0, section 9.7.9.21 "cvt")."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.types import TYPES, Type
from ..ptx.values import Instruction
from .dtypes import dtype
from .floats import finish, flush
from .forms import ROUNDINGS, Builder, Form, Step, arity, binary, form
from .halves import from_half, to_bf16, to_half
from .operands import reader, writer
from .rounding import add, narrow, odd_sum
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

_INTEGER_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
_TYPES = "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 f16x2 bf16x2"
_FLAGS = ROUNDINGS | set(_INTEGER_ROUNDINGS) | {"ftz", "sat", "relu"}


def convert(instruction: Instruction, scope: Scope) -> Step:
    """Build ``cvt``."""
    f = form(instruction, _FLAGS, _TYPES)
    if len(f.types) != 2:  # noqa: PLR2004  # of the result and of the source
        raise UnsupportedError("two types expected")
    target, source = f.types
    if target.lanes > 1:
        return _pair(instruction, scope, f)
    if source.lanes > 1:
        raise UnsupportedError("a pair is no source")
    d, a = arity(instruction, 2)
    put, read, function = writer(d, target), reader(a, source, scope), _function(f, target, source)
    return lambda lanes: put(lanes, function(read(lanes)))


def _function(f: Form, target: Type, source: Type) -> Callable[[Array], Array]:
    if source.kind != "f":
        return _from_integer(f, target)
    before = _flushed(f, source)
    if target.kind == "f":
        return _between_floats(f, target, source, before)
    return _to_integer(f, target, source, before)


def _flushed(f: Form, source: Type) -> Callable[[Array], Array]:
    return flush if "ftz" in f.flags and source.name == "f32" else lambda a: a


def _from_integer(f: Form, target: Type) -> Callable[[Array], Array]:
    if target.kind == "f":
        return _integer_to_float(f, target)
    wanted = dtype(target)
    if "sat" not in f.flags:
        return lambda a: a.astype(wanted)
    bounds = np.iinfo(wanted)

    def clamped(a: Array) -> Array:
        own = np.iinfo(a.dtype)
        low, high = max(int(bounds.min), int(own.min)), min(int(bounds.max), int(own.max))
        return np.clip(a, a.dtype.type(low), a.dtype.type(high)).astype(wanted)

    return clamped


def _integer_to_float(f: Form, target: Type) -> Callable[[Array], Array]:
    mode = f.one_of(ROUNDINGS, "rn")
    wanted = dtype(target)
    if target.name == "bf16":
        raise UnsupportedError("integers to bf16 are not supported")
    if mode == "rn" and target.size > 2:  # noqa: PLR2004  # a half has two bytes
        return lambda a: finish(a.astype(wanted), f)
    if target.name == "f64":
        return lambda a: add(*_halves(a), mode)
    return lambda a: finish(narrow(odd_sum(*_halves(a)), mode, wanted.type), f)


def _halves(a: Array) -> tuple[Array, Array]:
    """Return integers as two float64, the upper and the lower 32 bits."""
    wide = a.astype(np.int64 if a.dtype.kind == "i" else np.uint64)
    low = wide & wide.dtype.type(0xFFFFFFFF)
    return (wide - low).astype(np.float64), low.astype(np.float64)


def _to_integer(
    f: Form, target: Type, source: Type, before: Callable[[Array], Array]
) -> Callable[[Array], Array]:
    """Return float to integer: rounded, and always clamped to the target's range."""
    name = f.one_of(frozenset(_INTEGER_ROUNDINGS), "")
    if not name:
        raise UnsupportedError("there is no rounding")
    whole, wanted = _INTEGER_ROUNDINGS[name], dtype(target)
    bounds = np.iinfo(wanted)
    lowest, beyond = float(bounds.min), float(int(bounds.max) + 1)
    # NaN gives 0, but where one side has 64 bits only the highest bit.
    nan = 1 << target.bits - 1 if source.name == "f64" or target.bits == 64 else 0  # noqa: PLR2004  # bits of a type
    nan_value = np.array([nan], f"u{target.size}").view(wanted)[0]
    least, most = np.array([bounds.min, bounds.max], wanted)  # NumPy takes no Python integer beyond a C long

    def rounded(a: Array) -> Array:
        flushed = before(a)
        value = whole(from_half(flushed, source) if source.size == 2 else flushed.astype(np.float64))  # noqa: PLR2004  # f16
        inside = (value >= lowest) & (value < beyond)
        number = np.where(inside, value, 0.0).astype(wanted)
        clamped = np.where(inside, number, np.where(value < lowest, least, most))
        return np.where(np.isnan(value), nan_value, clamped)

    return rounded


def _between_floats(
    f: Form, target: Type, source: Type, before: Callable[[Array], Array]
) -> Callable[[Array], Array]:
    whole = _INTEGER_ROUNDINGS.get(f.one_of(frozenset(_INTEGER_ROUNDINGS), ""))
    mode = f.one_of(ROUNDINGS, "rn")
    after = Form((target,), f.flags - {"ftz"} if target.name != "f32" else f.flags)

    def converted(a: Array) -> Array:
        value = before(a)
        wide = from_half(value, source) if source.size == 2 else value.astype(np.float64)  # noqa: PLR2004  # f16
        return _rounded(whole(wide) if whole is not None else wide, target, mode, after)

    return converted


def _rounded(wide: Array, target: Type, mode: str, after: Form) -> Array:
    if target.name == "f64":
        return finish(wide, after)
    if target.name == "bf16":
        if mode == "rn":
            return to_half(wide, target, lambda value: finish(value, after))
        return to_bf16(finish(narrow(wide, "rz"), after), mode)
    return finish(narrow(wide, mode, dtype(target).type), after)


def _pair(instruction: Instruction, scope: Scope, f: Form) -> Step:
    """Build ``cvt`` of two floats to a pair: the first operand becomes the upper half."""
    target, source = f.types
    if source.name != "f32":
        raise UnsupportedError("a pair is made of two .f32")
    mode = f.one_of(ROUNDINGS, "rn")
    element = TYPES[target.name.removesuffix("x2")]
    after = Form((element,), f.flags - {"ftz"})

    def packed(a: Array, b: Array) -> Array:
        high, low = (_rounded(x.astype(np.float64), element, mode, after).view(np.uint16) for x in (a, b))
        return high.astype(np.uint32) << 16 | low

    return binary(instruction, scope, (source, source), packed, target)


def pack(instruction: Instruction, scope: Scope) -> Step:
    """Build ``cvt.pack.sat``: two integers clamped to 16 bits (or 8, below the bits of c) in one register."""
    f = form(instruction, {"pack", "sat"}, "u8 s8 u16 s16 s32 b32 u2 s2 u4 s4")
    element = f.types[0]
    if element.bits not in {8, 16}:
        raise UnsupportedError("cvt.pack makes bytes or halves")
    d, *sources = arity(instruction, 4 if element.bits == 8 else 3)  # noqa: PLR2004  # bytes keep part of c
    clamp = _from_integer(Form((element,), frozenset({"sat"})), element)
    put = writer(d, TYPES["b32"])
    reads = [reader(o, TYPES["s32"], scope) for o in sources]
    width = element.bits

    def step(lanes: Lanes) -> None:
        a, b, *rest = (read(lanes) for read in reads)
        high, low = (clamp(x).view(f"u{element.size}").astype(np.uint32) for x in (a, b))
        kept = rest[0].view(np.uint32) << 2 * width if rest else np.zeros(1, np.uint32)
        put(lanes, kept | high << width | low)

    return step


def _convert(instruction: Instruction, scope: Scope) -> Step:
    return (pack if "pack" in instruction.modifiers else convert)(instruction, scope)


BUILDERS: dict[str, Builder] = {"cvt": _convert}
"""By opcode."""
