"""Statements about bundles: what is written is read again, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import canonical
from assay.errors import BundleError, NewerSchemaError, UsageError
from assay.evidence.dsse import sign_statement
from assay.evidence.filed import Kind
from assay.evidence.life import LIFE_BYTES, Named, Said, read_statement
from assay.evidence.statement import statement
from assay.model import Json
from tests.evidence.keyring import ALICE, MALLORY
from tests.evidence.lives import NEW, OLD, said_of

DIGEST = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
NAMED = st.builds(Named, st.from_regex(r"2026[0-9]{4}T[0-9]{6}Z-[0-9a-f]{8}", fullmatch=True), DIGEST)
REASON = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=200).filter(
    str.strip
)
CLAIMS = st.sets(st.from_regex(r"[a-z][a-z0-9-]{0,63}", fullmatch=True), min_size=1, max_size=9).map(
    lambda found: tuple(sorted(found))
)


def signed(said: Said) -> bytes:
    """Return a statement's file."""
    return said.signed(ALICE.sign, ALICE.public)


@given(kind=st.sampled_from(Kind), old=NAMED, new=NAMED, reason=REASON, claims=CLAIMS)
def test_what_is_signed_is_read_again(
    kind: Kind, old: Named, new: Named, reason: str, claims: tuple[str, ...]
) -> None:
    said = replace(said_of(kind, old, new, claims), reason=reason)
    if old.bundle_digest == new.bundle_digest and kind is Kind.SUPERSEDE:
        return
    read = read_statement(signed(said), "it")
    assert read.said == said
    assert read.signer([MALLORY.public, ALICE.public]) == ALICE.public
    assert read.signer([MALLORY.public]) is None


@pytest.mark.gate
@pytest.mark.parametrize("kind", Kind)
def test_a_changed_byte_is_refused_or_unsigned(kind: Kind) -> None:
    data = signed(said_of(kind))
    for at in range(0, len(data), 7):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        try:
            read = read_statement(changed, "it")
        except BundleError:
            continue
        assert read.signer([ALICE.public]) is None, at


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"reason": ""}, "reason"),
        ({"reason": "two\nlines"}, "reason"),
        ({"reason": "x" * 1001}, "1001 characters"),
        ({"claims": ()}, "0 claims"),
        ({"claims": ("b", "a")}, "2 claims"),
        ({"claims": ("a", "a")}, "twice"),
        ({"claims": ("Not an id",)}, "claims"),
        ({"new": OLD}, "the old bundle itself"),
        ({"issued": "2026-13-01T00:00:00Z"}, "issued"),
        ({"old": Named("nothing", "aa" * 32)}, "old"),
        ({"old": Named(OLD.run, "AA" * 32)}, "old"),
    ],
)
def test_what_nobody_could_read_is_not_signed(change: dict[str, object], says: str) -> None:
    said = replace(said_of(Kind.SUPERSEDE), **change)  # type: ignore[arg-type]  # each is a field's value
    with pytest.raises(UsageError, match=says) as refused:
        said.check()
    assert "\n" not in refused.value.observed
    with pytest.raises(BundleError):
        read_statement(signed(said), "it")


def wrapped(kind: str, predicate: Json, subject: Json) -> bytes:
    """Return any statement, signed."""
    return sign_statement(statement(subject, kind, predicate), ALICE.sign, ALICE.public.id).line() + b"\n"


SUBJECT: Json = [{"digest": {"sha256": OLD.bundle_digest}, "name": f"{OLD.run}.tar"}]


def test_a_newer_statement_is_newer_and_never_broken() -> None:
    said = said_of(Kind.REVOKE)
    with pytest.raises(NewerSchemaError):
        read_statement(wrapped("urn:gpu-assay:revoke:v2", said.predicate(), SUBJECT), "it")
    later = {**said.predicate(), "schema": "assay/revoke/2"}
    with pytest.raises(NewerSchemaError):
        read_statement(wrapped(Kind.REVOKE.predicate, later, SUBJECT), "it")


def test_another_subject_another_kind_and_more_lines_are_refused() -> None:
    said = said_of(Kind.REVOKE)
    other: Json = [{"digest": {"sha256": NEW.bundle_digest}, "name": f"{OLD.run}.tar"}]
    line = signed(said)
    for data in (
        wrapped(Kind.REVOKE.predicate, said.predicate(), other),
        wrapped("urn:gpu-assay:qualification:v1", said.predicate(), SUBJECT),
        wrapped(Kind.SUPERSEDE.predicate, said.predicate(), SUBJECT),
        line + line,
        line.rstrip(b"\n"),
        b"",
        b"x" * (LIFE_BYTES + 1),
        canonical.dumps({}) + b"\n",
    ):
        with pytest.raises(BundleError):
            read_statement(data, "it")


def test_the_longest_statement_fits_the_bound() -> None:
    claims = tuple(sorted(f"{'c' * 60}{number:04}" for number in range(1000)))
    said = replace(said_of(Kind.SUPERSEDE), claims=claims, reason="\N{GRINNING FACE}" * 1000)
    assert read_statement(signed(said), "it").said == said
