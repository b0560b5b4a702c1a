"""An archive over HTTP: retried, read back, compared; whatever a server does, nothing half-there is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.archive.deposit import items_of
from assay.archive.web import WebStore
from assay.download import Limits
from assay.errors import BundleError, DepositError, FetchError, NewerSchemaError, UsageError
from assay.evidence.bundle import Bundle
from assay.evidence.filed import MARK, mark
from tests.archive.davserver import Dav, dav
from tests.archive.shelves import NOW, contents, held, put, signed_bundle

QUICK = Limits(size=1 << 30, seconds=30.0, silence_s=5.0, retries=2, backoff_s=0.0)


@pytest.fixture
def site() -> Iterator[Dav]:
    """Return a server."""
    with dav() as running:
        yield running


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """Return a bundle with what lies beside it."""
    return signed_bundle(tmp_path / "run")


def store_of(site: Dav) -> WebStore:
    """Return the archive at a server."""
    return WebStore(site.base, QUICK)


def test_what_is_put_is_there_once_and_comes_back(site: Dav, bundle: Bundle) -> None:
    assert put(bundle, store_of(site)) == [True, True, True]
    assert held(store_of(site)) == contents(items_of(bundle.path, NOW))
    puts = [path for method, path in site.asked if method == "PUT"]
    assert put(bundle, store_of(site)) == [False, False, False]
    assert [path for method, path in site.asked if method == "PUT"] == puts
    assert site.files[f"/a/{MARK}"] == mark()


@pytest.mark.gate
def test_a_busy_server_is_asked_again(site: Dav, bundle: Bundle) -> None:
    site.busy = 2
    assert put(bundle, store_of(site)) == [True, True, True]
    assert held(store_of(site)) == contents(items_of(bundle.path, NOW))


def test_a_server_that_stays_busy_is_said_to_be(site: Dav, bundle: Bundle) -> None:
    site.busy = 1000
    with pytest.raises(DepositError, match="HTTP 503"):
        put(bundle, store_of(site))
    assert site.files == {}


@pytest.mark.gate
@pytest.mark.parametrize("keeps", [False, True])
def test_a_server_that_goes_mid_upload_leaves_nothing_half_there(
    site: Dav, bundle: Bundle, *, keeps: bool
) -> None:
    site.cut, site.keeps_cut = 1000, keeps
    before = contents(items_of(bundle.path, NOW))
    with pytest.raises(DepositError, match="gave no answer to PUT"):
        put(bundle, store_of(site))
    assert set(site.files) == {f"/a/{MARK}"}
    assert contents(items_of(bundle.path, NOW)) == before
    site.cut = None
    assert put(bundle, store_of(site)) == [True, True, True]


def test_what_was_stored_with_another_digest_is_taken_away_again(site: Dav, bundle: Bundle) -> None:
    site.spoils = True
    with pytest.raises(DepositError, match="stored"):
        put(bundle, store_of(site))
    assert set(site.files) == {f"/a/{MARK}"}


@pytest.mark.parametrize("status", [401, 403, 405, 413, 507])
def test_a_refusal_is_said_as_it_is(site: Dav, bundle: Bundle, status: int) -> None:
    site.status = status
    with pytest.raises(DepositError, match=f"HTTP {status}"):
        put(bundle, store_of(site))
    assert site.files == {}


def test_what_lies_there_is_never_replaced(site: Dav, bundle: Bundle) -> None:
    path = f"/a/{bundle.digest}.tar"
    site.files = {f"/a/{MARK}": mark(), path: b"damaged"}
    with pytest.raises(DepositError, match="holds something else"):
        put(bundle, store_of(site))
    assert site.files[path] == b"damaged"


def test_no_server_and_no_archive_are_said(site: Dav, bundle: Bundle) -> None:
    with pytest.raises(UsageError, match="is no archive"):
        store_of(site).listing()
    with pytest.raises(FetchError, match="gave no answer"):
        put(bundle, WebStore("http://127.0.0.1:9/evidence", QUICK))


@pytest.mark.parametrize(
    ("data", "error"), [(b"{}\n", BundleError), (mark().replace(b"/1", b"/9"), NewerSchemaError)]
)
def test_a_mark_of_another_kind_is_not_written_over(
    site: Dav, bundle: Bundle, data: bytes, error: type[Exception]
) -> None:
    site.files = {f"/a/{MARK}": data}
    with pytest.raises(error):
        put(bundle, store_of(site))
    assert site.files == {f"/a/{MARK}": data}


@pytest.mark.parametrize(
    "listing",
    [
        b"not XML",
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>',
        b'<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>',
    ],
)
def test_a_hostile_listing_is_refused(site: Dav, listing: bytes) -> None:
    site.files = {f"/a/{MARK}": mark()}
    site.listing = listing
    with pytest.raises(FetchError, match="lists what is no XML"):
        store_of(site).listing()


def test_a_listing_tells_of_its_own_folder_alone(site: Dav) -> None:
    site.files = {f"/a/{MARK}": mark(), "/b/other.tar": b"", f"/a/deep/{'a' * 64}.tar": b"", "/a/mine": b""}
    site.files[f"/a/{'b' * 64}.tar"] = b""
    listing = store_of(site).listing()
    assert [str(name) for name in listing.names] == [f"{'b' * 64}.tar"]
    assert listing.strangers == ("mine",)


@pytest.mark.parametrize("address", ["ftp://host/a", "https://", "https://archive.example/a?b=c", "host/a#b"])
def test_other_addresses_are_mistakes(address: str) -> None:
    with pytest.raises(UsageError):
        WebStore(address)
