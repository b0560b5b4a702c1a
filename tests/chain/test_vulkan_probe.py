"""What the Vulkan loader lists, over a loader of the tests' own with the layouts of ``vulkan_core.h``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from assay.chain.vulkan_probe import MAX_DEVICES
from assay.selection import Selection
from tests.chain.support import DRIVER, child_of, compile_library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("loader") / "libvulkan.so.1"
    compile_library(DRIVER.with_name("libvulkan.c"), made)
    return made


class Loader:
    """Asks the part ``vulkan`` of a child over the tests' loader."""

    def __init__(self, selection: Selection, library: Path, scratch: Path) -> None:
        self.selection, self.library, self.scratch = selection, library, scratch

    def told(self, wish: str = "1") -> dict[str, Any]:
        given = {"LD_LIBRARY_PATH": str(self.library.parent), "ASSAY_VULKAN": wish}
        given["ASSAY_VULKAN_CLOSED"] = str(self.scratch / "closed")
        part: dict[str, Any] = child_of(self.selection, self.scratch, **given).probe("vulkan")["vulkan"]
        return part

    def closed(self) -> bool:
        """Say whether the instance was destroyed."""
        return os.path.lexists(self.scratch / "closed")


@pytest.fixture
def loader(selection: Selection, library: Path, tmp_path: Path) -> Loader:
    return Loader(selection, library, tmp_path)


def test_loader_device_and_driver_are_told_and_the_instance_is_given_back(loader: Loader) -> None:
    assert loader.told()["facts"] == {
        "loader": "1.3.250",
        "devices": [
            {
                "api": "1.3.250",
                "device": 0x2335,
                "driver_id": 4,
                "driver_info": "580.159.04",
                "driver_name": "NVIDIA",
                "name": "NVIDIA H200",
                "type": "discrete",
                "vendor": 0x10DE,
            }
        ],
    }
    assert loader.closed()


def test_a_device_of_an_older_vulkan_is_not_asked_for_its_driver(loader: Loader) -> None:
    _, second = loader.told("2")["facts"]["devices"]
    assert (second["name"], second["type"], second["api"]) == ("Other", "cpu", "1.1.250")
    assert (second["driver_id"], second["driver_info"], second["driver_name"]) == (None, None, None)


@pytest.mark.parametrize(("there", "told"), [("0", 0), (str(MAX_DEVICES + 1), MAX_DEVICES)])
def test_no_device_and_too_many_are_answers_too(there: str, told: int, loader: Loader) -> None:
    assert len(loader.told(there)["facts"]["devices"]) == told
    assert loader.closed()


@pytest.mark.parametrize(
    ("wish", "code", "name", "kind"),
    [
        ("refuse", -9, "VK_ERROR_INCOMPATIBLE_DRIVER", "unavailable"),
        ("memory", -1, "VK_ERROR_OUT_OF_HOST_MEMORY", "failed"),
    ],
)
def test_what_vulkan_refuses_is_told_by_name(
    wish: str, code: int, name: str, kind: str, loader: Loader
) -> None:
    error = loader.told(wish)["error"]
    assert (error["code"], error["reason"], error["kind"]) == (code, name, kind)
    assert not loader.closed()


def test_a_loader_that_is_no_library_is_unavailable(selection: Selection, tmp_path: Path) -> None:
    (tmp_path / "libvulkan.so.1").write_bytes(b"\x7fELF")
    child = child_of(selection, tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    error = child.probe("vulkan")["vulkan"]["error"]
    assert (error["reason"], error["kind"]) == ("library-missing", "unavailable")
