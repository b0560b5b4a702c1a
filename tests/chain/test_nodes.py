"""Which device nodes may be opened: those that are there, each with the error that opening it gives."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from assay.chain import nodes


def test_each_node_that_is_there_is_opened_and_closed(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "dxg", "null", "nvidia-modeset"):
        (tmp_path / name).touch()
    before = sorted(Path("/proc/self/fd").iterdir())
    told = nodes.facts(tmp_path)["nodes"]
    assert told == [
        {"error": "", "path": str(tmp_path / name)}
        for name in ("nvidiactl", "nvidia-uvm", "dxg", "nvidia0", "nvidia11")
    ]
    assert sorted(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize("code", [errno.EPERM, errno.EACCES, errno.ENXIO, errno.ENODEV])
def test_a_node_that_is_denied_has_the_name_of_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (tmp_path / "nvidiactl").touch()

    def refused(path: object, _flags: int) -> int:
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(os, "open", refused)
    assert nodes.facts(tmp_path) == {
        "nodes": [{"error": errno.errorcode[code], "path": str(tmp_path / "nvidiactl")}]
    }


def test_a_machine_without_any_has_none(tmp_path: Path) -> None:
    assert nodes.facts(tmp_path) == {"nodes": []}
