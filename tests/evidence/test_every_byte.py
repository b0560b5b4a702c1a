"""A changed byte of a signed bundle or of its attestations is detected by whoever has an anchor.

``every_byte`` tries every value at every offset; here are as many of them as there is time for.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.errors import BundleError
from assay.evidence.ustar import BLOCK, read_header
from assay.evidence.verification import Answer, Integrity, Signer
from tests.evidence.every_byte import (
    TRIALS,
    Signed,
    Trial,
    all_others,
    flipped,
    undetected,
)

BY_DIGEST, BY_KEY, ATTESTED = TRIALS


@pytest.fixture
def world() -> None:
    """Leave the small world of the other tests: this bundle is judged by the real rules."""


def size_of(signed: Signed, trial: Trial) -> int:
    return trial.file(signed).stat().st_size


def test_unchanged_it_holds(signed: Signed) -> None:
    by_digest, by_key = signed.by_digest(), signed.by_key()
    assert (by_digest.integrity, by_digest.anchored) == (Integrity.INTACT, True)
    assert (by_key.signer, by_key.anchored) == (Signer.VALID, True)


@pytest.mark.gate
def test_a_flipped_bit_at_every_offset_is_detected(signed: Signed) -> None:
    assert list(undetected(signed, BY_DIGEST, range(size_of(signed, BY_DIGEST)), flipped(0))) == []


MORE = {BY_DIGEST: (1, 2, 3, 4), BY_KEY: (0, 3, 6), ATTESTED: (0, 5)}


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_more_bits_at_every_offset_are_detected(signed: Signed, trial: Trial) -> None:
    assert list(undetected(signed, trial, range(size_of(signed, trial)), flipped(*MORE[trial]))) == []


def test_every_value_of_every_byte_of_a_header_is_detected(signed: Signed) -> None:
    block = bytearray(signed.bundle.read_bytes()[:BLOCK])
    assert is_header(block)
    for at, byte in enumerate(bytes(block)):
        for value in all_others(at, byte):
            block[at] = value
            assert not is_header(block), (at, value)
        block[at] = byte


def is_header(block: bytearray) -> bool:
    """Say whether these bytes are read as a header."""
    try:
        read_header(bytes(block), 0)
    except BundleError:
        return False
    return True


# ---------------------------------------------------------- what is newer, and what only says so of itself


def schemas(signed: Signed) -> Iterator[int]:
    """Yield the offset of every digit of a schema's version in the bundle."""
    data, at = signed.bundle.read_bytes(), 0
    while (at := data.find(b'"assay/', at)) >= 0:
        at = data.index(b'"', at + 1)
        yield at - 1


@pytest.mark.gate
@pytest.mark.parametrize("trial", [BY_DIGEST, BY_KEY], ids=str)
def test_every_value_of_a_schemas_version_is_detected(signed: Signed, trial: Trial) -> None:
    digits = list(schemas(signed))
    assert len(digits) == 3  # of manifest, plan and receipt
    assert list(undetected(signed, trial, digits, all_others)) == []


def test_a_manifest_that_says_to_be_newer_is_told_from_the_one_that_was_signed(signed: Signed) -> None:
    first = next(schemas(signed))
    data = bytearray(signed.bundle.read_bytes())
    assert data[first : first + 1] == b"1"
    data[first : first + 1] = b"2"
    signed.bundle.write_bytes(data)
    for verified in (signed.by_digest(), signed.by_key()):
        assert (verified.integrity, verified.anchored, verified.exit_code) == (Integrity.BROKEN, False, 4)
        assert verified.problems[0].member == "manifest.json"
        assert verified.problems[0].observed == f"the bundle digest is {verified.bundle_digest}"
        assert verified.problems[0].expected.startswith(signed.digest)
        assert verified.steps[1].answer is Answer.FAILED
    assert signed.by_key().signer is Signer.INVALID
