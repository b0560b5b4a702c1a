"""PyCUDA's wheel, built from its source distribution against a toolkit's headers and a stub of libcuda.

PyCUDA has no wheels on the index.  Its build needs ``cuda.h`` and ``cudaProfiler.h`` and a libcuda to link
against, no nvcc and no driver.  CURAND is left out, so that nothing but libcuda is needed at run time, and
symbols of the compiler's own are stripped (18.8 MB become 1.9 MB).
"""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from assay.errors import ProvisionError, UsageError
from assay.files import copy_atomic, storage_errors
from assay.provision.built import BuiltWheel, Provenance, built_wheels, record, record_path
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.stub import SONAME
from assay.provision.toolkit import Toolkit

PROJECT = "pycuda"

_DEADLINE_S = 1800
"""Compiling takes about 90 s of processor time; this is for a machine that is twenty times slower."""

_BUILDER = Path(__file__).with_name("parallel_build.py")
_NOTHING: Mapping[str, str] = MappingProxyType({})

_LOAD = f"""
import sys, zipfile
zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])
sys.path.insert(0, sys.argv[2])
import {PROJECT}._driver
"""

_EPOCH = "315532800"
"""1980-01-01, the earliest time that a zip can hold: wheels built at different times have the same times."""


@dataclass(frozen=True)
class BuildTools:
    """What builds the wheel.

    Attributes:
        children: how children are run.
        python: an interpreter of the wanted ABI that has setuptools, wheel and NumPy.
        compiler: the host compiler.
        stub: folder of the ``libcuda.so`` to link against.
        jobs: compilers at once.
    """

    children: Children
    python: Path
    compiler: HostCompiler
    stub: Path
    jobs: int

    def run(self, done: str, argv: list[str], folder: Path, extra: Mapping[str, str] = _NOTHING) -> None:
        """Run the interpreter in ``folder``, which also stands for the user's home.

        Args:
            done: what is then done to PyCUDA, for the log and the error.
            argv: the interpreter's arguments.
            folder: the working folder.
            extra: more variables.

        Raises:
            ProvisionError: it failed.
        """
        own = {
            "CC": self.compiler.cc,
            "CXX": self.compiler.cxx,
            "HOME": str(folder),
            "SOURCE_DATE_EPOCH": _EPOCH,
        }
        command, what = [str(self.python), "-B", *argv], f"PyCUDA, to be {done}"
        ended = self.children.run(what, command, deadline_s=_DEADLINE_S, cwd=folder, extra={**own, **extra})
        if ended.exit != 0:
            raise _failed(done, self.children.last_words(ended))


def build_wheel(
    tools: BuildTools, sdist: Path, toolkit: Toolkit, provenance: Provenance, folders: tuple[Path, Path]
) -> BuiltWheel:
    """Build the wheel and put it, with its record, into the cache.

    Args:
        tools: what builds it.
        sdist: the source distribution, already checked against the lock.
        toolkit: whose headers it is built against.
        provenance: what the record will say.
        folders: an empty scratch folder, and the cache of wheels.

    Raises:
        UsageError: a folder's name cannot be told to PyCUDA's configuration.
        ProvisionError: configuring, compiling or loading failed.
        StorageError: the sources cannot be unpacked or the wheel not be written.
    """
    scratch, cache = folders
    source = unpack(sdist, scratch / "source")
    tools.run("configured", ["configure.py", *configure_options(toolkit, tools.stub)], source)
    tools.run("compiled", [str(_BUILDER), str(scratch), str(tools.jobs)], source)
    wheels = sorted(scratch.glob(f"{PROJECT}-*.whl"))
    if len(wheels) != 1:
        raise _failed("compiled", f"the build left {len(wheels)} wheels in {scratch}")
    _load(tools, wheels[0], scratch)
    return _keep(wheels[0], provenance, cache)


