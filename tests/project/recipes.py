"""Reads the recipes of CONTRIBUTING as steps, and does them in a copy of the project."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.project.files import FILES, FOLDERS, PROJECT

_BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n\n```(?:python|json|toml|c)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL
)
_NEW = re.compile(r"(?:.* )?`(?P<path>[^`]+)`:")
_END = re.compile(r"At the end of `(?P<path>[^`]+)`:")
_AFTER = re.compile(r"In `(?P<path>[^`]+)`, after `(?P<anchor>[^`]+)`:")
_BECOMES = re.compile(r"^In `(?P<path>[^`]+)`, `(?P<old>[^`]+)` becomes `(?P<new>[^`]+)`\.$", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """One step: the file that it changes, and how its text (empty where it is new) becomes another."""

    path: str
    change: Callable[[str], str]


def recipe(name: str) -> str:
    """Return the section of CONTRIBUTING with one recipe."""
    text = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
    assert f"\n## Recipe: {name}\n" in text
    return text.partition(f"\n## Recipe: {name}\n")[2].partition("\n## ")[0]


def steps(text: str) -> Iterator[Step]:
    """Yield the steps of a recipe; the order does not matter, for no two change the same place."""
    for found in _BECOMES.finditer(text):
        yield Step(found["path"], _replaced(found["old"], found["new"]))
    for block in _BLOCK.finditer(text):
        before, content = block["before"], block["content"]
        if after := _AFTER.fullmatch(before):
            anchor = f"{after['anchor']}\n"
            yield Step(after["path"], _replaced(anchor, anchor + content))
        elif end := _END.fullmatch(before):
            yield Step(end["path"], lambda old, tail=content: old + tail)  # type: ignore[misc]  # a bound default
        else:
            new = _NEW.fullmatch(before)
            assert new is not None, f"a block without its file: {before!r}"
            yield Step(new["path"], lambda old, whole=content: old + whole)  # type: ignore[misc]  # as above


def _replaced(old: str, new: str) -> Callable[[str], str]:
    """Return what replaces a text that is there exactly once."""

    def change(text: str) -> str:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        return text.replace(old, new)

    return change


def follow(text: str, project: Path) -> list[str]:
    """Do every step of a recipe in a project and return the paths that it made or changed."""
    done = []
    for step in steps(text):
        path = project / step.path
        assert path.parent.is_dir(), f"{path.parent} is no folder"
        path.write_text(step.change(path.read_text("utf-8") if path.exists() else ""), "utf-8")
        done.append(step.path)
    return done


def copy_project(target: Path) -> Path:
    """Copy the project's sources to a folder and return it."""
    ignore = shutil.ignore_patterns("__pycache__", ".mypy_cache", ".ruff_cache")
    for folder in FOLDERS:
        if folder != "receipts":
            shutil.copytree(PROJECT / folder, target / folder, ignore=ignore)
    for name in FILES:
        shutil.copy(PROJECT / name, target / name)
    return target
