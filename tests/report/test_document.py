"""A bundle gets a page only if it verifies, whole or not at all, and says who made it."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from assay import cli
from assay.errors import StorageError, UsageError
from assay.evidence.verification import Integrity
from assay.report.document import report_path, write_report
from assay.signing import sign_bundle
from tests.evidence.forging import Document, Members, edit_json, forge
from tests.evidence.keyring import ALICE, MALLORY
from tests.report.markup import told
from tests.report.worlds import WANTED, qualified, rejected

pytestmark = pytest.mark.usefixtures("world")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return a qualified bundle."""
    return qualified(tmp_path)


@pytest.mark.gate
def test_a_page_lies_beside_its_bundle_and_says_who_made_it(bundle: Path) -> None:
    target = report_path(bundle)
    assert target.name == "20261130T120000Z-01234567.html"
    for readers, heading in ((True, "The reader's own rendering"), (False, "The sender's rendering")):
        verified, written = write_report(bundle, WANTED, target, readers=readers)
        assert (verified.intact, written) == (True, True)
        assert told(target.read_bytes(), ".eyebrow strong") == [heading]


@pytest.mark.gate
def test_the_same_bundle_and_copy_give_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    pages = []
    for number in range(2):
        target = tmp_path / f"{number}.html"
        write_report(bundle, replace(WANTED, now=WANTED.now.replace(hour=number)), target, readers=True)
        pages.append(target.read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.gate
def test_a_broken_bundle_gets_no_page(bundle: Path, tmp_path: Path) -> None:
    data = bytearray(bundle.read_bytes())
    data[-2000] ^= 1
    bundle.write_bytes(data)
    verified, written = write_report(bundle, WANTED, tmp_path / "page.html", readers=True)
    assert (verified.exit_code, written) == (4, False)
    assert not (tmp_path / "page.html").exists()


def test_a_bundle_of_a_newer_assay_gets_no_page(bundle: Path, tmp_path: Path) -> None:
    def renew(_manifest: Document, members: Members) -> None:
        edit_json(members, "lint.json", lambda receipt: receipt.update(rules=99))

    newer = forge(bundle, tmp_path / "newer.tar", renew)
    verified, written = write_report(newer, WANTED, tmp_path / "page.html", readers=True)
    assert (verified.integrity, written) == (Integrity.NEWER, False)


def test_a_bundle_whose_signature_does_not_hold_gets_no_page(bundle: Path, tmp_path: Path) -> None:
    sign_bundle(bundle, MALLORY)
    wanted = replace(WANTED, key=ALICE.public)
    verified, written = write_report(bundle, wanted, tmp_path / "page.html", readers=True)
    assert (verified.intact, verified.exit_code, written) == (True, 4, False)


def test_a_rejected_bundle_gets_one(tmp_path: Path) -> None:
    verified, written = write_report(rejected(tmp_path), WANTED, tmp_path / "page.html", readers=True)
    assert (verified.exit_code, written) == (1, True)


def test_the_bundle_is_never_overwritten(bundle: Path, tmp_path: Path) -> None:
    before = bundle.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(bundle)
    for target in (bundle, link):
        with pytest.raises(UsageError, match="is the bundle"):
            write_report(bundle, WANTED, target, readers=True)
    assert bundle.read_bytes() == before


def test_a_full_disk_leaves_no_half_page_and_the_old_one_as_it_was(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "page.html"
    target.write_text("the old one")

    def full(_handle: int) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        write_report(bundle, WANTED, target, readers=True)
    assert target.read_text() == "the old one"
    assert {path.name for path in tmp_path.iterdir() if "part" in path.name} == set()


# ------------------------------------------------------------------------------------------- the command


@pytest.mark.gate
def test_the_command_writes_beside_the_bundle_or_where_it_is_told(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere.html"
    assert cli.main(["report", str(bundle)]) == 0
    assert cli.main(["report", str(bundle), "-o", str(elsewhere)]) == 0
    assert capsys.readouterr().out == f"report: {report_path(bundle)}\nreport: {elsewhere}\n"
    assert elsewhere.read_bytes() == report_path(bundle).read_bytes()


def test_the_command_takes_what_verify_takes(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert cli.main(["report", str(bundle), "-o", str(out), "--tier", "wsl", "--challenge", "ab"]) == 0
    assert len(told(out.read_bytes(), ".reasons li")) == 2


@pytest.mark.gate
def test_the_command_says_in_words_why_there_is_no_page(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle.write_bytes(bundle.read_bytes()[:-1])
    assert cli.main(["report", str(bundle)]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "integrity: broken" in said.err
    assert said.err.endswith("no report: nothing that a broken bundle says is passed on\n")
    assert not report_path(bundle).exists()


def test_a_copy_without_jinja2_says_what_to_do(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [*sys.modules]:
        if name.startswith("assay.report"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert cli.main(["report", str(bundle)]) == 2
    said = capsys.readouterr().err
    assert "a report needs the package jinja2" in said
    assert "assay show" in said
