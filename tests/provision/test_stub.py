from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from assay.errors import ProvisionError
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.driver_names import driver_names
from assay.provision.stub import make_stub, stub_digest
from tests.provision.world import script

GCC = HostCompiler(str(shutil.which("gcc")), str(shutil.which("g++")), "g++ here")


def dynamic(path: Path, tag: str, field: str) -> list[str]:
    """Return the values of a dynamic tag, as pyelftools reads them."""
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        return [getattr(each, field) for each in section.iter_tags(tag)]


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a stub that this machine's compiler made."""
    folder = tmp_path_factory.mktemp("stub")
    return make_stub(Children({"PATH": "/usr/bin:/bin"}, folder / "log"), GCC, folder / "stubs")


def test_the_stub_has_the_driver_s_soname_and_every_name(stub: Path) -> None:
    with (stub / "libcuda.so").open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(table, SymbolTableSection)
        exported = {symbol.name for symbol in table.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"}
    assert dynamic(stub / "libcuda.so", "DT_SONAME", "soname") == ["libcuda.so.1"]
    assert {name for name in exported if name.startswith("cu")} == set(driver_names())


def test_every_function_says_that_it_is_a_stub(stub: Path) -> None:
    library = ctypes.CDLL(str(stub / "libcuda.so"))
    assert library.cuInit(0) == 34  # CUDA_ERROR_STUB_LIBRARY
    assert library.cuArrayCreate_v2(None, None) == 34


def test_what_is_linked_against_it_needs_the_driver_and_no_folder(stub: Path, tmp_path: Path) -> None:
    program, source = tmp_path / "made.so", tmp_path / "made.c"
    source.write_text("int cuInit(unsigned); int start(void) { return cuInit(0); }\n")
    flags = ["-shared", "-fPIC", "-Wl,--as-needed", f"-L{stub}"]
    argv = [GCC.cc, *flags, "-o", str(program), str(source), "-lcuda"]
    subprocess.run(argv, check=True)  # noqa: S603  # the compiler of this machine
    assert "libcuda.so.1" in dynamic(program, "DT_NEEDED", "needed")
    assert dynamic(program, "DT_RUNPATH", "runpath") == dynamic(program, "DT_RPATH", "rpath") == []


def test_a_stub_is_compiled_once_for_each_compiler(children: Children, stub: Path) -> None:
    inode = (stub / "libcuda.so").stat().st_ino
    assert make_stub(children, GCC, stub.parent) == stub
    assert (stub / "libcuda.so").stat().st_ino == inode
    assert stub_digest(GCC) != stub_digest(HostCompiler(GCC.cc, GCC.cxx, "another"))


def test_a_compiler_that_fails_leaves_no_library(children: Children, tmp_path: Path) -> None:
    broken = HostCompiler(str(script(tmp_path / "cc", "echo no assembler >&2; exit 1")), GCC.cxx, "broken")
    with pytest.raises(ProvisionError, match="no assembler") as caught:
        make_stub(children, broken, tmp_path / "stubs")
    assert "CC" in caught.value.remedy
    assert not list((tmp_path / "stubs").rglob("*.so"))
