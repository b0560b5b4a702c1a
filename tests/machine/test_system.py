"""What a machine is, told from its files alone."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import Machine
from assay.machine.system import Libc, Virtualisation, libc_of, normal_arch, split_path
from assay.model import Platform
from tests.machine.peers import said
from tests.machines.build_elf import elf_bytes
from tests.machines.build_pe import pe_bytes
from tests.machines.building import Builder

GLIBC_LOADER = "/lib64/ld-linux-x86-64.so.2"
MUSL_LOADER = "/lib/ld-musl-x86_64.so.1"


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n"),
        ("/proc/version", "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)\n"),
        ("/dev/dxg", ""),
    ],
)
def test_wsl_shows_by_its_kernel_or_its_device(build: Builder, path: str, text: str) -> None:
    build.file(path, text)
    assert build.machine().platform is Platform.WSL


@pytest.mark.parametrize("release", ["6.1.0-18-amd64", "5.15.0-1042-azure", ""])
def test_other_kernels_are_linux(build: Builder, release: str) -> None:
    build.file("/proc/sys/kernel/osrelease", release)
    assert build.machine().platform is Platform.LINUX


def test_windows_and_macos_show_by_their_folders_or_are_stated(build: Builder, tmp_path: Path) -> None:
    build.folder_at("C:\\Windows")
    assert build.machine().platform is Platform.WINDOWS
    mac = Builder(tmp_path / "mac")
    mac.folder_at("/System/Library/CoreServices")
    assert mac.machine().platform is Platform.MACOS
    empty = Builder(tmp_path / "empty")
    assert empty.machine(stated={"os": "windows"}).platform is Platform.WINDOWS
    assert empty.machine(stated={"os": "macos"}).platform is Platform.MACOS
    assert empty.machine().platform is Platform.LINUX


def test_the_processor_is_that_of_the_machines_programs(build: Builder, tmp_path: Path) -> None:
    assert build.machine().arch == ""
    build.program("/bin/sh", "#!/bin/false")
    build.program("/usr/bin/env", elf_bytes(machine="aarch64", kind="executable"))
    assert build.machine().arch == "aarch64"
    assert build.machine(stated={"arch": "riscv"}).arch == "riscv"
    windows = Builder(tmp_path / "windows")
    windows.file("C:\\Windows\\System32\\ntdll.dll", pe_bytes())
    assert windows.machine().arch == "x86_64"


@pytest.mark.parametrize(
    ("name", "usual"),
    [
        ("AMD64", "x86_64"),
        ("arm64", "aarch64"),
        ("i686", "x86"),
        ("x86_64", "x86_64"),
        ("ppc64le", "ppc64le"),
    ],
)
def test_a_processor_has_one_name(name: str, usual: str) -> None:
    assert normal_arch(name) == usual


def test_the_real_machine_agrees_with_its_own_programs() -> None:
    machine = Machine.real()
    assert machine.arch == normal_arch(platform.machine())
    assert machine.os_release == platform.freedesktop_os_release() | dict(machine.os_release)
    assert f"{machine.libc.kind} {machine.libc.version}" == said("getconf", "GNU_LIBC_VERSION").strip()
    assert machine.says.cwd == os.getcwd()  # noqa: PTH109  # the peer of Path.cwd


def test_os_release_is_read_as_a_shell_would(build: Builder) -> None:
    build.file(
        "/usr/lib/os-release",
        '# a comment\nID=debian\nVERSION_ID="12"\nNAME=\'Debian GNU\'\nNOTE="a \\"b\\" \\$c"\n\nbroken\n',
    )
    build.link("/etc/os-release", "../usr/lib/os-release")
    fields = build.machine().os_release
    assert fields == {"ID": "debian", "VERSION_ID": "12", "NAME": "Debian GNU", "NOTE": 'a "b" $c'}


def test_os_release_falls_back_and_may_be_missing(build: Builder) -> None:
    assert build.machine().os_release == {}
    build.file("/usr/lib/os-release", b"ID=\xff\n")
    assert build.machine().os_release == {"ID": "\ufffd"}


def add_glibc(build: Builder, version: str, *, banner: bool) -> None:
    """Add a shell and a glibc that defines versions up to ``version``."""
    text = f"GNU C Library (Debian GLIBC {version}-9) stable release version {version}.\n" if banner else ""
    library = elf_bytes(soname="libc.so.6", provides=("GLIBC_2.2.5", f"GLIBC_{version}"), text=text.encode())
    build.program("/bin/sh", elf_bytes(interpreter=GLIBC_LOADER))
    build.file("/lib/x86_64-linux-gnu/libc-real.so", library)
    build.link("/lib/x86_64-linux-gnu/libc.so.6", "libc-real.so")


@pytest.mark.parametrize("banner", [True, False])
def test_glibc_and_its_version(build: Builder, *, banner: bool) -> None:
    add_glibc(build, "2.36", banner=banner)
    path = "/lib/x86_64-linux-gnu/libc.so.6"
    assert build.machine().libc == Libc("glibc", "2.36", path, GLIBC_LOADER, "2.36")


def test_a_glibc_for_another_processor_is_not_this_machines(build: Builder) -> None:
    add_glibc(build, "2.36", banner=True)
    build.file("/lib/aarch64-linux-gnu/libc.so.6", elf_bytes(machine="aarch64", provides=("GLIBC_2.17",)))
    assert build.machine().libc.version == "2.36"


def test_a_glibc_that_cannot_be_read_leaves_the_version_open(build: Builder) -> None:
    build.program("/bin/sh", elf_bytes(interpreter=GLIBC_LOADER))
    build.file("/lib64/libc.so.6", "/* GNU ld script */")
    assert build.machine().libc == Libc("glibc", loader=GLIBC_LOADER)


def test_musl_and_its_version(build: Builder) -> None:
    build.program("/bin/busybox", elf_bytes(interpreter=MUSL_LOADER))
    build.link("/bin/sh", "/bin/busybox")
    build.program(MUSL_LOADER, elf_bytes(text=b"\x001.2.4_git20230717\0musl libc (x86_64)\nVersion %s\n"))
    assert build.machine().libc == Libc("musl", "1.2.4", MUSL_LOADER, MUSL_LOADER)
    build.file("/lib/apk/db/installed", "C:Q1\nP:musl-utils\nV:9.9.9-r0\n\nC:Q1\nP:musl\nV:1.2.5-r2\n")
    assert build.machine().libc.version == "1.2.5"


def test_a_glibc_loader_on_a_musl_system_does_not_make_it_glibc(build: Builder) -> None:
    build.program("/bin/sh", elf_bytes(interpreter=MUSL_LOADER))
    build.program(GLIBC_LOADER, elf_bytes())
    build.program("/opt/python", elf_bytes(interpreter=GLIBC_LOADER))
    machine = build.machine()
    assert machine.libc.kind == "musl"
    assert libc_of(machine, "/opt/python").kind == "glibc"


def test_a_machine_of_static_programs_shows_its_loader_or_nothing(build: Builder) -> None:
    build.program("/bin/sh", elf_bytes())
    assert build.machine().libc == Libc()
    build.program(MUSL_LOADER, elf_bytes())
    assert build.machine().libc.kind == "musl"
    assert build.machine(stated={"os": "macos"}).libc == Libc()


def test_virtual_machines_and_containers_show(build: Builder) -> None:
    assert build.machine().virtualisation == Virtualisation()
    build.file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n")
    build.file("/sys/class/dmi/id/product_name", "Standard PC (Q35 + ICH9, 2009)\n")
    build.file("/sys/class/dmi/id/sys_vendor", "QEMU\n")
    build.file("/.dockerenv")
    expected = Virtualisation(True, "Standard PC (Q35 + ICH9, 2009)", "QEMU", "docker")  # noqa: FBT003  # a value's first field
    assert build.machine().virtualisation == expected


@pytest.mark.parametrize(
    ("path", "text", "env", "kind"),
    [
        ("/run/.containerenv", "", {}, "podman"),
        ("/run/systemd/container", "lxc\n", {}, "lxc"),
        ("/etc/hostname", "", {"container": "oci"}, "oci"),
        ("/proc/cpuinfo", "flags\t: fpu nohypervisor\n", {}, ""),
    ],
)
def test_kinds_of_containers(build: Builder, path: str, text: str, env: dict[str, str], kind: str) -> None:
    build.file(path, text)
    found = build.machine(env).virtualisation
    assert (found.container, found.hypervisor) == (kind, False)


def test_entries_of_a_search_path() -> None:
    assert split_path(":/a::/b:", windows=False) == ("", "/a", "", "/b", "")
    assert split_path("", windows=False) == split_path("", windows=True) == ()
    assert split_path('C:\\a; "C:\\b c" ;;', windows=True) == ("C:\\a", "C:\\b c")


@given(st.lists(st.text("/ab .", max_size=5), min_size=1))
def test_no_entry_is_lost(entries: list[str]) -> None:
    joined = ":".join(entries)
    assert list(split_path(joined, windows=False)) == (entries if joined else [])


def test_programs_are_found_in_order_and_must_be_executable(build: Builder) -> None:
    build.file("/a/nvcc", "not executable")
    build.folder_at("/b/nvcc")
    build.program("/c/nvcc", "#!/bin/sh\n")
    build.program("/opt/cuda/bin/nvcc", "x")
    build.link("/d/nvcc", "/opt/cuda/bin/nvcc")
    build.program("/work/nvcc", "x")
    machine = build.machine({"PATH": "/a:/b:/c:/d:/c:"}, stated={"cwd": "/work"})
    assert machine.which("nvcc") == "/c/nvcc"
    assert machine.which_all("nvcc") == ("/c/nvcc", "/d/nvcc", "/work/nvcc")
    assert machine.which("nvcc", ("/d",)) == "/d/nvcc"
    assert machine.which("nvcc", "/a:/b") is None
    assert machine.which("gcc") is None
    assert build.machine({}).which("nvcc") is None


def test_windows_programs_have_extensions(build: Builder) -> None:
    build.file("C:\\cuda\\bin\\nvcc.exe", pe_bytes(dll=False))
    build.file("C:\\tools\\nvcc.cmd", "@echo off")
    build.file("C:\\tools\\nvcc", "no extension")
    env = {"Path": 'C:\\tools;"C:\\cuda\\bin"'}
    machine = build.machine(env, stated={"os": "windows"})
    assert machine.which_all("nvcc") == ("C:\\tools\\nvcc.cmd", "C:\\cuda\\bin\\nvcc.exe")
    assert machine.which("NVCC.EXE") == "C:\\cuda\\bin\\NVCC.EXE"
    only = build.machine({**env, "PATHEXT": ".EXE"}, stated={"os": "windows"})
    assert only.which_all("nvcc") == ("C:\\cuda\\bin\\nvcc.exe",)


def test_the_real_path_is_searched_as_the_shell_does() -> None:
    assert Machine.real().which("sh") == said("sh", "-c", "command -v sh").strip()
