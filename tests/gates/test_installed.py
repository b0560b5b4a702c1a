"""Gate ``installed`` observed: a wheel made by hand, in a fresh overlay of a real interpreter."""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assay import process
from assay.errors import ArchiveError, DeadlineError, GateError
from assay.files import copy_atomic
from assay.gates import installed
from assay.judge.reading import objects, text
from assay.judge.table import row
from assay.model import Facts, Finding
from assay.selection import Selection
from tests.gates.running import Bench, bench, judged
from tests.plan.support import plan_table
from tests.wheels import make_wheel

FILES = {
    "thing/__init__.py": b"from thing import part\n",
    "thing/part.py": b"VALUE = 37\n",
    "thing/__main__.py": b"import thing.part\nprint('value', thing.part.VALUE)\n",
    "thing/alone.py": b"",
}

MADE = "import thing, sys, types; made = sys.modules['thing.made'] = types.ModuleType('thing.made');"
"""A module that came from no file."""

WRITTEN = "import thing, pathlib; pathlib.Path(thing.__file__).with_name('new.py').touch()"
"""A file that the wheel did not bring."""


@contextmanager
def overlaid(  # noqa: PLR0913  # one keyword for each thing that a test changes
    tmp_path: Path,
    *smoke: str,
    files: dict[str, bytes] | None = None,
    selection: dict[str, str] | None = None,
    modules: tuple[str, ...] = ("thing",),
    deadline_s: int = 120,
    environ: dict[str, str] | None = None,
) -> Iterator[Bench]:
    """Make a context whose earlier gate ``build`` kept a wheel with these files."""
    plan: dict[str, Any] = {**plan_table(), "smoke": list(smoke), "modules": list(modules)}
    path = make_wheel(tmp_path, FILES if files is None else files, name="gpu_thing")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "run" / "artifacts").mkdir(parents=True)
    copy_atomic(path, tmp_path / "run" / "artifacts" / sha256)
    facts = {"build": {"wheel": {"name": path.name, "sha256": sha256}}}
    chosen = {"BUN_PYTHON_EXECUTABLE": sys.executable} if selection is None else selection
    with bench(
        tmp_path, plan=plan, selection=chosen, facts=facts, deadline_s=deadline_s, environ=environ or {}
    ) as run:
        yield run


def observed(run: Bench) -> tuple[Facts, tuple[Finding, ...]]:
    facts = run.observe(installed.observe)
    return facts, judged(row(run.context.plan, "installed"), run.case(), facts)


def found(run: Bench) -> list[str]:
    return [finding.id for finding in observed(run)[1]]


def test_the_wheel_is_installed_run_and_seen_to_be_what_is_imported(tmp_path: Path) -> None:
    with overlaid(tmp_path, "python", "-m", "thing") as run:
        facts, findings = observed(run)
        assert findings == ()
        assert {text(each, "name"): text(each, "path") for each in objects(facts, "modules")} == {
            "thing": "thing/__init__.py",
            "thing.__main__": "thing/__main__.py",
            "thing.part": "thing/part.py",
        }
        part = next(each for each in objects(facts, "modules") if text(each, "name") == "thing.part")
        assert text(part, "sha256") == hashlib.sha256(FILES["thing/part.py"]).hexdigest()
        assert "value 37\n" in run.logged()


def test_a_program_that_the_wheel_installs_can_be_the_smoke_command(tmp_path: Path) -> None:
    entry = {"gpu_thing-1.0.dist-info/entry_points.txt": b"[console_scripts]\nthing-tool = thing.part:main\n"}
    files = {**FILES, **entry, "thing/part.py": b"def main(): print('by its program')\n"}
    with overlaid(tmp_path, "thing-tool", files=files) as run:
        assert found(run) == []
        assert "by its program\n" in run.logged()


def test_the_smoke_command_may_use_what_the_selection_has(tmp_path: Path) -> None:
    (tmp_path / "selected").mkdir()
    (tmp_path / "selected" / "helper.py").write_text("NAME = 'of the selection'\n")
    selection = {"BUN_PYTHON_EXECUTABLE": sys.executable, "PYTHONPATH": str(tmp_path / "selected")}
    code = "import thing, helper, hypothesis; print(helper.NAME)"
    with overlaid(tmp_path, "python", "-c", code, selection=selection) as run:
        assert found(run) == []
        assert "of the selection\n" in run.logged()


def test_an_earlier_copy_in_the_selection_does_not_stand_in_for_the_wheel(tmp_path: Path) -> None:
    earlier = tmp_path / "selected" / "thing"
    earlier.mkdir(parents=True)
    (earlier / "__init__.py").write_text("raise RuntimeError('an earlier copy')\n")
    selection = {"BUN_PYTHON_EXECUTABLE": sys.executable, "PYTHONPATH": str(tmp_path / "selected")}
    with overlaid(tmp_path, "python", "-m", "thing", selection=selection) as run:
        assert found(run) == []


