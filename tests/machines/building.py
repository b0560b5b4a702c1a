"""Builds a fake machine's folder at test time (``assay.machine.stated`` has its form)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from assay.machine import Machine
from assay.model import Json


class Builder:
    """A fake machine in the making.

    Attributes:
        folder: the machine's folder; its root is ``folder/root``.
    """

    def __init__(self, folder: Path) -> None:
        """Begin with an empty root."""
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(parents=True)

    def place(self, path: str) -> Path:
        """Return where a path of the machine lies, its folders made."""
        drive, colon, rest = path.partition(":")
        parts = [drive, *rest.split("\\")] if colon and len(drive) == 1 else path.split("/")
        host = self.root.joinpath(*[part for part in parts if part])
        host.parent.mkdir(parents=True, exist_ok=True)
        return host

    def file(self, path: str, content: bytes | str = b"", *, mode: int = 0o644) -> Path:
        """Add a file."""
        host = self.place(path)
        host.write_bytes(content.encode() if isinstance(content, str) else content)
        host.chmod(mode)
        return host

    def program(self, path: str, content: bytes | str) -> Path:
        """Add a file with execute bits."""
        return self.file(path, content, mode=0o755)

    def folder_at(self, path: str) -> Path:
        """Add an empty folder."""
        host = self.place(path)
        host.mkdir(parents=True, exist_ok=True)
        return host

    def link(self, path: str, target: str) -> Path:
        """Add a symbolic link; an absolute target is meant inside the root."""
        host = self.place(path)
        host.symlink_to(target)
        return host

    def machine(
        self,
        env: Mapping[str, str] | None = None,
        *,
        stated: Mapping[str, Json] | None = None,
        probes: Mapping[str, Json] | None = None,
    ) -> Machine:
        """Write the JSON files and return the machine, read back from them."""
        (self.folder / "env.json").write_text(json.dumps(dict(env or {})))
        (self.folder / "machine.json").write_text(json.dumps(dict(stated or {})))
        (self.folder / "probes.json").write_text(json.dumps(dict(probes or {})))
        return Machine.fake(self.folder)
