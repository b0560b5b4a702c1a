"""Device ``printf``: the format and packed arguments of ``vprintf`` (CUDA C++ Programming Guide, B.19)."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Addresses
from ..errors import BadAddressError
from ..ptx.values import Instruction, aligned
from .access import Access
from .unsupported import TrapError

if TYPE_CHECKING:
    from .chunk import Chunk
    from .lanes import Lanes

MAX_STRING = 1 << 16
"""Bytes of a format or of a ``%s`` argument that are read."""

_SPECIFIER = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d{0,6})(?P<dot>\.(?P<precision>\*|\d{0,6}))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<letter>[a-zA-Z%])"
)
_LONG = frozenset({b"l", b"ll", b"j", b"z", b"t"})
_FLOATS = frozenset(b"fFeEgGaA")
_SIGNED = frozenset(b"di")
_UNSIGNED = frozenset(b"uoxX")


@dataclass(frozen=True)
class _Piece:
    """A conversion: its text, its letter, how many stars come before, bytes of its argument."""

    match: re.Match[bytes]
    letter: int
    stars: int
    size: int


def print_formatted(lanes: Lanes, site: Instruction, formats: Addresses, arguments: Addresses) -> None:
    """Append what the active threads print to the launch's output.

    Raises:
        TrapError: the output's limit is reached.
    """
    formats, arguments = lanes.all(formats), lanes.all(arguments)
    for address in np.unique(formats):
        mask = formats == address
        text = read_string(lanes.chunk, int(address))
        _print(lanes if mask.all() else lanes.narrow(mask), site, text, arguments[mask])


def read_string(chunk: Chunk, address: int) -> bytes:
    """Return the bytes up to the NUL at a global address; what is not there reads as an empty string."""
    memory = chunk.launch.memory
    held = memory.find(address)
    if held is None:
        return b"(null)" if address == 0 else b""
    size = min(MAX_STRING, held.end - address)
    try:
        return memory.read(address, size).split(b"\0", 1)[0]
    except BadAddressError:
        return b""


def _print(lanes: Lanes, site: Instruction, text: bytes, arguments: Addresses) -> None:
    pieces = [_piece(match) for match in _SPECIFIER.finditer(text)]
    columns = _columns(lanes, site, pieces, arguments)
    output = lanes.chunk.launch.recorder.printed
    limit = lanes.chunk.launch.limits.output
    for thread in range(lanes.count):
        values = [column[thread] for column in columns]
        output += _formatted(lanes.chunk, text, pieces, values)
        if len(output) > limit:
            del output[limit:]
            raise TrapError("output", f"printf wrote more than {limit} bytes")


def _piece(match: re.Match[bytes]) -> _Piece:
    letter = match["letter"][0]
    stars = (match["width"] == b"*") + (match["precision"] == b"*")
    if letter == ord("%"):
        return _Piece(match, letter, 0, 0)
    wide = match["length"] in _LONG or letter in _FLOATS or letter in b"sp"
    return _Piece(match, letter, stars, 8 if wide else 4)


def _columns(
    lanes: Lanes, site: Instruction, pieces: Sequence[_Piece], arguments: Addresses
) -> list[list[int]]:
    """Return the raw bits of each argument, for each thread; each argument is aligned to its size."""
    columns: list[list[int]] = []
    offset = 0
    for piece in pieces:
        for size in (*[4] * piece.stars, piece.size):
            if size:
                offset = aligned(offset, size)
                access = Access(site, size)
                space = lanes.chunk.spaces["generic"]
                (value,) = space.load(lanes, arguments + np.uint64(offset), access)
                columns.append(lanes.all(value).tolist())
                offset += size
    return columns


def _formatted(chunk: Chunk, text: bytes, pieces: Sequence[_Piece], values: list[int]) -> bytes:
    result = bytearray()
    at = 0
    rest = iter(values)
    for piece in pieces:
        result += text[at : piece.match.start()]
        at = piece.match.end()
        if piece.letter == ord("%"):
            result += b"%"
            continue
        stars = [_signed(next(rest), 4) for _ in range(piece.stars)]
        result += _converted(chunk, piece, stars, next(rest))
    return bytes(result + text[at:])


_MAX_WIDTH = 4096


def _converted(chunk: Chunk, piece: _Piece, stars: list[int], bits: int) -> bytes:
    match, letter = piece.match, piece.letter
    remaining = iter(stars)
    width = str(next(remaining)) if match["width"] == b"*" else match["width"].decode()
    precision = ""
    if match["dot"]:
        given = match["precision"]
        precision = "." + (str(max(0, next(remaining))) if given == b"*" else given.decode())
    if abs(int(width or 0)) > _MAX_WIDTH or int(precision[1:] or 0) > _MAX_WIDTH:
        raise TrapError("output", f"printf asked for a field of more than {_MAX_WIDTH} characters")
    head = f"%{match['flags'].decode()}{width}{precision}"
    return _converters(letter)(chunk, head, piece, bits)


_Converter = Callable[["Chunk", str, _Piece, int], bytes]


def _converters(letter: int) -> _Converter:
    """Return how the bits of an argument become text; an unknown letter is printed as it stands."""
    name = chr(letter)
    plain: dict[str, _Converter] = {
        "c": lambda _chunk, head, _piece, bits: f"{head}s".encode() % bytes([bits & 0xFF]),
        "s": lambda chunk, head, _piece, bits: f"{head}s".encode() % read_string(chunk, bits),
        "p": lambda _chunk, head, _piece, bits: f"{head}s".encode() % hex(bits).encode(),
    }
    if letter in _SIGNED:
        return lambda _chunk, head, piece, bits: f"{head}d".encode() % _signed(bits, piece.size)
    if letter in _UNSIGNED:
        return lambda _chunk, head, _piece, bits: f"{head}{name}".replace("u", "d").encode() % bits
    if letter in _FLOATS:
        return lambda _chunk, head, _piece, bits: _float(head, letter, bits)
    return plain.get(name, lambda _chunk, head, _piece, _bits: f"{head}{name}".encode())


def _float(head: str, letter: int, bits: int) -> bytes:
    value: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    if letter in b"aA":
        text = value.hex()
        return f"{head.partition('.')[0]}s".encode() % (text.upper() if letter == ord("A") else text).encode()
    return f"{head}{chr(letter)}".encode() % value


def _signed(bits: int, size: int) -> int:
    return bits - (1 << 8 * size) if bits >> (8 * size - 1) else bits
