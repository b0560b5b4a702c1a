"""A red team tries to have a run accepted that was not made; each try ends where the laws say.

Here gate ``chain`` has its real rules and facts of an H200, so that values, tier and marks are judged as they
are in earnest.  What nobody can catch is tested too: a run that is made up from beginning to end, values
included, is *intact*; it is anchored by nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from assay import canonical
from assay.errors import PlanError
from assay.evidence import judging
from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.compare import compare_bundles
from assay.evidence.moves import Direction
from assay.evidence.verification import Answer, Integrity, Signer, Verification
from assay.evidence.verify import verify_bundle
from assay.judge import table, tier
from assay.model import Facts, Json, Tier, Verdict
from assay.plan import Plan, check_qualifies, parse_plan, plan_json
from assay.signing import sign_bundle
from tests.evidence import support
from tests.evidence.forging import Document, Members, edit_json, forge
from tests.evidence.keyring import ALICE, MALLORY
from tests.evidence.support import GATES, NONCE, Gate, make_run
from tests.judge import chainfacts

NOW = datetime(2026, 12, 1, tzinfo=UTC)
REAL_GATES = table.GATES
OTHER_NONCE = "f" * 32
NOTHING: Mapping[str, Json] = MappingProxyType({})


@pytest.fixture(autouse=True)
def real_chain(world: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the real rules of gate ``chain`` into the small world."""
    assert world is None
    real = next(row for row in REAL_GATES if row.name == "chain")
    small = [row for row in support.rows() if row.name != "chain"]
    monkeypatch.setattr(table, "GATES", (*small, real))
    monkeypatch.setattr(judging, "derive_tier", tier.derive_tier)


def the_plan(**more: Any) -> Plan:  # noqa: ANN401  # any value of a plan
    return parse_plan({**chainfacts.plan_document(), **more})


