from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from assay.errors import StorageError
from assay.provision.driver_names import cuda_version, declared_names, driver_names, table_text
from assay.selection import Selection

HEADER = """
/* CUresult CUDAAPI cuInAComment(int); */
// CUresult CUDAAPI cuInALineComment(int);
#define CUDA_VERSION 13000
#define cuMemAlloc cuMemAlloc_v2
#define cuMemcpy   __CUDA_API_PTDS(cuMemcpy)
#define cuLaunchKernel \\
    __CUDA_API_PTSZ(cuLaunchKernel)
#define cuStreamSync __CUDA_API_PTSZ(cuStreamSync_v2)
CUresult CUDAAPI cuInit(unsigned int Flags);
CUresult CUDAAPI cuMemAlloc(CUdeviceptr *dptr, size_t bytesize);
CUresult CUDAAPI
    cuMemcpy(CUdeviceptr dst);
typedef CUresult (CUDAAPI *PFN_cuPointer)(int);
"""


def test_prototypes_macros_and_stream_forms_are_names() -> None:
    assert declared_names(HEADER.replace("\\\n", " ")) == {
        "cuInit",
        "cuMemAlloc",
        "cuMemAlloc_v2",
        "cuMemcpy",
        "cuMemcpy_ptds",
        "cuLaunchKernel",
        "cuLaunchKernel_ptsz",
        "cuStreamSync_v2",
        "cuStreamSync_v2_ptsz",
    }


def test_the_version_of_a_header_is_its_macro() -> None:
    assert cuda_version(HEADER) == 13000
    assert cuda_version("#define CUDA_VERSIONS 13000\n") is None


def test_the_table_is_sorted_unique_and_whole() -> None:
    names = driver_names()
    assert list(names) == sorted(set(names))
    assert all(re.fullmatch(r"cu[A-Z][A-Za-z0-9_]*", name) for name in names)
    assert {"cuInit", "cuCtxCreate_v4", "cuArrayCreate_v2", "cuGetProcAddress_v2", "cuProfilerStop"} <= set(
        names
    )


def test_a_header_that_is_missing_is_named(tmp_path: Path) -> None:
    (tmp_path / "cuda.h").write_text(HEADER)
    with pytest.raises(StorageError, match="cudaProfiler"):
        table_text(tmp_path)


def preprocessed(include: Path, definition: str) -> set[str]:
    """Return the driver functions that a C compiler sees in CUDA's headers: another route to the table."""
    program = "#include <cuda.h>\n#include <cudaProfiler.h>\n"
    argv = ["gcc", "-E", "-P", f"-I{include}", *([definition] if definition else []), "-"]
    ended = subprocess.run(argv, input=program.encode(), capture_output=True, check=True)  # noqa: S603  # gcc
    return set(re.findall(r"\b(cu[A-Z]\w*)\s*\(", ended.stdout.decode()))


def test_the_table_is_what_the_preprocessor_makes_of_the_toolkit_s_headers(selection: Selection) -> None:
    include = Path(str(selection.toolkit)) / "include"
    definitions = ("", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-D__CUDA_API_VERSION_INTERNAL")
    seen = set().union(*(preprocessed(include, definition) for definition in definitions))
    others = {
        "GL",
        "EGL",
        "VDPAU",
        "Egl",
    }  # cudaGL.h, cudaEGL.h and cudaVDPAU.h need headers of other projects
    extra = {name for name in set(driver_names()) - seen if not any(word in name for word in others)}
    assert seen <= set(driver_names())
    assert extra == set()


def test_the_recorded_table_is_what_its_headers_give_today(selection: Selection) -> None:
    lines = table_text(Path(str(selection.toolkit)) / "include").splitlines()
    assert "CUDA_VERSION 13000" in lines[1]
    assert tuple(line for line in lines if not line.startswith("#")) == driver_names()
