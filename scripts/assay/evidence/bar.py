"""How high the bar lies: what one plan asks less, more or otherwise than another.

Each rule reads one key of the plan.  A key in which two plans differ and of which no rule says more is named
as changed, so that nothing is ever passed over.

A plan is for all platforms, and so is its bar: what is asked less on one of them lets other releases through,
wherever these two runs were.  So nothing is left out; but who compares two runs on Linux asks first what was
asked of them, and what moved only where neither was stands behind all that, said to be so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType

from assay.evidence.bar_measures import shared_moves, throughput_moves
from assay.evidence.moves import Direction, Move, changed, demand, fewer_is_lower, more_is_lower
from assay.model import Platform, Tier
from assay.plan import Chain, Plan, plan_json
from assay.plan.ranges import admits_more
from assay.plan.values import CommandGate, ProviderPin, Stage

_STRENGTH = (Tier.REHEARSAL, Tier.WSL, Tier.PHYSICAL)
"""From the least that a tier shows to the most."""


Rule = Callable[[Plan, Plan], Iterator[Move]]


def moves(old: Plan, new: Plan, seen: Collection[Platform] = tuple(Platform)) -> tuple[Move, ...]:
    """Return every move of the bar from the old plan to the new, the lowered first.

    Args:
        old: the earlier plan.
        new: the later plan.
        seen: the platforms that the two runs were on; moves on others alone stand behind all the rest.
    """
    before, after = plan_json(old), plan_json(new)
    found: list[Move] = []
    for key in sorted({*before, *after}):
        if before.get(key) == after.get(key):
            continue
        said = tuple(_RULES[key](old, new)) if key in _RULES else ()
        found += said or (Move(Direction.CHANGED, key, "is otherwise"),)
    told = [dataclasses.replace(each, used=each.platform in {None, *seen}) for each in dict.fromkeys(found)]
    order = list(Direction)
    return tuple(
        sorted(told, key=lambda each: (not each.used, order.index(each.direction), each.path, each.text))
    )


def _by_platform(compare: Callable[[Platform, Plan, Plan], Iterator[Move]]) -> Rule:
    """Return the rule of a key that asks something of each platform."""

    def rule(old: Plan, new: Plan) -> Iterator[Move]:
        for platform in Platform:
            for move in compare(platform, old, new):
                yield dataclasses.replace(move, platform=platform)

    return rule


def _gates(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the planned gates."""
    yield from fewer_is_lower("gates", "gate", old.gates, new.gates)


