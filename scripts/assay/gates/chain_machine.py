"""What NVML and the kernel's files say of the device, asked outside the chain child.

NVML can hang on a sick driver, so it is asked in a child of its own, with a deadline.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.gates.probes import Probes
from assay.judge.device import NVML_HUNG
from assay.machine import Machine, nvidia
from assay.model import Facts, Json

NVML = "nvml"
DEADLINE_S = 20.0
"""NVML starts in under a second; a driver that takes longer does not answer at all."""


def nvml_facts(probes: Probes) -> Facts:
    """Return what NVML says, or ``problem``: ``deadline``, or why it does not answer."""
    said = probes.chain((NVML,), DEADLINE_S)[NVML]
    if said.silent:
        return {"problem": NVML_HUNG}
    return {"problem": said.problem} if said.problem else dict(said.facts)


def proc_facts(machine: Machine) -> Facts:
    """Return what the NVIDIA kernel module shows in files: versions, flavour and GPUs."""
    module = nvidia.kernel_module(machine)
    gpus: list[Json] = [dict(gpu) for gpu in nvidia.gpus(machine)]
    return {
        "gpus": gpus,
        "module": {
            "flavour": module.flavour,
            "problem": module.problem,
            "text": module.text,
            "version": module.version,
        },
        "modules": dict(nvidia.module_versions(machine)),
    }


def virtualisation_facts(machine: Machine) -> Mapping[str, Json]:
    """Return what shows that this is a virtual machine or a container."""
    seen = machine.virtualisation
    return {
        "container": seen.container,
        "hypervisor": seen.hypervisor,
        "product": seen.product,
        "vendor": seen.vendor,
    }
