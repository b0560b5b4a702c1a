"""The embedded selection as it was provisioned: PyCUDA's link to the driver, and both compilers."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from assay.provision.driver_names import driver_names
from assay.provision.lockfile import PYCUDA, SELECTION, TOOLKIT, merged
from assay.selection import Selection

WGPU_NATIVE_X86_64 = "be0d8270dd9d78e1039eeb413ee21be8a89776a752e56d6b0f57eefbbc2d749c"
"""wgpu 0.32.0's native library for Linux x86-64, as the plan pins it."""


@pytest.fixture
def extension(selection: Selection) -> Path:
    """Return PyCUDA's extension module."""
    (found,) = Path(selection.site_packages[0]).glob("pycuda/_driver*.so")
    return found


def in_selection(selection: Selection, code: str) -> str:
    """Run Python in the selected interpreter, with the selection's variables alone, and return its output."""
    environment = {"PATH": os.pathsep.join([*selection.path, "/usr/bin", "/bin"])}
    environment["CUDA_PATH"] = str(selection.toolkit)
    argv = [str(selection.executable), "-s", "-B", "-c", code]
    return subprocess.run(argv, env=environment, capture_output=True, check=True).stdout.decode()  # noqa: S603  # selected


def test_pycuda_needs_the_driver_and_is_told_no_folder(extension: Path) -> None:
    with extension.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        needed = {tag.needed for tag in section.iter_tags("DT_NEEDED")}  # type: ignore[attr-defined]  # pyelftools sets it
        run_time_paths = [*section.iter_tags("DT_RPATH"), *section.iter_tags("DT_RUNPATH")]
    assert "libcuda.so.1" in needed
    assert not any(name.startswith(("libcurand", "libcudart")) for name in needed)
    assert run_time_paths == []


def test_every_driver_function_that_pycuda_calls_is_in_the_table(extension: Path) -> None:
    with extension.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(table, SymbolTableSection)
        wanted = {symbol.name for symbol in table.iter_symbols() if symbol["st_shndx"] == "SHN_UNDEF"}
    calls = {name for name in wanted if name.startswith("cu")}
    assert "cuArrayCreate_v2" in calls
    assert calls <= set(driver_names())


def test_the_selection_has_the_locked_versions(selection: Selection) -> None:
    code = "import importlib.metadata as m\nfor d in m.distributions(): print(f'{d.name}=={d.version}')"
    installed = {line.lower().replace("_", "-") for line in in_selection(selection, code).splitlines()}
    locks = merged([SELECTION, PYCUDA, TOOLKIT])
    assert {f"{each.name}=={each.version}" for each in locks if not each.marker} <= installed


def test_pycuda_s_nvcc_and_nvrtc_make_ptx_of_one_release_without_a_driver(selection: Selection) -> None:
    code = """
import pycuda.compiler
from cuda.bindings import nvrtc
source = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'
ptx = pycuda.compiler.compile_plain(
    source, options=[], keep=False, nvcc="nvcc", cache_dir=False, target="ptx")
print(ptx.decode().partition(".version ")[2].split()[0])
_, program = nvrtc.nvrtcCreateProgram(source.encode(), b"/twice.cu", 0, [], [])
nvrtc.nvrtcCompileProgram(program, 0, [])
_, size = nvrtc.nvrtcGetPTXSize(program)
made = b" " * size
nvrtc.nvrtcGetPTX(program, made)
print(made.decode().partition(".version ")[2].split()[0])
"""
    assert in_selection(selection, code).split() == ["9.0", "9.0"]  # CUDA 13.0: PTX ISA 9.0


def test_the_provider_is_wgpu_s_own_library(selection: Selection) -> None:
    code = "import wgpu.backends.wgpu_native as w; print(w.lib_path)"
    assert in_selection(selection, code).strip() == selection.provider
    if os.uname().machine == "x86_64":
        assert hashlib.sha256(Path(str(selection.provider)).read_bytes()).hexdigest() == WGPU_NATIVE_X86_64


def test_the_selection_is_a_private_copy(selection: Selection) -> None:
    root = Path(str(selection.executable)).parent.parent
    links = [
        path for path in root.rglob("*") if path.is_symlink() and not path.resolve().is_relative_to(root)
    ]
    assert links == []
