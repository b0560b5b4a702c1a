"""Fills a wheelhouse on a machine with network, for one or more versions of Python."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import UsageError
from assay.files import copy_atomic, storage_errors
from assay.provision import store as storage
from assay.provision.built import built_wheels, record_path
from assay.provision.environments import make_tools
from assay.provision.job import Job, Request, Say, look
from assay.provision.lockfile import (
    BUILD,
    HOSTED,
    PYCUDA,
    PYTHONS,
    SELECTION,
    TOOLKIT,
    Requirement,
    load_lock,
    locked,
    merged,
)
from assay.provision.options import MACHINES
from assay.provision.pip import Pip
from assay.provision.pycuda_source import download_sdist
from assay.provision.pycuda_wheel import PROJECT
from assay.provision.wheelhouse import has_sdist

_NEWEST_GLIBC = 40
"""Wheels may ask for glibc 2.5 up to 2.40 (PEP 600); pip must be told each tag that is acceptable."""

_OLD_TAGS = ("manylinux1", "manylinux2010", "manylinux2014")


@dataclass(frozen=True)
class Wanted:
    """What a wheelhouse is for.

    Attributes:
        pythons: versions such as ``3.12``.
        machine: processor, one of ``MACHINES``.
        toolkit: whether the embedded CUDA toolkit is to be in it.
    """

    pythons: tuple[str, ...]
    machine: str
    toolkit: bool

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """Return the packages that are downloaded as wheels."""
        locks = (SELECTION, PYCUDA, BUILD, HOSTED, *([TOOLKIT] if self.toolkit else []))
        return merged(locks, leave_out=[PROJECT])


def platform_options(python: str, machine: str) -> list[str]:
    """Return pip's options that choose the wheels for CPython ``python`` on Linux ``machine``."""
    abi = f"cp{python.replace('.', '')}"
    tags = [f"manylinux_2_{minor}" for minor in range(_NEWEST_GLIBC, 4, -1)] + list(_OLD_TAGS)
    options = ["--only-binary", ":all:", "--implementation", "cp", "--python-version", python]
    options += [part for each in (abi, "abi3", "none") for part in ("--abi", each)]
    return options + [part for tag in tags for part in ("--platform", f"{tag}_{machine}")]


def check_wanted(wanted: Wanted) -> None:
    """Check versions and processor.

    Raises:
        UsageError: the locks have no files for one of them.
    """
    if unknown := [python for python in wanted.pythons if python not in PYTHONS]:
        raise UsageError(
            f"--python-version {unknown[0]} is not supported",
            f"one of {', '.join(PYTHONS)}",
            "name one of them",
        )
    if wanted.machine not in MACHINES:
        raise UsageError(
            f"the processor {wanted.machine} is not supported", f"one of {', '.join(MACHINES)}", ""
        )


def fill_wheelhouse(request: Request, wanted: Wanted, folder: Path, say: Say) -> None:
    """Download what the wanted Pythons need into a folder, hash-checked, and add PyCUDA's wheels built here.

    Args:
        request: whose project keeps the built wheels; its interpreter runs pip.
        wanted: what the wheelhouse is for.
        folder: the wheelhouse; files that are there already are kept.
        say: gets each line for the user.

    Raises:
        UsageError: the interpreter or something wanted is not supported.
        StorageError: a file is not the locked one, the disk is full, or another process is provisioning.
        FetchError: a file could not be downloaded.
        ProvisionError: pip failed.
    """
    check_wanted(wanted)
    store = request.store
    with storage.exclusive(store) as held:
        storage.recover(store)
        with storage_errors("make", folder):
            folder.mkdir(parents=True, exist_ok=True)
            store.scratch.mkdir()
        try:
            _download(look(request, say, held), wanted, folder, say)
        finally:
            shutil.rmtree(store.scratch, ignore_errors=True)
    kept = add_built(store.wheels, wanted, folder)
    say(f"built wheels of PyCUDA added: {len(kept)}; without one it is built on that machine")
    say(f"{folder}: {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:.1f} MB")


def _download(job: Job, wanted: Wanted, folder: Path, say: Say) -> None:
    """Download wheels for each Python, then the source distribution."""
    scratch = job.request.store.scratch
    tools = make_tools(job.children, job.interpreter, scratch / "tools")
    pip = Pip(job.children, tools.python, scratch, None)
    for python in wanted.pythons:
        say(f"downloading for CPython {python} on {wanted.machine}")
        options = platform_options(python, wanted.machine)
        pip.download(f"the packages for {python}", folder, wanted.requirements, options)
    if not has_sdist(folder):
        pip.install("the build tools", tools.python, load_lock(BUILD))
        download_sdist(pip, folder)


def add_built(wheels: Path, wanted: Wanted, folder: Path) -> Sequence[Path]:
    """Copy the cached wheels of PyCUDA that serve what is wanted, with their records; return the copies.

    Raises:
        StorageError: a record does not hold, or a file cannot be copied.
    """
    abis = {f"cp{python.replace('.', '')}" for python in wanted.pythons}
    hashes, kept = locked(PYCUDA, PROJECT).hashes, []
    for built in built_wheels(wheels, PROJECT):
        made = built.provenance
        if made.abi in abis and made.machine == wanted.machine and made.sdist in hashes:
            for path in (built.path, record_path(built.path)):
                copy_atomic(path, folder / path.name)
            kept.append(folder / built.path.name)
    return kept
