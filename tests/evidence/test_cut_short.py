"""A run that was killed at any call that writes, or whose disk was full from there on, keeps its evidence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import AssayError
from assay.evidence.bundle import write_bundle
from assay.evidence.journal import parse_journal
from assay.evidence.verify import verify_bundle
from assay.model import Verdict
from tests.evidence.cut_short import ENDS
from tests.evidence.support import GATES, RUN

ROOT = Path(__file__).parents[2]


def cut_short(how: str, folder: Path) -> int:
    """Make the runs, and return how many there are besides the whole one."""
    done = subprocess.run(  # noqa: S603  # this interpreter
        [sys.executable, "-m", "tests.evidence.cut_short", how, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'scripts'}{os.pathsep}{ROOT}"},
    )
    return int(done.stdout)


def journalled(run: Path) -> int:
    """Return how many whole lines the journal of a run has."""
    journal = run / "journal.jsonl"
    return len(parse_journal(journal.read_bytes()).entries) if journal.is_file() else 0


@pytest.mark.skipif(os.name == "nt", reason="Windows has no fork(), which makes a hundred runs a second")
@pytest.mark.parametrize("how", ENDS)
def test_every_such_run_is_undecided_to_its_last_entry(tmp_path: Path, how: str) -> None:
    runs = [tmp_path / str(number) / RUN for number in range(1, cut_short(how, tmp_path) + 1)]
    assert len(runs) > 10 * len(GATES)
    seen: list[int] = []
    for run in runs:
        seen.append(journalled(run))
        if not seen[-1]:
            with pytest.raises(AssayError):
                write_bundle(run)
            assert list(run.parent.glob("*.tar")) == []
            continue
        bundle = write_bundle(run)
        verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
        assert verified.problems == ()
        assert tuple(verified.outcomes) == GATES[: seen[-1] - 1]
        whole = seen[-1] - 1 == len(GATES)
        assert verified.verdict is (Verdict.QUALIFIED if whole else Verdict.UNDECIDED)
    assert seen == sorted(seen)
    assert set(seen) >= set(range(len(GATES) + 1))
