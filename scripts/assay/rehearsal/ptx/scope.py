"""Names in nested scopes of a function body: registers by slot, variables by a unique name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .types import Type
from .values import Register, Variable

MAX_DEPTH = 256
"""Nested ``{`` in a body; compilers write three or four."""

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]*)$", re.DOTALL)


@dataclass
class Scope:
    """One pair of braces: single registers, ranges ``%r<9>`` by prefix, variables by their written name."""

    registers: dict[str, Type] = field(default_factory=dict)
    ranges: dict[str, tuple[Type, int]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    found: dict[str, Register] = field(default_factory=dict)

    def register(self, name: str) -> Type | None:
        """Return the type of a register declared here."""
        if name in self.registers:
            return self.registers[name]
        match = _NUMBERED.match(name)
        if match is None or match[1] not in self.ranges:
            return None
        kind, count = self.ranges[match[1]]
        return kind if len(match[2]) <= _MAX_NUMBER and int(match[2]) < count else None


_MAX_NUMBER = 10


class Names:
    """The scopes of one function body, innermost last; slots are given at a register's first use."""

    def __init__(self) -> None:
        self.scopes = [Scope()]
        self.types: list[Type] = []
        self.variables: dict[str, Variable] = {}

    def register(self, name: str) -> Register | None:
        """Return the register that a name means here."""
        for scope in reversed(self.scopes):
            known = scope.found.get(name)
            if known is not None:
                return known
            kind = scope.register(name)
            if kind is not None:
                register = Register(len(self.types), kind, name)
                self.types.append(kind)
                scope.found[name] = register
                return register
        return None

    def variable(self, name: str) -> str | None:
        """Return the unique name of the variable that a name means here."""
        for scope in reversed(self.scopes):
            if name in scope.variables:
                return scope.variables[name]
        return None

    def declare(self, variable: Variable) -> Variable:
        """Add a variable to the innermost scope under a name that is unique in the body."""
        unique = variable.name
        if unique in self.variables:
            unique = f"{unique}@{len(self.variables)}"
        renamed = Variable(
            unique,
            variable.space,
            variable.type,
            variable.size,
            variable.align,
            variable.image,
            variable.references,
            variable.external,
            variable.line,
        )
        self.scopes[-1].variables[variable.name] = unique
        self.variables[unique] = renamed
        return renamed
