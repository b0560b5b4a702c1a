"""What the parser makes of PTX text."""

from __future__ import annotations

import pytest

from assay.rehearsal import PtxError, parse
from assay.rehearsal.ptx.values import Address, Immediate, Pair, Register, Symbol, Vector
from tests.rehearsal.support import HEAD, body

MODULE = f"""\
{HEAD}
.file 1 "/kernels/a b.cu", 123, 456
.file 2 "/kernels/\\"quoted\\".h"
.visible .global .align 8 .b8 image[12] = {{1, 255, -1}};
.const .align 4 .f32 floats[2][2] = {{{{1.5, 0f40000000}}, {{-2}}}};
.global .u64 address = image+4;
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 result) helper (.param .b64 given) /* a comment
over two lines */ ;
.visible .entry kernel(
    .param .u8 small, // one byte
    .param .u64 .ptr .global .align 16 pointer,
    .param .align 4 .b8 structure[10],
    .param .f64 last
)
.maxntid 128, 2
.minnctapersm 1
{{
    .reg .pred %p<3>;
    .reg .b32 %r<5>, single;
    .shared .align 4 .b8 first[100];
    .shared .align 8 .f64 second;
    .loc 1 10 3
    mov.u32 %r1, 0x1F;
    .loc 2 20 0, function_name $info, inlined_at 1 11 2
    @!%p1 ld.global.v2.u32 {{%r2, _}}, [dynamic+-8];
    {{
        .reg .b64 %r<9>;
        mov.b64 %r1, image;
    }}
    .loc 1 0 0
    setp.ne.u32 %p1|%p2, %r1, single;
END:
    ret;
}}
"""


@pytest.mark.gate
def test_parameters_lie_at_their_alignment() -> None:
    kernel = parse(MODULE).entries["kernel"]
    places = [(p.name, p.type.name, p.align, p.offset, p.size) for p in kernel.parameters]
    assert places == [
        ("small", "u8", 1, 0, 1),
        ("pointer", "u64", 8, 8, 8),
        ("structure", "b8", 4, 16, 10),
        ("last", "f64", 8, 32, 8),
    ]
    assert kernel.parameter_bytes == 40
    assert (kernel.maxntid, kernel.reqntid) == ((128, 2, 1), None)
    assert kernel.shared_bytes == 112


@pytest.mark.gate
def test_variables_have_their_initial_bytes() -> None:
    variables = parse(MODULE).variables
    assert variables["image"].image == bytes([1, 255, 255] + 9 * [0])
    assert variables["floats"].image == bytes.fromhex("0000c03f00000040000000c000000000")
    (reference,) = variables["address"].references
    assert (reference.symbol, reference.offset, reference.width) == (Symbol("image", 4), 0, 8)
    assert (variables["dynamic"].size, variables["dynamic"].external) == (0, True)


@pytest.mark.gate
def test_instructions_know_line_source_guard_and_operands() -> None:
    module = parse(MODULE)
    move, load, inner, compare, leave = module.entries["kernel"].instructions
    lines = MODULE.splitlines()
    assert all(lines[i.line - 1].strip().endswith(";") for i in (move, load, inner, compare, leave))
    assert [(i.location.file, i.location.line) for i in (move, load, inner, compare)] == [
        (1, 10),
        (2, 20),
        (2, 20),
        (2, 20),
    ]
    assert module.files == {1: "/kernels/a b.cu", 2: '/kernels/"quoted".h'}
    assert move.operands[1] == Immediate(31)
    assert (load.guard is not None, load.negated) == (True, True)
    assert isinstance(load.operands[0], Vector)
    assert load.operands[1] == Address(Symbol("dynamic"), -8)
    assert isinstance(compare.operands[0], Pair)
    assert load.text == "@ ! %p1 ld.global.v2.u32 { %r2 , _ } , [ dynamic + - 8 ] ;"


@pytest.mark.gate
def test_an_inner_scope_has_its_own_registers() -> None:
    move, _, inner, compare, _ = parse(MODULE).entries["kernel"].instructions
    outer, hidden, again = move.operands[0], inner.operands[0], compare.operands[1]
    assert isinstance(outer, Register)
    assert isinstance(hidden, Register)
    assert (outer.type.name, hidden.type.name) == ("b32", "b64")
    assert outer.slot != hidden.slot
    assert again == outer


@pytest.mark.gate
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("hello", 1, "a directive expected"),
        (".entry k() {}", 1, "PTX begins with .version"),
        ("", 1, "there is no .version"),
        (f"{HEAD}.global .b8 x[4] = {{1,2,3,4,5}};", 4, "more initial values"),
        (f"{HEAD}\n.global .u32 x;\n.global .u32 x;", 6, "declared twice"),
        (f"{HEAD}.target sm_90;\n", 4, "a directive expected"),
        (f"{HEAD}.address_size 32", 4, "64-bit"),
        (f"{HEAD}.global .align 3 .u32 x;", 4, "power of two"),
        (f"{HEAD}.global .texref t;", 4, "`.texref` is not supported"),
        (body("mov.u32 %r1, %r99;"), 12, "not declared"),
        (body("bra NOWHERE;"), 12, "label `NOWHERE` is not there"),
        (body("A: A: ret;"), 12, "twice"),
        (body("mov.u32 %r1, nothing;"), 12, "`nothing` is not declared"),
        (body("mov.u32 %r1, 089;"), 12, "no integer of 64 bits"),
        (body("@%r1 ret;"), 12, "a guard needs a predicate"),
        (body("mov.u32 %r1, ?;"), 12, "no PTX token"),
        (body("mov.u32 %r1, 1"), 13, "`;` expected"),
    ],
)
def test_errors_name_line_and_reason(text: str, line: int, message: str) -> None:
    with pytest.raises(PtxError) as told:
        parse(text)
    assert message in told.value.message
    assert told.value.line == line
    assert str(told.value.line) in str(told.value)
