"""Downloads: every answer is bounded, and what may pass is tried again."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from assay.download import Limits, attempts, open_download
from assay.errors import FetchError, TransferError
from tests.webserver import Answer, Website, website

QUICK = Limits(size=1000, seconds=20, silence_s=5, retries=2, backoff_s=0)


@pytest.fixture
def site() -> Iterator[Website]:
    with website() as made:
        yield made


def body(url: str, limits: Limits = QUICK) -> bytes:
    with open_download(url, limits) as download:
        return b"".join(download.chunks)


def test_an_answer_comes_with_status_final_address_length_and_body(site: Website) -> None:
    url = site.url("/file", Answer(body=b"0123456789"))
    moved = site.url("/old", Answer(302, headers={"Location": url}))
    with open_download(moved, QUICK) as download:
        assert (download.status, download.url, download.length) == (200, url, 10)
        assert b"".join(download.chunks) == b"0123456789"


def test_any_status_is_an_answer(site: Website) -> None:
    with open_download(site.url("/gone", Answer(410, b"gone")), QUICK) as download:
        assert (download.status, b"".join(download.chunks)) == (410, b"gone")


@pytest.mark.gate
@pytest.mark.parametrize("trouble", [Answer(503), Answer(429), Answer(500), Answer(cut=True)])
def test_trouble_before_the_body_is_tried_again(site: Website, trouble: Answer) -> None:
    url = site.url("/busy", trouble, trouble, Answer(body=b"here"))
    assert body(url) == b"here"
    assert site.asked == ["/busy"] * 3


def test_a_server_that_stays_busy_is_asked_as_often_as_allowed(site: Website) -> None:
    with open_download(site.url("/busy", Answer(503)), QUICK) as download:
        assert download.status == 503
    assert len(site.asked) == 1 + QUICK.retries


def test_a_missing_page_is_not_asked_for_twice(site: Website) -> None:
    with open_download(site.url("/absent", Answer(404)), QUICK) as download:
        assert download.status == 404
    assert site.asked == ["/absent"]


@pytest.mark.gate
def test_a_body_that_breaks_off_is_a_transfer_error(site: Website) -> None:
    url = site.url("/short", Answer(body=b"half", announced=8))
    with pytest.raises(TransferError, match="broke off after 4 bytes"):
        body(url)


def test_a_body_past_the_limit_ends(site: Website) -> None:
    assert len(body(site.url("/fits", Answer(body=bytes(1000))))) == 1000
    with pytest.raises(FetchError, match="more than 1000 bytes") as caught:
        body(site.url("/large", Answer(body=bytes(1001))))
    assert not isinstance(caught.value, TransferError)


def test_a_body_past_its_time_ends(site: Website) -> None:
    with pytest.raises(FetchError, match="longer than 0 s"):
        body(site.url("/slow", Answer(body=b"x")), Limits(size=10, seconds=0))


def test_redirects_in_a_circle_end(site: Website) -> None:
    url = site.url("/circle", Answer(302, headers={"Location": "/circle"}))
    with pytest.raises(FetchError, match="redirects"):
        body(url)


def test_a_closed_port_gives_a_one_line_reason() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/"
        with pytest.raises(FetchError, match="gave no answer: Connection refused") as caught:
            body(url)
    assert "0x" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://", "http://[", "file:///etc/hostname", "http://a\x00b/", "gopher://x/"]
)
def test_an_address_that_is_none_is_a_fetch_error(url: str) -> None:
    with pytest.raises(FetchError, match="gave no answer"):
        body(url)


@contextlib.contextmanager
def raw_server(reply: bytes) -> Iterator[str]:
    """Serve bytes that no proper server would send, to every connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            with contextlib.suppress(OSError):  # the listening socket is closed when the test ends
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize(
    "reply", [b"", b"\x16\x03\x01\x02", b"HTTP/1.1 banana\r\n\r\n", b"HTTP/9 200 OK\r\n\r\n"]
)
def test_a_server_that_speaks_another_language_is_a_fetch_error(reply: bytes) -> None:
    with raw_server(reply) as url, pytest.raises(FetchError):
        body(url)


def test_broken_chunked_encoding_is_a_transfer_error() -> None:
    reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc"
    with raw_server(reply) as url, pytest.raises(TransferError):
        body(url)


def test_a_broken_content_encoding_is_a_transfer_error() -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"
    with raw_server(reply) as url, pytest.raises(TransferError):
        body(url)


def test_attempts_pause_twice_as_long_each_time() -> None:
    pauses: list[float] = []
    tries = iter(range(10))

    def third_time() -> str:
        if next(tries) < 2:
            raise TransferError("broke", "", "")
        return "came"

    assert attempts(third_time, Limits(1, 1, retries=4, backoff_s=0.5), pause=pauses.append) == "came"
    assert pauses == [0.5, 1.0]


def test_attempts_end_with_the_last_error() -> None:
    tries: list[int] = []

    def never() -> None:
        tries.append(1)
        raise TransferError(f"broke {len(tries)}", "", "")

    with pytest.raises(TransferError, match="broke 3"):
        attempts(never, Limits(1, 1, retries=2, backoff_s=0), pause=lambda _seconds: None)


def test_what_failed_for_good_is_not_tried_again() -> None:
    tries: list[int] = []

    def wrong() -> None:
        tries.append(1)
        raise FetchError("wrong digest", "", "")

    with pytest.raises(FetchError, match="wrong digest"):
        attempts(wrong, QUICK)
    assert len(tries) == 1
