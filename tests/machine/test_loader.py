"""What the loader would take: the C library's own answers on this machine, and known cases on fake ones."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from assay import process
from assay.machine import Machine, loader
from assay.machine.loader import Hit, Search, find_library, resolve_needed
from tests.machine.peers import real_libraries, said
from tests.machines.build_elf import elf_bytes
from tests.machines.build_pe import pe_bytes
from tests.machines.building import Builder

GLIBC = "/lib64/ld-linux-x86-64.so.2"
LOADER = Machine.real().libc.loader
HERE = Machine.real().arch
ELSEWHERE = "aarch64" if HERE == "x86_64" else "x86_64"
MUSL = "/lib/ld-musl-x86_64.so.1"


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    """Return a machine whose programs are loaded by glibc on x86_64."""
    builder = Builder(tmp_path / "machine")
    builder.program("/bin/sh", elf_bytes(interpreter=GLIBC))
    return builder


@pytest.fixture
def alpine(tmp_path: Path) -> Builder:
    """Return a machine whose programs are loaded by musl on x86_64."""
    builder = Builder(tmp_path / "alpine")
    builder.program("/bin/sh", elf_bytes(interpreter=MUSL))
    builder.program(MUSL, elf_bytes())
    return builder


def taken(search: Search) -> str | None:
    return search.chosen.path if search.chosen else None


def listed(path: Path, env: dict[str, str] | None = None) -> dict[str, str]:
    """Return what the C library's loader itself would load for a file, by name, links followed."""
    tracing = {**os.environ, **(env or {}), "LD_TRACE_LOADED_OBJECTS": "1"}
    ended = process.run([LOADER, str(path)], env=tracing, deadline_s=60)
    pairs = re.findall(r"^\s+(\S+) => (/.*) \(0x", ended.stdout.decode(), re.MULTILINE)
    return {name: os.path.realpath(found) for name, found in pairs if "ld-linux" not in name}


def found(path: Path, env: dict[str, str] | None = None) -> dict[str, str]:
    """Return the same from this package."""
    machine = Machine(Path("/"), {**os.environ, **(env or {})})
    dependencies = resolve_needed(machine, str(path)).dependencies
    return {
        one.name: one.hit.resolved
        for one in dependencies
        if one.hit and not one.hit.problem and "ld-linux" not in one.name
    }


@pytest.mark.parametrize("path", [Path("/bin/sh"), *real_libraries()], ids=lambda path: path.name)
def test_real_files_resolve_as_the_loader_resolves_them(path: Path) -> None:
    assert found(path) == listed(path)
    assert resolve_needed(Machine.real(), str(path)).missing == ()


@pytest.mark.parametrize("tag", ["rpath", "runpath", "both", "none"])
@pytest.mark.parametrize("variable", ["{0}/env", ":{0}/env", "{0}/wrong:{0}/env", "{0}/text:{0}/env", None])
def test_the_loaders_order(tmp_path: Path, tag: str, variable: str | None) -> None:
    """Every mix of RPATH, RUNPATH and LD_LIBRARY_PATH, a library for another processor among them."""
    for folder in ("env", "rpath", "runpath"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "libassay_deep.so").write_bytes(
            elf_bytes(machine=HERE, soname="libassay_deep.so")
        )
        library = elf_bytes(machine=HERE, soname="libassay_one.so", needed=("libassay_deep.so",))
        (tmp_path / folder / "libassay_one.so").write_bytes(library)
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong/libassay_one.so").write_bytes(elf_bytes(machine=ELSEWHERE))
    (tmp_path / "text").mkdir()
    tags = {
        "rpath": {"rpath": f"{tmp_path}/rpath"},
        "runpath": {"runpath": "$ORIGIN/runpath"},
        "both": {"rpath": f"{tmp_path}/rpath", "runpath": "${ORIGIN}/runpath"},
        "none": {},
    }[tag]
    top = tmp_path / "libassay_top.so"
    top.write_bytes(elf_bytes(machine=HERE, needed=("libassay_one.so",), **tags))  # type: ignore[arg-type]  # each is a string
    env = {} if variable is None else {"LD_LIBRARY_PATH": variable.format(tmp_path)}
    assert found(top, env) == listed(top, env)


