"""The CPU's driver, built by this machine's compiler, and programs of the embedded selection that use it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.provision.children import Children
from assay.provision.compiler import find_compiler
from assay.provision.cpu_driver import CpuDriver, make_cpu_driver
from assay.selection import Selection
from tests.conftest import PROJECT
from tests.rehearsal.driver.programs import Programs


@pytest.fixture(scope="session")
def cpu_driver(tmp_path_factory: pytest.TempPathFactory) -> CpuDriver:
    """Return the driver; it lies where `rehearse` keeps its own, so that it is built once."""
    cache = PROJECT / ".assay" / "rehearsal" / "driver"
    children = Children({"PATH": os.environ["PATH"]}, tmp_path_factory.mktemp("driver") / "log")
    return make_cpu_driver(children, find_compiler(children, os.environ), cache)


@pytest.fixture
def programs(selection: Selection, cpu_driver: CpuDriver, tmp_path: Path) -> Programs:
    """Return what runs programs of the selection on the driver."""
    return Programs(selection, cpu_driver, tmp_path)
