"""One entry of the catalogue of findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model import Platform, Severity


@dataclass(frozen=True)
class Entry:
    """A kind of finding.

    Attributes:
        id: stable id in capitals, never reused.
        title: one line that names the cause.
        severity: how much it weighs.
        expected: what should be there, where a judge gives nothing more exact.
        remedy: what to do.
        reference: the specification, manual or law behind it.
        remedies: another remedy on some platforms.
        explains: ids of findings that follow from this one where both are there, and go with it.
    """

    id: str
    title: str
    severity: Severity
    expected: str
    remedy: str
    reference: str
    remedies: Mapping[Platform, str] = field(default_factory=dict)
    explains: tuple[str, ...] = ()
