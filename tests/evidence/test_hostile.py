"""Whatever file a stranger sends, every command that reads one refuses it in words and writes nothing."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from assay.cli import main
from assay.errors import BundleError
from assay.evidence.bundle import write_bundle
from assay.evidence.dsse import Envelope, pre_authentication
from assay.evidence.index import check_index
from assay.evidence.names import MAX_MEMBERS
from assay.evidence.release import check_release
from assay.evidence.ustar import END, LARGEST, header
from assay.model import Platform
from assay.signing import make_key
from tests.evidence import support
from tests.evidence.keyring import ALICE
from tests.evidence.test_release import member
from tests.evidence.test_verify import HOSTILE as DOCUMENTS


def other(name: str = "plan.json", kind: bytes = tarfile.REGTYPE, fmt: int = tarfile.USTAR_FORMAT) -> bytes:
    """Return a tar whose second member is not one that a bundle may have."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=fmt) as archive:
        archive.addfile(tarfile.TarInfo("manifest.json"))
        info = tarfile.TarInfo(name)
        info.type = kind
        info.linkname = "/etc/passwd" if kind in {tarfile.LNKTYPE, tarfile.SYMTYPE} else ""
        archive.addfile(info)
    return stream.getvalue()


def named(*names: str) -> bytes:
    """Return a tar of empty members."""
    return b"".join(header(name, 0) for name in names) + END


BUNDLES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "has 0 bytes"),
    "zeros": (bytes(10240), "zeros"),
    "a zip": (b"PK\3\4" + bytes(5000), "header at byte 0"),
    "a page": (b"<!DOCTYPE html>" + b" " * 5000, "header at byte 0"),
    "absolute": (other("/etc/passwd"), "the member name '/etc/passwd'"),
    "outside": (other("../../x"), "the member name '../../x'"),
    "NUL": (
        header("manifest.json", 0) + header("plan.json", 0).replace(b"plan.json\0", b"plan\0json\0") + END,
        "header at byte 512",
    ),
    "64 KB in PAX": (other("a" * 65536, fmt=tarfile.PAX_FORMAT), "a PAX header"),
    "64 KB in GNU": (other("a" * 65536, fmt=tarfile.GNU_FORMAT), "header at byte 0"),
    "colliding": (named("manifest.json", "A.json", "a.json"), "collides with A.json"),
    "doubled": (named("manifest.json", "a.json", "a.json"), "follows a.json"),
    "moved": (named("manifest.json", "b.json", "a.json"), "follows b.json"),
    "hard link": (other(kind=tarfile.LNKTYPE), "a hard link"),
    "symbolic link": (other(kind=tarfile.SYMTYPE), "a symbolic link"),
    "device": (other(kind=tarfile.CHRTYPE), "a character device"),
    "FIFO": (other(kind=tarfile.FIFOTYPE), "a FIFO"),
    "sparse": (other(kind=tarfile.GNUTYPE_SPARSE), "a GNU sparse file"),
    "larger than it is": (header("manifest.json", LARGEST) + END, "goes past the end"),
    "many members": (named("manifest.json", *["artifacts/0"] * MAX_MEMBERS), "more than 16384 members"),
}

READERS = {
    "verify": ("verify", "{sent}", "--expect-digest", "0" * 64),
    "verify, accepting all": ("verify", "{sent}", "--accept", "unanchored", "--accept", "rehearsed"),
    "verify by a key": ("verify", "{sent}", "--key", "{key}.pub", "--attestations", "{good}"),
    "verify as JSON": ("verify", "{sent}", "--json"),
    "show": ("show", "{sent}"),
    "compare, the older": ("compare", "{sent}", "{good}"),
    "compare, the newer": ("compare", "{good}", "{sent}"),
    "report": ("report", "{sent}"),
    "release": ("release", "{sent}", "{good}"),
    "release by a key": ("release", "{sent}", "--key", "{key}"),
    "sign": ("sign", "{sent}", "--key", "{key}"),
    "attest": ("attest", "{sent}", "--key", "{key}", "--sigstore"),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the paths of an honest bundle and of a key."""
    folder = tmp_path_factory.mktemp("good")
    with pytest.MonkeyPatch.context() as patch:
        support.enter(patch)
        bundle = write_bundle(support.make_run(folder)).path
    make_key(folder / "key")
    return {"good": str(bundle), "key": str(folder / "key")}


def told(capsys: pytest.CaptureFixture[str], reader: str, words: dict[str, str], code: int) -> str:
    """Run a command, check its exit code, and return what it said."""
    assert main([word.format(**words) for word in READERS[reader]]) == code
    said = "".join(capsys.readouterr())
    assert "Traceback" not in said
    return said


@pytest.mark.parametrize("name", BUNDLES)
def test_a_hostile_bundle_is_broken_for_every_command(
    tmp_path: Path, good: dict[str, str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    sent = tmp_path / "sent.tar"
    data, observed = BUNDLES[name]
    sent.write_bytes(data)
    for reader in READERS:
        assert observed in told(capsys, reader, {**good, "sent": str(sent)}, 4), reader
    assert list(tmp_path.iterdir()) == [sent]


# ----------------------------------------------------------------- what a reader brings, or is sent besides


OWN = {2, 3}
"""What a reader brings is wrong or cannot be read: nothing is said of the bundle."""

BROUGHT = {
    "a plan": (("verify", "{good}", "--plan", "{sent}"), OWN),
    "a project": (("verify", "{good}", "--plan", "{project}"), OWN),
    "a key": (("verify", "{good}", "--key", "{sent}"), OWN),
    "a further key": (("verify", "{good}", "--trust", "{sent}"), OWN),
    "a private key": (("sign", "{good}", "--key", "{sent}"), OWN),
    "attestations": (("verify", "{good}", "--key", "{key}.pub", "--attestations", "{sent}"), {4}),
    "a run": (("bundle", "{folder}"), {4}),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_hostile_document_is_refused_wherever_one_is_read(
    tmp_path: Path, good: dict[str, str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = tmp_path / "20261130T120000Z-01234567"
    folder.mkdir()
    files = [tmp_path / "sent", tmp_path / "pyproject.toml", folder / "journal.jsonl"]
    for file in files:
        file.write_bytes(DOCUMENTS[name])
    words = {**good, "sent": str(files[0]), "project": str(files[1]), "folder": str(folder)}
    for what, (command, codes) in BROUGHT.items():
        assert main([word.format(**words) for word in command]) in codes, what
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert said.err + said.out
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([folder.name, "pyproject.toml", "sent"])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_hostile_bytes_that_the_key_signed_are_no_index(tmp_path: Path, name: str) -> None:
    members = [member(tmp_path, platform) for platform in (Platform.LINUX, Platform.WINDOWS, Platform.WSL)]
    release = check_release(members, None)
    assert release.exit_code == 0
    data = DOCUMENTS[name]
    signed = Envelope(data, ALICE.public.id, ALICE.sign(pre_authentication(data))).line() + b"\n"
    for index in (data, data + b"\n", signed):
        with pytest.raises(BundleError):
            check_index(index, ALICE.public, release)
