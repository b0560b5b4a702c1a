"""The NVIDIA kernel module on disk: built for the running kernel, for others, kept from loading.

Sources: depmod(8) and modules.dep(5) for the folders, modprobe.d(5) for blacklists, dkms(8) for its tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import StorageError

if TYPE_CHECKING:
    from assay.machine.machine import Machine

RELEASE_FILE = "/proc/sys/kernel/osrelease"
TREES = ("/lib/modules", "/usr/lib/modules")
BLACKLISTS = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")

DEPENDENCIES_LIMIT = 16 << 20
"""Bytes of ``modules.dep``; that of a distribution's kernel has 1 MB."""

SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
"""UEFI's global variable (UEFI Specification, "Globally Defined Variables"), its attributes first."""

LOCKDOWN = "/sys/kernel/security/lockdown"
"""The kernel's lockdown mode, the one in brackets (kernel_lockdown(7))."""

MAX_FOUND = 50
"""Paths that are told; more say nothing new."""

_ATTRIBUTES = 4
"""Bytes before an EFI variable's value (the kernel's efivarfs)."""

_PLACES = (
    *("extra", "extra/*", "updates", "updates/*", "weak-updates", "weak-updates/*", "misc"),
    *("kernel/drivers/video", "kernel/drivers/video/*", "kernel/nvidia*", "kernel/nvidia*/*", "nvidia*"),
)
"""Where installers, DKMS, akmods and distributions put the module below a kernel's folder."""

_MODULE = re.compile(r"(?:^|/)nvidia\.ko(?:\.(?:xz|zst|gz))?$")
_KERNEL = re.compile(r"\w[\w.+~-]{0,127}")
_BLACKLIST = re.compile(
    r"^\s*(?:blacklist\s+nvidia|install\s+nvidia\s+/(?:usr/)?bin/(?:false|true))\s*$", re.MULTILINE
)


@dataclass(frozen=True)
class OnDisk:
    """What is there of the module that is not loaded.

    Attributes:
        release: the running kernel's release, ``""`` where it is not known.
        built: the module's files for that kernel.
        others: other kernels that have one.
        sources: versions whose source DKMS or a distribution keeps for building.
        blacklists: files that keep the module from loading.
    """

    release: str = ""
    built: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    blacklists: tuple[str, ...] = ()


def kernel_release(machine: Machine) -> str:
    """Return the running kernel's release, ``""`` where it is not one."""
    said = machine.peek(RELEASE_FILE, 4096).text.strip()
    return said if _KERNEL.fullmatch(said) else ""


def on_disk(machine: Machine) -> OnDisk:
    """Return what lies on disk of the NVIDIA module."""
    release = kernel_release(machine)
    names = {path.rpartition("/")[2] for tree in TREES for path in machine.glob(f"{tree}/*")} - {release}
    kernels = sorted(name for name in names if _KERNEL.fullmatch(name))
    others = [name for name in kernels if next(_built(machine, name), None)]
    return OnDisk(
        release,
        tuple(dict.fromkeys(_built(machine, release)))[:MAX_FOUND] if release else (),
        tuple(others[:MAX_FOUND]),
        _sources(machine),
        _blacklists(machine),
    )


def _built(machine: Machine, release: str) -> Iterator[str]:
    """Yield the module's files for a kernel, as ``modules.dep`` and the usual folders have them."""
    for tree in TREES:
        listed = machine.peek(f"{tree}/{release}/modules.dep", DEPENDENCIES_LIMIT).text
        for line in listed.splitlines():
            name = line.partition(":")[0]
            if _MODULE.search(name) and machine.exists(path := machine.paths.join(f"{tree}/{release}", name)):
                yield path
        for place in _PLACES:
            yield from (
                path for path in machine.glob(f"{tree}/{release}/{place}/nvidia.ko*") if _MODULE.search(path)
            )


def _sources(machine: Machine) -> tuple[str, ...]:
    """Return the versions below DKMS's tree and the folders of sources, sorted."""
    patterns = ("/var/lib/dkms/nvidia*/[0-9]*", "/usr/src/nvidia*-[0-9]*")
    names = (path.rpartition("/")[2].rpartition("-")[2] for each in patterns for path in machine.glob(each))
    return tuple(sorted({name[:100] for name in names}))[:MAX_FOUND]


def _blacklists(machine: Machine) -> tuple[str, ...]:
    """Return the files of modprobe's configuration that keep the module from loading."""
    files = (path for folder in BLACKLISTS for path in machine.glob(f"{folder}/*.conf"))
    found = {machine.resolve(path): path for path in files if _BLACKLIST.search(machine.peek(path).text)}
    return tuple(found.values())[:MAX_FOUND]


@dataclass(frozen=True)
class Guards:
    """What refuses a module that is not signed with a key that the kernel knows.

    Attributes:
        secure_boot: whether UEFI Secure Boot is on, None where the machine does not say.
        lockdown: ``none``, ``integrity``, ``confidentiality``, or ``""`` where the kernel does not say.
    """

    secure_boot: bool | None = None
    lockdown: str = ""


def guards(machine: Machine) -> Guards:
    """Return whether only signed modules are loaded."""
    mode = re.search(r"\[(\w{1,30})\]", machine.peek(LOCKDOWN, 4096).text)
    return Guards(_secure_boot(machine), mode[1] if mode else "")


def _secure_boot(machine: Machine) -> bool | None:
    """Return the value of UEFI's variable: the byte after the attributes is 1 where it is on."""
    try:
        value = machine.read_bytes(SECURE_BOOT, 64)
    except StorageError:
        return None
    return value[-1] == 1 if len(value) == _ATTRIBUTES + 1 else None
