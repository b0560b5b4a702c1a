"""Findings that any gate can have."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

ENTRIES = (
    Entry(
        "GATE-BROKE",
        "the gate itself broke",
        Severity.ERROR,
        "a gate that ends with facts",
        "read the gate's log; if the machine is sound, report the log as a defect of assay",
        "DESIGN: a deadline or a crash is an error",
    ),
    Entry(
        "GATE-DEADLINE",
        "the gate outlived its deadline",
        Severity.ERROR,
        "an end within the deadline",
        "find what hangs in the gate's log, or raise deadlines.<gate> in the plan",
        "DESIGN: a deadline or a crash is an error",
    ),
    Entry(
        "FACTS-MALFORMED",
        "a recorded fact has another type than the gate writes",
        Severity.ERROR,
        "facts as the gate writes them",
        "the receipt was edited or written by a defective assay: qualify again",
        "FORMATS: Receipt",
    ),
)
