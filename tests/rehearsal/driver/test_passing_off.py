"""A whole rehearsal by the real engine, and attempts to have it taken for a run on a GPU; all fail."""

from __future__ import annotations

import copy
import io
import itertools
import json
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.canonical import digest
from assay.engine.prepare import Prepared
from assay.evidence.verify import verify_bundle
from assay.gates.chain import observe
from assay.judge.chain import judge
from assay.judge.marks import CPU_DEVICE
from assay.judge.reading import mapping, objects, text
from assay.judge.tier import derive_tier, gaps
from assay.model import Outcome, Tier, Verdict
from assay.plan import load_plan, plan_json
from assay.provision.cpu_driver import CpuDriver
from assay.rehearsal.driver.devices import UUID_TEXT
from assay.selection import Selection
from tests.conftest import PROJECT
from tests.gates.running import bench
from tests.judge.chainfacts import DRIVER, make_case
from tests.rehearsal.driver.rehearsing import Rehearsed, rehearse_into, with_gates

Document = dict[str, Any]


@pytest.fixture(scope="module")
def rehearsed(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Rehearsed:
    """Return one rehearsal of this project, both of its chains."""
    assert selection.executable
    return rehearse_into(tmp_path_factory.mktemp("receipts"))


def chain_facts(rehearsed: Rehearsed) -> Document:
    """Return the facts of gate chain, to be changed."""
    facts: Document = copy.deepcopy(json.loads(json.dumps(rehearsed.ran.results["chain"].facts)))
    return facts


def test_the_whole_run_is_rehearsed_with_every_gate_passed(rehearsed: Rehearsed) -> None:
    receipts = {name: done.receipt for name, done in rehearsed.ran.results.items()}
    assert {name: each.outcome for name, each in receipts.items()} == dict.fromkeys(receipts, Outcome.PASSED)
    assert receipts["chain"].findings == ()
    assert rehearsed.verified.intact
    assert rehearsed.verified.verdict is Verdict.REHEARSED
    assert rehearsed.verified.tier is Tier.REHEARSAL


def test_no_line_of_it_says_qualified(rehearsed: Rehearsed) -> None:
    assert "qualified" not in json.dumps(rehearsed.verified.to_json())


def test_it_ran_on_the_cpu_s_driver_and_a_software_adapter_and_says_so(rehearsed: Rehearsed) -> None:
    facts = chain_facts(rehearsed)
    assert text(facts, "devices.after.uuid") == UUID_TEXT == CPU_DEVICE
    assert text(facts, "adapter.adapter_type") == "CPU"
    assert "llvmpipe" in text(facts, "adapter.device")
    report = mapping(facts, "rehearsal.report")
    loaded = {text(each, "sha256") for each in objects(report, "modules")}
    ptx = [
        image
        for chain in objects(facts, "chains")
        for stage in objects(chain, "stages")
        for image in objects(stage, "loaded")
        if text(image, "kind") == "ptx"
    ]
    assert ptx
    assert {text(image, "sha256") for image in ptx} == loaded
    assert text(facts, "rehearsal.nvcc.sha256")


def claims_proc(facts: Document) -> None:
    """Show a kernel module that knows the device, as a bind mount over /proc would."""
    for when in ("before", "after"):
        gpu = {"GPU UUID": CPU_DEVICE, "bus": "0000:00:00.0", "Model": "NVIDIA H200"}
        module = {"flavour": "open", "problem": "", "text": f"NVRM version: {DRIVER}", "version": DRIVER}
        facts["proc"][when] = {"gpus": [gpu], "module": module, "modules": {"nvidia": DRIVER}}


def claims_nvml(facts: Document) -> None:
    """Show an NVML that knows the device."""
    for when in ("before", "after"):
        name = facts["devices"][when]["name"]
        gpu = {"name": name, "pci": {"bus": "00000000:00:00.0"}, "uuid": CPU_DEVICE}
        facts["nvml"][when] = {"driver_version": DRIVER, "gpus": [gpu]}


def claims_library(facts: Document) -> None:
    """Show the library in the system's place, under the driver's name and version."""
    where = f"/usr/lib/x86_64-linux-gnu/libcuda.so.{DRIVER}"
    for each in facts["mapped"]:
        each["path"] = where if "libcuda" in each["path"] else each["path"]
    facts["libcuda"] = {"path": where, "told_by": "file name", "version": DRIVER}


def claims_nodes(facts: Document) -> None:
    """Show the child with a GPU's device nodes open."""
    facts["device_nodes"] = ["/dev/nvidia0", "/dev/nvidiactl"]


def hides_rehearsal(facts: Document) -> None:
    """Leave out what took the GPU's place."""
    facts["rehearsal"] = None


LIES = (claims_proc, claims_nvml, claims_library, claims_nodes, hides_rehearsal)


@pytest.mark.parametrize("count", range(len(LIES) + 1))
def test_no_set_of_edited_facts_makes_it_physical(rehearsed: Rehearsed, count: int) -> None:
    for lies in itertools.combinations(LIES, count):
        facts = chain_facts(rehearsed)
        for lie in lies:
            lie(facts)
        case = make_case(plan=dict(plan_json(load_plan(PROJECT))))
        assert derive_tier(case, facts) is not Tier.PHYSICAL, [lie.__name__ for lie in lies]
        assert gaps(Tier.PHYSICAL, case, facts)


def edited(bundle: Path, target: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """Return a copy of a bundle with members changed."""
    with tarfile.open(bundle) as source, tarfile.open(target, "w") as made:
        for member in source:
            stream = source.extractfile(member)
            data = change(member.name, stream.read() if stream else b"")
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return target


def test_an_edited_receipt_breaks_the_bundle(rehearsed: Rehearsed, tmp_path: Path) -> None:
    def change(name: str, data: bytes) -> bytes:
        return (
            data.replace(b'"device_nodes":[]', b'"device_nodes":["/dev/nvidia0"]')
            if name == "chain.json"
            else data
        )

    forged = edited(rehearsed.bundle, tmp_path / "forged.tar", change)
    assert forged.read_bytes() != rehearsed.bundle.read_bytes()
    assert not verify_bundle(forged, expect_digest=rehearsed.digest).intact


def test_a_plan_that_is_edited_to_physical_breaks_the_bundle(rehearsed: Rehearsed, tmp_path: Path) -> None:
    def change(name: str, data: bytes) -> bytes:
        gpu = b'"tier":"physical"'
        return data.replace(b'"tier":"rehearsal"', gpu) if name == "plan.json" else data

    forged = edited(rehearsed.bundle, tmp_path / "forged.tar", change)
    assert not verify_bundle(forged, expect_digest=rehearsed.digest).intact


def as_physical(prepared: Prepared) -> Prepared:
    """Return a rehearsal of the chain alone whose plan claims a GPU."""
    alone = with_gates(prepared, "chain").plan
    plan = replace(alone, tier=Tier.PHYSICAL, tiers=load_plan(PROJECT).tiers)
    return replace(prepared, plan=plan, plan_digest=digest(plan_json(plan)))


def test_a_rehearsal_planned_as_physical_is_not_decided_for_it(rehearsed: Rehearsed, tmp_path: Path) -> None:
    done = rehearse_into(tmp_path, as_physical)
    assert done.verified.verdict in {Verdict.UNDECIDED, Verdict.REJECTED}
    assert "REHEARSAL-MISPLACED" in {each.id for each in done.ran.results["chain"].receipt.findings}
    assert rehearsed.verified.verdict is Verdict.REHEARSED


@pytest.mark.parametrize("name", ["libcuda.so.1", f"libcuda.so.{DRIVER}"])
def test_a_driver_brought_in_by_the_environment_is_no_gpu(
    selection: Selection, cpu_driver: CpuDriver, tmp_path: Path, name: str
) -> None:
    moved = tmp_path / "driver"
    shutil.copytree(cpu_driver.folder, moved)
    (moved / "libcuda.so.1").rename(moved / f"real-{name}")
    (moved / f"real-{name}").rename(moved / name)
    if name != "libcuda.so.1":
        (moved / "libcuda.so.1").symlink_to(name)
    plan = {**plan_json(load_plan(PROJECT)), "chains": {"linux": ["cuda-only"]}, "tier": "physical"}
    environ = {"LD_LIBRARY_PATH": str(moved), "ASSAY_REHEARSAL_REPORT": str(tmp_path / "report")}
    with bench(tmp_path, plan=plan, project=PROJECT, selection=selection.values, environ=environ) as on:
        facts = on.observe(observe)
        found, tier = judge(on.case(), facts), derive_tier(on.case(), facts)
    assert text(facts, "devices.after.uuid") == CPU_DEVICE
    assert tier is not Tier.PHYSICAL
    assert {"CHAIN-TIER-UNSHOWN", "CHAIN-TIER-OTHER"} & {each.id for each in found}
    assert facts["rehearsal"] is None