def test_a_wrong_file_in_the_way_ends_the_load(tmp_path: Path) -> None:
    for folder, content in (("first", b"not a library"), ("second", elf_bytes(machine=HERE))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "libassay_one.so").write_bytes(content)
    top = tmp_path / "top.so"
    top.write_bytes(elf_bytes(machine=HERE, needed=("libassay_one.so",)))
    env = {"LD_LIBRARY_PATH": f"{tmp_path}/first:{tmp_path}/second"}
    assert listed(top, env) == {}
    (missing,) = resolve_needed(Machine(Path("/"), env), str(top)).missing
    assert missing.hit is not None
    assert "neither ELF" in missing.hit.problem


def test_the_name_that_python_would_load_is_found_where_the_loader_maps_it() -> None:
    code = "import ctypes; ctypes.CDLL('libz.so.1'); print(open('/proc/self/maps').read())"
    mapped = re.findall(r"/.*/libz\.so.*", said(sys.executable, "-c", code))[0]
    machine = Machine.real()
    chosen = find_library(machine, "libz.so.1", chain=(machine.binary(sys.executable),)).chosen
    assert chosen is not None
    assert chosen.resolved == os.path.realpath(mapped)


def test_the_first_match_hides_the_others(build: Builder) -> None:
    build.file("/usr/local/cuda/lib64/stubs/libcuda.so.1", elf_bytes(soname="libcuda.so.1"))
    build.file("/usr/lib/x86_64-linux-gnu/libcuda.so.580", elf_bytes(soname="libcuda.so.1"))
    build.link("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.580")
    build.link("/lib", "usr/lib")
    search = find_library(build.machine({"LD_LIBRARY_PATH": "/usr/local/cuda/lib64/stubs/"}), "libcuda.so.1")
    assert search.chosen == Hit(
        "/usr/local/cuda/lib64/stubs/libcuda.so.1",
        "LD_LIBRARY_PATH",
        "/usr/local/cuda/lib64/stubs/libcuda.so.1",
    )
    assert {hit.resolved for hit in search.hidden} == {"/usr/lib/x86_64-linux-gnu/libcuda.so.580"}
    without = find_library(build.machine(), "libcuda.so.1")
    assert taken(without) == "/lib/x86_64-linux-gnu/libcuda.so.1"
    assert without.hidden == ()


def test_wsls_library_is_found_through_the_configuration(build: Builder) -> None:
    build.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n")
    build.file("/etc/ld.so.conf.d/ld.wsl.conf", "/usr/lib/wsl/lib\n")
    build.file("/usr/lib/wsl/lib/libcuda.so.1", elf_bytes(soname="libcuda.so.1"))
    build.file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", elf_bytes(soname="libcuda.so.1"))
    search = find_library(build.machine(), "libcuda.so.1")
    assert taken(search) == "/usr/lib/wsl/lib/libcuda.so.1"
    assert search.chosen is not None
    assert search.chosen.found_via == "/etc/ld.so.conf.d/ld.wsl.conf"
    assert [hit.path for hit in search.hidden] == ["/usr/lib/x86_64-linux-gnu/libcuda.so.1"]


def test_the_cache_knows_only_names_of_libraries(build: Builder) -> None:
    build.file("/etc/ld.so.conf", "/opt/lib\n")
    build.file("/opt/lib/plugin.so", elf_bytes())
    build.file("/opt/lib/libplugin.so", elf_bytes())
    machine = build.machine()
    assert find_library(machine, "plugin.so").hits == ()
    assert taken(find_library(machine, "libplugin.so")) == "/opt/lib/libplugin.so"


