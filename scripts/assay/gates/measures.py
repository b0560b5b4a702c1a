"""Observes for gates ``shared-buffers`` and ``throughput``: the chain child's entry ``measure``, looked at.

The facts are described in ``assay.judge.shared_buffers`` and ``assay.judge.throughput``.
"""

from __future__ import annotations

import re

from assay import canonical
from assay.errors import StorageError
from assay.files import read_bounded
from assay.gates.chain import observe_child
from assay.gates.chain_request import (
    NotRun,
    Request,
    case_of,
    chain_json,
    read_sources,
    source_facts,
    wanted_adapter,
    why_not_run,
)
from assay.gates.chain_session import Deadlines
from assay.gates.childenv import prepare_child
from assay.gates.cold import observe_cold
from assay.gates.context import Context
from assay.gates.kernels import NVCC
from assay.gates.probes import probes_of
from assay.gates.shaders import PROGRAM
from assay.judge.child import ended_well
from assay.judge.reading import objects, text
from assay.judge.shared_buffers import NO_SHADER
from assay.model import Facts, Json
from assay.plan.values import WGPU_NATIVE, Chain

SCHEMA = "assay/chain-measure/1"
"""What the child's entry ``measure`` reads."""

ENTRY = "measure"

_SPIRV_LIMIT = 1 << 20
_HANDLES = re.compile(
    r"External(?!Texture)|SharedHandle|(?:Memory|Vulkan|D3D12|DX12|Dxgi|Metal)(?:Handle|Resource|Fd)|AsHal"
)
"""Parts of names by which a provider would hand out its memory or its native objects."""


def observe_shared_buffers(context: Context) -> Facts:
    """Return the facts of passes over the shared buffer.

    Raises:
        GateError: a source cannot be read.
        StorageError: a private file cannot be written.
    """
    return _observe(context, speed=False)


def observe_throughput(context: Context) -> Facts:
    """Return the facts of every planned size.

    Raises:
        GateError: a source cannot be read.
        StorageError: a private file cannot be written.
    """
    return _observe(context, speed=True)


def _observe(context: Context, *, speed: bool) -> Facts:
    """Return the facts of one child."""
    shared, throughput = context.plan.shared_buffers, context.plan.throughput
    name = throughput.chain if speed and throughput else shared.chain if shared else ""
    if name not in context.plan.kernels:
        return {"lacking": [], "not_run": ""}
    spirv = b"" if shared is None else _spirv(context)
    why = why_not_run(context) or (_no_shader(context) if spirv is None else None)
    if why is not None or spirv is None:
        told = why or _no_shader(context)
        return {"lacking": list(told.lacking), "not_run": told.reason}
    setup = prepare_child(context, interface=WGPU_NATIVE)
    request = _request(context, context.plan.kernels[name], spirv, speed=speed)
    facts = dict(observe_child(context, setup, request, probes_of(context), Deadlines()))
    if speed and ended_well(facts) and not objects(facts, "child.errors"):
        facts["cold"] = observe_cold(context, setup, context.plan.kernels[name])
    sha256 = text(context.facts.get("build", {}), "shader.spirv.sha256")
    shader: Json = {"sha256": sha256} if shared is not None else None
    return {**facts, "provider_handles": _handles(context), "shader": shader}


def _no_shader(context: Context) -> NotRun:
    """Return that gate build made no SPIR-V."""
    problem = text(context.facts.get("build", {}), "shader.problem")
    return NotRun(NO_SHADER, (problem or PROGRAM,))


def _spirv(context: Context) -> bytes | None:
    """Return the SPIR-V that gate build kept, None where it made none."""
    sha256 = text(context.facts.get("build", {}), "shader.spirv.sha256")
    if not sha256:
        return None
    try:
        return read_bounded(context.artifact_path(sha256), _SPIRV_LIMIT)
    except StorageError as error:
        context.log(f"{error}\n")
        return None


def _request(context: Context, chain: Chain, spirv: bytes, *, speed: bool) -> Request:
    """Return the child's request."""
    sources = read_sources(context, (chain,))
    shared, throughput = context.plan.shared_buffers, context.plan.throughput
    sharing: Json = None
    if shared is not None:
        sharing = {"each": shared.each, "entry": shared.entry, "kernel": shared.kernel, "spirv": spirv.hex()}
    document: dict[str, Json] = {
        "adapter": wanted_adapter(context) if speed else None,
        "architecture": context.plan.lowest_architecture,
        "chain": chain_json(case_of(context), chain, sources),
        "nvcc": NVCC,
        "ordinal": 0,
        "schema": SCHEMA,
        "sharing": sharing,
        "throughput": None,
    }
    if speed and throughput is not None:
        document["throughput"] = {"sizes": list(throughput.sizes), "turns": throughput.turns}
    return Request(canonical.dumps(document), source_facts(sources), ENTRY)


def _handles(context: Context) -> list[Json]:
    """Return the provider's exported names that would hand out its memory, sorted."""
    path = context.selection.provider
    if path is None:
        return []
    exports = context.machine.binary(path).exports
    found: list[Json] = [name for name in sorted(exports) if _HANDLES.search(name)]
    return found
