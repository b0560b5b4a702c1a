"""The revision of a folder, whether it is clean, and the copy that is built; with the real git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import process
from assay.errors import GateError
from assay.gates.revision import UNKNOWN, Revision, copy_tree, read_revision
from tests.gates.running import Bench, bench
from tests.plan.support import plan_table


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = process.run(["git", *identity, *arguments], env=environment, cwd=folder, deadline_s=60)
    assert done.exit == 0, done.stderr
    return done.stdout.decode().strip()


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "m")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, plan=plan_table()) as made:
        yield made


@pytest.fixture
def repository(run: Bench) -> Path:
    """Return a project with one commit."""
    folder = run.context.project
    git(folder, "init", "--quiet")
    (folder / "pyproject.toml").write_text("[project]\n")
    (folder / "package").mkdir()
    (folder / "package" / "a.py").write_text("A = 1\n")
    (folder / ".gitignore").write_text("ignored\n")
    commit(folder)
    return folder


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


COMMITTED = {".gitignore": "ignored\n", "package/a.py": "A = 1\n", "pyproject.toml": "[project]\n"}


def test_a_clean_tree_has_a_revision_and_is_copied_from_git(run: Bench, repository: Path) -> None:
    (repository / "ignored").write_text("no matter")
    revision = read_revision(run.context)
    assert revision == Revision(git(repository, "rev-parse", "HEAD"), clean=True)
    assert files(copy_tree(run.context, revision, run.context.scratch / "copy")) == COMMITTED


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda tree: (tree / "package/a.py").write_text("A = 2\n"), " M package/a.py"),
        (lambda tree: (tree / "package/a.py").unlink(), " D package/a.py"),
        (lambda tree: (tree / "new.py").write_text(""), "?? new.py"),
        (lambda tree: (tree / "package/a.py").rename(tree / "b.py"), "?? b.py"),
        (lambda tree: git(tree, "rm", "--cached", "--quiet", "package/a.py"), "D  package/a.py"),
        (lambda tree: (tree / "package/a.py").chmod(0o755), " M package/a.py"),
    ],
)
def test_a_change_is_seen_and_named(run: Bench, repository: Path, change: object, seen: str) -> None:
    assert callable(change)
    change(repository)
    revision = read_revision(run.context)
    assert (revision.revision, revision.clean) == (git(repository, "rev-parse", "HEAD"), False)
    assert seen in revision.changed
    assert revision.changed_count == len(revision.changed)


@pytest.mark.parametrize(("bit", "seen"), [("--assume-unchanged", "-h"), ("--skip-worktree", "-S")])
def test_a_change_that_git_was_told_not_to_look_at_is_seen(
    run: Bench, repository: Path, bit: str, seen: str
) -> None:
    git(repository, "update-index", bit, "package/a.py")
    (repository / "package/a.py").write_text("A = 'hidden'\n")
    assert git(repository, "status", "--porcelain") == ""
    assert read_revision(run.context).changed == (f"{seen} package/a.py",)


def test_only_the_first_changes_are_named_and_all_are_counted(run: Bench, repository: Path) -> None:
    for number in range(120):
        (repository / f"new-{number}").write_text("")
    revision = read_revision(run.context)
    assert (len(revision.changed), revision.changed_count) == (100, 120)


def test_what_assay_itself_wrote_does_not_make_a_tree_unclean(run: Bench, repository: Path) -> None:
    for name in ("receipts/20261130T000000Z-00000000.tar", ".assay/selection.toml", ".nox/x"):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text("")
    assert read_revision(run.context).clean is True
    (repository / "package/receipts").mkdir()
    (repository / "package/receipts/x.py").write_text("")
    assert read_revision(run.context).changed == ("?? package/receipts/x.py",)


def test_a_change_below_receipts_that_git_tracks_counts(run: Bench, repository: Path) -> None:
    (repository / "receipts").mkdir()
    (repository / "receipts/README.md").write_text("one")
    commit(repository)
    (repository / "receipts/README.md").write_text("two")
    assert read_revision(run.context).changed == (" M receipts/README.md",)


def test_an_unclean_tree_is_copied_as_it_lies_without_ignored_files(run: Bench, repository: Path) -> None:
    (repository / "package/a.py").write_text("A = 2\n")
    (repository / "new.py").write_text("")
    (repository / "ignored").write_text("no matter")
    (repository / "pyproject.toml").unlink()
    (repository / "link").symlink_to("new.py")
    copied = copy_tree(run.context, read_revision(run.context), run.context.scratch / "copy")
    assert files(copied) == {".gitignore": "ignored\n", "link": "", "new.py": "", "package/a.py": "A = 2\n"}
    assert (copied / "link").is_symlink()


def test_the_copy_of_a_clean_tree_does_not_change_with_the_folder(run: Bench, repository: Path) -> None:
    revision = read_revision(run.context)
    (repository / "package/a.py").write_text("A = 'too late'\n")
    assert files(copy_tree(run.context, revision, run.context.scratch / "copy")) == COMMITTED


def test_line_endings_of_the_user_do_not_reach_the_copy(run: Bench, repository: Path) -> None:
    git(repository, "config", "core.autocrlf", "true")
    copied = copy_tree(run.context, read_revision(run.context), run.context.scratch / "copy")
    assert (copied / "package/a.py").read_bytes() == b"A = 1\n"


def test_a_project_inside_a_larger_repository_stands_for_itself(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    (whole / "project" / "src").mkdir(parents=True)
    git(whole, "init", "--quiet")
    (whole / "project" / "pyproject.toml").write_text("")
    (whole / "project" / "src" / "x.py").write_text("")
    head = commit(whole)
    (whole / "elsewhere.txt").write_text("untracked, and none of the project's business")
    (whole / "project" / "receipts").mkdir()
    (whole / "project" / "receipts" / "x.tar").write_text("")
    with bench(tmp_path, plan=plan_table(), project=whole / "project") as run:
        revision = read_revision(run.context)
        assert (revision.revision, revision.clean, revision.prefix) == (head, True, "project/")
        copied = copy_tree(run.context, revision, run.context.scratch / "copy")
        assert files(copied) == {"pyproject.toml": "", "src/x.py": ""}
        (whole / "project" / "src" / "x.py").write_text("changed")
        revision = read_revision(run.context)
        assert revision.changed == (" M project/src/x.py",)
        copied = copy_tree(run.context, revision, run.context.scratch / "again")
        assert files(copied) == {"pyproject.toml": "", "src/x.py": "changed"}


def test_a_folder_ignored_by_a_surrounding_repository_has_no_revision(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / ".gitignore").write_text("*\n")
    git(tmp_path, "add", "--force", ".gitignore")
    commit(tmp_path)
    with bench(tmp_path, plan=plan_table()) as run:
        (run.context.project / "pyproject.toml").write_text("")
        revision = read_revision(run.context)
    assert (revision.revision, revision.clean) == (UNKNOWN, None)
    assert "does not track" in revision.reason


def test_a_folder_without_git_has_no_revision_and_is_copied_without_caches(run: Bench) -> None:
    project = run.context.project
    for name in ("pyproject.toml", "src/a.py", ".assay/x", "receipts/x", ".nox/x", "src/__pycache__/a.pyc"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("")
    revision = read_revision(run.context)
    assert (revision.revision, revision.clean) == (UNKNOWN, None)
    assert "not in a git repository" in revision.reason
    assert set(files(copy_tree(run.context, revision, run.context.scratch / "copy"))) == {
        "pyproject.toml",
        "src/a.py",
    }
    assert run.context.commands == []


def test_a_repository_without_a_commit_has_no_revision(run: Bench) -> None:
    git(run.context.project, "init", "--quiet")
    revision = read_revision(run.context)
    assert revision.revision == UNKNOWN
    assert revision.reason.startswith("fatal:")


def test_without_a_git_program_there_is_no_revision(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_table(), environ={"PATH": str(tmp_path)}) as run:
        git_folder = run.context.project / ".git"
        git_folder.mkdir()
        assert read_revision(run.context).reason == "git is not on PATH"


def test_git_that_breaks_breaks_the_gate(run: Bench, repository: Path) -> None:
    revision = read_revision(run.context)
    (repository / ".git/index").write_bytes(b"broken")
    with pytest.raises(GateError, match="git checkout-index ended with 128"):
        copy_tree(run.context, revision, run.context.scratch / "copy")
    with pytest.raises(GateError, match="git ls-files ended with 128"):
        read_revision(run.context)


def test_looking_changes_nothing(run: Bench, repository: Path) -> None:
    before = (repository / ".git/index").read_bytes()
    (repository / "package/a.py").touch()
    read_revision(run.context)
    assert (repository / ".git/index").read_bytes() == before
