"""Makes keys and signs what was verified; needs the extra ``signing`` (``cryptography``).

Verifying needs none of this: ``assay.evidence.ed25519`` is the standard library alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay import canonical
from assay.errors import BundleError, UsageError
from assay.evidence.asking import Wanted
from assay.evidence.attestation import SIGSTORE_ENDING, attest, sign_root, sigstore_bundle
from assay.evidence.dsse import Sign
from assay.evidence.keys import PublicKey
from assay.evidence.signer import attestations_of
from assay.evidence.statement import Shown, shown_by
from assay.evidence.verify import verifying
from assay.files import read_bounded, storage_errors, sync_folder, write_atomic

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_ENDING = ".pub"
_KEY_BYTES = 1 << 14
_PRIVATE_MODE = 0o600


@dataclass(frozen=True)
class SigningKey:
    """A private key that is ready to sign, with its public half."""

    public: PublicKey
    sign: Sign


def make_key(path: Path) -> PublicKey:
    """Write a new private key and, with the ending ``.pub``, its public half; nothing is overwritten.

    Raises:
        UsageError: there is a file of one of the names, or the extra ``signing`` is not installed.
        StorageError: the file system refused.
    """
    with _extra():
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  # an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # an extra
            Ed25519PrivateKey,
        )
    private = Ed25519PrivateKey.generate()
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    shared = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    public = public_path(path)
    for taken in (path, public):
        if taken.exists():
            raise UsageError(
                f"{taken} is there already", "a new name", "keys are never overwritten: --out FILE"
            )
    _write_new(path, secret, _PRIVATE_MODE)
    _write_new(public, shared, 0o644)
    return PublicKey(private.public_key().public_bytes_raw())


def public_path(path: Path) -> Path:
    """Return where the public half of a private key lies."""
    return path.with_name(path.name + PUBLIC_ENDING)


def load_key(path: Path) -> SigningKey:
    """Read a private key.

    Raises:
        UsageError: the file holds no Ed25519 private key, or the extra ``signing`` is not installed.
        StorageError: it cannot be read.
    """
    data = read_bounded(path, _KEY_BYTES)
    private = _private_key(path, data)
    return SigningKey(PublicKey(private.public_key().public_bytes_raw()), private.sign)


def sign_bundle(bundle: Path, key: SigningKey) -> tuple[Path, Shown]:
    """Verify a bundle and write its attestations beside it; return where, and what was signed.

    Raises:
        BundleError: the bundle is not intact: nothing is signed.
        UsageError: other attestations lie there already.
        StorageError: a file could not be read or written.
    """
    path = attestations_of(bundle)
    with shown_of(bundle) as shown:
        _write_once(path, attest(shown, key.sign, key.public))
        return path, shown


def sign_sigstore(bundle: Path, key: SigningKey) -> Path:
    """Verify a bundle and write its qualification as a key-signed Sigstore bundle beside it.

    Raises:
        BundleError: the bundle is not intact: nothing is signed.
        UsageError: another one lies there already.
        StorageError: a file could not be read or written.
    """
    path = bundle.with_name(f"{bundle.name.removesuffix('.tar')}{SIGSTORE_ENDING}")
    with shown_of(bundle) as shown:
        envelope = sign_root(shown, key.sign, key.public, [])
        _write_once(path, canonical.dumps(sigstore_bundle(envelope)) + b"\n")
    return path


@contextlib.contextmanager
def shown_of(bundle: Path) -> Iterator[Shown]:
    """Yield what verifying a bundle showed, with its subject digest, while it is open.

    Raises:
        BundleError: it is not intact.
        StorageError: it cannot be read.
    """
    with verifying(bundle, Wanted(datetime.now(UTC)), subject=True) as (verified, run):
        if run is None:
            problem = next(iter(verified.problems), None)
            where = f" ({problem.member}: {problem.observed})" if problem else ""
            raise BundleError(
                f"{bundle.name} is {verified.integrity.value}{where}",
                "an intact bundle",
                "nothing was signed; see `assay verify`",
            )
        yield shown_by(verified, run)


@contextlib.contextmanager
def _extra() -> Iterator[None]:
    """Say which extra lacks where ``cryptography`` cannot be imported."""
    try:
        yield
    except ImportError as error:
        raise UsageError(
            "signing needs the package cryptography",
            "the extra `signing`",
            "install it: pip install 'gpu-assay[signing]'",
        ) from error


def _private_key(path: Path, data: bytes) -> Ed25519PrivateKey:
    """Return the private key of a PEM file."""
    with _extra():
        from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415  # an extra
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415  # an extra
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415  # an extra
            Ed25519PrivateKey,
        )
    expected, remedy = "an Ed25519 private key in PEM, not encrypted", "make one: assay keygen"
    try:
        private = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(f"{path} is no private key", expected, remedy) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise UsageError(f"{path} is a key of another kind", expected, remedy)
    return private


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that must not be there yet, whole or not at all, readable by those of ``mode`` alone."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with storage_errors("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(os.open(beside, flags, mode), "wb") as stream:  # noqa: PTH123  # a descriptor, not a path
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.link(beside, path)  # unlike a rename it never replaces what is there
        finally:
            beside.unlink(missing_ok=True)
        sync_folder(path.parent)


def _write_once(path: Path, data: bytes) -> None:
    """Write what was signed; the same again changes nothing, and nothing else is replaced."""
    if path.exists():
        if path.stat().st_size == len(data) and read_bounded(path, len(data)) == data:
            return
        raise UsageError(f"{path} is there already, and is another", "no such file", "move it away first")
    write_atomic(path, data)
