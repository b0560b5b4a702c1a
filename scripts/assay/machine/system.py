"""What a machine is: platform, processor, distribution, C library, virtualisation; how it finds programs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.errors import StorageError
from assay.model import Platform

if TYPE_CHECKING:
    from assay.machine.machine import Machine

PROGRAMS = ("/bin/sh", "/usr/bin/sh", "/bin/busybox", "/usr/bin/env", "/bin/ls")
"""Programs that every Linux system has one of; their ELF headers show processor and C library."""

WINDOWS_LIBRARIES = ("C:\\Windows\\System32\\ntdll.dll", "C:\\Windows\\System32\\kernel32.dll")

PATHEXT = ".COM;.EXE;.BAT;.CMD"
"""The extensions that Windows tries first when ``PATHEXT`` is not set."""

CPUINFO_LIMIT = 16 << 20
"""Bytes of ``/proc/cpuinfo`` that are read: it has 1.5 kB a processor."""

LIBC_LIMIT = 64 << 20
"""Bytes of a C library that are searched for its banner; real ones have 2 MB."""

_GLIBC_BANNER = re.compile(
    rb"GNU C Library \([^\n)]{0,200}\) \w+ release version (\d{1,3}(?:\.\d{1,3}){1,2})"
)
"""The banner that glibc prints when it is run (csu/version.c)."""

_MUSL_VERSION = re.compile(rb"\0(1\.\d{1,2}\.\d{1,2})(?:[-_][\w.+-]{1,60})?\0")
"""musl's ``__libc_version``, a string constant of the loader (src/internal/version.c)."""

_APK_MUSL = re.compile(r"^P:musl\nV:(\d{1,3}(?:\.\d{1,3}){1,2})", re.MULTILINE)
"""musl's record in Alpine's package database."""

_LOADERS = ("/lib/ld-musl-*.so.1", "/lib64/ld-linux*.so.*", "/lib/ld-linux*.so.*", "/lib/*/ld-linux*.so.*")
"""Where distributions put the program interpreter."""

_ARCHITECTURES = {
    "amd64": "x86_64",
    "x64": "x86_64",
    "arm64": "aarch64",
    "i386": "x86",
    "i486": "x86",
    "i586": "x86",
    "i686": "x86",
}


@dataclass(frozen=True)
class Libc:
    """A C library.

    Attributes:
        kind: ``glibc``, ``musl`` or ``""`` where nothing shows it.
        version: its release, such as ``2.36``, or ``""``.
        path: the library that the version was read from.
        loader: the program interpreter that shows the kind.
        provides: for glibc the highest ``GLIBC_`` version that it defines, such as ``2.36``.
    """

    kind: str = ""
    version: str = ""
    path: str = ""
    loader: str = ""
    provides: str = ""


@dataclass(frozen=True)
class Virtualisation:
    """What shows that hardware is not bare.

    Attributes:
        hypervisor: whether the processor reports one (CPUID leaf 1, ECX bit 31; ``/proc/cpuinfo``).
        product: DMI product name.
        vendor: DMI system vendor.
        container: ``docker``, ``podman``, what systemd says, or ``""``.
    """

    hypervisor: bool = False
    product: str = ""
    vendor: str = ""
    container: str = ""


def normal_arch(name: str) -> str:
    """Return the usual name of a processor architecture: ``AMD64`` is ``x86_64``."""
    lower = name.lower()
    return _ARCHITECTURES.get(lower, lower)


def host_arch() -> str:
    """Return the processor of the computer that runs this code, as ``uname`` and Windows say it."""
    said = os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")
    return normal_arch(said)


def platform_of(machine: Machine) -> Platform:
    """Return a machine's platform.

    WSL is a Linux whose kernel release names Microsoft, or that has the paravirtual GPU device ``/dev/dxg``
    (a kernel of the user's own need not carry the name).
    """
    if machine.view.windows:
        return Platform.WINDOWS
    if machine.says.os == "macos" or (not machine.says.os and machine.is_dir("/System/Library/CoreServices")):
        return Platform.MACOS
    return Platform.WSL if is_wsl(machine) else Platform.LINUX


def is_wsl(machine: Machine) -> bool:
    """Tell whether a Linux machine runs under WSL."""
    release = machine.peek("/proc/sys/kernel/osrelease").text or machine.peek("/proc/version").text
    return "microsoft" in release.lower() or machine.exists("/dev/dxg")


def arch_of(machine: Machine) -> str:
    """Return the processor that a machine's own programs are built for, or ``""``."""
    candidates = WINDOWS_LIBRARIES if machine.view.windows else PROGRAMS
    read = (machine.binary(path, symbols=False).arch for path in candidates if machine.is_file(path))
    return next((arch for arch in read if arch), "")


def os_release(machine: Machine) -> Mapping[str, str]:
    """Return the fields of ``/etc/os-release`` or ``/usr/lib/os-release`` (os-release(5)), quotes removed."""
    text = machine.peek("/etc/os-release").text or machine.peek("/usr/lib/os-release").text
    fields = (line.strip().partition("=") for line in text.splitlines() if not line.lstrip().startswith("#"))
    return MappingProxyType({name: _unquoted(value) for name, equals, value in fields if equals})


