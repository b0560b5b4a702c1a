"""Installs the peers that npm has, from the lock with hashes, into ``.assay``: ``nox -s peers`` runs it.

The folder's name holds the lock's digest, and it takes that name only when it is whole.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[2]
FILES = ("package.json", "package-lock.json")


def peers_folder() -> Path:
    """Return where the peers of this lock lie."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in FILES)).hexdigest()
    return PROJECT / ".assay" / f"npm-{digest[:12]}"


def main() -> int:
    """Install the peers where they are not there yet, and return an exit code."""
    target = peers_folder()
    if target.is_dir():
        return 0
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("peers: npm is not on PATH; install Node.js 20 or newer\n")
        return 1
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        for name in FILES:
            shutil.copy(HERE / name, folder)
        argv = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        code = subprocess.run(argv, cwd=folder, check=False).returncode  # noqa: S603  # argv is ours
        if code == 0:
            Path(folder).rename(target)
            Path(folder).mkdir()  # for the clean-up
    return code


if __name__ == "__main__":
    sys.exit(main())
