"""JUnit XML: valid by the schema that dashboards read by, complete, and nothing undecided passes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from lxml import etree

from assay.evidence.asking import Wanted
from assay.model import Severity
from assay.report.junit import MOST, junit
from assay.report.writing import write_rendering
from tests.evidence.support import Gate, found
from tests.report import worlds
from tests.report.junit_schema import schema

NOW = datetime(2026, 12, 1, tzinfo=UTC)
pytestmark = pytest.mark.usefixtures("world")


@pytest.fixture(scope="module")
def checked() -> etree.XMLSchema:
    """Return the published schema; without it this fails, for a skip would hide that."""
    if not schema().is_file():
        pytest.fail(f"no {schema().name}: run `nox -s peers` first", pytrace=False)
    return etree.XMLSchema(etree.parse(str(schema())))


def rendered(bundle: Path) -> etree._Element:
    """Return a bundle's JUnit XML as another library reads it."""
    target = bundle.with_suffix(".xml")
    assert write_rendering(bundle, Wanted(NOW), target, junit)[1]
    return etree.fromstring(target.read_bytes(), etree.XMLParser(resolve_entities=False))


def cases(root: etree._Element) -> dict[str, list[str]]:
    """Return what each test case holds."""
    return {str(case.get("name")): [str(part.tag) for part in case] for case in root.iter("testcase")}


@pytest.mark.parametrize("kind", ["qualified", "rejected", "undecided", "rehearsed", "hostile"])
def test_every_kind_is_valid_and_counts_what_it_holds(
    checked: etree.XMLSchema, tmp_path: Path, kind: str
) -> None:
    root = rendered(getattr(worlds, kind)(tmp_path))
    checked.assertValid(root)
    held = [part for parts in cases(root).values() for part in parts]
    suite = root.find("testsuite")
    assert suite is not None
    assert suite.get("tests") == str(len(cases(root)))
    for attribute, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert suite.get(attribute) == str(held.count(element))


@pytest.mark.gate
def test_only_what_passed_passes(tmp_path: Path) -> None:
    assert set(map(tuple, cases(rendered(worlds.qualified(tmp_path / "a"))).values())) <= {
        (),
        ("system-out",),
    }
    rejected = cases(rendered(worlds.rejected(tmp_path / "b")))
    assert (rejected["chain"], rejected["verdict"]) == (["failure"], ["failure"])
    undecided = cases(rendered(worlds.undecided(tmp_path / "c")))
    assert undecided["chain"] == undecided["lint"] == undecided["verdict"] == ["error"]
    assert cases(rendered(worlds.rehearsed(tmp_path / "d")))["verdict"] == ["skipped"]


def test_findings_are_told_to_a_bound_and_counted(tmp_path: Path) -> None:
    many = [found("LINT-MANY", Severity.FAILURE, f"line {number}") for number in range(950)]
    root = rendered(worlds.qualified(tmp_path, lint=Gate({"findings": many})))
    (failure,) = root.iterfind(".//testcase[@name='lint']/failure")
    assert failure.get("message") == "LINT-MANY: line 0"
    assert str(failure.text).count("LINT-MANY (failure)") == MOST
    assert str(failure.text).endswith(f"and {950 - MOST} more findings")


def test_what_came_from_a_machine_is_text_without_control_characters(tmp_path: Path) -> None:
    root = rendered(worlds.hostile(tmp_path))
    text = "".join(map(str, root.itertext())) + "".join(
        str(value) for part in root.iter() for value in part.attrib.values()
    )
    assert "<script>hit()</script>" in text
    assert not [letter for letter in text if not letter.isprintable() and letter != "\n"]
    known = {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
        "error",
        "system-out",
        "skipped",
    }
    assert {str(part.tag) for part in root.iter()} <= known


def test_the_same_bundle_gives_the_same_bytes_and_a_broken_one_none(tmp_path: Path) -> None:
    bundle = worlds.qualified(tmp_path)
    one, other = tmp_path / "one.xml", tmp_path / "other.xml"
    for target in (one, other):
        write_rendering(bundle, Wanted(NOW), target, junit)
    assert one.read_bytes() == other.read_bytes()
    bundle.write_bytes(bundle.read_bytes()[:-1])
    verified, written = write_rendering(bundle, Wanted(NOW), tmp_path / "none.xml", junit)
    assert (verified.exit_code, written, (tmp_path / "none.xml").exists()) == (4, False, False)