def test_glibc_passes_over_another_processor_and_what_it_may_not_open(build: Builder) -> None:
    build.file("/a/libx.so", elf_bytes(machine="aarch64"))
    build.file("/b/libx.so", elf_bytes())
    build.file("/c/libx.so", elf_bytes())
    machine = build.machine({"LD_LIBRARY_PATH": "/a:/b:/c"}, stated={"denied": ["/b/libx.so"]})
    search = find_library(machine, "libx.so")
    assert taken(search) == "/c/libx.so"
    assert [hit.problem for hit in search.hits if hit.skipped] == ["it is for aarch64, not for x86_64"]


def test_a_script_in_place_of_a_library_ends_the_load(build: Builder) -> None:
    build.file("/a/libx.so", "#!/bin/sh\n")
    search = find_library(build.machine({"LD_LIBRARY_PATH": "/a"}), "libx.so")
    assert search.chosen is not None
    assert search.chosen.problem == "it is no ELF library but script"


def test_a_path_is_taken_as_it_stands(build: Builder) -> None:
    build.file("/opt/libx.so", elf_bytes())
    machine = build.machine(stated={"cwd": "/opt"})
    assert find_library(machine, "/opt/libx.so").chosen == Hit("/opt/libx.so", "its path", "/opt/libx.so")
    assert taken(find_library(machine, "./libx.so")) == "./libx.so"
    assert find_library(machine, "/none/libx.so") == Search("/none/libx.so")


def test_a_preloaded_library_of_that_name_comes_first(build: Builder) -> None:
    build.file("/opt/preload/fake.so", elf_bytes(soname="libcuda.so.1"))
    build.file("/opt/preload/other.so", elf_bytes(soname="libother.so"))
    build.file("/lib/libcuda.so.1", elf_bytes(soname="libcuda.so.1"))
    env = {"LD_PRELOAD": "/opt/preload/other.so:/opt/preload/fake.so /none"}
    search = find_library(build.machine(env), "libcuda.so.1")
    assert search.chosen == Hit("/opt/preload/fake.so", "LD_PRELOAD", "/opt/preload/fake.so")
    build.file("/etc/ld.so.preload", "/opt/preload/fake.so\n")
    search = find_library(build.machine(), "libcuda.so.1")
    assert search.chosen is not None
    assert search.chosen.found_via == "/etc/ld.so.preload"


def test_better_processors_get_better_libraries(build: Builder) -> None:
    build.file("/proc/cpuinfo", "flags\t: cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3\n")
    build.file("/lib/glibc-hwcaps/x86-64-v2/libx.so", elf_bytes())
    build.file("/lib/glibc-hwcaps/x86-64-v3/libx.so", elf_bytes())
    build.file("/lib/libx.so", elf_bytes())
    search = find_library(build.machine(), "libx.so")
    assert [hit.path for hit in search.hits] == ["/lib/glibc-hwcaps/x86-64-v2/libx.so", "/lib/libx.so"]


def test_musl_answers_for_every_part_of_a_c_library(alpine: Builder) -> None:
    machine = alpine.machine()
    for name in ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libc.musl-x86_64.so.1"):
        assert find_library(machine, name).chosen == Hit(MUSL, "musl itself", MUSL)
    assert find_library(machine, "libcap.so.2").hits == ()


def test_musl_takes_the_first_file_whatever_it_is_for(alpine: Builder) -> None:
    alpine.file("/a/libx.so", elf_bytes(machine="aarch64"))
    alpine.file("/usr/lib/libx.so", elf_bytes())
    search = find_library(alpine.machine({"LD_LIBRARY_PATH": "/a"}), "libx.so")
    assert search.chosen is not None
    assert (search.chosen.path, search.chosen.problem) == ("/a/libx.so", "it is for aarch64, not for x86_64")