def _unquoted(value: str) -> str:
    """Remove a shell value's quotes and the backslashes inside double quotes."""
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return re.sub(r'\\([\\"$`])', r"\1", value[1:-1]) if value[0] == '"' else value[1:-1]
    return value


def libc_of(machine: Machine, program: str | None = None) -> Libc:
    """Return the C library that ``program``, or the machine's own programs, are loaded with.

    The program interpreter (``PT_INTERP``) decides the kind: a glibc that merely lies on a musl system does
    not make it one.
    """
    if machine.platform not in (Platform.LINUX, Platform.WSL):
        return Libc()
    loader = _interpreter(machine, (program,) if program else PROGRAMS) or _loader_file(machine)
    if "ld-musl" in loader:
        return Libc("musl", _musl_version(machine, loader), loader, loader)
    return _glibc(machine, loader) if loader else Libc()


def _interpreter(machine: Machine, programs: Sequence[str]) -> str:
    """Return the first ``PT_INTERP`` among ``programs``, or ``""`` (all are static, scripts or missing)."""
    read = (machine.binary(path, symbols=False).interpreter for path in programs if machine.is_file(path))
    return next((interpreter for interpreter in read if interpreter), "")


def _loader_file(machine: Machine) -> str:
    """Return a loader that lies where distributions put it, or ``""``."""
    return next((path for pattern in _LOADERS for path in machine.glob(pattern)), "")


def _musl_version(machine: Machine, loader: str) -> str:
    """Return musl's version from Alpine's package database or from the loader's own constant."""
    if match := _APK_MUSL.search(machine.peek("/lib/apk/db/installed", LIBC_LIMIT).text):
        return match[1]
    found = _search(machine, loader, _MUSL_VERSION)
    return found.decode() if found else ""


def _glibc(machine: Machine, loader: str) -> Libc:
    """Return glibc with its version from the banner, else from the highest version that it defines."""
    patterns = ("/lib/*-linux-gnu*/libc.so.6", "/lib64/libc.so.6", "/lib/libc.so.6", "/usr/lib/libc.so.6")
    for path in (path for pattern in patterns for path in machine.glob(pattern)):
        library = machine.binary(path, symbols=False)
        if library.problem or (machine.arch and library.arch != machine.arch):
            continue
        banner = _search(machine, path, _GLIBC_BANNER)
        version = banner.decode() if banner else library.glibc_provided
        return Libc("glibc", version, path, loader, library.glibc_provided)
    return Libc("glibc", loader=loader)


def _search(machine: Machine, path: str, pattern: re.Pattern[bytes]) -> bytes:
    """Return the first group of ``pattern`` in a file's bytes, or nothing."""
    try:
        match = pattern.search(machine.read_bytes(path, LIBC_LIMIT))
    except StorageError:
        return b""
    return match[1] if match else b""


def virtualisation_of(machine: Machine) -> Virtualisation:
    """Return what shows a virtual machine or a container."""
    processors = machine.peek("/proc/cpuinfo", CPUINFO_LIMIT).text
    return Virtualisation(
        hypervisor=re.search(r"^flags\s*:.*\bhypervisor\b", processors, re.MULTILINE) is not None,
        product=machine.peek("/sys/class/dmi/id/product_name").text.strip(),
        vendor=machine.peek("/sys/class/dmi/id/sys_vendor").text.strip(),
        container=_container(machine),
    )


def _container(machine: Machine) -> str:
    """Return the kind of container that left its mark, or ``""``."""
    if machine.exists("/.dockerenv"):
        return "docker"
    if machine.exists("/run/.containerenv"):
        return "podman"
    return machine.peek("/run/systemd/container").text.strip() or machine.getenv("container")


def split_path(value: str, *, windows: bool) -> tuple[str, ...]:
    """Return the entries of a search path; on POSIX an empty one means the working folder."""
    if not value:
        return ()
    if windows:
        return tuple(entry for entry in (part.strip().strip('"') for part in value.split(";")) if entry)
    return tuple(value.split(":"))


def which_all(machine: Machine, name: str, folders: Sequence[str]) -> tuple[str, ...]:
    """Return the programs called ``name`` in ``folders``, in order, none twice."""
    names = _spellings(machine, name)
    places = (folder or machine.says.cwd or "." for folder in folders)
    found = (machine.paths.join(place, each) for place in places for each in names)
    return tuple(dict.fromkeys(path for path in found if _is_program(machine, path)))


def _spellings(machine: Machine, name: str) -> Iterator[str] | tuple[str, ...]:
    """Return the file names that a program's name stands for: with ``PATHEXT`` on Windows."""
    if not machine.view.windows:
        return (name,)
    extensions = [part for part in (machine.getenv("PATHEXT") or PATHEXT).lower().split(";") if part]
    named = name.lower().endswith(tuple(extensions))
    return (name,) if named else tuple(name + extension for extension in extensions)


def _is_program(machine: Machine, path: str) -> bool:
    """Tell whether ``path`` can be started: a regular file, on POSIX with an execute bit."""
    status = machine.view.status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        return False
    return machine.view.windows or bool(status.st_mode & 0o111)
