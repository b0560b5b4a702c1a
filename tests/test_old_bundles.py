"""A bundle of every schema version ever released still verifies, and the bad ones beside it still do not."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay import arguments
from assay.cli import main
from assay.evidence.show import show_bundle
from assay.evidence.toolchain import toolchain_bytes
from assay.evidence.verification import Integrity, Signer
from assay.evidence.verify import verify_bundle
from assay.model import Tier, Verdict
from tests.data.bundles.make import BAD, HERE, NEWEST, make_bad, signer

NOW = datetime(2046, 12, 1, tzinfo=UTC)
"""Archives are read for years."""

VERSIONS = sorted(path for path in HERE.iterdir() if path.name.isdecimal())
GOOD = [path for version in VERSIONS for path in sorted(version.glob("*.tar"))]


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_every_schema_version_up_to_the_newest_has_its_bundles() -> None:
    assert [path.name for path in VERSIONS] == [str(number) for number in range(1, int(NEWEST.name) + 1)]
    assert [named(path) for path in GOOD if path.parent == NEWEST] == ["1/qualified", "1/undecided"]


@pytest.mark.parametrize("path", GOOD, ids=named)
def test_an_old_bundle_verifies_and_is_what_its_name_says(path: Path) -> None:
    verified = verify_bundle(path, key=signer().public, now=NOW, subject=True)
    assert verified.problems == ()
    assert (verified.integrity, verified.signer) == (Integrity.INTACT, Signer.VALID)
    assert verified.verdict is Verdict(path.stem)
    assert verified.tier is (Tier.PHYSICAL if path.stem == "qualified" else None)
    assert verified.toolchain == "unknown to the reader"
    assert verified.policy.reasons == ()
    assert f"verdict: {path.stem}" in show_bundle(path, NOW)[0][0]


@pytest.mark.parametrize("name", BAD)
def test_a_bad_bundle_is_refused_at_the_member_that_is_wrong(name: str) -> None:
    verified = verify_bundle(NEWEST / "bad" / f"{name}.tar", accept=["unanchored"], now=NOW)
    assert (verified.integrity, verified.exit_code) == (Integrity.BROKEN, 4)
    assert BAD[name][1] in {problem.member for problem in verified.problems}


def test_the_program_still_makes_the_bad_ones(tmp_path: Path) -> None:
    make_bad(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in (NEWEST / "bad").iterdir()}


def test_their_values_are_recomputed_and_not_copied() -> None:
    steps = verify_bundle(NEWEST / "qualified.tar", now=NOW).steps
    (step,) = [each for each in steps if each.title.startswith("values")]
    assert step.detail == "12399 values of pipeline"  # (37 + 4096) of each of three stages


# ---------------------------------------------------------------------------------- the reader's own copy


PROBE = """
import runpy, sys
before = set(sys.modules)
sys.argv = sys.argv[1:]
def refuse(event, arguments):
    if event.split(".")[0] in {"socket", "subprocess", "ctypes"} or event in {"os.exec", "os.fork"}:
        raise RuntimeError(event)
sys.addaudithook(refuse)
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    foreign = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
    print("imported:", sorted(foreign - {"assay", "__main__"}))
"""


@pytest.fixture(scope="module")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the reader's own copy, as the command writes it."""
    path = tmp_path_factory.mktemp("reader") / "folder" / "assay.pyz"
    assert main(["zip", "--out", str(path)]) == 0
    return path


