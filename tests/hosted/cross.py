"""Compiles the host library for other machines, where no test runs it: ``nox -s cross`` does so.

Linux on AArch64 needs Debian's ``gcc-aarch64-linux-gnu``, Windows its ``gcc-mingw-w64-x86-64``.  Each is
compiled with warnings as errors, and its exports are read.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pefile
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from assay.errors import AssayError
from assay.judge.hosted import ABI_FUNCTIONS
from assay.provision.children import Children, clean_environment
from assay.provision.host import LINUX, compile_host, host_sources


@dataclass(frozen=True)
class Machine:
    """A machine that is compiled for: its compiler, the package that has it, and the library's format."""

    name: str
    compiler: str
    package: str
    elf: bool


MACHINES = (
    Machine("AArch64", "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu", elf=True),
    Machine("Windows", "x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64", elf=False),
)


def elf_exports(library: Path) -> set[str]:
    """Return the functions that an ELF image for AArch64 exports."""
    with library.open("rb") as stream:
        image = ELFFile(stream)
        symbols = image.get_section_by_name(".dynsym")
        if image["e_machine"] != "EM_AARCH64" or not isinstance(symbols, SymbolTableSection):
            return set()
        return {each.name for each in symbols.iter_symbols() if each["st_shndx"] != "SHN_UNDEF"}


def pe_exports(library: Path) -> set[str]:
    """Return the functions that a PE image exports."""
    with pefile.PE(str(library)) as image:
        exported = getattr(image, "DIRECTORY_ENTRY_EXPORT", None)  # there only where something is exported
        return {each.name.decode() for each in getattr(exported, "symbols", ()) if each.name}


def cross(machine: Machine, folder: Path) -> str:
    """Compile for one machine and return what is wrong, ``""`` where nothing is."""
    compiler = shutil.which(machine.compiler)
    if compiler is None:
        return f"{machine.compiler} is not on PATH: install {machine.package}"
    library = folder / f"{machine.name}{'.so' if machine.elf else '.dll'}"
    children = Children(clean_environment({"PATH": "/usr/bin:/bin"}), folder / "log")
    try:
        compile_host(children, compiler, host_sources(), library, LINUX if machine.elf else ())
    except AssayError as error:
        return str(error)
    exports = elf_exports(library) if machine.elf else pe_exports(library)
    missing = set(ABI_FUNCTIONS) - exports
    return f"it does not export {', '.join(sorted(missing))}" if missing else ""


def main() -> int:
    """Compile for every machine and return 0 where all are right."""
    with tempfile.TemporaryDirectory() as folder:
        found = {machine.name: cross(machine, Path(folder)) for machine in MACHINES}
    for name, problem in found.items():
        sys.stdout.write(f"{name}: {problem or 'compiled'}\n")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
