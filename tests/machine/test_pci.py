"""GPUs on the PCI bus: NVIDIA's display controllers with what is bound to them, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import pci
from assay.machine.pci import DEVICES, LIST, PciGpu
from tests.machines.building import Builder

LISTED = "0000\t80860d57\t0\t0\t0\n0108\t10de2335\t29\t0\t0\tnvidia\n"
"""Two lines of the kernel's list: an Intel host bridge, an H200."""


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


def device(build: Builder, bus: str, numbers: str, driver: str = "") -> None:
    """Add a device as sysfs has it; ``numbers`` are vendor, class and device."""
    folder = f"{DEVICES}/{bus}"
    for name, value in zip(("vendor", "class", "device"), numbers.split(" "), strict=True):
        build.file(f"{folder}/{name}", f"{value}\n")
    if driver:
        build.link(f"{folder}/driver", f"../../../bus/pci/drivers/{driver}")


def test_display_controllers_of_nvidia_are_gpus_and_their_sound_is_not(build: Builder) -> None:
    device(build, "0000:00:00.0", "0x8086 0x060000 0x0d57")
    device(build, "0000:01:00.0", "0x10de 0x030000 0x2684", "nvidia")
    device(build, "0000:01:00.1", "0x10de 0x040300 0x22ba", "snd_hda_intel")
    device(build, "0000:1b:00.0", "0x10de 0x030200 0x2335", "vfio-pci")
    device(build, "0000:1c:00.0", "0x10de 0x030200 0x2335")
    device(build, "0000:86:00.0", "0x10de 0x068000 0x1af1")
    assert pci.gpus(build.machine()) == (
        PciGpu("0000:01:00.0", 0x2684, "nvidia"),
        PciGpu("0000:1b:00.0", 0x2335, "vfio-pci"),
        PciGpu("0000:1c:00.0", 0x2335, ""),
    )


def test_devices_behind_links_are_found_as_the_kernel_lays_them_out(build: Builder) -> None:
    below = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
    for name, value in (("vendor", "0x10de"), ("class", "0x030000"), ("device", "0x2b85")):
        build.file(f"{below}/{name}", f"{value}\n")
    build.link(f"{below}/driver", "../../../../bus/pci/drivers/nouveau")
    build.link(f"{DEVICES}/0000:01:00.0", "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0")
    assert pci.gpus(build.machine()) == (PciGpu("0000:01:00.0", 0x2B85, "nouveau"),)


def test_a_list_without_nvidia_spares_the_folders(build: Builder) -> None:
    device(build, "0000:01:00.0", "0x10de 0x030000 0x2684")
    build.file(LIST, LISTED)
    assert [gpu.bus for gpu in pci.gpus(build.machine())] == ["0000:01:00.0"]
    build.file(LIST, LISTED.replace("10de", "1002"))
    assert pci.gpus(build.machine()) == ()


def test_a_machine_without_a_bus_has_no_gpu(build: Builder) -> None:
    assert pci.gpus(build.machine()) == ()
    build.file(DEVICES, "no folder")
    assert pci.gpus(build.machine()) == ()


def test_a_driver_that_is_a_loop_is_none(build: Builder) -> None:
    device(build, "0000:01:00.0", "0x10de 0x030000 0x2684")
    build.link(f"{DEVICES}/0000:01:00.0/driver", "driver")
    assert pci.gpus(build.machine()) == (PciGpu("0000:01:00.0", 0x2684, ""),)


@pytest.mark.parametrize("kind", ["", "x", "0x", "3", "0x0300000000", "-0x030000"])
def test_a_class_that_is_no_number_is_no_display(build: Builder, kind: str) -> None:
    device(build, "0000:01:00.0", f"0x10de {kind} 0x2684")
    assert pci.gpus(build.machine()) == ()


def test_gigantic_and_denied_attributes_are_passed_over(build: Builder) -> None:
    device(build, "0000:01:00.0", "0x10de 0x030000 0x2684")
    device(build, "0000:02:00.0", "0x10de 0x030000 0x2684")
    with build.file(f"{DEVICES}/0000:01:00.0/vendor").open("r+b") as stream:
        stream.truncate(1 << 30)
    denied = build.machine(stated={"denied": [f"{DEVICES}/0000:02:00.0/class"]})
    assert pci.gpus(denied) == ()


@given(text=st.text(max_size=30))
def test_no_attribute_is_too_odd(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    build = Builder(tmp_path_factory.mktemp("odd") / "machine")
    device(build, "0000:01:00.0", "0x10de 0x030000 0x2684")
    build.file(f"{DEVICES}/0000:01:00.0/device", text)
    (gpu,) = pci.gpus(build.machine())
    assert 0 <= gpu.device <= 0xFFFFFFFF
