"""The one authored table of gates; sessions, README, reader and engine derive from it."""

from __future__ import annotations

from types import MappingProxyType

from assay.errors import PlanError
from assay.judge import (
    abi,
    build,
    chain,
    driver,
    environment,
    installed,
    provider,
    references,
    shared_buffers,
    throughput,
    toolkit,
    vulkan,
)
from assay.judge.command import command_row
from assay.judge.resting import (
    check_build,
    check_chain,
    check_environment,
    check_installed,
    check_provider,
    check_toolkit,
    resting,
)
from assay.judge.row import Diagnoses, Exclusive, GateRow
from assay.model import Platform, Tier
from assay.plan.values import Plan

_LINUX = frozenset({Platform.LINUX})
_HARDWARE = frozenset({Tier.PHYSICAL})
"""These gates need a GPU; WSL's projected driver shares nothing with Vulkan."""

GATES: tuple[GateRow, ...] = (
    GateRow(
        "environment",
        "the selection, checked as one set",
        MappingProxyType({environment.RULES: resting(environment.judge, check_environment)}),
        needs=(),
        claim=environment.claim,
        deadline_s=180,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "toolkit",
        "one CUDA toolkit that fits driver, device and host compiler",
        MappingProxyType({toolkit.RULES: resting(toolkit.judge, check_toolkit)}),
        needs=(),
        claim=toolkit.claim,
        deadline_s=180,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "driver",
        "one NVIDIA driver: module, firmware and userspace of one version",
        MappingProxyType({driver.RULES: resting(driver.judge, driver.check_driver)}),
        needs=(),
        claim=driver.claim,
        platforms=driver.PLATFORMS,
        tiers=driver.TIERS,
        exclusive=Exclusive.GPU,
        deadline_s=120,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "provider",
        "the pinned provider, loadable on this machine",
        MappingProxyType({provider.RULES: resting(provider.judge, check_provider)}),
        needs=(),
        claim=provider.claim,
        deadline_s=180,
        diagnoses=Diagnoses.PLANNED,
    ),
    GateRow(
        "abi",
        "the selected binaries and all that they load fit processor and C library",
        MappingProxyType({abi.RULES: resting(abi.judge, abi.check)}),
        needs=(),
        claim=abi.claim,
        platforms=abi.PLATFORMS,
        deadline_s=120,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "vulkan",
        "the Vulkan loader takes NVIDIA's driver, which is whole and lists its GPU",
        MappingProxyType({vulkan.RULES: resting(vulkan.judge, vulkan.check)}),
        needs=(),
        claim=vulkan.claim,
        platforms=vulkan.PLATFORMS,
        tiers=vulkan.TIERS,
        exclusive=Exclusive.GPU,
        deadline_s=120,
        diagnoses=Diagnoses.ANYWHERE,
    ),
    GateRow(
        "build",
        "wheel, sdist and kernels, made twice with the same bytes",
        MappingProxyType({build.RULES: resting(build.judge, check_build)}),
        needs=("environment",),
        claim=build.claim,
        deadline_s=600,
    ),
    GateRow(
        "installed",
        "that wheel, installed away from its sources, is what is imported",
        MappingProxyType({installed.RULES: resting(installed.judge, check_installed)}),
        needs=("build",),
        claim=installed.claim,
        deadline_s=300,
    ),
    GateRow(
        "chain",
        "every chain of the plan, value by value, on the GPU",
        MappingProxyType({chain.RULES: resting(chain.judge, check_chain)}),
        needs=("environment", "toolkit", "provider", "build"),
        claim=chain.claim,
        exclusive=Exclusive.GPU,
        deadline_s=300,
    ),
    GateRow(
        "shared-buffers",
        "one buffer of Vulkan's on which CUDA computes in place, without a copy",
        MappingProxyType({shared_buffers.RULES: resting(shared_buffers.judge, shared_buffers.check)}),
        needs=("build", "chain"),
        claim=shared_buffers.claim,
        platforms=_LINUX,
        tiers=_HARDWARE,
        exclusive=Exclusive.GPU,
        deadline_s=300,
    ),
    GateRow(
        "throughput",
        "the chain's speed and memory, beside floors and a documentation-style script",
        MappingProxyType({throughput.RULES: resting(throughput.judge, throughput.check)}),
        needs=("build", "chain"),
        claim=throughput.claim,
        platforms=_LINUX,
        tiers=_HARDWARE,
        exclusive=Exclusive.MACHINE,
        deadline_s=600,
    ),
    GateRow(
        "references",
        "the documents that the plan cites are there (optional, needs a network)",
        MappingProxyType({references.RULES: references.judge}),
        needs=(),
        claim=references.claim,
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
