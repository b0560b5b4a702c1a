"""One gate: whatever it does ends as a receipt that a reader judges the same."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from assay.engine.gaterun import not_run, run_gate
from assay.engine.setup import Done, FactsBoard, Observe
from assay.errors import DeadlineError, GateError, StorageError
from assay.gates.context import Context
from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.rules import judge_gate
from assay.model import Facts, Finding, Outcome
from tests.engine.surroundings import GATE, gate_row, surroundings

pytestmark = pytest.mark.gate


def run(folder: Path, observe: Observe, **environ: str) -> Done:
    setup = surroundings(folder, observe, environ)
    return run_gate(setup, FactsBoard(), gate_row())


def test_facts_commands_artifacts_and_log_end_in_the_receipt(tmp_path: Path) -> None:
    def observe(context: Context) -> Facts:
        made = context.scratch / "made.txt"
        made.write_text("bytes")
        context.keep(made, "made.txt")
        finished = context.execute([sys.executable, "-c", "import sys; print('out'); sys.exit(3)"])
        return {"exit": finished.exit, "said": finished.stdout.decode()}

    receipt = run(tmp_path / "run", observe).receipt
    assert receipt.outcome is Outcome.PASSED
    assert receipt.rules == 3
    assert receipt.facts == {"exit": 3, "said": "out\n"}
    assert [(command.argv[0], command.exit) for command in receipt.commands] == [(sys.executable, 3)]
    digest = hashlib.sha256(b"bytes").hexdigest()
    assert [(artifact.name, artifact.sha256, artifact.size) for artifact in receipt.artifacts] == [
        ("made.txt", digest, 5)
    ]
    assert (tmp_path / "run/artifacts" / digest).read_bytes() == b"bytes"
    log = (tmp_path / "run" / f"{GATE}.log").read_bytes()
    assert log.endswith(b"out\n")
    assert receipt.log is not None
    assert receipt.log.sha256 == hashlib.sha256(log).hexdigest()
    assert receipt.started == "2026-05-04T03:02:01Z"


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (GateError("it is odd", "an even one"), "GATE-BROKE"),
        (DeadlineError("still waiting", "an end"), "GATE-DEADLINE"),
        (ZeroDivisionError("division by zero"), "GATE-BROKE"),
    ],
)
def test_what_a_gate_raises_is_an_error_with_a_finding(tmp_path: Path, error: Exception, found: str) -> None:
    def observe(_context: Context) -> Facts:
        raise error

    done = run(tmp_path / "run", observe)
    assert done.outcome is Outcome.ERROR
    assert [each.id for each in done.receipt.findings] == [found]
    assert str(error).splitlines()[0] in done.receipt.findings[0].observed


def test_facts_are_rooted_and_redacted_before_they_are_judged(tmp_path: Path) -> None:
    seen: list[Facts] = []

    def judge(_case: Case, facts: Facts) -> tuple[Finding, ...]:
        seen.append(facts)
        return ()

    def observe(context: Context) -> Facts:
        return {"path": f"{context.project}/a.py", "said": "sesame", "list": ("x",)}

    setup = surroundings(tmp_path / "run", observe, {"MY_TOKEN": "sesame"})
    done = run_gate(setup, FactsBoard(), gate_row(judge))
    assert seen == [{"list": ["x"], "path": "$PROJECT/a.py", "said": "[redacted]"}]
    assert done.receipt.redaction_count == 1


def test_a_reader_judges_what_was_judged_in_the_run(tmp_path: Path) -> None:
    def judge(_case: Case, facts: Facts) -> tuple[Finding, ...]:
        return (finding("GATE-BROKE", f"{sorted(facts)}"),)

    setup = surroundings(tmp_path / "run", lambda _context: {"b": 1, "a": ()})
    done = run_gate(setup, FactsBoard(), gate_row(judge))
    assert judge_gate(setup.case({}), gate_row(judge), 3, done.receipt.facts) == done.receipt.findings


def test_a_long_list_is_put_aside_and_judged_whole(tmp_path: Path) -> None:
    lengths: list[int] = []

    def judge(_case: Case, facts: Facts) -> tuple[Finding, ...]:
        numbers = facts["numbers"]
        assert isinstance(numbers, list)
        lengths.append(len(numbers))
        return ()

    setup = surroundings(tmp_path / "run", lambda _context: {"numbers": list(range(5000))})
    done = run_gate(setup, FactsBoard(), gate_row(judge))
    assert lengths == [5000]
    (digest,) = done.spilled
    assert done.receipt.facts == {"numbers": {"entries": 5000, "list_sha256": digest}}
    assert [artifact.sha256 for artifact in done.receipt.artifacts] == [digest]


@pytest.mark.parametrize(
    "facts", [{"text": "x" * (1 << 20)}, {"deep": [[]]}, {"float": 0.5}, {"number": 2**53}, {"bad": "\ud800"}]
)
def test_facts_that_do_not_fit_a_receipt_are_an_error_and_never_cut(tmp_path: Path, facts: Facts) -> None:
    deep: list[object] = []
    for _ in range(40):
        deep = [deep]
    whole: Facts = {"deep": deep} if "deep" in facts else facts  # type: ignore[dict-item]  # not JSON on purpose
    done = run(tmp_path / "run", lambda _context: whole)
    expected = Outcome.PASSED if "bad" in facts else Outcome.ERROR  # a lone surrogate is replaced on the way
    assert done.outcome is expected


def test_commands_that_do_not_fit_a_receipt_are_an_error_too(tmp_path: Path) -> None:
    def observe(context: Context) -> Facts:
        for _ in range(30):
            context.record(["x" * 50_000], 0)
        return {}

    receipt = run(tmp_path / "run", observe).receipt
    assert (receipt.outcome, receipt.commands) == (Outcome.ERROR, ())


def test_findings_beyond_the_bound_are_counted(tmp_path: Path) -> None:
    many = tuple(finding("GATE-BROKE", str(number)) for number in range(1200))
    setup = surroundings(tmp_path / "run", lambda _context: {})
    done = run_gate(setup, FactsBoard(), gate_row(lambda _case, _facts: many))
    assert (len(done.receipt.findings), done.receipt.findings_omitted) == (1000, 200)


def test_nothing_private_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def observe(context: Context) -> Facts:
        (context.scratch / "left").write_text("x")
        raise GateError("broken")

    run(tmp_path / "run", observe)
    assert list((tmp_path / "tmp").iterdir()) == []
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "artifacts",
        f"{GATE}.log",
        "project",
    ]


def test_a_full_disk_is_not_a_receipt_but_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        run(tmp_path / "run", lambda _context: {})


def test_a_command_gets_a_few_inherited_variables_and_the_run_s_own(tmp_path: Path) -> None:
    code = "import os, json; print(json.dumps(sorted(os.environ)))"

    def observe(context: Context) -> Facts:
        return {"names": context.execute([sys.executable, "-I", "-c", code]).stdout.decode()}

    done = run(tmp_path / "run", observe, LD_PRELOAD="/x.so", PYTHONPATH="/y", MY_TOKEN="sesame")
    assert done.facts["names"] == '["ASSAY_RUN", "LANG", "PATH"]\n'


def test_a_command_is_ended_with_the_gate_s_own_deadline(tmp_path: Path) -> None:
    def observe(context: Context) -> Facts:
        return {"exit": context.execute([sys.executable, "-c", "import sys; sys.stdin.read(); input()"]).exit}

    setup = surroundings(tmp_path / "run", observe)
    assert run_gate(setup, FactsBoard(), gate_row(deadline_s=60)).facts == {"exit": 1}

    def hang(context: Context) -> Facts:
        return {"exit": context.execute(["sleep", "600"], deadline_s=0.2).exit}

    assert run(tmp_path / "second", hang).facts == {"exit": "timeout"}


def test_a_gate_that_did_not_run_has_a_receipt_without_log(tmp_path: Path) -> None:
    setup = surroundings(tmp_path / "run", lambda _context: {})
    receipt = not_run(setup, gate_row(), Outcome.BLOCKED, {}).receipt
    assert (receipt.outcome, receipt.log, receipt.findings) == (Outcome.BLOCKED, None, ())
