"""What is signed about a bundle later: that another one replaces some of its claims, or that it is revoked.

Each statement is a file of one line, a DSSE envelope as attestations have (FORMATS, "Statements about
bundles").  It is never changed and never removed: who thinks otherwise signs another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay import __version__, canonical
from assay.errors import BundleError, NewerSchemaError, PlanError, UsageError
from assay.evidence.attested import Attestations, read_attestations
from assay.evidence.documents import TOOL
from assay.evidence.dsse import Envelope, Sign, sign_statement
from assay.evidence.filed import Kind
from assay.evidence.keys import PublicKey
from assay.evidence.names import RUN_NAME
from assay.evidence.reading import REMEDY, document_errors, sha256_of, time_of
from assay.evidence.statement import statement
from assay.model import Json
from assay.plan.reading import Table, as_line

REASON_LENGTH = 1000
"""Most characters of a reason."""

MAX_CLAIMS = 1000
"""Most claims that one statement names; a plan has a few dozen."""

LIFE_BYTES = 1 << 18
"""Largest file: a statement with the most claims and the longest reason, in base64."""

CLAIM = r"[a-z][a-z0-9-]{0,63}"
"""Ids of claims (``assay.plan.parse``): a gate's name, or the plan's own id."""


@dataclass(frozen=True)
class Named:
    """A bundle as a statement names it: run, and bundle digest (hex)."""

    run: str
    bundle_digest: str

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form."""
        return {"bundle_digest": self.bundle_digest, "run": self.run}


@dataclass(frozen=True)
class Said:
    """What a statement says, whoever signed it.

    Attributes:
        kind: what it says.
        old: the bundle that it is about.
        reason: why, one line.
        issued: when it was signed as its signer says, RFC 3339 UTC.
        new: the bundle that replaces it in these claims; None for a revocation.
        claims: ids of the claims that are replaced, in order; none for a revocation.
    """

    kind: Kind
    old: Named
    reason: str
    issued: str
    new: Named | None = None
    claims: tuple[str, ...] = ()

    def check(self) -> None:
        """Check what a user may have mistyped.

        Raises:
            UsageError: nobody could read such a statement.
        """
        try:
            _read(Table(self.predicate(), ""), self.kind)
        except PlanError as error:
            raise UsageError(f"the statement's {error.observed}", error.expected, error.remedy) from error

    def predicate(self) -> dict[str, Json]:
        """Return the statement's predicate."""
        common: dict[str, Json] = {
            "issued": self.issued,
            "old": self.old.to_json(),
            "reason": self.reason,
            "schema": f"assay/{self.kind.value}/1",
            "tool": {"name": TOOL, "version": __version__},
        }
        if self.new is None:
            return common
        return {**common, "claims": list(self.claims), "new": self.new.to_json()}

    def signed(self, sign: Sign, key: PublicKey) -> bytes:
        """Return the signed statement as its file."""
        subject: Json = [{"digest": {"sha256": self.old.bundle_digest}, "name": f"{self.old.run}.tar"}]
        envelope = sign_statement(statement(subject, self.kind.predicate, self.predicate()), sign, key.id)
        return envelope.line() + b"\n"


@dataclass(frozen=True)
class Statement:
    """A statement that was read: what it says, and the envelope that a key may have signed."""

    said: Said
    envelope: Envelope

    def signer(self, keys: Sequence[PublicKey]) -> PublicKey | None:
        """Return which of the keys signed it, None where none did."""
        return next((key for key in keys if self.envelope.is_signed_by(key)), None)


def kind_of(found: Attestations) -> Kind | None:
    """Return what kind of statement a file holds, None where it holds attestations of a bundle.

    Raises:
        NewerSchemaError: it is a later version of one.
    """
    for kind in Kind:
        stem, given = kind.predicate.removesuffix("1"), found.root.type
        if given == kind.predicate:
            return kind
        if given.startswith(stem) and given.removeprefix(stem).isdecimal():
            expected = f"at most {kind.predicate}"
            raise NewerSchemaError(
                f"is a {given}", expected, "update assay", member=found.member, field="predicateType"
            )
    return None


def read_statement(data: bytes, member: str) -> Statement:
    """Read a statement about a bundle; nobody has vouched for it yet.

    Args:
        data: the file.
        member: its name, for errors.

    Raises:
        NewerSchemaError: a newer assay wrote it.
        BundleError: it is no such statement in its one spelling.
    """
    if len(data) > LIFE_BYTES:
        raise BundleError(f"has {len(data)} bytes", f"at most {LIFE_BYTES}", REMEDY, member=member)
    found = read_attestations(data, member)
    kind = kind_of(found)
    if kind is None or found.rest:
        observed = f"is a {found.root.type[:100]} with {len(found.rest)} more lines"
        raise BundleError(observed, "one statement: supersede or revoke", REMEDY, member=member)
    canonical.check_schema(found.root.predicate.get("schema"), kind.value, member=member)
    with document_errors(member):
        said = _read(Table(found.root.predicate, ""), kind)
    subject: Json = [{"digest": {"sha256": said.old.bundle_digest}, "name": f"{said.old.run}.tar"}]
    if found.root.subject != subject:
        raise BundleError("is another", "the old bundle alone", REMEDY, member=member, field="subject")
    return Statement(said, found.envelope)


def _read(table: Table, kind: Kind) -> Said:
    """Read a predicate.

    Raises:
        PlanError: a field is missing, unknown or wrong.
    """
    table.raw("schema")
    tool = table.table("tool")
    tool.text("name", match=r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
    tool.text("version", match=r"[0-9][A-Za-z0-9._+!-]{0,63}")
    tool.finish()
    reason = as_line(table.raw("reason"), table.at("reason"))
    if len(reason) > REASON_LENGTH:
        raise PlanError(
            table.at("reason"), f"has {len(reason)} characters", f"at most {REASON_LENGTH}", "shorten it"
        )
    new, claims = _replaced(table) if kind is Kind.SUPERSEDE else (None, ())
    said = Said(kind, _named(table, "old"), reason, time_of(table, "issued"), new, claims)
    table.finish()
    if said.new is not None and said.new.bundle_digest == said.old.bundle_digest:
        raise PlanError(table.at("new"), "is the old bundle itself", "another bundle", "name the later one")
    return said


def _replaced(table: Table) -> tuple[Named, tuple[str, ...]]:
    """Read which bundle replaces the old one, and in which claims."""
    claims = table.texts("claims", match=CLAIM)
    if list(claims) != sorted(set(claims)) or not 1 <= len(claims) <= MAX_CLAIMS:
        expected = f"1 to {MAX_CLAIMS} different ones, in order"
        raise PlanError(table.at("claims"), f"are {len(claims)} claims", expected, "name each once")
    return _named(table, "new"), claims


def _named(table: Table, key: str) -> Named:
    """Read a bundle's name."""
    inner = table.table(key)
    named = Named(inner.text("run", match=RUN_NAME.pattern), sha256_of(inner, "bundle_digest"))
    inner.finish()
    return named
