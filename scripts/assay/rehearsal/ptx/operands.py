"""Operands of instructions (PTX ISA 9.0, chapter 6 "Instruction Operands")."""

from __future__ import annotations

import struct

from .lexer import Tokens, integer
from .scope import Names
from .values import (
    Address,
    Group,
    Immediate,
    Label,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Special,
    Symbol,
    Vector,
)

SPECIAL = frozenset(
    {
        *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
        *(
            f"%{name}.{axis}"
            for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
            for axis in "xyz"
        ),
        *(f"%lanemask_{name}" for name in ("eq", "le", "lt", "ge", "gt")),
        *(
            f"%{name}"
            for name in ("laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "is_explicit_cluster")
        ),
        *(
            f"%{name}"
            for name in ("clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi")
        ),
        *(f"%{name}" for name in ("total_smem_size", "dynamic_smem_size", "aggr_smem_size")),
        *(f"%{name}" for name in ("cluster_ctarank", "cluster_nctarank", "current_graph_exec")),
        *(f"%envreg{number}" for number in range(32)),
        *(f"%pm{number}" for number in range(8)),
        *(f"%pm{number}_64" for number in range(8)),
        *(f"%reserved_smem_offset_{name}" for name in ("begin", "end", "cap", "0", "1")),
        "WARP_SZ",
    }
)
"""Every special register of chapter 10; those that the interpreter lacks are refused when executed."""

_MAX_ELEMENTS = 256


def operand(tokens: Tokens, names: Names) -> Operand:
    """Return the operand at hand, ``a|b`` included.

    Raises:
        PtxError: it is none.
    """
    first = _single(tokens, names)
    if tokens.take("|"):
        return Pair(first, _single(tokens, names))
    return first


def _single(tokens: Tokens, names: Names) -> Operand:
    if tokens.at("["):
        return _address(tokens, names)
    if tokens.take("{"):
        return Vector(_elements(tokens, names, "}"))
    if tokens.take("("):
        return Group(_elements(tokens, names, ")"))
    if tokens.take("!"):
        return _negated(tokens, names)
    if tokens.ahead.kind == "name":
        return _named(tokens, names)
    return immediate(tokens)


def _elements(tokens: Tokens, names: Names, close: str) -> tuple[Operand, ...]:
    found: list[Operand] = []
    while not tokens.take(close):
        if found:
            tokens.expect(",")
        if len(found) >= _MAX_ELEMENTS or tokens.at("{") or tokens.at("("):
            raise tokens.error("a list of operands is too long or nested")
        found.append(_single(tokens, names))
    return tuple(found)


def _negated(tokens: Tokens, names: Names) -> Operand:
    register = names.register(tokens.kind("name", "a predicate"))
    if register is None or register.type.kind != "p":
        raise tokens.error("`!` needs a predicate register")
    return Negated(register)


def _named(tokens: Tokens, names: Names) -> Operand:
    name = tokens.ahead.text
    register = names.register(name)
    if register is not None:
        tokens.next()
        return register
    if name == "_":
        tokens.next()
        return Sink()
    if name in SPECIAL:
        tokens.next()
        return Special(name)
    if name.startswith("%"):
        raise tokens.error("this register is not declared")
    tokens.next()
    unique = names.variable(name)
    offset = _offset(tokens)
    return Symbol(unique, offset) if unique is not None else Symbol(name, offset)


def label(tokens: Tokens) -> Label:
    """Return the name of a branch target."""
    return Label(tokens.kind("name", "a label"))


def _offset(tokens: Tokens) -> int:
    if tokens.take("+"):
        sign = -1 if tokens.take("-") else 1
        return sign * tokens.number()
    if tokens.take("-"):
        return -tokens.number()
    return 0


def _address(tokens: Tokens, names: Names) -> Operand:
    tokens.expect("[")
    base: Register | Symbol | None = None
    if tokens.ahead.kind == "name":
        found = _named(tokens, names)
        if isinstance(found, Register):
            base, offset = found, _offset(tokens)
        elif isinstance(found, Symbol):
            base, offset = Symbol(found.name), found.offset
        else:
            raise tokens.error("no address")
    else:
        offset = _offset(tokens) if tokens.at("-") else tokens.number()
    while tokens.take(","):
        _single(tokens, names)  # a texture's coordinates: the instruction is refused by name when executed
    tokens.expect("]")
    return Address(base, offset)


def immediate(tokens: Tokens) -> Immediate:
    """Return the constant at hand (section 4.5): an integer, or the bits of a float.

    Raises:
        PtxError: it is none.
    """
    negative = False
    while tokens.at("-") or tokens.at("+"):
        negative ^= tokens.next().text == "-"
    line, kind, text = tokens.ahead.line, tokens.ahead.kind, tokens.ahead.text
    if kind == "number":
        tokens.next()
        value = integer(text, line)
        return Immediate(-value if negative else value)
    if kind == "float":
        tokens.next()
        return _float(text, negative=negative)
    raise tokens.error("an operand expected")


def _float(text: str, *, negative: bool) -> Immediate:
    head = text[:2].lower()
    if head == "0f":
        return Immediate(int("0x" + text[2:], 0) ^ (negative << 31), "f32")
    if head == "0d":
        return Immediate(int("0x" + text[2:], 0) ^ (negative << 63), "f64")
    bits: int = struct.unpack("<Q", struct.pack("<d", float(text)))[0]
    return Immediate(bits ^ (negative << 63), "f64")
