"""Gate ``build`` observed: a small project, really built twice by Hatchling, or a wheel taken as it is."""

from __future__ import annotations

import hashlib
import importlib.metadata
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.archives import content_digest, file_members
from assay.errors import DeadlineError
from assay.gates import build
from assay.judge.reading import objects, text
from assay.judge.table import row
from assay.model import Facts
from tests.gates.running import Bench, bench, ids, judged
from tests.gates.test_revision import commit, git
from tests.plan.support import changed, plan_table
from tests.wheels import make_wheel

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "gpu-thing"
version = "1.0"
requires-python = ">=3.11"

[tool.hatch.build.targets.wheel]
packages = ["thing"]
"""

HOOK = """
[tool.hatch.build.targets.wheel.hooks.custom]
path = "hook.py"
"""

WRITES_ITS_FOLDER = """\
import os
from pathlib import Path
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        Path(self.root, "thing", "where.txt").write_text(os.getcwd())
        build_data["artifacts"].append("thing/where.txt")
"""


def without_chains() -> dict[str, Any]:
    """Return a plan in which nothing is compiled."""
    return changed("kernels.pipeline.stage.0.runtime", "wgpu")


def write_project(folder: Path, pyproject: str = PYPROJECT, hook: str = "") -> None:
    """Write a project with one module, and commit it."""
    (folder / "thing").mkdir(parents=True)
    (folder / "thing" / "__init__.py").write_text("ANSWER = 42\n")
    (folder / "pyproject.toml").write_text(pyproject + (HOOK if hook else ""))
    if hook:
        (folder / "hook.py").write_text(hook)
    git(folder, "init", "--quiet")
    commit(folder)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, plan=without_chains()) as made:
        yield made


def found(run: Bench, facts: Facts) -> list[str]:
    return ids(judged(row(run.context.plan, "build"), run.case(), facts))


def test_wheel_and_sdist_are_built_twice_with_the_same_bytes_and_kept(run: Bench) -> None:
    write_project(run.context.project)
    facts = run.observe(build.observe)
    assert found(run, facts) == []
    assert facts["revision"] == git(run.context.project, "rev-parse", "HEAD")
    wheel = run.context.artifact_path(text(facts, "wheel.sha256"))
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("thing/__init__.py") == b"ANSWER = 42\n"
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert text(facts, "wheel.content_sha256") == content_digest(file_members(wheel))
    assert {artifact.name for artifact in run.context.artifacts} == {
        "gpu_thing-1.0-py3-none-any.whl",
        "gpu_thing-1.0.tar.gz",
    }
    assert text(facts, "packaging.hatchling") == importlib.metadata.version("hatchling")
    assert git(run.context.project, "status", "--porcelain") == ""


def test_a_build_that_depends_on_its_folder_is_not_reproducible(run: Bench) -> None:
    write_project(run.context.project, hook=WRITES_ITS_FOLDER)
    facts = run.observe(build.observe)
    (finding,) = judged(row(run.context.plan, "build"), run.case(), facts)
    assert finding.id == "BUILD-NOT-REPRODUCIBLE"
    assert "thing/where.txt" in finding.observed


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        ("raise SystemExit('the hook gives up')", "the hook gives up"),
        ("import sys; print('half\\x00way'); sys.exit(3)", "halfway"),
        ("raise RuntimeError('x' * 100000)", "ended with"),
    ],
)
def test_a_build_that_fails_is_told_with_its_last_words(run: Bench, hook: str, said: str) -> None:
    write_project(run.context.project, hook=hook)
    facts = run.observe(build.observe)
    (finding,) = judged(row(run.context.plan, "build"), run.case(), facts)
    assert finding.id == "BUILD-FAILED"
    assert said in finding.observed
    assert len(finding.observed) < 3000


def test_a_build_that_leaves_more_than_a_wheel_and_an_sdist_is_told(run: Bench) -> None:
    hook = WRITES_ITS_FOLDER + "        Path(self.directory, 'extra.bin').write_text('x')\n"
    write_project(run.context.project, hook=hook)
    problem = text(run.observe(build.observe), "packaging.problem")
    assert problem == "the build left extra.bin, gpu_thing-1.0-py3-none-any.whl, gpu_thing-1.0.tar.gz"


def test_a_build_that_hangs_meets_the_gates_deadline(tmp_path: Path) -> None:
    with bench(tmp_path, plan=without_chains(), deadline_s=2) as run:
        write_project(run.context.project, hook="import threading; threading.Event().wait()")
        with pytest.raises(DeadlineError):
            run.observe(build.observe)


def test_a_module_of_the_tree_cannot_stand_in_for_the_backend(run: Bench) -> None:
    write_project(run.context.project)
    (run.context.project / "hatchling.py").write_text("raise SystemExit('taken over')\n")
    commit(run.context.project)
    assert found(run, run.observe(build.observe)) == []


def test_the_users_git_ignore_rules_above_the_copy_do_not_reach_the_build(run: Bench) -> None:
    write_project(run.context.project)
    (run.context.scratch / ".gitignore").write_text("*.py\n")
    facts = run.observe(build.observe)
    with zipfile.ZipFile(run.context.artifact_path(text(facts, "wheel.sha256"))) as archive:
        assert "thing/__init__.py" in archive.namelist()


@pytest.mark.parametrize(
    ("pyproject", "backend"),
    [
        (PYPROJECT.replace("hatchling.build", "setuptools.build_meta"), "setuptools.build_meta"),
        ("[project]\nname = 'gpu-thing'\n", ""),
        ("not toml", ""),
        ("build-system = 7", ""),
    ],
)
def test_another_backend_is_named_and_nothing_is_built(run: Bench, pyproject: str, backend: str) -> None:
    write_project(run.context.project, pyproject)
    facts = run.observe(build.observe)
    assert text(facts, "packaging.backend") == backend
    assert found(run, facts) == ["BUILD-BACKEND"]


def test_a_toolchain_without_hatchling_is_named(run: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    write_project(run.context.project)
    assert found(run, run.observe(build.observe)) == ["BUILD-TOOL-MISSING"]


def test_an_unclean_tree_is_built_as_it_lies_and_found(run: Bench) -> None:
    write_project(run.context.project)
    (run.context.project / "thing" / "new.py").write_text("NEW = 1\n")
    facts = run.observe(build.observe)
    assert found(run, facts) == ["BUILD-UNCLEAN"]
    with zipfile.ZipFile(run.context.artifact_path(text(facts, "wheel.sha256"))) as archive:
        assert "thing/new.py" in archive.namelist()


def test_a_folder_without_git_is_built_and_found(run: Bench) -> None:
    write_project(run.context.project)
    (run.context.project / ".git").rename(run.context.scratch / "elsewhere")
    assert found(run, run.observe(build.observe)) == ["BUILD-NO-REVISION"]


def test_a_plan_may_allow_both(tmp_path: Path) -> None:
    with bench(tmp_path, plan={**without_chains(), "allow-unclean-tree": True}) as run:
        write_project(run.context.project)
        (run.context.project / ".git").rename(run.context.scratch / "elsewhere")
        assert found(run, run.observe(build.observe)) == ["BUILD-NO-REVISION-ALLOWED"]


def test_a_given_wheel_is_kept_as_it_is_and_nothing_is_built(tmp_path: Path) -> None:
    given = make_wheel(tmp_path, {"thing/__init__.py": b"ANSWER = 43\n"}, name="gpu_thing")
    with bench(tmp_path, plan=without_chains(), artifact=given) as run:
        write_project(run.context.project)
        (run.context.project / "untracked").write_text("")
        facts = run.observe(build.observe)
        assert found(run, facts) == []
        assert text(facts, "wheel.sha256") == hashlib.sha256(given.read_bytes()).hexdigest()
        assert run.context.artifact_path(text(facts, "wheel.sha256")).read_bytes() == given.read_bytes()
        assert all(command.argv[0] == "git" for command in run.context.commands)
        assert "sdist" not in facts


@pytest.mark.parametrize(
    ("name", "changes", "finding"),
    [
        ("other", {}, "BUILD-WHEEL-FOREIGN"),
        ("gpu_thing", {"thing/__init__.py": b"edited"}, "BUILD-WHEEL-INVALID"),
    ],
)
def test_a_given_wheel_must_be_one_and_the_projects(
    tmp_path: Path, name: str, changes: dict[str, bytes | None], finding: str
) -> None:
    given = make_wheel(tmp_path, {"thing/__init__.py": b""}, name=name, changed=changes)
    with bench(tmp_path, plan=without_chains(), artifact=given) as run:
        assert found(run, run.observe(build.observe)) == [finding]


@pytest.mark.parametrize("kind", ["absent", "folder", "noise", "text"])
def test_a_given_file_that_is_no_wheel_is_told(tmp_path: Path, kind: str) -> None:
    given = tmp_path / ("notes.txt" if kind == "text" else "gpu_thing-1.0-py3-none-any.whl")
    if kind == "folder":
        given.mkdir()
    elif kind != "absent":
        given.write_bytes(b"PK\x03\x04 noise")
    with bench(tmp_path, plan=without_chains(), artifact=given) as run:
        facts = run.observe(build.observe)
        assert found(run, facts) == ["BUILD-WHEEL-INVALID"]
        assert run.context.artifacts == []


@pytest.mark.parametrize("name", ["big.so", "gpu_thing-1.0-py3-none-any.whl"])
def test_a_given_file_that_is_no_wheel_is_not_copied(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / name
    with given.open("wb") as stream:
        stream.write(b"\x7fELF")
        stream.truncate(3 << 30)  # a hole: it takes no space
    copied: list[Path] = []
    monkeypatch.setattr(build, "copy_atomic", lambda source, _target: copied.append(source))
    with bench(tmp_path, plan=without_chains(), artifact=given) as run:
        assert found(run, run.observe(build.observe)) == ["BUILD-WHEEL-INVALID"]
    assert copied == []


def test_kernels_are_told_beside_the_wheel(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_table()) as run:
        write_project(run.context.project)
        facts = run.observe(build.observe)
        assert [text(source, "stage") for source in objects(facts, "sources")] == ["double"]
        assert "BUILD-SOURCE-CHANGED" in found(run, facts)
