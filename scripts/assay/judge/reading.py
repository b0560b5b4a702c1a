"""Typed getters over facts.  Facts may be a stranger's JSON, so a judge reads them only through these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.model import Facts, Json

_EMPTY: Facts = {}


class MalformedFacts(Exception):  # noqa: N818  # not an error of the reader: judge_gate turns it into a finding
    """A fact has another type than the gate writes; ``path`` is its dotted path."""

    def __init__(self, path: str, expected: str) -> None:
        """Keep the dotted path and what should stand there."""
        super().__init__(f"{path} is not {expected}")
        self.path = path
        self.expected = expected


def get(facts: Json, path: str) -> Json:
    """Return the value at a dotted path below ``facts``, None where any part is absent.

    Raises:
        MalformedFacts: a part on the way is not an object.
    """
    value: Json = facts
    for part in path.split("."):
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise MalformedFacts(path, "inside an object")
        value = value.get(part)
    return value


def text(facts: Json, path: str) -> str:
    """Return a string, ``""`` where it is absent or null.

    Raises:
        MalformedFacts: it is something else.
    """
    value = get(facts, path)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedFacts(path, "a string")
    return value


def number(facts: Json, path: str) -> int | None:
    """Return an integer, None where it is absent or null.

    Raises:
        MalformedFacts: it is something else.
    """
    value = get(facts, path)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedFacts(path, "an integer")
    return value


def flag(facts: Json, path: str) -> bool | None:
    """Return a boolean, None where it is absent or null.

    Raises:
        MalformedFacts: it is something else.
    """
    value = get(facts, path)
    if value is not None and not isinstance(value, bool):
        raise MalformedFacts(path, "a boolean")
    return value


def items(facts: Json, path: str) -> Sequence[Json]:
    """Return a list, empty where it is absent or null.

    Raises:
        MalformedFacts: it is something else.
    """
    value = get(facts, path)
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise MalformedFacts(path, "a list")
    return value


def texts(facts: Json, path: str) -> tuple[str, ...]:
    """Return a list of strings, empty where it is absent or null.

    Raises:
        MalformedFacts: it is something else.
    """
    return tuple(_text_at(value, f"{path}.{index}") for index, value in enumerate(items(facts, path)))


def objects(facts: Json, path: str) -> tuple[Facts, ...]:
    """Return a list of objects, empty where it is absent or null.

    Raises:
        MalformedFacts: it is something else.
    """
    return tuple(_object_at(value, f"{path}.{index}") for index, value in enumerate(items(facts, path)))


def mapping(facts: Json, path: str) -> Facts:
    """Return an object, empty where it is absent or null.

    Raises:
        MalformedFacts: it is something else.
    """
    value = get(facts, path)
    return _EMPTY if value is None else _object_at(value, path)


def _text_at(value: Json, path: str) -> str:
    """Return ``value`` if it is a string."""
    if not isinstance(value, str):
        raise MalformedFacts(path, "a string")
    return value


def _object_at(value: Json, path: str) -> Facts:
    """Return ``value`` if it is an object."""
    if not isinstance(value, Mapping):
        raise MalformedFacts(path, "an object")
    return value
