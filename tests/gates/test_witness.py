"""The witness: what a Python process imported, told when it ends; in processes of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from assay import process
from assay.gates import witness

START = "import sys; sys.path.insert(0, {here!r}); import assay_witness; assay_witness.start()\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with the witness, a project's package, and folders that it may see."""
    (tmp_path / "assay_witness.py").write_text(Path(witness.__file__).read_text())
    for name in ("reports", "folder", "site", "extra", "thing"):
        (tmp_path / name).mkdir()
    (tmp_path / "thing/__init__.py").write_text("")
    (tmp_path / "thing/part.py").write_text("import json\n")
    (tmp_path / "thing/__main__.py").write_text("print('ran')\n")
    (tmp_path / "folder/in_folder.py").write_text("")
    (tmp_path / "extra/in_extra.py").write_text("")
    (tmp_path / "site/more.pth").write_text(f"{tmp_path / 'extra'}\n")
    configure(tmp_path, reports=str(tmp_path / "reports"))
    return tmp_path


def configure(place: Path, *, reports: str) -> None:
    document = {
        "folders": [str(place / "folder")],
        "modules": ["thing"],
        "reports": reports,
        "sites": [str(place / "site")],
    }
    (place / witness.CONFIGURATION).write_text(json.dumps(document))


def run(place: Path, code: str) -> list[dict[str, Any]]:
    """Run code after the witness was started, and return every module told."""
    argv = [sys.executable, "-B", "-c", START.format(here=str(place)) + code]
    done = process.run(argv, env={"PATH": os.environ["PATH"]}, cwd=place, deadline_s=60)
    assert done.exit == 0, done.stderr
    documents = [json.loads(path.read_text()) for path in (place / "reports").glob("*.json")]
    assert all(document["schema"] == witness.SCHEMA for document in documents)
    return [module for document in documents for module in document["modules"]]


def test_modules_of_the_project_are_told_with_their_files_and_others_are_not(place: Path) -> None:
    told = {module["name"]: module["file"] for module in run(place, "import thing.part")}
    assert told == {"thing": str(place / "thing/__init__.py"), "thing.part": str(place / "thing/part.py")}


def test_a_module_that_runs_as_main_is_told_by_its_real_name(place: Path) -> None:
    argv = [sys.executable, "-B", "-m", "thing"]
    (place / "sitecustomize.py").write_text("import assay_witness; assay_witness.start()\n")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(place)}
    assert process.run(argv, env=environment, cwd=place, deadline_s=60).stdout == b"ran\n"
    (report,) = (place / "reports").glob("*.json")
    told = json.loads(report.read_text())["modules"]
    assert str(place / "thing/__main__.py") in {
        module["file"] for module in told if module["name"] == "thing.__main__"
    }


def test_a_namespace_package_is_told_by_its_folders(place: Path) -> None:
    (place / "thing/__init__.py").unlink()
    (told,) = (module for module in run(place, "import thing.part") if module["name"] == "thing")
    assert (told["file"], set(told["folders"])) == (None, {str(place / "thing")})


def test_every_process_that_ends_normally_tells(place: Path) -> None:
    code = f"""
import os, subprocess, sys
subprocess.run([sys.executable, "-B", "-c", {START.format(here=str(place))!r} + "import thing"], check=True)
"""
    assert [module["name"] for module in run(place, code)] == ["thing"]
    assert len(list((place / "reports").glob("*.json"))) == 2


def test_a_process_that_ends_at_once_tells_nothing(place: Path) -> None:
    assert run(place, "import thing, os; os._exit(0)") == []
    assert list((place / "reports").iterdir()) == []


def test_a_process_that_fails_tells_all_the_same(place: Path) -> None:
    argv = [sys.executable, "-B", "-c", START.format(here=str(place)) + "import thing; raise SystemExit(3)"]
    assert process.run(argv, env={}, cwd=place, deadline_s=60).exit == 3
    assert len(list((place / "reports").glob("*.json"))) == 1


def test_odd_entries_of_the_module_table_do_no_harm(place: Path) -> None:
    code = """
import sys, types, thing
class Odd:
    def __getattr__(self, name): raise RuntimeError(name)
class Loud(types.ModuleType):
    def __getattribute__(self, name): raise RuntimeError(name)
sys.modules["thing.odd"] = Odd()
sys.modules["thing.none"] = None
sys.modules["thing.loud"] = Loud("thing.loud")
sys.modules["thing.made"] = types.ModuleType("thing.made")
"""
    told = {module["name"]: module["file"] for module in run(place, code)}
    assert set(told) == {"thing", "thing.odd", "thing.none", "thing.loud", "thing.made"}
    assert told["thing.made"] is None


def test_folders_and_sites_are_seen_after_everything_else(place: Path) -> None:
    (place / "folder/thing.py").write_text("raise RuntimeError('the selection stands in for the wheel')\n")
    told = run(place, "import thing, in_folder, in_extra")
    assert [module["file"] for module in told] == [str(place / "thing/__init__.py")]


def test_without_a_place_for_reports_nothing_is_told(place: Path) -> None:
    configure(place, reports="")
    assert run(place, "import thing") == []
