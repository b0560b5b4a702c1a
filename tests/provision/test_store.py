from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.errors import StorageError
from assay.model import Json
from assay.provision.store import Store, exclusive, finish, finished, making, read_mark, recover

TEXT = "[selection]\n"


def make(store: Store, key: str, text: str = TEXT) -> None:
    """Make a selection whose only file says its key."""
    with making(store):
        store.selection.mkdir()
        (store.selection / "content").write_text(key)
        finish(store, {"key": key}, text + f"# {key}\n")


def break_off(store: Store, error: type[BaseException]) -> None:
    """Make half a selection, then raise."""
    with making(store):
        store.selection.mkdir()
        (store.selection / "content").write_text("half")
        assert not store.file.exists()
        raise error


def state(store: Store) -> Mapping[str, Json]:
    """Return what is there: the key that is whole, content and selection file, and what is left over."""
    mark = read_mark(store) or {}
    return {
        "key": mark.get("key"),
        "content": (store.selection / "content").read_text() if store.selection.exists() else None,
        "file": store.file.read_text() if store.file.exists() else None,
        "left": sorted({path.name for path in store.root.iterdir()} - {"selection", "selection.toml"}),
    }


def whole(key: str) -> Mapping[str, Json]:
    return {"key": key, "content": key, "file": f"{TEXT}# {key}\n", "left": []}


NOTHING: Mapping[str, Json] = {"key": None, "content": None, "file": None, "left": []}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.root.mkdir()
    return store


def test_a_selection_is_finished_for_its_key_alone(store: Store) -> None:
    make(store, "one")
    assert finished(store, "one")
    assert not finished(store, "two")
    assert state(store) == whole("one")


def test_a_new_selection_takes_the_place_of_the_one_before(store: Store) -> None:
    make(store, "one")
    make(store, "two")
    assert state(store) == whole("two")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_brings_the_one_before_back(store: Store, error: type[BaseException]) -> None:
    make(store, "one")
    with pytest.raises(error):
        break_off(store, error)
    assert state(store) == whole("one")


def test_a_failure_without_one_before_leaves_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError):
        break_off(store, RuntimeError)
    assert state(store) == NOTHING


def test_a_folder_without_its_mark_is_not_whole(store: Store) -> None:
    store.selection.mkdir()
    store.file.write_text(TEXT)
    assert not finished(store, "one")
    recover(store)
    assert state(store) == NOTHING


@pytest.mark.parametrize("mark", [b"", b"{}", b"\xff", b'{"key":"one","schema":"assay/other/1"}'])
def test_a_broken_mark_is_no_mark(store: Store, mark: bytes) -> None:
    make(store, "one")
    store.mark.write_bytes(mark)
    assert not finished(store, "one")


KILLED = """
import os, signal, sys
sys.path[:0] = [{scripts!r}]
from pathlib import Path
from assay.provision.store import Store, finish, making
store, when, count = Store(Path(sys.argv[1])), int(sys.argv[2]), 0
FILES = {{"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}}

def count_down(event, arguments):
    global count
    if event in FILES and str(store.root) in repr(arguments):
        count += 1
        if count == when:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count_down)
with making(store):
    store.selection.mkdir()
    (store.selection / "content").write_text("two")
    finish(store, {{"key": "two"}}, "[selection]\\n# two\\n")
print(count)
"""


def killed_at(store: Store, step: int) -> subprocess.CompletedProcess[bytes]:
    """Make selection ``two`` in a process that is killed before its ``step``-th use of the store's files."""
    scripts = str(Path(__file__).resolve().parents[2] / "scripts")
    argv = [sys.executable, "-c", KILLED.format(scripts=scripts), str(store.root), str(step)]
    return subprocess.run(argv, capture_output=True, check=False)  # noqa: S603  # this very interpreter


def test_whenever_it_is_killed_the_next_start_finds_one_whole_selection(tmp_path: Path) -> None:
    outcomes, step = [], 0
    while True:
        step += 1
        store = Store(tmp_path / str(step))
        store.root.mkdir()
        make(store, "one")
        ended = killed_at(store, step)
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL
        recover(store)
        key = str(state(store)["key"])
        assert state(store) == whole(key)
        outcomes.append(key)
    assert outcomes == sorted(outcomes)  # "one" until it is set, "two" from then on
    assert {"one", "two"} == set(outcomes)


def test_one_holds_the_store_at_a_time(store: Store) -> None:
    with exclusive(store):
        with pytest.raises(StorageError, match="another process") as caught, exclusive(store):
            pytest.fail("two hold it")
        assert "wait" in caught.value.remedy
    with exclusive(store):
        assert store.root.is_dir()


def test_a_holder_that_is_killed_lets_go(store: Store) -> None:
    scripts = str(Path(__file__).resolve().parents[2] / "scripts")
    code = (
        f"import sys; sys.path[:0] = [{scripts!r}]\n"
        "from pathlib import Path\n"
        "from assay.provision.store import Store, exclusive\n"
        f"with exclusive(Store(Path({str(store.root)!r}))):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    argv = [sys.executable, "-c", code]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:  # noqa: S603  # as above
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StorageError), exclusive(store):
            pytest.fail("two hold it")
        holder.kill()
    with exclusive(store):
        assert store.root.is_dir()


def test_a_child_that_outlives_its_parent_holds_on(store: Store) -> None:
    with exclusive(store) as held:
        child = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, pass_fds=[held])
    with child:
        with pytest.raises(StorageError), exclusive(store):
            pytest.fail("the child still works there")
        child.communicate()
    with exclusive(store):
        assert child.returncode == 0


def test_a_place_that_is_no_folder_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot make"), exclusive(Store(tmp_path / "file" / ".assay")):
        pytest.fail("there is no place")


def test_what_cannot_be_set_aside_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    make(store, "one")

    def full(*_arguments: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(StorageError, match="cannot set aside"), making(store):
        pytest.fail("nothing can be made")
    monkeypatch.undo()
    recover(store)
    assert state(store) == whole("one")
