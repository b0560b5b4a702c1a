from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ProvisionError
from assay.provision.children import Children
from assay.provision.toolkit import Toolkit, inspect_toolkit
from assay.provision.trial import try_selection
from tests.provision.world import make_toolkit, script


@pytest.fixture
def toolkit(tmp_path: Path) -> Toolkit:
    return inspect_toolkit(make_toolkit(tmp_path / "cuda"))


def tried(children: Children, folder: Path, toolkit: Toolkit, body: str) -> dict[str, int | str]:
    return try_selection(children, script(folder / "python", body), toolkit, ["/first"])


def test_what_both_compilers_made_is_returned(children: Children, tmp_path: Path, toolkit: Toolkit) -> None:
    said = tried(
        children, tmp_path, toolkit, """echo '{"nvcc": 500, "nvrtc": 510, "nvrtc_version": "13.0"}'"""
    )
    assert said == {"nvcc": 500, "nvrtc": 510, "nvrtc_version": "13.0"}


def test_the_toolkit_and_its_path_come_first(children: Children, tmp_path: Path, toolkit: Toolkit) -> None:
    body = """echo "{\\"nvcc\\": 1, \\"path\\": \\"$PATH\\", \\"toolkit\\": \\"$CUDA_PATH\\"}" """
    said = tried(children, tmp_path, toolkit, body)
    assert str(said["path"]).startswith("/first:/usr/bin")
    assert said["toolkit"] == str(toolkit.root)


@pytest.mark.parametrize(
    "body", ["exit 1", "echo '{}'", "echo no json", """echo '{"nvcc": 0}'""", "kill -9 $$"]
)
def test_anything_less_is_an_error(children: Children, tmp_path: Path, toolkit: Toolkit, body: str) -> None:
    with pytest.raises(ProvisionError, match="does not work"):
        tried(children, tmp_path, toolkit, body)


def test_another_nvrtc_than_the_toolkit_s_is_an_error(
    children: Children, tmp_path: Path, toolkit: Toolkit
) -> None:
    with pytest.raises(ProvisionError, match=r"NVRTC that loads is 13\.2, the toolkit .* 13\.0"):
        tried(children, tmp_path, toolkit, """echo '{"nvcc": 1, "nvrtc": 1, "nvrtc_version": "13.2"}'""")


def test_nvrtc_is_tried_exactly_where_the_toolkit_has_it(children: Children, tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "cuda")
    body = """for last; do :; done; echo "{\\"nvcc\\": 1, \\"asked\\": \\"$last\\"}" """
    assert tried(children, tmp_path, inspect_toolkit(root), body)["asked"] == "nvrtc"
    (root / "lib64/libnvrtc.so.13").unlink()
    assert tried(children, tmp_path, inspect_toolkit(root), body)["asked"] == "no-nvrtc"
