"""Observes for gate ``driver`` under WSL: the projected driver, and any Linux driver in its way.

The facts are described in ``assay.judge.driver_wsl``.
"""

from __future__ import annotations

import re

from assay.errors import StorageError
from assay.gates.context import Context
from assay.gates.driver_linux import library_facts
from assay.gates.driver_live import live_facts
from assay.gates.driver_signs import container_facts, has_driver, module_facts
from assay.gates.probes import probes_of
from assay.judge.marks import DXG, WSL_LIBRARIES
from assay.machine import Machine, kernelmodules
from assay.model import Facts

LIBRARIES = f"{WSL_LIBRARIES}/lib"
STORE = f"{WSL_LIBRARIES}/drivers"

MAX_NAMES = 200

_DPKG = "/var/lib/dpkg/status"
_PACMAN = "/var/lib/pacman/local"
_RPM = ("/usr/lib/sysimage/rpm/rpmdb.sqlite", "/var/lib/rpm/rpmdb.sqlite", "/var/lib/rpm/Packages")
_DATABASE_LIMIT = 128 << 20

_DISPLAY = re.compile(
    r"(?:nvidia-(?:driver|dkms|kernel|utils|open|lts)|libnvidia-(?:compute|gl|cfg1|encode|decode)|libcuda1"
    r"|nvidia-(?:compute|gl|video)-G\d|xorg-x11-drv-nvidia|akmod-nvidia|kmod-nvidia|cuda-drivers)"
    r"[\w.+-]{0,80}"
)
"""Packages that bring a Linux display driver or its libcuda, as Debian, Ubuntu, Fedora, openSUSE, Arch and
NVIDIA name them; toolkits (``cuda-toolkit``, ``nvidia-cuda-toolkit``) and container tools are no drivers."""


def observe_wsl(context: Context) -> Facts:
    """Return the facts of a Linux under WSL; without a projected driver nobody is asked."""
    machine = context.machine
    projected = has_driver(machine)
    return {
        "container": container_facts(machine),
        "dxg": machine.exists(DXG),
        "kernel": {"release": kernelmodules.kernel_release(machine)},
        "libraries": library_facts(context, ""),
        "module": module_facts(machine),
        "packages": list(linux_packages(machine)),
        "projected": list(_names(machine, LIBRARIES)),
        "store": [name for name in _names(machine, STORE) if name.lower().startswith("nv")],
        **live_facts(context, probes_of(context), driver=projected),
    }


def _names(machine: Machine, folder: str) -> tuple[str, ...]:
    """Return a folder's names, none where it cannot be listed."""
    try:
        return machine.listdir(folder)[:MAX_NAMES]
    except StorageError:
        return ()


def linux_packages(machine: Machine) -> tuple[str, ...]:
    """Return the installed packages of a Linux display driver, as far as files tell them, sorted."""
    return tuple(sorted({*_of_dpkg(machine), *_of_pacman(machine), *_of_rpm(machine)}))[:MAX_NAMES]


def _of_dpkg(machine: Machine) -> set[str]:
    """Return the packages that dpkg has as installed (deb-control(5), dpkg(1): ``Status``)."""
    text = machine.peek(_DPKG, _DATABASE_LIMIT).text
    found = re.finditer(r"^Package: (\S{1,120})\nStatus: \S+ \S+ installed$", text, re.MULTILINE)
    return {match[1] for match in found if _DISPLAY.fullmatch(match[1])}


def _of_pacman(machine: Machine) -> set[str]:
    """Return the packages of pacman's folders, whose names end in version and release."""
    names = (name.rsplit("-", 2)[0] for name in _names_of(machine, _PACMAN))
    return {name for name in names if name == "nvidia" or _DISPLAY.fullmatch(name)}


def _names_of(machine: Machine, folder: str) -> tuple[str, ...]:
    """Return all of a folder's names, none where it cannot be listed."""
    try:
        return machine.listdir(folder)
    except StorageError:
        return ()


def _of_rpm(machine: Machine) -> set[str]:
    """Return the packages of RPM's database: a header's data begins with the locale C, name and version."""
    for path in _RPM:
        text = machine.peek(path, _DATABASE_LIMIT).text
        if text:
            return {match[1] for match in re.finditer(rf"C\0({_DISPLAY.pattern})\0\d", text)}
    return set()
