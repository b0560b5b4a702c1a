"""pip, driven: installs exactly what the locks say, from the configured index or from a wheelhouse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import AssayError, FetchError, ProvisionError, StorageError
from assay.files import write_atomic
from assay.process import Finished
from assay.provision.children import Children
from assay.provision.lockfile import Requirement

_INSTALL_DEADLINE_S = 3600
"""For about 260 MB over a slow line (75 kB/s)."""

_MISMATCH = re.compile(r"THESE PACKAGES DO NOT MATCH THE HASHES")
_MISSING = re.compile(r"No matching distribution found for (\S+)")
_OFFLINE = re.compile(
    r"Connection|Temporary failure in name resolution|Network is unreachable|timed out|ProxyError"
)

_QUIET = ("--quiet", "--no-deps", "--progress-bar", "off")


@dataclass(frozen=True)
class Pip:
    """A pip and where it takes files from.

    Attributes:
        children: how children are run.
        python: the interpreter that has pip.
        scratch: a folder for requirements files.
        wheelhouse: the only source of files (no network, no configuration of pip), or None for pip's index.
    """

    children: Children
    python: Path
    scratch: Path
    wheelhouse: Path | None

    def install(self, what: str, into: Path, requirements: Sequence[Requirement]) -> None:
        """Install locked wheels, hash-checked and without their dependencies, into an environment.

        Nothing is compiled to bytecode: what is installed is what the wheels hold.

        Args:
            what: what is installed, for the log.
            into: the environment's interpreter.
            requirements: every package.

        Raises:
            StorageError: a file has another hash or, in a wheelhouse, is missing; the disk is full.
            FetchError: the index did not answer or does not have the version.
            ProvisionError: pip failed otherwise.
        """
        options = ["--only-binary", ":all:", "--require-hashes", "-r", str(self._write(requirements))]
        self._run(what, [*self._start(into), "install", *_QUIET, "--no-compile", *self._source(), *options])

    def install_file(self, what: str, into: Path, wheel: Path) -> None:
        """Install one wheel that was built here; its provenance record, not a lock, vouches for it.

        Raises:
            ProvisionError: pip failed.
        """
        options = ["--no-compile", "--no-index", "--force-reinstall", str(wheel)]
        self._run(what, [*self._start(into), "install", *_QUIET, *options])

    def check(self, environment: Path) -> None:
        """Check that every package in an environment has what it says it needs.

        Raises:
            ProvisionError: something is missing: the locks are incomplete.
        """
        self._run("the packages' needs", [*self._start(environment), "check"])

    def download(
        self, what: str, folder: Path, requirements: Sequence[Requirement], options: Iterable[str]
    ) -> None:
        """Download locked files into a folder.

        Args:
            what: what is downloaded, for the log.
            folder: where to.
            requirements: every package.
            options: pip's options that choose between a version's files.

        Raises:
            StorageError: a file has another hash, or the disk is full.
            FetchError: the index did not answer or does not have the version.
            ProvisionError: pip failed otherwise.
        """
        listed = ["--require-hashes", "-r", str(self._write(requirements)), "--dest", str(folder)]
        self._run(what, [*self._start(None), "download", *_QUIET, *self._source(), *options, *listed])

    def _start(self, into: Path | None) -> list[str]:
        """Return the beginning of every command; ``into`` is the environment that pip works on."""
        isolated = ["--isolated"] if self.wheelhouse else []
        target = ["--python", str(into)] if into else []
        return [str(self.python), "-I", "-m", "pip", *isolated, *target]

    def _source(self) -> list[str]:
        """Return the options that say where files come from."""
        return ["--no-index", "--find-links", str(self.wheelhouse)] if self.wheelhouse else []

    def _write(self, requirements: Sequence[Requirement]) -> Path:
        """Write a requirements file and return it."""
        path = self.scratch / "requirements.txt"
        write_atomic(path, "".join(requirement.line() for requirement in requirements).encode())
        return path

    def _run(self, what: str, argv: Sequence[str]) -> None:
        """Run pip and raise what its failure means."""
        ended = self.children.run(what, argv, deadline_s=_INSTALL_DEADLINE_S)
        if ended.exit != 0:
            raise self._failure(what, ended)

    def _failure(self, what: str, ended: Finished) -> AssayError:
        """Return the error that pip's words mean."""
        said = (ended.stdout + ended.stderr).decode(errors="replace")
        last = self.children.last_words(ended)
        place = f"the wheelhouse {self.wheelhouse}" if self.wheelhouse else "the package index"
        missing = _MISSING.search(said)
        if _MISMATCH.search(said):
            return _not_the_locked_one(place, last)
        if self.wheelhouse and missing:
            return _no_fitting_file(place, missing[1])
        if missing or _OFFLINE.search(said):
            return _not_downloaded(what, last)
        return ProvisionError(f"pip failed at {what}: {last}", "exit 0", "see the log")


def _not_the_locked_one(place: str, last: str) -> StorageError:
    """Return the error of a file with another hash."""
    return StorageError(
        f"{place} has a file that is not the locked one: {last}",
        "files whose SHA-256 is in the locks",
        "fetch the file again; if it is still another, do not use that source",
    )


def _no_fitting_file(place: str, package: str) -> StorageError:
    """Return the error of a wheelhouse for another Python or processor."""
    return StorageError(
        f"{place} has no file of {package} for this interpreter and processor",
        "a file for each locked package",
        "fill it for this Python: assay provision --wheelhouse DIR --download --python-version X.Y",
    )


def _not_downloaded(what: str, last: str) -> FetchError:
    """Return the error of an index that does not answer or lacks a version."""
    return FetchError(
        f"{what} could not be downloaded: {last}",
        "a package index that answers and has the locked versions",
        "check network, proxy and pip's index, or use --wheelhouse on a machine without network",
    )
