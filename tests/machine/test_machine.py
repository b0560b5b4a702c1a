"""The machine as a whole: the real one, a fake one from its folder, and an image under any root."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from assay.errors import StorageError, UsageError
from assay.machine import Machine
from assay.model import Platform
from tests.machines.building import Builder


def test_the_real_machine_is_this_one() -> None:
    machine = Machine.real()
    assert machine.is_real
    assert machine.probes is None
    assert machine.env == dict(os.environ)
    assert machine.is_file(sys.executable)
    assert machine.resolve(sys.executable) == os.path.realpath(sys.executable)
    with Path(machine.resolve(sys.executable)).open("rb") as stream:
        expected = hashlib.file_digest(stream, "sha256").hexdigest()
    assert machine.sha256(sys.executable)[0] == expected


def test_the_environment_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        Machine.real().env["PATH"] = "/evil"  # type: ignore[index]  # that it cannot be set is what is tested


def test_a_fake_machine_is_read_from_its_folder(tmp_path: Path) -> None:
    build = Builder(tmp_path / "machine")
    build.file("/etc/hello", "there")
    machine = build.machine(
        {"A": "1"}, stated={"arch": "aarch64", "cwd": "/etc"}, probes={"nvml": {"error": 18}}
    )
    assert not machine.is_real
    assert machine.env == {"A": "1"}
    assert machine.probes == {"nvml": {"error": 18}}
    assert (machine.arch, machine.platform) == ("aarch64", Platform.LINUX)
    assert machine.read_text("hello") == "there"
    assert machine.read_bytes("/etc/hello", 5) == b"there"
    assert machine.peek("/etc/none").problem == "missing"
    assert (machine.size("/etc/hello"), machine.is_dir("/etc"), machine.is_link("/etc")) == (5, True, False)
    assert machine.listdir("/etc") == ("hello",)
    assert machine.glob("/etc/h*") == ("/etc/hello",)
    assert machine.exists("/etc/hello")
    assert machine.view.host("/etc/hello") == build.root / "etc/hello"
    assert machine.paths.join("a", "b") == "a/b"


def test_a_fake_machine_needs_an_environment(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with pytest.raises(StorageError, match=r"env\.json"):
        Machine.fake(tmp_path)
    (tmp_path / "env.json").write_text("{}")
    assert Machine.fake(tmp_path).probes == {}
    (tmp_path / "machine.json").write_text("{]")
    with pytest.raises(UsageError, match=r"machine\.json"):
        Machine.fake(tmp_path)


def test_a_root_states_itself_when_only_its_folder_is_given(tmp_path: Path) -> None:
    build = Builder(tmp_path / "machine")
    build.machine(stated={"os": "windows", "arch": "aarch64"})
    machine = Machine(build.root, {"SystemRoot": "C:\\Windows"})
    assert (machine.platform, machine.arch) == (Platform.WINDOWS, "aarch64")
    assert machine.getenv("SYSTEMROOT") == "C:\\Windows"
    assert machine.paths.join("a", "b") == "a\\b"
    (build.root / "machine.json").write_text(json.dumps({"os": "linux"}))
    assert Machine(build.root, {}).platform is Platform.LINUX


def test_variables_differ_by_case_except_on_windows(tmp_path: Path) -> None:
    assert Machine(tmp_path, {"Path": "x"}).getenv("PATH", "none") == "none"
    assert Machine(tmp_path, {"PATH": "x"}).getenv("PATH") == "x"


def test_a_list_is_split_as_the_platform_does(tmp_path: Path) -> None:
    build = Builder(tmp_path / "machine")
    assert build.machine().split_path("/a:/b c/") == ("/a", "/b c/")
    assert build.machine(stated={"os": "windows"}).split_path('"C:\\a b";D:\\') == ("C:\\a b", "D:\\")
