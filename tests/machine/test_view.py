"""Files under a root: links stay inside, nothing blocks, every read has a limit."""

from __future__ import annotations

import ctypes
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import StorageError
from assay.machine import view as view_module
from assay.machine.view import MAX_LINKS, Reading, View

NAMES = ("a", "b", "c")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "usr/lib").mkdir(parents=True)
    (folder / "usr/lib/real").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    return folder


def test_an_absolute_link_is_followed_inside_the_root(root: Path) -> None:
    (root / "lib").symlink_to("/usr/lib")
    assert View(root).resolve("/lib/real") == "/usr/lib/real"
    assert View(root).read_text("/lib/real") == "inside"


def test_parents_of_the_root_are_the_root(root: Path, tmp_path: Path) -> None:
    (root / "up").symlink_to("../../../" + "secret")
    (root / "host").symlink_to(str(tmp_path / "secret"))
    for path in ("/up", "/host", "/../secret", "/usr/../../secret"):
        assert not View(root).exists(path)
    assert View(root).resolve("/../../usr/lib") == "/usr/lib"


def test_a_link_in_the_middle_is_followed_from_its_own_folder(root: Path) -> None:
    (root / "usr/lib64").symlink_to("lib")
    (root / "etc").mkdir()
    (root / "etc/alternative").symlink_to("../usr/lib64/../lib64/real")
    assert View(root).resolve("/etc/alternative") == "/usr/lib/real"


def test_as_many_links_as_linux_follows_and_no_more(root: Path) -> None:
    (root / "link0").symlink_to("usr/lib/real")
    for number in range(1, MAX_LINKS + 1):
        (root / f"link{number}").symlink_to(f"link{number - 1}")
    assert View(root).read_text(f"/link{MAX_LINKS - 1}") == "inside"
    with pytest.raises(StorageError, match="loop"):
        View(root).resolve(f"/link{MAX_LINKS}")


def test_a_loop_is_nothing_that_exists_and_a_reading_says_why(root: Path) -> None:
    (root / "x").symlink_to("y")
    (root / "y").symlink_to("x")
    assert not View(root).exists("/x/z")
    assert "loop" in View(root).peek("/x").problem
    assert View(root).glob("/x") == ()


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800", "/" + "n" * 5000])
def test_a_path_that_cannot_name_a_file_names_nothing(root: Path, path: str) -> None:
    assert not View(root).exists(path)
    assert not View(root).is_link(path)
    with pytest.raises(StorageError):
        View(root).read_bytes(path, 10)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.mkdir()])
def test_only_regular_files_are_opened(root: Path, make: object) -> None:
    assert callable(make)
    make(root / "thing")
    assert View(root).exists("/thing")
    for read in (View(root).size, View(root).sha256, View(root).read_text):
        with pytest.raises(StorageError, match="thing is"):
            read("/thing")


def test_a_read_has_a_limit(root: Path) -> None:
    assert View(root).read_bytes("/usr/lib/real", 6) == b"inside"
    with pytest.raises(StorageError, match="larger than 5 bytes"):
        View(root).read_bytes("/usr/lib/real", 5)


def test_an_endless_file_is_read_to_its_limit_only(root: Path) -> None:
    with (root / "huge").open("wb") as stream:
        stream.truncate(1 << 40)
    assert "larger than 1048576 bytes" in View(root).peek("/huge").problem


def test_bytes_that_are_no_text_are_replaced(root: Path) -> None:
    (root / "text").write_bytes(b"caf\xe9\n")
    assert View(root).read_text("/text") == "caf\ufffd\n"


def test_size_and_digest_are_those_of_the_bytes(root: Path) -> None:
    data = bytes(range(256)) * 5000
    (root / "data").write_bytes(data)
    assert View(root).size("/data") == len(data)
    assert View(root).sha256("/data") == (hashlib.sha256(data).hexdigest(), len(data))


def test_peek_tells_missing_from_unreadable(root: Path) -> None:
    view = View(root, denied=frozenset({"/usr/lib"}))
    assert view.peek("/nothing") == Reading("", "missing")
    assert "Permission denied" in view.peek("/usr/lib/real").problem
    assert View(root).peek("/usr/lib/real") == Reading("inside")


