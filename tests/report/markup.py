"""HTML as a browser reads it (WHATWG HTML, "Parsing HTML documents"), by a parser that is not ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from enum import Enum
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode

from assay.report.view import Page, Piece

T = TypeVar("T")

_READ = frozenset({"aria-label"})


def parse(data: bytes) -> LexborHTMLParser:
    """Return a page as a tree."""
    return LexborHTMLParser(data.decode())


def nodes(data: bytes) -> Iterator[LexborNode]:
    """Yield every element of a page, in order."""
    root = parse(data).root
    assert root is not None
    return (node for node in root.traverse(include_text=False) if not (node.tag or "").startswith(("-", "!")))


def skeleton(data: bytes) -> list[tuple[str, tuple[tuple[str, str | None], ...]]]:
    """Return every element of a page in order, with its attributes; labels without values."""
    return [
        (
            node.tag or "",
            tuple(sorted((key, "" if key in _READ else value) for key, value in node.attributes.items())),
        )
        for node in nodes(data)
    ]


def shapes(data: bytes) -> set[tuple[str, str]]:
    """Return every pair of an element's name and an attribute's name, and each element alone."""
    found = skeleton(data)
    return {(tag, "") for tag, _ in found} | {(tag, name) for tag, names in found for name, _ in names}


def told(data: bytes, selector: str) -> list[str]:
    """Return the text of every element that a CSS selector finds, white space joined."""
    return [" ".join(node.text().split()) for node in parse(data).css(selector)]


def filled(page: Page, text: str) -> Page:
    """Return a page whose every string, but those that choose an element, is ``text``."""
    return _filled(page, text)


def _filled(value: T, text: str) -> T:
    """Return a value of a view with its strings replaced."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return text  # type: ignore[return-value]  # T is str here
    if isinstance(value, tuple):
        return tuple(_filled(part, text) for part in value)  # type: ignore[return-value]  # T is a tuple here
    if isinstance(value, Piece):
        return dataclasses.replace(value, text=text)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: _filled(getattr(value, field.name), text) for field in dataclasses.fields(value)
        }
        return dataclasses.replace(value, **changed)
    return value
