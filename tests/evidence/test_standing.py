"""Whether a bundle still stands: whose word counts, what it replaces, and that doubt counts against it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.evidence.bundle import Bundle
from assay.evidence.filed import Kind
from assay.evidence.keys import PublicKey
from assay.evidence.life import Named
from assay.evidence.standing import MAX_BUNDLES
from assay.evidence.verification import Answer, Verification
from assay.evidence.verify import verify_bundle
from tests.evidence.keyring import ALICE, MALLORY
from tests.evidence.lives import archive_of, bundle_at, named, said_of, state


@dataclass(frozen=True)
class Shelf:
    """An archive of three bundles that ran one after another."""

    archive: Path
    old: Bundle
    new: Bundle
    newest: Bundle

    def supersede(self, old: Bundle, new: Bundle | Named, *claims: str, key: object = ALICE) -> None:
        """Put in that a bundle replaces another."""
        name = new if isinstance(new, Named) else named(new)
        state(self.archive, said_of(Kind.SUPERSEDE, named(old), name, tuple(sorted(claims))), key)  # type: ignore[arg-type]  # a SigningKey

    def asked(
        self, bundle: Bundle | None = None, *claims: str, trust: tuple[PublicKey, ...] = (ALICE.public,)
    ) -> Verification:
        """Return a bundle's verification, with its standing."""
        found = bundle or self.old
        return verify_bundle(
            found.path, expect_digest=found.digest, archive=self.archive, trust=trust, claims=claims
        )


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Return an archive in which nobody has said anything yet."""
    days = ("2026-11-30", "2026-12-01", "2026-12-02")
    bundles = [bundle_at(tmp_path / day, f"{day}T12:00:00Z") for day in days]
    return Shelf(archive_of(tmp_path / "archive", *bundles), *bundles)


def test_where_nobody_says_otherwise_it_stands(shelf: Shelf) -> None:
    found = shelf.asked()
    assert found.standing == "current: nobody whom you trust says otherwise"
    assert found.exit_code == 0


@pytest.mark.gate
def test_it_is_superseded_in_the_claims_that_are_named_and_in_no_other(shelf: Shelf) -> None:
    shelf.supersede(shelf.old, shelf.new, "lint", "toolkit")
    found = shelf.asked()
    by = f"{shelf.new.path.stem} ({shelf.new.digest})"
    assert found.standing == f"superseded in these claims by {by}: lint, toolkit"
    assert found.exit_code == 0
    assert shelf.asked(None, "provider").exit_code == 0
    lost = shelf.asked(None, "lint")
    assert (lost.policy.answer, lost.exit_code) == (Answer.FAILED, 3)
    assert "the claim lint is superseded" in lost.policy.reasons


def test_the_latest_of_a_row_is_named(shelf: Shelf) -> None:
    shelf.supersede(shelf.old, shelf.new, "lint")
    shelf.supersede(shelf.new, shelf.newest, "lint")
    assert shelf.newest.path.stem in shelf.asked().standing
    assert shelf.new.path.stem not in shelf.asked().standing


@pytest.mark.gate
def test_a_revoked_bundle_is_what_it_was_and_is_refused(shelf: Shelf) -> None:
    state(shelf.archive, said_of(Kind.REVOKE, named(shelf.old)))
    found = shelf.asked()
    assert found.standing == "revoked: the driver was not the released one"
    assert found.intact
    assert (found.policy.answer, found.exit_code) == (Answer.FAILED, 3)


def test_the_word_of_others_is_told_and_does_not_count(shelf: Shelf) -> None:
    state(shelf.archive, said_of(Kind.REVOKE, named(shelf.old)), MALLORY)
    found = shelf.asked()
    assert (found.standing.partition(":")[0], found.exit_code) == ("current", 0)
    assert any(note.startswith("not trusted: revoked") for note in found.standing_notes)
    assert shelf.asked(trust=()).standing.startswith("unknown: without a key")


def test_a_statement_that_cannot_be_read_may_have_been_one(shelf: Shelf) -> None:
    path = state(shelf.archive, said_of(Kind.REVOKE, named(shelf.old)))
    path.write_bytes(path.read_bytes()[:-9])
    found = shelf.asked()
    assert (found.standing.partition(":")[0], found.exit_code) == ("unknown", 3)


def test_what_is_unclear_about_the_later_bundle_is_told(shelf: Shelf) -> None:
    shelf.supersede(shelf.new, shelf.old, "lint", "display-boot")
    shelf.supersede(shelf.newest, Named("20261203T000000Z-00000000", "ee" * 32), "lint")
    backwards = " ".join(shelf.asked(shelf.new).standing_notes)
    assert "did not run after it" in backwards
    assert "is not in the archive" in " ".join(shelf.asked(shelf.newest).standing_notes)
    state(shelf.archive, said_of(Kind.REVOKE, named(shelf.old)))
    assert "is itself revoked" in " ".join(shelf.asked(shelf.new).standing_notes)


def test_circles_and_conflicts_are_told(shelf: Shelf) -> None:
    shelf.supersede(shelf.old, shelf.new, "lint")
    shelf.supersede(shelf.old, shelf.newest, "lint")
    assert "a conflict: lint" in " ".join(shelf.asked().standing_notes)
    shelf.supersede(shelf.newest, shelf.new, "lint")
    shelf.supersede(shelf.new, shelf.newest, "lint")
    assert "a circle: in lint" in " ".join(shelf.asked().standing_notes)


def test_a_row_without_end_is_not_followed_for_ever(shelf: Shelf) -> None:
    before = named(shelf.old)
    for number in range(MAX_BUNDLES + 2):
        after = Named("20261203T000000Z-00000000", f"{number:064x}")
        state(shelf.archive, said_of(Kind.SUPERSEDE, before, after, ("lint",)))
        before = after
    assert f"more than {MAX_BUNDLES} bundles" in " ".join(shelf.asked().standing_notes)


def test_a_damaged_later_bundle_and_one_that_is_not_here_are_told(shelf: Shelf) -> None:
    shelf.supersede(shelf.old, shelf.new, "lint")
    held = shelf.archive / f"{shelf.new.digest}.tar"
    held.write_bytes(held.read_bytes()[:-1024])
    assert "is not intact" in " ".join(shelf.asked().standing_notes)
    (shelf.archive / f"{shelf.old.digest}.tar").unlink()
    assert "the archive does not hold this bundle" in shelf.asked().standing_notes
