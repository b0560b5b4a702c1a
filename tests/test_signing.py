"""Keys are made once and kept private; what is signed was verified before."""

from __future__ import annotations

import builtins
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from assay.cli import main
from assay.errors import BundleError, StorageError, UsageError
from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.keys import read_public_key
from assay.signing import load_key, make_key, public_path, sign_bundle, sign_sigstore
from tests.evidence import support
from tests.evidence.keyring import ALICE, MALLORY

pytestmark = pytest.mark.gate


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bundle:
    support.enter(monkeypatch)
    return write_bundle(support.make_run(tmp_path))


def test_a_key_is_made_private_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "mine.key"
    public = make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_public_key(public_path(path)) == public
    key = load_key(path)
    assert key.public == public
    assert len(key.sign(b"message")) == 64
    assert sorted(each.name for each in path.parent.iterdir()) == ["mine.key", "mine.key.pub"]
    assert make_key(tmp_path / "another") != public


def test_a_key_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_key(tmp_path / "key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


@pytest.mark.parametrize("taken", ["key", "key.pub"])
def test_no_key_is_ever_overwritten(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("precious")
    with pytest.raises(UsageError, match="is there already"):
        make_key(tmp_path / "key")
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [(taken, "precious")]


def test_a_key_that_appears_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    real = os.link

    def racing(source: Path, target: Path) -> None:
        target.write_text("precious")
        real(source, target)

    monkeypatch.setattr(os, "link", racing)
    with pytest.raises(StorageError):
        make_key(path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("key", "precious")]


def test_a_full_disk_leaves_no_half_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space"):
        make_key(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


def _other_kinds() -> dict[str, bytes]:
    curve = ec.generate_private_key(ec.SECP256R1())
    private = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    return {
        "nothing": b"",
        "text": b"hello",
        "another curve": curve.private_bytes(*private, serialization.NoEncryption()),
        "encrypted": curve.private_bytes(*private, serialization.BestAvailableEncryption(b"secret")),
        "public": curve.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    }


@pytest.mark.parametrize(("kind", "data"), _other_kinds().items(), ids=_other_kinds())
def test_what_is_no_private_key_is_refused(tmp_path: Path, kind: str, data: bytes) -> None:
    path = tmp_path / kind
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"is no private key|of another kind") as caught:
        load_key(path)
    assert "assay keygen" in caught.value.remedy


def test_signing_again_changes_nothing_and_replaces_nobody(bundle: Bundle) -> None:
    path, _ = sign_bundle(bundle.path, ALICE)
    before = path.read_bytes()
    assert sign_bundle(bundle.path, ALICE)[0].read_bytes() == before
    with pytest.raises(UsageError, match="is another"):
        sign_bundle(bundle.path, MALLORY)
    assert path.read_bytes() == before


def test_a_broken_bundle_is_never_signed(bundle: Bundle) -> None:
    data = bytearray(bundle.path.read_bytes())
    data[-1] ^= 1
    bundle.path.write_bytes(data)
    for sign in (sign_bundle, sign_sigstore):
        with pytest.raises(BundleError, match="is broken") as caught:
            sign(bundle.path, ALICE)
        assert caught.value.exit_code == 4
    assert [each.suffix for each in bundle.path.parent.iterdir() if each.is_file()] == [".tar"]


def test_attestations_are_written_whole_or_not_at_all(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(bundle.path.parent.iterdir())
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space"):
        sign_bundle(bundle.path, ALICE)
    assert sorted(bundle.path.parent.iterdir()) == before


def test_the_commands_make_sign_and_verify(
    bundle: Bundle, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key"
    assert main(["keygen", "--out", str(key)]) == 0
    assert main(["sign", str(bundle.path), "--key", str(key)]) == 0
    assert main(["attest", str(bundle.path), "--key", str(key), "--sigstore"]) == 0
    assert "signed: qualified (tier: physical)" in capsys.readouterr().out
    assert main(["verify", str(bundle.path), "--key", f"{key}.pub"]) == 0
    assert f"signer: valid: key {load_key(key).public.id} signed" in capsys.readouterr().out
    assert main(["verify", str(bundle.path), "--key", str(key)]) == 2
    assert "holds a PRIVATE KEY" in capsys.readouterr().err


def test_the_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object) -> ModuleType:
        if name.partition(".")[0] == "cryptography":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]  # what the interpreter gave

    path = tmp_path / "key"
    make_key(path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    commands: Sequence[list[str]] = (
        ["keygen", "--out", str(tmp_path / "new")],
        ["sign", "absent.tar", "--key", str(path)],
    )
    for command in commands:
        assert main(command) == 2
        assert "gpu-assay[signing]" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
