"""Functions of a module to graphs of basic blocks (``nodes``).

A block ends at a label, and at every instruction at which threads part or wait.  Such an instruction, when
guarded, becomes a branch around its own block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..ptx.types import TYPES
from ..ptx.values import (
    Function,
    Group,
    Instruction,
    Label,
    Operand,
    Symbol,
    aligned,
    space_bytes,
)
from .barriers import barrier
from .builtins import BUILTINS, builtin
from .forms import Step
from .graph import Order, order
from .instructions import build
from .lanes import Lanes, blank
from .linking import Names, Scope
from .nodes import Branch, Call, Check, End, Jump, Latch, Meet, Node, Program, Return, Switch, Wait
from .operands import reader
from .unsupported import UnsupportedError
from .warps import MEETINGS, warp_barrier

_CONTROL = frozenset({"bra", "brx", "ret", "exit", "call", "bar", "barrier", *MEETINGS})

Ending = Callable[[Callable[[int], int]], End]
"""Returns what ends a block, given what returns a block's number, or that of the latch before it."""


@dataclass
class _Block:
    """A basic block that is being made: its steps, the blocks it goes on to, and its end."""

    steps: list[tuple[Step, Instruction]] = field(default_factory=list)
    successors: tuple[int, ...] = ()
    ending: Ending | None = None
    cost: int = 0


def compile_function(function: Function, names: Names, check: Check) -> Program:
    """Return a function as a program.

    Args:
        function: with a body.
        names: of its module.
        check: called from time to time; may raise to stop.
    """
    scope = Scope(function, names)
    blocks = _blocks(function, scope, check)
    found = order([block.successors for block in blocks], check)
    return Program(
        function.name,
        tuple(_node(number, found, blocks) for number in range(len(found.sequence))),
        found.rank[0],
        tuple(blank(kind) for kind in function.registers),
        aligned(space_bytes(function.variables.values(), "local"), 16),
        tuple(p.name for p in function.parameters),
        tuple(p.name for p in function.returns),
        scope.parameter_sizes,
        sum(kind.size for kind in function.registers),
    )


def _node(number: int, found: Order, blocks: list[_Block]) -> Node:
    block = found.sequence[number]
    if block < 0:
        return Node((), Latch(found.rank[-1 - block]), 1)
    made = blocks[block]

    def place(target: int) -> int:
        return found.latches.get((block, target), found.rank[target])

    end = made.ending(place) if made.ending is not None else Return(exits=False)
    return Node(tuple(made.steps), end, max(1, made.cost))


def _blocks(function: Function, scope: Scope, check: Check) -> list[_Block]:
    """Return the basic blocks in the order of the text; the last one returns."""
    starts = _starts(function)
    number = {start: at for at, start in enumerate(starts)}
    extra = len(starts) + 1
    blocks = [_Block() for _ in range(extra)]
    for at, start in enumerate(starts):
        stop = starts[at + 1] if at + 1 < len(starts) else len(function.instructions)
        following = at + 1
        for index in range(start, stop):
            check()
            instruction = function.instructions[index]
            blocks[at].cost += 1
            if instruction.opcode in _CONTROL and not _is_builtin(instruction):
                _finish(blocks, at, following, instruction, scope, number)
            else:
                blocks[at].steps.append((_step(instruction, scope), instruction))
        if blocks[at].ending is None:
            _go_on(blocks[at], following)
    return blocks


def _starts(function: Function) -> list[int]:
    """Return where basic blocks begin: at labels, and behind control instructions."""
    starts = {0, *function.labels.values()}
    for index, instruction in enumerate(function.instructions):
        if instruction.opcode in _CONTROL and not _is_builtin(instruction):
            starts.add(index + 1)
    return sorted(start for start in starts if start < len(function.instructions)) or [0]


def _is_builtin(instruction: Instruction) -> bool:
    return instruction.opcode == "call" and _callee(instruction) in BUILTINS


def _callee(instruction: Instruction) -> str:
    named = [o.name for o in instruction.operands if isinstance(o, Symbol)]
    return named[0] if named else ""


def _go_on(block: _Block, target: int) -> None:
    block.successors = (target,)
    block.ending = lambda place: Jump(place(target))


def _step(instruction: Instruction, scope: Scope) -> Step:
    """Return what an instruction does; one that cannot be run raises when it is executed."""
    try:
        chosen = builtin if instruction.opcode == "call" else build
        step = chosen(instruction, scope)
    except UnsupportedError as error:
        return _refusing(str(error))
    return step if instruction.guard is None else _guarded(step, instruction.guard.slot, instruction.negated)


def _refusing(message: str) -> Step:
    def step(_lanes: object) -> None:
        raise UnsupportedError(message)

    return step


