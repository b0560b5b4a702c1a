"""The C half: what it exports, when it starts, and what it answers where no Python can run."""

from __future__ import annotations

import ctypes
import platform
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from assay.provision.cpu_driver import SOURCES, CpuDriver, names_header
from assay.provision.driver_names import driver_names
from tests.chain.support import compile_library
from tests.rehearsal.driver.programs import Programs

COMPILERS = [
    "cc",
    *(each for each in ("aarch64-linux-gnu-gcc", "x86_64-linux-gnu-gcc") if shutil.which(each)),
]
"""This machine's, and the other architecture's where it is installed."""

AFTERWARDS = """
#include <stdio.h>
#include <stdlib.h>
int cuInit(unsigned);
int cuGetErrorString(int, const char **);
static void ask(void)
{
    const char *text = NULL;
    int code = cuInit(0), named = cuGetErrorString(code, &text);
    printf("%d %d %s\\n", code, named, text);
    fflush(stdout);
}
void arm(void) { atexit(ask); }
"""


def dynamic(path: Path, tag: str, field: str) -> list[str]:
    """Return the values of a dynamic tag, as pyelftools reads them."""
    with path.open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        return [getattr(each, field) for each in section.iter_tags(tag)]


def test_it_has_the_driver_s_soname_and_every_name_and_needs_no_python(cpu_driver: CpuDriver) -> None:
    with cpu_driver.library.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".dynsym")
        assert isinstance(table, SymbolTableSection)
        exported = {each.name for each in table.iter_symbols() if each["st_shndx"] != "SHN_UNDEF"}
    assert {name for name in exported if name.startswith("cu")} == set(driver_names())
    assert dynamic(cpu_driver.library, "DT_SONAME", "soname") == ["libcuda.so.1"]
    assert not any("python" in name for name in dynamic(cpu_driver.library, "DT_NEEDED", "needed"))


def test_loading_it_imports_nothing_until_the_first_call(programs: Programs) -> None:
    ran = programs.run("""
import ctypes, sys
library = ctypes.CDLL("libcuda.so.1")
before = any(name.startswith("assay_rehearsal") for name in sys.modules)
codes = [library.cuDeviceGetCount(ctypes.byref(ctypes.c_int())), library.cuInit(1), library.cuInit(0)]
say([before, any(name.startswith("assay_rehearsal") for name in sys.modules), codes])
""")
    assert ran.said == [False, True, [3, 1, 0]]  # NOT_INITIALIZED, INVALID_VALUE, SUCCESS


def test_a_process_without_python_gets_not_initialized(cpu_driver: CpuDriver, tmp_path: Path) -> None:
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text("int cuInit(unsigned); int main(void) { return cuInit(0); }\n")
    flags = [f"-L{cpu_driver.folder}", "-l:libcuda.so.1"]
    subprocess.run([str(shutil.which("cc")), "-o", str(program), str(source), *flags], check=True)  # noqa: S603  # this machine's compiler
    env = {"LD_LIBRARY_PATH": str(cpu_driver.folder)}
    assert subprocess.run([str(program)], env=env, check=False).returncode == 3  # noqa: S603  # the program above


def test_after_the_interpreter_has_ended_it_is_deinitialized(programs: Programs) -> None:
    source, library = programs.folder / "afterwards.c", programs.folder / "afterwards.so"
    source.write_text(AFTERWARDS)
    flags = [f"-L{programs.driver.folder}", "-l:libcuda.so.1"]
    compile_library(source, library, *flags)
    ran = programs.run(f"""
import ctypes
ctypes.CDLL("libcuda.so.1").cuInit(0)
ctypes.CDLL({str(library)!r}).arm()
""")
    assert ran.printed.startswith("4 0 the CPU's driver is not running")  # CUDA_ERROR_DEINITIALIZED
    assert ran.exit == 0


def test_objects_that_die_with_the_interpreter_are_given_back(programs: Programs) -> None:
    ran = programs.run("""
import numpy as np
import pycuda.autoinit
import pycuda.gpuarray as gpuarray
kept = gpuarray.to_gpu(np.ones(1000, np.float32))
""")
    assert (ran.exit, ran.errors) == (0, "")


def test_threads_that_start_it_at_once_all_get_an_answer(programs: Programs) -> None:
    ran = programs.run("""
import ctypes, threading
library = ctypes.CDLL("libcuda.so.1")
gate, codes = threading.Barrier(8), []
def start():
    gate.wait()
    codes.append(library.cuInit(0))
    context, memory = ctypes.c_void_p(), ctypes.c_uint64()
    codes.append(library.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
    for _ in range(50):
        codes.append(library.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64)))
        codes.append(library.cuMemFree_v2(memory))
    codes.append(library.cuCtxDestroy_v2(context))
threads = [threading.Thread(target=start) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
say([len(codes), sorted(set(codes))])
""")
    assert ran.said == [8 * 103, [0]]
    assert len(ran.of("driver")) == 1


