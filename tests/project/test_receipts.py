"""Every bundle that is released with the project still verifies, and is the one that its table names."""

from __future__ import annotations

from pathlib import Path

from assay import nox
from assay.evidence.verify import verify_bundle
from assay.model import Outcome, Tier, Verdict
from tests.project.files import PROJECT, list_tracked, rejected_bundle

RECEIPTS = PROJECT / "receipts"
NAMED = nox.released(RECEIPTS)

REJECTED = "9be5367f37415061ce10bdac2f47f7916278483034fd5a1a781c2229ab0153c1"

MAX_BYTES = 5_000_000
"""A released bundle stays small enough to be kept in the repository."""


def released() -> list[Path]:
    """Return the released bundles; what else lies there is the user's own."""
    return [RECEIPTS / name for name in sorted(NAMED)]


def test_every_released_bundle_verifies_and_is_the_one_that_is_named() -> None:
    committed = [name for name in list_tracked() or [] if name.startswith("receipts/")]
    assert {Path(name).name for name in committed if name.endswith(".tar")} <= set(NAMED)
    assert NAMED
    for path in released():
        verified = verify_bundle(path, expect_digest=NAMED[path.name])
        assert verified.intact, path
        assert verified.bundle_digest == NAMED[path.name]
        assert path.stat().st_size < MAX_BYTES


def test_the_rejected_run_misses_one_bound_and_nothing_else() -> None:
    verified = verify_bundle(rejected_bundle(), expect_digest=REJECTED)
    assert (verified.intact, verified.verdict, verified.tier) == (True, Verdict.REJECTED, Tier.PHYSICAL)
    failed = {gate for gate, outcome in verified.outcomes.items() if outcome is not Outcome.PASSED}
    assert failed == {"throughput"}


def test_one_of_them_qualifies_on_a_physical_machine() -> None:
    verified = [verify_bundle(path) for path in released()]
    qualified = [
        each for each in verified if each.verdict is Verdict.QUALIFIED and each.tier is Tier.PHYSICAL
    ]
    assert qualified
