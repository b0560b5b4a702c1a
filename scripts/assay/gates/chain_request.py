"""Makes the request of the chain child, or says why there is nothing to start it with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay import canonical
from assay.errors import GateError, StorageError
from assay.files import sha256_file
from assay.gates.context import Context
from assay.gates.kernels import NVCC, read_source
from assay.judge.case import Case
from assay.judge.chain import INTERFACE, NO_CHAIN, NO_SELECTION
from assay.judge.device import NVIDIA
from assay.judge.reading import text
from assay.judge.results import canonical_words, fresh_words
from assay.model import Json
from assay.plan.values import APHRODY_FFI, WGPU_NATIVE, Chain, Stage
from assay.selection import EXECUTABLE, PROVIDER, SITE_PACKAGES, TOOLKIT

SCHEMA = "assay/chain-run/1"
"""What the child's entry ``run`` reads; ``assay.chain`` describes it."""

WGPU = "wgpu"


@dataclass(frozen=True)
class NotRun:
    """Why the child is not started: one of ``judge.chain``'s reasons, and what lacks."""

    reason: str
    lacking: tuple[str, ...]


@dataclass(frozen=True)
class Request:
    """The child's request, the digests of the sources in it as facts, and the entry that reads it."""

    data: bytes
    sources: tuple[Json, ...]
    entry: str = "run"


def case_of(context: Context) -> Case:
    """Return what a run is judged by, as far as it has come."""
    return Case(
        context.plan, context.plan_digest, context.platform, context.nonce, context.challenge, context.facts
    )


def why_not_run(context: Context) -> NotRun | None:
    """Return why the chain cannot be started with this plan and selection, None where it can."""
    chains = context.plan.planned_chains(context.platform)
    if not chains:
        return NotRun(NO_CHAIN, (f"a chain for {context.platform.value}",))
    wanted = [EXECUTABLE, SITE_PACKAGES, TOOLKIT, *([PROVIDER] if needs_wgpu(chains) else [])]
    if lacking := tuple(name for name in wanted if not context.selection.get(name)):
        return NotRun(NO_SELECTION, lacking)
    interface = provider_interface(context)
    if needs_wgpu(chains) and interface != WGPU_NATIVE:
        return NotRun(INTERFACE, (f"the provider has the interface {interface}",))
    return None


def needs_wgpu(chains: tuple[Chain, ...]) -> bool:
    """Say whether any stage runs through wgpu."""
    return any(stage.runtime == WGPU for chain in chains for stage in chain.stages)


def provider_interface(context: Context) -> str:
    """Return the interface of the selected provider, by the pin that has its digest.

    A library that no pin knows is taken for ``wgpu-native``: the judge refuses it for not being pinned.
    """
    if told := text(context.facts.get("provider", {}), "interface"):
        return told
    try:
        sha256, _ = sha256_file(Path(context.selection.provider or ""))
    except StorageError:
        return WGPU_NATIVE
    pins = [pin for pin in context.plan.providers if pin.sha256 == sha256]
    return APHRODY_FFI if any(pin.interface == APHRODY_FFI for pin in pins) else WGPU_NATIVE


def make_request(context: Context, case: Case) -> Request:
    """Return the request: chains with their sources, canonical and fresh values.

    Raises:
        GateError: a source cannot be read, or is not text.
    """
    chains = context.plan.planned_chains(context.platform)
    sources = read_sources(context, chains)
    document: dict[str, Json] = {
        "adapter": wanted_adapter(context) if needs_wgpu(chains) else None,
        "architecture": context.plan.lowest_architecture,
        "chains": [chain_json(case, chain, sources) for chain in chains],
        "nvcc": NVCC,
        "ordinal": 0,
        "schema": SCHEMA,
    }
    facts = source_facts(sources)
    return Request(canonical.dumps(document), facts)


def read_sources(context: Context, chains: tuple[Chain, ...]) -> dict[tuple[str, str], bytes]:
    """Return every stage's source, by chain and stage.

    Raises:
        GateError: one cannot be read.
    """
    return {(chain.name, stage.name): data for chain, stage, data in _sources(context, chains)}


def _sources(context: Context, chains: tuple[Chain, ...]) -> Iterator[tuple[Chain, Stage, bytes]]:
    """Yield each stage's source as it lies in the project now."""
    for chain in chains:
        for stage in chain.stages:
            try:
                yield chain, stage, read_source(context.project, chain, stage)
            except StorageError as error:
                raise GateError(
                    error.observed, "the kernel's source", "restore it and qualify again"
                ) from error


def wanted_adapter(context: Context) -> Json:
    """Return which adapter is wanted."""
    return {
        "backend": context.plan.backend.get(context.platform, ""),
        "software": list(context.plan.software_adapters.get(context.platform, ())),
        "vendor": NVIDIA,
    }


def chain_json(case: Case, chain: Chain, sources: dict[tuple[str, str], bytes]) -> Json:
    """Return one chain of the request."""
    stages: list[Json] = [
        {
            "each": stage.each,
            "entry": stage.entry,
            "input": stage.input,
            "name": stage.name,
            "runtime": stage.runtime,
            "source": stage.source,
            "text": _text(sources[chain.name, stage.name], f"kernels/{chain.name}/{stage.source}"),
        }
        for stage in chain.stages
    ]
    words = {"canonical": list(canonical_words(chain)), "fresh": list(fresh_words(case, chain))}
    return {**words, "name": chain.name, "stages": stages}


def _text(data: bytes, where: str) -> str:
    """Return a source as text."""
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as error:
        raise GateError(f"{where} is not ASCII", "ASCII text", "write the kernel in ASCII") from error


def source_facts(sources: Mapping[tuple[str, str], bytes]) -> tuple[Json, ...]:
    """Return the fact about each source, by chain and stage."""
    return tuple(
        {"chain": chain, "sha256": hashlib.sha256(data).hexdigest(), "stage": stage}
        for (chain, stage), data in sources.items()
    )
