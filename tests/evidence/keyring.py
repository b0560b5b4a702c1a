"""Keys of made-up people, and bundles that they signed."""

from __future__ import annotations

import base64
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from assay import canonical
from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.dsse import Envelope, parse_envelope
from assay.evidence.keys import PublicKey
from assay.model import Json
from assay.signing import SigningKey, sign_bundle
from tests.evidence.support import make_run


def person(number: int) -> SigningKey:
    """Return the key of a person."""
    private = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)
    return SigningKey(PublicKey(private.public_key().public_bytes_raw()), private.sign)


ALICE = person(1)
MALLORY = person(2)


def signed(folder: Path, bundle: Bundle | None = None, key: SigningKey = ALICE) -> tuple[Bundle, Path]:
    """Return a bundle and its attestations, signed."""
    made = bundle or write_bundle(make_run(folder))
    return made, sign_bundle(made.path, key)[0]


def envelopes(path: Path) -> list[Envelope]:
    """Return the envelopes of an attestation file."""
    return [parse_envelope(line, "line") for line in path.read_bytes().splitlines()]


def respelled(text: str) -> str:
    """Return another base64 spelling of the same bytes: a bit that no byte holds is set."""
    assert text.endswith("=")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    at = len(text.rstrip("=")) - 1
    changed = text[:at] + alphabet[alphabet.index(text[at]) ^ 1] + text[at + 1 :]
    assert base64.b64decode(changed, validate=True) == base64.b64decode(text)
    return changed


def statement_of(envelope: Envelope) -> Json:
    """Return the statement of an envelope."""
    return canonical.loads(envelope.payload)
