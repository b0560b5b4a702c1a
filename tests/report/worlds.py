"""Bundles of the small world for pages: one of each verdict, with a machine and values, and hostile ones."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from assay import canonical
from assay.evidence.asking import Wanted
from assay.evidence.bundle import write_bundle
from assay.evidence.verify import verifying
from assay.model import Command, Facts, Json, Severity
from assay.plan import Plan, plan_json
from assay.report.document import view_of
from assay.report.subject import Subject, subject_of
from assay.report.view import Page
from tests.evidence import support
from tests.evidence.support import NONCE, PASSING, Gate, found, make_run

NOW = datetime(2026, 12, 1, tzinfo=UTC)
WANTED = Wanted(NOW)
COUNT = 37
FRESH = 4096

EVIL = (
    "</style></script></title></pre></textarea><!--><script>hit()</script><img src=x onerror=hit()>"
    "\" onmouseover=hit() x=\"' autofocus onfocus='hit()<svg/onload=hit()>javascript:hit()"
    "\x1b[31mred\x1b]0;title\x07\u202egnp.exe\u2066\u2069\u200f\ufeff{{ 7 * 7 }}{% raw %}&#60;b&#62;"
)
"""What a page must show and never obey: tags, attributes, escapes, and marks that turn text round."""


def word(value: float) -> str:
    """Return a float32 as its word (IEEE 754 binary32, big-endian)."""
    return struct.pack(">f", value).hex()


def fresh(plan: Plan, chain: str) -> list[int]:
    """Return a chain's fresh values, after DESIGN's words alone ("chain.toml is data")."""
    parts = ["assay/fresh/1", chain, canonical.digest(plan_json(plan)), NONCE, ""]
    seed = hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).digest()
    drawn = (hashlib.sha256(seed + number.to_bytes(4, "big")).digest()[:2] for number in range(FRESH))
    return [int.from_bytes(two, "big") % FRESH for two in drawn]


def stages(plan: Plan, changed: Mapping[tuple[str, str], Json] = MappingProxyType({})) -> Sequence[Json]:
    """Return the right facts of the chain `pipeline`: twice, then one more; ``changed`` by stage and key."""
    drawn = fresh(plan, "pipeline")
    results: Mapping[str, tuple[list[str], list[str]]] = {
        "double": ([word(2 * x) for x in range(COUNT)], [word(2 * x) for x in drawn]),
        "add-one": ([word(2 * x + 1) for x in range(COUNT)], [word(2 * x + 1) for x in drawn]),
    }
    return [
        {
            "canonical": changed.get((name, "canonical"), listed),
            "compiler": "nvcc 13.0.88",
            "fresh": changed.get((name, "fresh"), drawn_),
            "loaded": [{"arch": "sm_75", "kind": "ptx", "sha256": "cd" * 32, "size": 9}],
            "name": name,
            "runs": [{"duration_ns": 1_500_000, "input": "canonical"}],
            "runtime": "pycuda",
        }
        for name, (listed, drawn_) in results.items()
    ]


def chain_facts(plan: Plan, **changes: Any) -> Facts:  # noqa: ANN401  # any JSON
    """Return facts of a chain on a GPU of this world."""
    facts: dict[str, Json] = {
        "chains": [{"missing": [], "name": "pipeline", "stages": stages(plan), "state": "complete"}],
        "devices": {
            "after": {
                "compute_capability": "9.0",
                "cuda_version": 13020,
                "memory": 3 << 29,
                "name": "GPU of this world",
                "uuid": "GPU-1",
            }
        },
        "nvml": {"after": {"gpus": [{"uuid": "gpu-1", "vbios": "96.1", "virtualization": 1}]}},
        "proc": {"after": {"module": {"text": "kernel module 580.1", "version": "580.1"}}},
        "tier": "physical",
        "virtualisation": {"container": "docker", "hypervisor": True},
    }
    return {**facts, **changes}


ENVIRONMENT: Facts = {
    "distributions": [{"name": "numpy", "record_sha256": "ef" * 32, "version": "2.4.6"}],
    "explicit": True,
    "kept_out": ["LD_PRELOAD"],
    "machine": {"arch": "x86_64", "libc": {"kind": "glibc", "version": "2.39"}, "os": {"id": "ubuntu"}},
    "selected": {
        "BUN_PYTHON_EXECUTABLE": {
            "path": "$SELECTION/bin/python3",
            "reported": {"version": "3.12.3"},
            "sha256": "12" * 32,
            "size": 8_020_928,
        }
    },
    "source": "selection.toml",
    "variables": {"PATH": {"given": "$TOOLKIT/bin"}},
}
BUILD: Facts = {
    "clean": True,
    "revision": "9d" * 20,
    "wheel": {"name": "gpu_thing-1.2-py3-none-any.whl", "sha256": "34" * 32, "version": "1.2"},
}
WARNED: Facts = {"findings": [found("TOOLKIT-SHADOWED", Severity.WARNING, "another nvcc comes first")]}


def qualified(folder: Path, **gates: Gate) -> Path:
    """Return a qualified bundle; ``gates`` leave something else."""
    plan = support.plan()
    changed = {
        "environment": Gate(ENVIRONMENT),
        "toolkit": Gate(WARNED),
        "build": replace(PASSING["build"], facts=BUILD),
        "chain": Gate(chain_facts(plan)),
    }
    return write_bundle(make_run(folder, changed={**changed, **gates})).path


def rejected(folder: Path) -> Path:
    """Return a bundle whose chain gave a wrong value."""
    facts = [word(2 * x) for x in range(COUNT)]
    facts[7] = word(14.5)
    plan = support.plan()
    chains: Json = [{"name": "pipeline", "stages": stages(plan, {("double", "canonical"): facts})}]
    wrong = chain_facts(plan, chains=chains, findings=[found("CHAIN-VALUE-WRONG")])
    return qualified(folder, chain=Gate(wrong))


def undecided(folder: Path) -> Path:
    """Return a bundle of a machine without a GPU, cut short before its last gate."""
    lacking: Facts = {"findings": [found("CHAIN-UNAVAILABLE", Severity.UNAVAILABLE, "there is no GPU")]}
    gates = support.plan().gates[:-1]
    return write_bundle(make_run(folder, gates=gates, changed={"chain": Gate(lacking)})).path


def rehearsed(folder: Path) -> Path:
    """Return a rehearsal's bundle."""
    plan = support.plan(tier="rehearsal")
    facts = chain_facts(plan, tier="rehearsal", devices={"after": {"name": "CPU (rehearsal)"}})
    return write_bundle(make_run(folder, of=plan, changed={"chain": Gate(facts)})).path


