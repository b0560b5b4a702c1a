"""A bundle is qualified only when everything in it follows from its own facts, and somebody anchored it."""

from __future__ import annotations

from pathlib import Path

from assay.evidence.bundle import write_bundle
from assay.evidence.verification import Integrity
from assay.evidence.verify import verify_bundle
from assay.model import Verdict
from tests.evidence.support import make_run


def test_a_passing_run_is_qualified(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path))
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    assert verified.problems == ()
    assert verified.integrity is Integrity.INTACT
    assert verified.verdict is Verdict.QUALIFIED
    assert verified.exit_code == 0
