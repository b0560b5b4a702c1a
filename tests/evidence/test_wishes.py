"""What a reader may want besides integrity: a tier, a plan, freshness, a challenge, or less."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay import canonical
from assay.errors import StorageError, UsageError
from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.verification import Answer, Integrity
from assay.evidence.verify import verify_bundle
from assay.judge import table
from assay.model import Tier, Verdict
from tests.evidence.forging import forge
from tests.evidence.proving import NOW, broken, changed_manifest
from tests.evidence.support import GATES, PASSING, STARTED, TWO_RULES, Gate, found, make_run, plan, rows


@pytest.fixture
def honest(tmp_path: Path) -> Bundle:
    return write_bundle(make_run(tmp_path))


def _rehearsal(tmp_path: Path) -> Bundle:
    folder = make_run(tmp_path, of=plan(tier="rehearsal"), changed={"chain": Gate({"tier": "rehearsal"})})
    return write_bundle(folder)


@pytest.mark.gate
def test_a_rehearsal_counts_only_where_it_is_accepted_and_never_says_qualified(tmp_path: Path) -> None:
    bundle = _rehearsal(tmp_path)
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    assert (verified.verdict, verified.tier, verified.exit_code) == (Verdict.REHEARSED, Tier.REHEARSAL, 3)
    assert verify_bundle(bundle.path, expect_digest=bundle.digest, accept=["rehearsed"]).exit_code == 0
    assert verify_bundle(bundle.path, accept=["rehearsed"]).exit_code == 3
    assert "qualified" not in canonical.dumps(verified.to_json()).decode()
    for edit in (
        changed_manifest(verdict="qualified"),
        changed_manifest(verdict="qualified", tier="physical"),
    ):
        broken(forge(bundle.path, tmp_path / "forged.tar", edit), "manifest.json", "verdict", step=8)


@pytest.mark.gate
def test_another_tier_than_the_readers_fails_policy(honest: Bundle) -> None:
    for tier, code in ((Tier.PHYSICAL, 0), (Tier.WSL, 3), (Tier.REHEARSAL, 3)):
        verified = verify_bundle(honest.path, expect_digest=honest.digest, tier=tier)
        assert (verified.exit_code, verified.intact) == (code, True)


def test_a_rejected_bundle_stays_1_whatever_the_reader_wants(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path, changed={"lint": Gate({"findings": [found()]})}))
    assert verify_bundle(bundle.path, tier=Tier.WSL).exit_code == 1
    assert verify_bundle(bundle.path, expect_digest=bundle.digest).exit_code == 1


@pytest.mark.gate
def test_another_plan_than_the_readers_fails_policy_and_says_where(honest: Bundle) -> None:
    def code(wanted: object) -> tuple[int, tuple[str, ...]]:
        verified = verify_bundle(honest.path, expect_digest=honest.digest, plan=plan(**wanted))  # type: ignore[arg-type]  # keys of a plan
        return verified.exit_code, verified.policy.reasons

    assert code({}) == (0, ())
    stricter = {"versions": {"linux": {"python": ">=3.12", "cuda": "==13.0.*"}}, "disclose": ["host-name"]}
    assert code(stricter) == (
        3,
        ("the plan differs at disclose", "the plan differs at versions.linux.python"),
    )
    many = {
        "chains": {"linux": ["pipeline"], "wsl": ["pipeline"]},
        "msvc-toolset": "14.44",
        "tier": "rehearsal",
    }
    more = {"project": "x", "modules": ["y"], "smoke": ["z"], "deadlines": {"chain": 1}}
    assert code({**many, **more})[1][-1] == "and at 2 more places"


@pytest.mark.gate
def test_todays_rules_decide_policy_and_the_receipts_rules_integrity(
    honest: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {name: Gate({**PASSING[name].facts, "old": name == "lint"}) for name in GATES}
    aged = write_bundle(make_run(tmp_path / "aged", changed=old))
    monkeypatch.setattr(table, "GATES", rows(TWO_RULES))
    still = verify_bundle(honest.path, expect_digest=honest.digest)
    assert (still.integrity, still.policy.answer, still.exit_code) == (Integrity.INTACT, Answer.PASSED, 0)
    verified = verify_bundle(aged.path, expect_digest=aged.digest)
    assert (verified.integrity, verified.verdict) == (Integrity.INTACT, Verdict.QUALIFIED)
    assert verified.policy.reasons == ("by today's rules the run is rejected",)
    assert verified.exit_code == 3


AGES = {
    "in time": (NOW, timedelta(days=1), 0),
    "too old": (NOW, timedelta(hours=11), 3),
    "just now": (datetime(2026, 11, 30, 12, tzinfo=UTC), timedelta(0), 0),
    "clocks a little apart": (datetime(2026, 11, 30, 11, 56, tzinfo=UTC), timedelta(0), 0),
    "from the future": (datetime(2026, 11, 30, 11, 54, tzinfo=UTC), timedelta(days=9), 3),
}


@pytest.mark.gate
@pytest.mark.parametrize(("now", "age", "code"), AGES.values(), ids=AGES)
def test_a_run_may_be_too_old(honest: Bundle, now: datetime, age: timedelta, code: int) -> None:
    verified = verify_bundle(honest.path, expect_digest=honest.digest, now=now, not_older_than=age)
    assert (verified.exit_code, verified.intact) == (code, True)
    assert verified.freshness.answer is (Answer.FAILED if code else Answer.PASSED)
    assert STARTED in "".join(verified.freshness.reasons) or not code


@pytest.mark.gate
def test_a_run_has_to_have_mixed_in_the_readers_challenge(tmp_path: Path, honest: Bundle) -> None:
    challenged = write_bundle(make_run(tmp_path / "challenged", challenge="beef"))
    for bundle, challenge, code in ((challenged, "beef", 0), (challenged, "cafe", 3), (honest, "beef", 3)):
        verified = verify_bundle(bundle.path, expect_digest=bundle.digest, challenge=challenge)
        assert verified.exit_code == code


MISTYPED: dict[str, dict[str, object]] = {
    "digest in capitals": {"expect_digest": "A" * 64},
    "half a digest": {"expect_digest": "a" * 63},
    "accepting anything": {"accept": ["anything"]},
    "empty challenge": {"challenge": ""},
    "challenge that is no hex": {"challenge": "xyz"},
    "an age below 0": {"not_older_than": timedelta(days=-1)},
}


@pytest.mark.parametrize("options", MISTYPED.values(), ids=MISTYPED)
def test_mistyped_options_are_usage_errors(honest: Bundle, options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        verify_bundle(honest.path, **options)  # type: ignore[arg-type]  # each option has its own type


def test_a_file_that_is_not_there_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        verify_bundle(tmp_path / "missing.tar")
