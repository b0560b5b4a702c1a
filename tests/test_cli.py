"""The command line: exit codes, errors without tracebacks, runs that do not nest, interrupted runs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay import __version__
from assay.evidence.verify import verify_bundle
from assay.model import Verdict

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"

PYPROJECT = """
[project]
name = "gpu-thing"
[tool.assay]
modules = ["thing"]
architectures = ["sm_90"]
gates = ["good", "bad", "slow"]
smoke = ["python", "-m", "thing"]
[[tool.assay.command]]
name = "good"
argv = ["python", "-c", "print('fine')"]
[[tool.assay.command]]
name = "bad"
argv = ["python", "-c", "raise SystemExit(7)"]
[[tool.assay.command]]
name = "slow"
argv = ["python", "-c", "import threading; print('hanging', flush=True); threading.Event().wait()"]
deadline = 120
"""


def environment(**extra: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(SCRIPTS), "LANG": "C.UTF-8", **extra}


def assay(*arguments: str, cwd: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603  # our own interpreter and package
        [sys.executable, "-m", "assay.cli", *arguments],
        cwd=cwd,
        env=environment(**extra),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    return tmp_path


@pytest.mark.gate
def test_version_without_anything_else(tmp_path: Path) -> None:
    ended = assay("--version", cwd=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"assay {__version__}\n", "")


@pytest.mark.gate
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "COMMAND"),
        (("frobnicate",), 2, "frobnicate"),
        (("qualify",), 2, "tool.assay.gates"),
        (("qualify", "--challenge", "XYZ"), 2, "hex"),
        (("qualify", "--selection", "absent.toml"), 2, "absent.toml"),
        (("gate", "absent"), 2, "absent"),
        (("gate", "good", "--artifact", "absent.whl"), 2, "absent.whl"),
        (("verify", "absent.tar"), 2, "absent.tar"),
        (("verify", "pyproject.toml"), 4, "broken"),
        (("verify", "pyproject.toml", "--expect-digest", "xyz"), 2, "xyz"),
        (("verify", "pyproject.toml", "--plan", "absent.json"), 3, "absent.json"),
        (("verify", "pyproject.toml", "--not-older-than", "9" * 30), 2, "9 days"),
        (("verify", "pyproject.toml", "--not-older-than", "-1"), 2, "-1 days"),
        (("show", "pyproject.toml"), 4, ""),
        (("bundle", "absent"), 2, "absent"),
        (("bundle", "."), 3, "journal.jsonl"),
        (("fetch",), 2, "url"),
        (("gate", "good", "--project", "absent"), 2, "pyproject.toml"),
    ],
)
def test_a_mistake_has_its_code_and_no_traceback(
    project: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ended = assay(*arguments, cwd=project)
    assert ended.returncode == code, ended.stderr
    assert said in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr


@pytest.mark.gate
@pytest.mark.parametrize(("gate", "code", "outcome"), [("good", 0, "passed"), ("bad", 1, "failed")])
def test_one_gate_has_an_outcome_and_no_verdict(project: Path, gate: str, code: int, outcome: str) -> None:
    ended = assay("gate", gate, "--json", cwd=project)
    assert ended.returncode == code, ended.stderr
    receipt = json.loads(ended.stdout)
    assert (receipt["gate"], receipt["outcome"]) == (gate, outcome)
    assert "verdict" not in ended.stdout
    (run,) = (project / "receipts/gates" / gate).iterdir()
    assert (run / f"{gate}.exit").read_text() == ("0\n" if code == 0 else "7\n")


QUALIFIED = str(Path(__file__).parent / "data/bundles/1/qualified.tar")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full disk at hand")
@pytest.mark.parametrize("arguments", [("verify",), ("verify", "--json"), ("show",), ("compare", QUALIFIED)])
def test_an_answer_that_cannot_be_written_is_no_verdict(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(  # noqa: S603  # our own interpreter and package
            [sys.executable, "-m", "assay.cli", *arguments, QUALIFIED],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 3
    assert ended.stderr.startswith("assay: the system refused: [Errno 28]")
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [("verify",), ("verify", "--json"), ("show",)])
def test_without_anywhere_to_write_the_exit_code_is_the_same(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    command = [sys.executable, "-m", "assay.cli", *arguments, QUALIFIED]
    ended = subprocess.run(  # noqa: S603  # as above; a shell is the shortest way to close a descriptor
        ["/bin/sh", "-c", f"exec {shlex.join(command)} >&-"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0 if arguments == ("show",) else 3, "")


def test_a_terminal_without_the_letters_of_a_bundle_gets_their_escapes(tmp_path: Path) -> None:
    ended = assay("show", QUALIFIED, cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\\u2026" in ended.stdout  # the dots between the first and the last values
    ended = assay("verify", QUALIFIED, "--json", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert json.loads(ended.stdout)["schema"] == "assay/verdict/1"


def test_runs_do_not_nest(project: Path) -> None:
    ended = assay("gate", "good", cwd=project, ASSAY_RUN="abc")
    assert (ended.returncode, "ASSAY_RUN" in ended.stderr) == (2, True)


def test_two_runs_at_once_have_a_folder_each(project: Path) -> None:
    running = [
        subprocess.Popen(  # as above
            [sys.executable, "-m", "assay.cli", "gate", "good"],
            cwd=project,
            env=environment(),
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    for process in running:
        process.communicate(timeout=120)
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(list((project / "receipts/gates/good").iterdir())) == 3


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGTERM, 130), (signal.SIGINT, 130), (signal.SIGKILL, -9)]
)
def test_an_ended_run_leaves_what_it_journalled(project: Path, sent: signal.Signals, code: int) -> None:
    with subprocess.Popen(  # as above
        [sys.executable, "-m", "assay.cli", "gate", "slow"],
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        run = Path(next(line for line in process.stdout if line.startswith(b"run: "))[5:].decode().strip())
        child = _await_child(process.pid)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in errors
    if sent is signal.SIGKILL:
        os.kill(child, signal.SIGKILL)
    else:
        assert errors.decode() == f"assay: interrupted: what was journalled is kept: assay bundle {run}\n"
        assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text()
    assert assay("bundle", str(run), cwd=project).returncode == 0
    verified = verify_bundle(run.with_name(f"{run.name}.tar"))
    assert (verified.intact, verified.verdict) == (True, Verdict.UNDECIDED)
    assert set(verified.unfinished) == {"good", "bad", "slow"}


def _await_child(parent: int) -> int:
    """Return the process id of a process's child once there is one."""
    while True:
        for listing in Path(f"/proc/{parent}/task").glob("*/children"):
            found = listing.read_text().split()
            if found:
                return int(found[0])
