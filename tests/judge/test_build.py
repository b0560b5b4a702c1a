"""Gate ``build`` judged: revision, wheel, sdist and kernels, from facts alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.catalogue import CATALOGUE
from assay.judge.catalogue.build import ENTRIES
from assay.judge.table import row
from assay.model import Outcome, outcome_of
from tests.judge.cases import JSON, ids, judged, make_case, paths_of, with_fact
from tests.plan.support import SHA, changed

COMMIT = "c" * 40
WHEEL = "a1" * 32
SDIST = "b2" * 32


def image(kind: str, arch: str) -> dict[str, Any]:
    name = f"pipeline.double.{arch}.{kind}"
    told = {"chain": "pipeline", "stage": "double", "kind": kind, "arch": arch, "compiler": "nvcc 13.0.88"}
    return {**told, "name": name, "sha256": "d4" * 32, "size": 7}


IMAGES = [image("ptx", "sm_75"), image("cubin", "sm_90"), image("cubin", "sm_75")]

COMPILERS = {"nvcc": {"version": "13.0.88"}, "nvrtc": {"version": "13.0"}}

HEALTHY: dict[str, Any] = {
    "origin": "built",
    "revision": COMMIT,
    "clean": True,
    "reason": "",
    "changed": [],
    "changed_count": 0,
    "packaging": {
        "backend": "hatchling.build",
        "epoch": 315532800,
        "hatchling": "1.33.0",
        "python": "3.11.7",
        "problem": "",
    },
    "wheel": {
        "name": "gpu_thing-1.0-py3-none-any.whl",
        "sha256": WHEEL,
        "size": 9,
        "content_sha256": SHA,
        "project": "GPU_thing",
        "version": "1.0",
        "invalid": "",
    },
    "sdist": {"name": "gpu_thing-1.0.tar.gz", "sha256": SDIST, "size": 9, "content_sha256": SHA},
    "again": [
        {"name": "gpu_thing-1.0.tar.gz", "sha256": SDIST, "differing": []},
        {"name": "gpu_thing-1.0-py3-none-any.whl", "sha256": WHEEL, "differing": []},
    ],
    "sources": [{"chain": "pipeline", "stage": "double", "source": "double.cu", "sha256": SHA}],
    "compile": {"problem": "", "errors": [], "compilers": COMPILERS, "child_sha256": SHA},
    "kernels": IMAGES,
    "kernels_again": [{"name": each["name"], "sha256": each["sha256"]} for each in IMAGES],
}

GIVEN = {key: HEALTHY[key] for key in ("wheel", "sources", "compile", "kernels", "kernels_again")} | {
    "origin": "given",
    "revision": "unknown",
    "clean": None,
}


@pytest.mark.gate
@pytest.mark.parametrize("facts", [HEALTHY, GIVEN])
def test_nothing_is_found_where_all_is_well(facts: dict[str, Any]) -> None:
    assert judged(make_case(), "build", facts) == ()


def said(kind: str) -> list[dict[str, str]]:
    """Return what a compiler said of one stage."""
    place = {"chain": "pipeline", "stage": "double"}
    return [{**place, "kind": kind, "reason": "", "message": "double.cu(3): error"}]


FAULTS: list[tuple[str, object, list[str]]] = [
    ("revision", "unknown", ["BUILD-NO-REVISION"]),
    ("revision", ..., ["BUILD-NO-REVISION"]),
    ("revision", "main", ["BUILD-NO-REVISION"]),
    ("clean", False, ["BUILD-UNCLEAN"]),
    ("clean", None, ["BUILD-UNCLEAN"]),
    ("packaging.hatchling", "", ["BUILD-TOOL-MISSING"]),
    ("packaging", ..., ["BUILD-TOOL-MISSING"]),
    ("packaging.backend", "setuptools.build_meta", ["BUILD-BACKEND"]),
    ("packaging.problem", "the build ended with 1", ["BUILD-FAILED"]),
    ("again.1.sha256", "e5" * 32, ["BUILD-NOT-REPRODUCIBLE"]),
    ("again.0", {}, ["BUILD-NOT-REPRODUCIBLE"]),
    ("again", [], ["BUILD-NOT-REPRODUCIBLE", "BUILD-NOT-REPRODUCIBLE"]),
    ("sdist", ..., ["BUILD-NOT-REPRODUCIBLE"]),
    ("wheel", ..., ["BUILD-NOT-REPRODUCIBLE", "BUILD-WHEEL-MISSING"]),
    ("wheel.sha256", "x", ["BUILD-NOT-REPRODUCIBLE", "BUILD-WHEEL-MISSING"]),
    ("wheel.invalid", "x.whl: RECORD lacks 'a'", ["BUILD-WHEEL-INVALID"]),
    ("wheel.project", "gpu-thing-extra", ["BUILD-WHEEL-FOREIGN"]),
    ("sources.0.sha256", "", ["BUILD-SOURCE-CHANGED"]),
    ("sources.0.sha256", "e5" * 32, ["BUILD-SOURCE-CHANGED"]),
    ("sources", [], ["BUILD-SOURCE-CHANGED"]),
    ("compile", {"selected": False}, ["BUILD-NO-INTERPRETER"]),
    ("compile.problem", "the compiling child ended with -11: ", ["BUILD-COMPILE-BROKE"]),
    ("kernels.0.sha256", "", ["BUILD-KERNEL-MISSING", "BUILD-KERNEL-NOT-REPRODUCIBLE"]),
    ("kernels", [], ["BUILD-KERNEL-MISSING"] * 3),
    ("kernels.1.arch", "sm_80", ["BUILD-KERNEL-MISSING"]),
    ("kernels_again.2.sha256", "e5" * 32, ["BUILD-KERNEL-NOT-REPRODUCIBLE"]),
    ("kernels_again", [], ["BUILD-KERNEL-NOT-REPRODUCIBLE"] * 3),
    ("compile.errors", said("failed"), ["BUILD-KERNEL-REFUSED"]),
    ("compile.errors", said("unavailable"), ["BUILD-COMPILER-MISSING"]),
]

ALLOWED = {"revision": "unknown", "clean": False}


@pytest.mark.gate
@pytest.mark.parametrize(("path", "value", "found"), FAULTS)
def test_one_fact_is_enough(path: str, value: object, found: list[str]) -> None:
    findings = judged(make_case(), "build", with_fact(HEALTHY, path, value))
    assert ids(findings) == found
    assert outcome_of(findings) is not Outcome.PASSED


def test_what_a_compiler_said_is_told_and_excuses_missing_images() -> None:
    facts = with_fact(with_fact(HEALTHY, "compile.errors", said("failed")), "kernels", [])
    (finding,) = judged(make_case(), "build", facts)
    assert finding.observed == "pipeline/double: double.cu(3): error"


@pytest.mark.gate
@pytest.mark.parametrize("path", ALLOWED)
def test_a_plan_may_allow_a_tree_without_a_clean_revision(path: str) -> None:
    case = make_case(changed("allow-unclean-tree", value=True))
    findings = judged(case, "build", with_fact(HEALTHY, path, ALLOWED[path]))
    strict = judged(make_case(), "build", with_fact(HEALTHY, path, ALLOWED[path]))
    assert ids(findings) == [f"{found}-ALLOWED" for found in ids(strict)]
    assert outcome_of(findings) is Outcome.PASSED


def test_a_given_wheel_needs_neither_revision_nor_build_but_must_be_one() -> None:
    invalid, missing = with_fact(GIVEN, "wheel.invalid", "not a zip"), with_fact(GIVEN, "wheel", ...)
    assert ids(judged(make_case(), "build", invalid)) == ["BUILD-WHEEL-INVALID"]
    assert ids(judged(make_case(), "build", missing)) == ["BUILD-WHEEL-MISSING"]


def test_changed_files_are_named_up_to_ten_and_counted() -> None:
    facts = {**HEALTHY, "clean": False, "changed": [f"?? f{n}" for n in range(100)], "changed_count": 130}
    (finding,) = judged(make_case(), "build", facts)
    assert finding.observed.endswith("?? f9 and 120 more")


def test_members_that_differ_are_named() -> None:
    facts = with_fact(
        with_fact(HEALTHY, "again.1.sha256", "e5" * 32), "again.1.differing", ["thing/built.py"]
    )
    (finding,) = judged(make_case(), "build", facts)
    assert finding.observed.endswith("in thing/built.py")


def test_a_plan_without_cuda_sources_needs_no_images() -> None:
    plan = changed("kernels.pipeline.stage.0.runtime", "wgpu")
    facts = {key: value for key, value in HEALTHY.items() if key not in {"compile", "kernels", "sources"}}
    assert judged(make_case(plan), "build", facts) == ()


def test_no_facts_at_all_are_never_a_pass() -> None:
    found = ids(judged(make_case(), "build", {}))
    assert found == [
        "BUILD-NO-REVISION",
        "BUILD-TOOL-MISSING",
        "BUILD-SOURCE-CHANGED",
        *["BUILD-KERNEL-MISSING"] * 3,
    ]


@given(st.sampled_from(paths_of(HEALTHY)), JSON)
def test_a_strangers_facts_give_findings_and_never_an_exception(path: str, value: object) -> None:
    findings = judged(make_case(), "build", with_fact(HEALTHY, path, value))
    assert all(finding.id in CATALOGUE for finding in findings)


@given(st.dictionaries(st.sampled_from(sorted(HEALTHY)), JSON))
def test_facts_that_are_noise_never_pass(facts: dict[str, Any]) -> None:
    assert judged(make_case(), "build", facts) != ()


def test_the_claim_is_of_that_artifact() -> None:
    claim = row(make_case().plan, "build").claim
    assert claim(make_case(), HEALTHY) == (
        f"wheel gpu_thing-1.0-py3-none-any.whl (SHA-256 {WHEEL}) of gpu-thing was built twice, bit for bit "
        f"the same, from revision {COMMIT} (clean); "
        "3 images of its kernels were compiled twice with the same bytes"
    )
    assert "(not clean)" in claim(make_case(), {**HEALTHY, "clean": False})
    assert "from a folder without a revision" in claim(make_case(), {**HEALTHY, "revision": "unknown"})
    assert "was taken as it is, of whatever revision" in claim(make_case(), GIVEN)


def test_every_finding_of_the_gate_is_raised_here() -> None:
    raised = {name for _, _, found in FAULTS for name in found}
    raised |= {f"{name}-ALLOWED" for name in ("BUILD-NO-REVISION", "BUILD-UNCLEAN")}
    assert raised == {entry.id for entry in ENTRIES}
