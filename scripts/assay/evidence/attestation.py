"""The attestation file ``<run>.intoto.jsonl``: made of a verified bundle, and checked against one.

Nothing authenticates the file as a whole, so its first envelope, the qualification, names the digests of all
the others in their order: a line that is dropped, doubled, moved, changed or put in no longer fits it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NoReturn

from assay import canonical
from assay.errors import BundleError, NewerSchemaError
from assay.evidence.attested import Attestations, Read, check_signature, read_attestations, read_signed
from assay.evidence.dsse import Envelope, Sign, sign_statement
from assay.evidence.keys import PublicKey
from assay.evidence.provenance import provenance
from assay.evidence.statement import (
    PROVENANCE,
    QUALIFICATION,
    TEST_RESULT,
    Shown,
    qualification,
    said_of,
    statement,
    subject_of,
    test_result,
)
from assay.evidence.verification import claims_json
from assay.model import Json

SIGSTORE_ENDING = ".sigstore.json"
SIGSTORE_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"


def attest(shown: Shown, sign: Sign, key: PublicKey) -> bytes:
    """Return the attestation file of a verified bundle.

    Raises:
        BundleError: the statements pass the reader's bounds.
    """
    others = [
        sign_statement(statement(subject, kind, predicate), sign, key.id)
        for kind, subject, predicate in _others(shown)
    ]
    root = sign_root(shown, sign, key, others)
    data = b"".join(envelope.line() + b"\n" for envelope in (root, *others))
    check_attestations(data, "the attestations", key, shown)
    return data


def sign_root(shown: Shown, sign: Sign, key: PublicKey, others: Sequence[Envelope]) -> Envelope:
    """Return the signed qualification that names the other envelopes in order."""
    named: list[Json] = [
        {"predicateType": kind, "sha256": hashlib.sha256(envelope.line()).hexdigest()}
        for (kind, _, _), envelope in zip(_others(shown), others, strict=False)
    ]
    predicate = qualification(shown, named)
    return sign_statement(statement(subject_of(shown), QUALIFICATION, predicate), sign, key.id)


def sigstore_bundle(envelope: Envelope) -> dict[str, Json]:
    """Return an envelope as a key-signed Sigstore bundle, without a transparency log."""
    return {
        "dsseEnvelope": envelope.to_json(),
        "mediaType": SIGSTORE_TYPE,
        "verificationMaterial": {"publicKey": {"hint": envelope.keyid}, "tlogEntries": []},
    }


def check_attestations(data: bytes, member: str, key: PublicKey, shown: Shown) -> int:
    """Check that a key vouches for exactly this bundle, and return how many statements it signed.

    Args:
        data: the attestation file.
        member: its name, for errors.
        key: the reader's.
        shown: what verifying the bundle showed.

    Raises:
        NewerSchemaError: a newer assay signed it.
        BundleError: the file is broken, signed by another key, or about another bundle.
    """
    return check_vouching(read_attestations(data, member), key, shown)


def check_vouching(found: Attestations, key: PublicKey, shown: Shown) -> int:
    """Check attestations that were read, as ``check_attestations`` does.

    Raises:
        NewerSchemaError: a newer assay signed them.
        BundleError: they are signed by another key, or about another bundle.
    """
    check_signature(found, key)
    member, root, rest = found.member, found.root, found.rest
    where = f"{member} line 1"
    _check_type(root.type, where)
    canonical.check_schema(root.predicate.get("schema"), "qualification", member=where)
    named = root.predicate.get("attestations")
    kinds = _named(named, [hashlib.sha256(line).hexdigest() for line in rest], where)
    _check_subject(root, subject_of(shown), where)
    _check_said(root.predicate, shown, where)
    for number, (line, kind) in enumerate(zip(rest, kinds, strict=True), 2):
        _check_other(
            read_signed(line, f"{member} line {number}", key), kind, shown, f"{member} line {number}"
        )
    return 1 + len(rest)


def _others(shown: Shown) -> list[tuple[str, Json, Json]]:
    """Return type, subject list and predicate of every statement besides the qualification."""
    result, built = test_result(shown), provenance(shown)
    found: list[tuple[str, Json, Json]] = []
    if result is not None:
        found.append((TEST_RESULT, subject_of(shown), result))
    if built is not None:
        found.append((PROVENANCE, subject_of(shown, ("build",)), built))
    return found


def _check_type(kind: str, member: str) -> None:
    """Check that the first statement is a qualification that this copy knows."""
    if kind == QUALIFICATION:
        return
    stem = QUALIFICATION.removesuffix("1")
    if kind.startswith(stem) and kind.removeprefix(stem).isdecimal():
        raise NewerSchemaError(
            f"is a {kind}", f"at most {QUALIFICATION}", "update assay", member=member, field="predicateType"
        )
    _refuse(member, "predicateType", "is another", QUALIFICATION)


def _named(named: Json, found: Sequence[str], member: str) -> list[str]:
    """Return the types of the other statements if the root names exactly these lines in this order."""
    entries = named if isinstance(named, list) else []
    kinds = [entry.get("predicateType") for entry in entries if isinstance(entry, Mapping)]
    right = [{"predicateType": kind, "sha256": sha256} for kind, sha256 in zip(kinds, found, strict=False)]
    if not isinstance(named, list) or len(found) != len(named) or named != right:
        expected = f"{len(entries)} that the first names by digest, in its order"
        _refuse(member, "predicate.attestations", f"is followed by {len(found)} other lines", expected)
    return [str(kind) for kind in kinds]


def _check_other(read: Read, kind: str, shown: Shown, member: str) -> None:
    """Check a statement besides the qualification."""
    if read.type != kind:
        _refuse(member, "predicateType", "is not what the first line says", kind)
    for right, subject, predicate in _others(shown):
        if right == kind:
            _check_subject(read, subject, member)
            if kind == TEST_RESULT and read.predicate != predicate:
                _refuse(member, "predicate", "is another result", "that of the bundle")
            return
    _refuse(member, "predicateType", f"is {kind}", "a statement that this bundle allows")


def _check_subject(read: Read, subject: Json, member: str) -> None:
    """Check that a statement is about this bundle and its artifacts."""
    if read.subject != subject:
        _refuse(member, "subject", "is another", "this bundle by its digest, and its artifacts")


def _check_said(predicate: Mapping[str, Json], shown: Shown, member: str) -> None:
    """Check that what was signed is what judging the bundle gives."""
    for name, right in said_of(shown).items():
        if name not in predicate or predicate[name] != right:
            _refuse(member, f"predicate.{name}", "is not what the bundle comes to", f"{right}")
    if shown.subject_digest and predicate.get("subject_digest") != shown.subject_digest:
        _refuse(member, "predicate.subject_digest", "is another", shown.subject_digest)
    if _claim_ids(predicate.get("claims")) != _claim_ids(claims_json(shown.conclusion.claims)):
        _refuse(member, "predicate.claims", "are others", "those that the bundle establishes")


def _claim_ids(claims: Json) -> Json:
    """Return the ids of claims; their words may be put better by a later copy."""
    if not isinstance(claims, Mapping):
        return None
    lists = (claims.get("established"), claims.get("open"))
    return [
        [claim.get("id") for claim in each if isinstance(claim, Mapping)] if isinstance(each, list) else None
        for each in lists
    ]


def _refuse(member: str, field: str, observed: str, expected: str) -> NoReturn:
    """Raise the error of attestations that do not hold."""
    raise BundleError(observed, expected, "ask for unaltered attestations", member=member, field=field)
