"""What the project's configuration promises."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from assay.toolchain import LOCK, NEWEST, OLDEST
from tests.project.files import PROJECT

TEXT = (PROJECT / "pyproject.toml").read_text("utf-8")
CONFIG: dict[str, Any] = tomllib.loads(TEXT)

pytestmark = pytest.mark.gate


MODULES = {
    "cyclonedx-python-lib": "cyclonedx",
    "markdown-it-py": "markdown_it",
    "packageurl-python": "packageurl",
    "pyelftools": "elftools",
}
"""What packages are imported as, where that is not their name."""


def names_of(requirements: list[Any]) -> set[str]:
    """Return the packages of a list of requirements, included groups left out."""
    plain = [each for each in requirements if isinstance(each, str)]
    return {re.split(r"[^A-Za-z0-9-]", each, maxsplit=1)[0] for each in plain}


def test_the_distribution_is_gpu_assay_with_the_command_assay() -> None:
    project = CONFIG["project"]
    assert project["name"] == "gpu-assay"
    assert project["scripts"] == {"assay": "assay.cli:main"}
    assert project["license"] == "Apache-2.0"
    assert (PROJECT / "LICENSE").read_text().split()[:2] == ["Apache", "License"]


def test_python_is_the_same_wherever_it_is_named() -> None:
    project = CONFIG["project"]
    supported = [f"3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    assert project["requires-python"] == f">=3.{OLDEST[1]},<3.{NEWEST[1] + 1}"
    prefix = "Programming Language :: Python :: "
    classifiers = [each.removeprefix(prefix) for each in project["classifiers"] if each.startswith(prefix)]
    assert classifiers == supported
    assert CONFIG["tool"]["mypy"]["python_version"] == supported[0]
    assert CONFIG["tool"]["ruff"]["target-version"] == f"py{supported[0].replace('.', '')}"


def test_the_wheel_ships_scripts_assay_as_assay() -> None:
    assert CONFIG["build-system"]["build-backend"] == "hatchling.build"
    assert CONFIG["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["scripts/assay"]
    assert CONFIG["tool"]["hatch"]["build"]["reproducible"] is True


def test_every_dependency_is_in_the_lock() -> None:
    wanted = names_of(CONFIG["project"]["dependencies"])
    for group in CONFIG["dependency-groups"].values():
        wanted |= names_of(group)
    locked = set(re.findall(r"^([a-z0-9-]+)==", LOCK.read_text(), re.MULTILINE))
    assert {"hatchling", "nox", "pytest", "ruff", "mypy"} <= wanted <= locked


def test_every_dependency_of_the_run_half_is_imported_or_run_by_it() -> None:
    sources = "".join(path.read_text("utf-8") for path in (PROJECT / "scripts").rglob("*.py"))
    unused = [
        name
        for name in names_of(CONFIG["project"]["dependencies"])
        if not re.search(
            rf"^\s*(?:import|from) {MODULES.get(name, name)}\b|\"{name}\"", sources, re.MULTILINE
        )
    ]
    assert unused == []


def test_ruff_checks_every_rule_and_each_exception_has_its_reason() -> None:
    lint = CONFIG["tool"]["ruff"]["lint"]
    assert lint["select"] == ["ALL"]
    section = TEXT.partition("[tool.ruff.lint]")[2].partition("[tool.ruff.lint.isort]")[0]
    exceptions = [line for line in section.splitlines() if re.search(r'"[A-Z]+[0-9]*"', line)]
    kept = [line for line in exceptions if not line.startswith("select")]
    assert len(kept) >= len(lint["ignore"])
    assert [line for line in kept if not re.search(r"# \S+", line)] == []


def test_every_exception_in_the_sources_has_its_reason() -> None:
    noqa, ignore = r"noqa(?!: [A-Z0-9]+(?:, ?[A-Z0-9]+)*\s+[#-] \S)", r"type: ignore(?!\[[a-z, -]+\]\s+# \S)"
    reasonless = re.compile(rf"#\s*(?:{noqa}|{ignore})")
    found = [
        f"{path}:{number}"
        for folder in ("scripts", "tests")
        for path in (PROJECT / folder).rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if reasonless.search(line) and path != Path(__file__)
    ]
    assert found == []


def test_types_are_strict_over_package_tests_and_sessions() -> None:
    mypy = CONFIG["tool"]["mypy"]
    assert mypy["strict"] is True
    assert mypy["files"] == ["scripts/assay", "tests", "noxfile.py"]
    allowed = {"module", "ignore_missing_imports", "follow_untyped_imports"}  # the last reads more types
    assert {key for table in mypy["overrides"] for key in table} - allowed == set()
    modules = [module for table in mypy["overrides"] for module in table["module"]]
    assert not [module for module in modules if module.startswith(("assay", "tests"))]


def test_pytest_is_strict_and_turns_warnings_into_errors() -> None:
    options = CONFIG["tool"]["pytest"]["ini_options"]
    assert options["filterwarnings"][0] == "error"
    assert {"--strict-markers", "--strict-config"} <= set(options["addopts"])
    assert options["xfail_strict"] is True
