"""Who vouches for a bundle: its attestations checked with the key that the reader brought."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import BundleError, NewerSchemaError
from assay.evidence.asking import Wanted
from assay.evidence.statement import Shown
from assay.evidence.verification import Answer, Signer
from assay.files import read_bounded, storage_errors

if TYPE_CHECKING:
    from assay.evidence.attested import Attestations

ENDING = ".intoto.jsonl"
"""How the names of attestation files end (in-toto attestation framework, "Bundle")."""

FILE_BYTES = 12 << 20
"""Largest attestation file: statements about the most members that a bundle may have, in base64."""


@dataclass(frozen=True)
class Vouching:
    """Whether somebody vouches for the bundle, what that stands on in words, and the answer of the step."""

    signer: Signer
    detail: str
    answer: Answer = Answer.FAILED


UNASKED = Vouching(Signer.UNCHECKED, "not reached: the bundle is not intact", Answer.NOT_ASKED)


def attestations_of(bundle: Path) -> Path:
    """Return where the attestations of a bundle lie: beside it."""
    return bundle.with_name(f"{bundle.name.removesuffix('.tar')}{ENDING}")


@dataclass(frozen=True)
class Witness:
    """What lies beside a bundle to vouch for it, before the bundle is read.

    Attributes:
        vouching: what its attestations come to, whatever the bundle is; None where that depends on it.
        attestations: those that were read; None where ``vouching`` says all.
    """

    vouching: Vouching | None = None
    attestations: Attestations | None = None


NO_WITNESS = Witness(UNASKED)


def find_witness(bundle: Path, wanted: Wanted) -> Witness:
    """Find the attestations of a bundle, and read them where a key was given to check them with.

    Args:
        bundle: the bundle; its attestations lie beside it where the reader names none.
        wanted: what the reader wants, with the key.

    Raises:
        StorageError: the attestations cannot be read, or the reader named some that are not there.
    """
    path = wanted.attestations or attestations_of(bundle)
    if wanted.attestations is None and not path.exists():
        asked = Answer.NOT_ASKED if wanted.key is None else Answer.FAILED
        detail = "nobody vouches for this bundle: no attestations lie beside it"
        return Witness(Vouching(Signer.UNSIGNED, detail, asked))
    if wanted.key is None:
        detail = f"{path.name} lies beside it, but no key was given to check it with"
        return Witness(Vouching(Signer.UNCHECKED, detail, Answer.NOT_ASKED))
    from assay.evidence.attested import read_attestations  # noqa: PLC0415  # who brings no key need not wait

    try:
        return Witness(attestations=read_attestations(_read(path), path.name))
    except BundleError as error:
        return Witness(Vouching(Signer.INVALID, _words(error)))


def ask_signer(witness: Witness, wanted: Wanted, shown: Shown) -> Vouching:
    """Say whether the reader's key vouches for an intact bundle.

    Args:
        witness: what lies beside it.
        wanted: what the reader wants, with the key.
        shown: what verifying the bundle showed.
    """
    found, key = witness.attestations, wanted.key
    if found is None or key is None:
        return witness.vouching or UNASKED
    from assay.evidence.attestation import check_vouching  # noqa: PLC0415  # as above

    try:
        count = check_vouching(found, key, shown)
    except NewerSchemaError as error:
        return Vouching(Signer.NEWER, _words(error))
    except BundleError as error:
        return Vouching(Signer.INVALID, _words(error))
    return Vouching(Signer.VALID, f"key {key.id} signed {count} statements about this bundle", Answer.PASSED)


def ask_of_digest(witness: Witness, wanted: Wanted, digest: str) -> Vouching:
    """Say whether the reader's key signed the digest (hex) of a bundle that cannot be read any further.

    No schema is needed for that: so what was changed since it was signed is never taken for something newer.
    """
    found, key = witness.attestations, wanted.key
    if found is None or key is None:
        return witness.vouching or UNASKED
    from assay.evidence.attested import check_signature  # noqa: PLC0415  # as above

    if found.bundle_digest != digest:
        detail = f"{found.member} is about the bundle digest {found.bundle_digest or 'of nothing'}"
        return Vouching(Signer.INVALID, f"{detail}, not {digest}")
    try:
        check_signature(found, key)
    except BundleError as error:
        return Vouching(Signer.INVALID, _words(error))
    detail = f"key {key.id} signed this bundle digest; what else it signed was not compared"
    return Vouching(Signer.UNCHECKED, detail, Answer.NOT_ASKED)


def _read(path: Path) -> bytes:
    """Return the attestation file.

    Raises:
        BundleError: it is not a regular file, or larger than any that is written.
        StorageError: it cannot be read.
    """
    with storage_errors("read", path):
        if path.exists() and not path.is_file():
            raise BundleError("is not a regular file", "attestations", "", member=path.name)
        if path.stat().st_size > FILE_BYTES:
            raise BundleError("is too large", f"at most {FILE_BYTES} bytes", "", member=path.name)
    return read_bounded(path, FILE_BYTES)


def _words(error: BundleError) -> str:
    """Return an error in one line."""
    return f"{error.observed}; expected: {error.expected}"
