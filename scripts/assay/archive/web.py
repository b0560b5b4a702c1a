"""An archive on an HTTP server: PUT (RFC 9110, section 9.3.4), read back and compared; listed by PROPFIND.

The server needs nothing but WebDAV's PUT, GET, PROPFIND and DELETE (RFC 4918).  A file that did not arrive
whole is taken away again.  Credentials are those of ``~/.netrc``, as ``requests`` reads them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from assay.archive.folder import listing_of
from assay.archive.store import LARGEST, Bytes, Listing, bytes_of, digest_of, not_whole, other_there
from assay.download import Download, Limits, attempts, open_download, open_session, reason_of
from assay.errors import DepositError, FetchError, TransferError, UsageError
from assay.evidence.filed import MARK, Name, check_mark, mark
from assay.files import atomic_writer, private_folder, regular_file, storage_errors

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests

_FOUND, _MULTI_STATUS = 200, 207
_STORED = frozenset({200, 201, 204})
_ABSENT = frozenset({404, 410})
_MARK_BYTES = 1 << 10
_LISTING_BYTES = 1 << 26
"""A listing of 2,000 files has about 1 MiB."""

_LIMITS = Limits(size=LARGEST, seconds=3600.0)
_PROPFIND = b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>'
_REMEDY = "nothing was lost here: look at the server, then archive it again"


class WebStore:
    """An archive on an HTTP server."""

    def __init__(self, base: str, limits: Limits = _LIMITS) -> None:
        """Name the folder's address.

        Args:
            base: its address.
            limits: the ends of each transfer.

        Raises:
            UsageError: it is not an address over HTTP.
        """
        parts = urlsplit(base)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            expected = "an address as https://archive.example/FOLDER"
            raise UsageError(f"{base} is no folder over HTTP", expected, "correct the address")
        self._base = base.rstrip("/") + "/"
        self._limits = limits

    @property
    def place(self) -> str:
        """Return the address."""
        return self._base

    def listing(self) -> Listing:
        """Return what the server lists.

        Raises:
            UsageError: there is no archive.
            FetchError: it cannot be asked, or does not list.
        """
        if not self._is_archive():
            raise UsageError(f"{self._base} is no archive: it holds no {MARK}", "an archive's address", "")
        response = self._ask("PROPFIND", "", lambda session, url: _propfind(session, url, self._limits))
        with response:
            if response.status_code != _MULTI_STATUS:
                raise FetchError(
                    f"{self._base} does not list what it holds: HTTP {response.status_code} for PROPFIND",
                    "a server with WebDAV's PROPFIND (RFC 4918, section 9.1)",
                    "switch it on, or read the archive where its files lie",
                )
            body = response.raw.read(_LISTING_BYTES + 1, decode_content=True)
        return listing_of(sorted(_files(body, self._base)))

    def put(self, name: Name, file: Path) -> bool:
        """Put a file under a name; see ``Store.put``."""
        self._make()
        sent, found = bytes_of(file), self._held(str(name))
        if found is not None:
            if found != sent:
                raise other_there(self._base, name)
            return False
        with self._removed_unless_whole(name, sent):
            with storage_errors("read", file), regular_file(file) as stream:
                self._send(str(name), lambda: stream, sent)
            if (stored := self._held(str(name))) != sent:
                raise not_whole(self._base, name, stored or Bytes("", 0), sent)
        return True

    @contextlib.contextmanager
    def opened(self, name: Name) -> Iterator[Path]:
        """Yield a file's bytes, fetched for the block.

        Raises:
            FetchError: it cannot be fetched.
            StorageError: there is no place for it.
        """
        with private_folder("assay-archive-") as folder:
            path = folder / "fetched"
            attempts(lambda: self._fetch(name, path), self._limits)
            try:
                yield path
            finally:
                path.unlink(missing_ok=True)

    def _fetch(self, name: Name, path: Path) -> None:
        """Fetch a file once, whole or not at all."""
        with open_download(self._base + str(name), self._limits) as download:
            if download.status != _FOUND:
                raise _refused(download)
            with atomic_writer(path) as stream:
                stream.writelines(_whole(download))

    def _held(self, name: str) -> Bytes | None:
        """Return the digest of what the server holds under a name, None where it holds nothing.

        Raises:
            FetchError: it cannot be asked.
        """

        def ask() -> Bytes | None:
            with open_download(self._base + name, self._limits) as download:
                if download.status in _ABSENT:
                    return None
                if download.status != _FOUND:
                    raise _refused(download)
                return digest_of(_whole(download))

        return attempts(ask, self._limits)

    def _make(self) -> None:
        """Make the folder an archive where it is none yet.

        Raises:
            DepositError, FetchError: the server refuses.
            BundleError: what lies there is no mark of an archive.
        """
        if not self._is_archive():
            self._send(MARK, mark, Bytes("", len(mark())))

    def _is_archive(self) -> bool:
        """Say whether the mark of an archive lies there.

        Raises:
            FetchError: the server cannot be asked.
            BundleError: what lies there is another file.
        """
        with open_download(self._base + MARK, replace(self._limits, size=_MARK_BYTES)) as download:
            if download.status in _ABSENT:
                return False
            if download.status != _FOUND:
                raise _refused(download)
            check_mark(b"".join(download.chunks), MARK)
            return True

    def _send(self, name: str, body: Callable[[], object], sent: Bytes) -> None:
        """Send a body to the server.

        Raises:
            DepositError: it was refused, or the connection broke, also at the last try.
        """
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(sent.size)}
        wait = (self._limits.silence_s, self._limits.silence_s)
        response = self._ask(
            "PUT",
            name,
            lambda session, url: session.put(url, data=body(), headers=headers, timeout=wait),  # type: ignore[arg-type]  # bytes or a stream, whichever the caller has
        )
        with response:
            if response.status_code not in _STORED:
                raise DepositError(
                    f"{self._base}{name} was refused: HTTP {response.status_code} {response.reason}",
                    "a server that takes files with PUT",
                    "look at the server's settings, its disk, and whether it lets you in (~/.netrc)",
                )

    def _ask(
        self, method: str, name: str, ask: Callable[[requests.Session, str], requests.Response]
    ) -> requests.Response:
        """Return the server's answer to a request, tried again while it gives none.

        Raises:
            DepositError: there is no answer.
        """
        import requests  # noqa: PLC0415  # a tenth of a second that only an archive elsewhere should cost

        with open_session(self._limits, methods=(method,)) as session:
            try:
                return ask(session, self._base + name)
            except requests.RequestException as error:
                raise DepositError(
                    f"{self._base}{name} gave no answer to {method}: {reason_of(error)}",
                    "an answer over HTTP",
                    _REMEDY,
                ) from error

    @contextlib.contextmanager
    def _removed_unless_whole(self, name: Name, sent: Bytes) -> Iterator[None]:
        """Take away what a failed upload left: a file under a name is whole, or is not there."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(DepositError, FetchError):
                if self._held(str(name)) not in {None, sent}:
                    wait = self._limits.silence_s
                    self._ask("DELETE", str(name), lambda session, url: session.delete(url, timeout=wait))
            raise


