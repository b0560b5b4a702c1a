"""Command gates observed: real commands in a real folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.gates.command import find_program, observe
from assay.gates.table import observers
from assay.judge.reading import texts
from assay.judge.table import row
from assay.model import Facts
from tests.gates.running import Bench, bench, ids, judged
from tests.plan.support import changed


def plan_with(*argv: str, **options: object) -> dict[str, Any]:
    """Return a plan whose gate ``lint`` runs ``argv``."""
    return changed("command", [{"name": "lint", "argv": list(argv), "deadline": 60, **options}])


def observed(run: Bench) -> Facts:
    command = run.context.plan.command("lint")
    assert command is not None
    return run.observe(partial(observe, command))


def found(run: Bench, facts: Facts) -> list[str]:
    return ids(judged(row(run.context.plan, "lint"), run.case(), facts))


def python(tmp_path: Path, code: str, **options: object) -> tuple[Facts, list[str], str]:
    """Return facts, findings and log of a command that is Python code."""
    with bench(tmp_path, plan=plan_with("python", "-c", f"exec({code!r})", **options)) as run:
        facts = observed(run)
        return facts, found(run, facts), run.logged()


def test_a_command_that_ends_with_0_passes_and_is_recorded(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_with("python", "-c", "print('all is well')")) as run:
        facts = observed(run)
        assert (facts["exit"], found(run, facts)) == (0, [])
        assert [command.argv[1:] for command in run.context.commands] == [("-c", "print('all is well')")]
        assert "all is well\n" in run.logged()


def test_a_command_that_fails_is_found_with_its_last_words(tmp_path: Path) -> None:
    facts, findings, _ = python(tmp_path, "print('one'); import sys; sys.exit('\\x1b[31mtwo\\x1b[0m')")
    assert (findings, facts["last_words"]) == (["COMMAND-FAILED"], "one\ntwo")


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    facts, findings, _ = python(tmp_path, "import threading; threading.Event().wait()", deadline=1)
    assert (facts["exit"], findings) == ("timeout", ["GATE-DEADLINE"])


LEAVE = """
import subprocess, sys
wait = "import sys, threading; print('up', flush=True); threading.Event().wait()"
argv = [sys.executable, "-c", wait, "left-behind"]
stray = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
stray.stdout.readline()
print("PID", stray.pid, flush=True)
if {hang}:
    stray.wait()
