"""Operations of random kernels: how PTX writes each one, and how C++ does what the PTX ISA says.

Standard library only: the comparison with a real GPU uses it too.  The C++ side is ``reference.h``; it
shares no
code with the interpreter.
"""

from __future__ import annotations

from dataclasses import dataclass

MODES = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        result: type of the result: ``u``, ``w`` (32 and 64 bits), ``f``, ``g`` (float and double).
        operands: types of the operands.
        ptx: instructions with ``{d}``, ``{a}``, ``{b}``, ``{c}``, ``{e}`` and ``{i}``, a number below
            ``numbers``.
        cpp: an expression with the same names.
        numbers: how many values ``{i}`` has.
    """

    result: str
    operands: str
    ptx: str
    cpp: str
    numbers: int = 1


def _plain(result: str, operands: str, instruction: str, cpp: str, numbers: int = 1) -> Operation:
    given = ", ".join(f"{{{name}}}" for name in "abce"[: len(operands)])
    return Operation(result, operands, f"{instruction} {{d}}, {given};", cpp, numbers)


_WORDS = [
    _plain("u", "uu", "add.u32", "a + b"),
    _plain("u", "uu", "sub.s32", "a - b"),
    _plain("u", "uu", "mul.lo.s32", "a * b"),
    _plain("u", "uu", "mul.hi.u32", "(u)((w)a * b >> 32)"),
    _plain("u", "uu", "mul.hi.s32", "(u)((sw)(s)a * (s)b >> 32)"),
    _plain("u", "uu", "mul24.lo.s32", "(u)(sext24(a) * sext24(b))"),
    _plain("u", "uuu", "mad.lo.u32", "a * b + c"),
    _plain("u", "uuu", "mad.hi.s32", "(u)((sw)(s)a * (s)b >> 32) + c"),
    _plain("u", "uu", "add.sat.s32", "sat32((sw)(s)a + (s)b)"),
    _plain("u", "uu", "sub.sat.s32", "sat32((sw)(s)a - (s)b)"),
    _plain("u", "uu", "min.u32", "a < b ? a : b"),
    _plain("u", "uu", "max.s32", "(s)a > (s)b ? a : b"),
    _plain("u", "uu", "and.b32", "a & b"),
    _plain("u", "uu", "or.b32", "a | b"),
    _plain("u", "uu", "xor.b32", "a ^ b"),
    _plain("u", "u", "not.b32", "~a"),
    _plain("u", "u", "cnot.b32", "a == 0 ? 1u : 0u"),
    _plain("u", "u", "neg.s32", "0u - a"),
    _plain("u", "u", "abs.s32", "(s)a < 0 ? 0u - a : a"),
    _plain("u", "u", "popc.b32", "(u)__builtin_popcount(a)"),
    _plain("u", "u", "clz.b32", "a ? (u)__builtin_clz(a) : 32u"),
    _plain("u", "u", "brev.b32", "brev32(a)"),
    _plain("u", "u", "bfind.u32", "a ? 31u - (u)__builtin_clz(a) : 0xffffffffu"),
    _plain("u", "u", "bfind.shiftamt.s32", "bfind_shift((s)a)"),
    _plain("u", "uuu", "sad.u32", "c + (a < b ? b - a : a - b)"),
    _plain("u", "uuu", "sad.s32", "c + ((s)a < (s)b ? b - a : a - b)"),
    _plain("u", "uuu", "prmt.b32", "prmt(a, b, c)"),
    *(
        _plain("u", "uuu", f"prmt.b32.{mode}", f"prmt_{mode}(a, b, c)")
        for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    ),
    _plain("u", "uuu", "shf.l.wrap.b32", "funnel(b, a, c & 31) >> 32"),
    _plain("u", "uuu", "shf.r.clamp.b32", "(u)(((w)b << 32 | a) >> (c < 32 ? c : 32))"),
    _plain("u", "uuu", "dp4a.u32.u32", "c + dot4(a, b, false, false)"),
    _plain("u", "uuu", "dp4a.s32.u32", "c + dot4(a, b, true, false)"),
    _plain("u", "uuu", "dp2a.hi.s32.s32", "c + dot2(a, b)"),
    Operation("u", "uuu", "lop3.b32 {d}, {a}, {b}, {c}, {i};", "lop3(a, b, c, {i})", 256),
    Operation(
        "u", "uu", "and.b32 %t0, {b}, 63; shl.b32 {d}, {a}, %t0;", "(b & 63) < 32 ? a << (b & 63) : 0u"
    ),
    Operation(
        "u", "uu", "and.b32 %t0, {b}, 63; shr.u32 {d}, {a}, %t0;", "(b & 63) < 32 ? a >> (b & 63) : 0u"
    ),
    Operation("u", "uu", "shr.s32 {d}, {a}, {b};", "(u)((s)a >> (b < 31 ? b : 31))"),
    Operation("u", "uuu", "bfe.u32 {d}, {a}, {b}, {c};", "bfe<u>(a, b, c, false)"),
    Operation("u", "uu", "bfe.s32 {d}, {a}, {b}, {i};", "bfe<u>(a, b, {i}, true)", 40),
    Operation("u", "uu", "bfe.s32 {d}, {a}, {i}, {b};", "bfe<u>(a, {i}, b, true)", 40),
    Operation("u", "uuu", "bfi.b32 {d}, {a}, {b}, {i}, {c};", "bfi<u>(a, b, {i}, c)", 40),
    Operation("u", "uuu", "bfi.b32 {d}, {a}, {b}, {c}, {i};", "bfi<u>(a, b, c, {i})", 40),
    Operation("u", "uu", "or.b32 %t0, {b}, 1; div.u32 {d}, {a}, %t0;", "a / (b | 1)"),
    Operation("u", "uu", "or.b32 %t0, {b}, 1; rem.u32 {d}, {a}, %t0;", "a % (b | 1)"),
    Operation("u", "uu", "or.b32 %t0, {b}, 1; div.s32 {d}, {a}, %t0;", "(u)((sw)(s)a / (s)(b | 1))"),
    Operation("u", "uu", "or.b32 %t0, {b}, 1; rem.s32 {d}, {a}, %t0;", "(u)((sw)(s)a % (s)(b | 1))"),
    Operation("u", "u", "cvt.s32.s8 {d}, {a};", "(u)(signed char)a"),
    Operation("u", "u", "cvt.u32.u16 {d}, {a};", "(u)(unsigned short)a"),
    Operation("u", "u", "cvt.sat.u8.s32 {d}, {a};", "(s)a < 0 ? 0u : a > 255 ? 255u : a"),
    Operation(
        "u", "u", "cvt.sat.s16.s32 {d}, {a};", "(u)((s)a < -32768 ? -32768 : (s)a > 32767 ? 32767 : (s)a)"
    ),
    Operation("u", "w", "cvt.u32.u64 {d}, {a};", "(u)a"),
    Operation("u", "w", "popc.b64 {d}, {a};", "(u)__builtin_popcountll(a)"),
    Operation("u", "w", "clz.b64 {d}, {a};", "a ? (u)__builtin_clzll(a) : 64u"),
    Operation("u", "w", "mov.b64 {{%t0, {d}}}, {a};", "(u)(a >> 32)"),
    Operation("u", "w", "cvt.sat.s32.s64 {d}, {a};", "sat32((sw)a)"),
    # The bits of a NaN, its sign included, are the hardware's own affair: they are not looked at.
    Operation(
        "u",
        "f",
        "setp.nan.f32 %q7, {a}, {a}; mov.b32 %t0, {a}; selp.b32 {d}, 5, %t0, %q7;",
        "a != a ? 5u : bits(a)",
    ),
    Operation(
        "u",
        "uu",
        "mov.b32 {{%h0, %h1}}, {a}; mul.wide.s16 {d}, %h0, %h1;",
        "(u)((short)a * (short)(a >> 16)) + 0 * b",
    ),
]

_LONGS = [
    _plain("w", "ww", "add.s64", "a + b"),
    _plain("w", "ww", "sub.u64", "a - b"),
    _plain("w", "ww", "mul.lo.u64", "a * b"),
    _plain("w", "ww", "mul.hi.u64", "(w)((unsigned __int128)a * b >> 64)"),
    _plain("w", "ww", "mul.hi.s64", "(w)((__int128)(sw)a * (sw)b >> 64)"),
    _plain("w", "uu", "mul.wide.u32", "(w)a * b"),
    _plain("w", "uu", "mul.wide.s32", "(w)((sw)(s)a * (s)b)"),
    _plain("w", "uuw", "mad.wide.s32", "(w)((sw)(s)a * (s)b) + c"),
    _plain("w", "www", "mad.lo.s64", "a * b + c"),
    _plain("w", "ww", "min.s64", "(sw)a < (sw)b ? a : b"),
    _plain("w", "ww", "max.u64", "a > b ? a : b"),
    _plain("w", "ww", "xor.b64", "a ^ b"),
    _plain("w", "w", "not.b64", "~a"),
    _plain("w", "w", "neg.s64", "0 - a"),
    _plain("w", "w", "brev.b64", "(w)brev32((u)a) << 32 | brev32((u)(a >> 32))"),
    Operation(
        "w", "wu", "and.b32 %t0, {b}, 127; shl.b64 {d}, {a}, %t0;", "(b & 127) < 64 ? a << (b & 127) : 0"
    ),
    Operation(
        "w", "wu", "and.b32 %t0, {b}, 127; shr.u64 {d}, {a}, %t0;", "(b & 127) < 64 ? a >> (b & 127) : 0"
    ),
    Operation("w", "wu", "shr.s64 {d}, {a}, {b};", "(w)((sw)a >> (b < 63 ? b : 63))"),
    Operation(
        "w", "wu", "and.b32 %t0, {b}, 255; bfe.u64 {d}, {a}, %t0, {i};", "bfe<w>(a, b & 255, {i}, false)", 70
    ),
    Operation(
        "w", "wu", "and.b32 %t0, {b}, 255; bfe.s64 {d}, {a}, {i}, %t0;", "bfe<w>(a, {i}, b & 255, true)", 70
    ),
    Operation(
        "w",
        "wwu",
        "and.b32 %t0, {c}, 255; bfi.b64 {d}, {a}, {b}, %t0, {i};",
        "bfi<w>(a, b, c & 255, {i})",
        70,
    ),
    Operation("w", "ww", "or.b64 %t8, {b}, 1; div.s64 {d}, {a}, %t8;", "(w)((__int128)(sw)a / (sw)(b | 1))"),
    Operation("w", "ww", "or.b64 %t8, {b}, 1; rem.u64 {d}, {a}, %t8;", "a % (b | 1)"),
    Operation("w", "u", "cvt.u64.u32 {d}, {a};", "a"),
    Operation("w", "u", "cvt.s64.s32 {d}, {a};", "(w)(sw)(s)a"),
    Operation("w", "uu", "mov.b64 {d}, {{{a}, {b}}};", "(w)b << 32 | a"),
    Operation(
        "w",
        "g",
        "setp.nan.f64 %q7, {a}, {a}; mov.b64 %t8, {a}; selp.b64 {d}, 5, %t8, %q7;",
        "a != a ? (w)5 : bits(a)",
    ),
    Operation(
        "w",
        "ww",
        "mov.b64 {{%t0, %t1}}, {a}; mov.b64 {{%t2, %t3}}, {b};"
        " add.cc.u32 %t0, %t0, %t2; addc.u32 %t1, %t1, %t3;"
        " mov.b64 {d}, {{%t0, %t1}};",
        "a + b",
    ),
    Operation(
        "w",
        "ww",
        "mov.b64 {{%t0, %t1}}, {a}; mov.b64 {{%t2, %t3}}, {b};"
        " sub.cc.u32 %t0, %t0, %t2; subc.u32 %t1, %t1, %t3;"
        " mov.b64 {d}, {{%t0, %t1}};",
        "a - b",
    ),
    Operation(
        "w",
        "uuw",
        "mov.b64 {{%t0, %t1}}, {c}; mad.lo.cc.u32 %t0, {a}, {b}, %t0; madc.hi.u32 %t1, {a}, {b}, %t1;"
        " mov.b64 {d}, {{%t0, %t1}};",
        "(w)a * b + c",
    ),
]


def _rounded(kind: str, name: str, operands: int, expression: str) -> list[Operation]:
    letter = "f" if kind == "f32" else "g"
    flags = ["", ".ftz", ".sat", ".ftz.sat"][
        : (2 if name in {"div", "rcp", "sqrt"} else 4) if letter == "f" else 1
    ]
    return [
        _plain(
            letter,
            letter * operands,
            f"{name}.{mode}{flag}.{kind}",
            _finished(m, name, flag, operands, expression),
        )
        for m, mode in enumerate(MODES)
        for flag in flags
    ]


def _finished(mode: int, name: str, flag: str, operands: int, expression: str) -> str:
    """Return the C++ of a rounded operation; some are flushed before they are rounded (``reference.h``)."""
    made = f"[](auto a, auto b, auto c) {{{{ return {expression}; }}}}, {_inputs(flag, operands)}"
    sort = f"<{int('ftz' in flag)}, {int('sat' in flag)}>"
    if name in {"mul", "fma"} and flag.startswith(".ftz"):
        scaled = made.replace(">(a)", ">(a) * 0x1p32f").replace(">(c)", ">(c) * 0x1p32f")
        if name == "mul":
            scaled = made.replace(">(a), ", ">(a) * 0x1p32f, ", 1)
        return f"done_after{sort}(rounded({mode}, {made}), rounded({mode}, {scaled}))"
    if name in {"div", "rcp"} and MODES[mode] in {"rm", "rp"}:
        return f"done_early{sort}(rounded({mode}, {made}), rounded({MODES.index('rz')}, {made}))"
    return f"done{sort}(rounded({mode}, {made}))"


def _inputs(flag: str, operands: int) -> str:
    names = [*"abc"[:operands], *"aaa"[operands:]]
    return ", ".join(f"in<{int('ftz' in flag)}>({name})" for name in names)


_FLOATS = [
    operation
    for kind in ("f32", "f64")
    for operation in (
        *_rounded(kind, "add", 2, "a + b"),
        *_rounded(kind, "sub", 2, "a - b"),
        *_rounded(kind, "mul", 2, "a * b"),
        *_rounded(kind, "fma", 3, "std::fma(a, b, c)"),
        *_rounded(kind, "div", 2, "a / b"),
        *_rounded(kind, "rcp", 1, "decltype(a)(1) / a"),
        *_rounded(kind, "sqrt", 1, "std::sqrt(a)"),
    )
]

_OTHER_FLOATS = [
    operation
    for letter, kind in (("f", "f32"), ("g", "f64"))
    for operation in (
        _plain(letter, letter * 2, f"min.{kind}", "canon(least(a, b))"),
        _plain(letter, letter * 2, f"max.{kind}", "canon(-least(-a, -b))"),
        Operation(
            letter,
            letter * 2,
            f"copysign.{kind} %t{letter}, {{a}}, {{b}}; setp.nan.{kind} %q7, {{a}}, {{a}};"
            f" selp.{kind} {{d}}, {{b}}, %t{letter}, %q7;",
            "a != a ? b : std::copysign(b, a)",
        ),
    )
]

_CONVERSIONS = [
    Operation(
        "f",
        "g",
        f"cvt.{mode}.f32.f64 {{d}}, {{a}};",
        f"canon(rounded({m}, [](auto a, auto, auto) {{{{ return (float)a; }}}}, a, a, a))",
    )
    for m, mode in enumerate(MODES)
]
_CONVERSIONS += [
    Operation(
        letter,
        source,
        f"cvt.{mode}.{kind}.{name} {{d}}, {{a}};",
        f"rounded({m}, [](auto a, auto, auto) {{{{ return ({real})({integer})a; }}}}, a, a, a)",
    )
    for m, mode in enumerate(MODES)
    for letter, kind, real in (("f", "f32", "float"), ("g", "f64", "double"))
    for source, name, integer in (("u", "u32", "u"), ("u", "s32", "s"), ("w", "u64", "w"), ("w", "s64", "sw"))
    if (kind, name) not in {("f64", "u32"), ("f64", "s32")}
]
_CONVERSIONS += [
    Operation("g", "f", "cvt.f64.f32 {d}, {a};", "canon((double)a)"),
    Operation("g", "u", "cvt.rn.f64.s32 {d}, {a};", "(double)(s)a"),
    Operation("f", "f", "cvt.rn.f16.f32 %h0, {a}; cvt.f32.f16 {d}, %h0;", "canon((float)(half)a)"),
    Operation("f", "f", "cvt.rz.f16.f32 %h0, {a}; cvt.f32.f16 {d}, %h0;", "canon(half_down(a))"),
    Operation("f", "f", "cvt.sat.f32.f32 {d}, {a};", "done<0, 1>(a)"),
    Operation("f", "f", "cvt.ftz.sat.f32.f32 {d}, {a};", "done<1, 1>(in<1>(a))"),
    *(
        Operation(
            "f",
            "f" * len(names),
            " ".join(f"cvt.rn.f16.f32 %h{n}, {{{name}}};" for n, name in enumerate(names))
            + f" {instruction} %h0, {', '.join(f'%h{n}' for n in range(len(names)))};"
            " cvt.f32.f16 {d}, %h0;",
            expression,
        )
        for names, instruction, expression in (
            ("ab", "add.rn.f16", "canon((float)((half)a + (half)b))"),
            ("ab", "mul.rn.f16", "canon((float)((half)a * (half)b))"),
            ("abc", "fma.rn.f16", "canon((float)(half)((quad)(half)a * (half)b + (half)c))"),
        )
    ),
    *(
        Operation(letter, letter, f"cvt.{rounding}.{kind}.{kind} {{d}}, {{a}};", f"canon({function}(a))")
        for letter, kind in (("f", "f32"), ("g", "f64"))
        for rounding, function in (
            ("rni", "std::nearbyint"),
            ("rzi", "std::trunc"),
            ("rmi", "std::floor"),
            ("rpi", "std::ceil"),
        )
    ),
    *(
        Operation(
            "u" if bits == 32 else "w",
            letter,
            f"cvt.{rounding}.{sign}{bits}.{kind} {{d}}, {{a}};",
            f"to_integer<{'s' if sign == 's' else 'u'}{'w' if bits == 64 else ''}_t>({function}((double)a), "
            f"{str(kind == 'f64' or bits == 64).lower()})",
        )
        for letter, kind in (("f", "f32"), ("g", "f64"))
        for sign in "us"
        for bits in (32, 64)
        for rounding, function in (
            ("rni", "std::nearbyint"),
            ("rzi", "std::trunc"),
            ("rmi", "std::floor"),
            ("rpi", "std::ceil"),
        )
    ),
    Operation(
        "u", "f", "cvt.rzi.u8.f32 {d}, {a};", "to_integer<unsigned char>(std::trunc((double)a), false)"
    ),
    Operation(
        "u", "f", "cvt.rni.s16.f32 {d}, {a};", "(u)(s)to_integer<short>(std::nearbyint((double)a), false)"
    ),
]

_CONDITIONS = [
    ("u", f"setp.{name}.u32", f"a {sign} b")
    for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!="))
]
_CONDITIONS += [("u", f"setp.{name}.s32", f"(s)a {sign} (s)b") for name, sign in (("lt", "<"), ("ge", ">="))]
_CONDITIONS += [("u", f"setp.{name}.u32", f"a {sign} b") for name, sign in (("lo", "<"), ("hs", ">="))]
_CONDITIONS += [
    ("w", f"setp.{name}.s64", f"(sw)a {sign} (sw)b") for name, sign in (("le", "<="), ("gt", ">"))
]
_CONDITIONS += [
    (letter, f"setp.{name}.{kind}", expression)
    for letter, kind in (("f", "f32"), ("g", "f64"))
    for name, expression in (
        ("lt", "a < b"),
        ("le", "a <= b"),
        ("eq", "a == b"),
        ("ne", "a < b || a > b"),
        ("gtu", "!(a <= b)"),
        ("geu", "!(a < b)"),
        ("equ", "!(a < b || a > b)"),
        ("neu", "!(a == b)"),
        ("num", "a == a && b == b"),
        ("nan", "a != a || b != b"),
    )
]
CONDITIONS = tuple(_CONDITIONS)
"""Comparisons: operand type, instruction, expression."""

_SELECTIONS = [
    Operation(
        letter,
        letter * 2 + "u",
        f"setp.ne.u32 %q7, {{c}}, 0; selp.{kind} {{d}}, {{a}}, {{b}}, %q7;",
        "c ? a : b",
    )
    for letter, kind in (("u", "b32"), ("w", "b64"), ("f", "f32"), ("g", "f64"))
]
_SELECTIONS += [
    _plain("u", "uuu", "slct.u32.s32", "(s)c >= 0 ? a : b"),
    _plain("u", "uuf", "slct.u32.f32", "c >= 0 ? a : b"),
    Operation(
        "u",
        "uuff",
        "setp.gt.u32 %q6, {a}, {b}; setp.lt.xor.f32 %q7|%q6, {c}, {e}, %q6; selp.b32 %t0, 1, 0, %q7;"
        " selp.b32 %t1, 2, 0, %q6; add.u32 {d}, %t0, %t1;",
        "(u)((c < e) != (a > b)) + 2 * (u)(!(c < e) != (a > b))",
    ),
]

OPERATIONS = (*_WORDS, *_LONGS, *_FLOATS, *_OTHER_FLOATS, *_CONVERSIONS, *_SELECTIONS)
"""All operations."""
