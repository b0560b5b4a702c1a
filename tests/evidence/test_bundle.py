"""A bundle holds the plan, the journal, the toolchain and what the journal names, whenever the run ended."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from assay import __version__
from assay.errors import BundleError, NewerSchemaError, StorageError
from assay.evidence.bundle import write_bundle
from assay.evidence.verify import verify_bundle
from assay.judge import table
from assay.model import Command, Outcome, Tier, Verdict
from tests.evidence.support import GATES, PASSING, RUN, TWO_RULES, Gate, found, make_run, rows


def names(path: Path) -> list[str]:
    with tarfile.open(path) as peer:
        return peer.getnames()


def test_a_bundle_holds_what_the_journal_names_and_nothing_else(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    wheel = hashlib.sha256(b"wheel bytes").hexdigest()
    for stray in ("verdict.json", "other.log", "artifacts/" + "0" * 64, ".lint.log.part"):
        (folder / stray).write_bytes(b"stray")
    bundle = write_bundle(folder)
    assert bundle.path == tmp_path / f"{RUN}.tar"
    logged = [gate for gate in GATES if gate != "provider"]
    right = {"plan.json", "journal.jsonl", "toolchain.zip", f"artifacts/{wheel}"}
    right |= {f"{gate}.json" for gate in GATES} | {
        f"{gate}.{kind}" for gate in logged for kind in ("log", "exit")
    }
    assert names(bundle.path) == ["manifest.json", *sorted(right)]


def test_the_manifest_says_what_came_of_it_and_the_digest_is_its_own(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path))
    with tarfile.open(bundle.path) as peer:
        stream = peer.extractfile("manifest.json")
        assert stream is not None
        data = stream.read()
        manifest = json.loads(data)
        for member in manifest["members"]:
            content = peer.extractfile(member["name"])
            assert content is not None
            whole = content.read()
            assert (len(whole), hashlib.sha256(whole).hexdigest()) == (member["size"], member["sha256"])
    assert hashlib.sha256(data).hexdigest() == bundle.digest
    assert manifest["tool"] == {"name": "assay", "version": __version__}
    assert (manifest["run"], manifest["tier"], manifest["verdict"]) == (RUN, "physical", "qualified")
    assert (bundle.tier, bundle.verdict, bundle.gates) == (Tier.PHYSICAL, Verdict.QUALIFIED, GATES)


def test_bundling_again_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    first = write_bundle(folder).path.read_bytes()
    assert write_bundle(folder).path.read_bytes() == first


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="this system has no sha256sum to agree with")
def test_a_stranger_follows_it_by_hand(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path))
    script = f"""
        set -e
        mkdir out && tar xf {bundle.path} -C out && cd out
        sha256sum manifest.json | cut -d' ' -f1
        sed 's/}},/}}\\n/g' manifest.json |
            sed -n 's/.*"name":"\\([^"]*\\)","sha256":"\\([^"]*\\)".*/\\2  \\1/p' | sha256sum --check --quiet
        head -n 1 journal.jsonl | tr -d '\\n' | sha256sum | cut -d' ' -f1
        sed -n 2p journal.jsonl | sed 's/.*"prev":"\\([^"]*\\)".*/\\1/'
    """
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603, S607  # the system's own, on our own file
    digest, first, prev = done.stdout.split()
    assert digest == bundle.digest
    assert first == prev


CASES: dict[str, tuple[dict[str, Gate], Verdict, str]] = {
    "all pass": ({}, Verdict.QUALIFIED, "passed"),
    "one fails": ({"lint": Gate({"findings": [found()]})}, Verdict.REJECTED, "failed"),
    "an error": ({"lint": Gate({"broke": {"kind": "crash", "observed": "x"}})}, Verdict.UNDECIDED, "error"),
    "malformed": ({"lint": Gate({"findings": 3})}, Verdict.UNDECIDED, "error"),
    "no machine": ({"chain": Gate({})}, Verdict.UNDECIDED, "passed"),
    "a rehearsal": ({"chain": Gate({"tier": "rehearsal"})}, Verdict.UNDECIDED, "passed"),
}


@pytest.mark.parametrize(("changed", "verdict", "outcome"), CASES.values(), ids=CASES)
def test_the_verdict_comes_of_judging(
    tmp_path: Path, changed: dict[str, Gate], verdict: Verdict, outcome: str
) -> None:
    bundle = write_bundle(make_run(tmp_path, changed=changed))
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    assert verified.problems == ()
    assert bundle.verdict is verified.verdict is verdict
    (gate,) = changed or ("lint",)
    assert verified.outcomes[gate] is Outcome(outcome)


def test_a_run_killed_after_any_entry_is_undecided_to_its_last_entry(tmp_path: Path) -> None:
    for count in range(len(GATES)):
        folder = make_run(tmp_path / str(count), gates=GATES[:count])
        (folder / "half.log").write_bytes(b"of a gate that was running")
        bundle = write_bundle(folder)
        verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
        assert verified.problems == ()
        assert (bundle.verdict, verified.verdict, verified.exit_code) == (
            Verdict.UNDECIDED,
            Verdict.UNDECIDED,
            3,
        )
        assert tuple(verified.outcomes) == GATES[:count]
        assert verified.unfinished == GATES[count:]
        assert verified.claims.established == ()


def test_a_run_killed_within_a_line_of_its_journal_is_bundled_to_its_last_whole_line(tmp_path: Path) -> None:
    folder = make_run(tmp_path, gates=GATES[:2])
    journal = (folder / "journal.jsonl").read_bytes()
    first = journal.index(b"\n") + 1
    ends = [at + 1 for at in range(len(journal)) if journal[at : at + 1] == b"\n"]
    for at in sorted({*range(0, len(journal), 61), *ends, *(end - 1 for end in ends)} - {len(journal)}):
        (folder / "journal.jsonl").write_bytes(journal[:at])
        if at < first:
            with pytest.raises(BundleError, match=r"journal\.jsonl: has no entry"):
                write_bundle(folder)
            continue
        bundle = write_bundle(folder)
        assert len(bundle.gates) == journal[:at].count(b"\n") - 1
        assert (bundle.torn == 0) is (journal[at - 1 : at] == b"\n")
        verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
        assert (verified.problems, verified.verdict) == ((), Verdict.UNDECIDED)


TAMPERED: dict[str, tuple[str, bytes]] = {
    "plan": ("plan.json", b"{}"),
    "toolchain": ("toolchain.zip", b"other"),
    "receipt": ("chain.json", b"{}"),
    "log": ("chain.log", b"other"),
    "journal": ("journal.jsonl", b"{}\n"),
    "artifact": (f"artifacts/{hashlib.sha256(b'wheel bytes').hexdigest()}", b"other bytes"),
}


@pytest.mark.parametrize(("name", "data"), TAMPERED.values(), ids=TAMPERED)
def test_a_folder_that_was_changed_is_not_bundled(tmp_path: Path, name: str, data: bytes) -> None:
    folder = make_run(tmp_path)
    (folder / name).write_bytes(data)
    with pytest.raises((BundleError, StorageError)):
        write_bundle(folder)
    assert [path.name for path in tmp_path.iterdir()] == [RUN]


@pytest.mark.parametrize("name", ["plan.json", "toolchain.zip", "chain.json", "chain.log", "journal.jsonl"])
def test_a_folder_that_lost_a_file_is_not_bundled(tmp_path: Path, name: str) -> None:
    folder = make_run(tmp_path)
    (folder / name).unlink()
    with pytest.raises(StorageError, match="No such file"):
        write_bundle(folder)
    assert [path.name for path in tmp_path.iterdir()] == [RUN]


def test_a_lost_exit_file_is_made_again_from_the_receipt(tmp_path: Path) -> None:
    folder = make_run(tmp_path, changed={"lint": Gate({}, commands=(Command(("x",), 3),))})
    (folder / "lint.exit").unlink()
    bundle = write_bundle(folder)
    with tarfile.open(bundle.path) as peer:
        stream = peer.extractfile("lint.exit")
        assert stream is not None
        assert stream.read() == b"3\n"


def test_a_folder_of_another_name_is_refused(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    other = folder.rename(tmp_path / "20261130T120000Z-ffffffff")
    with pytest.raises(BundleError, match=r"plan\.json: run"):
        write_bundle(other)


def test_a_run_by_newer_rules_asks_for_an_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(table, "GATES", rows(TWO_RULES))
        folder = make_run(tmp_path, changed={name: Gate(PASSING[name].facts, rules=2) for name in GATES})
    with pytest.raises(NewerSchemaError, match="rules 2"):
        write_bundle(folder)


def test_what_is_no_run_folder_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"journal\.jsonl"):
        write_bundle(tmp_path)


def test_a_full_disk_leaves_the_old_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_run(tmp_path)
    path = write_bundle(folder).path
    path.write_bytes(b"old")

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        write_bundle(folder)
    assert path.read_bytes() == b"old"
    assert sorted(each.name for each in tmp_path.iterdir()) == [RUN, f"{RUN}.tar"]
