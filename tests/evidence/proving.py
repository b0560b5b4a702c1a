"""Checking that a bundle is broken where it should be."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from assay.evidence.verification import Answer, Integrity, Verification
from assay.evidence.verify import verify_bundle
from assay.model import Json, Verdict
from tests.evidence.forging import Document, Members

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def broken(path: Path, at: str, field: str = "", *, says: str = "", step: int = 0) -> Verification:
    """Verify, and check that it is broken where it should be, and that nothing it says is passed on."""
    verified = verify_bundle(path, accept=("unanchored", "rehearsed"), now=NOW)
    assert verified.integrity is Integrity.BROKEN, verified.to_json()
    assert verified.exit_code == 4
    assert verified.verdict is Verdict.UNDECIDED
    assert (verified.tier, verified.outcomes, verified.claims.established) == (None, {}, ())
    places = [(problem.member, problem.field) for problem in verified.problems]
    assert (at, field) in places, places
    assert any(says in problem.observed + problem.expected for problem in verified.problems)
    if step:
        assert next(each.number for each in verified.steps if each.answer is Answer.FAILED) == step
    return verified


def changed_manifest(**change: Json) -> Callable[[Document, Members], None]:
    """Return an edit that changes fields of the manifest."""
    return lambda manifest, _members: manifest.update(change)
