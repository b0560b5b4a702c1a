"""Judges gate ``references``: every document that the plan cites was there, on the date of the check.

The gate is optional.  Where it is planned, a machine without a network cannot show anything, so its outcome
is ``unavailable``, never a pass; a document that is gone is a failure; a server that is busy or refuses this
client says nothing about the document.

Facts (``gates.references`` writes them)::

    documents [{title, url, checked, status, sha256, size, problem}]

``checked`` is the time of the check, ``sha256`` and ``size`` are of the body; ``problem`` says why there is
no answer, and ``status`` is then null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import number, objects, text
from assay.model import Facts, Finding

RULES = 1

_OK = 200
_GONE = frozenset({400, 404, 410, 451})
"""Statuses that are about the document (RFC 9110, section 15.5; RFC 7725).  Others are about the server, or
about this client (401, 403, 407, 429, 5xx)."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return which cited documents were not seen."""
    if not case.plan.references:
        return (finding("REFERENCES-NONE", "the plan has no reference", where=("documents",)),)
    return tuple(_documents(case, facts))


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    found = {text(each, "url"): each for each in objects(facts, "documents")}
    seen = [(cited.url, found.get(cited.url, {})) for cited in case.plan.references]
    told = "; ".join(
        f"{url} on {text(each, 'checked')[:10]} (SHA-256 {text(each, 'sha256')})" for url, each in seen
    )
    return f"the {len(seen)} cited documents were there: {told}"


def _documents(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find cited documents that were not seen."""
    found = {text(each, "url"): each for each in objects(facts, "documents")}
    for cited in case.plan.references:
        each = found.get(cited.url, {})
        status, problem = number(each, "status"), text(each, "problem")
        if problem:
            yield finding("REFERENCES-OFFLINE", f"{cited.title}: {problem}", where=(cited.url,))
        elif status is None or not _TIME.fullmatch(text(each, "checked")):
            yield finding("REFERENCES-UNCHECKED", f"{cited.title}: no record", where=(cited.url,))
        elif status != _OK:
            entry = "REFERENCES-GONE" if status in _GONE else "REFERENCES-BUSY"
            yield finding(entry, f"{cited.title}: status {status}", where=(cited.url,))
        elif not _SHA256.fullmatch(text(each, "sha256")):
            yield finding("REFERENCES-UNCHECKED", f"{cited.title}: no digest", where=(cited.url,))
