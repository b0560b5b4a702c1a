"""Real bundles, judged by the real rules: every released one has a page that says what is in it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from assay import nox
from assay.evidence.toolchain import toolchain_bytes
from assay.report.document import write_report
from assay.report.page import render
from tests.project.files import PROJECT
from tests.report.billing import billed
from tests.report.markup import told
from tests.report.worlds import WANTED, view

RECEIPTS = PROJECT / "receipts"
H200 = "20261130T205642Z-1817c1ea.tar"
RELEASED = nox.released(RECEIPTS)

MAX_BYTES = 200_000
"""A page of a usual bundle stays small enough to be sent about."""


@pytest.mark.parametrize("name", sorted(RELEASED))
def test_every_released_bundle_has_a_page(name: str, tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    wanted = replace(WANTED, expect_digest=RELEASED[name])
    verified, written = write_report(RECEIPTS / name, wanted, target, readers=True)
    assert (verified.anchored, written) == (True, True)
    assert target.stat().st_size < MAX_BYTES
    assert told(target.read_bytes(), "#claims .claims:not(.open) .by") == [
        ", ".join(claim.gates) for claim in verified.claims.established
    ]


def test_a_copy_that_runs_from_a_zip_gives_the_same_page(tmp_path: Path) -> None:
    """The templates are data of the package, wherever it lies."""
    copy, pages = tmp_path / "assay.pyz", [tmp_path / f"{number}.html" for number in range(2)]
    copy.write_bytes(toolchain_bytes())
    for start, page in zip(([str(copy)], ["-m", "assay.cli"]), pages, strict=True):
        argv = [sys.executable, *start, "report", str(RECEIPTS / H200), "--out", str(page)]
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT / "scripts")}
        subprocess.run(argv, check=True, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)  # noqa: S603  # argv is ours
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_the_page_of_the_h200_says_what_its_receipts_say() -> None:
    page = view(RECEIPTS / H200)
    assert page.headline.sentence == (
        "Qualified at tier physical: gpu-assay 0.1.0 passed 10 of 10 planned gates, every one that applies, "
        "on NVIDIA H200 (driver 580.159.04, CUDA 13.0)."
    )
    rows = {row.name: row.value for group in page.machine for row in group.rows}
    assert rows["Virtualisation"] == "passed through to a virtual machine"
    assert (rows["Memory"], rows["GSP firmware"], rows["CUDA toolkit"]) == (
        "139.8 GiB",
        "580.159.04",
        "13.0.88",
    )
    assert rows["Host compiler"] == "gcc 13.3.0"
    assert {row.name: row.value for row in page.selection}["Provider"] == "wgpu-native 29.0.1.1"
    assert [len(table.rows) for table in page.tables] == [6, 17, 6]
    chains = {chain.name: [row.values[-1].given for row in chain.rows] for chain in page.chains}
    assert chains["pipeline"] == [str(2 * (2 * x + 1)) for x in range(37)]
    assert chains["consolidation"] == [str(2 * (x + 1)) for x in range(37)]
    assert all(stage.fresh.text == "4,096 of 4,096 right" for chain in page.chains for stage in chain.stages)
    assert b"PASSED" not in render(page)


def test_a_released_bundles_bill_names_provider_toolkit_kernels_and_wheel(tmp_path: Path) -> None:
    name = "20261130T205642Z-1817c1ea.tar"
    bill = billed(PROJECT / "receipts" / name, tmp_path / "bill.json")
    names = {each["name"] for each in bill["components"]}
    assert {
        "wgpu-native",
        "CUDA nvcc",
        "CUDA nvrtc",
        "pipeline.double.sm_75.ptx",
        "pipeline/double.cu",
    } <= names
    assert any(each.endswith(".whl") for each in names)
    (root,) = [each for each in bill["dependencies"] if each.get("dependsOn")]
    assert len(root["dependsOn"]) == len(bill["components"])
