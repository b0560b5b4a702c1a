"""Reads one address over HTTP as a bounded stream: bytes, time, redirects and retries all have an end.

What fails before the body comes (no connection, a server that is busy) is retried here, by urllib3's
``Retry`` through ``requests``; a body that breaks off raises ``TransferError``, and the caller, who knows
what has to be undone, tries again with ``attempts``.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from assay.errors import FetchError, TransferError

if TYPE_CHECKING:
    import requests

T = TypeVar("T")

_CHUNK = 1 << 16
_BUSY = (429, 500, 502, 503, 504)
"""Statuses that may pass: too many requests, and a server or gateway in trouble (RFC 9110, 15.5 and 15.6;
RFC 6585, section 4)."""

_REDIRECTS = 5
_LONGEST_PAUSE_S = 30.0
_REMEDY = "check the connection and the address, then try again"


@dataclass(frozen=True)
class Limits:
    """The ends of one download.

    Attributes:
        size: most bytes of a body.
        seconds: most seconds for one body.
        silence_s: most seconds without a byte, also while connecting.
        retries: how often it is tried again.
        backoff_s: the first pause; each further one is twice as long.
    """

    size: int
    seconds: float
    silence_s: float = 30.0
    retries: int = 4
    backoff_s: float = 0.5


@dataclass(frozen=True)
class Download:
    """An answer whose body has not been read yet.

    Attributes:
        status: HTTP status.
        url: the address that answered, after redirects.
        length: announced bytes of the body, or None.
        chunks: the body, decoded, in pieces; raises ``TransferError`` or ``FetchError``.
    """

    status: int
    url: str
    length: int | None
    chunks: Iterator[bytes]


@contextlib.contextmanager
def open_download(url: str, limits: Limits) -> Iterator[Download]:
    """Ask for ``url`` and yield the answer, whatever its status.

    Raises:
        FetchError: there is no answer, even after retries, or it redirects too often.
    """
    with open_session(limits) as session:
        response = _answer(session, url, limits)
        with response:
            announced = response.headers.get("Content-Length", "")
            length = int(announced) if announced.isascii() and announced.isdigit() else None
            yield Download(response.status_code, response.url, length, _chunks(response, url, limits))


def attempts(attempt: Callable[[], T], limits: Limits, *, pause: Callable[[float], None] = time.sleep) -> T:
    """Return what ``attempt`` returns, called again after a pause while a transfer breaks.

    Raises:
        TransferError: it broke at the last try, too.
        FetchError: ``attempt`` failed for good.
    """
    for number in range(limits.retries):
        try:
            return attempt()
        except TransferError:
            pause(min(_LONGEST_PAUSE_S, limits.backoff_s * 2**number))
    return attempt()


def open_session(limits: Limits, methods: Collection[str] = ("GET",)) -> requests.Session:
    """Return a session that retries what fails before the answer's body comes.

    Args:
        limits: how often, and after which pauses.
        methods: the methods that may be tried again: each asked twice does what it does once.
    """
    import requests  # noqa: PLC0415  # a tenth of a second that only a download should pay
    from requests.adapters import HTTPAdapter  # noqa: PLC0415  # as above
    from urllib3.util import Retry  # noqa: PLC0415  # as above

    retry = Retry(
        total=limits.retries,
        allowed_methods=frozenset(methods),
        redirect=0,  # redirects are followed and counted by requests, not by the retries
        status_forcelist=_BUSY,
        backoff_factor=limits.backoff_s,
        backoff_max=_LONGEST_PAUSE_S,
        respect_retry_after_header=False,  # the server does not decide how long a release waits
        raise_on_status=False,
        raise_on_redirect=False,
    )
    session = requests.Session()
    session.max_redirects = _REDIRECTS
    session.headers["Accept-Encoding"] = "identity"  # the digest is of the file itself
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def _answer(session: requests.Session, url: str, limits: Limits) -> requests.Response:
    """Return the answer's head."""
    import requests  # noqa: PLC0415  # as in open_session

    try:
        return session.get(url, stream=True, timeout=(limits.silence_s, limits.silence_s))
    except (
        requests.RequestException,
        ValueError,
    ) as error:  # ValueError: an address that urllib3 cannot read
        observed = f"{url} gave no answer: {reason_of(error)}"
        raise FetchError(observed, "an answer over HTTP", _REMEDY) from error


def _chunks(response: requests.Response, url: str, limits: Limits) -> Iterator[bytes]:
    """Yield the body as it comes, within the limits."""
    import urllib3  # noqa: PLC0415  # as in open_session

    until, size = time.monotonic() + limits.seconds, 0
    try:
        while chunk := response.raw.read1(_CHUNK, decode_content=True):
            size += len(chunk)
            if size > limits.size:
                raise FetchError(
                    f"{url} sends more than {limits.size} bytes", f"at most {limits.size}", _REMEDY
                )
            if time.monotonic() > until:
                raise FetchError(f"{url} takes longer than {limits.seconds:g} s", "a faster answer", _REMEDY)
            yield chunk
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise TransferError(
            f"{url} broke off after {size} bytes: {reason_of(error)}", "all bytes", _REMEDY
        ) from error


def reason_of(error: BaseException) -> str:
    """Return the innermost reason in one line, without addresses of Python objects."""
    inner: BaseException = error
    while (cause := getattr(inner, "reason", None) or inner.__cause__ or inner.__context__) is not None:
        if not isinstance(cause, BaseException) or cause is inner:
            break
        inner = cause
    detail = getattr(inner, "strerror", None) or str(inner).rpartition(">: ")[2] or type(inner).__name__
    return str(detail)[:200]
