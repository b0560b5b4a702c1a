"""Verifying large and many-membered bundles, beside what else hashes the same bytes."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from assay.evidence.container import Member, open_container, write_container
from tests.bench.measure import Line, alternate, bounded, compared

TURNS = 5
PARTS = 4
PART_BYTES = 256 << 20
OPENSSL_RATIO = 0.6
MODEL_SIGNING_RATIO = 0.4
SMALL_MEMBERS = 10_000
SMALL_S = 1.0

_PIECE = 1 << 20


def large_members(folder: Path) -> list[Line]:
    """Measure the digests of 1 GiB in four members beside ``openssl`` and ``model_signing``.

    Raises:
        FileNotFoundError: one of the two is not there to be compared with.
        RuntimeError: a digest is not the one that openssl gives.
    """
    parts = [_part(folder / "parts" / f"part-{number}", number) for number in range(PARTS)]
    bundle = _container(folder / "large.tar", [_file(path) for path in parts])
    openssl = [_found("openssl"), "dgst", "-sha256", "-r", *map(str, parts)]
    ours = _digests(bundle)
    told = [line.split()[0] for line in _output(openssl).splitlines()]
    if [ours[path.name] for path in parts] != told:
        raise RuntimeError("openssl gives other digests")
    mine, theirs, signed = alternate(
        TURNS, lambda: _digests(bundle), lambda: _output(openssl), _model_signing(folder, folder / "parts")
    )
    what = f"verify {PARTS} members of {PART_BYTES >> 20} MiB"
    return [
        compared(what, mine, "openssl dgst -sha256", theirs, OPENSSL_RATIO),
        compared(what, mine, "model_signing verify", signed, MODEL_SIGNING_RATIO),
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


def _file(path: Path) -> Member:
    """Return a file as a member."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()

    def opened() -> BinaryIO:
        return path.open("rb")

    return Member(path.name, path.stat().st_size, digest, opened)


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
