"""Modules and libraries from PTX, the variables in them, and the options of the just-in-time compiler.

CUDA driver API 13.0: "Module Management", "Library Management".
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from .. import ptx, simt
from ..errors import PtxError
from .call import Calls
from .codes import DriverError
from .devices import VERSION
from .raw import POINTER, put_bytes, put_handle, put_int, put_size, read, read_string, read_text, unpack
from .state import Context, Driver

ELF = b"\x7fELF"
FAT_BINARIES = (b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46")
"""Beginnings of a fat binary and of its wrapper, little-endian (fatbinary_section.h of the CUDA toolkit)."""

NEWEST_PTX = (VERSION // 1000 - 4, VERSION % 1000 // 10)
"""The PTX ISA of CUDA 13.0 is 9.0 (PTX ISA, "Release History"); a driver reads none that is newer."""

ERROR_LOG, ERROR_LOG_SIZE = 5, 6
INFO_LOG, INFO_LOG_SIZE = 3, 4
"""``CUjit_option``."""

IMAGE_LIMIT = 64 << 20
"""Bytes of the longest PTX text that is looked at."""


@dataclass(eq=False)
class Module:
    """PTX that was loaded; ``functions`` keeps one handle an entry."""

    context: Context
    parsed: ptx.Module
    loaded: simt.Loaded
    functions: dict[str, int]


@dataclass(eq=False)
class Library:
    """PTX that was loaded for every context: there is one device, so it is one module."""

    module: Module


@dataclass(eq=False)
class Function:
    """An entry, also as ``CUkernel``; ``block`` and ``parameters`` serve the launches of before CUDA 4."""

    context: Context
    module: Module
    entry: ptx.Function
    settings: dict[int, int]
    block: tuple[int, int, int] = (1, 1, 1)
    shared: int = 0
    parameters: bytes = b""


def image_text(address: int) -> bytes:
    """Return the PTX text at an address, without the NUL behind it.

    Raises:
        DriverError: it is no text: a CUBIN or fat binary is refused by name.
    """
    head = read(address, len(ELF))
    if head == ELF:
        raise DriverError("NO_BINARY_FOR_GPU", "refused: a CUBIN is code for a GPU; load PTX")
    if head in FAT_BINARIES:
        raise DriverError("NO_BINARY_FOR_GPU", "refused: a fat binary holds code for a GPU; load PTX")
    text = read_string(address)
    if not text.strip():
        raise DriverError("INVALID_IMAGE", "refused: the image is empty")
    return text


def load(driver: Driver, text: bytes) -> Module:
    """Parse PTX and place its variables, in the current context.

    Raises:
        DriverError: it is newer than a driver of CUDA 13.0 reads (``UNSUPPORTED_PTX_VERSION``).
        PtxError: it cannot be understood.
        OutOfMemoryError: its variables do not fit.
    """
    context = driver.usable()
    if len(text) > IMAGE_LIMIT:
        raise DriverError("INVALID_IMAGE", f"refused: PTX of {len(text)} bytes")
    try:
        parsed = ptx.parse(text.decode())
    except UnicodeDecodeError as error:
        raise PtxError(0, "", "the text is no UTF-8") from error
    numbers = tuple(int(part) for part in parsed.version.split("."))
    if numbers > NEWEST_PTX:
        newest = ".".join(map(str, NEWEST_PTX))
        message = f"refused: PTX ISA {parsed.version}; a driver of CUDA 13.0 reads up to {newest}"
        raise DriverError("UNSUPPORTED_PTX_VERSION", message)
    loaded = simt.load_module(parsed, driver.memory)
    driver.report.module(hashlib.sha256(text).hexdigest(), len(text), parsed.version, parsed.target)
    return Module(context, parsed, loaded, {})


def _load_logged(driver: Driver, image: int, options: dict[int, int]) -> Module:
    """Load PTX; what is wrong with it also goes into the caller's error log."""
    try:
        return load(driver, image_text(image))
    except (PtxError, DriverError) as error:
        _log(options, str(error))
        raise


def _log(options: dict[int, int], text: str) -> None:
    """Write into the caller's error log, where it gave one."""
    size, buffer = options.get(ERROR_LOG_SIZE, 0) & 0xFFFF_FFFF, options.get(ERROR_LOG, 0)
    if size and buffer:
        put_bytes(buffer, text.encode()[: size - 1] + b"\0")


def _options(count: int, names: int, values: int) -> dict[int, int]:
    """Return the options by number."""
    if not count:
        return {}
    return dict(zip(unpack(f"{count}I", names), unpack(f"{count}Q", values), strict=True))


def load_data(driver: Driver, out: int, image: int) -> None:
    """``cuModuleLoadData``."""
    put_handle(out, driver.handle(_load_logged(driver, image, {})))


def load_data_ex(  # noqa: PLR0913, PLR0917  # the call's own parameters
    driver: Driver, out: int, image: int, count: int, names: int, values: int
) -> None:
    """``cuModuleLoadDataEx``."""
    options = _options(count, names, values)
    for number in (INFO_LOG, ERROR_LOG):
        if options.get(number) and options.get(number + 1, 0) & 0xFFFF_FFFF:
            put_bytes(options[number], b"\0")
    put_handle(out, driver.handle(_load_logged(driver, image, options)))


def load_file(driver: Driver, out: int, name: int) -> None:
    """``cuModuleLoad``: PTX from a file."""
    put_handle(out, driver.handle(load(driver, _file(read_text(name)))))


