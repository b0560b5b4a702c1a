"""Which wheels fit an interpreter, and which distributions a plan needs."""

from __future__ import annotations

import sys
import sysconfig

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import sys_tags
from packaging.utils import canonicalize_name

from assay.judge.case import Case
from assay.judge.packages import fits, normal, wanted
from assay.machine.system import normal_arch
from assay.model import Platform
from assay.plan import parse_plan
from tests.plan.support import plan_table

THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
ARCH = normal_arch(sysconfig.get_platform().rpartition("-")[2])


@pytest.mark.gate
def test_every_tag_that_packaging_takes_for_this_interpreter_fits() -> None:
    version = (sys.version_info[0], sys.version_info[1])
    tags = [str(tag) for tag in sys_tags()]
    assert len(tags) > 100
    assert not [tag for tag in tags if not fits(tag, version, threaded=THREADED, arch=ARCH)]


@pytest.mark.gate
@pytest.mark.parametrize(
    ("tag", "good"),
    [
        ("cp312-cp312-manylinux_2_28_x86_64", True),
        ("cp311-cp311-manylinux_2_28_x86_64", False),
        ("cp313-cp313-manylinux_2_28_x86_64", False),
        ("cp310-abi3-manylinux_2_28_x86_64", True),
        ("cp313-abi3-manylinux_2_28_x86_64", False),
        ("cp312-cp312d-linux_x86_64", True),
        ("cp312-cp312t-linux_x86_64", False),
        ("cp312-cp312-manylinux_2_28_aarch64", False),
        ("cp312-cp312-win_amd64", True),
        ("cp312-cp312-win_arm64", False),
        ("py3-none-any", True),
        ("py2.py3-none-any", True),
        ("py2-none-any", False),
        ("py313-none-any", False),
        ("py39-none-any", True),
        ("cp311-none-any", False),
        ("pp311-pypy311_pp73-manylinux_2_28_x86_64", False),
        ("py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64", True),
        ("cp312-cp312-macosx_11_0_universal2", True),
    ],
)
def test_a_tag_fits_cpython_312_on_x86_64(tag: str, good: bool) -> None:  # noqa: FBT001  # a table's column
    assert fits(tag, (3, 12), threaded=False, arch="x86_64") is good


def test_a_free_threaded_interpreter_takes_only_its_own_abi() -> None:
    assert fits("cp313-cp313t-linux_x86_64", (3, 13), threaded=True, arch="x86_64")
    assert not fits("cp313-cp313-linux_x86_64", (3, 13), threaded=True, arch="x86_64")
    assert not fits("cp310-abi3-linux_x86_64", (3, 13), threaded=True, arch="x86_64")


@given(st.text(max_size=60))
def test_no_tag_is_too_odd(tag: str) -> None:
    assert fits(tag, (3, 12), threaded=False, arch="x86_64") in {True, False}


@given(st.text(alphabet="abcXYZ019._-", min_size=1, max_size=30))
def test_names_are_normalised_as_packaging_does(name: str) -> None:
    assert normal(name) == canonicalize_name(name)


def test_a_plan_needs_its_versions_and_what_its_chains_run() -> None:
    plan = plan_table()
    plan["versions"]["linux"] |= {"NumPy": ">=2", "cuda": "==13.0.*", "driver": ">=580"}
    case = Case(parse_plan(plan), "", Platform.LINUX, "", "", {})
    assert wanted(case) == {"numpy": ">=2", "pycuda": "", "wgpu": ""}
    nothing = Case(case.plan, "", Platform.MACOS, "", "", {})
    assert wanted(nothing) == {}
