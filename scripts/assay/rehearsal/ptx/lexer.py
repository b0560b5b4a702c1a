"""PTX text to tokens, one at a time, each with its line (PTX ISA 9.0, chapter 4)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import PtxError

MAX_TEXT = 16 << 20
"""Characters of a module.  A toolkit's samples take 2 MiB at most: this bounds memory, not kernels."""

_TOKEN = re.compile(
    r"""
      (?P<space>   (?: [ \t\r\f\v]+ | //[^\n]* )+ )
    | (?P<newline> \n )
    | (?P<comment> /\* (?: [^*] | \*(?!/) )* \*/ )
    | (?P<string>  "(?: [^"\\\n] | \\. )*" )
    | (?P<float>   0[fF][0-9a-fA-F]{8}\b | 0[dD][0-9a-fA-F]{16}\b
                 | [0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)? | [0-9]+[eE][+-]?[0-9]+ )
    | (?P<number>  0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | [0-9]+U? )
    | (?P<name>    [A-Za-z_$%][\w$]* (?: (?:\.|::)[A-Za-z0-9_][\w$]* )* )
    | (?P<dotted>  \.[A-Za-z_][\w$]* (?: (?:\.|::)[A-Za-z0-9_][\w$]* )* )
    | (?P<mark>    [{}()\[\],;:|!@<>=+\-*/&~] )
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A token: ``kind`` is a group of the pattern, or ``end``."""

    kind: str
    text: str
    line: int


class Tokens:
    """A reader over tokens with one token of foresight; ``taken`` holds the texts that were gone past.

    Args:
        text: PTX.
        seconds: how long reading may take in all.

    Raises:
        PtxError: the text is too long (from the constructor), or is no PTX (while reading).
    """

    def __init__(self, text: str, seconds: float) -> None:
        if len(text) > MAX_TEXT:
            raise PtxError(0, "", f"{len(text)} characters of PTX; at most {MAX_TEXT} are read")
        self._deadline = time.monotonic() + seconds
        self._tokens = _tokens(text)
        self._read = 0
        self.taken: list[str] = []
        self.ahead = next(self._tokens)

    def next(self) -> Token:
        """Return the next token and go past it; the last one is ``end`` for ever."""
        token = self.ahead
        if token.kind != "end":
            self.ahead = next(self._tokens)
            self._read += 1
            self.taken.append(token.text)
            if not self._read & 0xFFF and time.monotonic() > self._deadline:
                raise PtxError(token.line, token.text, "the deadline passed while reading")
        return token

    def at(self, text: str) -> bool:
        """Return whether the next token is this mark, name or dotted word."""
        return self.ahead.text == text and self.ahead.kind != "string"

    def take(self, text: str) -> bool:
        """Go past the next token if it is ``text``, and tell whether it was."""
        if self.at(text):
            self.next()
            return True
        return False

    def expect(self, text: str) -> Token:
        """Go past ``text``.

        Raises:
            PtxError: something else is there.
        """
        if not self.at(text):
            raise self.error(f"`{text}` expected")
        return self.next()

    def kind(self, kind: str, what: str) -> str:
        """Return the text of the next token, which is of a kind, and go past it.

        Raises:
            PtxError: it is of another kind.
        """
        if self.ahead.kind != kind:
            raise self.error(f"{what} expected")
        return self.next().text

    def number(self) -> int:
        """Return the next token's value, a plain number, and go past it.

        Raises:
            PtxError: it is no number.
        """
        line, text = self.ahead.line, self.kind("number", "a number")
        return integer(text, line)

    def error(self, message: str) -> PtxError:
        """Return an error at the next token."""
        found = self.ahead.text or "the end of the text"
        return PtxError(self.ahead.line, found[:200], message)


def integer(text: str, line: int) -> int:
    """Return the value of an integer literal: decimal, ``0x``, ``0b`` or octal, with or without ``U``.

    Raises:
        PtxError: it does not fit into 64 bits, or an octal literal has a digit above 7.
    """
    digits = text.rstrip("U")
    try:
        value = int(digits, 0 if digits[:2].lower() in {"0x", "0b"} else _base(digits))
    except ValueError:
        value = _TOO_LARGE
    if value >= _TOO_LARGE:
        raise PtxError(line, text[:200], "no integer of 64 bits")
    return value


def _base(digits: str) -> int:
    return 8 if digits.startswith("0") else 10


_TOO_LARGE = 1 << 64


def _tokens(text: str) -> Iterator[Token]:
    line, at, end = 1, 0, len(text)
    match = _TOKEN.match
    while at < end:
        found = match(text, at)
        if found is None:
            raise PtxError(line, text[at : at + 40].split("\n", 1)[0], "no PTX token begins here")
        at = found.end()
        kind = found.lastgroup or ""
        if kind == "newline":
            line += 1
        elif kind == "comment":
            line += found.group().count("\n")
        elif kind != "space":
            yield Token(kind, found.group(), line)
    while True:
        yield Token("end", "", line)
