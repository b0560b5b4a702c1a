"""The body of a function: scopes, declarations, labels and instructions (PTX ISA 9.0, chapters 4 and 11)."""

from __future__ import annotations

from dataclasses import dataclass, field

from .declarations import SPACES, registers, variables
from .lexer import Tokens
from .operands import label, operand
from .scope import MAX_DEPTH, Names, Scope
from .values import NOWHERE, Instruction, Location, Operand, Register, Variable

MAX_INSTRUCTIONS = 1 << 18
"""Instructions of one function."""

_BRANCHES = frozenset({"bra"})


MAX_INLINED = 16
"""Functions inlined in one another, of which the places are kept."""


@dataclass
class Body:
    """What is known of a body so far."""

    names: Names = field(default_factory=Names)
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    location: Location = NOWHERE
    callers: dict[tuple[int, int], tuple[tuple[int, int], ...]] = field(default_factory=dict)


def body(tokens: Tokens, parameters: tuple[str, ...]) -> Body:
    """Read a body from ``{`` to its ``}``.

    Args:
        tokens: at the ``{``.
        parameters: the names of the function's parameters.

    Raises:
        PtxError: it is no body.
    """
    found = Body()
    found.names.scopes[0].variables.update({name: name for name in parameters})
    tokens.expect("{")
    while True:
        if tokens.take("{"):
            _open(tokens, found)
        elif tokens.take("}"):
            if len(found.names.scopes) == 1:
                return found
            found.names.scopes.pop()
        else:
            _statement(tokens, found)


def _open(tokens: Tokens, found: Body) -> None:
    if len(found.names.scopes) >= MAX_DEPTH:
        raise tokens.error(f"more than {MAX_DEPTH} nested scopes")
    found.names.scopes.append(Scope())


def _statement(tokens: Tokens, found: Body) -> None:
    if tokens.ahead.kind == "dotted":
        _directive(tokens, found)
        return
    tokens.taken.clear()
    guard, negated = _guard(tokens, found.names)
    line = tokens.ahead.line
    word = tokens.kind("name", "an instruction")
    if guard is None and tokens.take(":"):
        _label(tokens, found, word)
        return
    operands = _operands(tokens, found.names, word)
    if len(found.instructions) >= MAX_INSTRUCTIONS:
        raise tokens.error(f"more than {MAX_INSTRUCTIONS} instructions in a function")
    text = " ".join(tokens.taken)[:200]
    opcode, *modifiers = word.split(".")
    found.instructions.append(
        Instruction(opcode, tuple(modifiers), operands, guard, negated, line, found.location, text)
    )


def _guard(tokens: Tokens, names: Names) -> tuple[Register | None, bool]:
    if not tokens.take("@"):
        return None, False
    negated = tokens.take("!")
    register = names.register(tokens.kind("name", "a predicate"))
    if register is None or register.type.kind != "p":
        raise tokens.error("a guard needs a predicate register")
    return register, negated


def _label(tokens: Tokens, found: Body, name: str) -> None:
    if name in found.labels or name in found.tables:
        raise tokens.error(f"the label `{name}` is there twice")
    if tokens.take(".branchtargets"):
        found.tables[name] = _branch_targets(tokens)
    elif tokens.at(".callprototype") or tokens.at(".calltargets"):
        _skip(tokens)
    else:
        found.labels[name] = len(found.instructions)


def _branch_targets(tokens: Tokens) -> tuple[str, ...]:
    targets = [label(tokens).name]
    while tokens.take(","):
        targets.append(label(tokens).name)
    tokens.expect(";")
    return tuple(targets)


def _operands(tokens: Tokens, names: Names, word: str) -> tuple[Operand, ...]:
    if tokens.take(";"):
        return ()
    if word.partition(".")[0] in _BRANCHES:
        found: list[Operand] = [label(tokens)]
    else:
        found = [operand(tokens, names)]
        while tokens.take(","):
            found.append(operand(tokens, names))
    tokens.expect(";")
    return tuple(found)


def _directive(tokens: Tokens, found: Body) -> None:
    word = tokens.next().text
    if word == ".loc":
        found.location = _location(tokens, found)
    elif word == ".reg":
        registers(tokens, found.names)
    elif word in SPACES:
        for variable in variables(tokens, word[1:]):
            _declare(tokens, found, variable)
    elif word == ".pragma":
        _skip(tokens)
    else:
        raise tokens.error(f"the directive `{word}` is not known in a function")


def _declare(tokens: Tokens, found: Body, variable: Variable) -> None:
    if variable.name in found.names.scopes[-1].variables:
        raise tokens.error(f"`{variable.name}` is declared twice")
    found.names.declare(variable)


def _skip(tokens: Tokens) -> None:
    while not tokens.take(";"):
        if tokens.next().kind == "end":
            raise tokens.error("`;` expected")


def _location(tokens: Tokens, found: Body) -> Location:
    """Read ``.loc`` behind its word; line 0 is the compiler's own code and keeps the line before."""
    file, line = tokens.number(), tokens.number()
    callers: tuple[tuple[int, int], ...] = ()
    tokens.number()
    while tokens.take(","):
        word = tokens.kind("name", "function_name or inlined_at")
        if word == "function_name":
            _function_name(tokens)
        else:
            place = tokens.number(), tokens.number()
            tokens.number()
            callers = (place, *found.callers.get(place, ()))[:MAX_INLINED]
    if not line:
        return found.location
    found.callers[file, line] = callers
    return Location(file, line, callers)


def _function_name(tokens: Tokens) -> None:
    tokens.kind("name", "a label")
    if tokens.take("+"):
        tokens.number()