def test_needs_are_followed_breadth_first_and_each_name_once(build: Builder) -> None:
    build.file("/lib/liba.so", elf_bytes(soname="liba.so", needed=("libc.so.6", "libdeep.so")))
    build.file(
        "/lib/libb.so", elf_bytes(soname="libb.so", needed=("liba.so", "libnone.so", "ld-linux-x86-64.so.2"))
    )
    build.file("/lib/libdeep.so", elf_bytes(soname="libdeep.so", needed=("libb.so", "libtop.so.1")))
    build.file("/lib/libc.so.6", elf_bytes(soname="libc.so.6"))
    build.file(
        "/opt/libtop.so", elf_bytes(soname="libtop.so.1", needed=("libb.so", "liba.so"), interpreter=GLIBC)
    )
    result = resolve_needed(build.machine(), "/opt/libtop.so")
    assert [(one.name, one.needed_by, one.hit.path if one.hit else None) for one in result.dependencies] == [
        ("libb.so", "/opt/libtop.so", "/lib/libb.so"),
        ("liba.so", "/opt/libtop.so", "/lib/liba.so"),
        ("libnone.so", "/lib/libb.so", None),
        ("libc.so.6", "/lib/liba.so", "/lib/libc.so.6"),
        ("libdeep.so", "/lib/liba.so", "/lib/libdeep.so"),
    ]
    assert [one.name for one in result.missing] == ["libnone.so"]
    assert result.complete


def test_a_programs_rpath_counts_for_the_libraries_below_it(build: Builder) -> None:
    build.program("/opt/bin/python", elf_bytes(interpreter=GLIBC, rpath="$ORIGIN/../lib"))
    build.file("/opt/lib/libdeep.so", elf_bytes(soname="libdeep.so"))
    build.file("/opt/ext.so", elf_bytes(needed=("libdeep.so",)))
    machine = build.machine()
    assert [one.name for one in resolve_needed(machine, "/opt/ext.so").missing] == ["libdeep.so"]
    (one,) = resolve_needed(machine, "/opt/ext.so", program="/opt/bin/python").dependencies
    assert one.hit is not None
    assert one.hit.found_via == "RPATH of /opt/bin/python"


def test_a_walk_has_an_end(build: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        build.file(f"/lib/lib{number}.so", elf_bytes(needed=(f"lib{number + 1}.so",)))
    monkeypatch.setattr(loader, "MAX_LIBRARIES", 3)
    result = resolve_needed(build.machine(), "/lib/lib0.so")
    assert (len(result.dependencies), result.complete) == (3, False)


def test_a_binary_that_cannot_be_read_has_a_problem_and_no_dependencies(build: Builder) -> None:
    build.file("/opt/x.so", "text")
    result = resolve_needed(build.machine(), "/opt/x.so")
    assert "neither ELF" in result.problem
    assert result.dependencies == ()


def test_windows_libraries(tmp_path: Path) -> None:
    build = Builder(tmp_path / "windows")
    build.file("C:\\Windows\\System32\\ntdll.dll", pe_bytes())
    build.file("C:\\Windows\\System32\\NVCUDA.DLL", pe_bytes(imports=("api-ms-win-core-x.dll", "ntdll.dll")))
    build.file("C:\\cuda\\bin\\nvrtc64_130_0.dll", pe_bytes(imports=("nvcuda.dll", "gone.dll")))
    build.file("C:\\arm\\nvrtc64_130_0.dll", pe_bytes(machine="aarch64"))
    machine = build.machine({"PATH": "C:\\cuda\\bin"})
    assert taken(find_library(machine, "nvrtc64_130_0.dll")) == "C:\\cuda\\bin\\nvrtc64_130_0.dll"
    assert find_library(machine, "nvrtc64_130_0.dll", python=True).hits == ()
    result = resolve_needed(machine, "C:\\cuda\\bin\\nvrtc64_130_0.dll")
    assert [(one.name, one.hit.found_via if one.hit else "") for one in result.dependencies] == [
        ("nvcuda.dll", "system folder"),
        ("gone.dll", ""),
        ("api-ms-win-core-x.dll", "API set"),
        ("ntdll.dll", "system folder"),
    ]
    wrong = find_library(build.machine({"PATH": "C:\\arm"}), "nvrtc64_130_0.dll").chosen
    assert wrong is not None
    assert "aarch64" in wrong.problem


def test_macos_has_no_answer(tmp_path: Path) -> None:
    machine = Builder(tmp_path / "mac").machine(stated={"os": "macos"})
    assert find_library(machine, "libwgpu_native.dylib") == Search("libwgpu_native.dylib")
