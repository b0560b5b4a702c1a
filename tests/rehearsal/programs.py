"""Random kernels, straight and branching, written as PTX and as C++.

Standard library only: the comparison with a real GPU uses it too.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.rehearsal.operations import CONDITIONS, OPERATIONS, Operation

Choose = Callable[[int], int]
"""Returns a number below its argument: Hypothesis draws it, or ``random`` does."""

VARIABLES = {"u": 5, "w": 3, "f": 4, "g": 3}
"""Variables of each type."""

SIZES = {"u": 4, "w": 8, "f": 4, "g": 8}
_REGISTERS = {"u": "b32", "w": "b64", "f": "f32", "g": "f64"}
RECORD = sum(SIZES[kind] * count for kind, count in VARIABLES.items()) + 4
"""Bytes of a thread's variables in memory: 64-bit ones first."""

_NESTING = 3
_BY_RESULT = {kind: [o for o in OPERATIONS if o.result == kind] for kind in VARIABLES}


@dataclass(frozen=True)
class Assign:
    """A variable gets an operation's result."""

    operation: Operation
    target: str
    operands: tuple[str, ...]
    number: int


@dataclass(frozen=True)
class If:
    """Statements under a condition, and others otherwise."""

    condition: tuple[str, str, str]
    operands: tuple[str, str]
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class Loop:
    """Statements as often as the low bits of a variable say; ``number`` is the loop's own."""

    count: str
    number: int
    statements: tuple[Statement, ...]


Statement = Assign | If | Loop


class _Maker:
    """Makes statements from choices."""

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self._loops = 0

    def statements(self, most: int, depth: int) -> tuple[Statement, ...]:
        """Return one to ``most`` statements."""
        return tuple(self._statement(depth) for _ in range(1 + self._choose(most)))

    def _statement(self, depth: int) -> Statement:
        kind = self._choose(10) if depth < _NESTING else 9
        if kind == 0:
            self._loops += 1
            number = self._loops
            return Loop(self._variable("u"), number, self.statements(4, depth + 1))
        if kind in {1, 2}:
            condition = CONDITIONS[self._choose(len(CONDITIONS))]
            operands = (self._variable(condition[0]), self._variable(condition[0]))
            otherwise = self.statements(4, depth + 1) if kind == 1 else ()
            return If(condition, operands, self.statements(4, depth + 1), otherwise)
        return self._assign()

    def _assign(self) -> Assign:
        operations = _BY_RESULT["uwffgg"[self._choose(6)]]
        operation = operations[self._choose(len(operations))]
        operands = tuple(self._variable(kind) for kind in operation.operands)
        return Assign(operation, self._variable(operation.result), operands, self._choose(operation.numbers))

    def _variable(self, kind: str) -> str:
        return f"{kind}{self._choose(VARIABLES[kind])}"


def program(choose: Choose, most: int = 12) -> tuple[Statement, ...]:
    """Return a random program."""
    return _Maker(choose).statements(most, 0)


def every_operation() -> list[tuple[Statement, ...]]:
    """Return programs that use each operation once, on different variables."""
    programs: list[tuple[Statement, ...]] = []
    for number, operation in enumerate(OPERATIONS):
        operands = tuple(
            f"{kind}{(number + place) % VARIABLES[kind]}" for place, kind in enumerate(operation.operands)
        )
        chosen = (7 * number) % operation.numbers
        programs.append((Assign(operation, f"{operation.result}0", operands, chosen),))
    return programs


def _names(operands: Sequence[str], prefix: str = "") -> dict[str, str]:
    return dict(zip("abce", (prefix + name for name in operands), strict=False))


# ------------------------------------------------------------------------------------------------------ PTX


