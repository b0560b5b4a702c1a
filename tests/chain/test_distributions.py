"""The packages of the selected interpreter, and what would shadow them."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from assay.chain import distributions

RECORD = (
    b"wgpu/__init__.py,sha256=x,1\r\nwgpu-9.8.7.dist-info/RECORD,,\r\nwgpu-9.8.7.dist-info/METADATA,,\r\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(folder: Path, name: str, version: str, record: bytes | None) -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    if record is not None:
        (info / "RECORD").write_bytes(record)


def told(folder: Path) -> list[dict[str, object]]:
    everything: list[dict[str, object]] = distributions.facts()["distributions"]  # type: ignore[assignment]  # a list
    return [one for one in everything if one["location"] == str(folder)]


def test_a_distribution_is_told_with_the_digest_of_its_record(folder: Path) -> None:
    install(folder, "wgpu", "9.8.7", RECORD)
    assert told(folder) == [
        {
            "location": str(folder),
            "name": "wgpu",
            "record_sha256": hashlib.sha256(RECORD).hexdigest(),
            "version": "9.8.7",
        }
    ]


def test_names_are_compared_as_pypi_does(folder: Path) -> None:
    install(folder, "NVIDIA_cuda.nvrtc", "13.0.88", None)
    assert [(one["name"], one["record_sha256"]) for one in told(folder)] == [("nvidia-cuda-nvrtc", None)]


@pytest.mark.parametrize("name", ["requests", "cudax", "numpy-financial", "not-cuda-python"])
def test_others_are_nobodys_business(folder: Path, name: str) -> None:
    install(folder, name, "1.0", None)
    assert told(folder) == []


def test_a_local_module_that_shadows_a_package_is_seen_and_not_run(folder: Path) -> None:
    (folder / "wgpu.py").write_text("raise SystemExit('it was run')\n")
    assert distributions.shadow()["wgpu"] == {
        "file": str(folder / "wgpu.py"),
        "folders": [],
        "loader": "SourceFileLoader",
    }


def test_a_namespace_is_told_by_its_folders(folder: Path) -> None:
    (folder / "cuda" / "bindings").mkdir(parents=True)
    told_of_cuda = distributions.shadow()["cuda"]
    assert isinstance(told_of_cuda, dict)
    assert told_of_cuda["file"] is None
    assert str(folder / "cuda") in told_of_cuda["folders"]


def test_what_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.setattr("sys.path_importer_cache", {})
    for name in distributions.IMPORTED:
        monkeypatch.delitem(sys.modules, name, raising=False)  # another test may have imported it
    assert distributions.shadow() == dict.fromkeys(distributions.IMPORTED)