def test_a_module_from_the_source_tree_is_a_failure(tmp_path: Path) -> None:
    source = tmp_path / "project" / "src" / "thing_more"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text("")
    selection = {"BUN_PYTHON_EXECUTABLE": sys.executable, "PYTHONPATH": str(source.parent)}
    smoke = ("python", "-c", "import thing, thing_more")
    with overlaid(tmp_path, *smoke, selection=selection, modules=("thing", "thing_more")) as run:
        _, findings = observed(run)
        assert [finding.id for finding in findings] == ["INSTALLED-MODULE-ABSENT", "INSTALLED-FOREIGN-MODULE"]
        assert findings[1].observed == "thing_more from $PROJECT/src/thing_more/__init__.py"


@pytest.mark.parametrize(
    ("smoke", "finding"),
    [
        ("import thing, sys; sys.exit(7)", "INSTALLED-SMOKE-FAILED"),
        ("import thing.absent", "INSTALLED-SMOKE-FAILED"),
        ("import os; os.kill(os.getpid(), 9)", "INSTALLED-SMOKE-FAILED"),
        ("print('1.0')", "INSTALLED-NOTHING-IMPORTED"),
        ("import thing, os; os._exit(0)", "INSTALLED-UNSEEN"),
        ("import thing; open(thing.part.__file__, 'a').write('#')", "INSTALLED-ALTERED-MODULE"),
        (f"{WRITTEN}; import thing.new", "INSTALLED-FOREIGN-MODULE"),
        (MADE + "made.__file__ = '/x'", "INSTALLED-FOREIGN-MODULE"),
        (MADE, "INSTALLED-FOREIGN-MODULE"),
    ],
)
def test_a_smoke_command_that_shows_too_little_is_found(tmp_path: Path, smoke: str, finding: str) -> None:
    with overlaid(tmp_path, "python", "-c", smoke) as run:
        assert found(run) == [finding]


def test_a_namespace_package_of_the_wheel_is_the_wheels(tmp_path: Path) -> None:
    with overlaid(tmp_path, "python", "-c", "import thing.part", files={"thing/part.py": b""}) as run:
        assert found(run) == []


def test_the_smoke_command_runs_away_from_the_project_and_the_callers_environment(tmp_path: Path) -> None:
    outside = {"LD_PRELOAD": "/x.so", "PYTHONSTARTUP": "/x.py", "SECRET_TOKEN": "hidden", "PYTHONPATH": "/x"}
    printed = "print('AT', os.listdir()); print('HAS', *sorted(os.environ)); print(sys.flags)"
    code = f"import os, sys, thing; {printed}"
    with overlaid(tmp_path, "python", "-c", code, environ=outside) as run:
        assert found(run) == []
        log = run.logged()
    assert "AT []\n" in log
    names = set(log.rpartition("HAS ")[2].splitlines()[0].split())
    assert not names & {*outside, "VIRTUAL_ENV"}
    assert "no_user_site=1" in log
    assert "dont_write_bytecode=1" in log


def test_a_smoke_command_that_hangs_meets_the_gates_deadline(tmp_path: Path) -> None:
    code = "import threading; threading.Event().wait()"
    with overlaid(tmp_path, "python", "-c", code, deadline_s=3) as run, pytest.raises(DeadlineError):
        run.observe(installed.observe)


def test_a_smoke_program_that_nobody_brings_is_found(tmp_path: Path) -> None:
    with overlaid(tmp_path, "no-such-program") as run:
        assert found(run) == ["INSTALLED-NO-COMMAND"]


def test_a_wheel_that_this_interpreter_refuses_is_found_with_pips_words(tmp_path: Path) -> None:
    metadata = b"Metadata-Version: 2.1\nName: gpu-thing\nVersion: 1.0\nRequires-Python: >=99\n"
    with overlaid(
        tmp_path, "python", "-m", "thing", files={**FILES, "gpu_thing-1.0.dist-info/METADATA": metadata}
    ) as run:
        _, findings = observed(run)
        assert [finding.id for finding in findings] == ["INSTALLED-REFUSED"]
        assert "requires a different Python" in findings[0].observed


def test_dependencies_are_neither_installed_nor_missed(tmp_path: Path) -> None:
    metadata = (
        b"Metadata-Version: 2.1\nName: gpu-thing\nVersion: 1.0\nRequires-Dist: not-a-distribution-anywhere\n"
    )
    files = {**FILES, "gpu_thing-1.0.dist-info/METADATA": metadata}
    with overlaid(tmp_path, "python", "-m", "thing", files=files) as run:
        assert found(run) == []


