"""PTX that means harm: an error within its deadline and bounded memory, and the process lives."""

from __future__ import annotations

import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rehearsal import LaunchError, Limits, Memory, OutOfMemoryError, PtxError, load_module, parse
from tests.rehearsal.support import HEAD, Device, body

GOOD = body(
    "{ .reg .b32 %x; .shared .align 4 .b8 held[64]; mov.u32 %x, held; st.shared.u32 [%x], 1; }"
    " setp.lt.and.u32 %p1|%p2, %r0, 7, %p3; @!%p1 bra L; add.f32 %f1, %f2, 0f3F800000;"
    " ld.global.v2.u32 {%r1, _}, [%d0+8]; L: st.global.u32 [%d0], %r1;"
    ' .pragma "nounroll"; .loc 1 2 3, function_name $x, inlined_at 1 4 5',
) + (
    '.file 1 "a.cu"\n.global .align 4 .u32 words[3] = {1, 0x2, -3};\n.section .debug_str { $x: .b8 65,0 }\n'
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
)
"""A bit of everything that the parser reads."""


@pytest.mark.gate
def test_the_good_text_is_understood() -> None:
    module = parse(GOOD)
    kernel = module.entries["k"]
    assert module.files == {1: "a.cu"}
    assert module.variables["words"].image == bytes.fromhex("0100000002000000fdffffff")
    assert kernel.shared_bytes == 64
    assert [(p.name, p.type.name, p.offset, p.size) for p in kernel.parameters] == [("out", "u64", 0, 8)]


@pytest.mark.gate
@given(st.integers(0, len(GOOD)))
def test_a_truncated_text_gives_an_error_with_a_line(length: int) -> None:
    text = GOOD[:length]
    try:
        parse(text)
    except PtxError as error:
        assert 0 <= error.line <= text.count("\n") + 1, error.message  # noqa: PT017  # some prefixes are whole


@settings(max_examples=400)
@given(st.data())
def test_a_changed_text_gives_a_module_or_an_error(data: st.DataObject) -> None:
    words = GOOD.split(" ")
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(words) - 1))
        words[place] = data.draw(
            st.sampled_from(
                [*words, "", "{", "}", "[", "0x", "99999999999999999999", "-", "@", "\0", "%", "/*"]
            )
            | st.text(max_size=5)
        )
    try:
        module = parse(" ".join(words))
    except PtxError as error:
        assert error.message  # noqa: PT017  # either outcome is right
    else:
        assert module.version


@given(st.text(max_size=200))
def test_any_text_gives_an_error(text: str) -> None:
    with pytest.raises(PtxError):
        parse(text)


@pytest.mark.gate
def test_a_million_registers_cost_nothing_until_they_are_used() -> None:
    device = Device(body("st.global.u32 [%d0], %x999999;", ".reg .b32 %x<1000000>;"))
    assert device.run("k", 1, 1, "Q", device.empty(4)).findings == ()


def test_many_registers_that_are_used_are_too_many_for_a_block() -> None:
    count = 20_000
    used = "".join(f"mov.u32 %x{i}, {i};\n" for i in range(count))
    device = Device(body(f"{used} st.global.u32 [%d0], %x5;", f".reg .b32 %x<{count}>;"))
    out = device.empty(4)
    with pytest.raises(LaunchError) as told:
        device.run("k", 1, 1024, "Q", out, limits=Limits(memory=1 << 26))
    assert told.value.reason == "memory"
    assert device.run("k", 1, 32, "Q", out).findings == ()


@pytest.mark.gate
@pytest.mark.parametrize("depth", [1000, 100_000])
def test_deep_scopes_are_refused(depth: int) -> None:
    with pytest.raises(PtxError, match="nested scopes"):
        parse(body("{ " * depth + "} " * depth))


@pytest.mark.gate
@pytest.mark.parametrize("text", ["(" * 10_000, "{" * 10_000, "[" * 10_000, "-" * 10_000, "{{1},{2}}"])
def test_deep_operands_are_refused(text: str) -> None:
    with pytest.raises(PtxError):
        parse(body(f"mov.u32 %r1, {text};"))


@pytest.mark.gate
def test_deep_initialisers_are_refused() -> None:
    with pytest.raises(PtxError, match="braces"):
        parse(f"{HEAD} .global .u32 x[4] = {'{' * 10_000}1{'}' * 10_000};")


