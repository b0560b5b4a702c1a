"""Packages that import their parts late offer every name that they say, and no other."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.project.files import environment_of_children

LATE = ("assay.plan", "assay.process")


@pytest.mark.parametrize("name", LATE)
def test_every_name_that_is_offered_is_there(name: str) -> None:
    package = import_module(name)
    assert all(getattr(package, each) is not None for each in package.__all__)
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        package.nothing_of_that_name  # noqa: B018  # asking is what is tested


def test_an_empty_machine_is_diagnosed_without_what_starts_processes_or_reads_plans(tmp_path: Path) -> None:
    arguments = ["diagnose", "--root", str(tmp_path), "--project", str(tmp_path)]
    code = (
        f"import sys; from assay.cli import main; main({arguments!r}); "
        "print(sorted(sys.modules), file=sys.stderr)"
    )
    argv = [sys.executable, "-c", code]
    ended = subprocess.run(argv, env=environment_of_children(), capture_output=True, text=True, check=True)  # noqa: S603  # ours
    assert "'assay.engine.diagnose'" in ended.stderr
    late = ("subprocess", "tomllib", "assay.process.posix", "assay.judge.chain", "assay.gates.rehearsal")
    assert [name for name in late if f"'{name}'" in ended.stderr] == []
