"""Where a toolkit's parts lie, which toolkit each belongs to, and what versions their files show."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.gates.layout import (
    all_parts,
    beside,
    find_part,
    header_version,
    named_version,
    origin_of,
    toolkit_at,
    version_file,
    wanted_builtins,
)
from assay.machine import Machine
from tests.machines.building import Builder


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


def machine_of(builder: Builder) -> Machine:
    return builder.machine(stated={"os": "linux", "arch": "x86_64"})


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("/usr/local/cuda-13.0/bin/nvcc", "/usr/local/cuda-13.0"),
        ("/usr/local/cuda-13.0/targets/x86_64-linux/lib/libnvrtc.so.13", "/usr/local/cuda-13.0"),
        ("/usr/local/cuda-13.0/targets/sbsa-linux/include/crt/host_config.h", "/usr/local/cuda-13.0"),
        ("/usr/local/cuda-13.0/nvvm/bin/cicc", "/usr/local/cuda-13.0"),
        ("/usr/local/cuda-13.0/nvvm/lib64/libnvvm.so.4", "/usr/local/cuda-13.0"),
        ("/usr/local/cuda-13.0/nvvm/libdevice/libdevice.10.bc", "/usr/local/cuda-13.0"),
        ("/usr/local/cuda-13.0/lib64/stubs/libcuda.so", "/usr/local/cuda-13.0"),
        (
            "/v/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "/v/lib/python3.12/site-packages/nvidia/cu13",
        ),
        (
            "/v/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/x.so",
            "/v/lib/python3.12/site-packages/nvidia",
        ),
        (
            "/v/lib/python3.12/site-packages/nvidia/cuda_nvcc/bin/nvcc",
            "/v/lib/python3.12/site-packages/nvidia",
        ),
        ("/home/u/conda/envs/gpu/targets/x86_64-linux/lib/libnvrtc.so.13", "/home/u/conda/envs/gpu"),
        ("/home/u/conda/envs/gpu/lib/libnvrtc.so.13", "/home/u/conda/envs/gpu"),
        ("/usr/bin/nvcc", "/usr"),
        ("/usr/lib/nvidia-cuda-toolkit/bin/nvcc", "/usr"),
        ("/usr/lib/x86_64-linux-gnu/libnvrtc.so.12", "/usr"),
        ("/usr/include/cuda.h", "/usr"),
        ("/opt/cuda 13/bin/nvcc", "/opt/cuda 13"),
    ],
)
def test_a_part_belongs_to_the_toolkit_above_its_folder(builder: Builder, path: str, origin: str) -> None:
    builder.file(path)
    assert origin_of(machine_of(builder), path) == origin


def test_links_decide_where_a_part_belongs(builder: Builder) -> None:
    builder.file("/usr/local/cuda-12.8/lib64/libnvrtc.so.12")
    builder.link("/opt/cuda/lib64/libnvrtc.so.12", "/usr/local/cuda-12.8/lib64/libnvrtc.so.12")
    machine = machine_of(builder)
    assert origin_of(machine, "/opt/cuda/lib64/libnvrtc.so.12") == "/usr/local/cuda-12.8"


@pytest.mark.parametrize("path", [r"C:\CUDA\v13.0\bin\x64\nvrtc64_130_0.dll", r"C:\CUDA\v13.0\bin\nvcc.exe"])
def test_windows_paths_have_an_origin_too(builder: Builder, path: str) -> None:
    builder.file(path)
    machine = builder.machine(stated={"os": "windows", "arch": "x86_64"})
    assert origin_of(machine, path) == r"C:\CUDA\v13.0"


def test_the_folder_of_a_target_stands_for_its_toolkit(builder: Builder) -> None:
    builder.file("/usr/local/cuda-13.0/targets/x86_64-linux/include/cuda.h")
    toolkit = toolkit_at(machine_of(builder), "/usr/local/cuda-13.0/targets/x86_64-linux")
    assert (toolkit.top, toolkit.origin) == ("/usr/local/cuda-13.0", "/usr/local/cuda-13.0")


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("libnvrtc.so.13.0.88", "13.0.88"),
        ("libnvrtc.so.13", "13"),
        ("libnvrtc.so", ""),
        ("libnvrtc-builtins.so.12.8", "12.8"),
        ("libcudart.so.12.4.127", "12.4.127"),
        ("nvrtc64_130_0.dll", "13.0"),
        ("nvrtc64_112_0.dll", "11.2"),
        ("nvrtc-builtins64_130.dll", "13.0"),
        ("cudart64_13.dll", "13"),
        ("cudart64_110.dll", "11"),
    ],
)
def test_a_librarys_name_shows_its_version(name: str, version: str) -> None:
    assert named_version(name) == version


@given(st.text(max_size=40))
def test_no_name_is_too_odd(name: str) -> None:
    assert isinstance(named_version(name), str)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("#define CUDA_VERSION 13000\n", "13.0"),
        ("#   define   CUDA_VERSION\t12080\n", "12.8"),
        ("/**\n * CUDA API version number\n */\n#define CUDA_VERSION 11080 /* x */\n", "11.8"),
        ("#define __CUDA_API_VERSION 13000\n", ""),
        ("//#define CUDA_VERSION 13000\n", ""),
        ("", ""),
    ],
)
def test_the_header_defines_its_version(builder: Builder, text: str, version: str) -> None:
    builder.file("/cuda.h", text)
    assert header_version(machine_of(builder), "/cuda.h") == version


@given(st.integers(1, 99), st.integers(0, 99))
def test_any_version_is_read_back_from_the_number_that_encodes_it(major: int, minor: int) -> None:
    with TemporaryDirectory() as folder:  # one for each example, which no fixture gives
        (Path(folder) / "cuda.h").write_text(f"#define CUDA_VERSION {major * 1000 + minor * 10}\n")
        assert header_version(Machine(Path(folder), {}), "/cuda.h") == f"{major}.{minor}"


@pytest.mark.parametrize("gap", [0, 1 << 20, (1 << 20) - 10, (2 << 20) - 1])
def test_the_builtins_name_is_found_wherever_it_lies(builder: Builder, gap: int) -> None:
    builder.file("/nvrtc", b"\0" * gap + b"failed to open libnvrtc-builtins.so.13.0.\n" + b"\0" * 100)
    assert wanted_builtins(machine_of(builder), "/nvrtc") == "libnvrtc-builtins.so.13.0"


def test_no_name_and_no_file_give_nothing(builder: Builder) -> None:
    builder.file("/nvrtc", b"libnvrtc-builtins.alt.so.13.0")
    machine = machine_of(builder)
    assert wanted_builtins(machine, "/nvrtc") == ""
    assert wanted_builtins(machine, "/nowhere") == ""


def test_the_builtins_beside_a_link_and_beside_the_file_count(builder: Builder) -> None:
    builder.file("/real/libnvrtc.so.13.0.88")
    builder.file("/real/libnvrtc-builtins.so.13.0")
    builder.link("/opt/lib/libnvrtc.so.13", "/real/libnvrtc.so.13.0.88")
    assert beside(machine_of(builder), "/opt/lib/libnvrtc.so.13") == ("libnvrtc-builtins.so.13.0",)


def test_of_several_versions_side_by_side_the_headers_is_taken(builder: Builder) -> None:
    for major in ("12", "13"):
        builder.file(f"/usr/lib64/libnvrtc.so.{major}")
        builder.file(f"/usr/lib64/libcudart.so.{major}")
    builder.file("/usr/include/cuda.h", "#define CUDA_VERSION 12080\n")
    machine = machine_of(builder)
    parts = all_parts(machine, toolkit_at(machine, "/usr"))
    assert parts["nvrtc"] is not None
    assert parts["nvrtc"]["path"] == "/usr/lib64/libnvrtc.so.12"
    assert parts["nvcc"] is None


def test_the_alternative_library_is_never_taken(builder: Builder) -> None:
    builder.file("/t/lib/libnvrtc.alt.so.13")
    machine = machine_of(builder)
    assert find_part(machine, toolkit_at(machine, "/t"), "nvrtc", 13) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"cuda": 1}', '{"cuda": {"version": 13}}', "[" * 10_000, "\ufeff{}"]
)
def test_a_broken_version_file_states_nothing(builder: Builder, text: str) -> None:
    builder.file("/t/version.json", text)
    machine = machine_of(builder)
    assert version_file(machine, toolkit_at(machine, "/t")) == {}


def test_a_version_file_states_its_components(builder: Builder) -> None:
    builder.file(
        "/t/version.json", '{"cuda": {"name": "CUDA SDK", "version": "13.0.2"}, "x": {"version": "1"}}'
    )
    machine = machine_of(builder)
    assert version_file(machine, toolkit_at(machine, "/t")) == {"cuda": "13.0.2", "x": "1"}