@pytest.mark.gate
@pytest.mark.parametrize(
    "loop", ["L: bra L;", "L: add.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;"]
)
def test_an_endless_loop_ends_at_its_deadline(loop: str) -> None:
    device = Device(body(loop))
    with pytest.raises(LaunchError) as told:
        device.run("k", 1, 256, "Q", device.empty(4), limits=Limits(seconds=0.2))
    assert told.value.reason == "deadline"
    assert told.value.report.instructions > 0
    (found,) = told.value.report.findings
    assert (found.kind, found.kernel) == ("endless", "k")
    assert "stopped here" in found.message


@pytest.mark.gate
def test_a_long_block_of_slow_instructions_ends_at_its_deadline() -> None:
    device = Device(
        body(
            "cvt.rn.f64.u32 %g1, %r0; add.f64 %g2, %g1, 0d3FD5555555555555;"
            + "div.rm.f64 %g2, %g1, %g2;" * 3000
        )
    )
    with pytest.raises(LaunchError) as told:
        device.run("k", 64, 256, "Q", device.empty(4), limits=Limits(seconds=0.3))
    assert told.value.reason == "deadline"


@pytest.mark.gate
def test_an_endless_loop_ends_at_its_budget() -> None:
    device = Device(body("L: bra L;"))
    with pytest.raises(LaunchError) as told:
        device.run("k", 1, 256, "Q", device.empty(4), limits=Limits(instructions=10_000))
    assert told.value.reason == "instructions"


@pytest.mark.gate
def test_recursion_without_end_is_refused() -> None:
    text = f"{HEAD}.func f() {{ call f; ret; }}\n.visible .entry k(.param .u64 out) {{ call f; ret; }}"
    with pytest.raises(LaunchError, match="calls inside calls") as told:
        Device(text).run("k", 1, 32, "Q", 0)
    assert told.value.reason == "memory"


@pytest.mark.gate
@pytest.mark.parametrize("space", ["global", "const"])
def test_a_huge_variable_is_refused_when_the_module_is_loaded(space: str) -> None:
    memory = Memory(1 << 30)
    module = parse(f"{HEAD} .global .u32 first; .{space} .align 4 .b8 huge[10000000000];")
    with pytest.raises(OutOfMemoryError):
        load_module(module, memory)
    assert memory.used == 0


@pytest.mark.gate
def test_a_constant_bank_has_64_kib() -> None:
    with pytest.raises(PtxError, match="constant"):
        load_module(parse(f"{HEAD} .const .b8 table[70000];"), Memory())


@pytest.mark.gate
@pytest.mark.parametrize(
    ("space", "size"), [("shared", 60_000), ("shared", 10**12), ("local", 10**6), ("local", 10**12)]
)
def test_huge_arrays_of_a_thread_or_block_are_refused(space: str, size: int) -> None:
    device_text = body("mov.u64 %d1, x; st.global.u64 [%d0], %d1;", f".{space} .align 4 .b8 x[{size}];")
    device = Device(device_text)
    with pytest.raises((LaunchError, PtxError)) as told:
        device.run("k", 1, 1, "Q", device.empty(8))
    assert not isinstance(told.value, LaunchError) or told.value.reason == "memory"


@pytest.mark.gate
def test_a_text_that_is_too_long_is_refused_at_once() -> None:
    with pytest.raises(PtxError, match="characters"):
        parse(HEAD + "//" + "x" * (16 << 20))


@pytest.mark.gate
def test_reading_stops_at_its_deadline() -> None:
    with pytest.raises(PtxError, match="deadline"):
        parse(body("add.u32 %r1, %r1, 1;\n" * 2000), seconds=0.0)


@pytest.mark.gate
def test_an_instruction_that_is_not_there_is_named_when_it_is_reached() -> None:
    text = (
        body(".loc 1 77 5\n @%p1 bra L; wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%d0], %r2; L:")
        + '.file 1 "/a/b.cu"\n'
    )
    device = Device(text)
    with pytest.raises(LaunchError) as told:
        device.run("k", 1, 32, "Q", device.empty(4))
    assert told.value.reason == "unsupported"
    assert "/a/b.cu:77" in told.value.message
    assert "wmma.load.a" in told.value.message


