"""Strings of a bundle made harmless for a terminal; imports nothing, for every reader needs it."""

from __future__ import annotations

_LONGEST = 2000
"""Characters of one string of a bundle that are shown."""


def plain(hostile: str) -> str:
    r"""Return a string of a bundle so that it can neither steer a terminal nor reorder what stands around it.

    Control characters (ANSI escapes begin with one), format characters (bidirectional marks among them), line
    separators and unassigned characters are written as ``\uXXXX``; a long string is cut.
    """
    shown = "".join(letter if letter.isprintable() else _escaped(letter) for letter in hostile[:_LONGEST])
    return shown if len(hostile) <= _LONGEST else f"{shown}… ({len(hostile)} characters)"


def _escaped(letter: str) -> str:
    """Return a character as its escape."""
    code = ord(letter)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004  # the end of the first plane
