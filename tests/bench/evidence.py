"""Verifying large and many-membered bundles, beside what else hashes the same bytes.

The large bundle is verified as a reader does it: ``assay verify`` from the start of its process to its end,
with every step.  ``openssl`` and ``model_signing`` are measured from start to end too.  The floor is what
SHA-256 takes on this machine if nothing else had to be done: as many bytes from a buffer that stays in the
cache, in as many threads as a verification uses, with ``hashlib``.  Where it is above a bound, this machine
cannot keep the bound.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.container import PIECE, THREADS, Member, open_container, write_container
from assay.evidence.names import artifact_name
from assay.evidence.runfolder import Start, create_run
from assay.model import Artifact, Command, Outcome, Platform, Receipt
from tests.bench.measure import Line, alternate, bounded, compared
from tests.data.bundles.make import NONCE, STARTED, command_plan

TURNS = 5
PARTS = 4
PART_BYTES = 256 << 20
OPENSSL_RATIO = 0.6
MODEL_SIGNING_RATIO = 0.4
SMALL_MEMBERS = 10_000
SMALL_S = 1.0

_PIECE = 1 << 20
_UNDECIDED = 3


def large_members(folder: Path) -> list[Line]:
    """Measure verifying a bundle with 1 GiB in four members beside ``openssl`` and ``model_signing``.

    Raises:
        FileNotFoundError: one of the two is not there to be compared with.
        RuntimeError: the bundle does not verify, or openssl gives other digests.
    """
    parts = [_part(folder / "parts" / f"part-{number}", number) for number in range(PARTS)]
    bundle = _bundle(folder / "run", parts)
    openssl = [_found("openssl"), "dgst", "-sha256", "-r", *map(str, parts)]
    told = {artifact_name(line.split()[0]) for line in _output(openssl).splitlines()}
    if told - set(_digests(bundle.path)):
        raise RuntimeError("openssl gives other digests")
    mine, theirs, signed, floor = alternate(
        TURNS,
        lambda: _verify(bundle),
        lambda: _output(openssl),
        _model_signing(folder, folder / "parts"),
        _hash_nothing_else,
    )
    what = f"assay verify, {PARTS} members of {PART_BYTES >> 20} MiB"
    return [
        compared(what, mine, "openssl dgst -sha256", theirs, OPENSSL_RATIO, floor),
        compared(what, mine, "model_signing verify", signed, MODEL_SIGNING_RATIO, floor),
    ]


def many_members(folder: Path) -> Line:
    """Measure the digests of 10,000 small members, headers and padding checked."""
    members = [
        _bytes(f"artifacts/{number:064x}", number.to_bytes(4, "big") * 16) for number in range(SMALL_MEMBERS)
    ]
    bundle = _container(folder / "many.tar", members)
    (times,) = alternate(TURNS, lambda: _digests(bundle))
    return bounded(f"verify {SMALL_MEMBERS} small members", times, SMALL_S)


def _digests(bundle: Path) -> dict[str, str]:
    """Return every member's digest, as steps 1 and 2 of a verification find them."""
    with open_container(bundle) as container:
        return container.digests()


def _verify(bundle: Bundle) -> None:
    """Verify a bundle in a process of its own.

    Raises:
        RuntimeError: it is not intact.
    """
    command = [str(Path(sys.executable).with_name("assay")), "verify", str(bundle.path)]
    ended = subprocess.run([*command, "--expect-digest", bundle.digest], check=False, capture_output=True)  # noqa: S603  # argv is ours
    if ended.returncode != _UNDECIDED:  # one command alone qualifies nothing
        raise RuntimeError(f"assay verify ended with {ended.returncode}")


def _hash_nothing_else() -> None:
    """Hash as many bytes as the parts have, in as many threads as a verification does."""
    threads = min(THREADS, os.cpu_count() or 1)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(_hash_one_buffer, [PARTS * PART_BYTES // threads] * threads))


def _hash_one_buffer(size: int) -> str:
    """Hash one buffer again and again, until so many bytes were hashed."""
    digest, buffer = hashlib.sha256(), bytes(PIECE)
    for _ in range(size // PIECE):
        digest.update(buffer)
    return digest.hexdigest()


def _bundle(folder: Path, parts: Sequence[Path]) -> Bundle:
    """Return the bundle of a run of one command, which kept these files as artifacts."""
    run = create_run(folder, Start(STARTED, NONCE, "", Platform.LINUX, command_plan()))
    artifacts = []
    for part in parts:
        with part.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        (run.path / artifact_name(sha256)).hardlink_to(part)
        artifacts.append(Artifact(part.name, sha256, part.stat().st_size))
    run.record(
        Receipt(
            gate="lint",
            outcome=Outcome.PASSED,
            rules=1,
            started=STARTED,
            duration_ns=1,
            deadline_ns=1,
            commands=(Command(("true",), 0),),
            facts={"exit": 0, "last_words": "", "program": "true"},
            artifacts=tuple(artifacts),
        ),
        lists={},
    )
    run.close()
    return write_bundle(run.path)


def _part(path: Path, seed: int) -> Path:
    """Write one large file of bytes that do not repeat within it."""
    path.parent.mkdir(exist_ok=True)
    block = hashlib.shake_256(bytes([seed])).digest(_PIECE)
    with path.open("wb") as stream:
        for number in range(PART_BYTES // _PIECE):
            stream.write(number.to_bytes(8, "big") + block[8:])
    return path


def _container(path: Path, members: Sequence[Member]) -> Path:
    """Write a container of the members behind an empty manifest."""
    with path.open("wb") as stream:
        write_container(stream, [_bytes("manifest.json", b"{}"), *members])
    return path


def _bytes(name: str, data: bytes) -> Member:
    """Return bytes as a member."""
    return Member(name, len(data), hashlib.sha256(data).hexdigest(), lambda: io.BytesIO(data))


def _model_signing(folder: Path, model: Path) -> Callable[[], object]:
    """Return what verifies the same files with ``model_signing``, signed once by a key."""
    tool = [sys.executable, "-m", "model_signing"]
    private, public, signature = folder / "key.pem", folder / "key.pub", folder / "model.sig"
    openssl = _found("openssl")
    _output([openssl, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(private)])
    _output([openssl, "ec", "-in", str(private), "-pubout", "-out", str(public)])
    _output([*tool, "sign", "key", str(model), "--private_key", str(private), "--signature", str(signature)])
    verify = [*tool, "verify", "key", str(model), "--signature", str(signature), "--public_key", str(public)]
    return lambda: _output(verify)


def _found(program: str) -> str:
    """Return where a program is."""
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError(f"{program} is not on PATH, so there is nothing to compare with")
    return path


def _output(argv: Sequence[str]) -> str:
    """Run a command to its end and return what it printed."""
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout  # noqa: S603  # argv is ours


def evidence_lines(folder: Path) -> Iterator[Line]:
    """Yield every line of this module, measured in a folder with 2 GiB of room."""
    yield from large_members(folder)
    yield many_members(folder)
