"""The comparison with ``nvidia-smi -q -x``: what agrees, what does not, and what only one of them has."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engine.diagnose import Wanted, diagnose
from assay.engine.diagnosed import to_json
from tests.gates.smi_compare import compare
from tests.machines.described import build

XML = """<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
  <driver_version>580.159.04</driver_version>
  <cuda_version>13.0</cuda_version>
  <attached_gpus>1</attached_gpus>
  <gpu id="00000000:00:06.0">
    <product_name>NVIDIA H200</product_name>
    <display_active>Disabled</display_active>
    <persistence_mode>Enabled</persistence_mode>
    <mig_mode><current_mig>Disabled</current_mig><pending_mig>Disabled</pending_mig></mig_mode>
    <uuid>GPU-4b1ae1a1-c3e2-f709-11d2-a8b0c4d5e6f0</uuid>
    <vbios_version>96.00.A5.00.1A</vbios_version>
    <gsp_firmware_version>580.159.04</gsp_firmware_version>
    <pci><pci_bus_id>00000000:00:06.0</pci_bus_id></pci>
    <clocks_event_reasons>
      <clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle>
      <clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>
      <clocks_event_reason_sw_thermal_slowdown>Not Active</clocks_event_reason_sw_thermal_slowdown>
    </clocks_event_reasons>
    <fb_memory_usage><total>143771 MiB</total></fb_memory_usage>
    <compute_mode>Default</compute_mode>
    <ecc_mode><current_ecc>Enabled</current_ecc><pending_ecc>Enabled</pending_ecc></ecc_mode>
    <remapped_rows>
      <remapped_row_pending>No</remapped_row_pending>
      <remapped_row_failure>No</remapped_row_failure>
    </remapped_rows>
    <retired_pages><pending_retirement>N/A</pending_retirement></retired_pages>
  </gpu>
</nvidia_smi_log>
"""


def differing(xml: str, folder: Path) -> list[str]:
    """Return the facts in which a healthy H200 and a text differ; of what ``/proc`` says none."""
    build("healthy", "driver-own-folder", folder / "machine")
    (folder / "project").mkdir()
    diagnosis = to_json(diagnose(Wanted(folder / "project", root=folder / "machine")))
    compared = compare(diagnosis, xml)
    assert len(compared) > 20
    return [each.fact for each in compared if each.assay != each.smi and "in /proc" not in each.fact]


def test_a_machine_that_says_the_same_agrees(tmp_path: Path) -> None:
    assert differing(XML, tmp_path) == []


@pytest.mark.parametrize(
    ("said", "other", "fact"),
    [
        ("<cuda_version>13.0<", "<cuda_version>13.1<", "CUDA version"),
        ("NVIDIA H200<", "NVIDIA H100<", "0000:00:06.0 name"),
        ("143771 MiB", "143772 MiB", "0000:00:06.0 memory in MiB"),
        ("<persistence_mode>Enabled", "<persistence_mode>Disabled", "0000:00:06.0 persistence"),
        ("<pending_ecc>Enabled", "<pending_ecc>Disabled", "0000:00:06.0 ECC after a reset"),
        ("<current_mig>Disabled", "<current_mig>Enabled", "0000:00:06.0 MIG"),
        ("row_pending>No<", "row_pending>Yes<", "0000:00:06.0 rows to be remapped: pending"),
        ("hw_slowdown>Not Active<", "hw_slowdown>Active<", "0000:00:06.0 clocks: hardware slowdown"),
        ("<compute_mode>Default", "<compute_mode>Something", "0000:00:06.0 compute mode"),
        ("GPU-4b1a", "GPU-4b1b", "0000:00:06.0 UUID"),
    ],
)
def test_one_other_word_is_one_disagreement(tmp_path: Path, said: str, other: str, fact: str) -> None:
    assert said in XML
    assert differing(XML.replace(said, other), tmp_path) == [fact]


def test_another_gpu_disagrees_in_all(tmp_path: Path) -> None:
    assert len(differing(XML.replace("00:06.0", "00:07.0"), tmp_path)) > 10
