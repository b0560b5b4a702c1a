"""Asks facts for what a claim rests on: each check raises where something is not recorded."""

from __future__ import annotations

import re
from functools import update_wrapper

from assay.judge.case import Case
from assay.judge.reading import MalformedFacts, flag, items, mapping, text
from assay.judge.row import ClaimText
from assay.model import Facts

_SHA256 = re.compile(r"(?!0{64}\Z)[0-9a-f]{64}")
"""A digest of something: nobody has found bytes whose SHA-256 is zero."""


def of_whole_facts(sentence: ClaimText) -> ClaimText:
    """Return a claim that says so where its facts are malformed: a reader is told, not stopped."""

    def claim(case: Case, facts: Facts) -> str:
        try:
            return sentence(case, facts)
        except MalformedFacts:
            return "nothing: its facts are malformed"

    return update_wrapper(claim, sentence)


def there(facts: Facts, *paths: str) -> None:
    """Check that facts are recorded, be it as null: a gate writes them whatever it saw.

    Raises:
        MalformedFacts: it is otherwise.
    """
    for path in paths:
        above, _, name = path.rpartition(".")
        if name not in (mapping(facts, above) if above else facts):
            raise MalformedFacts(path, "recorded")


def filled(facts: Facts, *paths: str) -> None:
    """Check that texts are not empty.

    Raises:
        MalformedFacts: it is otherwise.
    """
    for path in paths:
        if not text(facts, path):
            raise MalformedFacts(path, "recorded")


def told(facts: Facts, *paths: str) -> None:
    """Check that booleans are recorded.

    Raises:
        MalformedFacts: it is otherwise.
    """
    for path in paths:
        if flag(facts, path) is None:
            raise MalformedFacts(path, "recorded")


def some(facts: Facts, path: str) -> None:
    """Check that a list is not empty.

    Raises:
        MalformedFacts: it is otherwise.
    """
    if not items(facts, path):
        raise MalformedFacts(path, "a list with something in it")


def digest(facts: Facts, path: str, at: str = "") -> None:
    """Check that a text is a digest; ``at`` goes before its path in the error.

    Raises:
        MalformedFacts: it is otherwise.
    """
    if not _SHA256.fullmatch(text(facts, path)):
        raise MalformedFacts(f"{at}{path}", "a digest")