def bare(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python without its site-packages, without a variable, away from the sources."""
    return subprocess.run(  # noqa: S603  # this interpreter
        [sys.executable, "-I", "-S", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={},
    )


def test_the_readers_own_copy_is_the_toolchain_of_a_run(pyz: Path) -> None:
    assert pyz.read_bytes() == toolchain_bytes()


def test_it_verifies_on_a_python_that_has_nothing_and_asks_for_nothing(pyz: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.pub"
    key.write_text(signer().public.raw.hex())
    bundle = str(NEWEST / "qualified.tar")
    ended = bare("-c", PROBE, str(pyz), "verify", bundle, "--key", str(key), folder=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "verdict: qualified (tier: physical)" in ended.stdout
    assert f"signer: valid: key {signer().public.id}" in ended.stdout
    assert ended.stdout.endswith("imported: []\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["verify", str(NEWEST / "qualified.tar")], 3),
        (["verify", str(NEWEST / "bad" / "exit-changed.tar")], 4),
        (["show", str(NEWEST / "qualified.tar")], 0),
        (["compare", str(NEWEST / "qualified.tar"), str(NEWEST / "undecided.tar")], 1),
        (["compare", str(NEWEST / "undecided.tar"), str(NEWEST / "undecided.tar")], 0),
        (["explain", "PROVIDER-DIGEST"], 0),
        (["verify", "absent.tar"], 2),
        (["verify"], 2),
    ],
)
def test_every_reading_command_works_in_it(
    pyz: Path, tmp_path: Path, arguments: list[str], code: int
) -> None:
    ended = bare(str(pyz), *arguments, folder=tmp_path)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr


COMMANDS = set(re.findall(r"^    ([a-z]+)(?: |$)", arguments._parser().format_help(), re.MULTILINE))  # noqa: SLF001  # all
READING = {"verify", "show", "compare", "release", "bundle", "zip", "explain"}
RUNNING = {"qualify": (), "rehearse": (), "gate": ("lint",), "diagnose": (), "provision": ()}
WANTING = {
    "report": (str(NEWEST / "qualified.tar"), "-o", "page.html"),
    "keygen": ("--out", "key"),
    "sign": (str(NEWEST / "qualified.tar"), "--key", "key"),
    "attest": (str(NEWEST / "qualified.tar"), "--key", "key", "--sigstore"),
    "fetch": (),
    "archive": (str(NEWEST / "qualified.tar"), "--to", "oci://localhost/x"),
    "supersede": (*(str(NEWEST / "qualified.tar"),) * 2, "--claims", "x", "--reason", "y", "--key", "key"),
    "revoke": (str(NEWEST / "qualified.tar"), "--reason", "y", "--key", "key"),
}
"""Commands that need a package or a file that is not there."""


@pytest.mark.parametrize("name", RUNNING)
def test_a_command_that_runs_something_is_not_in_one_file(pyz: Path, tmp_path: Path, name: str) -> None:
    ended = bare(str(pyz), name, *RUNNING[name], folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"is one file and only reads: it cannot `{name}`" in ended.stderr
    assert "pip install gpu-assay" in ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WANTING)
def test_a_command_that_needs_more_than_python_says_so_in_words(pyz: Path, tmp_path: Path, name: str) -> None:
    ended = bare(str(pyz), name, *WANTING[name], folder=tmp_path)
    assert (ended.returncode in {2, 3}, ended.stdout) == (True, "")
    assert "Traceback" not in ended.stderr
    assert "  remedy:" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_commands_are_those_that_are_sorted_here() -> None:
    assert READING | set(RUNNING) | set(WANTING) == COMMANDS


def test_it_only_reads_whatever_else_its_python_has(pyz: Path, tmp_path: Path) -> None:
    argv = [sys.executable, str(pyz), "qualify"]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603  # ours
    assert (ended.returncode, "only reads: it cannot `qualify`" in ended.stderr) == (2, True)


def test_an_older_python_says_which_it_needs(pyz: Path, tmp_path: Path) -> None:
    older = (
        "import runpy, sys; sys.version_info = (3, 10, 13); runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    ended = bare("-c", older, str(pyz), "verify", "x", folder=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == "assay: this is Python 3.10; run it with 3.11 or newer\n"


def test_what_needs_more_than_python_says_so(pyz: Path, tmp_path: Path) -> None:
    ended = bare(str(pyz), "keygen", "--out", "key", folder=tmp_path)
    assert ended.returncode == 2
    assert "gpu-assay[signing]" in ended.stderr
    assert list(tmp_path.iterdir()) == []
