"""A parsed PTX module: immutable values, names resolved, nothing executed.

References are to the PTX ISA, version 9.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from .types import Type


@dataclass(frozen=True)
class Location:
    """A source position from ``.loc`` (section 11.5.3); ``line`` 0 is unknown.

    Attributes:
        file, line: the position.
        callers: (file, line) of where its function was inlined, and that one's, from the inside out.
    """

    file: int = 0
    line: int = 0
    callers: tuple[tuple[int, int], ...] = ()


NOWHERE = Location()


@dataclass(frozen=True)
class Register:
    """A register, by its slot in the function's register file."""

    slot: int
    type: Type
    name: str


@dataclass(frozen=True)
class Immediate:
    """A constant: an integer, or a float's bits; ``form`` is ``int``, ``f32`` or ``f64`` (section 4.5)."""

    value: int
    form: str = "int"


@dataclass(frozen=True)
class Special:
    """A special register such as ``%tid.x`` (section 10)."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """The address of a variable or function, with a constant added."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Address:
    """``[base + offset]`` (section 6.4.1); without a base the offset is the address."""

    base: Register | Symbol | None
    offset: int = 0


@dataclass(frozen=True)
class Vector:
    """``{a, b}``."""

    elements: tuple[Operand, ...]


@dataclass(frozen=True)
class Negated:
    """A predicate operand with ``!``."""

    register: Register


@dataclass(frozen=True)
class Pair:
    """Two destinations ``d|p``."""

    first: Operand
    second: Operand


@dataclass(frozen=True)
class Sink:
    """The destination ``_`` whose value is dropped."""


@dataclass(frozen=True)
class Label:
    """A branch target."""

    name: str


@dataclass(frozen=True)
class Group:
    """The parenthesised list of a ``call``."""

    elements: tuple[Operand, ...]


Operand: TypeAlias = (
    Register | Immediate | Special | Symbol | Address | Vector | Negated | Pair | Sink | Label | Group
)


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        opcode: its first part, ``ld`` of ``ld.global.f32``.
        modifiers: the other parts.
        operands: as written.
        guard: the predicate register that lets a thread execute it, None for all threads.
        negated: whether the guard is ``@!p``.
        line: in the PTX text, from 1.
        location: in the source.
        text: as written, spaces folded, for messages.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    negated: bool
    line: int
    location: Location
    text: str


@dataclass(frozen=True)
class Variable:
    """A variable in a state space.

    Attributes:
        name: unique in its function or module.
        space: ``global``, ``const``, ``shared``, ``local`` or ``param``.
        type: the type of one element.
        size: bytes, 0 for an array without a length (``extern .shared``).
        align: bytes.
        image: the initial bytes, None without an initialiser.
        references: addresses to be put into the image once they are known.
        external: whether it is only declared here (``.extern``).
        line: in the PTX text.
    """

    name: str
    space: str
    type: Type
    size: int
    align: int
    image: bytes | None = None
    references: tuple[Reference, ...] = ()
    external: bool = False
    line: int = 0


@dataclass(frozen=True)
class Reference:
    """An address in an initialiser (section 5.4.4): whole where ``mask`` is None, else one byte."""

    offset: int
    symbol: Symbol
    generic: bool
    width: int
    mask: int | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter of an entry or function.

    Attributes:
        name: as declared.
        type: of one element.
        align: bytes.
        offset: of its first byte in the parameter buffer.
        size: bytes.
    """

    name: str
    type: Type
    align: int
    offset: int
    size: int


@dataclass(frozen=True)
class Function:
    """An ``.entry`` or ``.func``.

    Attributes:
        name: as declared.
        entry: whether it is a kernel.
        parameters: with their places in the parameter buffer.
        parameter_bytes: the buffer's length.
        returns: return parameters of a ``.func``.
        registers: the type of each register slot.
        variables: shared, local and param variables of the body, by unique name.
        instructions: in order.
        labels: label -> index of the instruction that follows it.
        tables: ``.branchtargets`` label -> branch labels.
        maxntid, reqntid: threads (x, y, z) from the directives, None where absent.
        defined: whether it has a body.
        line: in the PTX text.
    """

    name: str
    entry: bool
    parameters: tuple[Parameter, ...] = ()
    parameter_bytes: int = 0
    returns: tuple[Parameter, ...] = ()
    registers: tuple[Type, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)
    instructions: tuple[Instruction, ...] = ()
    labels: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    maxntid: tuple[int, int, int] | None = None
    reqntid: tuple[int, int, int] | None = None
    defined: bool = True
    line: int = 0

    @property
    def shared_bytes(self) -> int:
        """Bytes of the shared variables that are declared in the body."""
        return space_bytes(self.variables.values(), "shared")


@dataclass(frozen=True)
class Module:
    """A parsed module.

    Attributes:
        version: of the PTX ISA, such as ``9.0``.
        target: such as ``sm_75``.
        entries: kernels by name.
        functions: device functions by name, declared ones included.
        variables: module-scope variables by name.
        files: ``.file`` index -> path.
    """

    version: str
    target: str
    entries: Mapping[str, Function]
    functions: Mapping[str, Function]
    variables: Mapping[str, Variable]
    files: Mapping[int, str]


def aligned(offset: int, align: int) -> int:
    """Return the first multiple of ``align`` that is not below ``offset``."""
    return -(-offset // align) * align


def placed(variables: Iterable[Variable], space: str) -> dict[str, int]:
    """Return name -> offset of the variables of one space, laid out in the order given."""
    places: dict[str, int] = {}
    offset = 0
    for variable in variables:
        if variable.space == space:
            offset = aligned(offset, variable.align)
            places[variable.name] = offset
            offset += variable.size
    return places


def space_bytes(variables: Iterable[Variable], space: str) -> int:
    """Return how many bytes the variables of one space take when laid out so."""
    offset = 0
    for variable in variables:
        if variable.space == space:
            offset = aligned(offset, variable.align) + variable.size
    return offset
