"""What is imported is declared, so that a clean installation has it."""

from __future__ import annotations

import ast
import sys

from tests.project.files import PROJECT
from tests.project.test_pyproject import CONFIG, MODULES, names_of


def _imported(folder: str) -> set[str]:
    """Return the packages that a folder's Python files import and that are neither ours nor Python's."""
    found: set[str] = set()
    for path in (PROJECT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"_typeshed", "assay", "noxfile", "tests"}


def test_everything_that_is_imported_is_declared() -> None:
    run_half = {MODULES.get(name, name) for name in names_of(CONFIG["project"]["dependencies"])}
    groups = CONFIG["dependency-groups"]
    tests = {
        MODULES.get(name, name).replace("-", "_")
        for group in ("test", "peers")
        for name in names_of(groups[group])
    }
    assert names_of(CONFIG["project"]["optional-dependencies"]["signing"]) == {"cryptography"}
    assert _imported("scripts") - run_half == {
        "cryptography",  # signing: the extra, whose absence it explains
        *("cuda", "pycuda", "wgpu"),  # chain.speed.plain: a program that runs in the selected interpreter
        "numpy",  # chain: the selected interpreter has it
        "pytest",  # gates.pytest_report: pytest itself loads it
    }
    assert _imported("tests") - run_half - tests == {
        "atheris",  # tests.fuzz: optional, whose absence it explains
        "cuda",  # tests.rehearsal.gpu_device: a script for a machine with a GPU
        "pycuda",  # tests.rehearsal: scripts that run in the selected interpreter
        "google",  # protobuf, which in-toto-attestation is made with
    }
