"""What is fuzzed: an input is a bundle, or after a ``J`` a document, or after an ``A`` attestations."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from assay import canonical
from assay.errors import AssayError
from assay.evidence.attestation import check_attestations
from assay.evidence.statement import Shown
from assay.evidence.verification import Signer
from assay.evidence.verify import verify_bundle
from assay.model import Verdict
from assay.signing import shown_of
from tests.data.bundles.make import NEWEST, signer

NOW = datetime(2026, 12, 1, tzinfo=UTC)
HONEST = NEWEST / "undecided.tar"
ATTESTED = NEWEST / "undecided.intoto.jsonl"


def fuzz_one(data: bytes) -> None:
    """Give one input to the reader that it is for.

    Raises:
        AssertionError: what came of it may not be.
    """
    {b"J": _document, b"A": _attestations}.get(data[:1], _bundle)(data)


def seeds() -> Iterator[bytes]:
    """Yield what honest and bad bundles look like."""
    for path in (HONEST, *sorted((NEWEST / "bad").iterdir())):
        yield path.read_bytes()
    yield b"A" + ATTESTED.read_bytes()
    yield b'J{"a":[1,null,true,"\\u00e9"],"schema":"assay/plan/1"}'


def _bundle(data: bytes) -> None:
    """Verify a bundle."""
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(AssayError):
        path = Path(folder) / "fuzzed.tar"
        path.write_bytes(data)
        verified = verify_bundle(path, accept=["unanchored", "rehearsed"], key=signer().public, now=NOW)
        _check(verified.exit_code in {0, 1, 3, 4}, "an exit code of its own")
        _check(verified.signer is not Signer.VALID, "an anchor without a signature")
        if not verified.intact:
            _check(verified.verdict is Verdict.UNDECIDED, "a verdict of a broken bundle")
            _check(not verified.claims.established, "a claim of a broken bundle")
            _check(bool(verified.problems), "no problem")
        canonical.dumps(verified.to_json())


def _document(data: bytes) -> None:
    """Read a document: what is read has one spelling, and is read from it again."""
    with contextlib.suppress(AssayError):
        value = canonical.parse(data[1:])
        _check(canonical.loads(canonical.dumps(value)) == value, "another value")


def _attestations(data: bytes) -> None:
    """Check attestations: only the honest ones hold."""
    with _shown() as shown, contextlib.suppress(AssayError):
        check_attestations(data[1:], "file", signer().public, shown)
        _check(data[1:] == ATTESTED.read_bytes(), "a signature of nobody")


@contextlib.contextmanager
def _shown() -> Iterator[Shown]:
    """Yield what the honest bundle shows."""
    with shown_of(HONEST) as shown:
        yield shown


def _check(holds: bool, what: str) -> None:  # noqa: FBT001  # a condition
    """Fail where something does not hold."""
    if not holds:
        raise AssertionError(what)
