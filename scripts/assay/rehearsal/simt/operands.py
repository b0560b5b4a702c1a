"""Operands as functions: how a thread group reads one and writes one.

A reader returns an array of shape (count,) or (1,) in the element type of the instruction's type; a writer
takes
one.  Sizes follow PTX ISA 9.0, section 9.4.1 ("Operand Size Exceeding Instruction-Type Size").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..arrays import Array
from ..ptx.initialisers import immediate_bits
from ..ptx.types import TYPES, Type
from ..ptx.values import Immediate, Negated, Operand, Register, Sink, Special, Symbol
from .dtypes import BOOL, RAW, SIGNED, dtype, raw
from .special import special
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

Reader: TypeAlias = "Callable[[Lanes], Array]"
Writer: TypeAlias = "Callable[[Lanes, Array], None]"

B64 = TYPES["b64"]


def reader(operand: Operand, kind: Type, scope: Scope) -> Reader:
    """Return how an operand is read as a value of a type.

    Raises:
        UnsupportedError: it cannot be.
    """
    if isinstance(operand, Register):
        return _register_reader(operand, kind)
    if isinstance(operand, Immediate):
        return constant(immediate_array(operand, kind))
    if isinstance(operand, Special):
        return _converted(special(operand.name), kind)
    if isinstance(operand, Symbol):
        return _converted(scope.address(operand), kind)
    if isinstance(operand, Negated) and kind.kind == "p":
        slot = operand.register.slot
        return lambda lanes: ~lanes.get(slot)
    raise UnsupportedError("an operand of this form cannot be read here")


def immediate_array(operand: Immediate, kind: Type) -> Array:
    """Return a constant as an array of one element."""
    if kind.kind == "p":
        return np.array([operand.value != 0])
    bits = immediate_bits(operand, kind) & ((1 << kind.bits) - 1)
    return np.array([bits], RAW[kind.size]).view(dtype(kind))


def constant(value: Array) -> Reader:
    """Return a reader of an array of one element."""
    value.setflags(write=False)
    return lambda _lanes: value


def _register_reader(register: Register, kind: Type) -> Reader:
    slot, held, wanted = register.slot, register.type, dtype(kind)
    if (held.kind == "p") != (kind.kind == "p") or held.size < kind.size:
        raise UnsupportedError(f"{register.name} is .{held.name}, the instruction needs .{kind.name}")
    if held.size > kind.size:
        narrow = RAW[kind.size]
        return lambda lanes: lanes.get(slot).astype(narrow).view(wanted)
    if wanted == raw(held):
        return lambda lanes: lanes.get(slot)
    return lambda lanes: lanes.get(slot).view(wanted)


def _converted(source: Callable[[Lanes], Array], kind: Type) -> Reader:
    """Return a reader of an integer that is cut or extended to a type."""
    narrow, wanted = raw(kind), dtype(kind)
    return lambda lanes: source(lanes).astype(narrow).view(wanted)


def writer(operand: Operand, kind: Type) -> Writer:
    """Return how a value of a type is put into a destination; a wider register gets it extended.

    Raises:
        UnsupportedError: the operand is no destination for that type.
    """
    if isinstance(operand, Sink):
        return lambda _lanes, _value: None
    if not isinstance(operand, Register):
        raise UnsupportedError("the destination is no register")
    slot, held = operand.slot, operand.type
    if (held.kind == "p") != (kind.kind == "p") or held.size < kind.size:
        raise UnsupportedError(f"{operand.name} is .{held.name}, the instruction writes .{kind.name}")
    bits = raw(held)
    if held.size == kind.size:
        if dtype(kind) in {bits, BOOL}:
            return lambda lanes, value: lanes.put(slot, value)
        return lambda lanes, value: lanes.put(slot, value.view(bits))
    wide = SIGNED[held.size] if kind.kind == "s" else bits
    narrow = dtype(kind) if kind.kind in "su" else raw(kind)
    return lambda lanes, value: lanes.put(slot, value.view(narrow).astype(wide).view(bits))


def address_reader(base: Register | Symbol | None, offset: int, scope: Scope) -> Reader:
    """Return how ``[base + offset]`` is read: addresses as unsigned 64-bit integers."""
    if base is None:
        return constant(np.array([offset & _MASK], np.uint64))
    if isinstance(base, Symbol):
        return scope.address(Symbol(base.name, offset))
    if base.type.size not in {4, 8}:
        raise UnsupportedError(f"{base.name} is too narrow for an address")
    slot = base.slot
    if not offset:
        return lambda lanes: lanes.get(slot).astype(np.uint64, copy=False)
    added = np.array([offset & _MASK], np.uint64)
    if base.type.size == B64.size:
        return lambda lanes: lanes.get(slot) + added
    added = np.array([offset & (_MASK >> 32)], np.uint32)
    return lambda lanes: (lanes.get(slot) + added).astype(np.uint64)


_MASK = (1 << 64) - 1
