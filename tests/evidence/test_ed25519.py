"""Ed25519 as RFC 8032 says, and nothing that some verifiers let through."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.evidence.ed25519 import is_key, verify

ORDER = 2**252 + 27742317777372353535851937790883648493
P = 2**255 - 19

# RFC 8032, section 7.1: TEST 1, 2, 3 and SHA(abc), as public key, message, signature.
VECTORS = {
    "TEST 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    "TEST 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    "TEST 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
    "TEST SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        (
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
            "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"
        ),
    ),
}

# The eight points whose order divides 8 in canonical encoding, and every second spelling of a y or a sign.
SMALL = {
    "order 1": "0100000000000000000000000000000000000000000000000000000000000000",
    "order 2": "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "order 4, x even": "0000000000000000000000000000000000000000000000000000000000000000",
    "order 4, x odd": "0000000000000000000000000000000000000000000000000000000000000080",
    "order 8, a": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "order 8, -a": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "order 8, b": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "order 8, -b": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
}
NOT_CANONICAL = {
    "y = p": "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "y = p + 1": "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "y = 2^255 - 1": "ff" * 31 + "7f",
    "y = p, signed": "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "x = 0, signed": "0100000000000000000000000000000000000000000000000000000000000080",
    "x = 0, signed, y = -1": "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
}
OFF_THE_CURVE = "0200000000000000000000000000000000000000000000000000000000000000"


def test_the_vector_of_the_abc_message_is_its_sha512() -> None:
    assert VECTORS["TEST SHA(abc)"][1] == hashlib.sha512(b"abc").hexdigest()


@pytest.mark.gate
@pytest.mark.parametrize("vector", VECTORS.values(), ids=VECTORS)
def test_the_vectors_of_the_rfc_hold_and_no_neighbour_does(vector: tuple[str, str, str]) -> None:
    key, message, signature = map(bytes.fromhex, vector)
    assert verify(key, message, signature)
    assert not verify(key, message + b"\0", signature)
    for at in range(0, len(signature), 7):
        changed = bytearray(signature)
        changed[at] ^= 1 << at % 8
        assert not verify(key, message, bytes(changed)), at
    for at in range(0, len(key), 7):
        changed = bytearray(key)
        changed[at] ^= 1 << at % 8
        assert not verify(bytes(changed), message, signature), at


@pytest.mark.gate
def test_s_has_one_form() -> None:
    key, message, signature = map(bytes.fromhex, VECTORS["TEST 2"])
    scalar = int.from_bytes(signature[32:], "little")
    for times in range(1, 16):
        shifted = scalar + times * ORDER
        if shifted < 2**256:
            assert not verify(key, message, signature[:32] + shifted.to_bytes(32, "little")), times
    assert not verify(key, message, signature[:32] + (ORDER - scalar).to_bytes(32, "little"))


@pytest.mark.parametrize("wrong", [b"", bytes(63), bytes(65), bytes(64), b"\xff" * 64])
def test_other_lengths_and_trivial_signatures_are_refused(wrong: bytes) -> None:
    key, message, _ = map(bytes.fromhex, VECTORS["TEST 2"])
    assert not verify(key, message, wrong)
    assert not verify(key[:31], message, wrong)
    assert not verify(key + b"\0", message, wrong)


# With such a key, R = key and S = 0 (and R neutral) fit many messages in a verifier that does not look.
@pytest.mark.gate
@pytest.mark.parametrize("key", [*SMALL.values(), *NOT_CANONICAL.values(), OFF_THE_CURVE])
def test_keys_that_fit_signatures_that_nobody_made_are_refused(key: str) -> None:
    raw = bytes.fromhex(key)
    assert not is_key(raw)
    neutral = bytes.fromhex(SMALL["order 1"])
    for r in (raw, neutral, *map(bytes.fromhex, SMALL.values())):
        for number in range(8):
            assert not verify(raw, bytes([number]), r + bytes(32))


def test_r_in_another_spelling_is_refused() -> None:
    """R = the neutral point, spelled canonically and as y = p + 1: only the first may ever hold."""
    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    scalar_bytes = bytearray(hashlib.sha512(bytes(32)).digest()[:32])
    scalar_bytes[0] &= 248
    scalar_bytes[31] = scalar_bytes[31] & 127 | 64
    secret = int.from_bytes(scalar_bytes, "little")
    key, message = private.public_key().public_bytes_raw(), b"message"
    for spelling, right in ((SMALL["order 1"], True), (NOT_CANONICAL["y = p + 1"], False)):
        r = bytes.fromhex(spelling)
        challenge = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little")
        signature = r + (challenge * secret % ORDER).to_bytes(32, "little")
        assert verify(key, message, signature) is right, spelling


@settings(max_examples=60)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.data())
def test_it_agrees_with_openssl(secret: bytes, message: bytes, data: st.DataObject) -> None:
    private = Ed25519PrivateKey.from_private_bytes(secret)
    public = private.public_key()
    signature = bytearray(private.sign(message))
    assert verify(public.public_bytes_raw(), message, bytes(signature))
    signature[data.draw(st.integers(0, 63))] ^= data.draw(st.integers(1, 255))
    assert verify(public.public_bytes_raw(), message, bytes(signature)) is _openssl(
        public.public_bytes_raw(), message, bytes(signature)
    )


@given(st.binary(min_size=32, max_size=32))
def test_a_key_is_a_point_of_the_curve(raw: bytes) -> None:
    """By another route: Euler's criterion for x² = (y² - 1) / (dy² + 1)."""
    y = int.from_bytes(raw, "little") & (1 << 255) - 1
    d = -121665 * pow(121666, P - 2, P) % P
    square = (y * y - 1) * pow(d * y * y + 1, P - 2, P) % P
    on_curve = y < P and pow(square, (P - 1) // 2, P) in {0, 1}
    assert is_key(raw) == (on_curve and raw.hex() not in SMALL.values() and square != 0)


def _openssl(key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True