class _Ptx:
    """Writes a program as PTX."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._labels = 0

    def write(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            if isinstance(statement, Assign):
                names = _names(statement.operands, "%")
                text = statement.operation.ptx.format(d=f"%{statement.target}", i=statement.number, **names)
                self.lines.append(f"    {text}")
            elif isinstance(statement, If):
                self._if(statement)
            else:
                self._loop(statement)

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _if(self, statement: If) -> None:
        first, last = self._label(), self._label()
        a, b = statement.operands
        self.lines += [f"    {statement.condition[1]} %q0, %{a}, %{b};", f"    @!%q0 bra {first};"]
        self.write(statement.then)
        if statement.otherwise:
            self.lines += [f"    bra {last};"]
        self.lines += [f"{first}:"]
        self.write(statement.otherwise)
        self.lines += [f"{last}:"]

    def _loop(self, statement: Loop) -> None:
        head, end, n = self._label(), self._label(), statement.number
        self.lines += [
            f"    and.b32 %n{n}, %{statement.count}, 3;",
            f"    mov.u32 %i{n}, 0;",
            f"{head}:",
            f"    setp.ge.u32 %q0, %i{n}, %n{n};",
            f"    @%q0 bra {end};",
        ]
        self.write(statement.statements)
        self.lines += [f"    add.u32 %i{n}, %i{n}, 1;", f"    bra {head};", f"{end}:"]


def ptx(programs: Sequence[Sequence[Statement]], target: str = "sm_75") -> str:
    """Return a module with a kernel ``k0``, ``k1`` … (ptr records, u32 count) for each program."""
    return f".version 9.0\n.target {target}\n.address_size 64\n" + "".join(
        _kernel(number, statements) for number, statements in enumerate(programs)
    )


def _kernel(number: int, statements: Sequence[Statement]) -> str:
    writer = _Ptx()
    writer.write(statements)
    declared = "\n".join(f"    .reg .{_REGISTERS[kind]} %{kind}<{VARIABLES[kind]}>;" for kind in VARIABLES)
    moves = {
        verb: "\n".join(f"    {_move(verb, kind, n, offset)}" for kind, n, offset in places())
        for verb in ("ld", "st")
    }
    body = "\n".join(writer.lines)
    return f"""
.visible .entry k{number}(.param .u64 records, .param .u32 count)
{{
{declared}
    .reg .b32 %t<8>; .reg .b32 %n<99>; .reg .b32 %i<99>; .reg .b16 %h<4>; .reg .pred %q<8>;
    .reg .b64 %t8; .reg .b64 %at; .reg .f32 %tf; .reg .f64 %tg;
    ld.param.u64 %at, [records];
    cvta.to.global.u64 %at, %at;
    ld.param.u32 %t4, [count];
    mov.u32 %t5, %ctaid.x; mov.u32 %t6, %ntid.x; mov.u32 %t7, %tid.x;
    mad.lo.u32 %t5, %t5, %t6, %t7;
    setp.ge.u32 %q5, %t5, %t4;
    @%q5 bra done;
    mad.wide.u32 %at, %t5, {RECORD}, %at;
{moves["ld"]}
{body}
{moves["st"]}
done:
    ret;
}}
"""


def places() -> list[tuple[str, int, int]]:
    """Return (type, number, offset) of each variable in a record."""
    found, offset = [], 0
    for kind in "wguf":
        for number in range(VARIABLES[kind]):
            found.append((kind, number, offset))
            offset += SIZES[kind]
    return found


def _move(verb: str, kind: str, number: int, offset: int) -> str:
    register, address, name = f"%{kind}{number}", f"[%at+{offset}]", _REGISTERS[kind]
    both = f"{register}, {address}" if verb == "ld" else f"{address}, {register}"
    return f"{verb}.global.{name} {both};"


# ------------------------------------------------------------------------------------------------------ C++


def cpp(programs: Sequence[Sequence[Statement]]) -> str:
    """Return C++ with ``extern "C" void run(int program, unsigned char *records, int count)``."""
    functions = "".join(
        f"static void k{number}(Variables &v)\n{{\n{_variables()}\n{_block(statements, 1)}{_back()}\n}}\n"
        for number, statements in enumerate(programs)
    )
    table = ", ".join(f"k{number}" for number in range(len(programs)))
    fields = " ".join(f"{_c(kind)} {kind}{number};" for kind, number, _ in places())
    return f"""#include "reference.h"
