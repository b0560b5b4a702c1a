"""A relay before a real server that cuts the connection, or changes a byte, after so many bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

HOST = "127.0.0.1"
_CHUNK = 1 << 14


@dataclass
class Trouble:
    """What goes wrong; counted over all connections.

    Attributes:
        cut_sent: bytes from the client after which everything is cut for good, None for never.
        flip_given: bytes of one connection from the server after which one is changed, None for never.
    """

    cut_sent: int | None = None
    flip_given: int | None = None
    sent: int = 0

    def forward(self, data: bytes) -> bytes | None:
        """Return what goes on to the server, None once it is gone."""
        self.sent += len(data)
        return None if self.cut_sent is not None and self.sent > self.cut_sent else data

    def back(self, data: bytes, given: int) -> bytes:
        """Return what goes back to the client."""
        at = -1 if self.flip_given is None else self.flip_given - given
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] if 0 <= at < len(data) else data


@contextlib.contextmanager
def relay(port: int, trouble: Trouble) -> Iterator[int]:
    """Relay to a port of this machine until the block ends, and yield the relay's own port."""
    with socket.create_server((HOST, 0)) as listening:
        listening.settimeout(0.05)
        ended = threading.Event()
        thread = threading.Thread(target=_accept, args=(listening, port, trouble, ended))
        thread.start()
        try:
            yield int(listening.getsockname()[1])
        finally:
            ended.set()
            thread.join()


def _accept(listening: socket.socket, port: int, trouble: Trouble, ended: threading.Event) -> None:
    """Take connections."""
    while not ended.is_set():
        with contextlib.suppress(TimeoutError):
            client, _ = listening.accept()
            client.settimeout(30)
            with contextlib.suppress(OSError):
                server = socket.create_connection((HOST, port), timeout=30)
                threading.Thread(target=_send, args=(client, server, trouble), daemon=True).start()
                threading.Thread(target=_give, args=(client, server, trouble), daemon=True).start()


def _send(client: socket.socket, server: socket.socket, trouble: Trouble) -> None:
    """Pass on what the client sends."""
    with contextlib.suppress(OSError):
        while data := client.recv(_CHUNK):
            passed = trouble.forward(data)
            if passed is None:
                break
            server.sendall(passed)
    _close(client, server)


def _give(client: socket.socket, server: socket.socket, trouble: Trouble) -> None:
    """Pass back what the server gives."""
    given = 0
    with contextlib.suppress(OSError):
        while data := server.recv(_CHUNK):
            client.sendall(trouble.back(data, given))
            given += len(data)
    _close(client, server)


def _close(*ends: socket.socket) -> None:
    """Close both ends."""
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()
