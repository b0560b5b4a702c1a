"""Packages by library and distribution, and that an unknown one is not made up."""

from __future__ import annotations

import pytest

from assay.judge.systempackages import package_of, with_package


@pytest.mark.parametrize(
    ("library", "system", "package"),
    [
        ("libEGL.so.1", "debian", "libegl1"),
        ("libEGL.so.1", "ubuntu", "libegl1"),
        ("libEGL.so.1", "fedora", "libglvnd-egl"),
        ("libEGL.so.1", "rocky", "libglvnd-egl"),
        ("libvulkan.so.1", "arch", "vulkan-icd-loader"),
        ("libvulkan.so.1", "alpine", "vulkan-loader"),
        ("libstdc++.so.6", "", "libstdc++6"),
        ("libstdc++.so.6", "nixos", "libstdc++6"),
        ("VCRUNTIME140.dll", "", "the Visual C++ redistributable"),
    ],
)
def test_a_library_has_a_package_on_each_distribution(library: str, system: str, package: str) -> None:
    assert package_of(library, system) == package
    assert with_package(library, system) == f"{library} ({package})"


def test_a_library_that_is_not_known_has_none() -> None:
    assert not package_of("libcurand.so.10", "debian")
    assert with_package("libcurand.so.10", "debian") == "libcurand.so.10"
