"""Gate ``hosted`` over real Bun, host library and CPython; each fault is a finding, in time."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assay.gates.chain_session import Deadlines
from assay.gates.hosted import observe
from assay.judge.hosted import BUN, HOST, LIBPYTHON, claim, judge
from assay.judge.reading import mapping, number, text
from assay.model import Facts, Finding, Outcome, Severity, outcome_of
from assay.selection import SITE_PACKAGES, Selection
from tests.chain.support import compile_driver
from tests.conftest import PROJECT
from tests.gates.running import bench
from tests.gates.test_chain_real import plan_of
from tests.hosted.native import library_of
from tests.judge.chainfacts import CASE

SOON = Deadlines(after={"": 3.0}, rest=30.0, end=3.0)
"""Python starts in under a second; what takes longer than this hangs."""

ABI = "unsigned assay_host_abi(void) { return %d; }"
OTHERS = "".join(f"int assay_host_{name}(void) {{ return 0; }}" for name in ("open", "call", "close", "free"))


def earlier(version: str) -> dict[str, Facts]:
    """Return what gates before it recorded, as far as this one reads it."""
    return {"environment": {"interpreter": {"version": version}}, "build": {}, "provider": {}, "toolkit": {}}


def seen(
    selection: Selection,
    tmp_path: Path,
    changed: Mapping[str, str] | None = None,
    **how: Any,  # noqa: ANN401  # options of the bench
) -> tuple[Facts, tuple[Finding, ...]]:
    """Return facts and findings of one run of chain ``cuda-only`` with parts of the selection exchanged."""
    values = {**selection.values, **(changed or {})}
    with bench(
        tmp_path,
        plan=plan_of("cuda-only"),
        project=PROJECT,
        selection=values,
        environ=how.get("environ", {}),
        facts=how.get("facts", earlier(version_of(selection))),
    ) as on:
        facts = on.observe(partial(observe, deadlines=how.get("deadlines")))
        return facts, judge(on.case(), facts)


def version_of(selection: Selection) -> str:
    """Return the selected interpreter's version, as its environment's own file has it (PEP 405)."""
    config = (Path(selection.executable or "").parent.parent / "pyvenv.cfg").read_text()
    return next(line.partition("=")[2].strip() for line in config.splitlines() if line.startswith("version"))


def ids(found: tuple[Finding, ...]) -> set[str]:
    return {each.id for each in found}


def shadowed(selection: Selection, tmp_path: Path, numpy: str) -> dict[str, str]:
    """Return a change that puts another ``numpy`` in front of the selection's packages."""
    folder = tmp_path / "shadow"
    folder.mkdir()
    (folder / "numpy.py").write_text(f"import os\n{numpy}\n", encoding="utf-8")
    return {SITE_PACKAGES: f"{folder}:{selection.values[SITE_PACKAGES]}"}


def test_the_chain_runs_inside_bun_and_is_seen_from_outside(selection: Selection, tmp_path: Path) -> None:
    (tmp_path / "driver").mkdir()
    driver = compile_driver(selection, tmp_path / "driver").parent
    facts, found = seen(selection, tmp_path, environ={"LD_LIBRARY_PATH": str(driver)})
    told = mapping(facts, "hosted.steps")
    assert not {each.id for each in found if each.id.startswith("HOSTED-")} - {
        "HOSTED-PYTHON-OTHER",  # gate environment recorded nothing but a version here
        "HOSTED-NUMPY",
        "HOSTED-MAPPED",
    }
    assert text(facts, "child.ended.reason") == "done"
    assert number(told, "bun.pid") == number(told, "python.pid") == number(facts, "child.pid")
    assert text(told, "second.code") == "already-open"
    assert number(told, "chain.exit") == 0
    assert "inside the process of Bun" in claim_of(facts)


def claim_of(facts: Facts) -> str:
    """Return the claim over facts alone."""
    return claim(CASE, facts)


@pytest.mark.parametrize("variable", [BUN, HOST, LIBPYTHON])
def test_a_selection_without_a_part_is_unavailable(
    selection: Selection, tmp_path: Path, variable: str
) -> None:
    facts, found = seen(selection, tmp_path, {variable: ""})
    assert ids(found) == {"HOSTED-NOT-RUN"}
    assert variable in found[0].observed
    assert outcome_of(found) is Outcome.UNAVAILABLE
    assert facts["chains"] == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("int other(void) { return 1; }", "host-abi-missing"),
        (ABI % 2 + OTHERS, "host-abi-other"),
        (ABI % 1, "host-symbol"),
    ],
)
def test_a_host_library_of_another_abi_is_named_as_such(
    selection: Selection, tmp_path: Path, source: str, said: str
) -> None:
    library = library_of(source, tmp_path / "libother.so")
    _, found = seen(selection, tmp_path, {HOST: str(library)})
    assert "HOSTED-LIBRARY-ABI" in ids(found)
    assert any(said in each.observed for each in found)
    assert outcome_of(found) is Outcome.FAILED


