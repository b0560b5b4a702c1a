"""Public keys in files: 64 hex digits, or a PEM ``SubjectPublicKeyInfo`` of Ed25519 (RFC 7468, RFC 8410)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from assay.errors import UsageError
from assay.evidence.ed25519 import KEY_BYTES, is_key
from assay.files import read_bounded

_FILE_BYTES = 1 << 14
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----\s([^-]*)-----END \1-----")
_PUBLIC = "PUBLIC KEY"
_SEQUENCE, _OID, _BITS = 0x30, 0x06, 0x03
"""DER tags (ITU-T X.690, sections 8.9, 8.19 and 8.6)."""

_ED25519 = bytes([43, 101, 112])
"""The algorithm 1.3.101.112 (RFC 8410, section 3); it has no parameters."""

_LONG_FORM = 0x80
_REMEDY = "name the file that `assay keygen` wrote with the ending .pub"


@dataclass(frozen=True)
class PublicKey:
    """A key that can vouch: ``raw`` is its 32 bytes."""

    raw: bytes

    @property
    def id(self) -> str:
        """Return the key's id: SHA-256 (hex) of its 32 bytes."""
        return hashlib.sha256(self.raw).hexdigest()


def read_public_key(path: Path) -> PublicKey:
    """Return the public key in a file.

    Raises:
        StorageError: the file cannot be read.
        UsageError: it holds no Ed25519 public key, or one that fits signatures that nobody made.
    """
    try:
        text = read_bounded(path, _FILE_BYTES).decode("ascii").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a public key", "64 hex digits or PEM", _REMEDY) from error
    raw = bytes.fromhex(text) if re.fullmatch("[0-9a-f]{64}", text) else _from_pem(text, path)
    if not is_key(raw):
        raise UsageError(f"{path} holds no point that can vouch", "an Ed25519 public key", _REMEDY)
    return PublicKey(raw)


def _from_pem(text: str, path: Path) -> bytes:
    """Return the key of a PEM text."""
    found = _PEM.fullmatch(text)
    if found is None:
        raise UsageError(f"{path} is not a public key", "64 hex digits or PEM", _REMEDY)
    if found[1] != _PUBLIC:
        raise UsageError(f"{path} holds a {found[1]}", f"a {_PUBLIC}", _REMEDY)
    try:
        data = base64.b64decode("".join(found[2].split()), validate=True)
        return _from_der(data)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"{path}: {error}", "an Ed25519 public key in PEM", _REMEDY) from error


def _from_der(data: bytes) -> bytes:
    """Return the key of a ``SubjectPublicKeyInfo`` (RFC 8410, section 4).

    Raises:
        ValueError: it is no such thing, or of another algorithm.
    """
    outer, rest = _element(data, _SEQUENCE)
    algorithm, key = _element(outer, _SEQUENCE)
    oid, parameters = _element(algorithm, _OID)
    if oid != _ED25519 or parameters:
        msg = f"the key's algorithm is {oid.hex()}, not Ed25519"
        raise ValueError(msg)
    bits, more = _element(key, _BITS)
    if rest or more or len(bits) != KEY_BYTES + 1 or bits[0]:
        msg = f"the key has {len(bits)} bytes"
        raise ValueError(msg)
    return bits[1:]


def _element(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """Return the content of the DER element at the beginning, and what follows it.

    Only lengths below 128 are read: a whole Ed25519 key has 44 bytes.

    Raises:
        ValueError: it has another tag, or is longer than what is there.
    """
    if len(data) < len("tl") or data[0] != tag or data[1] >= _LONG_FORM or len(data) - 2 < data[1]:
        msg = "the key is no SubjectPublicKeyInfo of Ed25519"
        raise ValueError(msg)
    return data[2 : 2 + data[1]], data[2 + data[1] :]