def gates(of: Plan, nonce: str = NONCE, chain: Mapping[str, Json] = NOTHING) -> dict[str, Gate]:
    """Return what the gates of an honest run see; the chain's values are of the plan and the nonce."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chainfacts, "DIGEST", canonical.digest(plan_json(of)))
        patch.setattr(chainfacts, "NONCE", nonce)
        facts: Facts = {**chainfacts.healthy_facts(), **chain}
    earlier = {name: Gate(found) for name, found in chainfacts.earlier_facts().items()}
    return {**support.PASSING, **earlier, "chain": Gate(facts)}


def make(folder: Path, of: Plan | None = None, chain: Mapping[str, Json] = NOTHING) -> Bundle:
    """Return an honest bundle, or one whose chain saw something else."""
    plan = of or the_plan()
    return write_bundle(make_run(folder, of=plan, changed=gates(plan, chain=chain)))


@pytest.fixture
def honest(tmp_path: Path) -> Bundle:
    return make(tmp_path / "honest")


def told(bundle: Bundle, **wanted: Any) -> Verification:  # noqa: ANN401  # as verify_bundle takes it
    """Verify a bundle whose digest was told another way: the most that a forger can hope for."""
    return verify_bundle(bundle.path, expect_digest=bundle.digest, now=NOW, **wanted)


def seen(path: Path) -> Verification:
    """Verify what was sent, accepting what is unanchored: the least that a reader asks."""
    return verify_bundle(path, accept=["unanchored", "rehearsed"], now=NOW)


def test_the_honest_run_is_the_one_that_qualifies(honest: Bundle) -> None:
    verified = told(honest)
    assert verified.problems == ()
    assert (verified.verdict, verified.tier, verified.exit_code) == (Verdict.QUALIFIED, Tier.PHYSICAL, 0)


# ------------------------------------------------------------------------------------ a plan without a chain


def test_a_plan_without_a_chain_cannot_be_qualified_nor_ever_is(tmp_path: Path) -> None:
    rest = [gate for gate in GATES if gate != "chain"]
    hollow = the_plan(gates=rest, deadlines={}, claim=[])
    with pytest.raises(PlanError, match="lacks chain"):
        check_qualifies(hollow)
    bundle = write_bundle(make_run(tmp_path, of=hollow, changed=gates(hollow)))
    verified = told(bundle)
    assert (verified.intact, verified.verdict, verified.exit_code) == (True, Verdict.UNDECIDED, 3)
    assert verified.claims.established == ()
    path = forge(bundle.path, tmp_path / "f.tar", lambda manifest, _: manifest.update(verdict="qualified"))
    assert seen(path).exit_code == 4


# -------------------------------------------------------------------------------------- a hand-written bundle


def test_a_run_made_up_from_beginning_to_end_is_intact_and_anchored_by_nothing(tmp_path: Path) -> None:
    """Whoever computes every value and copies every fact of a real machine cannot be caught by digests."""
    bundle = make(tmp_path)
    verified = verify_bundle(bundle.path, now=NOW)
    assert (verified.integrity, verified.verdict) == (Integrity.INTACT, Verdict.QUALIFIED)
    assert (verified.anchored, verified.exit_code) == (False, 3)
    sign_bundle(bundle.path, MALLORY)
    assert verify_bundle(bundle.path, now=NOW).exit_code == 3
    verified = verify_bundle(bundle.path, key=ALICE.public, now=NOW)
    assert (verified.signer, verified.exit_code) == (Signer.INVALID, 4)


def test_made_up_facts_that_say_little_come_to_little(tmp_path: Path) -> None:
    made_up: tuple[Facts, ...] = ({}, {"tier": "physical"}, {"chains": []}, {"findings": []})
    for facts in made_up:
        plan = the_plan()
        changed = {**gates(plan), "chain": Gate(facts)}
        verified = told(write_bundle(make_run(tmp_path / repr(sorted(facts))[:9], of=plan, changed=changed)))
        assert verified.intact
        assert verified.verdict is not Verdict.QUALIFIED
        assert verified.exit_code in {1, 3}


# -------------------------------------------------------------------------------------------- canned values


def test_canned_values_are_not_this_runs(tmp_path: Path) -> None:
    plan = the_plan()
    canned = {**gates(plan), "chain": gates(plan, OTHER_NONCE)["chain"]}
    bundle = write_bundle(make_run(tmp_path, of=plan, changed=canned))
    verified = told(bundle)
    assert (verified.intact, verified.verdict, verified.exit_code) == (True, Verdict.REJECTED, 1)

    def passed(manifest: Document, members: Members) -> None:
        edit_json(members, "chain.json", lambda value: value.update(outcome="passed", findings=[]))
        manifest.update(verdict="qualified")

    forged = seen(forge(bundle.path, tmp_path / "forged.tar", passed))
    assert forged.exit_code == 4
    assert [step.number for step in forged.steps if step.answer is Answer.FAILED][:2] == [6, 7]


# ---------------------------------------------------------------------------------------- a replayed nonce


def test_an_old_run_shown_again_is_old_and_lacks_the_challenge(honest: Bundle) -> None:
    assert told(honest, challenge="beef").exit_code == 3
    assert told(honest, not_older_than=timedelta(hours=1)).exit_code == 3


def test_values_of_another_run_do_not_fit_a_new_nonce_or_challenge(tmp_path: Path, honest: Bundle) -> None:
    def renamed(nonce: str, challenge: str) -> Callable[[Document, Members], None]:
        def edit(manifest: Document, members: Members) -> None:
            run = f"20261130T120000Z-{nonce[:8]}"
            change = {"challenge": challenge, "nonce": nonce, "run": run}
            edit_json(members, "plan.json", lambda value: value.update(change))
            manifest.update(run=run)

        return edit

    for number, edit in enumerate((renamed(OTHER_NONCE, ""), renamed(NONCE, "beef"))):
        verified = seen(forge(honest.path, tmp_path / f"{number}.tar", edit))
        assert verified.exit_code == 4
        assert any(each.member == "chain.json" for each in verified.problems)


def test_the_nonce_of_another_run_is_seen_by_whoever_compares_two(tmp_path: Path, honest: Bundle) -> None:
    """Two runs of one nonce are consistent each; the values of both are then the same, fresh ones too."""
    other = make(tmp_path / "other")
    assert (told(honest).exit_code, told(other).exit_code) == (0, 0)
    assert honest.digest == other.digest


# ------------------------------------------------------------------------------- receipts edited and linked


EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "another GPU": lambda facts: facts["nvml"]["after"]["gpus"][0].update(uuid="GPU-0"),
    "no device node": lambda facts: facts.update(device_nodes=[]),
    "another provider mapped": lambda facts: [
        each.update(sha256="0" * 64) for each in facts["mapped"] if each["path"] == "$BUV_RUNTIME_LIB"
    ],
    "a value": lambda facts: facts["chains"][0]["stages"][2]["canonical"].__setitem__(3, "00000000"),
    "a stage less": lambda facts: facts["chains"][0]["stages"].pop(),
    "a preload": lambda facts: facts["child"]["hello"]["environment"].append("LD_PRELOAD"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edited_facts_no_longer_come_to_what_the_receipt_says(
    tmp_path: Path, honest: Bundle, edit: Callable[[dict[str, Any]], object]
) -> None:
    def change(_manifest: Document, members: Members) -> None:
        edit_json(members, "chain.json", lambda value: edit(value["facts"]))  # type: ignore[arg-type]  # an object

    sign_bundle(honest.path, ALICE)
    path = forge(honest.path, tmp_path / "forged.tar", change)
    assert seen(path).exit_code == 4
    attestations = honest.path.with_suffix(".intoto.jsonl")
    signed = verify_bundle(path, key=ALICE.public, attestations=attestations, now=NOW)
    assert (signed.anchored, signed.exit_code) == (False, 4)


def test_an_edit_that_changes_no_judgement_is_caught_by_anchors_alone(tmp_path: Path, honest: Bundle) -> None:
    """A duration proves nothing: nobody can tell that it was edited, but a signature and a digest can."""

    def faster(_manifest: Document, members: Members) -> None:
        edit_json(members, "chain.json", lambda value: value.update(duration_ns=0))

    sign_bundle(honest.path, ALICE)
    path = forge(honest.path, tmp_path / "forged.tar", faster)
    assert seen(path).exit_code == 0
    assert verify_bundle(path, expect_digest=honest.digest, now=NOW).exit_code == 4
    attestations = honest.path.with_suffix(".intoto.jsonl")
    assert verify_bundle(path, key=ALICE.public, attestations=attestations, now=NOW).exit_code == 4


# --------------------------------------------------------------------------------- a rehearsal is relabelled


def _tier(name: str) -> Callable[[Document, Members], None]:
    def edit(manifest: Document, members: Members) -> None:
        def plan(value: Document) -> None:
            given = value["plan"]
            assert isinstance(given, Mapping)
            value["plan"] = {**given, "tier": name}

        edit_json(members, "plan.json", plan)
        manifest.update(tier=name, verdict="qualified")

    return edit


def test_a_rehearsal_cannot_be_called_anything_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "GATES", support.rows())
    monkeypatch.setattr(judging, "derive_tier", support.tier_of)
    rehearsed = {"chain": Gate({"tier": "rehearsal"})}
    bundle = write_bundle(make_run(tmp_path, of=support.plan(tier="rehearsal"), changed=rehearsed))
    sign_bundle(bundle.path, ALICE)
    for name in ("physical", "wsl", "rehearsal"):
        verified = seen(forge(bundle.path, tmp_path / "forged.tar", _tier(name)))
        assert (verified.verdict, verified.exit_code) == (Verdict.UNDECIDED, 4)
    verified = verify_bundle(bundle.path, key=ALICE.public, now=NOW)
    assert (verified.signer, verified.verdict, verified.exit_code) == (Signer.VALID, Verdict.REHEARSED, 3)


@pytest.mark.parametrize("lacking", ["device_nodes", "nvml", "proc", "devices", "mapped"])
def test_a_tier_is_no_label_but_all_its_marks(tmp_path: Path, lacking: str) -> None:
    nothing: Json = [] if lacking in {"device_nodes", "mapped"} else {}
    bundle = make(tmp_path, chain={lacking: nothing})
    verified = told(bundle)
    assert (verified.intact, verified.tier) == (True, None)
    assert verified.exit_code in {1, 3}
    path = forge(bundle.path, tmp_path / "forged.tar", lambda manifest, _: manifest.update(tier="physical"))
    assert seen(path).exit_code == 4


# -------------------------------------------------------------------------------------- a newer tool version


def test_a_newer_version_excuses_nothing(tmp_path: Path, honest: Bundle) -> None:
    def newer(manifest: Document, members: Members) -> None:
        manifest.update(tool={"name": "assay", "version": "99.0"})
        edit_json(members, "lint.json", lambda value: value.update(outcome="failed"))

    assert seen(forge(honest.path, tmp_path / "a.tar", newer)).exit_code == 4


@pytest.mark.parametrize("schema", ["plan", "receipt", "manifest"])
def test_a_newer_schema_is_neither_believed_nor_called_broken(
    tmp_path: Path, honest: Bundle, schema: str
) -> None:
    def newer(manifest: Document, members: Members) -> None:
        change = {"schema": f"assay/{schema}/2"}
        if schema == "manifest":
            manifest.update(change)
        else:
            name = "plan.json" if schema == "plan" else "lint.json"
            edit_json(members, name, lambda value: value.update(change))

    verified = seen(forge(honest.path, tmp_path / "forged.tar", newer))
    assert (verified.integrity, verified.exit_code) == (Integrity.NEWER, 3)
    assert verified.claims.established == ()


# ----------------------------------------------------------------------------------------- a loosened plan


LOOSENED: dict[str, dict[str, object]] = {
    "a gate less": {"gates": [gate for gate in GATES if gate != "lint"], "command": []},
    "any version": {"versions": {}},
    "an unclean tree": {"allow-unclean-tree": True},
    "another pin": {
        "provider": [
            *chainfacts.plan_document()["provider"],
            {"interface": "wgpu-native", "name": "x", "platform": "linux", "sha256": "0" * 64, "symbols": []},
        ]
    },
}


@pytest.mark.parametrize("loosened", LOOSENED.values(), ids=LOOSENED)
def test_a_loosened_plan_qualifies_only_for_who_does_not_bring_a_plan(
    tmp_path: Path, honest: Bundle, loosened: dict[str, object]
) -> None:
    loose = make(tmp_path / "loose", the_plan(**loosened))
    assert told(loose).exit_code == 0
    verified = told(loose, plan=the_plan())
    assert (verified.intact, verified.policy.answer, verified.exit_code) == (True, Answer.FAILED, 3)
    comparison = compare_bundles(honest.path, loose.path, NOW)
    assert comparison.exit_code == 1
    assert comparison.bar[0].direction is Direction.LOWERED


def test_a_plan_loosened_afterwards_no_longer_fits_its_values(tmp_path: Path, honest: Bundle) -> None:
    """The plan's digest is mixed into the fresh values."""

    def loosen(_manifest: Document, members: Members) -> None:
        def plan(value: Document) -> None:
            given = value["plan"]
            assert isinstance(given, Mapping)
            value["plan"] = {**given, "allow-unclean-tree": True}

        edit_json(members, "plan.json", plan)

    verified = seen(forge(honest.path, tmp_path / "forged.tar", loosen))
    assert verified.exit_code == 4
    assert next(step.number for step in verified.steps if step.answer is Answer.FAILED) in {6, 7}
