"""Public keys come as hex or as PEM, and a file that is neither is named as what it is."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import StorageError, UsageError
from assay.evidence.keys import read_public_key

PRIVATE = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
RAW = PRIVATE.public_key().public_bytes_raw()
PEM = PRIVATE.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)
DER = PRIVATE.public_key().public_bytes(
    serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
)


def pem(der: bytes, label: str = "PUBLIC KEY") -> bytes:
    return b"-----BEGIN %b-----\n%b-----END %b-----\n" % (
        label.encode(),
        base64.encodebytes(der),
        label.encode(),
    )


def pem_of(key: ec.EllipticCurvePublicKey | x25519.X25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.gate
@pytest.mark.parametrize("data", [PEM, RAW.hex().encode(), b"\n" + RAW.hex().encode() + b"\r\n", pem(DER)])
def test_every_form_gives_the_same_key_and_id(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "key.pub"
    path.write_bytes(data)
    key = read_public_key(path)
    assert key.raw == RAW
    assert key.id == hashlib.sha256(RAW).hexdigest()


WRONG = {
    "empty": (b"", "not a public key"),
    "binary": (RAW, "not a public key"),
    "upper case": (RAW.hex().upper().encode(), "not a public key"),
    "short": (RAW.hex()[:-2].encode(), "not a public key"),
    "two keys": (PEM + PEM, "not a public key"),
    "private": (pem(DER, "PRIVATE KEY"), "holds a PRIVATE KEY"),
    "another curve": (pem_of(ec.generate_private_key(ec.SECP256R1()).public_key()), "not Ed25519"),
    "x25519": (pem_of(x25519.X25519PrivateKey.generate().public_key()), "not Ed25519"),
    "longer": (pem(DER + b"\0"), "bytes"),
    "cut": (pem(DER[:-1]), "SubjectPublicKeyInfo"),
    "nothing in it": (pem(b""), "SubjectPublicKeyInfo"),
    "with parameters": (pem(bytes.fromhex("302c300706032b65700500032100") + RAW), "not Ed25519"),
    "unused bits": (pem(DER[:11] + b"\1" + DER[12:]), "bytes"),
    "not base64": (b"-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n", "key.pub"),
    "small order": (b"0" * 64, "no point that can vouch"),
    "off the curve": (b"02" + b"0" * 62, "no point that can vouch"),
}


@pytest.mark.parametrize(("data", "says"), WRONG.values(), ids=WRONG)
def test_what_is_no_key_is_refused_with_its_reason(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "key.pub"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=says) as caught:
        read_public_key(path)
    assert caught.value.expected
    assert caught.value.remedy


def test_a_file_that_is_missing_or_large_is_no_key(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        read_public_key(tmp_path / "absent")
    (tmp_path / "large").write_bytes(b"a" * (1 << 20))
    with pytest.raises(StorageError):
        read_public_key(tmp_path / "large")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=200), st.binary(max_size=60).map(pem)))
def test_any_bytes_are_a_key_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "key.pub"
    path.write_bytes(data)
    try:
        key = read_public_key(path)
    except UsageError:
        return
    assert len(key.raw) == 32
