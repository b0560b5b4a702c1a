"""Changes every byte of a small signed bundle and of its attestations to every other value: each is detected.

``python -m tests.evidence.every_byte`` tries all of them, a few million whole verifications with each of the
two anchors, and prints how many it tried, how fast, and what was not detected.  The tests try a part of them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import functools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from assay.evidence import ed25519
from assay.evidence.keys import PublicKey
from assay.evidence.signer import attestations_of
from assay.evidence.verification import Verification
from assay.evidence.verify import verify_bundle
from tests.data.bundles.make import NEWEST, signer

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SMALL = NEWEST / "undecided.tar"
BROKEN = 4
PIECE = 64
"""Offsets that one process takes at a time."""

Values = Callable[[int, int], Iterable[int]]
"""Returns which values a byte is changed to, by its offset and its value."""


@dataclass(frozen=True)
class Signed:
    """A signed bundle that may be changed, and what a reader was told of it another way."""

    bundle: Path
    digest: str
    key: PublicKey

    def by_digest(self) -> Verification:
        """Verify as a reader who was told the bundle digest."""
        return verify_bundle(self.bundle, expect_digest=self.digest, now=NOW)

    def by_key(self) -> Verification:
        """Verify as a reader who has the key."""
        return verify_bundle(self.bundle, key=self.key, now=NOW)


@dataclass(frozen=True)
class Trial:
    """One file whose bytes are changed, and how the bundle is then verified."""

    what: str
    file: Callable[[Signed], Path]
    verify: Callable[[Signed], Verification]

    def __str__(self) -> str:
        """Return what is tried."""
        return self.what


TRIALS = (
    Trial("the bundle, by its digest", lambda signed: signed.bundle, Signed.by_digest),
    Trial("the bundle, by the key", lambda signed: signed.bundle, Signed.by_key),
    Trial("the attestations, by the key", lambda signed: attestations_of(signed.bundle), Signed.by_key),
)


def all_others(_at: int, byte: int) -> Iterator[int]:
    """Return every value that a byte does not have."""
    return (value for value in range(256) if value != byte)


def flipped(*turns: int) -> Values:
    """Return what flips one bit of a byte: another at each offset, and as many as there are ``turns``."""
    return lambda at, byte: (byte ^ 1 << (at + turn) % 8 for turn in turns)


def copied(folder: Path, bundle: Path = SMALL) -> Signed:
    """Return a copy of a signed bundle, to be changed."""
    copy = folder / bundle.name
    for each in (bundle, attestations_of(bundle)):
        shutil.copyfile(each, folder / each.name)
    return Signed(copy, verify_bundle(copy).bundle_digest, signer().public)


def undetected(signed: Signed, trial: Trial, offsets: Iterable[int], values: Values) -> Iterator[str]:
    """Yield what was changed and did not end as broken; the file is then as it was.

    Args:
        signed: the bundle.
        trial: which file is changed.
        offsets: which of its bytes.
        values: to which values.
    """
    file = trial.file(signed)
    data = file.read_bytes()
    with file.open("r+b", buffering=0) as stream:
        for at in offsets:
            for value in values(at, data[at]):
                os.pwrite(stream.fileno(), bytes([value]), at)
                verified = trial.verify(signed)
                if verified.exit_code != BROKEN:
                    yield f"{trial.what}: {value:#04x} at byte {at}: exit code {verified.exit_code}"
            os.pwrite(stream.fileno(), data[at : at + 1], at)


@contextlib.contextmanager
def remembered_signatures() -> Iterator[None]:
    """Verify the same signature over the same bytes once: most changes leave that of the first line alone."""
    with patch.object(ed25519, "verify", functools.lru_cache(maxsize=64)(ed25519.verify)):
        yield


def _piece(number: int, start: int, stop: int) -> list[str]:
    """Try some offsets of one trial, in a process of its own."""
    with remembered_signatures(), tempfile.TemporaryDirectory() as folder:
        return list(undetected(copied(Path(folder)), TRIALS[number], range(start, stop), all_others))


def _run(number: int, size: int, processes: int) -> list[str]:
    """Try every offset of one trial, and say how fast that went."""
    began = time.perf_counter()
    with concurrent.futures.ProcessPoolExecutor(processes) as pool:
        starts = range(0, size, PIECE)
        pieces = [pool.submit(_piece, number, start, min(start + PIECE, size)) for start in starts]
        found = [each for piece in pieces for each in piece.result()]
    seconds = time.perf_counter() - began
    tried = 255 * size
    sys.stdout.write(
        f"{TRIALS[number].what}: {size} bytes, {tried} verifications in {seconds:.0f} s "
        f"({tried / seconds:.0f} a second, {processes} processes), {len(found)} not detected\n"
    )
    sys.stdout.flush()
    return found


def main() -> int:
    """Try everything; return 1 if anything was not detected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    processes = parser.parse_args().processes
    with tempfile.TemporaryDirectory() as folder:
        signed = copied(Path(folder))
        sizes = [trial.file(signed).stat().st_size for trial in TRIALS]
    found = [each for number, size in enumerate(sizes) for each in _run(number, size, processes)]
    sys.stdout.writelines(f"{each}\n" for each in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
