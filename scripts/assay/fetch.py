"""Brings a pinned provider from the plan's URL: streamed, verified, and only then put in its place.

A pin's ``url`` names the library itself, or a zip that holds it: ``https://…/release.zip#lib/library.so``.
The pinned digest is always the library's.  Whatever goes wrong, nothing is left behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote, urldefrag, urlsplit

from assay.archives import zip_member_chunks
from assay.download import Limits, attempts, open_download
from assay.errors import FetchError, UsageError
from assay.files import atomic_writer, sha256_file, storage_errors
from assay.model import Platform
from assay.plan.values import Plan, ProviderPin

Progress = Callable[[str, int, int | None], None]
"""Called with the provider's name, the bytes that came, and the bytes announced (None: not announced)."""

LIMITS = Limits(size=1 << 30, seconds=1800)
"""A GiB is several times the largest provider known; half an hour is that at 600 kB/s."""

_OK = 200
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}")
_TENTHS = 10


def pins_to_fetch(plan: Plan, platform: Platform, name: str | None) -> tuple[ProviderPin, ...]:
    """Return the pins of a platform that have a URL, or the one called ``name``.

    Raises:
        UsageError: there is none.
    """
    here = [pin for pin in plan.providers if pin.platform is platform and name in {None, pin.name}]
    found = tuple(pin for pin in here if pin.url)
    if not found:
        observed = f"no provider{f' {name!r}' if name else ''} with a url is pinned for {platform.value}"
        known = ", ".join(sorted({pin.name for pin in plan.providers if pin.url})) or "none"
        remedy = "add url to its [[tool.assay.provider]], or put the library in place yourself"
        raise UsageError(observed, f"one of those with a url: {known}", remedy)
    return found


def fetch_provider(
    pin: ProviderPin, folder: Path, *, limits: Limits = LIMITS, progress: Progress | None = None
) -> Path:
    """Bring a pinned provider to ``folder/<name>/<file>`` and return that path.

    A file that is already there with the pinned digest is kept, without asking anybody.

    Raises:
        FetchError: it did not come whole, or its digest is not the pinned one.
        ArchiveError: the zip is broken, or does not hold the member.
        StorageError: the file system refused.
    """
    target = folder / pin.name / _file_name(pin)
    if target.is_file() and sha256_file(target)[0] == pin.sha256:
        return target
    with storage_errors("make", target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
    try:
        attempts(lambda: _bring(pin, target, limits, progress or _silent), limits)
    except BaseException:
        with contextlib.suppress(OSError):  # not empty, or gone: either way nothing of this download is in it
            target.parent.rmdir()
        raise
    return target


def _file_name(pin: ProviderPin) -> str:
    """Return the library's file name, from the member or the address."""
    address, member = urldefrag(pin.url or "")
    name = (member or unquote(urlsplit(address).path)).rpartition("/")[2]
    if not _FILE_NAME.fullmatch(name):
        raise FetchError(
            f"{pin.url!r} ends in no file name", "a URL of a file, or of a zip with #member", _PIN
        )
    return name


def _bring(pin: ProviderPin, target: Path, limits: Limits, progress: Progress) -> None:
    """Bring the library once."""
    address, member = urldefrag(pin.url or "")
    if not member:
        _store(target, pin, _body(address, pin.name, limits, progress))
        return
    with storage_errors("write", target), tempfile.TemporaryFile(dir=target.parent) as archive:
        for chunk in _body(address, pin.name, limits, progress):
            archive.write(chunk)
        archive.seek(0)
        _store(target, pin, zip_member_chunks(archive, unquote(member), limits.size))


def _body(address: str, name: str, limits: Limits, progress: Progress) -> Iterator[bytes]:
    """Yield a body, reporting its progress."""
    with open_download(address, limits) as download:
        if download.status != _OK:
            raise FetchError(f"{address} answered {download.status}", f"{_OK}", "correct the pin's url")
        came = 0
        progress(name, came, download.length)
        for chunk in download.chunks:
            came += len(chunk)
            progress(name, came, download.length)
            yield chunk


def _store(target: Path, pin: ProviderPin, chunks: Iterable[bytes]) -> None:
    """Write the library beside its place and let it take it only with the pinned digest."""
    digest = hashlib.sha256()
    with atomic_writer(target) as stream:
        for chunk in chunks:
            digest.update(chunk)
            stream.write(chunk)
        if digest.hexdigest() != pin.sha256:
            raise FetchError(f"{pin.url} has SHA-256 {digest.hexdigest()}", pin.sha256, _PIN)


_PIN = "compare the pin with the provider's own published digest; never pin what merely came"


def _silent(_name: str, _came: int, _length: int | None) -> None:
    """Show nothing."""


@contextlib.contextmanager
def shown_progress(stream: TextIO) -> Iterator[Progress]:
    """Yield a ``Progress`` that draws a bar on a terminal, and plain lines elsewhere."""
    if not stream.isatty():
        yield _plain_lines(stream)
        return
    from rich.console import Console  # noqa: PLC0415  # only a terminal needs it
    from rich.progress import BarColumn, DownloadColumn, TransferSpeedColumn  # noqa: PLC0415  # as above
    from rich.progress import Progress as Bars  # noqa: PLC0415  # as above

    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Bars(*columns, console=Console(file=stream)) as bars:
        tasks = {}

        def report(name: str, came: int, length: int | None) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=length)
            bars.update(tasks[name], completed=came, total=length)

        yield report


def _plain_lines(stream: TextIO) -> Progress:
    """Return a ``Progress`` that prints a line for each tenth that came."""
    printed: dict[str, int] = {}

    def report(name: str, came: int, length: int | None) -> None:
        tenth = came * _TENTHS // length if length else 0
        if came == 0 or tenth > printed.get(name, 0):
            printed[name] = tenth
            print(
                f"{name}: {came:,} of {f'{length:,}' if length else 'unknown'} bytes", file=stream, flush=True
            )

    return report