def hostile(folder: Path) -> Path:
    """Return a bundle whose every free string is ``EVIL``; it is rejected, so that its finding is shown."""
    evil = _poisoned({**chain_facts(support.plan()), "proc": {}})
    assert isinstance(evil, dict)
    environment = _poisoned(ENVIRONMENT)
    assert isinstance(environment, dict)
    kept = {"tier": "physical", "chains": chain_facts(support.plan())["chains"]}
    gates = {
        "environment": Gate(environment, log=f"{EVIL}\n".encode() * 400),
        "build": Gate({"wheel": {"name": EVIL, "version": EVIL}}, artifacts={EVIL: b"a", f"{EVIL}2": b"b"}),
        "chain": Gate({**evil, **kept}, log=bytes(range(256)) * 8, commands=(Command((EVIL, EVIL), 0),)),
        "lint": Gate({"findings": [found("LINT-EVIL", Severity.FAILURE, EVIL)]}),
    }
    return qualified(folder, **gates)


def _poisoned(value: Json) -> Json:
    """Return facts with every string replaced."""
    if isinstance(value, Mapping):
        return {key: _poisoned(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_poisoned(part) for part in value]
    return EVIL if isinstance(value, str) else value


@dataclass(frozen=True)
class Seen:
    """A bundle as a page is made of it."""

    subject: Subject
    page: Page


@contextmanager
def viewing(bundle: Path, wanted: Wanted = WANTED, *, readers: bool = True) -> Iterator[Seen]:
    """Yield what a page shows of a bundle, while it is open."""
    with verifying(bundle, wanted, subject=True) as (verified, run):
        assert run is not None, verified.problems
        yield Seen(subject_of(verified, run), view_of(verified, run, readers=readers))


def view(bundle: Path, wanted: Wanted = WANTED, *, readers: bool = True) -> Page:
    """Return what a page shows of a bundle."""
    with viewing(bundle, wanted, readers=readers) as seen:
        return seen.page


def views(folder: Path) -> dict[str, Page]:
    """Return what a page shows of one bundle of each kind, made in ``folder``."""
    kinds = (qualified, rejected, undecided, rehearsed, hostile)
    with pytest.MonkeyPatch.context() as patch:
        support.enter(patch)
        return {kind.__name__: view(kind(folder / kind.__name__)) for kind in kinds}
