"""Text in pieces, so that a template can set code and emphasis apart without any markup in a string."""

from __future__ import annotations

import re

from assay.report.view import Piece

LONGEST = 2000
"""Characters of one text that are looked at; the rest is counted."""

_AUTHORED = re.compile(r"`(?P<code>[^`]+)`|\*(?P<em>[^*]+)\*")
_SEEN = re.compile(r"`(?P<code>[^`]+)`|\b(?P<digest>[0-9a-f]{64}|[0-9a-f]{40})\b")


def authored_pieces(text: str) -> tuple[Piece, ...]:
    """Return a paragraph of ours with its `code` and *emphasis* as pieces."""
    return _pieces(text, _AUTHORED)


def seen_pieces(text: str) -> tuple[Piece, ...]:
    """Return a sentence of a judge with its `code` and digests as pieces; it may hold a stranger's words."""
    rest = len(text) - LONGEST
    return _pieces(text if rest <= 0 else f"{text[:LONGEST]}… ({rest} more characters)", _SEEN)


def _pieces(text: str, pattern: re.Pattern[str]) -> tuple[Piece, ...]:
    """Return a text cut at what a pattern finds, whose groups name the kinds."""
    found, at = [], 0
    for match in pattern.finditer(text):
        kind = match.lastgroup or ""
        found += [Piece("text", text[at : match.start()]), Piece(kind, match[kind])]
        at = match.end()
    return tuple(piece for piece in (*found, Piece("text", text[at:])) if piece.text)
