r"""``Machine``: a computer under a root folder with an environment, read and never run.

Root ``/`` with the process's environment is the real one; any other folder is a fake machine, whose form
``assay.machine.stated`` describes.  Paths are the machine's own (``/usr/local/cuda/bin/nvcc``,
``C:\Windows\System32\nvcuda.dll``); ``assay.machine.view`` says how they are followed.

What a user's machine may lack is a value here (``False``, ``""``, a ``problem``); only a read that the
caller insists on raises ``StorageError``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, ModuleType

from assay.errors import StorageError
from assay.machine import binary, system
from assay.machine.stated import Stated, read_object, read_stated, read_strings, stated_of
from assay.machine.view import TEXT_LIMIT, Reading, View
from assay.model import Json, Platform

_HOST_SYSTEMS = {"win32": "windows", "darwin": "macos"}


@dataclass(frozen=True, eq=False)
class Machine:
    """A read-only view of a computer.

    Attributes:
        root: the folder that stands for ``/``.
        env: the environment.
        stated: what ``machine.json`` says; read from the root when not given.
        probes: recorded answers of live probes by name; None on a machine that can be asked.
    """

    root: Path
    env: Mapping[str, str]
    stated: Stated | None = None
    probes: Mapping[str, Json] | None = field(default=None, repr=False)

    @classmethod
    def real(cls) -> Machine:
        """Return the computer that runs this code, with the process's environment as it is now."""
        return cls(Path(Path.cwd().anchor), MappingProxyType(dict(os.environ)))

    @classmethod
    def fake(cls, folder: Path) -> Machine:
        """Return the fake machine that ``folder`` describes (``assay.machine.stated`` has the form).

        Raises:
            UsageError: one of its JSON files is not of that form.
            StorageError: ``env.json`` cannot be read.
        """
        probes = folder / "probes.json"
        recorded = read_object(probes) if probes.exists() else {}
        inside, beside = folder / "root" / "machine.json", folder / "machine.json"
        stated = read_stated(inside if inside.exists() else beside)
        return cls(folder / "root", MappingProxyType(read_strings(folder / "env.json")), stated, recorded)

    @cached_property
    def is_real(self) -> bool:
        """Tell whether this is the computer that runs this code, so that it can be asked live."""
        return self.root == Path(Path.cwd().anchor)

    @cached_property
    def says(self) -> Stated:
        """Return what the machine states of itself: the running system's own words for the real one."""
        if self.stated is not None:
            return self.stated
        if self.is_real:
            system_name = _HOST_SYSTEMS.get(sys.platform, "linux")
            return Stated(system_name, system.host_arch(), str(Path.cwd()))
        return stated_of(self.root)

    @cached_property
    def view(self) -> View:
        """Return the file view that the methods below use."""
        windows = self.says.os == "windows" or (not self.says.os and (self.root / "C" / "Windows").is_dir())
        return View(
            self.root,
            windows=windows,
            native=windows and self.is_real,
            cwd=self.says.cwd,
            denied=frozenset(self.says.denied),
        )

    @property
    def paths(self) -> ModuleType:
        """Return the path module of this machine's paths: ``ntpath`` or ``posixpath``."""
        return self.view.paths

    @cached_property
    def platform(self) -> Platform:
        """Return the platform that a plan speaks about."""
        return system.platform_of(self)

    @cached_property
    def arch(self) -> str:
        """Return the processor: ``x86_64``, ``aarch64``, …, or ``""`` where nothing shows it."""
        return self.says.arch or system.arch_of(self)

    @cached_property
    def os_release(self) -> Mapping[str, str]:
        """Return the fields of ``os-release`` (freedesktop's os-release(5)); empty where there is none."""
        return system.os_release(self)

    @cached_property
    def libc(self) -> system.Libc:
        """Return the C library of this machine's own programs."""
        return system.libc_of(self)

    @cached_property
    def virtualisation(self) -> system.Virtualisation:
        """Return what shows that this is a virtual machine or a container."""
        return system.virtualisation_of(self)

    def getenv(self, name: str, default: str = "") -> str:
        """Return a variable's value; on Windows without regard to case."""
        if not self.view.windows:
            return self.env.get(name, default)
        return next((value for key, value in self.env.items() if key.upper() == name.upper()), default)

    def exists(self, path: str) -> bool:
        """Tell whether ``path`` names anything that can be seen."""
        return self.view.exists(path)

    def is_file(self, path: str) -> bool:
        """Tell whether ``path`` names a regular file."""
        return self.view.is_file(path)

    def is_dir(self, path: str) -> bool:
        """Tell whether ``path`` names a folder."""
        return self.view.is_dir(path)

    def is_link(self, path: str) -> bool:
        """Tell whether ``path`` itself is a symbolic link."""
        return self.view.is_link(path)

    def size(self, path: str) -> int:
        """Return a regular file's size in bytes.

        Raises:
            StorageError: it is not a readable regular file.
        """
        return self.view.size(path)

    def read_bytes(self, path: str, limit: int) -> bytes:
        """Return a regular file's bytes.

        Raises:
            StorageError: it has more than ``limit`` bytes, or is not a readable regular file.
        """
        return self.view.read_bytes(path, limit)

    def read_text(self, path: str, limit: int = TEXT_LIMIT) -> str:
        """Return a text file as UTF-8, undecodable bytes replaced by U+FFFD.

        Raises:
            StorageError: as ``read_bytes``.
        """
        return self.view.read_text(path, limit)

    def peek(self, path: str, limit: int = TEXT_LIMIT) -> Reading:
        """Return a text that may be missing or unreadable: ``Reading.problem`` says why."""
        return self.view.peek(path, limit)

    def listdir(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder, sorted.

        Raises:
            StorageError: it is not a readable folder.
        """
        return self.view.listdir(path)

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Return the existing paths that match (``*``, ``?``, ``[…]`` within one component), sorted."""
        return self.view.glob(pattern)

    def resolve(self, path: str) -> str:
        """Return the path with all links followed inside the root.

        Raises:
            StorageError: the links form a loop, or it cannot name a file.
        """
        return self.view.resolve(path)

    def followed(self, path: str) -> str:
        """Return the path with all links followed inside the root; as it stands where that cannot be done."""
        try:
            return self.view.resolve(path)
        except StorageError:
            return path

    def sha256(self, path: str) -> tuple[str, int]:
        """Return a regular file's SHA-256 (hex) and size in bytes, streamed.

        Raises:
            StorageError: it is not a readable regular file.
        """
        return self.view.sha256(path)

    def binary(self, path: str, *, symbols: bool = True) -> binary.Binary:
        """Return what a library or executable says of itself, read and not run.

        Args:
            path: the file.
            symbols: whether exported and undefined symbols are wanted (the slow part of a large library).

        Returns:
            A value whose ``problem`` says why it could not be read; it never raises.
        """
        return binary.read_binary(self, path, symbols=symbols)

    def split_path(self, value: str) -> tuple[str, ...]:
        """Return the entries of a list such as ``PATH``; an empty entry stands for the working folder.

        On Windows an entry may be quoted, as ``cmd`` allows, and empty entries mean nothing.
        """
        return system.split_path(value, windows=self.view.windows)

    def which(self, name: str, path_list: str | Sequence[str] | None = None) -> str | None:
        """Return the first program that ``name`` would start, or None.

        Args:
            name: a program's name without a folder.
            path_list: a ``PATH`` value or its entries; the machine's own ``PATH`` when None.
        """
        return next(iter(self.which_all(name, path_list)), None)

    def which_all(self, name: str, path_list: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """Return every program named ``name`` on a search path, in its order; the first hides the others."""
        value = self.getenv("PATH") if path_list is None else path_list
        entries = self.split_path(value) if isinstance(value, str) else tuple(value)
        return system.which_all(self, name, entries)
