"""Initial values of variables (PTX ISA 9.0, section 5.4.4 "Initializers")."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from .lexer import Tokens
from .operands import immediate
from .types import Type
from .values import Immediate, Reference, Symbol

MAX_IMAGE = 64 << 20
"""Bytes of initial values of one variable."""


@dataclass
class Image:
    """An image that is being filled: its bytes, the addresses to put in, and the next element's offset."""

    data: bytearray
    references: list[Reference] = field(default_factory=list)
    offset: int = 0


def initialiser(tokens: Tokens, kind: Type, size: int, strides: tuple[int, ...]) -> Image:
    """Return the image behind ``=``.

    Args:
        tokens: at the first token after ``=``.
        kind: of one element.
        size: bytes of the variable.
        strides: bytes of one element of each dimension, outermost first; empty for a scalar.

    Raises:
        PtxError: it does not fit the variable.
    """
    if size > MAX_IMAGE:
        raise tokens.error(f"an initialised variable of {size} bytes; at most {MAX_IMAGE}")
    image = Image(bytearray(size))
    if not tokens.at("{"):
        _element(tokens, kind, image)
        return image
    _braces(tokens, kind, image, strides)
    return image


def _braces(tokens: Tokens, kind: Type, image: Image, strides: tuple[int, ...]) -> None:
    start: list[int] = []
    while True:
        if tokens.take("{"):
            if len(start) >= max(1, len(strides)):
                raise tokens.error("more braces than dimensions")
            start.append(image.offset)
        elif tokens.take("}"):
            begin = start.pop()
            if not start:
                return
            image.offset = begin + strides[len(start) - 1]
        else:
            _element(tokens, kind, image)
        if not tokens.at("}"):
            tokens.take(",")


def _element(tokens: Tokens, kind: Type, image: Image) -> None:
    if image.offset + kind.size > len(image.data):
        raise tokens.error("more initial values than the variable holds")
    if tokens.ahead.kind == "name":
        _reference(tokens, kind, image, None)
    else:
        _number(tokens, kind, image)
    image.offset += kind.size


def _number(tokens: Tokens, kind: Type, image: Image) -> None:
    value = immediate(tokens)
    if value.form == "int" and tokens.take("("):
        _reference(tokens, kind, image, value.value)
        tokens.expect(")")
        return
    data = encoded(value, kind)
    image.data[image.offset : image.offset + kind.size] = data


def _reference(tokens: Tokens, kind: Type, image: Image, mask: int | None) -> None:
    name = tokens.kind("name", "a variable or function")
    generic = name == "generic" and tokens.take("(")
    if generic:
        name = tokens.kind("name", "a variable or function")
        tokens.expect(")")
    offset = 0
    if tokens.at("+") or tokens.at("-"):
        offset = immediate(tokens).value
    image.references.append(Reference(image.offset, Symbol(name, offset), generic, kind.size, mask))


def encoded(value: Immediate, kind: Type) -> bytes:
    """Return a constant as the bytes of a type, little-endian, as section 4.5 converts it."""
    bits = immediate_bits(value, kind)
    return (bits & ((1 << kind.bits) - 1)).to_bytes(kind.size, "little")


def immediate_bits(value: Immediate, kind: Type) -> int:
    """Return a constant's bit pattern when it is used with a type; the low bits count.

    An integer used as a float is converted, a float of one width to the other is rounded (section 4.5).
    """
    if value.form == "int":
        return _float_bits(float(value.value), kind) if kind.kind == "f" and kind.lanes == 1 else value.value
    own = 4 if value.form == "f32" else 8
    if kind.kind != "f" or kind.size == own or kind.lanes > 1:
        return value.value
    return _float_bits(_as_float(value), kind)


def _as_float(value: Immediate) -> float:
    code, width = ("<f", 4) if value.form == "f32" else ("<d", 8)
    number: float = struct.unpack(code, value.value.to_bytes(width, "little"))[0]
    return number


def _float_bits(number: float, kind: Type) -> int:
    if kind.name == "bf16":
        return _float_bits(number, _F32) >> 16
    code = {2: "<e", 4: "<f", 8: "<d"}[kind.size]
    try:
        packed = struct.pack(code, number)
    except OverflowError:
        packed = struct.pack(code, float("inf") if number > 0 else float("-inf"))
    return int.from_bytes(packed, "little")


_F32 = Type("f32", "f", 4)
