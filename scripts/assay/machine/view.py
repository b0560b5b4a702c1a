"""The files under a root folder, named as the machine that lives there would name them.

Symbolic links, absolute ones too, are followed *inside* the root by hand, as the kernel would after
``chroot``: a link can never lead the reader out.  Nothing here blocks: pipes, sockets and devices are not
opened for reading, and every read has a limit.

A Windows machine under a root folder of another system keeps drive ``C:`` in the folder ``C`` and is read
without regard to case; on a real Windows machine paths are used as they stand.
"""

from __future__ import annotations

import errno
import fnmatch
import ntpath
import os
import posixpath
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType

from assay.errors import StorageError
from assay.files import read_bounded, sha256_file, storage_errors

_TOP = Path("/")
_NO_NAME = "it holds a character that no file name has"

MAX_LINKS = 40
"""Links followed for one path before it is called a loop: Linux's MAXSYMLINKS (path_resolution(7))."""

MAX_ENTRIES = 100_000
"""Names read from one folder; a folder of a healthy machine has far fewer."""

TEXT_LIMIT = 1 << 20
"""Bytes of a text file that are read unless the caller says otherwise."""


@dataclass(frozen=True)
class Reading:
    """A text that may not be there: ``problem`` is empty, ``missing`` or says why it was not read."""

    text: str
    problem: str = ""


