"""NVML's and the kernel's word on the device."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from assay.gates.chain_machine import nvml_facts, proc_facts, virtualisation_facts
from assay.gates.probes import LiveProbes, RecordedProbes
from assay.machine import Machine
from assay.machine.stated import Stated
from tests.gates.running import bench
from tests.judge.chainfacts import plan_document


@pytest.mark.parametrize("disclosed", [[], ["gpu-serial"]])
def test_serial_numbers_are_asked_for_only_where_the_plan_discloses_them(
    tmp_path: Path, disclosed: list[str]
) -> None:
    plan = {**plan_document(), "disclose": disclosed}
    with bench(tmp_path, plan=plan, selection={"BUN_PYTHON_EXECUTABLE": "/bin/false"}) as on:
        assert "problem" in nvml_facts(LiveProbes(on.context))
    (command,) = on.context.commands
    assert ("--serial" in command.argv) is bool(disclosed)


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ({"facts": {"driver_version": "580.1"}}, {"driver_version": "580.1"}),
        ("timeout", {"problem": "deadline"}),
        ({"error": {"message": "NVML: mismatch"}}, {"problem": "NVML: mismatch"}),
    ],
)
def test_nvml_answers_hangs_or_says_why_not(answer: object, facts: dict[str, str]) -> None:
    assert nvml_facts(RecordedProbes({"chain": {"nvml": answer}})) == facts  # type: ignore[dict-item]  # JSON


def test_nvml_that_was_not_asked_has_a_problem() -> None:
    assert "problem" in nvml_facts(RecordedProbes({}))


def test_the_kernel_modules_files_are_recorded(tmp_path: Path) -> None:
    files = {
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04\n",
        "proc/driver/nvidia/gpus/0000:00:07.0/information": "Model: \t NVIDIA H200\nGPU UUID: \t GPU-1\n",
        "sys/module/nvidia/version": "580.159.04\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    machine = Machine(tmp_path, MappingProxyType({}), Stated(os="linux", arch="x86_64"))
    facts = proc_facts(machine)
    assert facts["gpus"] == [{"GPU UUID": "GPU-1", "Model": "NVIDIA H200", "bus": "0000:00:07.0"}]
    assert facts["modules"] == {"nvidia": "580.159.04"}
    module = facts["module"]
    assert isinstance(module, dict)
    assert (module["flavour"], module["version"], module["problem"]) == ("open", "580.159.04", "")


def test_a_machine_without_a_driver_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path, MappingProxyType({}), Stated(os="linux", arch="x86_64"))
    assert proc_facts(machine)["gpus"] == []
    assert virtualisation_facts(machine) == {
        "container": "",
        "hypervisor": False,
        "product": "",
        "vendor": "",
    }