def _guarded(step: Step, slot: int, negated: bool) -> Step:  # noqa: FBT001  # as in ``Instruction``
    def guarded(lanes: Lanes) -> None:
        holds = lanes.get(slot)
        if negated:
            holds = ~holds
        if holds.all():
            step(lanes)
        elif holds.any():
            step(lanes.narrow(holds))

    return guarded


def _finish(  # noqa: PLR0913, PLR0917  # the block, its neighbours and its end
    blocks: list[_Block],
    at: int,
    following: int,
    instruction: Instruction,
    scope: Scope,
    number: dict[int, int],
) -> None:
    """End a block with a control instruction."""
    block = blocks[at]
    if instruction.guard is not None and not _is_branch(instruction):
        blocks.append(_Block())
        own = len(blocks) - 1
        _branch(block, instruction, own, following)
        block = blocks[own]
        block.cost = 1
    try:
        _end(block, following, instruction, scope, number)
    except UnsupportedError as error:
        block.steps.append((_refusing(str(error)), instruction))
        block.successors, block.ending = (), lambda _place: Return(exits=False)


def _is_branch(instruction: Instruction) -> bool:
    return instruction.opcode == "bra"


def _branch(block: _Block, instruction: Instruction, taken: int, other: int) -> None:
    """End a block with a branch on an instruction's guard."""
    slot = instruction.guard.slot if instruction.guard is not None else 0
    block.successors = (taken, other)
    block.ending = lambda place: Branch(slot, instruction.negated, place(taken), place(other), instruction)


def _end(
    block: _Block, following: int, instruction: Instruction, scope: Scope, number: dict[int, int]
) -> None:
    opcode = instruction.opcode
    if opcode == "bra":
        _end_branch(block, following, instruction, scope, number)
    elif opcode == "brx":
        _end_switch(block, instruction, scope, number)
    elif opcode in {"ret", "exit"}:
        block.successors, block.ending = (), lambda _place: Return(exits=opcode == "exit")
    elif opcode == "call":
        _end_call(block, following, instruction, scope)
    elif opcode in MEETINGS or instruction.modifiers[:2] == ("warp", "sync"):
        meeting = MEETINGS.get(opcode, warp_barrier)(instruction, scope)
        block.successors = (following,)
        block.ending = lambda place: Meet(meeting, place(following), instruction)
    else:
        found = barrier(instruction, scope)
        block.successors = (following,)
        block.ending = lambda place: Wait(found, place(following))


def _end_branch(
    block: _Block, following: int, instruction: Instruction, scope: Scope, number: dict[int, int]
) -> None:
    (target,) = instruction.operands
    if not isinstance(target, Label) or set(instruction.modifiers) - {"uni"}:
        raise UnsupportedError("only branches to a label are supported")
    taken = _block_at(scope.function.labels[target.name], number)
    if instruction.guard is None:
        _go_on(block, taken)
    else:
        _branch(block, instruction, taken, following)


def _block_at(index: int, number: dict[int, int]) -> int:
    """Return the block of an instruction; a label behind the last one is the block that returns."""
    return number.get(index, len(number))


def _end_switch(block: _Block, instruction: Instruction, scope: Scope, number: dict[int, int]) -> None:
    if instruction.modifiers[:1] != ("idx",) or len(instruction.operands) != 2:  # noqa: PLR2004  # index and table
        raise UnsupportedError("only brx.idx is supported")
    index, table = instruction.operands
    if not isinstance(table, Symbol) or table.name not in scope.function.tables:
        raise UnsupportedError("brx.idx needs a list of .branchtargets")
    labels = scope.function.tables[table.name]
    targets = tuple(_block_at(scope.function.labels[label], number) for label in labels)
    read = reader(index, TYPES["u32"], scope)
    block.successors = tuple(dict.fromkeys(targets))
    block.ending = lambda place: Switch(read, tuple(place(target) for target in targets), instruction)


def _end_call(block: _Block, following: int, instruction: Instruction, scope: Scope) -> None:
    operands = list(instruction.operands)
    results = _names(operands.pop(0)) if operands and isinstance(operands[0], Group) else ()
    if not operands or set(instruction.modifiers) - {"uni"}:
        raise UnsupportedError("a function to call is expected")
    target = operands.pop(0)
    arguments = _names(operands.pop(0)) if operands and isinstance(operands[0], Group) else ()
    callee = target.name if isinstance(target, Symbol) else reader(target, TYPES["u64"], scope)
    block.successors = (following,)
    block.ending = lambda place: Call(callee, arguments, results, place(following), instruction)


def _names(operand: Operand) -> tuple[str, ...]:
    elements = operand.elements if isinstance(operand, Group) else ()
    names = [element.name for element in elements if isinstance(element, Symbol) and not element.offset]
    if len(names) != len(elements):
        raise UnsupportedError("only .param variables are passed to functions")
    return tuple(names)