def test_without_a_wheel_there_is_nothing_to_install(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_table(), facts={"build": {}}) as run:
        assert found(run) == ["INSTALLED-NO-WHEEL"]


def test_without_a_selection_there_is_nothing_to_install_into(tmp_path: Path) -> None:
    with overlaid(tmp_path, "python", selection={}) as run:
        assert found(run) == ["INSTALLED-NO-INTERPRETER"]
        assert run.context.commands == []


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import sys; sys.exit('no module named venv')", "ended with 1: no module named venv"),
        ("print('not json')", "is not JSON"),
    ],
)
def test_an_interpreter_that_makes_no_overlay_is_found(tmp_path: Path, script: str, said: str) -> None:
    fake = tmp_path / "fake-python"
    fake.write_text(f"#!{sys.executable}\n{script}\n")
    fake.chmod(0o755)
    with overlaid(tmp_path, "python", selection={"BUN_PYTHON_EXECUTABLE": str(fake)}) as run:
        _, findings = observed(run)
        assert [finding.id for finding in findings] == ["INSTALLED-NO-OVERLAY"]
        assert said in findings[0].observed


def test_an_interpreter_that_does_not_exist_is_found(tmp_path: Path) -> None:
    with overlaid(tmp_path, "python", selection={"BUN_PYTHON_EXECUTABLE": str(tmp_path / "none")}) as run:
        assert found(run) == ["INSTALLED-NO-OVERLAY"]


def test_a_kept_wheel_that_changed_breaks_the_gate(tmp_path: Path) -> None:
    with overlaid(tmp_path, "python") as run:
        (kept,) = (tmp_path / "run" / "artifacts").iterdir()
        kept.write_bytes(b"another")
        with pytest.raises(GateError, match="the kept wheel has SHA-256"):
            run.observe(installed.observe)


def test_a_recorded_name_leads_nowhere_else(tmp_path: Path) -> None:
    with overlaid(tmp_path, "python") as run:
        (kept,) = (tmp_path / "run" / "artifacts").iterdir()
        run.context.facts = {"build": {"wheel": {"name": "../../evil.whl", "sha256": kept.name}}}
        with pytest.raises(ArchiveError, match="not a wheel's file name"):
            run.observe(installed.observe)


def without_pip_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the toolchain seem to have no pip."""

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)


def test_an_older_pip_cannot_serve_another_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _name: "22.2.1")
    with overlaid(tmp_path, "python", "-m", "thing") as run:
        facts, findings = observed(run)
        assert (text(facts, "installer.how"), findings) == ("selection", ())


def test_a_toolchain_without_pip_uses_the_selections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip_here(monkeypatch)
    with overlaid(tmp_path, "python", "-m", "thing") as run:
        facts, findings = observed(run)
        assert (text(facts, "installer.how"), findings) == ("selection", ())


def bare_interpreter(tmp_path: Path, sitecustomize: str = "") -> str:
    """Return an interpreter without pip, as a provisioned selection has none."""
    folder = tmp_path / "bare"
    argv = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    assert process.run(argv, env={}, deadline_s=60).exit == 0
    (site,) = (folder / "lib").glob("python*/site-packages")
    (site / "blocks.pth").write_text(sitecustomize)
    return str(folder / "bin" / "python")


def test_where_nobody_has_pip_the_interpreters_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pip_here(monkeypatch)
    selection = {"BUN_PYTHON_EXECUTABLE": bare_interpreter(tmp_path)}
    with overlaid(tmp_path, "python", "-m", "thing", selection=selection) as run:
        facts, findings = observed(run)
        assert (text(facts, "installer.how"), findings) == ("ensurepip", ())


def test_where_there_is_no_pip_at_all_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip_here(monkeypatch)
    blocked = "import sys; sys.modules['ensurepip'] = None\n"
    selection = {"BUN_PYTHON_EXECUTABLE": bare_interpreter(tmp_path, blocked)}
    with overlaid(tmp_path, "python", "-m", "thing", selection=selection) as run:
        assert found(run) == ["INSTALLED-NO-INSTALLER"]


def test_the_embedded_selection_takes_a_wheel_that_uses_its_packages(
    tmp_path: Path, selection: Selection
) -> None:
    code = "import thing, numpy; print('sum', int(numpy.arange(37, dtype=numpy.float32).sum()))"
    with overlaid(tmp_path, "python", "-c", code, selection=dict(selection.values)) as run:
        assert found(run) == []
        assert "sum 666\n" in run.logged()
