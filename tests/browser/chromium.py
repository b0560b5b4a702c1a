"""Finds what the browser tests stand on, and runs scripts for it: Chromium, Node.js and npm's peers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.evidence.peers.install import peers_folder

HERE = Path(__file__).resolve().parent

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
"""How Chromium is called: Debian's headless one first, for it is the smallest."""


class MissingError(Exception):
    """Something is not there that a browser test needs; the message says how to get it."""


def chromium() -> str:
    """Return the path of a Chromium.

    Raises:
        MissingError: there is none.
    """
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise MissingError(
            "no Chromium on PATH: install one (Debian: apt-get install chromium-headless-shell)"
        )
    return found


def run_script(script: str, wanted: Mapping[str, Any], folder: Path) -> Any:  # noqa: ANN401  # JSON of the script
    """Run a script of this folder with Node.js and return what it printed.

    Args:
        script: its file's name.
        wanted: what it is to do; Chromium and npm's peers are added.
        folder: where its request is written.

    Raises:
        MissingError: Chromium, Node.js or npm's peers are not there.
        RuntimeError: it failed.
    """
    node, peers = shutil.which("node"), peers_folder()
    if node is None or not (peers / "node_modules").is_dir():
        raise MissingError("no Node.js, or none of npm's peers: run `nox -s peers` first")
    request = folder / "wanted.json"
    request.write_text(json.dumps({"chromium": chromium(), "peers": str(peers), **wanted}))
    argv = [node, str(HERE / script), str(request)]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)  # noqa: S603  # argv is ours
    if ended.returncode != 0:
        raise RuntimeError(f"{script} ended with {ended.returncode}: {ended.stderr[-4000:]}")
    return json.loads(ended.stdout)