"""


def is_gone(pid: int) -> bool:
    """Say whether a process has ended; one that only waits to be reaped has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state in {"Z", "X"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows environments")
@pytest.mark.parametrize(
    ("hang", "deadline", "expected"),
    [("False", 60, ["COMMAND-LEFT"]), ("True", 2, ["COMMAND-LEFT", "GATE-DEADLINE"])],
)
def test_a_process_that_left_the_group_ends_with_the_command_and_is_named(
    tmp_path: Path, hang: str, deadline: int, expected: list[str]
) -> None:
    facts, findings, log = python(tmp_path, LEAVE.replace("{hang}", hang), deadline=deadline)
    assert sorted(findings) == expected
    assert [name.rpartition(" ")[2] for name in texts(facts, "left")] == ["left-behind"]
    assert is_gone(int(log.partition("PID ")[2].split()[0]))


def test_a_command_that_is_not_installed_is_unavailable(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_with("no-such-program-anywhere")) as run:
        facts = observed(run)
        assert (facts, found(run, facts)) == ({"program": None}, ["COMMAND-MISSING"])
        assert run.context.commands == []


def test_a_command_runs_in_the_project_with_a_minimal_environment(tmp_path: Path) -> None:
    outside = {"SECRET_TOKEN": "not for commands", "PYTHONPATH": "/elsewhere", "LD_PRELOAD": "/x.so"}
    code = "import os; print('AT', os.getcwd()); print('HAS', *sorted(os.environ))"
    with bench(tmp_path, plan=plan_with("python", "-c", code), environ=outside) as run:
        observed(run)
        log = run.logged()
    assert "AT $PROJECT\n" in log
    names = set(log.partition("HAS ")[2].split())
    assert {"ASSAY_FINDINGS", "ASSAY_RUN", "LANG", "PATH"} <= names
    assert not names & set(outside)


def test_runs_do_not_nest_because_the_command_knows_the_run(tmp_path: Path) -> None:
    _, _, log = python(tmp_path, "import os; print('RUN', os.environ['ASSAY_RUN'])")
    assert f"RUN {'ab' * 16}\n" in log


def test_findings_that_a_command_writes_are_the_gates(tmp_path: Path) -> None:
    code = """
import json, os
one = {"id": "LINT-LINE", "severity": "failure", "observed": "too long", "where": ["a.py:3"]}
with open(os.environ["ASSAY_FINDINGS"], "w") as stream:
    json.dump({"schema": "assay/findings/1", "findings": [one]}, stream, indent=1)
"""
    facts, findings, _ = python(tmp_path, code)
    assert (facts["exit"], findings) == (0, ["COMMAND-REPORTED-FAILURE"])


@pytest.mark.parametrize(
    "write",
    [
        "os.mkdir(path)",
        "os.mkfifo(path)",
        "os.symlink('/dev/zero', path)",
        "os.symlink('nowhere', path)",
        "open(path, 'w').write('{')",
        "open(path, 'wb').write(b'\\xff')",
        "open(path, 'w').write('[1.5]')",
        "open(path, 'w').write('[' * 100000)",
        "open(path, 'w').write('{\"a\": 1, \"a\": 2}')",
        "open(path, 'w').write('\"' + 'x' * 300000 + '\"')",
        "open(path, 'w').close()",
        "os.close(os.open(path, os.O_CREAT, 0)) or os.chmod(os.path.dirname(path), 0o700)",
    ],
)
def test_a_findings_file_of_another_kind_is_an_error(tmp_path: Path, write: str) -> None:
    _, findings, _ = python(tmp_path, f"import os; path = os.environ['ASSAY_FINDINGS']; {write}")
    assert findings == ["COMMAND-FINDINGS-INVALID"]


TESTS = """
import pytest

def test_passes(): pass

@pytest.mark.gate
def test_marked(): pass

@pytest.mark.skip(reason="no device")
def test_skipped(): pass

@pytest.mark.xfail(reason="known")
def test_expected(): assert False

@pytest.mark.xfail(reason="was known", strict=False)
def test_better(): pass
"""

FAILING = """
import pytest

@pytest.fixture
def broken(): raise RuntimeError

@pytest.fixture
def broken_after():
    yield
    raise RuntimeError

def test_passes(): pass
def test_fails(): assert False
def test_breaks(broken): pass
def test_breaks_after(broken_after): pass
"""


def pytest_gate(tmp_path: Path, tests: Mapping[str, str], *words: str, allowed: tuple[str, ...] = ()) -> Any:  # noqa: ANN401  # facts are nested JSON
    """Return facts and findings of a gate that runs pytest over these files."""
    argv = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *words)
    plan = plan_with(*argv, report="pytest", **{"allowed-skips": list(allowed)})
    with bench(tmp_path, plan=plan) as run:
        (run.context.project / "pytest.ini").write_text("[pytest]\nmarkers = gate\n")
        for name, text in tests.items():
            (run.context.project / name).write_text(text)
        facts = observed(run)
        return facts, found(run, facts)


def test_pytest_is_counted(tmp_path: Path) -> None:
    facts, findings = pytest_gate(tmp_path, {"test_a.py": TESTS})
    document = facts["tests"]["document"]
    assert document["counts"] == {
        "passed": 2,
        "failed": 0,
        "errors": 0,
        "skipped": 1,
        "xfailed": 1,
        "xpassed": 1,
        "deselected": 0,
    }
    assert document["skipped"] == [{"id": "test_a.py::test_skipped", "reason": "Skipped: no device"}]
    assert document["xfailed"] == [{"id": "test_a.py::test_expected", "reason": "known"}]
    assert findings == ["COMMAND-SKIPPED", "COMMAND-SKIPPED"]


