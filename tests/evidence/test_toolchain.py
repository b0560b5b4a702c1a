"""The toolchain is this package, the same bytes from wherever it runs, and it runs."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from assay import __version__
from assay.evidence import toolchain


@pytest.fixture(scope="module")
def archive() -> bytes:
    return toolchain.toolchain_bytes()


@pytest.mark.gate
def test_it_holds_the_package_and_a_root_main_as_the_format_says(archive: bytes) -> None:
    package = Path(toolchain.__file__).parent.parent
    with zipfile.ZipFile(io.BytesIO(archive)) as reading:
        infos = reading.infolist()
        names = [info.filename for info in infos]
        assert names == sorted(names)
        assert reading.read("assay/evidence/toolchain.py") == Path(toolchain.__file__).read_bytes()
        assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
        assert {(info.date_time, info.create_system, info.external_attr) for info in infos} == {
            ((1980, 1, 1, 0, 0, 0), 3, 0o100644 << 16)
        }
    sources = {f"assay/{path.relative_to(package).as_posix()}" for path in package.rglob("*.py")}
    assert sources | {"__main__.py"} <= set(names)
    assert not [name for name in names if name.endswith(".pyc") or "__pycache__" in name]


def test_it_runs_on_a_python_with_nothing_installed_and_is_itself(archive: bytes, tmp_path: Path) -> None:
    path = tmp_path / "assay.pyz"
    path.write_bytes(archive)
    for arguments, right in (
        ([str(path), "--version"], f"assay {__version__}"),
        (["-c", "from assay.evidence import toolchain; print(toolchain.own_digest())"], _digest(archive)),
    ):
        done = subprocess.run(  # noqa: S603  # this interpreter, on what it just wrote
            [sys.executable, "-S", "-s", *arguments],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(path)},
        )
        assert done.stdout.strip() == right


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_reader_knows_itself_and_the_releases_that_it_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(toolchain, "RELEASES", {"a" * 64: "0.0.9"})
    assert toolchain.toolchain_answer(toolchain.own_digest()) == "equal to the reader's own"
    assert toolchain.toolchain_answer("a" * 64) == "release 0.0.9"
    assert toolchain.toolchain_answer("b" * 64) == "unknown to the reader"
