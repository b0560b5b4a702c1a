"""The bodies of the sessions: what they run, how isolated, and that nothing passes without having run."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn, cast

import nox
import pytest

from assay import nox as body
from assay.errors import UsageError

PYTHON = Path("toolchain") / "python"


class Quit(Exception):  # noqa: N818  # it plays nox's own signal, which is no error either
    """What nox raises when a session gives up."""


class FakeSession:
    """Plays nox's session: records what is run, and ends each command as told."""

    def __init__(self, *posargs: str, name: str = "toolkit", ran: bool | None = True) -> None:
        self.posargs = list(posargs)
        self.name = name
        self.env: dict[str, str | None] = {}
        self.commands: list[list[str]] = []
        self.logged: list[str] = []
        self._ran = ran

    def run(self, *argv: str, **options: object) -> bool | None:
        assert options["external"] is True
        self.commands.append(list(argv))
        return self._ran

    def log(self, line: str) -> None:
        self.logged.append(line)

    def error(self, message: str) -> NoReturn:
        raise Quit(message)

    @property
    def as_nox(self) -> nox.Session:
        """Return this session as nox's."""
        return cast("nox.Session", self)

    @property
    def words(self) -> list[list[str]]:
        """Return the commands without the interpreter."""
        return [command[1:] for command in self.commands]


@pytest.fixture(autouse=True)
def _toolchain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the environment."""
    monkeypatch.setattr(body, "toolchain", lambda _project, _say: PYTHON)


@pytest.mark.gate
def test_assay_runs_isolated_in_the_toolchains_environment() -> None:
    session = FakeSession()
    body.assay(session.as_nox, "qualify", "--json")
    assert session.commands == [[str(PYTHON), "-I", "-m", "assay.cli", "qualify", "--json"]]


def test_a_gates_session_runs_the_gate_of_its_name_with_the_arguments() -> None:
    session = FakeSession("--selection", "mine.toml", name="toolkit")
    body.gate(session.as_nox)
    assert session.words == [["-I", "-m", "assay.cli", "gate", "toolkit", "--selection", "mine.toml"]]


@pytest.mark.gate
def test_a_session_in_which_nothing_was_run_fails() -> None:
    with pytest.raises(Quit, match="nothing was run"):
        body.assay(FakeSession(ran=None).as_nox, "qualify")


def test_an_environment_that_cannot_be_had_is_said_in_the_errors_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_project: Path, _say: object) -> Path:
        raise UsageError("nox runs under Python 3.10", "Python 3.11 to 3.14", "install nox elsewhere")

    monkeypatch.setattr(body, "toolchain", refuse)
    with pytest.raises(Quit, match=r"(?s)Python 3\.10.*install nox elsewhere"):
        body.assay(FakeSession().as_nox, "qualify")


def test_the_tests_run_side_by_side_and_without_the_selected_packages() -> None:
    session = FakeSession("-k", "toolkit")
    body.tests(session.as_nox)
    (words,) = session.words
    assert words[:2] == ["-m", "pytest"]
    assert words[words.index("--numprocesses") + 1] == "auto"
    assert words[-2:] == ["-k", "toolkit"]
    assert session.env == {"PYTHONPATH": None}


@pytest.mark.parametrize("name", ["verify", "report"])
def test_a_session_over_bundles_takes_the_one_that_it_is_given(name: str) -> None:
    session = FakeSession("my.tar", "--expect-digest", "ab" * 32, name=name)
    getattr(body, name)(session.as_nox)
    assert session.words == [["-I", "-m", "assay.cli", name, "my.tar", "--expect-digest", "ab" * 32]]


@pytest.mark.parametrize("name", ["verify", "report"])
def test_it_takes_every_released_bundle_where_none_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "receipts" / "a-run").mkdir(parents=True)
    digests = {"b.tar": "ab" * 32, "a.tar": "cd" * 32}
    rows = "".join(f"| `{name}` | `{digest}` | a release |\n" for name, digest in digests.items())
    (tmp_path / "receipts" / "README.md").write_text(f"# Receipts\n\n| bundle |\n| --- |\n{rows}")
    for bundle in (*digests, "mine.tar"):
        (tmp_path / "receipts" / bundle).write_bytes(b"")
    session = FakeSession(name=name)
    getattr(body, name)(session.as_nox)
    assert [words[3:] for words in session.words] == [
        [name, str(Path("receipts", bundle)), "--expect-digest", digest] for bundle, digest in digests.items()
    ]


@pytest.mark.gate
@pytest.mark.parametrize("name", ["verify", "report"])
def test_without_any_bundle_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Quit, match="nothing was done"):
        getattr(body, name)(FakeSession(name=name).as_nox)


def test_the_browsers_tests_run_by_their_own_folder() -> None:
    session = FakeSession("-k", "axe")
    body.browser(session.as_nox)
    assert session.words == [["-m", "pytest", "tests/browser", "-k", "axe"]]


def test_the_servers_tests_run_by_their_own_folder() -> None:
    session = FakeSession("-x")
    body.servers(session.as_nox)
    assert session.words == [["-m", "pytest", "tests/servers", "-x"]]


def test_the_lock_is_resolved_for_all_platforms_with_hashes_and_without_any_place() -> None:
    session = FakeSession("--upgrade")
    body.lock(session.as_nox)
    toolchain, selection = session.words
    assert {"--universal", "--generate-hashes", "--no-emit-index-url", "--upgrade"} <= set(toolchain)
    assert selection[1:3] == ["-m", "assay.provision.relock"]
    assert not any("://" in word for words in session.words for word in words)
