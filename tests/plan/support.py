"""A small plan that is valid, for tests to change one key at a time."""

from __future__ import annotations

import copy
from typing import Any

SHA = "ab" * 32

STAGES = [
    {
        "name": "double",
        "runtime": "pycuda",
        "source": "double.cu",
        "sha256": SHA,
        "entry": "double_it",
        "input": "values",
        "expect": "2*x",
        "compare": "bits",
    },
    {
        "name": "add-one",
        "runtime": "wgpu",
        "source": "add.wgsl",
        "sha256": SHA,
        "entry": "main",
        "input": "previous",
        "expect": "x+1",
        "compare": "bits",
    },
]

PLAN: dict[str, Any] = {
    "project": "gpu-thing",
    "modules": ["thing"],
    "tier": "physical",
    "architectures": ["sm_90", "sm_75"],
    "gates": ["environment", "toolkit", "provider", "build", "chain", "lint"],
    "command": [{"name": "lint", "argv": ["python", "-m", "ruff", "check"], "deadline": 60}],
    "deadlines": {"chain": 120},
    "versions": {"linux": {"python": ">=3.11,<3.15", "cuda": "==13.0.*"}},
    "provider": [
        {
            "name": "wgpu-native",
            "platform": "linux",
            "interface": "wgpu-native",
            "sha256": SHA,
            "symbols": ["a"],
        }
    ],
    "backend": {"linux": "Vulkan"},
    "chains": {"linux": ["pipeline"]},
    "kernels": {"pipeline": {"sha256": SHA, "values": {"start": 0, "count": 37}, "stage": STAGES}},
    "smoke": ["python", "-m", "thing"],
    "claim": [
        {"id": "chain-exact", "text": "the chain is exact", "gates": ["chain"]},
        {"id": "shared-buffers", "text": "buffers are shared", "gates": []},
    ],
}


def plan_table() -> dict[str, Any]:
    """Return a fresh copy of the plan."""
    return copy.deepcopy(PLAN)


def changed(path: str, value: object, table: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a plan (that of ``plan_table``) with the value at a dotted path replaced; ``...`` removes it."""
    plan = copy.deepcopy(table) if table is not None else plan_table()
    target: Any = plan
    *way, last = path.split(".")
    for part in way:
        target = target[int(part)] if isinstance(target, list) else target[part]
    key: Any = int(last) if isinstance(target, list) else last
    if value is ...:
        del target[key]
    else:
        target[key] = value
    return plan
