"""Asks for gate ``driver`` what only a running driver tells: NVML, CUDA, ``nvidia-smi`` and its device nodes.

Each question has a process and a deadline of its own.  Who has found NVML silent asks nobody else: they would
wait for the same driver.  The facts are described in ``assay.judge.driver_live``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.gates.context import Context
from assay.gates.probes import Probes, Said
from assay.gates.toolkit_driver import NVML_DEADLINE_S
from assay.machine import Machine
from assay.model import Facts, Json, Platform

CUDA_DEADLINE_S = 20.0
"""Seconds for CUDA: a first context takes some two on a machine without persistence."""

SMI_DEADLINE_S = 10.0
"""Seconds for ``nvidia-smi --version``, which asks no GPU anything."""

SMI = "nvidia-smi"
_SMI_FOLDERS = ("/usr/bin", "/usr/lib/wsl/lib", "/usr/local/nvidia/bin", "/opt/bin")
"""Where drivers put it: installers, WSL, and container hosts."""

_OWN = re.compile(r"NVIDIA-SMI(?: version)?\s*:?\s*(\d{1,5}(?:\.\d{1,5}){1,3})", re.ASCII)
_DRIVER = re.compile(r"driver version\s*:\s*(\d{1,5}(?:\.\d{1,5}){1,3})", re.IGNORECASE | re.ASCII)

_UNASKED = Said(asked=False, problem="NVML did not answer, so nobody else was asked")
_NO_DRIVER = Said(asked=False, problem="there is no driver to ask")


def live_facts(context: Context, probes: Probes, *, driver: bool) -> dict[str, Json]:
    """Return the facts ``nvml``, ``cuda_api``, ``opened`` and ``smi``.

    Args:
        context: the gate's view of the run.
        probes: whom to ask.
        driver: whether there is a driver; without one nobody is asked.
    """
    if not driver:
        return _facts(_NO_DRIVER, _NO_DRIVER, _NO_DRIVER, _NO_DRIVER)
    nvml = probes.chain(("nvml",), NVML_DEADLINE_S)["nvml"]
    if nvml.silent:
        return _facts(nvml, _UNASKED, _UNASKED, _UNASKED)
    asked = probes.chain(("cuda", "nodes"), CUDA_DEADLINE_S)
    return _facts(nvml, asked["cuda"], asked["nodes"], _smi(context, probes))


def _facts(nvml: Said, cuda: Said, nodes: Said, smi: Said) -> dict[str, Json]:
    """Return the facts of four answers."""
    own, told = _OWN.search(smi.text), _DRIVER.search(smi.text)
    return {
        "cuda_api": said_facts(cuda),
        "nvml": said_facts(nvml),
        "opened": said_facts(nodes),
        "smi": {
            "asked": smi.asked,
            "driver": told[1] if told else "",
            "problem": smi.problem[:500],
            "silent": smi.silent,
            "version": own[1] if own else "",
        },
    }


def said_facts(said: Said) -> Facts:
    """Return an answer with what came of the question; a text that is too long is cut."""
    return {
        "asked": said.asked,
        "code": said.code,
        "facts": said.facts,
        "problem": said.problem[:500],
        "reason": said.reason[:100],
        "silent": said.silent,
    }


def _smi(context: Context, probes: Probes) -> Said:
    """Return what ``nvidia-smi`` says of its version; not asked where there is none."""
    program = find_smi(context.machine)
    if not program and SMI not in (context.machine.probes or {}):
        return Said(asked=False, problem="there is no nvidia-smi")
    return probes.program(SMI, (program or SMI, "--version"), SMI_DEADLINE_S)


def find_smi(machine: Machine) -> str:
    """Return the ``nvidia-smi`` that a shell starts, else one where drivers put it, ``""`` for none."""
    name = f"{SMI}.exe" if machine.platform is Platform.WINDOWS else SMI
    return machine.which(name) or machine.which(name, _SMI_FOLDERS) or ""


def gpus_told(nvml: Facts) -> tuple[Mapping[str, Json], ...]:
    """Return the GPUs that NVML told of."""
    gpus = nvml.get("gpus")
    return tuple(gpu for gpu in gpus if isinstance(gpu, Mapping)) if isinstance(gpus, list | tuple) else ()
