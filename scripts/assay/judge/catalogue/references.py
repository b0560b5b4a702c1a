"""Findings of gate ``references``: the documents that the plan cites."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_HTTP = "RFC 9110, section 15: status codes"
_PLAN = "plan: reference"

ENTRIES = (
    Entry(
        "REFERENCES-NONE",
        "the plan cites no document",
        Severity.FAILURE,
        "at least one [[tool.assay.reference]]",
        "cite the documents that the plan relies on, or take the gate out of the plan",
        _PLAN,
    ),
    Entry(
        "REFERENCES-UNCHECKED",
        "a cited document was not checked",
        Severity.ERROR,
        "a record of every document that the plan cites",
        "run the gate again",
        _PLAN,
    ),
    Entry(
        "REFERENCES-OFFLINE",
        "a cited document could not be reached",
        Severity.UNAVAILABLE,
        "an answer over HTTP, within the gate's bounds of size and time",
        "run the gate on a machine with a network, or take it out of the plan: it is optional",
        _PLAN,
    ),
    Entry(
        "REFERENCES-BUSY",
        "a cited document's server is in trouble",
        Severity.UNAVAILABLE,
        "status 200",
        "run the gate again later",
        _HTTP,
    ),
    Entry(
        "REFERENCES-GONE",
        "a cited document is not there",
        Severity.FAILURE,
        "status 200",
        "cite the document's present address, and see whether what it says has changed",
        _HTTP,
    ),
)
