"""Brings the XML Schema of JUnit's form that Jenkins reads: pytest's source distribution has it.

``nox -s peers`` runs it.  The version and its hashes are those of the toolchain's lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from assay.files import write_atomic
from assay.toolchain import LOCK

PROJECT = Path(__file__).resolve().parents[2]
NAME = "junit-10.xsd"


def schema() -> Path:
    """Return where the schema lies."""
    return PROJECT / ".assay" / NAME


def main() -> int:
    """Bring the schema where it is not there yet, and return an exit code."""
    if schema().is_file():
        return 0
    (locked,) = re.findall(r"^pytest==.*?(?=^\S)", LOCK.read_text(), re.MULTILINE | re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "wanted.txt"
        wanted.write_text(locked)
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "pytest"]
        argv += ["--require-hashes", "--requirement", str(wanted), "--dest", folder]
        code = subprocess.run(argv, check=False).returncode  # noqa: S603  # argv is ours
        if code == 0:
            (source,) = Path(folder).glob("pytest-*.tar.gz")
            schema().parent.mkdir(exist_ok=True)
            write_atomic(schema(), _read(source))
    return code


def _read(source: Path) -> bytes:
    """Return the schema in a source distribution."""
    with tarfile.open(source) as archive:
        (member,) = [name for name in archive.getnames() if name.endswith(f"/{NAME}")]
        stream = archive.extractfile(member)
        assert stream
        return stream.read()


if __name__ == "__main__":
    sys.exit(main())
