"""The tree itself: what lies where, how long modules are, and what no file may say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project.files import FILES, FOLDERS, PROJECT, project_files, texts, top_level

MODULE_LINES = 500
"""EXAMPLES: no module is longer."""

HOSTS = frozenset(
    {
        "devblogs.nvidia.com",
        "docs.kernel.org",
        "docs.nvidia.com",
        "github.com",
        "in-toto.io",
        "json-schema.org",
        "keepachangelog.com",
        "semver.org",
        "slsa.dev",
        "www.apache.org",
    }
)
"""Whose documents may be cited.  No package registry is among them: packages are named, not places."""

_URL = re.compile(r"\bhttps?://([A-Za-z0-9.-]+)")
_RESERVED = re.compile(
    r"[a-z]|127\.0\.0\.1|localhost|(?:.*\.)?example(?:\.com|\.org|\.net)?|.*\.(?:invalid|test)"
)
"""Hosts that belong to nobody (RFC 2606, RFC 6761) or to this computer, and one-letter names in tests."""

_UNFINISHED = re.compile(r"\b(?:" + "TO" + r"DO|" + "FIX" + r"ME|" + "XX" + r"X)\b")

pytestmark = pytest.mark.gate


def modules() -> list[Path]:
    """Return every Python file."""
    return [path for path in project_files() if path.suffix == ".py"]


def test_the_top_level_holds_what_the_layout_says_and_nothing_else() -> None:
    assert top_level() == {*FILES, *FOLDERS}


def test_no_module_is_longer_than_the_limit() -> None:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in modules()}
    assert len(lengths) > len(FILES)
    assert {path: length for path, length in lengths.items() if length > MODULE_LINES} == {}


def test_no_file_names_a_host_but_those_of_cited_documents() -> None:
    hosts = {(host, path) for path, text in texts().items() for host in _URL.findall(text)}
    assert {(host, path) for host, path in hosts if not _may_be_named(host)} == set()


def _may_be_named(host: str) -> bool:
    """Return whether a file may name a host."""
    return host in HOSTS or bool(_RESERVED.fullmatch(host))


def test_another_host_would_be_noticed() -> None:
    scheme = "https"
    (host,) = _URL.findall(f"--index-url {scheme}://packages.somewhere.net/simple")
    assert host == "packages.somewhere.net"
    assert not _may_be_named(host)


def test_no_file_names_this_machine() -> None:
    here = str(PROJECT)
    assert [path for path, text in texts().items() if here in text] == []


def test_no_file_says_that_something_is_left_to_do() -> None:
    assert [path for path, text in texts().items() if _UNFINISHED.search(text)] == []


def test_every_lock_names_packages_and_digests_and_no_place() -> None:
    locks = {path: text for path, text in texts().items() if "locks" in path.parts and path.suffix == ".txt"}
    assert locks
    for path, text in locks.items():
        for line in text.splitlines():
            shape = r"#.*|\s*|[a-z0-9.-]+==\S+( ; [^\\]+)?( \\)?|    --hash=sha256:[0-9a-f]{64}( \\)?"
            assert re.fullmatch(shape, line), f"{path}: {line}"
