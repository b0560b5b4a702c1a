"""``assay archive``, ``supersede`` and ``revoke`` from the command line, to what ``verify`` then says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.archive.folder import FolderStore
from assay.cli import main
from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.filed import Part
from assay.signing import make_key, public_path
from tests.archive.shelves import signed_bundle
from tests.evidence.support import Gate, found
from tests.evidence.support import make_run as made

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return a private key's file."""
    path = tmp_path / "a.key"
    make_key(path)
    return path


@pytest.fixture
def bundles(tmp_path: Path) -> tuple[Bundle, Bundle]:
    """Return two bundles, the second of a later run."""
    return (
        signed_bundle(tmp_path / "one", "2026-12-01T12:00:00Z"),
        signed_bundle(tmp_path / "two", "2026-12-02T12:00:00Z"),
    )


def told(capsys: Printed, *words: object) -> tuple[int, str, str]:
    """Run the command; return its exit code and what it printed."""
    code = main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_put_list_check_get_and_verify(
    bundles: tuple[Bundle, Bundle], tmp_path: Path, capsys: Printed
) -> None:
    archive, kept = tmp_path / "archive", tmp_path / "kept"
    code, out, _ = told(capsys, "archive", bundles[0].path, bundles[1].path, "--to", archive)
    assert (code, out.count("archived: ")) == (0, 6)
    code, out, _ = told(capsys, "archive", "list", "--from", archive, "--run", bundles[0].path.stem)
    assert code == 0
    assert bundles[0].digest in out
    assert bundles[1].digest not in out
    assert "1 intoto.jsonl  1 sigstore.json" in out
    assert told(capsys, "archive", "check", "--from", archive)[0] == 0
    code, out, _ = told(capsys, "archive", "get", bundles[0].digest[:12], "--from", archive, "--to", kept)
    assert (code, out.count("fetched: ")) == (0, 3)
    verify = out.splitlines()[-1].partition("assay ")[2].split()
    assert told(capsys, *verify)[0] == 0


def test_as_json_the_same_is_said(bundles: tuple[Bundle, Bundle], tmp_path: Path, capsys: Printed) -> None:
    archive = tmp_path / "archive"
    _, out, _ = told(capsys, "archive", bundles[0].path, "--to", archive, "--json")
    assert [each["new"] for each in json.loads(out)["files"]] == [True, True, True]
    _, out, _ = told(capsys, "archive", "list", "--from", archive, "--claim", "lint", "--json")
    (only,) = json.loads(out)["bundles"]
    assert (only["bundle_digest"], only["verdict"]) == (bundles[0].digest, "qualified")
    _, out, _ = told(capsys, "archive", "list", "--from", archive, "--claim", "absent", "--json")
    assert json.loads(out)["bundles"] == []
    _, out, _ = told(capsys, "archive", "check", "--from", archive, "--json")
    assert json.loads(out) == {"files": 3, "problems": [], "schema": "assay/archive-check/1"}


@pytest.mark.gate
def test_nothing_of_a_broken_bundle_or_of_what_is_beside_anothers_is_archived(
    bundles: tuple[Bundle, Bundle], tmp_path: Path, capsys: Printed
) -> None:
    archive = tmp_path / "archive"
    strange = bundles[0].path.with_name(f"{bundles[0].path.stem}.other.intoto.jsonl")
    strange.write_bytes(next(bundles[1].path.parent.glob("*.intoto.jsonl")).read_bytes())
    assert told(capsys, "archive", bundles[0].path, "--to", archive)[0] == 4
    strange.unlink()
    bundles[0].path.write_bytes(bundles[0].path.read_bytes()[:-1])
    assert told(capsys, "archive", bundles[1].path, bundles[0].path, "--to", archive)[0] == 4
    assert not archive.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["archive", "x.tar"],
        ["archive", "list"],
        ["archive", "list", "more", "--from", "."],
        ["archive", "get", "--from", ".", "--to", "."],
        ["archive", "list", "--from", "s3://bucket/name"],
        ["archive", "list", "--from", "absent"],
    ],
)
def test_words_that_do_not_fit_are_mistakes(words: list[str], capsys: Printed) -> None:
    code, _, err = told(capsys, *words)
    assert code == 2
    assert err.startswith("assay: ")
    assert "Traceback" not in err


