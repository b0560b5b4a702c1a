"""A stand-in for libcuda to link against where no driver is installed.

PyPI's CUDA has no ``libcuda`` stub.  A linker given a library that defines none of the wanted names drops it
(``--as-needed``), and what it built then has no ``NEEDED libcuda.so.1``.  This stub defines every name of the
driver's table, has the driver's SONAME, and lies in a folder that is on no run-time path: at run time the
loader finds the real driver or nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from assay.errors import ProvisionError
from assay.files import write_atomic
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.driver_names import driver_names

SONAME = "libcuda.so.1"

STUB_ERROR = 34
"""``CUDA_ERROR_STUB_LIBRARY`` of cuda.h: what NVIDIA's own stub answers to every call."""

_DEADLINE_S = 120


def stub_source(names: tuple[str, ...]) -> str:
    """Return C source that defines every name as a function that answers ``CUDA_ERROR_STUB_LIBRARY``."""
    return "".join(f"int {name}(void) {{ return {STUB_ERROR}; }}\n" for name in names)


def stub_digest(compiler: HostCompiler) -> str:
    """Return what a stub is cached by: SHA-256 (hex) over its source and the compiler's version.

    Raises:
        StorageError: the driver's name table cannot be read.
    """
    return hashlib.sha256(f"{compiler.version}\0{stub_source(driver_names())}".encode()).hexdigest()


def make_stub(children: Children, compiler: HostCompiler, cache: Path) -> Path:
    """Return a folder that holds ``libcuda.so`` to link against; it is compiled when it is not there yet.

    Args:
        children: how children are run.
        compiler: the host's C compiler.
        cache: the folder of all stubs; each lies in a folder named by its digest.

    Raises:
        ProvisionError: the compiler failed.
        StorageError: a file cannot be written.
    """
    folder = cache / stub_digest(compiler)[:16]
    library = folder / "libcuda.so"
    if library.is_file():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    source, part = folder / "libcuda.c", folder / "libcuda.so.part"
    write_atomic(source, stub_source(driver_names()).encode())
    argv = [compiler.cc, "-shared", "-fPIC", "-O1", f"-Wl,-soname,{SONAME}", "-o", str(part), str(source)]
    ended = children.run("the libcuda stub", argv, deadline_s=_DEADLINE_S)
    if ended.exit != 0 or not part.is_file():
        raise ProvisionError(
            f"{compiler.cc} could not compile the libcuda stub: {children.last_words(ended)}",
            "a C compiler that makes shared libraries",
            "install gcc and the C library's headers, or name another compiler in CC",
        )
    part.replace(library)
    return folder
