"""Facts of a chain that ran on an H200, and the case that they are judged in.

``tests/data/chain_h200.json`` has what was seen of machine and child; the values are made here from the
kernels' arithmetic, not by the code under test.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from assay.judge.case import Case
from assay.judge.chain import judge
from assay.judge.reading import MalformedFacts
from assay.judge.tier import derive_tier
from assay.model import Facts, Finding, Platform, Tier
from assay.plan import parse_plan
from tests.plan.support import plan_table

Document = dict[str, Any]

RECORDED = Path(__file__).resolve().parent.parent / "data" / "chain_h200.json"
NONCE, DIGEST = "ab" * 16, "cd" * 32
PROVIDER = "be0d8270dd9d78e1039eeb413ee21be8a89776a752e56d6b0f57eefbbc2d749c"
UUID = "GPU-5e8153a0-041a-19a0-67b4-ba8d9247bcf0"
DRIVER = "580.159.04"
CHILD_PID = 4242

KERNELS: dict[str, Callable[[int], int]] = {"twice": lambda x: 2 * x, "add_one": lambda x: x + 1}
STAGES = (
    ("double", "pycuda", "double.cu", "twice", "2*x"),
    ("add-one", "wgpu", "add_one.wgsl", "add_one", "x+1"),
    ("double-again", "nvrtc", "double.cu", "twice", "2*x"),
)


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text: stands for a file's."""
    return hashlib.sha256(text.encode()).hexdigest()


def plan_document() -> Document:
    """Return a plan with the pipeline chain, for every platform."""
    plan = plan_table()
    stages = [
        {
            "compare": "bits",
            "entry": entry,
            "expect": expect,
            "input": "previous" if number else "values",
            "name": name,
            "runtime": runtime,
            "sha256": digest_of(source),
            "source": source,
        }
        for number, (name, runtime, source, entry, expect) in enumerate(STAGES)
    ]
    chain = {"sha256": digest_of("chain.toml"), "stage": stages, "values": {"start": 0, "count": 37}}
    plan["kernels"] = {"pipeline": chain}
    plan["chains"] = {name: ["pipeline"] for name in ("linux", "wsl", "windows")}
    plan["backend"] = {"linux": "Vulkan", "wsl": "Vulkan", "windows": "D3D12"}
    pin = {"interface": "wgpu-native", "name": "wgpu-native", "sha256": PROVIDER, "symbols": []}
    plan["provider"] = [{**pin, "platform": name} for name in ("linux", "wsl", "windows")]
    return plan


def earlier_facts() -> dict[str, Facts]:
    """Return the facts of the gates before the chain, as far as its judge reads them."""
    seen = json.loads(RECORDED.read_text())
    digests = {each["path"]: each["sha256"] for each in seen["mapped"]}
    return {
        "build": {
            "kernels": [
                {"arch": "sm_75", "chain": "pipeline", "kind": "ptx", "sha256": image_of(name), "stage": name}
                for name, runtime, *_ in STAGES
                if runtime != "wgpu"
            ]
        },
        "environment": {
            "selected": {
                "BUN_PYTHON_EXECUTABLE": {"sha256": digests["$SELECTION/bin/python3.12"]},
                "BUN_PYTHON_LIBPYTHON": {"sha256": digests["$BUN_PYTHON_LIBPYTHON"]},
            }
        },
        "provider": {"interface": "wgpu-native", "pin": "wgpu-native", "sha256": PROVIDER},
        "toolkit": {
            "devices": [{"capability": "9.0", "name": seen["devices"]["after"]["name"]}],
            "driver": {"version": DRIVER},
        },
    }


def image_of(stage: str) -> str:
    """Return the digest of a stage's image."""
    source = next(source for name, _, source, *_ in STAGES if name == stage)
    return digest_of(source if source.endswith(".wgsl") else f"ptx of {stage}")


def make_case(
    platform: Platform = Platform.LINUX,
    plan: Document | None = None,
    facts: dict[str, Facts] | None = None,
) -> Case:
    """Return the case that the recorded facts are judged in."""
    earlier = earlier_facts() if facts is None else facts
    return Case(parse_plan(plan or plan_document()), DIGEST, platform, NONCE, "", earlier)


def fresh() -> list[int]:
    """Return the fresh values of chain ``pipeline``, by the recipe of the design."""
    seed = hashlib.sha256(f'["assay/fresh/1","pipeline","{DIGEST}","{NONCE}",""]'.encode()).digest()
    blocks = (hashlib.sha256(seed + struct.pack(">I", index)).digest() for index in range(4096))
    return [(block[0] << 8 | block[1]) & 0xFFF for block in blocks]


