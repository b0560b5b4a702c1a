from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.errors import FetchError, StorageError
from assay.provision import relock as module
from assay.provision.lockfile import LOCKS, LOCKS_FOLDER
from assay.provision.relock import lock_argv, relock

FAKE_UV = """
import pathlib, sys
arguments = sys.argv[1:]
source = pathlib.Path(arguments[-1])
print({body})
"""


def fake_uv(folder: Path, body: str) -> dict[str, str]:
    """Write a module that ``python -m uv`` runs, and return the environment that finds it first."""
    (folder / "modules").mkdir()
    (folder / "modules/uv.py").write_text(FAKE_UV.format(body=body))
    return {"PYTHONPATH": str(folder / "modules"), "PATH": "/usr/bin:/bin"}


def inputs(folder: Path) -> Path:
    locks = folder / "locks"
    locks.mkdir()
    for name in LOCKS:
        shutil.copy(LOCKS_FOLDER / f"{name}.in", locks)
    return locks


def test_the_resolver_serves_every_platform_and_writes_no_address() -> None:
    argv = lock_argv(Path("x.in"), (Path("a.txt"), Path("b.txt")))
    assert {"--universal", "--generate-hashes", "--no-emit-index-url"} <= set(argv)
    assert argv[argv.index("--python-version") + 1] == "3.11"
    assert [argv[at + 1] for at, part in enumerate(argv) if part == "--constraints"] == ["a.txt", "b.txt"]
    assert not any("://" in part for part in argv)


def test_each_lock_keeps_the_versions_of_those_before(tmp_path: Path) -> None:
    body = "f'{source.stem}==1 --hash=sha256:{arguments.count(\"--constraints\"):064x}'"
    locks = inputs(tmp_path)
    written = relock(fake_uv(tmp_path, body), locks)
    assert [path.stem for path in written] == list(LOCKS)
    for count, path in enumerate(written):
        header, line = path.read_text().splitlines()
        assert header == f"# Written by `nox -s lock` from {path.stem}.in; do not edit."
        assert line == f"{path.stem}==1 --hash=sha256:{count:064x}"


def test_a_lock_that_names_an_index_is_refused_and_the_present_one_kept(tmp_path: Path) -> None:
    locks = inputs(tmp_path)
    (locks / "selection.txt").write_text("kept\n")
    with pytest.raises(StorageError):
        relock(fake_uv(tmp_path, "'--index-url x'"), locks)
    assert (locks / "selection.txt").read_text() == "kept\n"


def test_a_resolver_that_fails_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"could not lock selection\.in: no network"):
        relock(fake_uv(tmp_path, "sys.exit('no network')"), inputs(tmp_path))


def test_the_command_says_what_it_wrote_or_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "relock", lambda _environ, *, upgrade: (tmp_path / str(upgrade),))
    assert module.main(["--upgrade"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/True\n"

    def fails(_environ: object, *, upgrade: bool) -> tuple[Path, ...]:
        raise FetchError(f"no network, upgrade {upgrade}")

    monkeypatch.setattr(module, "relock", fails)
    assert module.main([]) == 3
    assert capsys.readouterr().err == "no network, upgrade False\n"
