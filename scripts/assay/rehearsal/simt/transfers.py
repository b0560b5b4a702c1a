"""Loads, stores, atomics and what goes with them (PTX ISA 9.0, sections 9.7.9 and 9.7.13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Addresses, Array
from ..ptx.types import TYPES, Type
from ..ptx.values import Address, Immediate, Instruction, Operand, Register, Symbol, Vector
from . import atomics
from .access import Access, Space
from .dtypes import RAW, dtype
from .forms import Builder, Form, Step, arity, form
from .operands import Reader, Writer, address_reader, reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

_SPACES = frozenset(
    {
        "global",
        "const",
        "shared",
        "local",
        "param",
        "shared::cta",
        "shared::cluster",
        "param::entry",
        "param::func",
    }
)
_ORDERS = frozenset({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})
_SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})
_HINTS = frozenset(
    {
        *("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified"),
        *("L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"),
        *("L2::evict_normal", "L2::evict_first", "L2::evict_last"),
        *("L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"),
    }
)
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_FLAGS = _SPACES | _ORDERS | _SCOPES | _HINTS | set(_VECTORS)
_TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f16x2 bf16x2 f32 f64"

SHARED_SPACES = frozenset({"shared", "shared::cta", "shared::cluster", ""})
"""Spaces of an instruction that may mean shared memory; without one the address is generic."""


def space_of(flags: frozenset[str]) -> str:
    """Return the state space of an instruction's modifiers, ``generic`` where there is none."""
    found = sorted(flags & _SPACES)
    if len(found) > 1:
        raise UnsupportedError(f"both .{found[0]} and .{found[1]}")
    return found[0].split("::")[0] if found else "generic"


def _access(instruction: Instruction, f: Form, *, strong: bool = False) -> Access:
    count = _VECTORS[f.one_of(frozenset(_VECTORS), "")] if f.flags & set(_VECTORS) else 1
    strong = strong or bool(f.flags & _ORDERS - {"weak"})
    return Access(instruction, f.type.size, count, strong)


def space_getter(name: str) -> Callable[[Lanes], Space]:
    """Return how the space of a chunk is reached."""
    return lambda lanes: lanes.chunk.spaces[name]


def load(instruction: Instruction, scope: Scope) -> Step:
    """Build ``ld`` and ``ldu``."""
    f = form(instruction, _FLAGS, _TYPES)
    access, name = _access(instruction, f), space_of(f.flags)
    d, a = _with_hint(instruction, 2)
    if not isinstance(a, Address):
        raise UnsupportedError("an address expected")
    puts = [writer(o, f.type) for o in _elements(d, access.count)]
    if name == "param" and isinstance(a.base, Symbol):
        return _load_parameter(scope, a.base.name, a.offset, access, puts)
    return _load(space_getter(name), address_reader(a.base, a.offset, scope), access, puts, f)


def _load(
    space: Callable[[Lanes], Space], address: Reader, access: Access, puts: list[Writer], f: Form
) -> Step:
    ordered = bool(f.flags & {"acquire", "acq_rel"})

    def step(lanes: Lanes) -> None:
        values = space(lanes).load(lanes, address(lanes), access)
        for put, value in zip(puts, values, strict=True):
            put(lanes, value)
        if access.strong:
            lanes.chunk.strong += 1
            if ordered:
                lanes.chunk.order(lanes)

    return step


def _load_parameter(scope: Scope, name: str, offset: int, access: Access, puts: list[Writer]) -> Step:
    """Return a load from a parameter by name: of the kernel, or of a call that is made or served."""
    parameter = scope.entry_parameter(name)
    if parameter is not None:
        start = parameter.offset + offset
        if offset < 0 or offset + access.span > parameter.size:
            raise UnsupportedError(f"the access lies outside the parameter {name}")

        def from_buffer(lanes: Lanes) -> None:
            buffer = lanes.chunk.launch.parameters
            for number, put in enumerate(puts):
                at = start + number * access.size
                put(lanes, buffer[at : at + access.size].view(RAW[access.size]))

        return from_buffer

    def from_frame(lanes: Lanes) -> None:
        held = scope.parameter_bytes(lanes, name, offset + access.span)
        chosen = lanes.pick(held)
        for number, put in enumerate(puts):
            at = offset + number * access.size
            put(
                lanes,
                np.ascontiguousarray(chosen[:, at : at + access.size]).view(RAW[access.size]).reshape(-1),
            )

    return from_frame