def test_what_is_no_library_is_not_loaded(selection: Selection, tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    _, found = seen(selection, tmp_path, {HOST: str(tmp_path / "text.so")})
    assert "HOSTED-LIBRARY-LOAD" in ids(found)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "libpython-load"),
        ("int other(void) { return 1; }", "libpython-symbol"),
        ('const char *Py_GetVersion(void) { return "3.12"; }', "libpython-symbol"),
    ],
)
def test_a_wrong_libpython_is_named(
    selection: Selection, tmp_path: Path, source: str | None, said: str
) -> None:
    library = tmp_path / "libpython3.so"
    library = library_of(source, library) if source else library
    _, found = seen(selection, tmp_path, {LIBPYTHON: str(library)})
    assert "HOSTED-LIBPYTHON" in ids(found)
    assert any(said in each.observed for each in found)


def test_a_libpython_of_another_version_than_the_interpreter_is_refused_before_it_starts(
    selection: Selection, tmp_path: Path
) -> None:
    facts, found = seen(selection, tmp_path, facts=earlier("3.99.1"))
    (refused,) = [each for each in found if each.id == "HOSTED-LIBPYTHON"]
    assert f"is CPython {version_of(selection)}, the interpreter 3.99.1" in refused.observed
    assert "opened" not in mapping(facts, "hosted.steps")


def test_an_exception_keeps_its_message_and_place(selection: Selection, tmp_path: Path) -> None:
    change = shadowed(selection, tmp_path, "raise ValueError('größer als 漢字 \\udc80 😀')")
    facts, found = seen(selection, tmp_path, change)
    (raised,) = [each for each in found if each.id == "HOSTED-EXCEPTION"]
    assert "ValueError: größer als 漢字" in raised.observed
    assert "numpy.py" in raised.observed
    assert "Traceback" in text(facts, "hosted.steps.exception.traceback")
    assert mapping(facts, "hosted.steps.closed") != {}


def test_an_exception_in_a_destructor_is_told(selection: Selection, tmp_path: Path) -> None:
    ending = "class Kept:\n    def __del__(self):\n        raise RuntimeError('im Abbau: ü')\n"
    code = f"{ending}Kept()\nraise ImportError"
    _, found = seen(selection, tmp_path, shadowed(selection, tmp_path, code))
    (told,) = [each for each in found if each.id == "HOSTED-UNRAISABLE"]
    assert "RuntimeError: im Abbau: ü" in told.observed


def test_a_killed_bun_is_named_with_its_signal(selection: Selection, tmp_path: Path) -> None:
    _, found = seen(selection, tmp_path, shadowed(selection, tmp_path, "os.kill(os.getpid(), 9)"))
    assert {"CHAIN-CHILD-EXITED", "HOSTED-CLOSE"} <= ids(found)
    assert any("ended by signal 9" in each.observed for each in found)
    assert outcome_of(found) is Outcome.ERROR


def test_a_crash_is_named_with_its_signal(selection: Selection, tmp_path: Path) -> None:
    crash = "import ctypes\nctypes.string_at(0)"
    _, found = seen(selection, tmp_path, shadowed(selection, tmp_path, crash))
    assert "CHAIN-CHILD-EXITED" in ids(found)
    assert any("ended by signal" in each.observed for each in found)


def test_a_process_that_exits_under_python_is_named(selection: Selection, tmp_path: Path) -> None:
    _, found = seen(selection, tmp_path, shadowed(selection, tmp_path, "os._exit(0)"))
    assert {"CHAIN-CHILD-EXITED", "HOSTED-CLOSE"} <= ids(found)


@pytest.mark.parametrize("loop", ["while True: pass", "import threading; threading.Event().wait()"])
def test_a_python_that_never_ends_is_ended_in_time(selection: Selection, tmp_path: Path, loop: str) -> None:
    _, found = seen(selection, tmp_path, shadowed(selection, tmp_path, loop), deadlines=SOON)
    assert "CHAIN-CHILD-DEADLINE" in ids(found)
    assert any(each.severity is Severity.ERROR for each in found)


def test_a_bun_that_is_none_is_named(selection: Selection, tmp_path: Path) -> None:
    shutil.copy("/bin/true", tmp_path / "bun")
    _, found = seen(selection, tmp_path, {BUN: str(tmp_path / "bun")})
    assert "CHAIN-CHILD-EXITED" in ids(found)
    assert outcome_of(found) is not Outcome.PASSED