def _file(name: str) -> bytes:
    """Return a file's PTX.

    Raises:
        DriverError: it cannot be read, or is no PTX.
    """
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise DriverError("FILE_NOT_FOUND", str(error)) from error
    if data.startswith((ELF, *FAT_BINARIES)):
        raise DriverError("NO_BINARY_FOR_GPU", f"refused: {name} holds code for a GPU; load PTX")
    return data.rstrip(b"\0")


def unload(driver: Driver, handle: int) -> None:
    """``cuModuleUnload``: its functions are no more."""
    _unload(driver, driver.drop(handle, Module))


def _unload(driver: Driver, module: Module) -> None:
    for function in module.functions.values():
        driver.drop(function, Function)
    simt.unload_module(module.loaded, driver.memory)


def function_of(driver: Driver, module: Module, name: str) -> int:
    """Return the handle of an entry.

    Raises:
        DriverError: there is none of that name (``NOT_FOUND``).
    """
    if name not in module.functions:
        entry = module.parsed.entries.get(name)
        if entry is None:
            raise DriverError("NOT_FOUND", f"no entry {name[:200]!r}")
        module.functions[name] = driver.handle(Function(module.context, module, entry, {}))
    return module.functions[name]


def get_function(driver: Driver, out: int, handle: int, name: int) -> None:
    """``cuModuleGetFunction``."""
    put_handle(out, function_of(driver, driver.get(handle, Module), read_text(name)))


def function_count(driver: Driver, out: int, handle: int) -> None:
    """``cuModuleGetFunctionCount``."""
    put_int(out, len(driver.get(handle, Module).parsed.entries))


def get_global(driver: Driver, out: int, size: int, handle: int, name: int) -> None:
    """``cuModuleGetGlobal``."""
    _global(driver.get(handle, Module), out, size, read_text(name))


def _global(module: Module, out: int, size: int, name: str) -> None:
    variable = module.loaded.variables.get(name)
    if variable is None:
        raise DriverError("NOT_FOUND", f"no variable {name[:200]!r}")
    put_size(out, variable.address)
    put_size(size, variable.size)


def loading_mode(_driver: Driver, out: int) -> None:
    """``cuModuleGetLoadingMode``: eager."""
    put_int(out, 1)


def library_load(  # noqa: PLR0913, PLR0917  # the call's own parameters
    driver: Driver, out: int, image: int, names: int, values: int, count: int, *_more: int
) -> None:
    """``cuLibraryLoadData``."""
    module = _load_logged(driver, image, _options(count, names, values))
    put_handle(out, driver.handle(Library(module)))


def library_load_file(driver: Driver, out: int, name: int, *_more: int) -> None:
    """``cuLibraryLoadFromFile``."""
    put_handle(out, driver.handle(Library(load(driver, _file(read_text(name))))))


def library_unload(driver: Driver, handle: int) -> None:
    """``cuLibraryUnload``."""
    _unload(driver, driver.drop(handle, Library).module)


def library_kernel(driver: Driver, out: int, handle: int, name: int) -> None:
    """``cuLibraryGetKernel``: a ``CUkernel`` is the function's own handle."""
    put_handle(out, function_of(driver, driver.get(handle, Library).module, read_text(name)))


def library_kernel_count(driver: Driver, out: int, handle: int) -> None:
    """``cuLibraryGetKernelCount``."""
    put_int(out, len(driver.get(handle, Library).module.parsed.entries))


def library_kernels(driver: Driver, out: int, count: int, handle: int) -> None:
    """``cuLibraryEnumerateKernels``."""
    module = driver.get(handle, Library).module
    for number, name in enumerate(tuple(module.parsed.entries)[:count]):
        put_handle(out + POINTER * number, function_of(driver, module, name))


def library_module(driver: Driver, out: int, handle: int) -> None:
    """``cuLibraryGetModule``."""
    module = driver.get(handle, Library).module
    known = next((each for each, thing in driver.all(Module) if thing is module), 0)
    put_handle(out, known or driver.handle(module))


def library_global(driver: Driver, out: int, size: int, handle: int, name: int) -> None:
    """``cuLibraryGetGlobal`` and ``cuLibraryGetManaged``."""
    _global(driver.get(handle, Library).module, out, size, read_text(name))


CALLS: Calls = {
    "cuModuleLoad": (load_file, "pp"),
    "cuModuleLoadData": (load_data, "pp"),
    "cuModuleLoadDataEx": (load_data_ex, "ppupp"),
    "cuModuleUnload": (unload, "p"),
    "cuModuleGetFunction": (get_function, "ppp"),
    "cuModuleGetFunctionCount": (function_count, "pp"),
    "cuModuleGetGlobal_v2": (get_global, "pppp"),
    "cuModuleGetLoadingMode": (loading_mode, "p"),
    "cuLibraryLoadData": (library_load, "ppppuppu"),
    "cuLibraryLoadFromFile": (library_load_file, "ppppuppu"),
    "cuLibraryUnload": (library_unload, "p"),
    "cuLibraryGetKernel": (library_kernel, "ppp"),
    "cuLibraryGetKernelCount": (library_kernel_count, "pp"),
    "cuLibraryEnumerateKernels": (library_kernels, "pup"),
    "cuLibraryGetModule": (library_module, "pp"),
    "cuLibraryGetGlobal": (library_global, "pppp"),
    "cuLibraryGetManaged": (library_global, "pppp"),
}