@pytest.mark.gate
def test_an_instruction_that_is_not_there_does_no_harm_where_it_is_not_reached() -> None:
    device = Device(
        body("setp.eq.u32 %p1, 0, 0; @%p1 bra L; tcgen05.mma.magic %r1, %r2; L: st.global.u32 [%d0], 5;")
    )
    out = device.empty(4)
    assert device.run("k", 1, 1, "Q", out).findings == ()
    assert device.memory.read(out, 4) == bytes([5, 0, 0, 0])


@pytest.mark.gate
@pytest.mark.parametrize(
    "instruction",
    [
        "add.u32.bogus %r1, %r2, %r3",
        "add.u32 %r1, %r2",
        "add.u64 %d1, %r1, %d2",
        "mov.b64 %d1, {%r1, %r2, %r3}",
        "ld.global.u32 %r1, %d0",
        "st.const.u32 [%d0], %r1",
        "setp.lt.b32 %p1, %r1, %r2",
        "mov.u32 %r1, %envreg3",
        "cvt.u32.f32 %r1, %f1",
        "shfl.down.b32 %r1, %r2, 1, 31",
        "atom.global.mul.u32 %r1, [%d0], 3",
        "div.approx.f64 %g1, %g2, %g3",
        "barrier.cluster.arrive",
        "call nowhere",
        "brx.idx %r1, L",
    ],
)
def test_forms_that_ptx_does_not_have_are_refused_by_name(instruction: str) -> None:
    device = Device(body(f"{instruction}; L:"))
    with pytest.raises(LaunchError) as told:
        device.run("k", 1, 1, "Q", device.empty(8))
    assert told.value.reason == "unsupported"
    assert instruction.partition(" ")[0].partition(".")[0] in told.value.message


@pytest.mark.gate
@pytest.mark.parametrize(
    ("grid", "block", "size", "shared"),
    [
        ((0, 1, 1), (1, 1, 1), 8, 0),
        ((1, 65536, 1), (1, 1, 1), 8, 0),
        ((1, 1, 1), (1025, 1, 1), 8, 0),
        ((1, 1, 1), (32, 32, 2), 8, 0),
        ((1, 1, 1), (1, 1, 65), 8, 0),
        ((1, 1, 1), (1, 1, 1), 4, 0),
        ((1, 1, 1), (1, 1, 1), 8, 1 << 20),
    ],
)
def test_launches_that_a_driver_refuses(
    grid: tuple[int, ...], block: tuple[int, ...], size: int, shared: int
) -> None:
    device = Device(body(""))
    with pytest.raises(LaunchError) as told:
        device.run("k", grid, block, f"{size}x", shared=shared)
    assert told.value.reason == "invalid-value"


@pytest.mark.gate
def test_a_kernel_that_is_not_there() -> None:
    with pytest.raises(LaunchError) as told:
        Device(body("")).run("other", 1, 1, "Q", 0)
    assert told.value.reason == "not-found"


def _any_of(words: str) -> st.SearchStrategy[str]:
    return st.sampled_from(words.split())


_OPCODES = _any_of(
    "add sub mul mad div rem min max and or xor shl shr setp selp cvt mov ld st atom red shfl vote bar fma"
)
_PARTS = _any_of(
    "u32 s32 f32 u64 f64 f16 b32 b64 pred rn rz lo hi wide sat ftz global shared local generic sync v2 v4 eq"
)
_OPERANDS = _any_of(
    "%r1 %r2 %d0 %d1 %f1 %g1 %h1 %p1 1 -1 0f3F800000 0d3FF0000000000000 [%d0] [%r1+4] {%r1,%r2} %tid.x _"
    " %r1|%p1 out"
)


@settings(max_examples=60)
@given(st.data())
def test_any_instruction_runs_or_is_refused(data: st.DataObject) -> None:
    """Opcodes, modifiers and operands thrown together never raise anything else, nor hang."""
    lines = []
    for _ in range(data.draw(st.integers(1, 5))):
        word = ".".join([data.draw(_OPCODES), *data.draw(st.lists(_PARTS, max_size=3))])
        lines.append(f"{word} {', '.join(data.draw(st.lists(_OPERANDS, min_size=1, max_size=4)))};")
    try:
        device = Device(body(" ".join(lines)))
        device.run("k", 1, 33, "Q", device.empty(64), limits=Limits(seconds=5))
    except (PtxError, LaunchError) as error:
        assert str(error)  # noqa: PT017  # either outcome is right


def test_hostile_texts_take_little_memory() -> None:
    """What the tests of this file built up stays far below a gigabyte."""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 << 20
