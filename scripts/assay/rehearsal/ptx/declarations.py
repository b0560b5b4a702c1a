"""Variables, registers and parameters (PTX ISA 9.0, sections 5.1 "State Spaces" and 5.4 "Variables")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from .initialisers import initialiser
from .lexer import Tokens
from .scope import Names
from .types import TYPES, Type
from .values import Parameter, Variable, aligned

SPACES = frozenset({".global", ".const", ".shared", ".local", ".param"})

MAX_SIZE = 1 << 48
"""Bytes of one variable.  What is larger than memory is refused when the module is loaded."""

_MAX_DIMENSIONS = 16
_MAX_PARAMETERS = 4096
_IGNORED = frozenset({".ptr", ".global", ".const", ".shared", ".local", ".attribute", ".managed"})


@dataclass(frozen=True)
class Kind:
    """What stands before a name: state space, alignment, element type, elements of a vector."""

    space: str
    align: int
    type: Type
    vector: int


def variables(tokens: Tokens, space: str, *, external: bool = False) -> Iterator[Variable]:
    """Yield the variables of one statement, whose state space was just read.

    Args:
        tokens: after the state space.
        space: without its dot.
        external: whether ``.extern`` stood before.

    Raises:
        PtxError: it is no declaration.
    """
    kind = _kind(tokens, space)
    while True:
        yield from _declarator(tokens, kind, external=external)
        if not tokens.take(","):
            break
    tokens.expect(";")


def _declarator(tokens: Tokens, kind: Kind, *, external: bool) -> Iterator[Variable]:
    line = tokens.ahead.line
    name = tokens.kind("name", "a name")
    element = kind.type.size * kind.vector
    if tokens.take("<"):
        count = tokens.number()
        tokens.expect(">")
        if count > MAX_NAMES:
            raise tokens.error(f"{count} names of variables; at most {MAX_NAMES}")
        yield from (Variable(f"{name}{i}", kind.space, kind.type, element, kind.align) for i in range(count))
        return
    lengths = _dimensions(tokens)
    size = _size(tokens, element, lengths)
    if not tokens.take("="):
        yield Variable(name, kind.space, kind.type, size, kind.align, external=external, line=line)
        return
    strides = tuple(element * prod(lengths[i + 1 :]) for i in range(len(lengths))) or (element,)
    image = initialiser(tokens, kind.type, size, strides)
    references = tuple(image.references)
    yield Variable(
        name, kind.space, kind.type, size, kind.align, bytes(image.data), references, external, line
    )


MAX_NAMES = 1 << 16
"""Variables that one ``name<n>`` may declare (registers cost nothing until they are used)."""


def _kind(tokens: Tokens, space: str) -> Kind:
    align, vector = 0, 1
    while tokens.ahead.kind == "dotted":
        word = tokens.next().text
        if word == ".align":
            align = _power(tokens)
        elif word in {".v2", ".v4"}:
            vector = int(word[2:])
        elif word[1:] in TYPES:
            kind = TYPES[word[1:]]
            _skip_attributes(tokens)
            return Kind(space, align or kind.size * vector, kind, vector)
        elif word == ".attribute":
            _skip_group(tokens)
        else:
            raise tokens.error(f"a variable of type `{word}` is not supported")
    raise tokens.error("a type expected")


def _skip_attributes(tokens: Tokens) -> None:
    """Go past ``.ptr .global .align 8``, which tells the optimiser about a pointer."""
    while tokens.ahead.kind == "dotted" and tokens.ahead.text in {*_IGNORED, ".align"}:
        if tokens.next().text == ".align":
            tokens.number()


def _skip_group(tokens: Tokens) -> None:
    tokens.expect("(")
    while not tokens.take(")"):
        if tokens.next().kind == "end":
            raise tokens.error("`)` expected")


def _power(tokens: Tokens) -> int:
    value = tokens.number()
    if value < 1 or value > _MAX_ALIGN or value & (value - 1):
        raise tokens.error("an alignment is a power of two, at most 2 MiB")
    return value


_MAX_ALIGN = 1 << 21


def _dimensions(tokens: Tokens) -> list[int]:
    lengths: list[int] = []
    while tokens.take("["):
        if len(lengths) >= _MAX_DIMENSIONS:
            raise tokens.error("too many dimensions")
        lengths.append(0 if tokens.at("]") else tokens.number())
        tokens.expect("]")
    return lengths


def _size(tokens: Tokens, element: int, lengths: list[int]) -> int:
    size = element * prod(lengths)
    if size > MAX_SIZE:
        raise tokens.error(f"a variable of {size} bytes")
    return size


def registers(tokens: Tokens, names: Names) -> None:
    """Read ``.reg`` up to its semicolon into the innermost scope.

    Raises:
        PtxError: it is no declaration, or of a type that is not supported.
    """
    word = tokens.kind("dotted", "a type")
    if word[1:] not in TYPES:
        raise tokens.error(f"a register of type `{word}` is not supported")
    kind, scope = TYPES[word[1:]], names.scopes[-1]
    scope.found.clear()
    while True:
        name = tokens.kind("name", "a register's name")
        if tokens.take("<"):
            scope.ranges[name] = (kind, tokens.number())
            tokens.expect(">")
        else:
            scope.registers[name] = kind
        if not tokens.take(","):
            break
    tokens.expect(";")


def parameters(tokens: Tokens) -> tuple[tuple[Parameter, ...], int]:
    """Return the parameters between ``(`` and ``)``, and the length of their buffer.

    Raises:
        PtxError: it is no list of ``.param`` declarations.
    """
    tokens.expect("(")
    found: list[Parameter] = []
    offset = 0
    while not tokens.take(")"):
        if found:
            tokens.expect(",")
        if len(found) >= _MAX_PARAMETERS:
            raise tokens.error("too many parameters")
        tokens.expect(".param")
        kind = _kind(tokens, "param")
        name = tokens.kind("name", "a parameter's name")
        size = _size(tokens, kind.type.size * kind.vector, _dimensions(tokens))
        offset = aligned(offset, kind.align)
        found.append(Parameter(name, kind.type, kind.align, offset, size))
        offset += size
    return tuple(found), offset
