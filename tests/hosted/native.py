"""Shared libraries made for tests from C text."""

from __future__ import annotations

from pathlib import Path

from tests.chain.support import compile_library


def library_of(text: str, target: Path) -> Path:
    """Compile C text into a shared library and return it."""
    source = target.with_suffix(".c")
    source.write_text(text)
    compile_library(source, target)
    return target
