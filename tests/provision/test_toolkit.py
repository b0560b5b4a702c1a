from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.provision.toolkit import inspect_toolkit, locked_version
from tests.provision.world import make_toolkit


def test_a_system_toolkit_is_whole(tmp_path: Path) -> None:
    toolkit = inspect_toolkit(make_toolkit(tmp_path / "cuda-13.0"))
    assert toolkit.missing == ()
    assert toolkit.release == "13.0"
    assert toolkit.library_folder == tmp_path / "cuda-13.0/lib64"


def test_links_into_targets_and_to_the_toolkit_are_followed(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "cuda-13.0")
    target = root / "targets/x86_64-linux"
    target.mkdir(parents=True)
    for name, real in (("lib64", "lib"), ("include", "include")):
        (root / name).rename(target / real)
        (root / name).symlink_to(target / real)
    (tmp_path / "cuda").symlink_to(root)
    toolkit = inspect_toolkit(tmp_path / "cuda")
    assert toolkit.missing == ()
    assert toolkit.root == root


def test_the_layout_of_the_package_index_has_lib(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "nvidia/cu13")
    (root / "lib64").rename(root / "lib")
    toolkit = inspect_toolkit(root)
    assert toolkit.missing == ()
    assert toolkit.library_folder == root / "lib"


def test_a_trailing_separator_and_spaces_are_healthy(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "my cuda 13.0")
    assert inspect_toolkit(Path(f"{root}/")).root == root


def test_what_is_missing_without_being_needed_is_named(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "cuda")
    for path in (root / "lib64").iterdir():
        path.unlink()
    (root / "nvvm/bin/cicc").unlink()
    missing = inspect_toolkit(root).missing
    assert missing == ("NVRTC", "NVRTC's builtins", "the CUDA runtime", "nvvm/bin/cicc")


@pytest.mark.parametrize("name", ["bin/nvcc", "include/cuda.h", "include/cudaProfiler.h"])
def test_what_is_needed_and_missing_is_an_error(tmp_path: Path, name: str) -> None:
    root = make_toolkit(tmp_path / "cuda")
    (root / name).unlink()
    with pytest.raises(UsageError, match=f"has no {name}") as caught:
        inspect_toolkit(root)
    assert "--toolkit" in caught.value.remedy


@pytest.mark.parametrize("version", [12080, 14000])
def test_another_major_version_is_an_error(tmp_path: Path, version: int) -> None:
    with pytest.raises(UsageError, match=f"CUDA_VERSION {version}"):
        inspect_toolkit(make_toolkit(tmp_path / "cuda", version))


def test_a_header_without_a_version_is_an_error(tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "cuda")
    (root / "include/cuda.h").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="CUDA_VERSION None"):
        inspect_toolkit(root)


def test_the_embedded_toolkit_is_13_0() -> None:
    assert locked_version() == 13000