def _elements(operand: Operand, count: int) -> tuple[Operand, ...]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(elements) != count:
        raise UnsupportedError(f"{count} elements expected")
    return elements


def _with_hint(instruction: Instruction, count: int) -> tuple[Operand, ...]:
    """Return the operands without the cache policy that may follow."""
    extra = 1 if "L2::cache_hint" in instruction.modifiers else 0
    return arity(instruction, count + extra)[:count]


def store(instruction: Instruction, scope: Scope) -> Step:
    """Build ``st``."""
    f = form(instruction, _FLAGS, _TYPES)
    access, name = _access(instruction, f), space_of(f.flags)
    a, b = _with_hint(instruction, 2)
    if not isinstance(a, Address):
        raise UnsupportedError("an address expected")
    reads = [_raw_reader(o, f.type, scope) for o in _elements(b, access.count)]
    if name == "param" and isinstance(a.base, Symbol):
        return _store_parameter(scope, a.base.name, a.offset, access, reads)
    if name in {"param", "const"}:
        raise UnsupportedError(f"a store to {name} memory")
    space, address = space_getter(name), address_reader(a.base, a.offset, scope)
    ordered = bool(f.flags & {"release", "acq_rel"})

    def step(lanes: Lanes) -> None:
        space(lanes).store(lanes, address(lanes), access, tuple(read(lanes) for read in reads))
        if access.strong:
            lanes.chunk.strong += 1
            if ordered:
                lanes.chunk.order(lanes)

    return step


def _raw_reader(operand: Operand, kind: Type, scope: Scope) -> Reader:
    """Return a reader of an operand's bits: an immediate float is converted to the type first."""
    if isinstance(operand, Immediate):
        read, bits = reader(operand, kind, scope), RAW[kind.size]
        return lambda lanes: read(lanes).view(bits)
    return reader(operand, TYPES[f"b{kind.bits}"], scope)


def _store_parameter(scope: Scope, name: str, offset: int, access: Access, reads: list[Reader]) -> Step:
    if scope.entry_parameter(name) is not None:
        raise UnsupportedError("a store to a kernel's parameter")

    def step(lanes: Lanes) -> None:
        held = scope.parameter_bytes(lanes, name, offset + access.span)
        for number, read in enumerate(reads):
            at = offset + number * access.size
            value = np.ascontiguousarray(read(lanes)).view(np.uint8).reshape(-1, access.size)
            if lanes.index is None:
                held[:, at : at + access.size] = value
            else:
                held[lanes.index, at : at + access.size] = value

    return step


_ATOMIC_TYPES = "b16 b32 b64 u32 u64 s32 s64 f16 f32 f64"
_OPERATIONS = frozenset(atomics.UFUNCS) | frozenset(atomics.OTHERS)


def atomic(instruction: Instruction, scope: Scope) -> Step:
    """Build ``atom`` and ``red``."""
    f = form(
        instruction, _SPACES | _ORDERS | _SCOPES | _OPERATIONS | {"noftz", "L2::cache_hint"}, _ATOMIC_TYPES
    )
    name = f.one_of(_OPERATIONS, "")
    if not name or (f.type.kind == "f" and name not in {"add", "exch"}):
        raise UnsupportedError(f"there is no atomic .{name} of .{f.type.name}")
    d, a, first, second = _atomic_operands(instruction, f, name, scope)
    access = _access(instruction, f, strong=True)
    space, address = space_getter(space_of(f.flags)), address_reader(a.base, a.offset, scope)
    kind, wants_old = dtype(f.type), d is not None
    ordered = bool(f.flags & {"acquire", "release", "acq_rel"})

    def step(lanes: Lanes) -> None:
        given = (lanes.all(first(lanes)), lanes.all(second(lanes)))

        def update(elements: Array, index: Array, where: Array | None) -> Array:
            chosen = given if where is None else (given[0][where], given[1][where])
            return atomics.apply(elements, index, name, kind, chosen, wants_old=wants_old)

        old = space(lanes).atomic(lanes, address(lanes), access, update)
        lanes.chunk.strong += 1
        if ordered:
            lanes.chunk.order(lanes)
        if d is not None:
            d(lanes, old.view(kind))

    return step


