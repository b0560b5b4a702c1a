"""The machine as its facts have it; what was not recorded, or is something else, is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import Facts
from assay.report.machine import device_text, machine_of
from assay.report.selection import selection_of, selection_tables
from assay.report.view import Page
from tests.evidence.support import PASSING, Gate
from tests.report.worlds import qualified, view, viewing

pytestmark = pytest.mark.usefixtures("world")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.gate
def test_gpu_driver_cuda_and_computer_are_shown(pages: dict[str, Page]) -> None:
    groups = {
        group.title: {row.name: row.value for row in group.rows} for group in pages["qualified"].machine
    }
    assert groups == {
        "GPU": {
            "Name": "GPU of this world",
            "UUID": "GPU-1",
            "Compute capability": "9.0",
            "Memory": "1.5 GiB",
            "VBIOS": "96.1",
            "Virtualisation": "passed through to a virtual machine",
        },
        "Driver and CUDA": {
            "Driver": "580.1",
            "Kernel module": "kernel module 580.1",
            "CUDA that the driver offers": "13.2",
        },
        "Computer": {
            "Platform": "linux",
            "Operating system": "ubuntu",
            "Architecture": "x86_64",
            "C library": "glibc 2.39",
            "Container": "docker",
            "Hypervisor": "yes",
        },
    }


def test_a_machine_of_which_nothing_was_recorded_has_only_its_platform(tmp_path: Path) -> None:
    nothing = {"environment": Gate({}), "provider": Gate({}), "chain": Gate({"tier": "physical"})}
    page = view(qualified(tmp_path, build=PASSING["build"], **nothing))
    assert [(group.title, [row.name for row in group.rows]) for group in page.machine] == [
        ("Computer", ["Platform"])
    ]
    assert (page.selection, page.tables) == ((), ())
    assert "with no CUDA device seen" in page.headline.sentence


def test_what_only_the_driver_says_is_shown_where_no_chain_ran(tmp_path: Path) -> None:
    driver: Facts = {
        "gpus": [{"model": "GPU one"}, {"model": "GPU two"}, {"model": 7}],
        "kernel": {"release": "6.8.0"},
        "module": {"version": "580.1"},
    }
    with viewing(qualified(tmp_path)) as seen:
        receipt = replace(seen.subject.gates[0].receipt, gate="driver", facts=driver)
        subject = replace(seen.subject, gates=(replace(seen.subject.gates[0], receipt=receipt),))
        rows = {row.name: row.value for group in machine_of(subject) for row in group.rows}
    assert rows == {
        "GPUs that the driver lists": "GPU one, GPU two and 7",
        "Driver": "580.1",
        "Platform": "linux",
        "Kernel": "6.8.0",
    }


@pytest.mark.gate
def test_the_selection_is_shown_with_versions_sizes_and_digests(pages: dict[str, Page]) -> None:
    rows = {row.name: row.value for row in pages["qualified"].selection}
    assert rows == {
        "Kind": "explicit",
        "Given by": "selection.toml",
        "Set outside and kept out": "LD_PRELOAD",
        "Provider's SHA-256": "ab" * 32,
        "Wheel": "gpu_thing-1.2-py3-none-any.whl",
        "Wheel's SHA-256": "34" * 32,
        "Revision": f"{'9d' * 20} (clean)",
    }
    files, packages = pages["qualified"].tables
    assert files.rows == (
        ("BUN_PYTHON_EXECUTABLE", "$SELECTION/bin/python3", "3.12.3", "8,020,928 bytes", "12" * 32),
        ("PATH", "$TOOLKIT/bin", "", "", ""),
    )
    assert packages.rows == (("numpy", "2.4.6", "ef" * 32),)


def test_a_tree_that_was_not_clean_is_said_to_be_so(tmp_path: Path) -> None:
    build = replace(PASSING["build"], facts={"revision": "9d", "clean": False})
    rows = {row.name: row.value for row in view(qualified(tmp_path, build=build)).selection}
    assert rows["Revision"] == "9d (not clean)"


@pytest.fixture(scope="module")
def seen_once(world: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a qualified bundle."""
    assert world is None
    return qualified(tmp_path_factory.mktemp("facts"))


@given(
    st.dictionaries(st.sampled_from(["devices", "nvml", "proc", "machine", "selected", "parts"]), JSON), JSON
)
def test_facts_of_any_shape_are_read_without_an_error(
    seen_once: Path, facts: dict[str, object], inner: object
) -> None:
    """Each fact of every gate is anything at all, or has anything at all where a fact is read."""
    hostile: dict[str, object] = {
        "adapter": inner,
        "devices": {"after": inner},
        "distributions": [inner],
        "explicit": inner,
        "interpreter": inner,
        "nvml": {"after": {"gpus": [inner]}},
        "selected": {"BUN_PYTHON_EXECUTABLE": inner},
        "virtualisation": inner,
        "wheel": inner,
        **facts,
    }
    with viewing(seen_once) as seen:
        gates = tuple(
            replace(each, receipt=replace(each.receipt, facts=hostile))  # type: ignore[arg-type]  # any JSON
            for each in seen.subject.gates
        )
        subject = replace(seen.subject, gates=gates)
        assert isinstance(device_text(subject), str)
        rows = [row for group in machine_of(subject) for row in group.rows] + list(selection_of(subject))
        cells = [cell for table in selection_tables(subject) for row in table.rows for cell in row]
    assert all(row.value for row in rows)
    assert all(isinstance(cell, str) for cell in [*cells, *(row.value for row in rows)])
