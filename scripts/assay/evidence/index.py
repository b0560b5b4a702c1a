"""The index of a release: one signed statement about all its bundles."""

from __future__ import annotations

from typing import NoReturn

from assay import __version__, canonical
from assay.errors import BundleError
from assay.evidence.documents import TOOL
from assay.evidence.dsse import LINE_BYTES, Sign, parse_envelope, read_lines, sign_statement
from assay.evidence.keys import PublicKey
from assay.evidence.release import Release
from assay.evidence.statement import statement
from assay.model import Json

RELEASE = "urn:gpu-assay:release:v1"
"""The predicate of an index; its JSON Schema is ``schemas/release.schema.json``."""

INDEX_ENDING = ".release.intoto.jsonl"


def index_name(release: Release) -> str:
    """Return the file name of a release's index: its project, and the beginning of its plan's digest."""
    first = release.candidates[0]
    return f"{first.project}-{first.verified.plan_digest[:8]}{INDEX_ENDING}"


def sign_index(release: Release, sign: Sign, key: PublicKey) -> bytes:
    """Return the signed index of a complete release.

    Raises:
        BundleError: it is not complete.
    """
    if release.exit_code != 0:
        _refuse("", f"has {len(release.faults)} faults", "a complete release")
    predicate: dict[str, Json] = {**_said(release), "tool": {"name": TOOL, "version": __version__}}
    envelope = sign_statement(statement(_subject(release), RELEASE, predicate), sign, key.id)
    data = envelope.line() + b"\n"
    check_index(data, key, release)
    return data


def check_index(data: bytes, key: PublicKey, release: Release) -> None:
    """Check that a key signed the index of exactly these bundles.

    Raises:
        BundleError: it did not, or the index is broken or of another release.
    """
    lines = read_lines(data, "the index")
    if len(lines) != 1:
        _refuse("", f"has {len(lines)} lines", "one")
    envelope = parse_envelope(lines[0], "the index")
    if not envelope.is_signed_by(key):
        _refuse("signatures.0", "is not a signature of the key", f"one of key {key.id}")
    found = canonical.loads(envelope.payload, member="the index", limit=LINE_BYTES)
    predicate = found.get("predicate") if isinstance(found, dict) else None
    tool = predicate.get("tool") if isinstance(predicate, dict) else None
    right = statement(_subject(release), RELEASE, {**_said(release), "tool": tool})
    if found != right:
        _refuse("payload", "is about another release", "these bundles, and what they come to")


def _subject(release: Release) -> list[Json]:
    """Return the bundles by name and digest."""
    members = sorted((f"{each.verified.run}.tar", each.verified.bundle_digest) for each in release.candidates)
    return [{"digest": {"sha256": digest}, "name": name} for name, digest in members]


def _said(release: Release) -> dict[str, Json]:
    """Return what the index says, which every reader of the bundles finds again."""
    first = release.candidates[0]
    ordered = sorted(release.candidates, key=lambda each: each.place)
    return {
        "claims": {claim: dict(places) for claim, places in release.claims().items()},
        "members": [
            {
                "bundle_digest": each.verified.bundle_digest,
                "place": each.place,
                "run": each.verified.run,
                "subject_digest": each.verified.subject_digest,
                "verdict": each.verified.verdict.value,
            }
            for each in ordered
        ],
        "plan_digest": first.verified.plan_digest,
        "project": first.project,
        "revision": first.revision,
        "schema": "assay/release/1",
        "wheel": {"name": first.wheel[0], "sha256": first.wheel[1]},
    }


def _refuse(field: str, observed: str, expected: str) -> NoReturn:
    """Raise the error of an index that does not hold."""
    raise BundleError(observed, expected, "ask for an unaltered index", member="the index", field=field)
