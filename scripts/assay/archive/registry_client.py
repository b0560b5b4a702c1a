"""``oras`` with ends, retries and errors of this package; what it says on its own is kept quiet."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import oras.auth
import oras.container
import oras.logger
import oras.provider
import requests
from requests.adapters import HTTPAdapter

from assay.download import Limits, open_session, reason_of
from assay.errors import DepositError

REMEDY = (
    "nothing was lost here: look at the registry and at whether it lets you in (docker login), then try again"
)


class _Timed(HTTPAdapter):
    """Gives every request an end: ``oras`` sets none."""

    def __init__(self, limits: Limits, **options: Any) -> None:  # noqa: ANN401  # passed on as they are
        self._silence_s = limits.silence_s
        super().__init__(**options)

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:  # type: ignore[override]  # noqa: ANN401  # passed on as they are
        """Send a request."""
        options["timeout"] = options.get("timeout") or self._silence_s
        return super().send(request, **options)


class Client(oras.provider.Registry):
    """A client of one registry."""

    def __init__(self, host: str, *, insecure: bool, limits: Limits) -> None:
        """Make a client; nothing is asked yet.

        Args:
            host: the registry's host, with its port.
            insecure: whether to talk without TLS.
            limits: the ends of each transfer.
        """
        oras.logger.logger.set_level(logging.CRITICAL)
        super().__init__(host, insecure=insecure)
        adapter = open_session(limits, ("GET", "HEAD", "PUT")).get_adapter("https://")
        retries = adapter.max_retries if isinstance(adapter, HTTPAdapter) else limits.retries
        for scheme in ("http://", "https://"):
            self.session.mount(scheme, _Timed(limits, max_retries=retries))

    def sign_in(self, container: oras.container.Container) -> None:
        """Find the credentials that Docker's configuration has, for the way in which the registry asks."""
        asked = self.session.get(f"{self.prefix}://{container.registry}/v2/")
        if asked.headers.get("Www-Authenticate", "").lower().startswith("basic"):
            self.auth = oras.auth.get_auth_backend(  # type: ignore[no-untyped-call]  # oras types it not at all
                "basic", self.session, self.prefix == "http"
            )
        self.auth.load_configs(container)

    def do_request(self, *arguments: Any, **options: Any) -> requests.Response:  # noqa: ANN401  # passed on as they are
        """Ask once: what may be tried again, the session tries again, and no 500 for two minutes."""
        asked: requests.Response = oras.provider.Registry.do_request.__wrapped__(self, *arguments, **options)
        return asked


@contextlib.contextmanager
def told(place: str) -> Iterator[None]:
    """Turn what ``oras`` and ``requests`` raise inside the block into an error that names the place.

    Raises:
        DepositError: they did.
    """
    try:
        yield
    except (requests.RequestException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DepositError(
            f"{place} cannot be used: {reason_of(error)}", "a registry that answers and lets you in", REMEDY
        ) from error
