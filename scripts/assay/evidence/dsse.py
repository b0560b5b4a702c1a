"""DSSE envelopes, one a line: written and read in one spelling (FORMATS, "Attestations").

The last character of a 64-byte signature's base64 has sixteen spellings that decoders accept, so what is read
is encoded again and compared.  ``keyid`` is always written and never trusted: which key vouches is what the
reader brings.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from assay import canonical
from assay.errors import BundleError
from assay.evidence import ed25519
from assay.evidence.keys import PublicKey
from assay.evidence.names import SHA256
from assay.model import Json

PAYLOAD_TYPE = "application/vnd.in-toto+json"
"""What in-toto statements are (in-toto attestation framework, "Envelope")."""

LINE_BYTES = 4 << 20
"""Largest envelope: a statement about the most members that a bundle may have, in base64."""

MAX_LINES = 8

_FIELDS = ("payload", "payloadType", "signatures")
_SIGNATURE_FIELDS = ("keyid", "sig")

Sign = Callable[[bytes], bytes]
"""Returns the signature (64 bytes) over a message."""


@dataclass(frozen=True)
class Envelope:
    """A signed statement: its bytes, what it says of its key (hex), and the signature (64 bytes)."""

    payload: bytes
    keyid: str
    signature: bytes

    def to_json(self) -> dict[str, Json]:
        """Return the envelope's JSON form."""
        return {
            "payload": base64.b64encode(self.payload).decode(),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": self.keyid, "sig": base64.b64encode(self.signature).decode()}],
        }

    def line(self) -> bytes:
        """Return the envelope's line, without its newline."""
        return canonical.dumps(self.to_json())

    def is_signed_by(self, key: PublicKey) -> bool:
        """Say whether the key signed the payload; an envelope that names another key is not its own."""
        signed = pre_authentication(self.payload)
        return self.keyid == key.id and ed25519.verify(key.raw, signed, self.signature)


def pre_authentication(payload: bytes) -> bytes:
    """Return what is signed: type and payload with their lengths (DSSE protocol v1, "PAE")."""
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(payload), payload)


def sign_statement(statement: Json, sign: Sign, keyid: str) -> Envelope:
    """Return a signed statement.

    Raises:
        CanonicalError: the statement has no canonical form.
    """
    payload = canonical.dumps(statement)
    return Envelope(payload, keyid, sign(pre_authentication(payload)))


def read_lines(data: bytes, member: str) -> tuple[bytes, ...]:
    """Return the lines of an attestation file, without their newlines.

    Raises:
        BundleError: there is none, too many, a torn or a too long one.
    """
    *lines, rest = data.split(b"\n", MAX_LINES + 1)
    if rest or not 1 <= len(lines) <= MAX_LINES:
        _refuse(member, "", "does not hold whole lines", f"1 to {MAX_LINES} lines, each with its newline")
    if max(map(len, lines)) > LINE_BYTES:
        _refuse(member, "", "has too long a line", f"at most {LINE_BYTES} bytes a line")
    return tuple(lines)


def parse_envelope(line: bytes, member: str) -> Envelope:
    """Read one envelope, in its one spelling.

    Raises:
        BundleError: it is not canonical, a field is missing, unknown or wrong, or it has not one signature.
    """
    value = canonical.loads(line, member=member, limit=LINE_BYTES)
    if not isinstance(value, Mapping) or tuple(value) != _FIELDS:
        _refuse(member, "", "has other fields", ", ".join(_FIELDS))
    if value["payloadType"] != PAYLOAD_TYPE:
        _refuse(member, "payloadType", "is another", PAYLOAD_TYPE)
    signatures = value["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1:
        _refuse(member, "signatures", "are not a list of one", "one signature")
    (signature,) = signatures
    if not isinstance(signature, Mapping) or tuple(signature) != _SIGNATURE_FIELDS:
        _refuse(member, "signatures.0", "has other fields", ", ".join(_SIGNATURE_FIELDS))
    keyid = signature["keyid"]
    if not isinstance(keyid, str) or not SHA256.fullmatch(keyid):
        _refuse(member, "signatures.0.keyid", "is no key's id", "64 hex digits in lower case")
    sig = _decoded(signature["sig"], member, "signatures.0.sig")
    if len(sig) != ed25519.SIGNATURE_BYTES:
        _refuse(member, "signatures.0.sig", f"has {len(sig)} bytes", f"{ed25519.SIGNATURE_BYTES} bytes")
    return Envelope(_decoded(value["payload"], member, "payload"), keyid, sig)


def _decoded(text: Json, member: str, field: str) -> bytes:
    """Return the bytes of canonical base64 (RFC 4648, sections 3.5 and 4)."""
    if not isinstance(text, str):
        _refuse(member, field, "is not a string", "base64")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        _refuse(member, field, "is not base64", "base64")
    if base64.b64encode(data).decode() != text:
        _refuse(member, field, "is not canonical base64", "the one spelling of these bytes")
    return data


def _refuse(member: str, field: str, observed: str, expected: str) -> NoReturn:
    """Raise the error of a broken attestation."""
    raise BundleError(observed, expected, "ask for an unaltered copy", member=member, field=field)
