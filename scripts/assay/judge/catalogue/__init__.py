"""The catalogue: every finding that assay can report, in one authored table, one module a gate."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.judge.catalogue import (
    abi,
    build,
    chain,
    command,
    common,
    driver,
    environment,
    hosted,
    installed,
    measures,
    provider,
    references,
    rehearsal,
    toolkit,
    vulkan,
)
from assay.judge.catalogue.entry import Entry
from assay.model import Finding, Platform

_MODULES = (
    common,
    environment,
    toolkit,
    driver,
    provider,
    abi,
    vulkan,
    build,
    chain,
    hosted,
    command,
    installed,
    measures,
    references,
)

CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {entry.id: entry for module in (*_MODULES, rehearsal) for entry in module.ENTRIES}
)


def finding(
    entry_id: str,
    observed: str,
    *,
    expected: str = "",
    where: tuple[str, ...] = (),
    platform: Platform | None = None,
) -> Finding:
    """Return a finding of the catalogue.

    Args:
        entry_id: an id of the catalogue.
        observed: what was seen.
        expected: what should have been seen; the entry's own where it is empty.
        where: where each fact was found.
        platform: chooses the remedy where it differs by platform.

    Raises:
        KeyError: the id is not in the catalogue (a defect, found by the tests).
    """
    entry = CATALOGUE[entry_id]
    remedy = entry.remedies.get(platform, entry.remedy) if platform else entry.remedy
    return Finding(entry.id, entry.severity, observed, expected or entry.expected, remedy, where)


__all__ = ["CATALOGUE", "Entry", "finding"]
