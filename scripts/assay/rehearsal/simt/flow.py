"""What an instruction reads, writes and decides, as far as the definedness of values follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ..ptx.types import TYPES
from ..ptx.values import (
    Address,
    Group,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)

Key: TypeAlias = "int | tuple[str, int]"
"""A register's slot, or a ``.param`` variable's name with an offset in it."""


@dataclass(frozen=True, eq=False)
class Flow:
    """Where an instruction's values come from and where they go.

    Attributes:
        rule: how definedness goes on, one of the names in ``undefined``.
        reads: what the values come from.
        writes: what takes them.
        addresses: registers that say where in memory.
        sources: the operands that ``reads`` names, for rules that look at values.
    """

    rule: str
    reads: tuple[Key, ...] = ()
    writes: tuple[Key, ...] = ()
    addresses: tuple[Key, ...] = ()
    sources: tuple[Operand, ...] = ()


NOTHING = Flow("nothing")

_HARMLESS = frozenset({"prefetch", "prefetchu", "applypriority", "griddepcontrol", "membar", "fence"})


def flow_of(instruction: Instruction) -> Flow:
    """Return the flow of an instruction."""
    opcode = instruction.opcode
    if opcode in _HARMLESS:
        return NOTHING
    return _RULES.get(opcode, _arithmetic)(instruction)


def keys(operands: Iterable[Operand]) -> tuple[Key, ...]:
    """Return the registers of operands, and the parameters that a call names."""
    return tuple(key for operand in operands for key in _keys(operand))


def _keys(operand: Operand) -> Iterator[Key]:
    if isinstance(operand, Register):
        yield operand.slot
    elif isinstance(operand, Negated):
        yield operand.register.slot
    elif isinstance(operand, Pair):
        yield from keys((operand.first, operand.second))
    elif isinstance(operand, Vector):
        yield from keys(operand.elements)
    elif isinstance(operand, Group):
        yield from ((each.name, 0) for each in operand.elements if isinstance(each, Symbol))


def _arithmetic(instruction: Instruction) -> Flow:
    """Return the flow of what has one destination, first, and computes it from the rest."""
    destination, *sources = instruction.operands or (Immediate(0),)
    return Flow("any", keys(sources), keys((destination,)), sources=tuple(sources))


def _chosen(rule: str) -> Callable[[Instruction], Flow]:
    """Return the flow of an instruction whose result may leave some of its sources out."""

    def flow(instruction: Instruction) -> Flow:
        plain = _arithmetic(instruction)
        return Flow(rule, plain.reads, plain.writes, sources=plain.sources)

    return flow


def _compared(instruction: Instruction) -> Flow:
    """Return the flow of ``setp``, whose last predicate may decide alone."""
    joined = {"and", "or"} & set(instruction.modifiers)
    return _chosen(f"joined-{joined.pop()}" if joined else "any")(instruction)


def _load(instruction: Instruction) -> Flow:
    d, a, *_ = instruction.operands
    return _transfer(instruction, "load", a, d)


def _store(instruction: Instruction) -> Flow:
    a, b, *_ = instruction.operands
    return _transfer(instruction, "store", a, b)


def _transfer(instruction: Instruction, rule: str, a: Operand, value: Operand) -> Flow:
    """Return the flow between registers and memory, or a parameter that is named."""
    elements = value.elements if isinstance(value, Vector) else (value,)
    slots = tuple(each.slot if isinstance(each, Register) else -1 for each in elements)
    if not isinstance(a, Address):
        return NOTHING
    if "param" in {each.split("::")[0] for each in instruction.modifiers} and isinstance(a.base, Symbol):
        size = next(TYPES[each].size for each in reversed(instruction.modifiers) if each in TYPES)
        named = tuple((a.base.name, a.offset + number * size) for number in range(len(slots)))
        return Flow("copy", named, slots) if rule == "load" else Flow("copy", slots, named)
    addresses = _address(a)
    return Flow(rule, (), slots, addresses) if rule == "load" else Flow(rule, slots, (), addresses)


def _address(operand: Operand) -> tuple[Key, ...]:
    return keys((operand.base,)) if isinstance(operand, Address) and operand.base is not None else ()


def _atomic(instruction: Instruction) -> Flow:
    """Return the flow of ``atom`` and ``red``; an exchange alone does not depend on what was there."""
    operands = instruction.operands
    addresses = tuple(key for operand in operands for key in _address(operand))
    returns = instruction.opcode == "atom"
    writes = keys(operands[:1]) if returns else ()
    rule = "exchange" if "exch" in instruction.modifiers else "atomic"
    return Flow(rule, keys(operands[1 if returns else 0 :]), writes, addresses)


def _copied(instruction: Instruction) -> Flow:
    """Return the flow of ``cp.async``."""
    addresses = tuple(key for operand in instruction.operands for key in _address(operand))
    return Flow("nothing", addresses=(*addresses, *keys(instruction.operands)))


def _called(instruction: Instruction) -> Flow:
    """Return the flow of a call of a function that the driver provides: it uses what it gets."""
    operands = instruction.operands
    results = operands[:1] if operands and isinstance(operands[0], Group) else ()
    return Flow("use", keys(operands[len(results) :]), keys(results))


def _barrier(instruction: Instruction) -> Flow:
    """Return the flow of a barrier of the block, whose reduction is told to all of its threads."""
    reduces = "red" in instruction.modifiers
    operands = instruction.operands
    return Flow("use", keys(operands[1 if reduces else 0 :]), keys(operands[:1]) if reduces else ())


def _branch(instruction: Instruction) -> Flow:
    """Return the flow of what goes where a register says."""
    return Flow("use", keys(instruction.operands))


_RULES: dict[str, Callable[[Instruction], Flow]] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "cp": _copied,
    "call": _called,
    "bar": _barrier,
    "barrier": _barrier,
    "brx": _branch,
    "bra": _branch,
    "setp": _compared,
    "selp": _chosen("select"),
    "and": _chosen("and"),
    "or": _chosen("or"),
}
"""By opcode; every other instruction computes its first operand from the rest."""
