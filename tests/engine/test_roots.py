"""Which absolute path is written under which name."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from assay.engine.roots import named_roots, prefix_of
from assay.machine import Machine
from assay.model import Platform
from assay.selection import Selection


def selection(**values: str) -> Selection:
    return Selection(explicit=True, source="test", values=MappingProxyType(values))


@pytest.mark.parametrize(
    ("executable", "platform", "prefix"),
    [
        ("/venv/bin/python3.12", Platform.LINUX, "/venv"),
        (r"C:\venv\Scripts\python.exe", Platform.WINDOWS, r"C:\venv"),
        (r"C:\Python312\python.exe", Platform.WINDOWS, r"C:\Python312"),
        (None, Platform.LINUX, None),
    ],
)
def test_prefix_follows_from_the_path(executable: str | None, platform: Platform, prefix: str | None) -> None:
    assert prefix_of(executable, platform) == prefix


def test_links_stand_twice_and_selected_files_below_a_root_need_no_name(tmp_path: Path) -> None:
    (tmp_path / "opt/cuda-13.0").mkdir(parents=True)
    (tmp_path / "opt/cuda").symlink_to("cuda-13.0")
    machine = Machine(tmp_path, MappingProxyType({"HOME": "/home/one"}))
    roots = named_roots(
        machine,
        selection(
            BUN_PYTHON_EXECUTABLE="/venv/bin/python",
            CUDA_PATH="/opt/cuda/",
            BUV_RUNTIME_LIB="/venv/lib/provider.so",
            BUN_PYTHON_LIBPYTHON="/usr/lib/libpython3.12.so.1.0",
            PYTHONPATH="/venv/lib/site-packages:/extra/site-packages",
        ),
        Path("/home/one/project"),
    )
    assert set(roots) == {
        ("$TOOLKIT", "/opt/cuda"),
        ("$TOOLKIT", "/opt/cuda-13.0"),
        ("$SELECTION", "/venv"),
        ("$PROJECT", "/home/one/project"),
        ("$HOME", "/home/one"),
        ("$BUN_PYTHON_LIBPYTHON", "/usr/lib/libpython3.12.so.1.0"),
        ("$PYTHONPATH", "/extra/site-packages"),
    }
