"""An attestation file as it is read: lines, envelopes and the statements in them, signed by nobody yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from assay import canonical
from assay.errors import BundleError
from assay.evidence.dsse import LINE_BYTES, Envelope, parse_envelope, read_lines
from assay.evidence.keys import PublicKey
from assay.evidence.statement import STATEMENT
from assay.model import Json

_STATEMENT_FIELDS = ("_type", "predicate", "predicateType", "subject")
_NODES = 1 << 18


@dataclass(frozen=True)
class Read:
    """A statement that was read: its subject list, and its predicate with its type."""

    subject: Json
    type: str
    predicate: Mapping[str, Json]


@dataclass(frozen=True)
class Attestations:
    """An attestation file, read with neither a key nor the bundle: nothing in it counts yet.

    Attributes:
        member: its name, for errors.
        envelope: the first envelope.
        root: the statement in it.
        rest: the other lines.
    """

    member: str
    envelope: Envelope
    root: Read
    rest: tuple[bytes, ...]

    @property
    def bundle_digest(self) -> str:
        """Return the bundle digest (hex) that the first statement is about, ``""`` where it says none.

        The bundle is the first subject of every statement (FORMATS, "Attestations"), whatever its predicate:
        so a bundle that this copy cannot read yet can still be told from the one that was signed.
        """
        first = self.root.subject[0] if isinstance(self.root.subject, list) and self.root.subject else None
        digest = first.get("digest") if isinstance(first, Mapping) else None
        sha256 = digest.get("sha256") if isinstance(digest, Mapping) else None
        return sha256 if isinstance(sha256, str) else ""


def read_attestations(data: bytes, member: str) -> Attestations:
    """Read an attestation file as far as nobody has to vouch for it.

    Args:
        data: the file.
        member: its name, for errors.

    Raises:
        BundleError: it does not hold whole lines, or its first line is no statement in its one spelling.
    """
    first, *rest = read_lines(data, member)
    where = f"{member} line 1"
    envelope = parse_envelope(first, where)
    return Attestations(member, envelope, _read(envelope, where), tuple(rest))


def check_signature(found: Attestations, key: PublicKey) -> None:
    """Check that a key signed the first statement, which names all others.

    Raises:
        BundleError: it did not.
    """
    _check_signed(found.envelope, f"{found.member} line 1", key)


def read_signed(line: bytes, member: str, key: PublicKey) -> Read:
    """Return the statement of a line that a key signed.

    Raises:
        BundleError: it is no statement in its one spelling, or another key signed it.
    """
    envelope = parse_envelope(line, member)
    _check_signed(envelope, member, key)
    return _read(envelope, member)


def _check_signed(envelope: Envelope, member: str, key: PublicKey) -> None:
    """Refuse an envelope that the key did not sign."""
    if not envelope.is_signed_by(key):
        _refuse(member, "signatures.0", "is not a signature of the key", f"one of key {key.id}")


def _read(envelope: Envelope, member: str) -> Read:
    """Return the statement in an envelope."""
    value = canonical.loads(envelope.payload, member=member, limit=LINE_BYTES, nodes=_NODES)
    if not isinstance(value, Mapping) or tuple(value) != _STATEMENT_FIELDS:
        _refuse(member, "payload", "has other fields", ", ".join(_STATEMENT_FIELDS))
    kind, predicate = value["predicateType"], value["predicate"]
    if value["_type"] != STATEMENT or not isinstance(kind, str) or not isinstance(predicate, Mapping):
        _refuse(member, "payload", "is no statement", STATEMENT)
    return Read(value["subject"], kind, predicate)


def _refuse(member: str, field: str, observed: str, expected: str) -> NoReturn:
    """Raise the error of attestations that do not hold."""
    raise BundleError(observed, expected, "ask for unaltered attestations", member=member, field=field)