struct Variables {{ {fields} u spare; }};
static_assert(sizeof(Variables) == {RECORD}, "one record");
{functions}
extern "C" void run(int program, unsigned char *records, int count)
{{
    static void (*const kernels[])(Variables &) = {{{table}}};
    for (int i = 0; i < count; ++i) {{
        Variables v;
        std::memcpy(&v, records + {RECORD} * i, {RECORD});
        kernels[program](v);
        std::memcpy(records + {RECORD} * i, &v, {RECORD});
    }}
}}
"""


def _c(kind: str) -> str:
    return {"u": "u", "w": "w", "f": "float", "g": "double"}[kind]


def _variables() -> str:
    return "\n".join(f"    {_c(kind)} {kind}{number} = v.{kind}{number};" for kind, number, _ in places())


def _back() -> str:
    return "\n".join(f"    v.{kind}{number} = {kind}{number};" for kind, number, _ in places())


def _block(statements: Sequence[Statement], depth: int) -> str:
    return "".join(_cpp_statement(statement, depth) for statement in statements)


def _cpp_statement(statement: Statement, depth: int) -> str:
    pad = "    " * depth
    if isinstance(statement, Assign):
        operation, names = statement.operation, "abce"[: len(statement.operands)]
        given = "".join(
            f"{_c(kind)} {name} = {value}; "
            for kind, name, value in zip(operation.operands, names, statement.operands, strict=True)
        )
        value = operation.cpp.replace("{{", "{").replace("}}", "}").replace("{i}", str(statement.number))
        return f"{pad}{{ {given}{statement.target} = {value}; }}\n"
    if isinstance(statement, If):
        kind = _c(statement.condition[0])
        a, b = statement.operands
        inside = f"{pad}if ([]({kind} a, {kind} b) {{ return {statement.condition[2]}; }}({a}, {b})) {{\n"
        inside += _block(statement.then, depth + 1)
        return f"{inside}{pad}}} else {{\n{_block(statement.otherwise, depth + 1)}{pad}}}\n"
    n = statement.number
    head = f"{pad}for (u n{n} = {statement.count} & 3, i{n} = 0; i{n} < n{n}; ++i{n}) {{\n"
    return f"{head}{_block(statement.statements, depth + 1)}{pad}}}\n"


# ---------------------------------------------------------------------------------------------------- inputs

# fmt: off
_FLOATS = (
    "00000000", "80000000", "3f800000", "bf800000", "7f800000", "ff800000", "7fc00000", "00000001",
    "80000001", "007fffff", "00800000", "80800000", "7f7fffff", "ff7fffff", "4f000000", "cf000000",
    "4f800000", "5f000000", "5f800000", "3f000000", "bf000000", "3fc00000", "4b000001", "477fe000",
    "477fefff", "477ff000", "33000000", "33000001", "38800000", "387fffff", "42fe0000", "43000000",
    "46fffe00", "7e800001", "7f000001", "3f7fffff", "bf7fffff",
)
_DOUBLES = (
    "0000000000000000", "8000000000000000", "3ff0000000000000", "bff0000000000000", "7ff0000000000000",
    "fff0000000000000", "7ff8000000000000", "0000000000000001", "800fffffffffffff", "0010000000000000",
    "7fefffffffffffff", "43e0000000000000", "c3e0000000000000", "43f0000000000000", "41e0000000000000",
    "41efffffffe00000", "3fe0000000000000", "380fffffffffffff", "36a0000000000000", "369fffffffffffff",
    "47efffffefffffff", "47efffffe0000000", "47effffff0000000", "4340000000000001", "0360000000000000",
    "03a0000000000001", "7fd0000000000003",
)
# fmt: on
_WORDS_OF_INTEREST = (
    0,
    1,
    2,
    31,
    32,
    33,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
    0xFFFFFF80,
    0x8000,
    0x7FFF,
    255,
)


def records(choose: Choose, count: int) -> bytes:
    """Return the variables of so many threads: special values, small ones, and any bits."""
    made = bytearray()
    for _ in range(count):
        made += b"".join(_value(kind, choose) for kind, _, _ in places()) + bytes(4)
    return bytes(made)


def _value(kind: str, choose: Choose) -> bytes:
    special = choose(4)
    if kind in "uw":
        size = SIZES[kind]
        if special == 0:
            chosen = _WORDS_OF_INTEREST[choose(len(_WORDS_OF_INTEREST))]
            return (chosen | (chosen << 32 if choose(2) else 0)).to_bytes(8, "little")[:size]
        return (choose(1 << 8 * size) >> (choose(8 * size) if special == 1 else 0)).to_bytes(size, "little")
    table = _FLOATS if kind == "f" else _DOUBLES
    if special == 0:
        return bytes.fromhex(table[choose(len(table))])[::-1]
    if special == 1:
        return choose(1 << 8 * SIZES[kind]).to_bytes(SIZES[kind], "little")
    number = (choose(1 << 24) - (1 << 23)) / (1 << (8 + choose(24)))
    return struct.pack("<f" if kind == "f" else "<d", number)
