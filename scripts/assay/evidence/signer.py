"""Who vouches for a bundle: its attestations checked with the key that the reader brought."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import BundleError, NewerSchemaError
from assay.evidence.asking import Wanted
from assay.evidence.statement import Shown
from assay.evidence.verification import Answer, Signer
from assay.files import read_bounded, storage_errors

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


def ask_signer(bundle: Path, wanted: Wanted, shown: Shown) -> Vouching:
    """Check the attestations of an intact bundle.

    Args:
        bundle: the bundle; its attestations lie beside it where the reader names none.
        wanted: what the reader wants, with the key.
        shown: what verifying the bundle showed.

    Raises:
        StorageError: the attestations cannot be read, or the reader named some that are not there.
    """
    path = wanted.attestations or attestations_of(bundle)
    if wanted.attestations is None and not path.exists():
        asked = Answer.NOT_ASKED if wanted.key is None else Answer.FAILED
        return Vouching(
            Signer.UNSIGNED, "nobody vouches for this bundle: no attestations lie beside it", asked
        )
    if wanted.key is None:
        detail = f"{path.name} lies beside it, but no key was given to check it with"
        return Vouching(Signer.UNCHECKED, detail, Answer.NOT_ASKED)
    from assay.evidence.attestation import check_attestations  # noqa: PLC0415  # who brings no key need not wait

    try:
        count = check_attestations(_read(path), path.name, wanted.key, shown)
    except NewerSchemaError as error:
        return Vouching(Signer.NEWER, _words(error))
    except BundleError as error:
        return Vouching(Signer.INVALID, _words(error))
    detail = f"key {wanted.key.id} signed {count} statements about this bundle"
    return Vouching(Signer.VALID, detail, Answer.PASSED)


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
