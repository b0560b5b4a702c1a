"""Findings of gate ``provider``: the pinned native library that WGSL runs through."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Platform, Severity

_PINS = "plan: provider pins; DESIGN: Provider interfaces"
_FETCH = "bring the pinned one with `assay fetch`, or make the embedded selection with `nox -s provision`"

ENTRIES = (
    Entry(
        "PROVIDER-NONE",
        "no provider is selected",
        Severity.UNAVAILABLE,
        "a provider that the plan pins",
        "set BUV_RUNTIME_LIB, or make the embedded selection with `nox -s provision`",
        "DESIGN: Selection",
    ),
    Entry(
        "PROVIDER-UNPINNED-PLATFORM",
        "the plan pins no provider for this platform",
        Severity.UNAVAILABLE,
        "a pin for this platform",
        "add a [[tool.assay.provider]] for this platform, with the digest of a library that you trust",
        _PINS,
    ),
    Entry(
        "PROVIDER-QUOTED",
        "BUV_RUNTIME_LIB has quotation marks around its value",
        Severity.FAILURE,
        "the path itself, spaces included, without quotation marks",
        "set the variable without the marks: they belong to the shell's command line, not to the value",
        "DESIGN: Selection",
    ),
    Entry(
        "PROVIDER-MISSING",
        "the provider does not exist",
        Severity.FAILURE,
        "the provider's library",
        f"correct BUV_RUNTIME_LIB, or {_FETCH}",
        "DESIGN: Selection",
    ),
    Entry(
        "PROVIDER-KIND",
        "the provider is not a regular file",
        Severity.FAILURE,
        "the library file itself",
        "name the file (libwgpu_native.so, aphrody_ffi.dll), not the folder that holds it",
        "DESIGN: Selection",
    ),
    Entry(
        "PROVIDER-UNREADABLE",
        "the provider cannot be read",
        Severity.FAILURE,
        "a library that the user who qualifies can read",
        "correct its permissions, or qualify as a user who may read it",
        "DESIGN: Selection",
    ),
    Entry(
        "PROVIDER-EMPTY",
        "the provider is an empty file",
        Severity.FAILURE,
        "the provider's library",
        f"a download or a copy broke off: {_FETCH}",
        _PINS,
    ),
    Entry(
        "PROVIDER-DIGEST",
        "the provider is not one that the plan pins",
        Severity.FAILURE,
        "the SHA-256 of a pin for this platform",
        f"{_FETCH}; to qualify another build, pin its digest in the plan",
        _PINS,
    ),
    Entry(
        "PROVIDER-FORMAT",
        "the pinned file is not a shared library of this platform",
        Severity.FAILURE,
        "a shared library (ELF on Linux, PE on Windows)",
        "pin the library itself, not the archive that it came in",
        _PINS,
    ),
    Entry(
        "PROVIDER-ARCHITECTURE",
        "the provider is for another processor than the interpreter that loads it",
        Severity.FAILURE,
        "the interpreter's processor",
        "select and pin the provider's build for that processor",
        "DESIGN: Selection (a set is checked as one)",
    ),
    Entry(
        "PROVIDER-LIBC",
        "the provider does not fit the machine's C library",
        Severity.FAILURE,
        "a build for this machine's C library, of its version or older",
        "run on a system with at least that C library, or pin a provider that was built for this one",
        "gABI: symbol versioning; ld.so(8)",
    ),
    Entry(
        "PROVIDER-LIBRARIES",
        "libraries that the provider needs are not on this machine",
        Severity.FAILURE,
        "every library that the provider names in its dynamic section",
        "install the packages that have them",
        "gABI, chapter 5: DT_NEEDED; ld.so(8)",
        {Platform.WINDOWS: "install the redistributable that has them (Visual C++ for vcruntime140.dll)"},
    ),
    Entry(
        "PROVIDER-SYMBOLS",
        "the provider does not export what the plan wants of it",
        Severity.FAILURE,
        "every symbol of the pin",
        "correct the pin's symbols, or pin the build that has them",
        _PINS,
    ),
    Entry(
        "PROVIDER-WGPU-VERSION",
        "the wgpu package was made for another version of wgpu-native than the provider",
        Severity.FAILURE,
        "one version of wgpu-native in package and provider: its C interface changes with each",
        "install the wgpu package made for this provider, or select the provider made for the package",
        "wgpu-py: backends/wgpu_native (the version that it expects)",
    ),
    Entry(
        "PROVIDER-VULKAN-LOADER",
        "the provider would find no Vulkan loader, and fall back to a software adapter without an error",
        Severity.UNAVAILABLE,
        "libvulkan.so.1 where the dynamic loader looks",
        "install the Vulkan loader: libvulkan1 (Debian, Ubuntu), vulkan-loader (Fedora, Alpine), "
        "vulkan-icd-loader (Arch)",
        "Vulkan loader: LoaderInterfaceArchitecture.md",
    ),
)