def test_a_broken_link_is_unreadable_not_missing(root: Path) -> None:
    (root / "broken").symlink_to("/nowhere")
    assert View(root).is_link("/broken")
    assert "No such file" in View(root).peek("/broken").problem


def test_what_is_denied_is_denied_with_all_below_and_through_links(root: Path) -> None:
    (root / "way").symlink_to("usr/lib")
    view = View(root, denied=frozenset({"/usr/lib"}))
    assert not view.exists("/way/real")
    assert view.glob("/usr/lib/*") == ()
    with pytest.raises(StorageError, match="Permission denied"):
        view.listdir("/way")
    assert view.is_dir("/usr")


def test_a_refused_read_names_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StorageError, match=r"cannot read .*real: Permission denied"):
        View(root).read_bytes("/usr/lib/real", 10)


def test_listdir_is_sorted_and_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("c", "a", "b"):
        (root / "usr/lib" / name).touch()
    assert View(root).listdir("/usr/lib") == ("a", "b", "c", "real")
    monkeypatch.setattr(view_module, "MAX_ENTRIES", 3)
    with pytest.raises(StorageError, match="more than 3 names"):
        View(root).listdir("/usr/lib")
    with pytest.raises(StorageError, match="Not a directory"):
        View(root).listdir("/usr/lib/real")


def test_glob_matches_within_one_component(root: Path) -> None:
    for name in ("x/libcuda.so.1", "y/libcuda.so.580", "y/.hidden.so", "y/z/libcuda.so"):
        (root / "usr/lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "usr/lib" / name).touch()
    view = View(root)
    assert view.glob("/usr/lib/*/libcuda.so*") == ("/usr/lib/x/libcuda.so.1", "/usr/lib/y/libcuda.so.580")
    assert view.glob("/usr/lib/[y]/*.so") == ()
    assert view.glob("/usr/lib/y/.*") == ("/usr/lib/y/.hidden.so",)
    assert view.glob("/usr/lib/real") == ("/usr/lib/real",)
    assert view.glob("/none/*") == ()


def test_a_relative_path_starts_in_the_working_folder(root: Path) -> None:
    assert View(root, cwd="/usr/lib").read_text("real") == "inside"
    assert View(root).resolve("usr") == "/usr"


def test_windows_paths_are_read_without_regard_to_case(tmp_path: Path) -> None:
    (tmp_path / "C/Windows/System32").mkdir(parents=True)
    (tmp_path / "C/Windows/System32/nvcuda.dll").write_text("driver")
    view = View(tmp_path, windows=True, cwd="C:\\Windows")
    assert view.resolve(r"c:\WINDOWS\system32\NVCUDA.DLL") == r"C:\Windows\System32\nvcuda.dll"
    assert view.read_text("C:/Windows/System32/nvcuda.dll") == "driver"
    assert view.read_text(r"System32\nvcuda.dll") == "driver"
    assert view.glob(r"C:\windows\*\NVC*.dll") == (r"C:\windows\System32\nvcuda.dll",)
    assert not view.exists(r"D:\Windows")
    assert not view.exists(r"C:\Windows\..\..\..\etc")


def test_windows_links_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "C/CUDA/v13.0").mkdir(parents=True)
    (tmp_path / "C/current").symlink_to("/C/CUDA/v13.0")
    assert View(tmp_path, windows=True).resolve("C:\\current") == r"C:\CUDA\v13.0"


RESOLVE_IN_ROOT = 0x10
"""openat2(2): absolute links and ``..`` are resolved as after chroot(2)."""
OPENAT2 = 437
O_PATH = 0o10000000


class OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def kernel_resolve(root: Path, path: str) -> str | None:
    """Return where the kernel itself ends up inside the root, None where there is nothing."""
    folder = os.open(root, os.O_RDONLY)
    try:
        how = OpenHow(O_PATH, 0, RESOLVE_IN_ROOT)
        call = ctypes.CDLL(None).syscall
        found = call(OPENAT2, folder, path.encode(), ctypes.byref(how), ctypes.sizeof(how))
        if found < 0:
            return None
        target = str(Path(f"/proc/self/fd/{found}").readlink())
        os.close(found)
        return target.removeprefix(str(root)) or "/"
    finally:
        os.close(folder)


