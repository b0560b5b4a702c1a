"""A key anchors a bundle only where every attestation is its own, of this bundle, and none is missing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import canonical
from assay.errors import BundleError, StorageError, UsageError
from assay.evidence.attestation import check_attestations
from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.dsse import Envelope, sign_statement
from assay.evidence.keys import PublicKey
from assay.evidence.show import verification_lines
from assay.evidence.statement import PROVENANCE, QUALIFICATION, TEST_RESULT
from assay.evidence.verification import Answer, Integrity, Signer, Verification
from assay.evidence.verify import verify_bundle
from assay.model import Json, Verdict
from assay.signing import shown_of
from tests.evidence.every_byte import remembered_signatures
from tests.evidence.forging import forge
from tests.evidence.keyring import ALICE, MALLORY, envelopes, respelled, signed, statement_of
from tests.evidence.support import PASSING, Gate, found, make_run, plan

NOW = datetime(2026, 12, 1, tzinfo=UTC)
BUILT = Gate({"origin": "built", "revision": "a" * 40}, artifacts={"thing.whl": b"wheel bytes"})


@pytest.fixture
def honest(tmp_path: Path) -> tuple[Bundle, Path]:
    """Return a bundle that has all three statements, and its attestations."""
    return signed(tmp_path, write_bundle(make_run(tmp_path, changed={"build": BUILT})))


def verify(
    bundle: Bundle | Path, key: PublicKey | None = ALICE.public, attestations: Path | None = None
) -> Verification:
    path = bundle if isinstance(bundle, Path) else bundle.path
    return verify_bundle(path, key=key, attestations=attestations, now=NOW)


def invalid(bundle: Bundle, says: str = "") -> None:
    """Verify, and check that the bundle is intact and its attestations are not."""
    verified = verify(bundle)
    assert (verified.integrity, verified.signer) == (Integrity.INTACT, Signer.INVALID)
    assert (verified.anchored, verified.exit_code) == (False, 4)
    assert says in verified.signer_detail, verified.signer_detail


def test_the_readers_key_anchors_a_bundle(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    assert path.name == f"{bundle.path.stem}.intoto.jsonl"
    verified = verify(bundle)
    assert (verified.signer, verified.anchored, verified.exit_code) == (Signer.VALID, True, 0)
    assert verified.signer_key == ALICE.public.id
    assert "signed 3 statements" in verified.signer_detail
    assert verified.steps[9].answer is Answer.PASSED
    assert any(line == "anchor: your key vouches for this bundle" for line in verification_lines(verified))


def test_an_unsigned_bundle_is_allowed_said_loudly_and_never_anchored(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path))
    for key, answer in ((None, Answer.NOT_ASKED), (ALICE.public, Answer.FAILED)):
        verified = verify(bundle, key)
        assert (verified.signer, verified.anchored, verified.exit_code) == (Signer.UNSIGNED, False, 3)
        assert verified.steps[9].answer is answer
        assert any(
            line.startswith("signer: unsigned: nobody vouches") for line in verification_lines(verified)
        )
    assert verify_bundle(bundle.path, key=ALICE.public, accept=["unanchored"]).exit_code == 0


def test_without_a_key_attestations_are_not_even_read(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    path.write_bytes(b"anything")
    verified = verify(bundle, None)
    assert (verified.signer, verified.anchored, verified.exit_code) == (Signer.UNCHECKED, False, 3)


def test_another_key_does_not_vouch_and_nothing_widens_that(honest: tuple[Bundle, Path]) -> None:
    bundle, _ = honest
    verified = verify_bundle(bundle.path, key=MALLORY.public, accept=["unanchored", "rehearsed"])
    assert (verified.signer, verified.exit_code) == (Signer.INVALID, 4)
    told = verify_bundle(bundle.path, key=MALLORY.public, expect_digest=bundle.digest)
    assert (told.anchored, told.exit_code) == (True, 4)


def test_attestations_may_lie_elsewhere(honest: tuple[Bundle, Path], tmp_path: Path) -> None:
    bundle, path = honest
    elsewhere = path.rename(tmp_path / "sent-later.jsonl")
    assert verify(bundle).signer is Signer.UNSIGNED
    assert verify(bundle, attestations=elsewhere).exit_code == 0
    with pytest.raises(StorageError):
        verify(bundle, attestations=tmp_path / "absent")
    with pytest.raises(UsageError, match="without --key"):
        verify(bundle, None, attestations=elsewhere)


def test_a_renamed_bundle_keeps_its_attestations(honest: tuple[Bundle, Path], tmp_path: Path) -> None:
    bundle, path = honest
    path.rename(tmp_path / "mine.intoto.jsonl")
    assert verify(bundle.path.rename(tmp_path / "mine.tar")).exit_code == 0


def test_a_rejected_bundle_that_is_signed_stays_rejected(tmp_path: Path) -> None:
    failing = {"lint": Gate({"findings": [found()]})}
    bundle, _ = signed(tmp_path, write_bundle(make_run(tmp_path, changed=failing)))
    verified = verify(bundle)
    assert (verified.signer, verified.verdict, verified.exit_code) == (Signer.VALID, Verdict.REJECTED, 1)


def test_signing_does_not_change_the_bundle(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path))
    before = bundle.path.read_bytes()
    signed(tmp_path, bundle)
    assert bundle.path.read_bytes() == before


# ------------------------------------------------------------------------------------- every change is seen


def test_every_changed_byte_of_the_lines_that_the_first_names_is_detected(
    honest: tuple[Bundle, Path],
) -> None:
    """What is changed in the first line is tried in ``test_every_byte``."""
    bundle, path = honest
    data = bytearray(path.read_bytes())
    with shown_of(bundle.path) as shown, remembered_signatures():
        assert check_attestations(bytes(data), "file", ALICE.public, shown) == 3
        for at in range(data.index(b"\n") + 1, len(data)):
            data[at] ^= 1 << at % 8
            with pytest.raises(BundleError):
                check_attestations(bytes(data), "file", ALICE.public, shown)
            data[at] ^= 1 << at % 8
        assert check_attestations(bytes(data), "file", ALICE.public, shown) == 3


def test_every_truncation_and_any_appended_byte_of_the_attestations_is_detected(
    honest: tuple[Bundle, Path],
) -> None:
    bundle, path = honest
    data = path.read_bytes()
    ends = [at for at in range(len(data)) if data[at : at + 1] == b"\n"]
    near = {end + shift for end in ends for shift in (-1, 0, 1)} | set(range(0, len(data), 41))
    for size in sorted(near - {len(data)}):
        path.write_bytes(data[:size])
        invalid(bundle)
    for more in (b"\n", b" ", b"\0", b"{}\n", data[: ends[0] + 1]):
        path.write_bytes(data + more)
        invalid(bundle)


def test_no_other_order_and_no_other_number_of_lines_is_accepted(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    for count in range(5):
        for chosen in itertools.product(lines, repeat=count):
            path.write_bytes(b"".join(chosen))
            assert (verify(bundle).signer is Signer.VALID) is (list(chosen) == lines), chosen


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_change_of_the_attestations_is_detected(
    honest: tuple[Bundle, Path], tmp_path: Path, data: st.DataObject
) -> None:
    bundle, path = honest
    whole = path.read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 300)))
    changed = whole[:start] + data.draw(st.binary(max_size=300)) + whole[end:]
    elsewhere = tmp_path / "changed.jsonl"
    elsewhere.write_bytes(changed)
    assert verify(bundle, attestations=elsewhere).exit_code == (0 if changed == whole else 4)


def test_a_signature_in_another_spelling_is_detected(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    data = path.read_bytes()
    sig = str(envelopes(path)[0].to_json()["signatures"][0]["sig"])  # type: ignore[index,call-overload]  # an envelope
    path.write_bytes(data.replace(sig.encode(), respelled(sig).encode(), 1))
    invalid(bundle, "canonical base64")


def test_attestations_of_another_kind_of_file_are_refused(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    with path.open("wb") as stream:
        stream.truncate(1 << 30)
    invalid(bundle, "too large")
    path.unlink()
    path.mkdir()
    invalid(bundle, "not a regular file")


# ------------------------------------------------------------------- what the right key never signed so


def resigned(path: Path, edit: Callable[[list[dict[str, Json]]], None], *, relisted: bool = True) -> None:
    """Edit the statements, and sign them again with the right key as if its owner had been fooled."""
    statements = [dict(statement_of(each)) for each in envelopes(path)]  # type: ignore[arg-type]  # objects
    edit(statements)
    others = [sign_statement(each, ALICE.sign, ALICE.public.id) for each in statements[1:]]
    if relisted:
        named: Json = [
            {"predicateType": each["predicateType"], "sha256": canonical.digest(envelope.to_json())}
            for each, envelope in zip(statements[1:], others, strict=True)
        ]
        statements[0]["predicate"] = {**statements[0]["predicate"], "attestations": named}  # type: ignore[dict-item]  # an object
    root = sign_statement(statements[0], ALICE.sign, ALICE.public.id)
    path.write_bytes(b"".join(each.line() + b"\n" for each in (root, *others)))


def _said(**change: Json) -> Callable[[list[dict[str, Json]]], None]:
    def edit(statements: list[dict[str, Json]]) -> None:
        statements[0]["predicate"] = {**statements[0]["predicate"], **change}  # type: ignore[dict-item]  # an object

    return edit


def _set(number: int, **change: Json) -> Callable[[list[dict[str, Json]]], None]:
    return lambda statements: statements[number].update(change)


def _foreign(statements: list[dict[str, Json]]) -> None:
    statements.append({**statements[1], "predicateType": "https://example.org/other"})


FOOLED: dict[str, tuple[Callable[[list[dict[str, Json]]], None], str]] = {
    "another verdict": (_said(verdict="rehearsed"), "predicate.verdict"),
    "another tier": (_said(tier="wsl"), "predicate.tier"),
    "another plan": (_said(plan_digest="0" * 64), "predicate.plan_digest"),
    "another run": (_said(run="20261130T120000Z-ffffffff"), "predicate.run"),
    "another challenge": (_said(challenge="beef"), "predicate.challenge"),
    "another digest": (_said(bundle_digest="0" * 64), "predicate.bundle_digest"),
    "other outcomes": (_said(outcomes={}), "predicate.outcomes"),
    "other claims": (_said(claims={"established": [], "open": []}), "predicate.claims"),
    "claims that are none": (_said(claims=[]), "predicate.claims"),
    "no schema": (_said(schema="assay/receipt/1"), "schema"),
    "another subject": (_set(0, subject=[]), "subject"),
    "another statement": (_set(0, _type="https://in-toto.io/Statement/v0.1"), "is no statement"),
    "another first": (_set(0, predicateType=TEST_RESULT), "predicateType"),
    "another result": (_set(1, predicate={"result": "PASSED"}), "predicate"),
    "a result about something else": (_set(1, subject=[]), "subject"),
    "a predicate that is none": (_set(1, predicate=[]), "is no statement"),
    "a type of nobody": (_foreign, "a statement that this bundle allows"),
}


@pytest.mark.parametrize(("edit", "says"), FOOLED.values(), ids=FOOLED)
def test_what_the_bundle_does_not_come_to_is_refused_even_if_it_is_signed(
    honest: tuple[Bundle, Path], edit: Callable[[list[dict[str, Json]]], None], says: str
) -> None:
    bundle, path = honest
    resigned(path, lambda _: None)
    assert verify(bundle).signer is Signer.VALID
    resigned(path, edit)
    verified = verify(bundle)
    assert verified.signer is Signer.INVALID
    assert says in verified.signer_detail, verified.signer_detail


def test_the_first_line_must_name_the_others(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    hostile: tuple[Json, ...] = ([], {}, None, [1, 2], [{"predicateType": TEST_RESULT}] * 2)
    for named in hostile:
        resigned(path, _said(attestations=named), relisted=False)
        invalid(bundle, "lines")


def test_newer_attestations_are_no_invalid_ones(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    for edit in (
        _set(0, predicateType=QUALIFICATION.removesuffix("1") + "2"),
        _said(schema="assay/qualification/2"),
    ):
        resigned(path, edit)
        verified = verify(bundle)
        assert (verified.signer, verified.anchored, verified.exit_code) == (Signer.NEWER, False, 3)
        resigned(path, lambda statements: statements[0].update(predicateType=QUALIFICATION))
        resigned(path, _said(schema="assay/qualification/1"))


def _newer(bundle: Bundle) -> str:
    """Make a newer bundle of one, and return its digest."""
    forge(bundle.path, bundle.path, lambda manifest, _: manifest.update(schema="assay/manifest/2"))
    digest = verify(bundle, None).bundle_digest
    assert digest != bundle.digest
    return digest


def _about(digest: str) -> Callable[[list[dict[str, Json]]], None]:
    """Return an edit that makes every statement be about a bundle digest."""

    def edit(statements: list[dict[str, Json]]) -> None:
        for each in statements:
            subject = each["subject"]
            assert isinstance(subject, list)
            each["subject"] = [{"digest": {"sha256": digest}, "name": "run.tar"}, *subject[1:]]

    return edit


def test_a_newer_bundle_that_the_key_signed_asks_for_an_update(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    resigned(path, _about(_newer(bundle)))
    verified = verify(bundle)
    assert (verified.integrity, verified.signer, verified.exit_code) == (Integrity.NEWER, Signer.UNCHECKED, 3)
    assert "signed this bundle digest" in verified.signer_detail


def test_a_newer_bundle_that_the_key_did_not_sign_is_not_excused(honest: tuple[Bundle, Path]) -> None:
    bundle, path = honest
    signed_before = path.read_bytes()
    digest = _newer(bundle)
    verified = verify(bundle)
    assert (verified.integrity, verified.signer, verified.exit_code) == (Integrity.BROKEN, Signer.INVALID, 4)
    assert verified.problems[0].expected.startswith(bundle.digest)
    resigned(path, _about(digest))
    verified = verify(bundle, MALLORY.public)
    assert (verified.integrity, verified.signer, verified.exit_code) == (Integrity.NEWER, Signer.INVALID, 4)
    path.write_bytes(b"anything")
    assert (verify(bundle).signer, verify(bundle).exit_code) == (Signer.INVALID, 4)
    path.unlink()
    assert (verify(bundle).signer, verify(bundle).exit_code) == (Signer.UNSIGNED, 3)
    path.write_bytes(signed_before)
    assert (verify(bundle, None).integrity, verify(bundle, None).exit_code) == (Integrity.NEWER, 3)


@pytest.mark.parametrize(
    "subject",
    [[], {}, None, [1], [{}], [{"digest": 1}], [{"digest": {}}], [{"digest": {"sha256": 1}}]],
    ids=str,
)
def test_a_statement_about_nothing_names_no_bundle(honest: tuple[Bundle, Path], subject: Json) -> None:
    bundle, path = honest
    resigned(path, _set(0, subject=subject))
    invalid(bundle, "subject")
    _newer(bundle)
    verified = verify(bundle)
    assert (verified.integrity, verified.signer, verified.exit_code) == (Integrity.BROKEN, Signer.INVALID, 4)


def test_attestations_of_another_bundle_do_not_vouch(honest: tuple[Bundle, Path], tmp_path: Path) -> None:
    _, path = honest
    other = write_bundle(make_run(tmp_path / "other", challenge="beef"))
    path.rename(other.path.with_suffix(".intoto.jsonl"))
    invalid(other, "subject")


def test_a_signed_bundle_whose_manifest_was_edited_is_no_longer_signed(honest: tuple[Bundle, Path]) -> None:
    """The tool's version is the one thing in a bundle that follows from nothing else."""
    bundle, _ = honest
    forge(
        bundle.path, bundle.path, lambda manifest, _: manifest.update(tool={"name": "other", "version": "9"})
    )
    invalid(bundle, "subject")


