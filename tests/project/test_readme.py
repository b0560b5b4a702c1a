"""What the README says is so: its tables, its commands, and how a bundle is checked by hand."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nox.registry
import pytest

import noxfile  # noqa: F401  # fills nox's registry
from assay.arguments import parse_arguments
from assay.docs import project_sections, readme
from assay.engine.qualify import EXIT_BY_OUTCOME, EXIT_BY_VERDICT
from assay.evidence.ustar import END, header
from assay.evidence.verify import verify_bundle
from assay.model import Outcome, Verdict
from tests.bench.engine import idle_gates
from tests.project.files import PROJECT

TEXT = (PROJECT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)

LINE_LENGTH = 120
"""Of text that is read in a terminal; tables are as wide as they are."""


@pytest.mark.gate
def test_the_tables_are_what_they_are_made_of() -> None:
    assert readme(TEXT, project_sections(PROJECT)) == TEXT, "run `nox -s docs`"


@pytest.mark.gate
def test_every_session_that_is_named_exists() -> None:
    named = set(re.findall(r"nox -s ([a-z][a-z-]*)", TEXT))
    assert {"provision", "qualify", "tests"} <= named
    assert named <= set(nox.registry.get())


@pytest.mark.gate
def test_every_option_that_is_named_is_taken() -> None:
    parse_arguments(["qualify", "--selection", "a", "--artifact", "b", "--challenge", "ab", "--json"])
    policy = ["--plan", "p", "--tier", "physical", "--not-older-than", "3", "--challenge", "ab"]
    parse_arguments(["verify", "b", "--expect-digest", "a", "--accept", "unanchored", *policy])
    parse_arguments(["show", "b"])
    parse_arguments(["gate", "tests"])
    parse_arguments(["provision", "--wheelhouse", "d", "--download"])


@pytest.mark.gate
def test_the_exit_codes_are_the_programs() -> None:
    rows = re.findall(r"^\| `assay (\w+)[^|]*\|(.*)\|$", TEXT, re.MULTILINE)
    cells = {command: [cell.strip() for cell in row.split(" | ")] for command, row in rows}
    for verdict in (Verdict.QUALIFIED, Verdict.REJECTED, Verdict.UNDECIDED):
        assert verdict.value in cells["qualify"][EXIT_BY_VERDICT[verdict]]
    assert [cells["gate"][EXIT_BY_OUTCOME[each]] for each in (Outcome.PASSED, Outcome.FAILED)] == [
        "passed",
        "failed",
    ]


@pytest.mark.gate
def test_the_test_command_is_the_one_that_ci_runs() -> None:
    assert "nox -s tests\n" in BLOCKS
    assert (PROJECT / ".ci" / "run").read_text().rstrip().endswith("\nnox -s tests")


@pytest.mark.gate
def test_lines_fit_a_terminal() -> None:
    lines = [line for line in TEXT.splitlines() if not line.startswith("|")]
    assert [line for line in lines if len(line) > LINE_LENGTH] == []


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a bundle of gates that do nothing."""
    folder = tmp_path_factory.mktemp("runs")
    with idle_gates(folder) as run:
        yield run(folder / "receipts")


def by_hand(bundle: Path, folder: Path, change: str = "") -> subprocess.CompletedProcess[str]:
    """Follow the README's recipe over a bundle; ``change`` is done to what was unpacked."""
    (recipe,) = [block for block in BLOCKS if block.startswith("# by hand")]
    unpack, rest = recipe.split("\n", 2)[1:]
    script = f"set -e -o pipefail\nBUNDLE={bundle}\n{unpack}\n{change}\n{rest}"
    folder.mkdir()
    argv = [shutil.which("bash") or "bash", "-c", script]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603  # the README's


def test_a_bundle_can_be_followed_by_hand(bundle: Path, tmp_path: Path) -> None:
    ended = by_hand(bundle, tmp_path / "look")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    digest = verify_bundle(bundle).bundle_digest
    assert f"{digest}  manifest.json" in ended.stdout
    assert "nothing else is in it\n" in ended.stdout
    members = {path.name for path in (tmp_path / "look").iterdir()} - {"manifest.json", "artifacts"}
    assert {
        line.removesuffix(": OK") for line in ended.stdout.splitlines() if line.endswith(": OK")
    } >= members
    assert ended.stdout.count("linked: ") == len(
        (tmp_path / "look" / "journal.jsonl").read_text().splitlines()
    )


@pytest.mark.parametrize("member", ["plan.json", "nothing-3.json", "toolchain.zip", "nothing-0.log"])
def test_a_changed_member_is_seen_by_hand(bundle: Path, tmp_path: Path, member: str) -> None:
    ended = by_hand(bundle, tmp_path / "look", f"printf x >> {member}")
    assert ended.returncode != 0
    assert f"{member}: FAILED" in ended.stdout


def test_a_member_that_the_manifest_does_not_list_is_seen_by_hand(bundle: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.tar"
    more.write_bytes(bundle.read_bytes().removesuffix(END) + header("zzz.txt", 0) + END)
    ended = by_hand(more, tmp_path / "look")
    assert "manifest.json" in ended.stdout
    assert "FAILED" not in ended.stdout
    assert "nothing else is in it" not in ended.stdout


def test_a_journal_that_was_put_together_anew_is_seen_by_hand(bundle: Path, tmp_path: Path) -> None:
    swap = "sed -i '2{h;d};3{G}' journal.jsonl"
    new = "new=$(sha256sum < journal.jsonl | cut -c 1-64)"
    old = 'old=$(tar -xOf "$BUNDLE" journal.jsonl | sha256sum | cut -c 1-64)'
    repair = 'sed -i "s/$old/$new/" manifest.json'
    ended = by_hand(bundle, tmp_path / "look", f"{swap}; {new}; {old}; {repair}")
    assert "journal.jsonl: OK" in ended.stdout
    assert "BROKEN: " in ended.stdout