@pytest.mark.parametrize("words", [(), ("-n", "1")])
def test_a_pytest_that_a_test_starts_is_not_counted(tmp_path: Path, words: tuple[str, ...]) -> None:
    nested = """
import os, subprocess, sys

def test_another(tmp_path):
    (tmp_path / "test_x.py").write_text("def test_one(): pass\\ndef test_two(): pass\\n")
    assert not {"PYTEST_PLUGINS", "PYTHONPATH", "ASSAY_PYTEST_REPORT"} & set(os.environ)
    argv = [sys.executable, "-m", "pytest", "-q", str(tmp_path / "test_x.py")]
    assert b"2 passed" in subprocess.run(argv, check=True, capture_output=True).stdout
"""
    facts, findings = pytest_gate(tmp_path, {"test_a.py": nested}, *words)
    assert (facts["tests"]["document"]["counts"]["passed"], findings) == (1, [])


def test_skips_that_the_plan_names_pass(tmp_path: Path) -> None:
    allowed = ("test_a.py::test_skipped", "test_a.py::test_expected")
    assert pytest_gate(tmp_path, {"test_a.py": TESTS}, allowed=allowed)[1] == []


@pytest.mark.parametrize("words", [("-m", "gate"), ("-m", "gate", "-n", "1")])
def test_what_a_mark_takes_out_is_counted_also_by_workers(tmp_path: Path, words: tuple[str, ...]) -> None:
    facts, findings = pytest_gate(tmp_path, {"test_a.py": TESTS}, *words)
    counts = facts["tests"]["document"]["counts"]
    assert (counts["passed"], counts["deselected"], findings) == (1, 4, [])


@pytest.mark.parametrize("words", [(), ("-n", "1")])
def test_failures_and_errors_are_counted_and_named(tmp_path: Path, words: tuple[str, ...]) -> None:
    facts, findings = pytest_gate(tmp_path, {"test_b.py": FAILING}, *words)
    document = facts["tests"]["document"]
    assert (document["counts"]["passed"], document["failed"]) == (1, ["test_b.py::test_fails"])
    assert sorted(document["errors"]) == ["test_b.py::test_breaks", "test_b.py::test_breaks_after"]
    assert findings == ["COMMAND-FAILED", "COMMAND-TESTS-FAILED"]


@pytest.mark.parametrize(
    "tests",
    [
        "import pytest\npytest.skip('all of it', allow_module_level=True)\n",
        "import pytest\n@pytest.mark.skip\ndef test_one(): pass\n",
    ],
)
def test_a_run_in_which_everything_was_skipped_fails_although_pytest_ends_well(
    tmp_path: Path, tests: str
) -> None:
    _, findings = pytest_gate(tmp_path, {"test_a.py": tests})
    assert "COMMAND-NOTHING-PASSED" in findings
    assert "COMMAND-SKIPPED" in findings


def test_a_run_without_tests_fails(tmp_path: Path) -> None:
    _, findings = pytest_gate(tmp_path, {})
    assert findings == ["COMMAND-FAILED", "COMMAND-NOTHING-PASSED"]


def test_a_file_that_cannot_be_collected_is_an_error(tmp_path: Path) -> None:
    facts, findings = pytest_gate(tmp_path, {"test_a.py": TESTS, "test_c.py": "import no_such_module\n"})
    assert facts["tests"]["document"]["errors"] == ["test_c.py"]
    assert "COMMAND-TESTS-FAILED" in findings


def test_a_command_that_is_not_pytest_leaves_no_counts(tmp_path: Path) -> None:
    _, findings, _ = python(tmp_path, "print('5 passed')", report="pytest")
    assert findings == ["COMMAND-REPORT-MISSING"]


def test_python_is_the_interpreter_that_runs_assay(tmp_path: Path) -> None:
    assert find_program("python", tmp_path, "") == sys.executable


def test_a_word_with_a_slash_is_relative_to_the_project(tmp_path: Path) -> None:
    script = tmp_path / "tools" / "check.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    assert find_program("tools/check.sh", tmp_path, "") is None
    script.chmod(0o755)
    assert find_program("tools/check.sh", tmp_path, "") == str(script)


def test_other_words_are_looked_up_in_order(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").write_text("#!/bin/sh\n")
        (tmp_path / name / "tool").chmod(0o755)
    path = f"{tmp_path / 'first'}:{tmp_path / 'second'}"
    assert find_program("tool", tmp_path, path) == str(tmp_path / "first" / "tool")


def test_the_table_observes_command_gates_of_the_plan(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_with("python", "-c", "pass")) as run:
        assert observers(run.context.plan, ("lint",))["lint"](run.context)["exit"] == 0
