"""Variables and start-up lines that bring code."""

from __future__ import annotations

import pytest

from assay.judge.injection import BRINGS_CODE, CHANGES_LOADING, brings_code, changes_loading, is_importing

pytestmark = pytest.mark.gate


@pytest.mark.parametrize(
    "name",
    [
        *(
            "LD_PRELOAD",
            "LD_AUDIT",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "PYTHONPATH",
            "PYTHONSTARTUP",
        ),
        *("CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH", "NVTX_INJECTION64_PATH", "GCONV_PATH"),
        *("VK_INSTANCE_LAYERS", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH", "VK_IMPLICIT_LAYER_PATH"),
        *("VK_LOADER_LAYERS_ENABLE", "ENABLE_VK_LAYER_VALVE_steam_overlay_1", "ld_preload"),
    ],
)
def test_what_brings_code(name: str) -> None:
    assert brings_code(name)
    assert changes_loading(name)


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "LANG", "CUDA_VISIBLE_DEVICES", "VK_DRIVER_FILES", "NVIDIA_VISIBLE_DEVICES"]
)
def test_what_brings_none(name: str) -> None:
    assert not brings_code(name)


def test_what_brings_code_also_changes_loading() -> None:
    assert set(BRINGS_CODE) <= set(CHANGES_LOADING)
    assert changes_loading("CUDA_VISIBLE_DEVICES")
    assert not changes_loading("HOME")


@pytest.mark.parametrize(
    ("line", "executed"), [("import x", True), ("import\tx", True), ("important", False), ("/x", False)]
)
def test_the_lines_that_site_executes(line: str, executed: bool) -> None:  # noqa: FBT001  # a parameter
    assert is_importing(line) is executed
