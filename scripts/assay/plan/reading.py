"""Typed getters over decoded TOML or JSON; every error names the key's dotted path.

A ``Table`` must be *finished*: keys that nobody asked for are an error, so that a misspelt key never
silently loosens a plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from assay.errors import PlanError

T = TypeVar("T")

SHA256 = re.compile(r"[0-9a-f]{64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, the two separators that end a line, and lone surrogates, which have no UTF-8
(Unicode, categories Cc, Zl, Zp, Cs)."""

_MISSING = object()


class Table:
    """One table of the plan at a dotted path, read key by key."""

    def __init__(self, value: object, path: str) -> None:
        """Wrap ``value``.

        Raises:
            PlanError: it is not a table.
        """
        if not isinstance(value, Mapping):
            raise PlanError(path, f"is {_kind(value)}", "a table", "write it as a table")
        self._value: Mapping[str, object] = value
        self._unread = {str(key) for key in value}
        self.path = path

    def at(self, key: str) -> str:
        """Return the dotted path of ``key``."""
        return f"{self.path}.{key}" if self.path else key

    def names(self) -> tuple[str, ...]:
        """Return the table's keys in byte order."""
        return tuple(sorted(self._value))

    def raw(self, key: str, default: object = _MISSING) -> object:
        """Return a key's value as it stands.

        Raises:
            PlanError: the key is missing and has no default.
        """
        self._unread.discard(key)
        value = self._value.get(key, default)
        if value is _MISSING:
            raise PlanError(self.at(key), "is missing", "a value", "add the key to the plan")
        return value

    def text(self, key: str, default: object = _MISSING, *, match: str = "") -> str:
        """Return a string, matching the whole of ``match`` where it is given.

        Raises:
            PlanError: it is missing, not a string, or does not match.
        """
        return as_text(self.raw(key, default), self.at(key), match)

    def optional_text(self, key: str, *, match: str = "") -> str | None:
        """Return a string or None where the key is absent or null."""
        value = self.raw(key, None)
        return None if value is None else as_text(value, self.at(key), match)

    def line(self, key: str) -> str:
        """Return a line of text.

        Raises:
            PlanError: it is missing, not a string, blank, or has a control character.
        """
        return as_line(self.raw(key), self.at(key))

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a boolean.

        Raises:
            PlanError: it is not one.
        """
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise PlanError(self.at(key), f"is {_kind(value)}", "true or false", "")
        return value

    def number(self, key: str, default: object = _MISSING, *, low: int = 0, high: int = 2**53 - 1) -> int:
        """Return an integer between ``low`` and ``high``.

        Raises:
            PlanError: it is not an integer or lies outside.
        """
        value = self.raw(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise PlanError(self.at(key), f"is {_kind(value)}", "an integer", "")
        if not low <= value <= high:
            raise PlanError(self.at(key), f"is {value}", f"between {low} and {high}", "")
        return value

    def texts(self, key: str, default: object = _MISSING, *, match: str = "") -> tuple[str, ...]:
        """Return a list of strings without doubles.

        Raises:
            PlanError: it is not a list of matching strings, or one stands twice.
        """
        values = self.each(key, lambda value, path: as_text(value, path, match), default)
        seen: set[str] = set()
        for value in values:
            if value in seen:
                raise PlanError(self.at(key), f"names {value!r} twice", "each name once", "remove one")
            seen.add(value)
        return values

    def each(self, key: str, read: Callable[[object, str], T], default: object = _MISSING) -> tuple[T, ...]:
        """Return a list, each element read by ``read(value, path)``.

        Raises:
            PlanError: it is not a list, or an element is refused.
        """
        value = self.raw(key, default)
        if not isinstance(value, list | tuple):
            raise PlanError(self.at(key), f"is {_kind(value)}", "a list", "")
        return tuple(read(element, f"{self.at(key)}.{index}") for index, element in enumerate(value))

    def table(self, key: str, default: object = _MISSING) -> Table:
        """Return a table below this one."""
        return Table(self.raw(key, default), self.at(key))

    def finish(self) -> None:
        """Check that every key was read.

        Raises:
            PlanError: a key is unknown.
        """
        if self._unread:
            key = min(self._unread)
            raise PlanError(self.at(key), "is not a known key", "only known keys", "correct or remove it")


def as_text(value: object, path: str, match: str = "") -> str:
    """Return ``value`` as a string that fully matches ``match``.

    Raises:
        PlanError: it is not a string or does not match.
    """
    if not isinstance(value, str):
        raise PlanError(path, f"is {_kind(value)}", "a string", "put it in quotes")
    if match and not re.fullmatch(match, value):
        raise PlanError(path, f"is {value!r}", f"text like {match}", "")
    return value


def as_line(value: object, path: str) -> str:
    """Return ``value`` as a line of text: not blank, without control characters.

    A NUL ends a word for every operating system; the others would forge lines of what is printed.

    Raises:
        PlanError: it is not.
    """
    given = as_text(value, path)
    if not given.strip():
        raise PlanError(path, "is blank" if given else "is empty", "some text", "write it or remove it")
    if control := _CONTROL.search(given):
        observed = f"has the control character U+{ord(control[0]):04X}"
        raise PlanError(path, observed, "a line of text without control characters", "remove it")
    return given


def _kind(value: object) -> str:
    """Return a TOML word for the type of ``value``."""
    words = {bool: "a boolean", int: "an integer", float: "a float", str: "a string", list: "a list"}
    return words.get(type(value), "a table" if isinstance(value, Mapping) else type(value).__name__)
