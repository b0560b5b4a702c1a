"""Builds the CPU's CUDA driver: a folder with ``libcuda.so.1`` and the handlers that it loads.

The folder is named by what it is made of (the C source, the driver's names, the Python files, the compiler),
so that it is made once and never changes: a rehearsal that runs while the sources are edited keeps its own.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import ProvisionError
from assay.files import read_bounded, storage_errors, write_atomic
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.driver_names import driver_names
from assay.provision.stub import SONAME

SOURCES = Path(__file__).resolve().parent.parent / "rehearsal"
"""The package that the driver's folder holds; nothing of it is imported here."""

PACKAGE = "assay_rehearsal"
"""Its name in the driver's folder, under which it is imported."""

WRAPPERS = "bin"
"""The folder below the driver's that holds its ``nvcc``."""

MACHINES = ("x86_64", "aarch64")
"""Where every integer argument of a call arrives in a 64-bit register or stack slot of its own."""

_C_SOURCE, _START, _NVCC = "driver/libcuda.c", "driver/start.py", "driver/nvcc.sh"
_LIMIT = 4 << 20
_DEADLINE_S = 120
_FLAGS = ("-std=c11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", f"-Wl,-soname,{SONAME}")
_LIBRARIES = ("-ldl", "-lpthread")


@dataclass(frozen=True)
class CpuDriver:
    """A driver that was built: its folder, and SHA-256 (hex) over all that it is made of."""

    folder: Path
    digest: str

    @property
    def library(self) -> Path:
        """Return the library."""
        return self.folder / SONAME

    @property
    def nvcc(self) -> Path:
        """Return the wrapper that makes PTX under the name of a CUBIN."""
        return self.folder / WRAPPERS / "nvcc"


def make_cpu_driver(
    children: Children, compiler: HostCompiler, cache: Path, sources: Path = SOURCES
) -> CpuDriver:
    """Return the driver; it is built when it is not there yet.

    Args:
        children: how children are run.
        compiler: the host's C compiler.
        cache: the folder of all drivers; each lies in a folder named by its digest.
        sources: the rehearsal's package.

    Raises:
        ProvisionError: the compiler failed, or the machine is of another kind.
        StorageError: a file cannot be read or written.
    """
    _require_machine(platform.machine())
    files = source_files(sources)
    digest = _digest(files, compiler)
    driver = CpuDriver(cache / digest[:16], digest)
    if not driver.folder.is_dir():
        with storage_errors("make", cache):
            cache.mkdir(parents=True, exist_ok=True)
            part = Path(tempfile.mkdtemp(prefix=".part-", dir=cache))
        try:
            _build(children, compiler, part, files)
            _put_in_place(part, driver.folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return driver


def _require_machine(machine: str) -> None:
    if machine not in MACHINES:
        raise ProvisionError(
            f"the CPU's CUDA driver is not made for {machine}",
            f"one of {', '.join(MACHINES)}",
            "rehearse in a container or virtual machine of one of these",
        )


def source_files(sources: Path) -> Mapping[str, bytes]:
    """Return the package's files by their path below it, in byte order.

    Raises:
        StorageError: one cannot be read.
    """
    names = sorted(
        path.relative_to(sources).as_posix()
        for path in sources.rglob("*")
        if path.suffix in {".py", ".c", ".sh"} and path.is_file()
    )
    return {name: read_bounded(sources / name, _LIMIT) for name in names}


def names_header() -> bytes:
    """Return what libcuda.c includes: the driver's names, each as an argument of ``NAME``.

    Raises:
        StorageError: the name table cannot be read.
    """
    return "".join(f"NAME({name})\n" for name in driver_names()).encode()


def _digest(files: Mapping[str, bytes], compiler: HostCompiler) -> str:
    """Return what a driver is cached by."""
    made = hashlib.sha256(f"{compiler.version}\0{' '.join(_FLAGS)}\0".encode())
    for name, data in (("names.h", names_header()), *files.items()):
        made.update(f"{name}\0{len(data)}\0".encode() + data)
    return made.hexdigest()


def _build(children: Children, compiler: HostCompiler, folder: Path, files: Mapping[str, bytes]) -> None:
    """Fill a driver's folder."""
    with tempfile.TemporaryDirectory(prefix="assay-") as scratch:
        place = Path(scratch)
        write_atomic(place / "libcuda.c", files[_C_SOURCE])
        write_atomic(place / "names.h", names_header())
        library = folder / SONAME
        argv = [compiler.cc, *_FLAGS, "-o", str(library), str(place / "libcuda.c"), *_LIBRARIES]
        ended = children.run("the CPU's CUDA driver", argv, deadline_s=_DEADLINE_S, cwd=place)
    if ended.exit != 0 or not library.is_file():
        raise ProvisionError(
            f"{compiler.cc} could not compile the CPU's CUDA driver: {children.last_words(ended)}",
            "a C compiler that makes shared libraries",
            "install gcc and the C library's headers, or name another compiler in CC",
        )
    write_atomic(folder / "start.py", files[_START])
    for name, data in files.items():
        if name.endswith(".py") and name != _START:
            _write(folder / PACKAGE / name, data)
    _write(folder / WRAPPERS / "nvcc", files[_NVCC])
    with storage_errors("make", folder):
        (folder / WRAPPERS / "nvcc").chmod(0o755)
        folder.chmod(0o755)


def _write(path: Path, data: bytes) -> None:
    with storage_errors("make", path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, data)


def _put_in_place(part: Path, folder: Path) -> None:
    """Give a whole folder its name; one that another process has made meanwhile is as good."""
    with storage_errors("make", folder):
        try:
            part.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