def _load(tools: BuildTools, wheel: Path, scratch: Path) -> None:
    """Check that the extension loads: that each symbol it wants is the driver's, C++'s or Python's.

    Here alone the stub is found at run time, under the driver's name and by this one child.

    Raises:
        ProvisionError: it does not load.
    """
    drivers = scratch / "drivers"
    with storage_errors("make", drivers):
        drivers.mkdir()
        (drivers / SONAME).symlink_to(tools.stub / "libcuda.so")
    usual = tools.children.environment.get("LD_LIBRARY_PATH")
    path = ":".join(filter(None, [str(drivers), usual]))
    tools.run("loaded", ["-c", _LOAD, str(wheel), "unpacked"], scratch, {"LD_LIBRARY_PATH": path})


def configure_options(toolkit: Toolkit, stub: Path) -> list[str]:
    """Return the options of PyCUDA's ``configure.py``, which takes commas for lists and expands ``${…}``.

    Raises:
        UsageError: a folder's name has one of these.
    """
    for folder in (toolkit.root, stub):
        if "," in str(folder) or "${" in str(folder):
            raise UsageError(
                f"PyCUDA's configuration cannot be told the folder {folder}",
                "a folder without comma and ${ in its path",
                "move the project or the toolkit",
            )
    return [
        f"--cuda-root={toolkit.root}",
        f"--cuda-inc-dir={toolkit.include}",
        f"--cudadrv-lib-dir={stub}",
        f"--cudart-lib-dir={toolkit.library_folder}",
        "--no-cuda-enable-curand",
        "--ldflags=-s",
    ]


def unpack(sdist: Path, folder: Path) -> Path:
    """Unpack a source distribution and return its only top folder.

    Raises:
        ProvisionError: it is no such archive.
        StorageError: it cannot be read or its files not be written.
    """
    try:
        with storage_errors("unpack", sdist), tarfile.open(sdist) as archive:
            folder.mkdir()
            archive.extraction_filter = getattr(tarfile, "data_filter", _as_it_is)
            archive.extractall(folder)  # noqa: S202  # the lock pins its digest, and the filter is set where there is one
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise _no_sdist(sdist, str(error)) from error
    tops = sorted(folder.iterdir())
    if len(tops) != 1 or not (tops[0] / "configure.py").is_file():
        raise _no_sdist(sdist, "it has no single top folder with a configure.py")
    return tops[0]


def _as_it_is(member: tarfile.TarInfo, _folder: str) -> tarfile.TarInfo:
    """Return a member unchanged: tarfile has filters from Python 3.11.4 on (PEP 706)."""
    return member


def _no_sdist(sdist: Path, why: str) -> ProvisionError:
    """Return the error of an archive that is no source distribution of PyCUDA."""
    return ProvisionError(
        f"{sdist} cannot be unpacked: {why}", "PyCUDA's source distribution", "fetch it again"
    )


def _failed(done: str, why: str) -> ProvisionError:
    """Return the error of a step that did not end well."""
    return ProvisionError(
        f"PyCUDA could not be {done}: {why}",
        "a C++ compiler with its standard library, Python's headers and CUDA's headers",
        "install what it misses (Debian and Ubuntu: build-essential, python3-dev), or name another in CXX",
    )


def _keep(wheel: Path, provenance: Provenance, cache: Path) -> BuiltWheel:
    """Put a built wheel and its record into the cache.

    The record of a wheel that is replaced goes first and the new one comes last: in between there is a wheel
    without a record, which nobody takes.
    """
    kept = cache / wheel.name
    with storage_errors("make", cache):
        cache.mkdir(parents=True, exist_ok=True)
        record_path(kept).unlink(missing_ok=True)
    copy_atomic(wheel, kept)
    return record(kept, provenance)


def cached_wheel(cache: Path, provenance: Provenance) -> BuiltWheel | None:
    """Return the cached wheel of exactly this provenance, or None.

    Raises:
        StorageError: a cached wheel is not the one that its record describes.
    """
    return next((built for built in built_wheels(cache, PROJECT) if built.provenance == provenance), None)
