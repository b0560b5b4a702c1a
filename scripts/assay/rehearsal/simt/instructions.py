"""Every instruction that changes registers or memory, by opcode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.types import TYPES
from ..ptx.values import Instruction
from . import bits, compare, convert, floats, integers, moves, transfers
from .forms import Builder, Step
from .unsupported import TrapError, UnsupportedError
from .warps import active_mask

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope


def _trap(instruction: Instruction, scope: Scope) -> Step:
    """Build ``trap`` and ``brkpt``."""
    del scope
    name = instruction.opcode

    def step(lanes: Lanes) -> None:
        block, thread = lanes.chunk.place(int(lanes.threads()[0]))
        raise TrapError("trap", f"block {block} thread {thread} executed {name}")

    return step


BUILDERS: dict[str, Builder] = {
    **bits.BUILDERS,
    **compare.BUILDERS,
    **convert.BUILDERS,
    **moves.BUILDERS,
    **transfers.BUILDERS,
    "activemask": active_mask,
    "trap": _trap,
    "brkpt": _trap,
    # Time passes by itself: a thread that sleeps only lets others go first, which they may anyway.
    "nanosleep": transfers.nothing,
}


def build(instruction: Instruction, scope: Scope) -> Step:
    """Return what an instruction does.

    Raises:
        UnsupportedError: the interpreter does not have it, in this form.
    """
    opcode = instruction.opcode
    if opcode in BUILDERS:
        return BUILDERS[opcode](instruction, scope)
    table = floats.BUILDERS if _is_float(instruction) else integers.BUILDERS
    if opcode not in table:
        raise UnsupportedError(f"the instruction {opcode} is not supported")
    return table[opcode](instruction, scope)


def _is_float(instruction: Instruction) -> bool:
    last = instruction.modifiers[-1] if instruction.modifiers else ""
    return last in TYPES and TYPES[last].kind == "f"