def words(values: Iterable[int]) -> list[str]:
    """Return the float32 words of integers."""
    return [struct.pack(">f", value).hex() for value in values]


def healthy_facts() -> Document:
    """Return the facts of the run, in which everything is right."""
    facts: Document = json.loads(RECORDED.read_text())
    inputs = {"canonical": list(range(37)), "fresh": fresh()}
    stages = []
    for name, runtime, source, entry, _ in STAGES:
        inputs = {key: [KERNELS[entry](x) for x in values] for key, values in inputs.items()}
        stages.append(_stage(name, runtime, source, entry, inputs))
    chain = {"missing": [], "name": "pipeline", "stages": stages, "state": "complete"}
    sources = [
        {"chain": "pipeline", "sha256": digest_of(source), "stage": name} for name, _, source, *_ in STAGES
    ]
    return {**facts, "chains": [chain], "sources": sources}


def _stage(name: str, runtime: str, source: str, entry: str, results: dict[str, list[int]]) -> Document:
    """Return the facts of one stage."""
    wgsl = source.endswith(".wgsl")
    arch, kind = ("", "wgsl") if wgsl else ("sm_75", "ptx")
    return {
        "canonical": words(results["canonical"]),
        "compiler": "" if wgsl else "nvcc 13.0.88",
        "entry": entry,
        "fresh": words(results["fresh"]),
        "loaded": [{"arch": arch, "kind": kind, "sha256": image_of(name), "size": 1000}],
        "name": name,
        "runs": [
            {"block": [256, 1, 1], "duration_ns": 100_000, "grid": [1, 1, 1], "input": key} for key in results
        ],
        "runtime": runtime,
        "transfers": [
            {"bytes": 4 * len(values), "direction": direction, "input": key, "runtime": runtime}
            for key, values in results.items()
            for direction in ("host-to-device", "device-to-host")
        ],
    }


_FACTS = healthy_facts()
CASE = make_case()


def clone(value: Any) -> Any:  # noqa: ANN401  # any part of a document
    """Return a copy that shares nothing mutable; faster than ``copy.deepcopy`` over thousands of words."""
    if isinstance(value, dict):
        return {key: clone(part) for key, part in value.items()}
    if isinstance(value, list):
        return [clone(part) for part in value] if value and isinstance(value[0], dict | list) else value[:]
    return value


def facts_with(**changes: object) -> Document:
    """Return the healthy facts with values replaced at dotted paths (``__`` for a dot); ``...`` removes."""
    facts: Document = clone(_FACTS)
    for path, value in changes.items():
        change(facts, path.replace("__", "."), value)
    return facts


def change(facts: Document, path: str, value: object) -> None:
    """Replace the value at a dotted path; ``...`` removes it."""
    *way, last = path.split(".")
    target: Any = facts
    for part in way:
        target = target[int(part)] if isinstance(target, list) else target[part]
    key: Any = int(last) if isinstance(target, list) else last
    if value is ...:
        del target[key]
    else:
        target[key] = value


def findings(facts: Document, case: Case = CASE) -> tuple[Finding, ...]:
    """Return what the judge finds."""
    return judge(case, facts)


def ids(facts: Document, case: Case = CASE) -> list[str]:
    """Return the ids of what the judge finds, sorted; malformed facts give ``FACTS-MALFORMED``."""
    try:
        return sorted(finding.id for finding in findings(facts, case))
    except MalformedFacts:
        return ["FACTS-MALFORMED"]


def tier(facts: Document, case: Case = CASE) -> Tier | None:
    """Return the tier that the facts show."""
    return derive_tier(case, facts)


def mapped(path: str, sha256: str | None = None, **more: object) -> Document:
    """Return one mapped file."""
    digest = digest_of(path) if sha256 is None else sha256
    return {
        "deleted": False,
        "method": "mapping",
        "path": path,
        "problem": "",
        "sha256": digest,
        "size": 1,
        **more,
    }


def with_mapped(*files: Document, without: str = "") -> Document:
    """Return the healthy facts with more mapped files, and without those whose path ends so."""
    facts = facts_with()
    kept = [each for each in facts["mapped"] if not without or not each["path"].endswith(without)]
    facts["mapped"] = [*kept, *files]
    return facts


def with_module(name: str, file: str, **more: object) -> Document:
    """Return the healthy facts with one more module."""
    facts = facts_with()
    module = {
        "bytecode": "private",
        "file": file,
        "loader": "SourceFileLoader",
        "name": name,
        "sha256": digest_of(file),
    }
    facts["child"]["modules"].append({**module, **more})
    return facts
