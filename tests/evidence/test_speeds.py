"""Durations and ratios of gate ``throughput`` are compared, and a run that measured nothing is not equal."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay.evidence.changes import Kind
from assay.evidence.speeds import has_speeds, measured, speed_changes
from assay.evidence.steps import Run
from assay.plan.values import Throughput

COLD = [
    {"style": style, "end": end}
    for style, ends in (("chain", (9000, 500, 400, 600)), ("script", (9000, 1000, 1100, 900)))
    for end in ends
]
FACTS: dict[str, Any] = {
    "measured": [
        {
            "task": "throughput",
            "size": 1024,
            "floors": {"device-copy": [90, 110, 100], "pinned-to-device": [50], "pinned-to-host": [50]},
            "hops": {"pycuda": [100], "nvrtc": [125], "wgpu": [40]},
            "kernels": {"nvrtc": [100], "wgpu": [200]},
            "chain": {"ns": [400, 300, 200]},
            "script": {"ns": [3000], "hops": [{"wgpu": 400}]},
            "shared": {"ns": [10]},
        }
    ],
    "cold": {"turns": COLD},
}
RATIOS = {
    "kernel-of-device-copy": "50 %",
    "copies-of-pinned-copies": "80 %",
    "wgpu-of-script": "1000 %",
    "chain-of-script": "1000 %",
    "chain-of-pinned-copies": "100 %",
    "shared-of-chain": "3000 %",
    "cold-of-script": "200 %",
}
"""Worked out by hand from the medians above."""


def run(facts: dict[str, Any] | None) -> Run:
    """Return a run of which only this gate is looked at."""
    speed = Throughput(chain="pipeline", sizes=(1024,), turns=3, floor_size=1024, floors=())
    gates = {} if facts is None else {"throughput": SimpleNamespace(facts=facts)}
    records = SimpleNamespace(gates=tuple(gates), receipt=lambda gate: gates[gate])
    document = SimpleNamespace(plan=SimpleNamespace(throughput=speed))
    return cast("Run", SimpleNamespace(records=records, document=document))


def changed(path: list[str | int], value: object) -> dict[str, Any]:
    """Return the facts with one value replaced."""
    facts = copy.deepcopy(FACTS)
    target: Any = facts
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return facts


def test_every_duration_is_a_timing_in_ascending_order() -> None:
    found = dict(measured(run(FACTS)))
    assert found["throughput/1024 values/chain"] == (200, 300, 400)
    assert found["throughput/1024 values/floors.device-copy"] == (90, 100, 110)
    assert found["throughput/cold start/chain"] == (400, 500, 600)  # the first turn fills the caches
    assert len(found) == 3 + 3 + 2 + 3 + 2


def test_each_ratio_is_worked_out_from_the_medians() -> None:
    found = {
        change.path: (change.kind, change.old, change.new) for change in speed_changes(run(None), run(FACTS))
    }
    assert found == {name: (Kind.NOT_COMPARABLE, "not recorded", ratio) for name, ratio in RATIOS.items()}


def test_only_what_differs_is_a_change() -> None:
    assert list(speed_changes(run(FACTS), run(FACTS))) == []
    slower = run(changed(["measured", 0, "kernels", "wgpu"], [250]))
    (change,) = speed_changes(run(FACTS), slower)
    assert (change.path, change.kind, change.old, change.new) == (
        "kernel-of-device-copy",
        Kind.CHANGED,
        "50 %",
        "40 %",
    )


@pytest.mark.parametrize("value", [None, [], ["x"], [0], "x", {}], ids=repr)
def test_what_is_malformed_is_not_comparable(value: object) -> None:
    broken = run(changed(["measured", 0, "chain", "ns"], value))
    paths = {change.path for change in speed_changes(run(FACTS), broken)}
    assert paths == {"chain-of-script", "chain-of-pinned-copies", "shared-of-chain"}
    assert all(all(durations) for _, durations in measured(broken))


def test_a_run_without_the_gate_has_no_speeds() -> None:
    assert not has_speeds(run(None))
    assert not has_speeds(run({}))
    assert not has_speeds(run({"measured": []}))
    assert has_speeds(run(FACTS))
    assert list(measured(run(None))) == []