def test_a_broken_bundle_is_broken_whoever_signed_it(honest: tuple[Bundle, Path]) -> None:
    bundle, _ = honest
    forge(bundle.path, bundle.path, lambda _, members: members.update({"lint.exit": b"1\n"}))
    verified = verify(bundle)
    assert (verified.integrity, verified.signer, verified.exit_code) == (
        Integrity.BROKEN,
        Signer.UNCHECKED,
        4,
    )


# ---------------------------------------------------------------------------------- what is signed of what


def kinds(path: Path) -> list[str]:
    return [str(statement_of(each)["predicateType"]) for each in envelopes(path)]  # type: ignore[index,call-overload]  # objects


def test_a_rehearsal_gets_no_result(tmp_path: Path) -> None:
    rehearsed = {"chain": Gate({"tier": "rehearsal"})}
    bundle, path = signed(
        tmp_path, write_bundle(make_run(tmp_path, of=plan(tier="rehearsal"), changed=rehearsed))
    )
    assert kinds(path) == [QUALIFICATION]
    assert b"PASSED" not in b"".join(each.payload for each in envelopes(path))
    verified = verify_bundle(bundle.path, key=ALICE.public, accept=["rehearsed"])
    assert (verified.verdict, verified.signer, verified.exit_code) == (Verdict.REHEARSED, Signer.VALID, 0)
    resigned(path, lambda statements: statements.append(_passed(statements[0])))
    assert verify(bundle).signer is Signer.INVALID


