"""Runs other programs that read binaries, so that right values come from elsewhere."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from assay import process


def said(*argv: str, good: tuple[int, ...] = (0,)) -> str:
    """Return what a program printed; anything but a good exit is the test's failure."""
    ended = process.run(argv, env={**os.environ, "LC_ALL": "C"}, deadline_s=60, capture_limit=1 << 26)
    assert ended.exit in good, f"{argv}: {ended.exit}: {ended.stderr[-500:]!r}"
    assert not ended.truncated
    return ended.stdout.decode("utf-8", "backslashreplace")


def real_libraries() -> Iterator[Path]:
    """Yield a few ELF files of this machine: large and small, libraries, a program, an extension module."""
    yield Path(sys.executable).resolve()
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    mapped = sorted(set(re.findall(r"(/\S+\.so[.0-9]*)$", maps, re.MULTILINE)))
    wanted = (
        "libc.so",
        "libm.so",
        "ld-linux",
        "libpthread",
        "libcrypto",
        "libz.so",
        "libstdc++",
        "_hashlib",
        "_json",
    )
    yield from (Path(path) for path in mapped if any(name in path for name in wanted))


def dynamic(path: Path) -> dict[str, list[str]]:
    """Return the bracketed values of ``readelf -d`` by tag."""
    found: dict[str, list[str]] = {}
    for tag, value in re.findall(
        r"\((\w+)\)\s+[^\[\n]*\[(.*)\]$", said("readelf", "-dW", str(path)), re.MULTILINE
    ):
        found.setdefault(tag, []).append(value)
    return found


def symbols(path: Path, option: str) -> frozenset[str]:
    """Return the names that ``nm -D`` lists, without their versions; local ones are left out."""
    lines = (line.split() for line in said("nm", "-D", option, str(path)).splitlines())
    return frozenset(words[-1].partition("@")[0] for words in lines if words and words[-2] != "a")
