"""Gate ``typescript``: Bun's side passes; a wrong type, a lint error and another format each fail."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.hosted.typescript import HERE, SOURCES, check

FAULTS = {
    "a wrong type": ("errors.ts", '"HostError";', '"HostError" as unknown as number;'),
    "a rule of lint": ("plugin.ts", "plugin({", "debugger;\nplugin({"),
    "another format": ("gpu.ts", "const HEXADECIMAL = 16;", "const   HEXADECIMAL = 16;"),
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "hosted"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_sources_pass(sources: Path) -> None:
    assert check(sources) == 0


@pytest.mark.parametrize(("file", "right", "wrong"), FAULTS.values(), ids=FAULTS)
def test_each_tool_has_its_say(sources: Path, file: str, right: str, wrong: str) -> None:
    text = (sources / file).read_text()
    assert right in text
    (sources / file).write_text(text.replace(right, wrong, 1))
    assert check(sources) == 1


def test_the_lock_has_a_hash_for_each_package_and_no_address() -> None:
    text = (HERE / "bun.lock").read_text()
    assert "://" not in text
    wanted = json.loads((HERE / "package.json").read_text())["devDependencies"]
    for name, version in wanted.items():
        (line,) = [
            line for line in text.splitlines() if line.startswith(f'    "{name}": ["{name}@{version}"')
        ]
        assert '"sha512-' in line