def test_what_is_not_there_is_refused_and_named_once(programs: Programs) -> None:
    ran = programs.run("""
import ctypes
library = ctypes.CDLL("libcuda.so.1")
library.cuInit(0)
say([library.cuGraphCreate(None, 0), library.cuGraphCreate(None, 0), library.cuGetExportTable(
    ctypes.byref(ctypes.c_void_p()), None)])
""")
    assert ran.said == [801, 801, 500]  # NOT_SUPPORTED, NOT_FOUND
    assert [each["call"] for each in ran.of("refused")] == ["cuGraphCreate"]
    assert ran.errors.count("cuGraphCreate") == 1


def test_an_exception_that_is_under_way_is_left_alone(programs: Programs) -> None:
    ran = programs.run("""
import pycuda.autoinit, pycuda.driver as cuda
def fails():
    memory = cuda.mem_alloc(100)
    raise KeyError("kept")
try:
    fails()
except KeyError as error:
    seen = str(error)
say([seen, cuda.mem_get_info()[0] == 4 << 30])
""")
    assert ran.said[0] == "'kept'"
    assert ran.exit == 0


def test_a_killed_process_has_told_all_until_then(programs: Programs) -> None:
    ran = programs.run("""
import os, signal, ctypes
library = ctypes.CDLL("libcuda.so.1")
library.cuInit(0)
library.cuGraphCreate(None, 0)
os.kill(os.getpid(), signal.SIGKILL)
""")
    assert ran.exit == -signal.SIGKILL
    assert [each["event"] for each in ran.report] == ["driver", "refused"]


def test_a_driver_without_its_handlers_says_so_and_does_not_crash(programs: Programs) -> None:
    alone = programs.folder / "alone"
    alone.mkdir()
    shutil.copy(programs.driver.library, alone)
    text = """
import ctypes
library, text = ctypes.CDLL("libcuda.so.1"), ctypes.c_char_p()
code = library.cuInit(0)
say([code, library.cuGetErrorString(code, ctypes.byref(text)), text.value.decode()[:30]])
"""
    ran = programs.run(text, LD_LIBRARY_PATH=str(alone))
    assert ran.said == [999, 0, "the CPU's driver is not running"[:30]]
    assert "there is no start.py" in ran.errors


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_source_compiles_without_a_warning(compiler: str, tmp_path: Path) -> None:
    (tmp_path / "names.h").write_bytes(names_header())
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared", f"-I{tmp_path}"]
    source = SOURCES / "driver" / "libcuda.c"
    subprocess.run([compiler, *flags, "-o", str(tmp_path / "made.so"), str(source)], check=True)  # noqa: S603  # a compiler


EMULATED = [
    each
    for each in (("aarch64-linux-gnu-gcc", "qemu-aarch64", "/usr/aarch64-linux-gnu"),)
    if shutil.which(each[0]) and shutil.which(each[1])
]
"""A cross compiler, what runs its programs, and their C library: where both are installed."""


@pytest.mark.parametrize(("compiler", "emulator", "root"), [("cc", "", ""), *EMULATED])
def test_on_each_architecture_a_call_of_eleven_arguments_returns_its_code(
    compiler: str, emulator: str, root: str, tmp_path: Path
) -> None:
    (tmp_path / "names.h").write_bytes(names_header())
    library, source, program = tmp_path / "libcuda.so.1", tmp_path / "main.c", tmp_path / "main"
    words = ", ".join("unsigned long" for _ in range(11))
    source.write_text(
        f"int cuInit(unsigned); int cuLaunchKernel({words});\n"
        "int main(void) { return 16 * cuInit(0) + cuLaunchKernel(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11); }\n"
    )
    made = ["-std=c11", "-fPIC", "-shared", f"-I{tmp_path}", "-Wl,-soname,libcuda.so.1", "-o", str(library)]
    linked = ["-o", str(program), str(source), str(library), f"-Wl,-rpath,{tmp_path}"]
    run = [emulator, "-L", root, str(program)] if emulator else [str(program)]
    subprocess.run([compiler, *made, str(SOURCES / "driver" / "libcuda.c"), "-ldl", "-lpthread"], check=True)  # noqa: S603  # a compiler
    subprocess.run([compiler, *linked], check=True)  # noqa: S603  # as above
    not_initialized = 3  # there is no Python: CUDA_ERROR_NOT_INITIALIZED, twice
    assert subprocess.run(run, check=False).returncode == 17 * not_initialized  # noqa: S603  # the program above


def test_integers_fill_registers_as_the_library_relies_on() -> None:
    assert platform.machine() in {"x86_64", "aarch64"}
    assert (ctypes.sizeof(ctypes.c_void_p), sys.byteorder) == (8, "little")
