"""Unpacks Debian packages into a private folder without root, with the system's own ``apt-get``.

Packages are downloaded and unpacked, not installed.  The index of packages is the system's; where that has
none (many containers drop it) a private one is fetched.  apt checks signatures and digests of both.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ProvisionError
from assay.files import storage_errors
from assay.provision.children import Children

Packages = Sequence[tuple[str, str]]
"""Names with versions."""

Describe = Callable[[Path, Path, Packages], None]
"""Completes a folder: gets it as it is made, the place where it is to lie, and the packages."""

_DEADLINE_S = 300
_INSTALLED = re.compile(r"Inst (?P<name>\S+) (?:\[[^\]]*\] )?\((?P<version>\S+) ")
"""A line of ``apt-get --simulate install`` (apt-get(8)): name, the version that is there, the one to come."""


@dataclass(frozen=True)
class Unpacking:
    """What is unpacked.

    Attributes:
        what: it in words.
        packages: Debian's and Ubuntu's packages.
        missing: returns the error of what went wrong, with its remedy.
        describe: completes the folder.
    """

    what: str
    packages: tuple[str, ...]
    missing: Callable[[str], ProvisionError]
    describe: Describe


def unpack(children: Children, wanted: Unpacking, target: Path) -> None:
    """Make ``target``: the packages and what the system lacks for them under ``root``, and its description.

    Args:
        children: how children are run.
        wanted: what is unpacked.
        target: the folder, which is replaced only by a whole one.

    Raises:
        ProvisionError: apt-get failed.
        StorageError: a file cannot be written.
    """
    with storage_errors("make", target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=target.parent))
    try:
        _unpack(_Apt(children, part, wanted), target)
        shutil.rmtree(target, ignore_errors=True)
        with storage_errors("make", target):
            (part / "kept").rename(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


@dataclass(frozen=True)
class _Apt:
    """apt-get, as an ordinary user, with everything that it writes below ``folder``."""

    children: Children
    folder: Path
    unpacking: Unpacking

    def private(self) -> list[str]:
        """Return the options that keep a package index of its own."""
        lists, archives = self.folder / "lists", self.folder / "archives"
        for each in (lists, archives):
            (each / "partial").mkdir(parents=True, exist_ok=True)
        return [
            "-o",
            f"Dir::State::lists={lists}",
            "-o",
            f"Dir::Cache={archives}",
            "-o",
            "APT::Sandbox::User=",
        ]

    def run(self, what: str, *argv: str, cwd: Path | None = None) -> str:
        """Return what a command wrote.

        Raises:
            ProvisionError: it failed.
        """
        extra = {"DEBIAN_FRONTEND": "noninteractive"}
        ended = self.children.run(what, argv, deadline_s=_DEADLINE_S, cwd=cwd or self.folder, extra=extra)
        if ended.exit != 0:
            raise self.unpacking.missing(f"{what} failed: {self.children.last_words(ended)}")
        return ended.stdout.decode(errors="replace")

    def wanted(self, options: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return name and version of what the system lacks, which has to be unpacked."""
        install = ("--simulate", "--no-install-recommends", "install", *self.unpacking.packages)
        said = self.run(f"{self.unpacking.what}: its packages", "apt-get", *options, *install)
        return tuple((found["name"], found["version"]) for found in _INSTALLED.finditer(said))


def _unpack(apt: _Apt, target: Path) -> None:
    """Fill ``kept`` in apt's folder with what is to lie at ``target``."""
    options: list[str] = []
    try:
        wanted = apt.wanted(options)
    except ProvisionError:
        options = apt.private()
        apt.run("the index of packages", "apt-get", *options, "update")
        wanted = apt.wanted(options)
    kept, files = apt.folder / "kept", apt.folder / "files"
    for each in (kept / "root", files):
        each.mkdir(parents=True)
    pinned = [f"{name}={version}" for name, version in wanted]
    apt.run(f"{apt.unpacking.what}: its download", "apt-get", *options, "download", *pinned, cwd=files)
    for package in sorted(files.glob("*.deb")):
        apt.run(f"unpacking {package.name}", "dpkg", "-x", str(package), str(kept / "root"))
    apt.unpacking.describe(kept, target, wanted)
