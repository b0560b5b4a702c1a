"""Which package of a distribution brings a library: what a remedy names.

Sources: the contents of Debian 12 and Ubuntu 24.04 (their file indices), Fedora 42, Arch and Alpine 3.22.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_DEBIAN, _FEDORA, _ARCH, _ALPINE = "debian", "fedora", "arch", "alpine"
_LIKE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("debian", "ubuntu", "linuxmint", "pop", "raspbian", "kali"), _DEBIAN),
        **dict.fromkeys(("fedora", "rhel", "centos", "rocky", "almalinux", "ol", "amzn"), _FEDORA),
        **dict.fromkeys(("arch", "manjaro", "endeavouros"), _ARCH),
        "alpine": _ALPINE,
    }
)
"""By ``ID`` of os-release(5), the distribution whose names of packages count."""

_PACKAGES: Mapping[str, tuple[str, str, str, str]] = MappingProxyType(
    {
        "libEGL.so.1": ("libegl1", "libglvnd-egl", "libglvnd", "mesa-egl"),
        "libGLX.so.0": ("libglx0", "libglvnd-glx", "libglvnd", "mesa-gl"),
        "libGLdispatch.so.0": ("libglvnd0", "libglvnd", "libglvnd", "libglvnd"),
        "libX11.so.6": ("libx11-6", "libX11", "libx11", "libx11"),
        "libXext.so.6": ("libxext6", "libXext", "libxext", "libxext"),
        "libatomic.so.1": ("libatomic1", "libatomic", "gcc-libs", "libatomic"),
        "libffi.so.8": ("libffi8", "libffi", "libffi", "libffi"),
        "libgcc_s.so.1": ("libgcc-s1", "libgcc", "gcc-libs", "libgcc"),
        "libgomp.so.1": ("libgomp1", "libgomp", "gcc-libs", "libgomp"),
        "libstdc++.so.6": ("libstdc++6", "libstdc++", "gcc-libs", "libstdc++"),
        "libvulkan.so.1": ("libvulkan1", "vulkan-loader", "vulkan-icd-loader", "vulkan-loader"),
        "libz.so.1": ("zlib1g", "zlib", "zlib", "zlib"),
    }
)
_NAMES = (_DEBIAN, _FEDORA, _ARCH, _ALPINE)
_WINDOWS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll", "concrt140.dll"),
        "the Visual C++ redistributable",
    )
)


def package_of(library: str, system: str) -> str:
    """Return the package that has a library, ``""`` where it is not known.

    Args:
        library: its name, such as ``libEGL.so.1``.
        system: the distribution's ``ID``; Debian's name is given where it is none of those known.
    """
    if library.lower() in _WINDOWS:
        return _WINDOWS[library.lower()]
    names = _PACKAGES.get(library)
    return names[_NAMES.index(_LIKE.get(system, _DEBIAN))] if names else ""


def with_package(library: str, system: str) -> str:
    """Return a library with its package behind it in brackets, where that is known."""
    package = package_of(library, system)
    return f"{library} ({package})" if package else library
