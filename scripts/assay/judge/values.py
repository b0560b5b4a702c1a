"""What a chain must give: canonical and fresh values, recomputed by every reader from the plan alone."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence

from assay.judge.case import Case
from assay.plan.kernels import FRESH_COUNT, FRESH_VALUES, expected_values
from assay.plan.values import Chain

_SEED_KIND = "assay/fresh/1"


def fresh_values(case: Case, chain: str) -> tuple[int, ...]:
    """Return the 4,096 fresh integers of a chain, each in 0…4095, shape (4096,).

    Seed = SHA-256 of canonical JSON ``["assay/fresh/1", chain, plan digest, nonce, challenge]``; value *i*
    = the first two bytes of SHA-256(seed followed by *i* as uint32, big-endian) modulo 4096.
    """
    parts = [_SEED_KIND, chain, case.plan_digest, case.nonce, case.challenge]
    seed = hashlib.sha256(json.dumps(parts, separators=(",", ":"), ensure_ascii=False).encode()).digest()
    return tuple(_fresh(seed, index) for index in range(FRESH_COUNT))


def _fresh(seed: bytes, index: int) -> int:
    """Return fresh value number ``index``."""
    digest = hashlib.sha256(seed + struct.pack(">I", index)).digest()
    return int.from_bytes(digest[:2], "big") % FRESH_VALUES.stop


def words(values: Sequence[int]) -> tuple[str, ...]:
    """Return each integer as its float32's 8 hex digits (IEEE 754 binary32, big-endian bits)."""
    data = struct.pack(f">{len(values)}f", *values).hex()
    return tuple(data[at : at + 8] for at in range(0, len(data), 8))


def floats(given: Sequence[str]) -> tuple[float, ...]:
    """Return the float values of 8-hex-digit words.

    Raises:
        ValueError: a word is not 8 hex digits.
    """
    return tuple(struct.unpack(">f", bytes.fromhex(word))[0] for word in given)


def values_digest(given: Sequence[str]) -> str:
    """Return the SHA-256 of the words' bytes in order: how over 4,096 values are recorded."""
    return hashlib.sha256(bytes.fromhex("".join(given))).hexdigest()


def expected_words(chain: Chain, values: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """Return what each stage must give for input ``values`` of shape (n,), as words."""
    return tuple(words(result) for result in expected_values(chain, tuple(values)))
