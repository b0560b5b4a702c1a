"""A small WebDAV server in memory that goes wrong as a test says; real ones are in ``tests/servers``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import quote

from tests.webserver import serving


class Dav:
    """What the server holds, and what goes wrong.

    Attributes:
        files: bytes by path.
        busy: how many PUTs are answered with 503 first.
        cut: bytes of a body after which the connection is cut, None for never.
        keeps_cut: whether what came until then is kept, as poor servers do.
        spoils: whether a PUT stores another last byte.
        status: what every PUT gets, 0 for what is right.
        listing: another listing than the right one.
        asked: method and path of each request.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.busy = 0
        self.cut: int | None = None
        self.keeps_cut = False
        self.spoils = False
        self.status = 0
        self.listing: bytes | None = None
        self.asked: list[tuple[str, str]] = []
        self.base = ""

    def put(self, path: str, body: bytes) -> int:
        """Store a body and return the status."""
        if self.busy:
            self.busy -= 1
            return 503
        if not self.status:
            self.files[path] = (
                body[:-1] + bytes([body[-1] ^ 1]) if self.spoils and b"schema" not in body[:9] else body
            )
        return self.status or 201

    def listed(self) -> bytes:
        """Return the listing."""
        hrefs = "".join(f"<response><href>{quote(path)}</href></response>" for path in ["/a/", *self.files])
        return (
            self.listing or f'<?xml version="1.0"?><multistatus xmlns="DAV:">{hrefs}</multistatus>'.encode()
        )


@contextlib.contextmanager
def dav() -> Iterator[Dav]:
    """Serve until the block ends."""
    site = Dav()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status: int, body: bytes = b"") -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def handle_one_request(self) -> None:
            with contextlib.suppress(ConnectionError):
                super().handle_one_request()

        def do_GET(self) -> None:
            site.asked.append(("GET", self.path))
            found = site.files.get(self.path)
            self.answer(404 if found is None else 200, found or b"")

        def do_PUT(self) -> None:
            site.asked.append(("PUT", self.path))
            size = int(self.headers["Content-Length"])
            if site.cut is not None and size > site.cut:
                begun = self.rfile.read(site.cut)
                if site.keeps_cut:
                    site.files[self.path] = begun
                self.close_connection = True
                self.connection.shutdown(2)
                return
            self.answer(site.put(self.path, self.rfile.read(size)))

        def do_DELETE(self) -> None:
            site.asked.append(("DELETE", self.path))
            self.answer(204 if site.files.pop(self.path, None) is not None else 404)

        def do_PROPFIND(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(207, site.listed())

        def log_message(self, *_args: object) -> None:
            """Keep the test's output clean."""

    with serving(Handler) as address:
        site.base = f"{address}/a"
        yield site
