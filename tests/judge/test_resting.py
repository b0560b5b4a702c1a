"""Facts of a released, qualified run: what its claims rest on can neither be taken away nor exchanged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from assay.evidence.verify import verify_bundle
from assay.judge.table import GATES
from assay.model import Outcome, Verdict
from tests.evidence.forging import Document, Members, document, edit_json, forge, members_of
from tests.project.files import PROJECT, rejected_bundle

RECEIPTS = PROJECT / "receipts"
NAMED = re.findall(r"^\| `([^`]+\.tar)` \|", (RECEIPTS / "README.md").read_text(), re.MULTILINE)

COMMANDS = ("lint", "format", "types", "tests")

NOTHING_RESTS: Mapping[str, str] = {
    "environment.disclosed": "what the plan lets a bundle tell beyond need: nothing is claimed of it",
    "environment.ignored": "variables that were not used",
    "toolkit.layout": "a word for how the parts lie; each part is judged by its own place",
    "toolkit.looked": "where missing parts were looked for: none is missing",
    "toolkit.msvc": "toolsets of Windows, named in findings; the compiler itself is judged",
    "toolkit.stated": "what version.json says, for parts whose files show no version: each part has one",
    "build.changed": "files of an unclean tree: this one is clean, which is a fact of its own",
    "build.changed_count": "as ``changed``",
    "build.reason": "why there is no revision: there is one",
    "chain.lacking": "what kept the chain from running: every value is there",
    "chain.not_run": "as ``lacking``",
    "chain.mapped_data": "files mapped without execution: what is mapped to be run is judged",
    "chain.virtualisation": "told for readers; no tier is derived from it",
    **{
        f"{gate}.{fact}": "as in gate chain"
        for gate in ("hosted", "shared-buffers")
        for fact in ("lacking", "mapped_data", "not_run", "virtualisation")
    },
    **{f"{gate}.rehearsal": "null: nothing took a GPU's place" for gate in ("hosted", "shared-buffers")},
    **{
        f"shared-buffers.{fact}": "judged by gate chain, which this gate needs; what is mapped here is judged"
        for fact in ("device_nodes", "devices", "layers", "libcuda", "nvml", "preload", "proc", "provider")
    },
    "shared-buffers.adapter": "null: no wgpu here",
    "shared-buffers.chains": "the compilers' words; images are judged by their digests",
    "shared-buffers.unseen": "why nothing was seen: the mapped files are there",
    **{f"typescript.{fact}": "false or null: it ended by itself" for fact in ("abandoned", "held", "left")},
    "typescript.findings": "as of the other commands",
    "typescript.last_words": "as of the other commands",
    "typescript.tests": "as of the other commands",
    **{f"{gate}.last_words": "what a failed command said last: it ended with 0" for gate in COMMANDS},
    **{f"{gate}.findings": "a command that wrote none has null here, as a forger can" for gate in COMMANDS},
    **{f"{gate}.tests": "null: the plan asks for no counts" for gate in COMMANDS if gate != "tests"},
}
"""Facts that may be missing, and why nothing rests on them."""


@cache
def qualified() -> Path:
    """Return the released bundle that is qualified."""
    verdicts = {name: verify_bundle(RECEIPTS / name).verdict for name in NAMED}
    return RECEIPTS / next(str(name) for name, verdict in verdicts.items() if verdict is Verdict.QUALIFIED)


@cache
def rejected() -> Path:
    """Return the released bundle that is rejected; the newer gates passed in it."""
    return rejected_bundle()


def passed_in(bundle: Path) -> dict[str, Document]:
    """Return a bundle's passed receipts by gate."""
    _, members = members_of(bundle)
    receipts = [
        document(data) for name, data in members.items() if name.endswith(".json") and "/" not in name
    ]
    return {str(value["gate"]): value for value in receipts if value.get("outcome") == Outcome.PASSED.value}


@cache
def recorded() -> dict[str, Document]:
    """Return passed receipts by gate, of the qualified bundle where it has them."""
    return passed_in(rejected()) | passed_in(qualified())


def bundle_of(gate: str) -> tuple[Path, int]:
    """Return the bundle that a gate's receipt is of, and what verifying it comes to."""
    return (qualified(), 0) if gate in passed_in(qualified()) else (rejected(), 1)


def facts_of(gate: str) -> Document:
    facts = recorded()[gate]["facts"]
    assert isinstance(facts, dict)
    return facts


def exit_of(to: Path, gate: str, change: Callable[[dict[str, Any]], object]) -> int:
    """Return what verifying the bundle comes to with a receipt changed and linked again."""

    def edit(_manifest: Document, members: Members) -> None:
        edit_json(members, f"{gate}.json", change)  # type: ignore[arg-type]  # what an edit returns is dropped

    return verify_bundle(forge(bundle_of(gate)[0], to, edit), accept=["unanchored"]).exit_code