@dataclass(frozen=True)
class View:
    r"""Files under ``root``.

    Attributes:
        root: the folder that stands for ``/``.
        windows: paths are Windows paths (``C:\Windows``).
        native: paths are the running system's own; ``root`` is then not used.
        cwd: the machine's working folder, which a relative path starts from.
        denied: resolved paths that answer "permission denied", as a fake machine says.
    """

    root: Path
    windows: bool = False
    native: bool = False
    cwd: str = ""
    denied: frozenset[str] = frozenset()

    @property
    def paths(self) -> ModuleType:
        """Return the path module of this machine's paths: ``ntpath`` or ``posixpath``."""
        return ntpath if self.windows else posixpath

    def absolute(self, path: str) -> str:
        """Return ``path`` as an absolute path of the machine, links not followed."""
        if self.windows:
            return ntpath.normpath(ntpath.join(self.cwd or "C:\\", path))
        return posixpath.join(self.cwd or "/", path)

    def resolve(self, path: str) -> str:
        """Return the path with every link followed inside the root; missing parts are kept.

        Raises:
            StorageError: links form a loop, or the path cannot name a file at all.
        """
        absolute = self.absolute(path)
        if self.native:
            with storage_errors("resolve", Path(path)):
                return os.path.realpath(absolute)
        try:
            done = self._walk(_parts(absolute, windows=self.windows))
        except ValueError as error:
            raise _unusable(path, _NO_NAME) from error
        return _join(done, windows=self.windows)

    def _walk(self, parts: list[str]) -> list[str]:
        """Follow the links of the path whose components are ``parts``; return the final components."""
        waiting, done, links = deque(parts), list[str](), 0
        while waiting:
            part = waiting.popleft()
            if part == "..":
                del done[-1:]
                continue
            done.append(self._spelt(done, part))
            target = _link_target(self.root.joinpath(*done))
            if target is None:
                continue
            links += 1
            if links > MAX_LINKS:
                raise _unusable(_join(done, windows=self.windows), "its links form a loop")
            done = [] if target.startswith("/") else done[:-1]
            waiting.extendleft(reversed(_parts(target, windows=False)))
        return done

    def _spelt(self, folder: list[str], name: str) -> str:
        """Return ``name`` as it is spelt in ``folder``: Windows does not distinguish case."""
        host = self.root.joinpath(*folder)
        if not self.windows or os.path.lexists(host / name):
            return name
        try:
            names = sorted(entry.name for entry in host.iterdir())
        except OSError:
            return name
        return next((other for other in names if other.lower() == name.lower()), name)

    def host(self, path: str) -> Path:
        """Return where ``path`` lies on the computer that runs this code, every link followed or still to be.

        Raises:
            StorageError: links form a loop, the path is unusable, or the machine denies it.
        """
        if self._direct:
            return self._as_it_stands(path)
        resolved = self.resolve(path)
        if self._is_denied(resolved):
            raise _refused("read", path, os.strerror(errno.EACCES))
        if self.native:
            return Path(resolved)
        return self.root.joinpath(*_parts(resolved, windows=self.windows))

    @cached_property
    def _direct(self) -> bool:
        """Tell whether the kernel itself can follow the links: the root is this computer's own."""
        return os.sep == "/" and self.root == _TOP and not self.windows and not self.denied

    def _as_it_stands(self, path: str) -> Path:
        """Return a path of this computer, its links left to the kernel."""
        try:
            encoded = os.fsencode(path)
        except UnicodeEncodeError:
            encoded = b"\0"
        if b"\0" in encoded:
            raise _unusable(path, _NO_NAME)
        return Path(self.absolute(path))

    def _is_denied(self, resolved: str) -> bool:
        """Tell whether a fake machine denies ``resolved`` or a folder above it."""
        return any(resolved == path or resolved.startswith(path + self.paths.sep) for path in self.denied)

    def status(self, path: str) -> os.stat_result | None:
        """Return the status of what ``path`` names after its links, or None when it cannot be had."""
        try:
            return self.host(path).stat(follow_symlinks=self.native or self._direct)
        except (OSError, ValueError, StorageError):
            return None

    def exists(self, path: str) -> bool:
        """Tell whether ``path`` names anything that can be seen."""
        return self.status(path) is not None

    def is_file(self, path: str) -> bool:
        """Tell whether ``path`` names a regular file."""
        status = self.status(path)
        return status is not None and stat.S_ISREG(status.st_mode)

    def is_dir(self, path: str) -> bool:
        """Tell whether ``path`` names a folder."""
        status = self.status(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def is_link(self, path: str) -> bool:
        """Tell whether the last component of ``path`` is a symbolic link."""
        head, name = self.paths.split(self.absolute(path))
        try:
            return self.host(head).joinpath(name).is_symlink()
        except (OSError, ValueError, StorageError):
            return False

    def regular(self, path: str) -> Path:
        """Return the host path of a regular file.

        Raises:
            StorageError: it is missing, denied, or something else than a regular file.
        """
        host = self.host(path)
        with storage_errors("read", Path(path)):
            status = host.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise StorageError(f"{path} is {kind}", "a regular file", "name the file itself")
        return host

    def size(self, path: str) -> int:
        """Return a regular file's size in bytes.

        Raises:
            StorageError: as ``regular``.
        """
        return self.regular(path).stat().st_size

    def read_bytes(self, path: str, limit: int) -> bytes:
        """Return a regular file's bytes, at most ``limit`` of them.

        Raises:
            StorageError: it is larger, missing, denied or not a regular file.
        """
        return read_bounded(self.regular(path), limit)

    def read_text(self, path: str, limit: int = TEXT_LIMIT) -> str:
        """Return a text file as UTF-8; bytes that are not become U+FFFD.

        Raises:
            StorageError: as ``read_bytes``.
        """
        return self.read_bytes(path, limit).decode("utf-8", "replace")

    def peek(self, path: str, limit: int = TEXT_LIMIT) -> Reading:
        """Return a text that may be missing or unreadable, as a value instead of an error."""
        if not self._named_there(path):
            return Reading("", "missing")
        try:
            return Reading(self.read_text(path, limit))
        except StorageError as error:
            return Reading("", error.observed)

    def _named_there(self, path: str) -> bool:
        """Tell whether ``path`` is in its folder, readable or not, a broken link included."""
        try:
            denied = not self._direct and self._is_denied(self.resolve(path))
            return denied or self.exists(path) or self.is_link(path)
        except StorageError:
            return True

    def listdir(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder, sorted.

        Raises:
            StorageError: it is not a readable folder, or has more than ``MAX_ENTRIES`` names.
        """
        host = self.host(path)
        with storage_errors("list", Path(path)), os.scandir(host) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MAX_ENTRIES + 1), strict=False)]
        if len(names) > MAX_ENTRIES:
            raise StorageError(
                f"{path} has more than {MAX_ENTRIES} names",
                "a folder of usual size",
                "remove what is not needed",
            )
        return tuple(sorted(names))

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Return the existing paths that match, sorted.

        ``*``, ``?`` and ``[…]`` match within one component; a hidden name needs a literal dot.  Folders that
        cannot be listed match nothing.
        """
        anchor, parts = self._anchored(pattern)
        found = [anchor]
        for part in parts:
            found = [path for folder in found for path in self._matching(folder, part)]
        return tuple(sorted(path for path in found if self.exists(path)))

    def _anchored(self, pattern: str) -> tuple[str, list[str]]:
        """Split a pattern into the machine's root and the components below it."""
        parts = _parts(self.absolute(pattern), windows=self.windows)
        return (f"{parts[0]}:\\", parts[1:]) if self.windows else ("/", parts)

    def _matching(self, folder: str, part: str) -> Iterator[str]:
        """Yield the members of ``folder`` that one component of a pattern matches."""
        if not any(character in part for character in "*?["):
            yield self.paths.join(folder, part)
            return
        try:
            names = self.listdir(folder)
        except StorageError:
            return
        fold = str.lower if self.windows else str
        for name in names:
            if fnmatch.fnmatchcase(fold(name), fold(part)) and (part[0] == "." or name[0] != "."):
                yield self.paths.join(folder, name)

    def sha256(self, path: str) -> tuple[str, int]:
        """Return a regular file's SHA-256 (hex) and size in bytes, streamed.

        Raises:
            StorageError: as ``regular``, or a read failed.
        """
        return sha256_file(self.regular(path))


def _parts(path: str, *, windows: bool) -> list[str]:
    """Split an absolute path into components; a drive ``c:`` becomes the component ``C``."""
    if not windows:
        return [part for part in path.split("/") if part not in ("", ".")]
    drive, rest = ntpath.splitdrive(path)
    parts = [part for part in rest.replace("/", "\\").split("\\") if part not in ("", ".")]
    return [drive.rstrip(":").upper() or "C", *parts]


def _join(parts: list[str], *, windows: bool) -> str:
    """Undo ``_parts``."""
    if not windows:
        return "/" + "/".join(parts)
    drive = parts[0] if parts else "C"
    return f"{drive}:\\" + "\\".join(parts[1:])


def _link_target(path: Path) -> str | None:
    """Return what the link ``path`` holds, or None where there is no link to read."""
    try:
        return os.readlink(path)  # noqa: PTH115 - Path.readlink normalises "a//b" and "./"; the text matters
    except OSError:
        return None


def _unusable(path: str, why: str) -> StorageError:
    """Return the error of a path that cannot name a file."""
    return StorageError(f"{path!r} cannot be used: {why}", "a path that names a file", "correct the path")


def _refused(action: str, path: str, reason: str) -> StorageError:
    """Return the error of a file that the system refused."""
    return StorageError(f"cannot {action} {path}: {reason}", "a readable file", "check its permissions")
