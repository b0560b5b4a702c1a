"""What the plan lets a bundle say of people and hosts; without its leave nothing of this is read (law 9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay.gates.context import Context
from assay.machine import Machine
from assay.model import Facts

_HOST = "/proc/sys/kernel/hostname"
_LIMIT = 1 << 10
_USERS = ("USER", "LOGNAME", "USERNAME")
_HOSTS = ("HOSTNAME", "COMPUTERNAME")


def disclosed(context: Context) -> Facts:
    """Return the names that the plan discloses, ``""`` where the machine does not tell one."""
    asked = [name for name in context.plan.disclose if name in _READERS]
    return {name: _READERS[name](context.machine) for name in asked}


def _host_name(machine: Machine) -> str:
    """Return the kernel's host name, or the environment's."""
    if machine.is_file(_HOST):
        return machine.read_text(_HOST, _LIMIT).strip()
    return _first(machine, _HOSTS)


def _user_name(machine: Machine) -> str:
    """Return the user's name as the environment has it."""
    return _first(machine, _USERS)


def _first(machine: Machine, names: tuple[str, ...]) -> str:
    """Return the first variable's value that is set."""
    return next((value for name in names if (value := machine.getenv(name))), "")


_READERS: Mapping[str, Callable[[Machine], str]] = MappingProxyType(
    {"host-name": _host_name, "user-name": _user_name}
)
"""``gpu-serial`` is read where the GPU is asked, by the chain's NVML probe."""