def _tier(platform: Platform, old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the tier that is planned for a platform."""
    before, after = old.tier_on(platform), new.tier_on(platform)
    if before is not after:
        lower = _STRENGTH.index(after) < _STRENGTH.index(before)
        direction = Direction.LOWERED if lower else Direction.RAISED
        yield Move(direction, f"tier.{platform.value}", f"{before.value} became {after.value}")


def _release(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare which runs a release must have."""
    members = tuple(map(str, old.release)), tuple(map(str, new.release))
    yield from fewer_is_lower("release", "run on", *members)


def _unclean(_old: Plan, new: Plan) -> Iterator[Move]:
    """Compare whether an unclean tree may be built."""
    direction = Direction.LOWERED if new.allow_unclean_tree else Direction.RAISED
    state = "allowed" if new.allow_unclean_tree else "no longer allowed"
    yield Move(direction, "allow-unclean-tree", f"an unclean tree is {state}")


def _architectures(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare what kernels are built for."""
    yield from fewer_is_lower("architectures", "architecture", old.architectures, new.architectures)


def _modules(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the modules that the wheel must bring."""
    yield from fewer_is_lower("modules", "module", old.modules, new.modules)


def _versions(platform: Platform, old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the versions that are required on a platform."""
    before, after = old.versions.get(platform, {}), new.versions.get(platform, {})
    for name in sorted({*before, *after}):
        yield from _requirement(f"versions.{platform.value}.{name}", before.get(name), after.get(name))


def _requirement(path: str, old: str | None, new: str | None) -> Iterator[Move]:
    """Compare one required version."""
    if old == new:
        return
    if old is None or new is None:
        direction = Direction.LOWERED if new is None else Direction.RAISED
        yield Move(direction, path, f"{old or 'nothing'} became {new or 'nothing'}")
        return
    wider, narrower = admits_more(new, old), admits_more(old, new)
    if wider is not None:
        yield Move(Direction.LOWERED, path, f"{old} became {new}, which admits {wider}")
    if narrower is not None:
        yield Move(Direction.RAISED, path, f"{old} became {new}, which refuses {narrower}")
    if wider is None and narrower is None:
        yield Move(Direction.CHANGED, path, f"{old} became {new}, which admits the same")


def _providers(platform: Platform, old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the provider pins of a platform: each is one more digest that is accepted."""
    before, after = _pinned(platform, old), _pinned(platform, new)
    gone = [sha256 for sha256 in before if sha256 not in after]
    came = [sha256 for sha256 in after if sha256 not in before]
    yield from _pins(f"provider.{platform.value}", gone, came)
    for sha256 in before.keys() & after.keys():
        path, one, other = f"provider.{platform.value}.{sha256}", before[sha256], after[sha256]
        yield from fewer_is_lower(f"{path}.symbols", "symbol", one.symbols, other.symbols)
        for name in ("name", "interface", "url"):
            yield from changed(f"{path}.{name}", getattr(one, name), getattr(other, name))


def _pinned(platform: Platform, plan: Plan) -> dict[str, ProviderPin]:
    """Return a platform's pins by digest (hex)."""
    return {pin.sha256: pin for pin in plan.providers if pin.platform is platform}


def _pins(path: str, gone: list[str], came: list[str]) -> Iterator[Move]:
    """Yield pins that came, went or were replaced one by one."""
    replaced = min(len(gone), len(came))
    for old, new in zip(gone, came, strict=False):
        yield Move(Direction.CHANGED, path, f"pin {old} replaced by {new}")
    yield from (Move(Direction.RAISED, path, f"pin {each} removed") for each in gone[replaced:])
    yield from (Move(Direction.LOWERED, path, f"pin {each} accepted as well") for each in came[replaced:])


def _backend(platform: Platform, old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the graphics interface that wgpu must use on a platform."""
    interfaces = old.backend.get(platform), new.backend.get(platform)
    yield from demand(f"backend.{platform.value}", *interfaces)


def _toolset(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the MSVC toolset, which only Windows has."""
    for move in demand("msvc-toolset", old.msvc_toolset, new.msvc_toolset):
        yield dataclasses.replace(move, platform=Platform.WINDOWS)


def _software(platform: Platform, old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the software adapters that are allowed on a platform."""
    names = old.software_adapters.get(platform, ()), new.software_adapters.get(platform, ())
    yield from more_is_lower(f"software-adapters.{platform.value}", "adapter", *names)


def _environment(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare what of the caller's environment reaches the chain."""
    names = old.allow_environment, new.allow_environment
    yield from more_is_lower("allow-environment", "variable", *names)


def _chains(platform: Platform, old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the chains that must run on a platform."""
    names = old.chains.get(platform, ()), new.chains.get(platform, ())
    yield from fewer_is_lower(f"chains.{platform.value}", "chain", *names)


def _kernels(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare what each chain computes and how exactly it must."""
    for name in sorted({*old.kernels, *new.kernels}):
        path = f"kernels.{name}"
        if name not in new.kernels or name not in old.kernels:
            yield Move(Direction.CHANGED, path, "removed" if name in old.kernels else "added")
        else:
            yield from _chain(path, old.kernels[name], new.kernels[name])


def _chain(path: str, old: Chain, new: Chain) -> Iterator[Move]:
    """Compare one chain."""
    before = {stage.name: stage for stage in old.stages}
    after = {stage.name: stage for stage in new.stages}
    yield from fewer_is_lower(path, "stage", tuple(before), tuple(after))
    for name in before.keys() & after.keys():
        yield from _stage(f"{path}.{name}", before[name], after[name])
    yield from _values(f"{path}.values", old.values, new.values)


def _values(path: str, old: tuple[int, ...], new: tuple[int, ...]) -> Iterator[Move]:
    """Compare the canonical values of a chain."""
    common = min(len(old), len(new))
    if old[:common] != new[:common]:
        yield Move(Direction.CHANGED, path, "are others")
    elif len(old) != len(new):
        direction = Direction.LOWERED if len(new) < len(old) else Direction.RAISED
        yield Move(direction, path, f"{len(old)} became {len(new)}")


def _stage(path: str, old: Stage, new: Stage) -> Iterator[Move]:
    """Compare one stage."""
    before, after = old.ulp or 0, new.ulp or 0
    if before != after:
        direction = Direction.LOWERED if after > before else Direction.RAISED
        words = [f"{ulp} ulp" if ulp else "bits" for ulp in (before, after)]
        yield Move(direction, f"{path}.compare", " became ".join(words))
    yield from changed(f"{path}.expect", old.expect.text, new.expect.text)
    for name in ("runtime", "source", "sha256", "entry", "input", "each"):
        yield from changed(f"{path}.{name}", getattr(old, name), getattr(new, name))


def _commands(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the gates that run a command."""
    before = {command.name: command for command in old.commands}
    after = {command.name: command for command in new.commands}
    yield from fewer_is_lower("command", "command", tuple(before), tuple(after))
    for name in before.keys() & after.keys():
        yield from _command(f"command.{name}", before[name], after[name])


def _command(path: str, old: CommandGate, new: CommandGate) -> Iterator[Move]:
    """Compare one command."""
    yield from more_is_lower(f"{path}.allowed-skips", "skip of", old.allowed_skips, new.allowed_skips)
    yield from demand(f"{path}.report", old.report or None, new.report or None)
    yield from changed(f"{path}.argv", " ".join(old.argv), " ".join(new.argv))
    yield from changed(f"{path}.deadline", old.deadline_s, new.deadline_s)


def _claims(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the list of claims: one that is gone is no longer printed as not established."""
    before = {claim.id: claim for claim in old.claims}
    after = {claim.id: claim for claim in new.claims}
    yield from fewer_is_lower("claim", "claim", tuple(before), tuple(after))
    for name in before.keys() & after.keys():
        path, gates = f"claim.{name}", (before[name].gates, after[name].gates)
        if all(gates):
            yield from fewer_is_lower(f"{path}.gates", "gate", *gates)
        else:
            yield from changed(f"{path}.gates", *(", ".join(each) or "none" for each in gates))
        yield from changed(f"{path}.text", before[name].text, after[name].text)
        where = (", ".join(each[name].platforms) or "everywhere" for each in (before, after))
        yield from changed(f"{path}.platforms", *where)


def _disclosed(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare what is disclosed of people and machines."""
    yield from changed("disclose", ", ".join(old.disclose) or "nothing", ", ".join(new.disclose) or "nothing")


def _smoke(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare the command that shows that the wheel works."""
    yield from changed("smoke", " ".join(old.smoke), " ".join(new.smoke))


def _deadlines(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare deadlines, in seconds."""
    for gate in sorted({*old.deadlines, *new.deadlines}):
        yield from changed(f"deadlines.{gate}", old.deadlines.get(gate), new.deadlines.get(gate))


_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "allow-environment": _environment,
        "allow-unclean-tree": _unclean,
        "architectures": _architectures,
        "backend": _by_platform(_backend),
        "chains": _by_platform(_chains),
        "claim": _claims,
        "command": _commands,
        "deadlines": _deadlines,
        "disclose": _disclosed,
        "gates": _gates,
        "kernels": _kernels,
        "modules": _modules,
        "msvc-toolset": _toolset,
        "provider": _by_platform(_providers),
        "release": _release,
        "shared-buffers": shared_moves,
        "smoke": _smoke,
        "software-adapters": _by_platform(_software),
        "throughput": throughput_moves,
        "tier": _by_platform(_tier),
        "tiers": _by_platform(_tier),
        "versions": _by_platform(_versions),
    }
)
"""What each key of the plan means for the bar."""
