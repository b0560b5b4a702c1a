"""Fetching a pinned provider: whole and as pinned, or nothing at all."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

from assay.download import Limits
from assay.errors import ArchiveError, FetchError, StorageError, UsageError
from assay.fetch import fetch_provider, pins_to_fetch, shown_progress
from assay.model import Platform, Tier
from assay.plan.values import Plan, ProviderPin
from tests.webserver import Answer, Website, website

LIBRARY = b"\x7fELF" + bytes(range(256)) * 900
QUICK = Limits(size=1 << 20, seconds=20, silence_s=5, retries=2, backoff_s=0)


@pytest.fixture
def site() -> Iterator[Website]:
    with website() as made:
        yield made


def pinned(url: str | None, data: bytes = LIBRARY, platform: Platform = Platform.LINUX) -> ProviderPin:
    return ProviderPin("native", platform, "wgpu-native", hashlib.sha256(data).hexdigest(), (), url)


def plan_of(*pins: ProviderPin) -> Plan:
    nothing: MappingProxyType[Platform, tuple[str, ...]] = MappingProxyType({})
    return Plan(
        project="p",
        modules=("p",),
        tier=Tier.PHYSICAL,
        allow_unclean_tree=False,
        architectures=("sm_75",),
        gates=("lint",),
        commands=(),
        deadlines=MappingProxyType({}),
        versions=MappingProxyType({}),
        providers=pins,
        backend=MappingProxyType({}),
        software_adapters=nothing,
        msvc_toolset=None,
        chains=nothing,
        kernels=MappingProxyType({}),
        smoke=("python",),
        allow_environment=(),
        disclose=(),
        built_by=MappingProxyType({}),
        cites=(),
        references=(),
        claims=(),
    )


def everything_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def zip_of(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.gate
def test_a_library_comes_to_its_place_with_its_bytes(site: Website, tmp_path: Path) -> None:
    pin = pinned(site.url("/v1/libnative.so", Answer(body=LIBRARY)))
    path = fetch_provider(pin, tmp_path, limits=QUICK)
    assert path == tmp_path / "native" / "libnative.so"
    assert path.read_bytes() == LIBRARY
    assert everything_below(tmp_path) == ["native", "native/libnative.so"]


def test_a_library_that_is_there_is_not_asked_for(site: Website, tmp_path: Path) -> None:
    pin = pinned(site.url("/libnative.so", Answer(body=LIBRARY)))
    assert fetch_provider(pin, tmp_path, limits=QUICK) == fetch_provider(pin, tmp_path, limits=QUICK)
    assert site.asked == ["/libnative.so"]


def test_an_older_library_is_replaced(site: Website, tmp_path: Path) -> None:
    (tmp_path / "native").mkdir()
    (tmp_path / "native" / "libnative.so").write_bytes(b"older")
    pin = pinned(site.url("/libnative.so", Answer(body=LIBRARY)))
    assert fetch_provider(pin, tmp_path, limits=QUICK).read_bytes() == LIBRARY


@pytest.mark.gate
def test_a_member_of_a_zip_comes_alone(site: Website, tmp_path: Path) -> None:
    url = site.url("/release.zip", Answer(body=zip_of("lib/libnative.so", LIBRARY)))
    path = fetch_provider(pinned(f"{url}#lib/libnative.so"), tmp_path, limits=QUICK)
    assert (path.name, path.read_bytes()) == ("libnative.so", LIBRARY)
    assert everything_below(tmp_path) == ["native", "native/libnative.so"]


@pytest.mark.gate
@pytest.mark.parametrize("zipped", [False, True])
def test_a_wrong_digest_leaves_nothing_behind(site: Website, tmp_path: Path, *, zipped: bool) -> None:
    wrong = LIBRARY[:-1] + b"!"
    url = site.url("/libnative.so", Answer(body=zip_of("libnative.so", wrong) if zipped else wrong))
    with pytest.raises(FetchError, match=hashlib.sha256(wrong).hexdigest()) as caught:
        fetch_provider(pinned(url + "#libnative.so" * zipped), tmp_path, limits=QUICK)
    assert caught.value.expected == hashlib.sha256(LIBRARY).hexdigest()
    assert everything_below(tmp_path) == []
    assert site.asked == ["/libnative.so"]


def test_a_wrong_digest_leaves_the_older_library_alone(site: Website, tmp_path: Path) -> None:
    (tmp_path / "native").mkdir()
    (tmp_path / "native" / "libnative.so").write_bytes(b"older")
    with pytest.raises(FetchError):
        fetch_provider(pinned(site.url("/libnative.so", Answer(body=b"other"))), tmp_path, limits=QUICK)
    assert everything_below(tmp_path) == ["native", "native/libnative.so"]
    assert (tmp_path / "native" / "libnative.so").read_bytes() == b"older"


@pytest.mark.gate
@pytest.mark.parametrize(
    "trouble",
    [
        Answer(503),
        Answer(body=LIBRARY[:1000], announced=len(LIBRARY)),
        Answer(cut=True),
    ],
)
def test_trouble_that_passes_is_overcome(site: Website, tmp_path: Path, trouble: Answer) -> None:
    url = site.url("/libnative.so", trouble, trouble, Answer(body=LIBRARY))
    assert fetch_provider(pinned(url), tmp_path, limits=QUICK).read_bytes() == LIBRARY
    assert len(site.asked) == 3


def test_trouble_that_stays_is_an_error_that_leaves_nothing(site: Website, tmp_path: Path) -> None:
    url = site.url("/libnative.so", Answer(body=LIBRARY[:1000], announced=len(LIBRARY)))
    with pytest.raises(FetchError, match="broke off after 1000 bytes"):
        fetch_provider(pinned(url), tmp_path, limits=QUICK)
    assert everything_below(tmp_path) == []
    assert len(site.asked) == 1 + QUICK.retries


def test_a_redirect_is_followed(site: Website, tmp_path: Path) -> None:
    site.url("/elsewhere/blob", Answer(body=LIBRARY))
    url = site.url("/libnative.so", Answer(302, headers={"Location": "/elsewhere/blob"}))
    assert fetch_provider(pinned(url), tmp_path, limits=QUICK).name == "libnative.so"


def test_another_status_is_named(site: Website, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="answered 404"):
        fetch_provider(pinned(site.url("/libnative.so", Answer(404, b"no"))), tmp_path, limits=QUICK)
    assert everything_below(tmp_path) == []


def test_a_zip_that_is_broken_or_lacks_the_member_leaves_nothing(site: Website, tmp_path: Path) -> None:
    broken = site.url("/broken.zip", Answer(body=b"PK\x03\x04 not really"))
    other = site.url("/other.zip", Answer(body=zip_of("other.so", LIBRARY)))
    for url in (broken, other):
        with pytest.raises(ArchiveError):
            fetch_provider(pinned(f"{url}#libnative.so"), tmp_path, limits=QUICK)
    assert everything_below(tmp_path) == []


@pytest.mark.parametrize("path", ["/", "", "/a/..", "/a/%2e%2e", "/a/%00", "/a#b/.."])
def test_a_url_without_a_file_name_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(FetchError, match="ends in no file name"):
        fetch_provider(pinned(f"http://127.0.0.1:9{path}"), tmp_path, limits=QUICK)
    assert everything_below(tmp_path) == []


@pytest.mark.parametrize("zipped", [False, True])
def test_a_full_disk_is_named_and_leaves_nothing(
    site: Website, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, zipped: bool
) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    url = site.url("/libnative.so", Answer(body=zip_of("libnative.so", LIBRARY) if zipped else LIBRARY))
    with pytest.raises(StorageError, match="No space left on device"):
        fetch_provider(pinned(url + "#libnative.so" * zipped), tmp_path, limits=QUICK)
    assert everything_below(tmp_path) == []


def test_a_place_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "native").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="cannot make"):
        fetch_provider(pinned("http://127.0.0.1:9/libnative.so"), tmp_path, limits=QUICK)


def test_a_folder_in_the_place_of_the_file_is_named(site: Website, tmp_path: Path) -> None:
    (tmp_path / "native" / "libnative.so" / "x").mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot write"):
        fetch_provider(pinned(site.url("/libnative.so", Answer(body=LIBRARY))), tmp_path, limits=QUICK)
    assert everything_below(tmp_path) == ["native", "native/libnative.so", "native/libnative.so/x"]


def test_progress_is_reported_up_to_the_whole(site: Website, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    pin = pinned(site.url("/libnative.so", Answer(body=LIBRARY)))
    fetch_provider(pin, tmp_path, limits=QUICK, progress=lambda *report: seen.append(report))
    assert seen[0] == ("native", 0, len(LIBRARY))
    assert seen[-1] == ("native", len(LIBRARY), len(LIBRARY))
    assert [came for _, came, _ in seen] == sorted(came for _, came, _ in seen)


def test_plain_progress_is_a_line_for_each_tenth() -> None:
    stream = io.StringIO()
    with shown_progress(stream) as report:
        for came in (0, 1, 99, 100, 150, 1000):
            report("native", came, 1000)
    assert stream.getvalue().splitlines() == [
        "native: 0 of 1,000 bytes",
        "native: 100 of 1,000 bytes",
        "native: 1,000 of 1,000 bytes",
    ]


def test_a_terminal_gets_a_bar() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with shown_progress(stream) as report:
        report("native", 0, 2_000_000)
        report("native", 2_000_000, 2_000_000)
    assert "native" in stream.getvalue()
    assert "2.0/2.0 MB" in stream.getvalue()


def test_pins_are_chosen_by_platform_and_name() -> None:
    here, there = pinned("http://h/a"), pinned("http://h/b", b"w", Platform.WINDOWS)
    plan = plan_of(here, there, pinned(None, b"no address"))
    assert pins_to_fetch(plan, Platform.LINUX, None) == (here,)
    assert pins_to_fetch(plan, Platform.WINDOWS, "native") == (there,)


@pytest.mark.parametrize("name", ["other", None])
def test_nothing_to_fetch_is_a_usage_error(name: str | None) -> None:
    with pytest.raises(UsageError, match="pinned for macos"):
        pins_to_fetch(plan_of(pinned("http://h/a")), Platform.MACOS, name)