def _atomic_operands(
    instruction: Instruction, f: Form, name: str, scope: Scope
) -> tuple[Writer | None, Address, Reader, Reader]:
    """Return the destination (None where nobody reads it), the address and the two operands."""
    returns = instruction.opcode == "atom"
    operands = _with_hint(instruction, (2 if returns else 1) + (2 if name == "cas" else 1))
    a = operands[1 if returns else 0]
    if not isinstance(a, Address):
        raise UnsupportedError("an address expected")
    given = [reader(o, f.type, scope) for o in operands[2 if returns else 1 :]]
    destination = operands[0] if returns else None
    used = isinstance(destination, Register) and scope.is_read(destination)
    put = writer(destination, f.type) if used and destination is not None else None
    return put, a, given[0], given[-1]


def nothing(_instruction: Instruction, _scope: Scope) -> Step:
    """Build an instruction that changes nothing that a thread can see: prefetches, hints."""
    return lambda _lanes: None


def fence(instruction: Instruction, _scope: Scope) -> Step:
    """Build ``membar`` and ``fence``: execution is in order, so that they only order shared accesses."""
    known = {
        "cta",
        "gl",
        "sys",
        "gpu",
        "cluster",
        "sc",
        "acq_rel",
        "acquire",
        "release",
        "proxy",
        "async",
        "alias",
    }
    for modifier in instruction.modifiers:
        if modifier not in known:
            raise UnsupportedError(f".{modifier} is not supported here")
    return lambda lanes: lanes.chunk.order(lanes)


def copy_async(instruction: Instruction, scope: Scope) -> Step:
    """Build ``cp.async`` from global to shared memory: made at once; waiting for it is then nothing.

    ``cp.async.commit_group``, ``.wait_group`` and ``.wait_all`` are the other forms; bulk copies are refused.
    """
    modifiers = set(instruction.modifiers)
    if modifiers & {"commit_group", "wait_group", "wait_all"}:
        return lambda _lanes: None
    known = {"async", "ca", "cg", "shared", "shared::cta", "shared::cluster", "global", *_HINTS}
    if "async" not in modifiers or modifiers - known:
        raise UnsupportedError("only cp.async of 4, 8 or 16 bytes is supported")
    to, start, size, *rest = instruction.operands
    if not (isinstance(to, Address) and isinstance(start, Address) and isinstance(size, Immediate)):
        raise UnsupportedError("two addresses and a constant size expected")
    if size.value not in {4, 8, 16} or len(rest) > 1:
        raise UnsupportedError("only cp.async of 4, 8 or 16 bytes is supported")
    access = Access(instruction, 4, size.value // 4)
    target, source = (
        address_reader(to.base, to.offset, scope),
        address_reader(start.base, start.offset, scope),
    )
    if not rest or "L2::cache_hint" in modifiers:
        return lambda lanes: _copy(lanes, target(lanes), source(lanes), access)
    return _partial_copy(target, source, access, reader(rest[0], TYPES["u32"], scope))


def _copy(lanes: Lanes, target: Addresses, source: Addresses, access: Access) -> None:
    values = lanes.chunk.spaces["global"].load(lanes, source, access)
    lanes.chunk.undefined.hand_on(access.count)
    lanes.chunk.spaces["shared"].store(lanes, target, access, values)


def _partial_copy(target: Reader, source: Reader, access: Access, given: Reader) -> Step:
    """Return a copy of the first ``given`` bytes; zeros follow."""

    def step(lanes: Lanes) -> None:
        size, to, start = (lanes.all(read(lanes)) for read in (given, target, source))
        one = Access(access.site, access.size)
        for number in range(access.count):
            offset = np.uint64(number * access.size)
            there = size >= (number + 1) * access.size
            value = np.zeros(lanes.count, RAW[access.size])
            if there.any():
                value[there] = lanes.chunk.spaces["global"].load(
                    lanes.narrow(there), start[there] + offset, one
                )[0]
            lanes.chunk.undefined.hand_on(1)
            lanes.chunk.spaces["shared"].store(lanes, to + offset, one, (value,))

    return step


BUILDERS: dict[str, Builder] = {
    "ld": load,
    "ldu": load,
    "st": store,
    "atom": atomic,
    "red": atomic,
    "prefetch": nothing,
    "prefetchu": nothing,
    "applypriority": nothing,
    "griddepcontrol": nothing,
    "membar": fence,
    "fence": fence,
    "cp": copy_async,
}
"""By opcode."""
