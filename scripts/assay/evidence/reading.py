"""Typed reading of a bundle's documents with the plan's own reader; errors name member and field."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from assay.errors import BundleError, PlanError
from assay.evidence.times import PATTERN, read_time
from assay.plan.reading import SHA256, Table

REMEDY = "ask for an unaltered copy"


@contextlib.contextmanager
def document_errors(member: str) -> Iterator[None]:
    """Turn what the plan's reader raises inside the block into a ``BundleError`` of that member."""
    try:
        yield
    except PlanError as error:
        observed = error.observed.removeprefix(f"{error.path}: ")
        raise BundleError(observed, error.expected, REMEDY, member=member, field=error.path) from error
    except RecursionError as error:
        raise BundleError("is nested too deeply", "a flat document", REMEDY, member=member) from error


def sha256_of(table: Table, key: str) -> str:
    """Return a SHA-256 (64 hex digits in lower case).

    Raises:
        PlanError: it is not one.
    """
    return table.text(key, match=SHA256.pattern)


def time_of(table: Table, key: str) -> str:
    """Return a time that is RFC 3339 UTC and exists.

    Raises:
        PlanError: it is not one.
    """
    text = table.text(key, match=PATTERN)
    try:
        read_time(text)
    except ValueError as error:
        raise PlanError(table.at(key), f"is {text!r}", "a time that exists", "") from error
    return text
