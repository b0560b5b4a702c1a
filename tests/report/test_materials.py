"""The bill of materials: CycloneDX 1.6 by its library's strict validator, complete, and nobody's markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report import worlds
from tests.report.billing import billed


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("kind", ["qualified", "rejected", "undecided", "rehearsed", "hostile"])
def test_every_kind_is_valid_and_the_same_each_time(tmp_path: Path, kind: str) -> None:
    bundle = getattr(worlds, kind)(tmp_path)
    billed(bundle, tmp_path / "one.json")
    billed(bundle, tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


@pytest.mark.gate
@pytest.mark.usefixtures("world")
def test_what_was_selected_and_built_is_in_it_with_its_digest(tmp_path: Path) -> None:
    bill = billed(worlds.qualified(tmp_path), tmp_path / "bill.json")
    listed = {each["name"]: each for each in bill["components"]}
    assert listed["numpy"]["purl"] == "pkg:pypi/numpy@2.4.6"
    assert listed["thing.whl"]["hashes"][0]["alg"] == "SHA-256"
    digests = {each["content"] for part in bill["components"] for each in part.get("hashes", ())}
    assert "12" * 32 in digests
    assert bill["metadata"]["component"]["version"] == "1.2"
    properties = {each["name"]: each["value"] for each in bill["metadata"]["properties"]}
    assert properties["gpu-assay:verdict"] == "qualified"
    assert properties["gpu-assay:revision"] == "9d" * 20
