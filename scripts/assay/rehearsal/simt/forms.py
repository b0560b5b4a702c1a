"""What instruction builders share: the modifiers of an instruction, and element-wise steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..arrays import Array
from ..ptx.types import TYPES, Type
from ..ptx.values import Instruction, Operand
from .operands import reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

Step: TypeAlias = "Callable[[Lanes], None]"
Builder: TypeAlias = "Callable[[Instruction, Scope], Step]"

ROUNDINGS = frozenset({"rn", "rz", "rm", "rp"})


@dataclass(frozen=True)
class Form:
    """The modifiers of an instruction.

    Attributes:
        types: those that are types, in order.
        flags: the others.
    """

    types: tuple[Type, ...]
    flags: frozenset[str]

    @property
    def type(self) -> Type:
        """The last type: the one that arithmetic uses."""
        return self.types[-1]

    def one_of(self, names: frozenset[str], default: str) -> str:
        """Return the one flag among ``names``, or ``default`` where there is none."""
        found = sorted(self.flags & names)
        if len(found) > 1:
            raise UnsupportedError(f"both .{found[0]} and .{found[1]}")
        return found[0] if found else default


def form(instruction: Instruction, flags: frozenset[str] | set[str], types: str) -> Form:
    """Return the modifiers of an instruction.

    Args:
        instruction: of one type at least.
        flags: the modifiers that are known besides types.
        types: names of the types that are known, with spaces between.

    Raises:
        UnsupportedError: there is a modifier that is not known, or no type.
    """
    allowed = types.split()
    found: list[Type] = []
    others: set[str] = set()
    for modifier in instruction.modifiers:
        if modifier in flags:
            others.add(modifier)
        elif modifier in allowed:
            found.append(TYPES[modifier])
        else:
            raise UnsupportedError(f".{modifier} is not supported here")
    if not found:
        raise UnsupportedError("there is no type")
    return Form(tuple(found), frozenset(others))


def arity(instruction: Instruction, count: int) -> tuple[Operand, ...]:
    """Return the operands of an instruction that has so many.

    Raises:
        UnsupportedError: it has more or fewer.
    """
    if len(instruction.operands) != count:
        raise UnsupportedError(f"{count} operands expected")
    return instruction.operands


def unary(
    instruction: Instruction, scope: Scope, kind: Type, function: Callable[[Array], Array], result: Type
) -> Step:
    """Return ``d = function(a)``."""
    d, a = arity(instruction, 2)
    put, first = writer(d, result), reader(a, kind, scope)
    return lambda lanes: put(lanes, function(first(lanes)))


def binary(
    instruction: Instruction,
    scope: Scope,
    kinds: tuple[Type, Type],
    function: Callable[[Array, Array], Array],
    result: Type,
) -> Step:
    """Return ``d = function(a, b)``."""
    d, a, b = arity(instruction, 3)
    put, first, second = writer(d, result), reader(a, kinds[0], scope), reader(b, kinds[1], scope)
    return lambda lanes: put(lanes, function(first(lanes), second(lanes)))


def ternary(
    instruction: Instruction,
    scope: Scope,
    kinds: tuple[Type, Type, Type],
    function: Callable[[Array, Array, Array], Array],
    result: Type,
) -> Step:
    """Return ``d = function(a, b, c)``."""
    d, *sources = arity(instruction, 4)
    put = writer(d, result)
    first, second, third = (reader(o, kind, scope) for o, kind in zip(sources, kinds, strict=True))
    return lambda lanes: put(lanes, function(first(lanes), second(lanes), third(lanes)))