def test_check_tells_each_file_that_is_not_as_it_should_be(
    bundles: tuple[Bundle, Bundle], tmp_path: Path, capsys: Printed
) -> None:
    archive = tmp_path / "archive"
    told(capsys, "archive", bundles[0].path, bundles[1].path, "--to", archive)
    for path in archive.glob(f"{bundles[0].digest}*"):
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:-3])
    (archive / f"{bundles[1].digest}.tar").unlink()
    (archive / "stranger").touch()
    code, out, _ = told(capsys, "archive", "check", "--from", archive)
    assert code == 4
    assert "6 of them not as they should be" in out


def test_a_bundle_is_superseded_and_revoked_and_verify_says_so(
    bundles: tuple[Bundle, Bundle], key: Path, tmp_path: Path, capsys: Printed
) -> None:
    old, new = bundles
    archive = tmp_path / "archive"
    for bundle in bundles:
        told(capsys, "archive", bundle.path, "--to", archive)
    reason = ["--reason", "fresh evidence", "--key", key]
    code, out, _ = told(
        capsys, "supersede", old.path, new.path, "--claims", "lint,toolkit", *reason, "--to", archive
    )
    assert code == 0
    assert "is superseded in lint, toolkit" in out
    verify = ["verify", old.path, "--expect-digest", old.digest, "--archive", archive]
    verify += ["--trust", public_path(key)]
    code, out, _ = told(capsys, *verify)
    assert code == 0
    assert f"standing: superseded in these claims by {new.path.stem} ({new.digest}): lint, toolkit" in out
    assert told(capsys, *verify, "--claim", "lint")[0] == 3
    assert told(capsys, "revoke", old.path, "--reason", "wrong driver", "--key", key, "--to", archive)[0] == 0
    code, out, _ = told(capsys, *verify)
    assert (code, "standing: revoked: wrong driver" in out) == (3, True)
    assert told(capsys, "archive", "check", "--from", archive)[0] == 0


def test_statements_are_added_and_never_replaced_and_travel_with_the_bundle(
    bundles: tuple[Bundle, Bundle], key: Path, tmp_path: Path, capsys: Printed
) -> None:
    old = bundles[0]
    for reason in ("one", "two"):
        assert told(capsys, "revoke", old.path, "--reason", reason, "--key", key)[0] == 0
    assert len(list(old.path.parent.glob("*.revoke.intoto.jsonl"))) == 2
    told(capsys, "archive", old.path, "--to", tmp_path / "archive")
    parts = [name.part for name in FolderStore(tmp_path / "archive").listing().names]
    assert parts.count(Part.REVOKE) == 2


def test_what_is_no_fresh_evidence_supersedes_nothing(
    bundles: tuple[Bundle, Bundle], key: Path, tmp_path: Path, capsys: Printed
) -> None:
    old, new = bundles
    failed = write_bundle(
        made(
            tmp_path / "three",
            changed={"lint": Gate({"findings": [found()]})},
            started="2026-12-03T12:00:00Z",
        )
    )
    reason = ["--reason", "fresh", "--key", key]
    for words, says in (
        ([new.path, old.path, "--claims", "lint", *reason], "ran later"),
        ([old.path, new.path, "--claims", "lint,absent", *reason], "absent"),
        ([old.path, failed.path, "--claims", "toolkit", *reason], "does not establish toolkit"),
        ([old.path, new.path, "--claims", ",", *reason], "0 claims"),
        ([old.path, new.path, "--claims", "lint", "--reason", "a\nb", "--key", key], "reason"),
    ):
        code, _, err = told(capsys, "supersede", *words)
        assert (code, says in err) == (2, True), err
    broken = tmp_path / "broken.tar"
    broken.write_bytes(old.path.read_bytes()[:-1])
    assert told(capsys, "supersede", broken, new.path, "--claims", "lint", *reason)[0] == 4
    assert told(capsys, "revoke", broken, *reason)[0] == 4
    assert list(tmp_path.rglob("*.supersede.intoto.jsonl")) == []