COMPONENTS = st.lists(st.sampled_from((*NAMES, "..", "d/e")), min_size=1, max_size=4).map("/".join)
TREES = st.dictionaries(st.sampled_from(NAMES), st.tuples(st.booleans(), COMPONENTS), max_size=3)


@settings(max_examples=150)
@given(TREES, COMPONENTS)
def test_links_lead_where_the_kernel_says(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, tuple[bool, str]], path: str
) -> None:
    root = tmp_path_factory.mktemp("tree")
    (root / "d").mkdir()
    (root / "d/e").touch()
    for name, (absolute, target) in tree.items():
        (root / name).symlink_to(("/" if absolute else "") + target)
    expected = kernel_resolve(root, "/" + path)
    view = View(root)
    if expected is not None:
        assert view.resolve("/" + path) == expected
        assert view.exists("/" + path)
    elif view.exists("/" + path):
        assert view.host("/" + path).is_relative_to(root)


OWN = View(Path("/"))
"""The computer's own files: here the kernel follows the links."""


@settings(max_examples=100)
@given(TREES, COMPONENTS)
def test_on_the_own_root_links_lead_where_the_kernel_leads_them(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, tuple[bool, str]], path: str
) -> None:
    root = tmp_path_factory.mktemp("own")
    (root / "d").mkdir()
    (root / "d/e").write_text("e")
    for name, (absolute, target) in tree.items():
        (root / name).symlink_to((f"{root}/" if absolute else "") + target)
    asked = f"{root}/{path}"
    assert OWN.exists(asked) == os.path.exists(asked)  # noqa: PTH110  # the peer
    assert OWN.is_file(asked) == os.path.isfile(asked)  # noqa: PTH113  # as above
    assert OWN.is_dir(asked) == os.path.isdir(asked)  # noqa: PTH112  # as above
    assert (OWN.peek(asked) == Reading("e")) == os.path.isfile(asked)  # noqa: PTH113  # as above
    if OWN.exists(asked):
        assert OWN.resolve(asked) == os.path.realpath(asked)


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800", "/" + "n" * 5000])
def test_on_the_own_root_a_path_that_cannot_name_a_file_names_nothing(path: str) -> None:
    assert not OWN.exists(path)
    assert not OWN.is_link(path)
    assert OWN.glob(path) == ()
    assert OWN.peek(path).problem
    for read in (OWN.size, OWN.sha256, OWN.read_text, OWN.listdir):
        with pytest.raises(StorageError):
            read(path)


def test_on_the_own_root_a_loop_a_broken_link_and_a_pipe_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("y")
    (tmp_path / "y").symlink_to("x")
    (tmp_path / "broken").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    assert [OWN.exists(f"{tmp_path}/{name}") for name in ("x", "broken", "pipe", "none")] == [
        *(False, False, True, False),
    ]
    problems = [OWN.peek(f"{tmp_path}/{name}").problem for name in ("x", "broken", "pipe", "none")]
    assert "symbolic links" in problems[0]
    assert "No such file" in problems[1]
    assert "not a regular file" in problems[2]
    assert problems[3] == "missing"


def test_on_the_own_root_names_that_are_no_text_are_read(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.so")
    (tmp_path / name).write_text("x")
    assert OWN.listdir(str(tmp_path)) == (name,)
    assert OWN.glob(f"{tmp_path}/*.so") == (f"{tmp_path}/{name}",)
    assert OWN.read_text(f"{tmp_path}/{name}") == "x"


def test_what_is_denied_is_denied_on_the_own_root_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/text").write_text("x")
    (tmp_path / "way").symlink_to("real")
    view = View(Path("/"), denied=frozenset({os.path.realpath(tmp_path / "real")}))
    assert not view.exists(f"{tmp_path}/way/text")
    assert "Permission denied" in view.peek(f"{tmp_path}/way/text").problem
