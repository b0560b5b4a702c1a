"""Every bundle that is released with the project still verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.evidence.verify import verify_bundle
from assay.model import Tier, Verdict
from tests.project.files import PROJECT

BUNDLES = sorted((PROJECT / "receipts").glob("*.tar"))

MAX_BYTES = 5_000_000
"""A released bundle stays small enough to be kept in the repository."""


def test_there_is_a_bundle_of_a_physical_machine() -> None:
    verified = [verify_bundle(path) for path in BUNDLES]
    qualified = [
        each for each in verified if each.verdict is Verdict.QUALIFIED and each.tier is Tier.PHYSICAL
    ]
    assert qualified


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.stem)
def test_a_released_bundle_verifies(bundle: Path) -> None:
    verified = verify_bundle(bundle)
    assert verified.intact
    assert bundle.stat().st_size < MAX_BYTES
