"""Reading a wheel: what it says of itself must be what it is."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.archives import content_digest, file_members
from assay.errors import ArchiveError, StorageError
from assay.gates.wheelfile import read_wheel
from tests.wheels import WHEEL, make_wheel, metadata, recorded

FILES = {"demo/__init__.py": b"", "demo/core.py": b"VALUE = 37\n"}
INFO = "demo-1.0.dist-info"


def test_a_sound_wheel_gives_its_name_version_and_the_digest_of_each_installed_file(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, FILES)
    wheel = read_wheel(path)
    assert (wheel.name, wheel.project, wheel.version) == ("demo-1.0-py3-none-any.whl", "demo", "1.0")
    assert wheel.installed["demo/core.py"] == hashlib.sha256(b"VALUE = 37\n").hexdigest()
    assert wheel.content_sha256 == content_digest(file_members(path))


def test_names_are_compared_normalised(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, {}, name="Demo_Tool.x", changed={})
    assert read_wheel(path).project == "Demo-Tool.x"


def test_library_folders_of_data_are_installed_into_site_packages_and_scripts_are_not(tmp_path: Path) -> None:
    data = {
        "demo-1.0.data/purelib/demo/a.py": b"a",
        "demo-1.0.data/platlib/demo/b.so": b"b",
        "demo-1.0.data/scripts/tool": b"c",
    }
    installed = read_wheel(make_wheel(tmp_path, data)).installed
    assert {name for name in installed if "dist-info" not in name} == {"demo/a.py", "demo/b.so"}


@pytest.mark.parametrize(
    "name", ["demo.whl", "demo-1.0.zip", "demo-1.0-py3-none.whl", "-1.0-py3-none-any.whl"]
)
def test_another_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArchiveError, match="not a wheel's file name"):
        read_wheel(make_wheel(tmp_path, FILES, file_name=name))


@pytest.mark.parametrize(
    ("changed", "observed"),
    [
        ({"demo/core.py": b"VALUE = 38\n"}, "'demo/core.py' has another digest than RECORD says"),
        ({"demo/extra.py": b""}, "RECORD lacks 'demo/extra.py'"),
        ({"demo/core.py": None}, "RECORD names 'demo/core.py', which the wheel lacks"),
        ({f"{INFO}/RECORD": None}, "no member 'demo-1.0.dist-info/RECORD'"),
        ({f"{INFO}/METADATA": None}, "no member 'demo-1.0.dist-info/METADATA'"),
        ({f"{INFO}/WHEEL": WHEEL.replace(b"1.0", b"2.0", 1)}, "format is '2.0'"),
        ({f"{INFO}/METADATA": metadata("other", "1.0")}, "metadata say 'other' '1.0'"),
        ({f"{INFO}/METADATA": metadata("demo", "1.1")}, "metadata say 'demo' '1.1'"),
        ({"other-1.0.dist-info/WHEEL": WHEEL}, "demo-1.0.dist-info, other-1.0.dist-info"),
        ({"../evil.py": b""}, "member '../evil.py'"),
        ({"/etc/evil": b""}, "member '/etc/evil'"),
        ({"demo//x": b""}, "member 'demo//x'"),
        ({"C:evil": b""}, "member 'C:evil'"),
        ({f"{INFO}/RECORD": b"\xff"}, "RECORD cannot be read"),
        ({f"{INFO}/RECORD": b"a,md5=abc,1\n"}, "by 'md5'"),
        ({f"{INFO}/RECORD": b"a,sha256=*,1\n"}, "RECORD gives 'a' the digest"),
        ({f"{INFO}/RECORD": b"a,,\na,,\n"}, "RECORD names 'a' twice"),
        ({f"{INFO}/RECORD": b'"a'}, "RECORD names 'a', which the wheel lacks"),
    ],
)
def test_one_fault_is_enough(tmp_path: Path, changed: dict[str, bytes | None], observed: str) -> None:
    with pytest.raises(ArchiveError) as caught:
        read_wheel(make_wheel(tmp_path, FILES, changed=changed))
    assert observed in caught.value.observed


def test_a_file_without_a_recorded_digest_is_refused(tmp_path: Path) -> None:
    record = recorded(FILES, f"{INFO}/RECORD") + f"{INFO}/METADATA,,\n{INFO}/WHEEL,,\n".encode()
    with pytest.raises(ArchiveError, match="METADATA' has another digest"):
        read_wheel(make_wheel(tmp_path, FILES, changed={f"{INFO}/RECORD": record}))


def test_signatures_beside_record_need_no_record(tmp_path: Path) -> None:
    assert read_wheel(make_wheel(tmp_path, FILES, changed={f"{INFO}/RECORD.jws": b"{}"})).project == "demo"


def test_what_is_no_zip_or_not_there_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "demo-1.0-py3-none-any.whl"
    with pytest.raises(StorageError):
        read_wheel(path)
    path.write_bytes(b"not a zip")
    with pytest.raises(ArchiveError):
        read_wheel(path)


@given(
    st.dictionaries(st.sampled_from(["WHEEL", "METADATA", "RECORD", "RECORD.p7s"]), st.binary(max_size=80))
)
def test_noise_in_the_metadata_is_an_archive_error_or_a_wheel(
    tmp_path_factory: pytest.TempPathFactory, noise: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("noise")
    path = make_wheel(folder, FILES, changed={f"{INFO}/{name}": data for name, data in noise.items()})
    try:
        wheel = read_wheel(path)
    except ArchiveError as error:
        assert error.expected  # noqa: PT017  # both ends are allowed; another exception fails the test
    else:
        assert set(noise) <= {"RECORD.p7s"}
        assert wheel.project == "demo"
