"""Findings of gate ``abi``: processor, C library, needed libraries and versions of symbols."""

from __future__ import annotations

from assay.judge.catalogue.driver_live import DEAD
from assay.judge.catalogue.entry import Entry
from assay.model import Platform, Severity

_LOADER = "ld.so(8)"
_VERSIONS = "Linux Standard Base: Symbol Versioning; ld.so(8)"
_DLL = "Microsoft: Dynamic-link library search order"
_REDISTRIBUTABLE = "install the redistributable that has them (Visual C++ for vcruntime140.dll)"

_NOT_LOADED = ("ENVIRONMENT-INTERPRETER-FAILED", "CHAIN-CHILD-START", "CHAIN-UNAVAILABLE")
"""What follows where a binary cannot be loaded."""

ENTRIES = (
    Entry(
        "ABI-DRIVER-GLIBC",
        "the NVIDIA driver's libraries are made for glibc, and this system runs musl (Alpine)",
        Severity.FAILURE,
        "a system with glibc: NVIDIA publishes its userspace for no other C library",
        "qualify in a system or container with glibc (Debian, Ubuntu, Fedora), with a selection built for it",
        "ld.so(8); musl: Functional differences from glibc",
        explains=(
            *("ABI-LIBC", "ABI-LOADER-MISSING", "ABI-LIBRARIES", "ENVIRONMENT-LIBC", "PROVIDER-LIBC"),
            *("DRIVER-LIBRARY-MISSING", "DRIVER-LIBRARY-UNTOLD", "VULKAN-SYSTEM-LIBRARY"),
            *(*_NOT_LOADED, *DEAD),
        ),
    ),
    Entry(
        "ABI-LIBC",
        "a selected binary asks for another C library, or a newer one, than the machine has",
        Severity.FAILURE,
        "a build for this machine's C library, of its version or older",
        "run on a system with at least that C library, or select a build that was made for this one",
        _VERSIONS,
        explains=("ENVIRONMENT-LIBC", "PROVIDER-LIBC", *_NOT_LOADED),
    ),
    Entry(
        "ABI-ARCHITECTURE",
        "a selected binary is for another processor",
        Severity.FAILURE,
        "one processor for machine, interpreter and all that it loads",
        "select the build for this processor",
        "gABI: e_machine; PE Format: Machine",
        explains=("ENVIRONMENT-ARCHITECTURE", "PROVIDER-ARCHITECTURE", *_NOT_LOADED),
    ),
    Entry(
        "ABI-LOADER-MISSING",
        "the program interpreter that a binary names is not on this machine",
        Severity.FAILURE,
        "the loader that the binary was linked for",
        "select a build for this system; the kernel says 'No such file or directory' of such a program",
        "gABI, chapter 5: Program Interpreter; execve(2)",
        explains=_NOT_LOADED,
    ),
    Entry(
        "ABI-LIBRARIES",
        "libraries that a selected binary needs are not found, or cannot be loaded",
        Severity.FAILURE,
        "every needed library where the loader looks",
        "install the packages that have them; where they are there, name their folder in "
        "/etc/ld.so.conf.d and run ldconfig",
        f"gABI, chapter 5: DT_NEEDED; {_LOADER}",
        {Platform.WINDOWS: f"{_REDISTRIBUTABLE}; Python takes none from PATH"},
        explains=("PROVIDER-LIBRARIES", *_NOT_LOADED),
    ),
    Entry(
        "ABI-SYMBOL-VERSION",
        "a library that would be loaded is older than what needs it",
        Severity.FAILURE,
        "a library with every version that is needed of it",
        "install a newer one (libstdc++6 for GLIBCXX and CXXABI, libgcc-s1 for GCC), remove an older one "
        "that comes first on the loader's path, or build the binary on this system",
        _VERSIONS,
        explains=_NOT_LOADED,
    ),
    Entry(
        "ABI-NO-INTERPRETER",
        "without a selected interpreter nothing can be said of what it loads",
        Severity.UNAVAILABLE,
        "the interpreter that loads the others",
        "select one; gate environment says what is wrong with the one that is named",
        "DESIGN: Selection (a set is checked as one)",
    ),
    Entry(
        "ABI-UNREADABLE",
        "an extension module of PyCUDA cannot be read as a library",
        Severity.FAILURE,
        "a shared library of this platform",
        "install PyCUDA anew: its file is cut off or is none",
        f"gABI; PE Format; {_LOADER}; {_DLL}",
        explains=_NOT_LOADED,
    ),
)
