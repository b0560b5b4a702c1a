"""An archive on a real nginx with WebDAV."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from assay.archive.audit import audit
from assay.archive.deposit import items_of
from assay.archive.retrieve import retrieve
from assay.archive.web import WebStore
from assay.download import Limits
from assay.errors import AssayError, DepositError, FetchError
from assay.evidence.archived import ArchiveFolder
from assay.evidence.bundle import Bundle
from assay.evidence.filed import MARK
from tests.archive.shelves import NOW, contents, held, put, signed_bundle
from tests.servers.proxy import Trouble, relay
from tests.servers.running import nginx

QUICK = Limits(size=1 << 30, seconds=60.0, silence_s=10.0, retries=2, backoff_s=0.0)


def files_of(folder: Path) -> set[str]:
    """Return what the server has on its disk, half-written files included."""
    return {path.name for path in (folder / "files").rglob("*") if path.is_file()}


def through(url: str, port: int) -> str:
    """Return an address with the relay's port."""
    return urlsplit(url)._replace(netloc=f"127.0.0.1:{port}").geturl()


def test_what_is_put_is_listed_checked_and_comes_back(tmp_path: Path, bundle: Bundle) -> None:
    with nginx(tmp_path / "server") as url:
        store = WebStore(url, QUICK)
        assert put(bundle, store) == [True, True, True]
        assert put(bundle, store) == [False, False, False]
        assert held(store) == contents(items_of(bundle.path, NOW))
        assert [each.problem for each in audit(store, NOW)] == [None, None, None]
        listing = store.listing()
        assert listing.strangers == ()
        assert len(list(retrieve(bundle.digest, listing, store, tmp_path / "kept", NOW))) == 3
    assert ArchiveFolder(tmp_path / "kept").bundle(bundle.digest) is not None
    assert ArchiveFolder(tmp_path / "server/files/evidence").bundle(bundle.digest) is not None


def test_a_server_that_is_gone_mid_upload_has_nothing_half_there(tmp_path: Path, bundle: Bundle) -> None:
    with nginx(tmp_path / "server") as url:
        trouble = Trouble(cut_sent=500_000)
        with (
            relay(urlsplit(url).port or 0, trouble) as port,
            pytest.raises(DepositError, match="gave no answer to PUT"),
        ):
            put(bundle, WebStore(through(url, port), QUICK))
        assert files_of(tmp_path / "server") == {MARK}
        assert put(bundle, WebStore(url, QUICK)) == [True, True, True]


def test_a_byte_that_comes_back_changed_is_noticed_and_the_file_taken_away(
    tmp_path: Path, bundle: Bundle
) -> None:
    with nginx(tmp_path / "server") as url:
        with (
            relay(urlsplit(url).port or 0, Trouble(flip_given=100_000)) as port,
            pytest.raises(DepositError, match="stored"),
        ):
            put(bundle, WebStore(through(url, port), QUICK))
        assert files_of(tmp_path / "server") == {MARK}


def test_a_disk_that_takes_no_more_is_said(tmp_path: Path, bundle: Bundle) -> None:
    with nginx(tmp_path / "server", files_to=400_000) as url:
        with pytest.raises(DepositError):
            put(bundle, WebStore(url, QUICK))
        assert not {name for name in files_of(tmp_path / "server") if name.endswith(".tar")}


@pytest.mark.parametrize(
    ("extra", "status"),
    [("limit_except GET PROPFIND { deny all; }", 403), ("client_max_body_size 20k;", 413)],
)
def test_a_server_that_refuses_is_told_as_it_is(
    tmp_path: Path, bundle: Bundle, extra: str, status: int
) -> None:
    with nginx(tmp_path / "server", extra=extra) as url:
        with pytest.raises(DepositError, match=f"HTTP {status}"):
            put(bundle, WebStore(url, QUICK))
        assert files_of(tmp_path / "server") <= {MARK}


def test_a_server_that_does_not_list_says_so(tmp_path: Path, bundle: Bundle) -> None:
    with nginx(tmp_path / "server", listing=False) as url:
        store = WebStore(url, QUICK)
        put(bundle, store)
        with pytest.raises(FetchError, match="does not list what it holds"):
            store.listing()


def test_two_writers_at_once_leave_one_whole_archive(tmp_path: Path, bundle: Bundle) -> None:
    other = signed_bundle(tmp_path / "other", "2026-12-02T12:00:00Z")
    with nginx(tmp_path / "server") as url:
        with ThreadPoolExecutor(4) as pool:
            writers = [pool.submit(put, each, WebStore(url, QUICK)) for each in (bundle, other) * 2]
            assert all(len(writer.result()) == 3 for writer in writers)
        wanted = {**contents(items_of(bundle.path, NOW)), **contents(items_of(other.path, NOW))}
        assert held(WebStore(url, QUICK)) == wanted


def test_damage_on_the_servers_disk_is_found(tmp_path: Path, bundle: Bundle) -> None:
    with nginx(tmp_path / "server") as url:
        store = WebStore(url, QUICK)
        put(bundle, store)
        path = tmp_path / "server/files/evidence" / f"{bundle.digest}.tar"
        path.write_bytes(path.read_bytes()[:-512])
        assert [each.exit_code for each in audit(store, NOW)].count(4) == 1
        with pytest.raises(AssayError):
            list(retrieve(bundle.digest, store.listing(), store, tmp_path / "kept", NOW))
        assert not (tmp_path / "kept").exists()
