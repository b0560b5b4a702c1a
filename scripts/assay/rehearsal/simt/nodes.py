"""A function as a graph of basic blocks in the order of execution, and what stands at the end of a block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..arrays import Array
from ..ptx.values import Instruction
from .barriers import Barrier
from .forms import Step
from .operands import Reader
from .warps import Meeting


@dataclass(frozen=True)
class Jump:
    """Go on at a block."""

    target: int


@dataclass(frozen=True)
class Latch:
    """Go on at the head of a loop, from the place where the threads of one iteration have met."""

    target: int


@dataclass(frozen=True)
class Branch:
    """Go on at ``taken`` where the predicate is true (false if negated), else at ``other``."""

    slot: int
    negated: bool
    taken: int
    other: int
    site: Instruction


@dataclass(frozen=True)
class Switch:
    """Go on at the target that an index chooses (``brx.idx``)."""

    index: Reader
    targets: tuple[int, ...]
    site: Instruction


@dataclass(frozen=True)
class Return:
    """Return to the caller; of a kernel, or with ``exits``, the threads end."""

    exits: bool


@dataclass(frozen=True)
class Call:
    """Call a device function and go on behind it.

    Attributes:
        callee: its name, or how its address is read.
        arguments: names of the caller's parameters that are passed.
        results: names of those that take the results.
        then: the block behind the call.
        site: the instruction.
    """

    callee: str | Reader
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    then: int
    site: Instruction


@dataclass(frozen=True)
class Meet:
    """Wait for the other threads of the warp, then go on."""

    meeting: Meeting
    then: int
    site: Instruction


@dataclass(frozen=True)
class Wait:
    """Come to a barrier of the block, then go on."""

    barrier: Barrier
    then: int


End: TypeAlias = "Jump | Latch | Branch | Switch | Return | Call | Meet | Wait"


@dataclass(frozen=True)
class Node:
    """A basic block.

    Attributes:
        steps: what its instructions do, with the instruction for messages.
        end: where it goes on.
        cost: its instructions.
    """

    steps: tuple[tuple[Step, Instruction], ...]
    end: End
    cost: int


@dataclass(frozen=True, eq=False)
class Program:
    """A function ready to run.

    Attributes:
        name: the function's.
        nodes: in the order of execution; ``entry`` is where it begins.
        entry: number of the first block.
        blank: initial registers by slot.
        local_bytes: bytes of its local variables.
        parameters: names of its parameters; ``returns`` of its return parameters.
        parameter_sizes: bytes of its ``.param`` variables and, of a device function, of both kinds of
            parameters.
        register_bytes: bytes of all registers of one thread.
    """

    name: str
    nodes: tuple[Node, ...]
    entry: int
    blank: tuple[Array, ...]
    local_bytes: int
    parameters: tuple[str, ...]
    returns: tuple[str, ...]
    parameter_sizes: Mapping[str, int]
    register_bytes: int


Check: TypeAlias = "Callable[[], None]"
"""Called from time to time while a function is compiled; raises to stop it."""

Programs: TypeAlias = "Mapping[str, Callable[[Check], Program]]"
"""By name, how a function is compiled, once."""
