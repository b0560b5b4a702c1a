"""Combinations that no plan may have, and paths out of the project, which make a plan one machine's own."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from assay.errors import PlanError
from assay.model import Platform, Tier
from assay.plan.values import RUNTIMES, CommandGate, Plan, Stage

ESSENTIAL = ("environment", "toolkit", "provider", "build", "chain")
"""Law 1: a plan for ``qualify`` without these is an error."""

_UPWARDS = re.compile(r"(?:^|[/\\=:,;])\.\.(?:$|[/\\:,;])")
"""A part ``..`` of a path, also of one in an option or a list of paths."""

_ABSOLUTE = re.compile(r"(?:/|[A-Za-z]:[\\/]|\\\\)")


def check_plan(plan: Plan, path: str) -> None:
    """Check what no single key shows.

    Raises:
        PlanError: a combination is impossible, with the dotted path of the key to change.
    """
    _check_gates(plan, path)
    _check_chains(plan, path)
    _check_claims(plan, path)
    _check_tiers(plan, path)
    _check_providers(plan, path)
    _check_commands(plan, path)
    _check_measures(plan, path)
    if not plan.architectures:
        raise PlanError(f"{path}.architectures", "is empty", "at least one, such as sm_90", "")
    if not plan.modules:
        raise PlanError(f"{path}.modules", "is empty", "the modules that the wheel brings", "")
    if not plan.smoke:
        raise PlanError(f"{path}.smoke", "is empty", "a command", "name what shows that the wheel works")


def check_qualifies(plan: Plan, path: str = "tool.assay") -> None:
    """Check that the plan may be run by ``qualify`` (law 1).

    Raises:
        PlanError: an essential gate is missing.
    """
    missing = [gate for gate in ESSENTIAL if gate not in plan.gates]
    if missing:
        raise PlanError(
            f"{path}.gates", f"lacks {', '.join(missing)}", f"at least {', '.join(ESSENTIAL)}", ""
        )


def _check_gates(plan: Plan, path: str) -> None:
    """Refuse an empty list, and deadlines of gates that are not planned."""
    if not plan.gates:
        raise PlanError(f"{path}.gates", "is empty", "at least one gate", "an empty plan would show nothing")
    for name in plan.deadlines:
        if name not in plan.gates:
            raise PlanError(f"{path}.deadlines.{name}", "is not a planned gate", "a gate of the plan", "")


def _check_chains(plan: Plan, path: str) -> None:
    """Refuse chains without kernels, and a chain gate without any chain."""
    for platform, names in plan.chains.items():
        for name in names:
            if name not in plan.kernels:
                at = f"{path}.chains.{platform.value}"
                raise PlanError(at, f"names {name!r}", "a folder under kernels/", "add it or remove the name")
    if "chain" in plan.gates and not any(plan.chains.values()):
        raise PlanError(f"{path}.chains", "names no chain", "a chain for some platform", "")
    if plan.tier is Tier.WSL and not any(key.value == "wsl" for key, names in plan.chains.items() if names):
        raise PlanError(f"{path}.tier", "is 'wsl' but no chain is planned there", "chains.wsl", "")


def _check_tiers(plan: Plan, path: str) -> None:
    """Refuse tiers that a platform cannot show, and releases that no set of runs of this plan can be."""
    for platform, tier in plan.tiers.items():
        at = f"{path}.tiers.{platform.value}"
        if tier is Tier.REHEARSAL:
            raise PlanError(at, "is 'rehearsal'", "physical or wsl", "a plan is a rehearsal as a whole: tier")
        if (tier is Tier.WSL) is not (platform is Platform.WSL):
            raise PlanError(at, f"is {tier.value!r}", "wsl for wsl, physical elsewhere", "")
    if plan.tier is Tier.REHEARSAL:
        return  # the same plan rehearsed: nothing is released of it
    for number, member in enumerate(plan.release):
        if plan.tier_on(member.platform) is not member.tier:
            at, planned = f"{path}.release.require.{number}", plan.tier_on(member.platform).value
            raise PlanError(at, f"is {member}", f"the planned tier there, {planned}", "set tiers.<platform>")


def _check_claims(plan: Plan, path: str) -> None:
    """Refuse doubled claims, and claims of gates that are not planned."""
    seen: set[str] = set()
    for number, claim in enumerate(plan.claims):
        if claim.id in seen:
            raise PlanError(f"{path}.claim.{number}.id", f"names {claim.id!r} twice", "unique ids", "")
        seen.add(claim.id)
        for gate in claim.gates:
            if gate not in plan.gates:
                raise PlanError(f"{path}.claim.{number}.gates", f"names {gate!r}", "planned gates", "")


def _check_providers(plan: Plan, path: str) -> None:
    """Refuse two pins of one digest and platform."""
    seen: set[tuple[str, str]] = set()
    for number, pin in enumerate(plan.providers):
        key = (pin.platform.value, pin.sha256)
        if key in seen:
            raise PlanError(f"{path}.provider.{number}.sha256", "stands twice", "one pin a digest", "")
        seen.add(key)


def _check_commands(plan: Plan, path: str) -> None:
    """Refuse empty, doubled or machine-bound commands, and commands that are not planned gates."""
    seen: set[str] = set()
    for number, command in enumerate(plan.commands):
        at = f"{path}.command.{number}"
        if command.name in seen or command.name in ESSENTIAL:
            raise PlanError(f"{at}.name", f"{command.name!r} is taken", "a name of its own", "")
        seen.add(command.name)
        if not command.argv:
            raise PlanError(f"{at}.argv", "is empty", "a command", "")
        _refuse_silent_skips(command, at)
        if command.name not in plan.gates:
            raise PlanError(f"{at}.name", f"{command.name!r} is not in gates", "a planned gate", "")
        _refuse_elsewhere(command.argv, f"{at}.argv")
    _refuse_elsewhere(plan.smoke, f"{path}.smoke")


def _check_measures(plan: Plan, path: str) -> None:
    """Refuse measurements of stages that are not there, and such gates with nothing to measure."""
    shared, speed = plan.shared_buffers, plan.throughput
    for gate, wanted in (("shared-buffers", shared), ("throughput", speed)):
        if gate in plan.gates and wanted is None:
            raise PlanError(f"{path}.{gate}", "is missing although the gate is planned", "a table", "")
    if shared is not None:
        at = f"{path}.shared-buffers"
        stages = _stages(plan, shared.chain, f"{at}.chain")
        if shared.shader not in stages or stages[shared.shader].runtime != "wgpu":
            raise PlanError(f"{at}.shader", f"is {shared.shader!r}", "a wgpu stage of the chain", "")
        if shared.kernel not in stages or stages[shared.kernel].runtime != "nvrtc":
            raise PlanError(f"{at}.kernel", f"is {shared.kernel!r}", "an nvrtc stage of the chain", "")
    if speed is not None:
        at = f"{path}.throughput.chain"
        stages = _stages(plan, speed.chain, at)
        if tuple(stage.runtime for stage in stages.values()) != RUNTIMES:
            raise PlanError(at, f"is {speed.chain!r}", f"a chain of {', '.join(RUNTIMES)}", "")
        every = tuple(stages.values())
        if any("i" in stage.expect.text for stage in every) or any(s.input != "previous" for s in every[1:]):
            raise PlanError(at, "has a value by index", "stages whose values repeat as their input does", "")


def _stages(plan: Plan, chain: str, at: str) -> dict[str, Stage]:
    """Return a chain's stages by name."""
    if chain not in plan.kernels:
        raise PlanError(at, f"names {chain!r}", "a folder under kernels/", "")
    return {stage.name: stage for stage in plan.kernels[chain].stages}


def _refuse_elsewhere(argv: tuple[str, ...], path: str) -> None:
    """Refuse absolute paths (FORMATS, "Run folder": plans with absolute paths are refused), and ways out."""
    for number, word in enumerate(argv):
        if _ABSOLUTE.match(word):
            raise PlanError(path, f"has the absolute path {word!r}", "paths relative to the project", "")
        if _UPWARDS.search(word):
            observed = f"leaves the project: {word!r}"
            raise PlanError(f"{path}.{number}", observed, "paths below the project, without '..'", "")


def _refuse_silent_skips(command: CommandGate, path: str) -> None:
    """Refuse runners whose exit code says nothing of what they skipped.

    nox counts a skipped session as a success; pytest ends with 0 where some tests were skipped, so its counts
    have to be read.
    """
    module = command.argv[2:3] if command.argv[:2] == ("python", "-m") else ()
    (program,) = module or (PurePosixPath(command.argv[0]).name,)
    if program == "nox":
        raise PlanError(f"{path}.argv", "runs nox", "the session's own command", "nox passes what it skips")
    if program in {"pytest", "py.test"} and command.report != "pytest":
        raise PlanError(f"{path}.report", "is not set", 'report = "pytest"', "skipped tests must be counted")
