"""Envelopes have one spelling, and what is signed is what the DSSE protocol says."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import canonical
from assay.errors import BundleError
from assay.evidence.dsse import Envelope, parse_envelope, pre_authentication, read_lines, sign_statement
from assay.model import Json
from tests.evidence.keyring import ALICE, MALLORY, respelled

STATEMENT: Json = {"a": [1, None, "é"]}
ENVELOPE = sign_statement(STATEMENT, ALICE.sign, ALICE.public.id)
LINE = ENVELOPE.line()


def line_with(**change: Json) -> bytes:
    value = canonical.loads(LINE)
    assert isinstance(value, dict)
    return canonical.dumps({**value, **change})


@pytest.mark.gate
def test_what_is_signed_is_the_encoding_of_the_protocol() -> None:
    """DSSE protocol v1, with the example's lengths worked out by hand."""
    assert pre_authentication(b"hello world") == (b"DSSEv1 28 application/vnd.in-toto+json 11 hello world")


@pytest.mark.gate
def test_an_envelope_is_read_as_it_was_written() -> None:
    read = parse_envelope(LINE, "line")
    assert read == ENVELOPE
    assert read.payload == canonical.dumps(STATEMENT)
    assert read.is_signed_by(ALICE.public)
    assert not read.is_signed_by(MALLORY.public)


def test_the_id_of_a_key_is_never_trusted() -> None:
    forged = Envelope(ENVELOPE.payload, MALLORY.public.id, ENVELOPE.signature)
    assert not forged.is_signed_by(MALLORY.public)
    assert not forged.is_signed_by(ALICE.public)


# A decoder that is asked to validate accepts all sixteen spellings of the last character.
@pytest.mark.gate
def test_only_one_of_the_sixteen_spellings_of_a_signature_is_read() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    sig = base64.b64encode(ENVELOPE.signature).decode()
    assert len(sig) == 88
    assert sig.endswith("==")
    read, refused = [], []
    for letter in alphabet:
        spelled = f"{sig[:85]}{letter}=="
        if base64.b64decode(spelled, validate=True) != ENVELOPE.signature:
            continue
        signatures: Json = [{"keyid": ALICE.public.id, "sig": spelled}]
        try:
            parse_envelope(line_with(signatures=signatures), "line")
            read.append(spelled)
        except BundleError as error:
            refused.append(error.observed)
    assert read == [sig]
    assert len(refused) == 15
    assert all("canonical base64" in observed for observed in refused)


def sig(**change: Json) -> Json:
    return [{"keyid": ALICE.public.id, "sig": base64.b64encode(ENVELOPE.signature).decode(), **change}]


WRONG: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"{", "is not JSON"),
    "a list": (b"[]", "has other fields"),
    "spaces": (LINE.replace(b":", b": ", 1), "is not canonical"),
    "another field": (line_with(more=1), "has other fields"),
    "another type": (line_with(payloadType="text/plain"), "payloadType: is another"),
    "payload a number": (line_with(payload=1), "payload: is not a string"),
    "payload not base64": (line_with(payload="?"), "payload: is not base64"),
    "payload not ASCII": (line_with(payload="é"), "payload: is not base64"),
    "payload with spaces": (line_with(payload="YW Jj"), "payload: is not base64"),
    "payload respelled": (
        line_with(payload=respelled(base64.b64encode(b"abcd").decode())),
        "canonical base64",
    ),
    "no signature": (line_with(signatures=[]), "list of one"),
    "two signatures": (line_with(signatures=[*sig(), *sig()]), "list of one"),  # type: ignore[misc]  # lists
    "signatures an object": (line_with(signatures={}), "list of one"),
    "a signature that is none": (line_with(signatures=[1]), "signatures.0: has other fields"),
    "a field of a signature": (line_with(signatures=sig(more=1)), "signatures.0: has other fields"),
    "an id that is none": (line_with(signatures=sig(keyid="A" * 64)), "signatures.0.keyid"),
    "an id that is a number": (line_with(signatures=sig(keyid=1)), "signatures.0.keyid"),
    "a short signature": (line_with(signatures=sig(sig="YWJj")), "has 3 bytes"),
}


@pytest.mark.parametrize(("line", "says"), WRONG.values(), ids=WRONG)
def test_another_envelope_is_refused_at_its_place(line: bytes, says: str) -> None:
    with pytest.raises(BundleError) as caught:
        parse_envelope(line, "line")
    assert says in caught.value.observed


def test_lines_are_whole_and_bounded() -> None:
    assert read_lines(b"a\nb\n", "file") == (b"a", b"b")
    assert read_lines(b"\n" * 8, "file") == (b"",) * 8
    for data in (b"", b"a", b"a\nb", b"\n" * 9, b"\n" * 10_000):
        with pytest.raises(BundleError, match="whole lines"):
            read_lines(data, "file")
    with pytest.raises(BundleError, match="too long a line"):
        read_lines(b"a" * ((4 << 20) + 1) + b"\n", "file")


@given(st.binary(max_size=300))
def test_any_payload_is_read_as_it_was_written(payload: bytes) -> None:
    envelope = Envelope(payload, "0" * 64, bytes(64))
    assert parse_envelope(envelope.line(), "line") == envelope


@given(st.integers(0, len(LINE) - 1), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_no_longer_signed(at: int, change: int) -> None:
    changed = bytearray(LINE)
    changed[at] ^= change
    try:
        read = parse_envelope(bytes(changed), "line")
    except BundleError:
        return
    assert not read.is_signed_by(ALICE.public)
