"""``[tool.assay]`` and ``plan.json`` have one form; this reads it into a ``Plan`` and writes it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from assay.errors import PlanError
from assay.model import Json, Platform, Tier
from assay.plan.checks import check_plan
from assay.plan.kernels import chain_json, parse_chain
from assay.plan.measures import (
    parse_shared_buffers,
    parse_throughput,
    shared_buffers_json,
    throughput_json,
)
from assay.plan.reading import SHA256, Table, as_line, as_text
from assay.plan.values import (
    BACKENDS,
    INTERFACES,
    Chain,
    Citation,
    Claim,
    CommandGate,
    Member,
    Plan,
    ProviderPin,
    Reference,
)
from assay.plan.versions import check_specifier

T = TypeVar("T")

GATE_NAME = r"(?!(?:plan|manifest|journal|verdict)\Z)[a-z][a-z0-9-]{0,30}"
"""FORMATS, "Run folder": gate names, and the names that are reserved."""

_WORD = r"[a-z][a-z0-9-]{0,63}"
_PLATFORM = "|".join(Platform)
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
_SYMBOL = r"[A-Za-z_][A-Za-z0-9_]{0,127}"
_MODULE = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
DISCLOSABLE = ("host-name", "user-name", "gpu-serial")
_URL = r"https?://[!-~]+"
"""Printable ASCII without a space (RFC 3986, section 2); other characters are written with ``%``."""

_DEADLINE_S = 24 * 3600


def parse_plan(value: object, path: str = "tool.assay") -> Plan:
    """Read a plan from decoded TOML (with its kernels put in) or from ``plan.json``'s ``plan``.

    Raises:
        PlanError: a key is unknown, of a wrong type, or the combination is impossible.
    """
    table = Table(value, path)
    plan = Plan(
        project=table.text("project", match=r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"),
        modules=table.texts("modules", match=_MODULE),
        tier=Tier(table.text("tier", Tier.PHYSICAL.value, match="|".join(Tier))),
        allow_unclean_tree=table.flag("allow-unclean-tree", default=False),
        architectures=table.texts("architectures", match=r"sm_[1-9][0-9]{1,2}"),
        gates=table.texts("gates", match=GATE_NAME),
        commands=table.each("command", _command, ()),
        deadlines=_deadlines(table.table("deadlines", {})),
        versions=_by_platform(table, "versions", _versions),
        providers=table.each("provider", _provider, ()),
        backend=_by_platform(table, "backend", lambda value, at: as_text(value, at, "|".join(BACKENDS))),
        software_adapters=_by_platform(table, "software-adapters", _names),
        msvc_toolset=table.optional_text("msvc-toolset", match=r"\d+\.\d+"),
        chains=_by_platform(table, "chains", _chain_names),
        kernels=_kernels(table.table("kernels", {})),
        smoke=table.each("smoke", as_line),
        allow_environment=table.texts("allow-environment", (), match=_VARIABLE),
        disclose=table.texts("disclose", (), match="|".join(DISCLOSABLE)),
        built_by=_built_by(table.table("built-by", {})),
        cites=table.each("cites", _citation, ()),
        references=table.each("reference", _reference, ()),
        claims=table.each("claim", _claim, ()),
        tiers=_by_platform(table, "tiers", lambda value, at: Tier(as_text(value, at, "|".join(Tier)))),
        release=_release(table),
        shared_buffers=parse_shared_buffers(table),
        throughput=parse_throughput(table),
    )
    table.finish()
    check_plan(plan, path)
    return plan


def plan_json(plan: Plan) -> dict[str, Json]:
    """Return the whole plan in the form that ``parse_plan`` reads, defaults filled in."""
    later: dict[str, Json] = {}  # left out where they are absent: plans without them keep their digests
    if plan.release:
        later["release"] = {"require": [str(member) for member in plan.release]}
    if plan.tiers:
        later["tiers"] = {key.value: tier.value for key, tier in plan.tiers.items()}
    if plan.shared_buffers is not None:
        later["shared-buffers"] = shared_buffers_json(plan.shared_buffers)
    if plan.throughput is not None:
        later["throughput"] = throughput_json(plan.throughput)
    return {
        **later,
        "allow-environment": list(plan.allow_environment),
        "allow-unclean-tree": plan.allow_unclean_tree,
        "architectures": list(plan.architectures),
        "backend": {key.value: value for key, value in plan.backend.items()},
        "built-by": dict(plan.built_by),
        "chains": {key.value: list(names) for key, names in plan.chains.items()},
        "cites": [{"digest": cite.digest, "reason": cite.reason} for cite in plan.cites],
        "claim": [_claim_json(claim) for claim in plan.claims],
        "command": [_command_json(command) for command in plan.commands],
        "deadlines": dict(plan.deadlines),
        "disclose": list(plan.disclose),
        "gates": list(plan.gates),
        "kernels": {name: chain_json(chain) for name, chain in plan.kernels.items()},
        "modules": list(plan.modules),
        "msvc-toolset": plan.msvc_toolset,
        "project": plan.project,
        "provider": [_provider_json(pin) for pin in plan.providers],
        "reference": [{"title": each.title, "url": each.url} for each in plan.references],
        "smoke": list(plan.smoke),
        "software-adapters": {key.value: list(names) for key, names in plan.software_adapters.items()},
        "tier": plan.tier.value,
        "versions": {key.value: dict(wanted) for key, wanted in plan.versions.items()},
    }


def _by_platform(table: Table, key: str, read: Callable[[object, str], T]) -> Mapping[Platform, T]:
    """Read a table whose keys are platforms."""
    below = table.table(key, {})
    found = {}
    for name in below.names():
        platform = Platform(as_text(name, below.at(name), _PLATFORM))
        found[platform] = read(below.raw(name), below.at(name))
    return MappingProxyType(found)


def _versions(value: object, path: str) -> Mapping[str, str]:
    """Read the required versions of one platform."""
    table = Table(value, path)
    return MappingProxyType(
        {
            as_line(name, table.at(name)): check_specifier(table.text(name), table.at(name))
            for name in table.names()
        }
    )


def _names(value: object, path: str) -> tuple[str, ...]:
    """Read a list of any lines of text."""
    return Table({"": value}, path).each("", as_line)


def _chain_names(value: object, path: str) -> tuple[str, ...]:
    """Read a list of chain names."""
    return Table({"": value}, path).texts("", match=_WORD)


def _kernels(table: Table) -> Mapping[str, Chain]:
    """Read every chain."""
    return MappingProxyType(
        {as_text(name, table.at(name), _WORD): parse_chain(name, table.table(name)) for name in table.names()}
    )


def _deadlines(table: Table) -> Mapping[str, int]:
    """Read deadlines in seconds by gate."""
    return MappingProxyType(
        {
            as_text(name, table.at(name), GATE_NAME): table.number(name, low=1, high=_DEADLINE_S)
            for name in table.names()
        }
    )


def _built_by(table: Table) -> Mapping[str, str]:
    """Read who built a selected binary, by variable (recorded as unverified)."""
    return MappingProxyType(
        {as_text(name, table.at(name), _VARIABLE): table.line(name) for name in table.names()}
    )


def _release(table: Table) -> tuple[Member, ...]:
    """Read which runs a release must have."""
    if "release" not in table.names():
        return ()
    below = table.table("release")
    required = below.texts("require", match=f"({_PLATFORM})/({'|'.join(Tier)})")
    below.finish()
    if not required:
        raise PlanError(below.at("require"), "is empty", "at least one run, such as linux/physical", "")
    pairs = [each.split("/") for each in required]
    return tuple(Member(Platform(platform), Tier(tier)) for platform, tier in pairs)


def _command(value: object, path: str) -> CommandGate:
    """Read one command gate."""
    table = Table(value, path)
    command = CommandGate(
        name=table.text("name", match=GATE_NAME),
        argv=table.each("argv", as_line),
        deadline_s=table.number("deadline", 600, low=1, high=_DEADLINE_S),
        report=table.text("report", "", match="|pytest"),
        allowed_skips=_tests(table),
    )
    table.finish()
    return command


def _tests(table: Table) -> tuple[str, ...]:
    """Read the names of tests that may be skipped."""
    for index, name in enumerate(names := table.texts("allowed-skips", ())):
        as_line(name, f"{table.at('allowed-skips')}.{index}")
    return names


def _command_json(command: CommandGate) -> dict[str, Json]:
    """Return the form that ``_command`` reads."""
    return {
        "allowed-skips": list(command.allowed_skips),
        "argv": list(command.argv),
        "deadline": command.deadline_s,
        "name": command.name,
        "report": command.report,
    }


def _provider(value: object, path: str) -> ProviderPin:
    """Read one provider pin."""
    table = Table(value, path)
    pin = ProviderPin(
        name=table.text("name", match=_WORD.replace("a-z0-9-", "a-z0-9_-")),
        platform=Platform(table.text("platform", match=_PLATFORM)),
        interface=table.text("interface", match="|".join(INTERFACES)),
        sha256=table.text("sha256", match=SHA256.pattern),
        symbols=table.texts("symbols", (), match=_SYMBOL),
        url=table.optional_text("url", match=_URL),
    )
    table.finish()
    return pin


def _provider_json(pin: ProviderPin) -> dict[str, Json]:
    """Return the form that ``_provider`` reads."""
    return {
        "interface": pin.interface,
        "name": pin.name,
        "platform": pin.platform.value,
        "sha256": pin.sha256,
        "symbols": list(pin.symbols),
        "url": pin.url,
    }


def _citation(value: object, path: str) -> Citation:
    """Read one citation of earlier evidence."""
    table = Table(value, path)
    cite = Citation(table.text("digest", match=SHA256.pattern), table.line("reason"))
    table.finish()
    return cite


def _reference(value: object, path: str) -> Reference:
    """Read one cited document."""
    table = Table(value, path)
    reference = Reference(table.line("title"), table.text("url", match=_URL))
    table.finish()
    return reference


def _claim(value: object, path: str) -> Claim:
    """Read one claim."""
    table = Table(value, path)
    claim = Claim(
        table.text("id", match=_WORD),
        table.line("text"),
        table.texts("gates", (), match=GATE_NAME),
        tuple(Platform(name) for name in table.texts("platforms", (), match=_PLATFORM)),
    )
    table.finish()
    return claim


def _claim_json(claim: Claim) -> Json:
    """Return a claim in the form that ``_claim`` reads; platforms only where it names some."""
    where: dict[str, Json] = (
        {"platforms": [each.value for each in claim.platforms]} if claim.platforms else {}
    )
    return {**where, "gates": list(claim.gates), "id": claim.id, "text": claim.text}