def _passed(root: dict[str, Json]) -> dict[str, Json]:
    return {**root, "predicate": {"configuration": [], "result": "PASSED"}, "predicateType": TEST_RESULT}


def test_a_wheel_that_was_taken_gets_no_provenance(tmp_path: Path) -> None:
    for number, (gate, right) in enumerate(
        [
            (BUILT, [QUALIFICATION, TEST_RESULT, PROVENANCE]),
            (Gate({**BUILT.facts, "origin": "given"}), [QUALIFICATION, TEST_RESULT]),
            (Gate({**BUILT.facts, "findings": [found()]}), [QUALIFICATION, TEST_RESULT]),
            (PASSING["build"], [QUALIFICATION, TEST_RESULT]),
        ]
    ):
        folder = tmp_path / str(number)
        bundle, path = signed(folder, write_bundle(make_run(folder, changed={"build": gate})))
        assert kinds(path) == right
        assert verify(bundle).signer is Signer.VALID


def test_keyids_are_written_and_name_the_key(honest: tuple[Bundle, Path]) -> None:
    assert {each.keyid for each in envelopes(honest[1])} == {ALICE.public.id}
    for each in envelopes(honest[1]):
        assert not Envelope(each.payload, MALLORY.public.id, each.signature).is_signed_by(MALLORY.public)