def test_the_bundle_itself_can_be_taken_apart_and_put_together(tmp_path: Path) -> None:
    assert exit_of(tmp_path / "same.tar", "lint", lambda _receipt: None) == 0
    assert exit_of(tmp_path / "other.tar", "vulkan", lambda _receipt: None) == 1


def without(fact: str) -> Callable[[dict[str, Any]], object]:
    """Return an edit that takes a fact away."""
    return lambda receipt: receipt["facts"].pop(fact)


@pytest.mark.parametrize("gate", recorded())
def test_a_fact_that_is_taken_away_is_missed_or_nothing_rests_on_it(tmp_path: Path, gate: str) -> None:
    missed = {
        f"{gate}.{fact}": exit_of(tmp_path / "forged.tar", gate, without(fact)) for fact in facts_of(gate)
    }
    _, unchanged = bundle_of(gate)
    free = {fact for fact, code in missed.items() if code == unchanged}
    assert free == {fact for fact in NOTHING_RESTS if fact in missed}
    assert set(missed.values()) <= {unchanged, 4}


def test_the_table_names_only_facts_that_there_are() -> None:
    there = {f"{gate}.{fact}" for gate in recorded() for fact in facts_of(gate)}
    assert set(NOTHING_RESTS) <= there
    assert {row.name for row in GATES} - {"references", "throughput"} <= set(recorded())


def put(path: str, value: object) -> Callable[[dict[str, Any]], object]:
    """Return an edit that puts a value at a dotted path of a receipt; ``*`` is every element of a list."""

    def at(target: Any, way: list[str]) -> None:  # noqa: ANN401  # a receipt of any depth
        key, *rest = way
        if key == "*":
            for index in range(len(target)):
                at(target, [str(index), *rest])
            return
        place: Any = int(key) if isinstance(target, list) else key
        if rest:
            at(target[place], rest)
        else:
            target[place] = value

    return lambda receipt: at(receipt, path.split("."))


EDITS: tuple[tuple[str, str, object], ...] = (
    *((gate, "commands.0.argv", ["true"]) for gate in COMMANDS),
    *((gate, "commands", []) for gate in (*COMMANDS, "installed")),
    ("lint", "commands.0.argv.2", "--exit-zero"),
    ("lint", "commands.0.argv.0", "/bin/true"),
    ("lint", "facts.program", "/bin/true"),
    ("lint", "facts.program", ""),
    ("lint", "commands.0.exit", 1),
    ("installed", "commands.4.argv.2", "pass"),
    ("installed", "commands.4.exit", 1),
    ("installed", "facts.installer", {}),
    ("toolkit", "facts.driver", {}),
    ("toolkit", "facts.driver", None),
    ("toolkit", "facts.devices", []),
    ("toolkit", "facts.nvcc", {}),
    ("toolkit", "facts.pathfinder", {}),
    ("toolkit", "facts.libcuda", {}),
    ("toolkit", "facts.nvml", {}),
    ("toolkit", "facts.builtins", {}),
    *(
        ("toolkit", f"facts.parts.{part}.real", "/opt/other/file")
        for part in ("nvcc", "nvrtc", "builtins", "cuda_h", "cudart", "nvvm")
    ),
    ("toolkit", "facts.loaded.nvrtc.real", "/opt/other/libnvrtc.so.13"),
    ("chain", "facts.chains.0.stages.0.entry", "other"),
    ("chain", "facts.chains.*.stages.*.entry", ""),
    ("chain", "facts.chains.0.stages.1.runs", []),
    ("chain", "facts.chains.0.stages.1.runs.0.grid", [0, 0, 0]),
    ("chain", "facts.chains.0.stages.0.transfers", []),
    ("chain", "facts.chains.0.stages.0.compiler", ""),
    ("chain", "facts.chains.0.stages.0.loaded.0.kind", "cubin"),
    ("chain", "facts.devices.after.name", "NVIDIA H100"),
    ("chain", "facts.nvml.after.driver_version", "1.0"),
    ("environment", "facts.site_packages", []),
    ("environment", "facts.modules", {}),
    ("environment", "facts.modules.pycuda", {}),
    ("environment", "facts.machine", {}),
    ("environment", "facts.source", ""),
    ("environment", "facts.explicit", False),
    ("provider", "facts.size", 0),
    ("provider", "facts.size", 1),
    ("provider", "facts.wgpu", {}),
    ("provider", "facts.machine", {}),
    ("provider", "facts.vulkan", {}),
    ("build", "facts.compile", {}),
    ("build", "facts.compile.compilers", {}),
    ("build", "facts.compile.child_sha256", "0" * 64),
    ("build", "facts.origin", ""),
)


@pytest.mark.parametrize(("gate", "path", "value"), EDITS)
def test_an_edited_receipt_is_found(tmp_path: Path, gate: str, path: str, value: object) -> None:
    assert exit_of(tmp_path / "forged.tar", gate, put(path, value)) == 4
