"""Gates ``abi`` and ``vulkan`` over hostile files: whatever lies there is judged, and never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.model import Facts, Outcome, outcome_of
from tests.gates.configured import run_gates
from tests.machines.build_elf import elf_bytes
from tests.machines.described import Described, build

WHOLE = elf_bytes(
    soname="libx.so",
    needed=["libstdc++.so.6", "libc.so.6"],
    needs={"libstdc++.so.6": ["GLIBCXX_3.4.32"], "libc.so.6": ["GLIBC_2.34"]},
    exports=["one"],
)
SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """Return a library with some bytes changed, or cut off, or any bytes at all."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=300))
    data = bytearray(WHOLE[: draw(st.integers(0, len(WHOLE)))])
    for _ in range(draw(st.integers(0, 6)) if data else 0):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return bytes(data)


def looked(described: Described, folder: Path, gate: str) -> Facts:
    """Run a machine's one gate; what it says must come to an outcome and to JSON."""
    seen = run_gates(described, folder)
    assert outcome_of(seen.findings[gate]) in {Outcome.PASSED, Outcome.FAILED, Outcome.UNAVAILABLE}
    assert "FACTS-MALFORMED" not in seen.ids(gate)
    json.dumps(seen.facts[gate])
    return seen.facts[gate]


@SETTINGS
@given(extension=spoilt(), library=spoilt())
def test_any_bytes_as_extension_module_and_library_come_to_findings(
    extension: bytes, library: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("abi")
    described = build("healthy", "abi-extension", folder / "machine")
    machine = described.machine
    machine.view.host("/usr/lib/x86_64-linux-gnu/libstdc++.so.6").write_bytes(library)
    (path,) = machine.glob("/opt/app/lib/python3.12/site-packages/pycuda/*.so")
    machine.view.host(path).write_bytes(extension)
    files: Any = looked(described, folder, "abi")["files"]
    assert [file["what"] for file in files].count("extension module") == 1


@SETTINGS
@given(manifest=st.binary(max_size=200), library=spoilt())
def test_any_bytes_as_manifest_and_driver_come_to_findings(
    manifest: bytes, library: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("vulkan")
    described = build("healthy", "vulkan-etc", folder / "machine")
    machine = described.machine
    extra = machine.root / "usr/share/vulkan/icd.d"
    extra.mkdir(parents=True)
    (extra / "other_nvidia.json").write_bytes(manifest)
    machine.view.host("/usr/lib/x86_64-linux-gnu/libGLX_nvidia.so.0").write_bytes(library)
    child: Any = looked(described, folder, "vulkan")["child"]
    assert len(child["manifests"]) == 2
