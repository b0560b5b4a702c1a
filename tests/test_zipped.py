"""The stored zip: the bytes that Python's own library writes, and a digest that its members alone decide."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.zipped import zip_bytes

NAMES = st.text("abcXYZ019._-/", min_size=1, max_size=12)


@pytest.mark.gate
@given(st.dictionaries(NAMES, st.binary(max_size=40), max_size=6))
def test_the_bytes_are_those_of_the_standard_library(members: dict[str, bytes]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(members.items()):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, content)
    assert zip_bytes(members.items()) == buffer.getvalue()


def test_the_order_of_the_members_does_not_matter() -> None:
    members = [("b", b"2"), ("a", b"1")]
    assert zip_bytes(members) == zip_bytes(reversed(members))


def test_a_doubled_or_non_ascii_name_is_refused() -> None:
    with pytest.raises(ValueError, match="same name"):
        zip_bytes([("a", b"1"), ("a", b"2")])
    with pytest.raises(ValueError, match="ascii"):
        zip_bytes([("ä", b"")])


def test_python_runs_it(tmp_path: Path) -> None:
    path = tmp_path / "hello.pyz"
    members = [("__main__.py", b"import inner\n"), ("inner/__init__.py", b"print('inside')\n")]
    path.write_bytes(zip_bytes(members))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)  # noqa: S603  # our own zip
    assert done.stdout == "inside\n"
