"""Observes gate ``references``: asks for every document that the plan cites and digests what comes.

Each document is bounded in size and time and asked for one after the other; what cannot be reached is a
fact, for it is not the gate that broke.  ``judge.references`` has the form of the facts.
"""

from __future__ import annotations

import datetime as dt
import hashlib

from assay.download import Limits, attempts, open_download
from assay.errors import FetchError
from assay.evidence.times import write_time
from assay.gates.context import Context
from assay.model import Facts, Json
from assay.plan.values import Reference

LIMITS = Limits(size=64 << 20, seconds=30, silence_s=10, retries=1)
"""A cited page is a few hundred kB; a specification as PDF may have tens of MB."""


def observe(context: Context) -> Facts:
    """Return what ``judge.references`` reads."""
    return {"documents": [check(reference, LIMITS) for reference in context.plan.references]}


def check(reference: Reference, limits: Limits) -> dict[str, Json]:
    """Return what one document's address answers now."""
    told: dict[str, Json] = {
        "checked": write_time(dt.datetime.now(dt.UTC)),
        "problem": "",
        "title": reference.title,
        "url": reference.url,
    }
    try:
        return {**told, **attempts(lambda: _answer(reference.url, limits), limits)}
    except FetchError as error:
        return {**told, "problem": error.observed, "sha256": "", "size": 0, "status": None}


def _answer(url: str, limits: Limits) -> dict[str, Json]:
    """Return status, digest and size.

    Raises:
        FetchError: there is no answer, or its body is too large, too slow or breaks off.
    """
    digest, size = hashlib.sha256(), 0
    with open_download(url, limits) as download:
        for chunk in download.chunks:
            digest.update(chunk)
            size += len(chunk)
        return {"sha256": digest.hexdigest(), "size": size, "status": download.status}
