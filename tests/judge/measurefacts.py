"""Facts of a child that measured: what machine and child show is an H200's, results are made here."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from typing import Any

from assay.judge.case import Case
from assay.model import Facts
from tests.judge import chainfacts
from tests.judge.chainfacts import UUID, Document, digest_of, fresh, image_of, plan_document

SPIRV = digest_of("spirv")
HEX_UUID = UUID.removeprefix("GPU-").replace("-", "")
SIZES = (1, 37, 4096, 10000)
FLOOR_SIZE = 10000
TURNS = 3
COLD_TURNS = 6

CHAIN: Callable[[int], int] = lambda x: (2 * x + 1) * 2  # noqa: E731  # the chain's arithmetic in one line
PASS: Callable[[int], int] = lambda x: (x + 1) * 2 + 1  # noqa: E731  # shader, kernel, shader


def measuring_plan() -> Document:
    """Return the plan with both gates."""
    plan = plan_document()
    plan["gates"] = [*plan["gates"], "shared-buffers", "throughput"]
    plan["shared-buffers"] = {
        "chain": "pipeline",
        "shader": "add-one",
        "kernel": "double-again",
        "source": "add_one.comp",
        "sha256": digest_of("add_one.comp"),
        "entry": "main",
        "each": 4,
    }
    plan["throughput"] = {
        "chain": "pipeline",
        "sizes": list(SIZES),
        "turns": TURNS,
        "floor-size": FLOOR_SIZE,
        "floors": {"chain-of-script": 1000, "cold-of-script": 125},
    }
    return plan


def measuring_case(plan: Document | None = None, **earlier: Facts) -> Case:
    """Return the case: what gate build made, and the device of gate chain."""
    facts = chainfacts.earlier_facts()
    facts["build"] = {
        "kernels": [
            {"arch": "sm_75", "chain": "pipeline", "kind": "ptx", "sha256": image_of(name), "stage": name}
            for name in ("double", "double-again")
        ],
        "shader": {"spirv": {"sha256": SPIRV}},
    }
    facts["chain"] = {"devices": {"after": {"uuid": UUID}}}
    return chainfacts.make_case(plan=plan or measuring_plan(), facts={**facts, **earlier})


def result(values: Sequence[int], count: int) -> Document:
    """Return how ``count`` values that repeat ``values`` every 4,096 are described."""
    blocks = []
    whole, rest = divmod(count, 4096)
    for times, size in ((whole, 4096), (1, rest)):
        if times and size:
            packed = b"".join(struct.pack(">f", value) for value in values[:size])
            blocks.append({"count": size, "sha256": hashlib.sha256(packed).hexdigest(), "times": times})
    return {"blocks": blocks, "count": count, "left_out": 0}


def child_facts(*opened: str) -> Document:
    """Return the facts of a child that opened these sides and ended well."""
    facts = chainfacts.healthy_facts()
    runtimes: Document = {
        "cuda": {"uuid": HEX_UUID, "version": "13.4.4"},
        "vulkan": {"device": "NVIDIA H200", "driver_version": "580.159.4.0", "uuid": HEX_UUID},
        "wgpu": facts["child"]["runtimes"]["wgpu"],
    }
    child = {
        **facts["child"],
        "closed": list(reversed(opened)),
        "opened": list(opened),
        "runtimes": {name: runtimes[name] for name in opened},
    }
    images = [
        {
            "arch": "" if stage == "add-one" else "sm_75",
            "chain": "pipeline",
            "kind": "wgsl" if stage == "add-one" else "ptx",
            "sha256": image_of(stage),
            "size": 1000,
            "stage": stage,
        }
        for stage in ("double", "add-one", "double-again")
    ]
    return {
        **facts,
        "chains": [],
        "child": child,
        "images": images,
        "provider_handles": [],
        "shader": {"sha256": SPIRV},
    }


def allocation(count: int, passes: int = 1) -> Document:
    """Return what shows one allocation of ``count`` float32, seen from both sides, without a copy between."""
    return {
        "allocated": (4 * count + 15) // 16 * 16,
        "cuda_address": "0x7f6bfbe00000",
        "cuda_attributes": {"device_ordinal": 0, "memory_type": 2},
        "descriptor": "/dev/nvidiactl",
        "handle": "opaque-fd",
        "memory": {"device": 4096, "host_before": 1 << 20, "host_peak": 2 << 20},
        "passes": passes,
        "semaphore": "timeline-opaque-fd",
        "steps": [
            {"side": "vulkan", "signal": 2, "wait": 1},
            {"side": "cuda", "signal": 3, "wait": 2},
            {"side": "vulkan", "signal": 4, "wait": 3},
        ],
        "timeline": 2 + 3 * passes,
        "transfers": [
            {"bytes": 4 * count, "direction": "host-to-device", "signal": 1},
            {"bytes": 4 * count, "direction": "device-to-host", "signal": 5},
        ],
    }


def shared_facts() -> Document:
    """Return the facts of gate ``shared-buffers`` in which everything is right."""
    inputs = {"canonical": list(range(37)), "fresh": fresh()}
    measured = [
        {
            **allocation(len(values)),
            "input": name,
            "result": result([PASS(x) for x in values], len(values)),
            "size": len(values),
            "task": "shared-buffers",
        }
        for name, values in inputs.items()
    ]
    return {**child_facts("cuda", "vulkan"), "measured": measured}


def _size(count: int) -> Document:
    """Return what was measured over one size."""
    given = fresh()[: min(count, 4096)]
    chain, passed = result([CHAIN(x) for x in given], count), result([PASS(x) for x in given], count)
    memory = {"device": 4096, "host_before": 1 << 20, "host_peak": 2 << 20}
    hops = [{"nvrtc": 30, "pycuda": 30, "wgpu": 40}] * TURNS
    return {
        "bytes": 4 * count,
        "chain": {"hops": hops, "memory": memory, "ns": [100] * TURNS, "result": chain},
        "floors": {
            name: [10] * TURNS
            for name in (
                *("device-copy", "pinned-to-device", "pinned-to-host"),
                *("empty-launch", "empty-dispatch"),
            )
        },
        "hops": {"nvrtc": [21] * TURNS, "pycuda": [21] * TURNS, "wgpu": [40] * TURNS},
        "kernels": {"nvrtc": [11] * TURNS, "wgpu": [11] * TURNS},
        "registered": True,
        "script": {"hops": [{"wgpu": 400}] * TURNS, "memory": memory, "ns": [1000] * TURNS, "result": chain},
        "shared": {**allocation(count, 1 + 2 + TURNS), "ns": [5] * TURNS, "result": passed},
        "size": count,
        "task": "throughput",
        "turns": TURNS,
    }


def cold_facts() -> Document:
    """Return cold starts in which everything is right."""
    values = [struct.pack(">f", CHAIN(x)).hex() for x in range(37)]
    turns = [
        {
            "adapter": "NVIDIA H200",
            "end": end if number else 10 * end,
            "exit": 0,
            "parts": [{"begin": 0, "end": end, "name": "start"}],
            "style": style,
            "values": values,
        }
        for number in range(COLD_TURNS)
        for style, end in (("script", 2000), ("chain", 1000))
    ]
    images = [
        {"arch": "sm_75", "kind": "ptx", "sha256": image_of(stage), "stage": stage}
        for stage in ("double", "double-again")
    ]
    return {"images": images, "plain_sha256": digest_of("plain"), "turns": turns}


def speed_facts() -> Document:
    """Return the facts of gate ``throughput`` in which everything is right."""
    measured: list[Any] = [_size(count) for count in SIZES]
    return {**child_facts("cuda", "vulkan", "wgpu"), "cold": cold_facts(), "measured": measured}
