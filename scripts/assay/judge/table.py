"""The one authored table of gates; sessions, README, reader and engine derive from it."""

from __future__ import annotations

from assay.errors import PlanError
from assay.judge.late import claim_of, judges_of
from assay.judge.row import Diagnoses, Exclusive, GateRow
from assay.model import Platform, Tier
from assay.plan.values import Plan

_LINUX = frozenset({Platform.LINUX})
_LOADING = frozenset({Platform.LINUX, Platform.WSL, Platform.WINDOWS})
"""Platforms that have a driver, and whose loader is known here."""
_HARDWARE = frozenset({Tier.PHYSICAL})
"""These gates need a GPU; WSL's projected driver shares nothing with Vulkan."""
_DRIVEN = frozenset({Tier.PHYSICAL, Tier.WSL})
"""A rehearsal's driver is the CPU's; nothing is to be learned there of NVIDIA's."""

GATES: tuple[GateRow, ...] = (
    GateRow(
        "environment",
        "the selection, checked as one set",
        judges_of("environment", check="resting.check_environment"),
        needs=(),
        claim=claim_of("environment"),
        deadline_s=180,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "toolkit",
        "one CUDA toolkit that fits driver, device and host compiler",
        judges_of("toolkit", check="resting.check_toolkit"),
        needs=(),
        claim=claim_of("toolkit"),
        deadline_s=180,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "driver",
        "one NVIDIA driver: module, firmware and userspace of one version",
        judges_of("driver", check="driver.check_driver"),
        needs=(),
        claim=claim_of("driver"),
        platforms=_LOADING,
        tiers=_DRIVEN,
        exclusive=Exclusive.GPU,
        deadline_s=120,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "provider",
        "the pinned provider, loadable on this machine",
        judges_of("provider", check="resting.check_provider"),
        needs=(),
        claim=claim_of("provider"),
        deadline_s=180,
        diagnoses=Diagnoses.PLANNED,
    ),
    GateRow(
        "abi",
        "the selected binaries and all that they load fit processor and C library",
        judges_of("abi", check="abi.check"),
        needs=(),
        claim=claim_of("abi"),
        platforms=_LOADING,
        deadline_s=120,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "vulkan",
        "the Vulkan loader takes NVIDIA's driver, which is whole and lists its GPU",
        judges_of("vulkan", check="vulkan.check"),
        needs=(),
        claim=claim_of("vulkan"),
        platforms=_LINUX,
        tiers=_HARDWARE,
        exclusive=Exclusive.GPU,
        deadline_s=120,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "build",
        "wheel, sdist and kernels, made twice with the same bytes",
        judges_of("build", check="resting.check_build"),
        needs=("environment",),
        claim=claim_of("build"),
        deadline_s=600,
    ),
    GateRow(
        "installed",
        "that wheel, installed away from its sources, is what is imported",
        judges_of("installed", check="resting.check_installed"),
        needs=("build",),
        claim=claim_of("installed"),
        deadline_s=300,
    ),
    GateRow(
        "chain",
        "every chain of the plan, value by value, on the GPU",
        judges_of("chain", check="resting.check_chain"),
        needs=("environment", "toolkit", "provider", "build"),
        claim=claim_of("chain"),
        exclusive=Exclusive.GPU,
        deadline_s=300,
    ),
    GateRow(
        "hosted",
        "the chain in a CPython that lives inside one Bun process",
        judges_of("hosted", check="hosted.check"),
        needs=("environment", "toolkit", "provider", "build"),
        claim=claim_of("hosted"),
        platforms=_LINUX,
        exclusive=Exclusive.GPU,
        deadline_s=300,
    ),
    GateRow(
        "shared-buffers",
        "one buffer of Vulkan's on which CUDA computes in place, without a copy",
        judges_of("shared_buffers", check="shared_buffers.check"),
        needs=("build", "chain"),
        claim=claim_of("shared_buffers"),
        platforms=_LINUX,
        tiers=_HARDWARE,
        exclusive=Exclusive.GPU,
        deadline_s=300,
    ),
    GateRow(
        "throughput",
        "the chain's speed and memory, beside floors and a documentation-style script",
        judges_of("throughput", check="throughput.check"),
        needs=("build", "chain"),
        claim=claim_of("throughput"),
        platforms=_LINUX,
        tiers=_HARDWARE,
        exclusive=Exclusive.MACHINE,
        deadline_s=600,
    ),
    GateRow(
        "references",
        "the documents that the plan cites are there (optional, needs a network)",
        judges_of("references"),
        needs=(),
        claim=claim_of("references"),
        deadline_s=600,
    ),
)


def rows(plan: Plan) -> tuple[GateRow, ...]:
    """Return the rows of the plan's gates, in the plan's order, command gates included.

    Raises:
        PlanError: the plan names a gate that is neither in the table nor a command of the plan.
    """
    return tuple(row(plan, name) for name in plan.gates)


def row(plan: Plan, name: str) -> GateRow:
    """Return one gate's row.

    Raises:
        PlanError: there is no such gate.
    """
    for each in GATES:
        if each.name == name:
            return each
    command = plan.command(name)
    if command is not None:
        from assay.judge.command import command_row  # noqa: PLC0415  # as late as the judges of the table

        return command_row(command)
    known = ", ".join(each.name for each in GATES)
    raise PlanError("tool.assay.gates", f"names {name!r}", f"one of {known}, or a [[tool.assay.command]]", "")


def needed(plan: Plan, name: str) -> frozenset[str]:
    """Return every gate whose facts a gate's judge may read: the planned ones it needs, and what they need.

    Others may or may not have ended before it, so a judge that read them would not be pure.

    Raises:
        PlanError: there is no such gate.
    """
    found: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = {need for need in row(plan, waiting.pop()).needs if need in plan.gates} - found
        found |= fresh
        waiting += fresh
    return frozenset(found)
