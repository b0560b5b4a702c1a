"""What the names in a function mean: addresses of variables and functions, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.values import (
    Address,
    Function,
    Group,
    Instruction,
    Negated,
    Operand,
    Pair,
    Parameter,
    Register,
    Symbol,
    Vector,
    placed,
)
from .operands import Reader, constant
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes

_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Names:
    """The names of a module, for one kernel.

    Attributes:
        variables: global and const variables -> address.
        shared: shared variables of the kernel and of what it calls, by (function or "", name) -> offset.
        code: functions -> the number that stands for their address.
    """

    variables: Mapping[str, int]
    shared: Mapping[tuple[str, str], int]
    code: Mapping[str, int]


class Scope:
    """The names of one function.

    Args:
        function: whose instructions are built.
        names: those of the module.
    """

    def __init__(self, function: Function, names: Names) -> None:
        self.function = function
        self._names = names
        self._local = placed(function.variables.values(), "local")
        self._parameters = {p.name: p for p in (*function.parameters, *function.returns)}
        self._read = _registers_read(function.instructions)
        self.parameter_sizes = {v.name: v.size for v in function.variables.values() if v.space == "param"}
        if not function.entry:
            self.parameter_sizes |= {name: p.size for name, p in self._parameters.items()}

    def address(self, symbol: Symbol) -> Reader:
        """Return how the address of a variable or function is read: in its own space, as uint64.

        Raises:
            UnsupportedError: it has none here.
        """
        name = symbol.name
        if name in self._local:
            return self._local_address(self._local[name] + symbol.offset)
        for owner in (self.function.name, ""):
            if (owner, name) in self._names.shared:
                return _fixed(self._names.shared[owner, name] + symbol.offset)
        if name in self._names.variables:
            return _fixed(self._names.variables[name] + symbol.offset)
        if name in self._names.code:
            return _fixed(self._names.code[name])
        parameter = self.entry_parameter(name)
        if parameter is not None:
            return _fixed(parameter.offset + symbol.offset)
        raise UnsupportedError(f"`{name}` has no address here")

    @staticmethod
    def _local_address(offset: int) -> Reader:
        return lambda lanes: np.array([(lanes.frame.local_base + offset) & _MASK], np.uint64)

    def entry_parameter(self, name: str) -> Parameter | None:
        """Return the kernel's parameter of that name."""
        if self.function.entry and name not in self.function.variables:
            return self._parameters.get(name)
        return None

    def parameter_bytes(self, lanes: Lanes, name: str, stop: int) -> Array:
        """Return the bytes of a call's parameter in the frame, shape (threads, size).

        Raises:
            UnsupportedError: there is no such parameter, or the access up to ``stop`` goes past its end.
        """
        if stop > self.parameter_sizes.get(name, 0):
            raise UnsupportedError(f"the access lies outside the parameter {name}")
        return lanes.frame.parameter(name, lanes.chunk.threads)

    def is_read(self, register: Register) -> bool:
        """Return whether any instruction of the function reads a register."""
        return register.slot in self._read


def _fixed(address: int) -> Reader:
    return constant(np.array([address & _MASK], np.uint64))


_NO_DESTINATION = frozenset({"st", "red", "bra", "brx", "call", "ret", "exit", "bar", "barrier", "trap"})


def _registers_read(instructions: tuple[Instruction, ...]) -> frozenset[int]:
    read: set[int] = set()
    for instruction in instructions:
        if instruction.guard is not None:
            read.add(instruction.guard.slot)
        written = 0 if instruction.opcode in _NO_DESTINATION else 1
        for operand in instruction.operands[written:]:
            _collect(operand, read)
        for operand in instruction.operands[:written]:
            if not isinstance(operand, (Register, Vector, Pair)):
                _collect(operand, read)
    return frozenset(read)


def _collect(operand: Operand, read: set[int]) -> None:
    if isinstance(operand, Register):
        read.add(operand.slot)
    elif isinstance(operand, Negated):
        read.add(operand.register.slot)
    elif isinstance(operand, Address) and isinstance(operand.base, Register):
        read.add(operand.base.slot)
    elif isinstance(operand, (Vector, Group)):
        for element in operand.elements:
            _collect(element, read)
    elif isinstance(operand, Pair):
        _collect(operand.first, read)
        _collect(operand.second, read)