def _whole(download: Download) -> Iterator[bytes]:
    """Yield a body, to the last byte that was announced.

    Raises:
        TransferError: it broke off.
    """
    size = 0
    for chunk in download.chunks:
        size += len(chunk)
        yield chunk
    if download.length not in {None, size}:
        raise TransferError(f"{download.url} broke off after {size} bytes", "all bytes", _REMEDY)


def _refused(download: Download) -> FetchError:
    """Return the error of an answer that is neither the file nor that there is none."""
    return FetchError(
        f"{download.url} gave HTTP {download.status}",
        "the file, or that it is not there",
        "look at the server and at whether it lets you in (~/.netrc)",
    )


def _propfind(session: requests.Session, url: str, limits: Limits) -> requests.Response:
    """Ask for the names in a folder (RFC 4918, section 9.1)."""
    headers = {"Depth": "1", "Content-Type": "application/xml"}
    wait = (limits.silence_s, limits.silence_s)
    return session.request("PROPFIND", url, data=_PROPFIND, headers=headers, timeout=wait, stream=True)


def _files(body: bytes, base: str) -> Iterator[str]:
    """Yield the names of the files of a listing, folders and what lies elsewhere left out.

    Raises:
        FetchError: it is no listing.
    """
    from defusedxml import ElementTree  # noqa: PLC0415  # only a listing needs it
    from defusedxml.common import DefusedXmlException  # noqa: PLC0415  # as above

    try:
        tree = ElementTree.fromstring(body, forbid_dtd=True)
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as error:
        raise FetchError(f"{base} lists what is no XML: {error}", "a listing (RFC 4918)", "") from error
    folder = unquote(urlsplit(base).path)
    for href in tree.iter("{DAV:}href"):
        path = unquote(urlsplit((href.text or "").strip()).path)
        if path.startswith(folder) and (name := path.removeprefix(folder)) and "/" not in name:
            yield name
