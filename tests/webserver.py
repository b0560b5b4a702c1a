"""A real HTTP server on 127.0.0.1 whose answers a test scripts, request by request."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """One answer: its body may be shorter than announced, and the connection may be cut instead."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None
    cut: bool = False


class Website:
    """Answers by path: each list is used up one by one, its last entry for ever."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[str] = []
        self.base = ""

    def url(self, path: str, *answers: Answer) -> str:
        """Script a path and return its address."""
        self.answers[path] = list(answers)
        return self.base + path


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer on this machine until the block ends; yield the server's address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def website() -> Iterator[Website]:
    """Serve until the block ends."""
    site = Website()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            script = site.answers.get(self.path, [Answer(404)])
            answer = script.pop(0) if len(script) > 1 else script[0]
            if answer.cut:
                self.close_connection = True
                return
            self.send_response(answer.status)
            headers = {
                "Content-Length": str(len(answer.body) if answer.announced is None else answer.announced)
            }
            for name, value in {**headers, **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)
            self.close_connection = True

        def log_message(self, *_args: object) -> None:
            """Keep the test's output clean."""

    with serving(Handler) as site.base:
        yield site
