"""Where an archive lies, as a user names it: a folder, ``https://…``, or ``oci://HOST/NAME``."""

from __future__ import annotations

from pathlib import Path

from assay.archive.folder import FolderStore
from assay.archive.store import Store
from assay.errors import UsageError

_OCI, _PLAIN_OCI = "oci://", "oci+http://"


def open_store(place: str) -> Store:
    """Return the archive at a place; nothing is asked of it yet.

    Raises:
        UsageError: it is no place for one.
    """
    if place.startswith(("http://", "https://")):
        from assay.archive.web import WebStore  # noqa: PLC0415  # a folder needs no HTTP

        return WebStore(place)
    for scheme in (_OCI, _PLAIN_OCI):
        if place.startswith(scheme):
            from assay.archive.registry import RegistryStore  # noqa: PLC0415  # imports oras, half a second

            return RegistryStore(place.removeprefix(scheme), insecure=scheme == _PLAIN_OCI)
    if "://" in place:
        raise UsageError(
            f"{place} is no place for an archive",
            f"a folder, http(s)://…, {_OCI}HOST/NAME or {_PLAIN_OCI}HOST/NAME",
            "correct the address",
        )
    return FolderStore(Path(place))
