"""What takes a GPU's place in a rehearsal: the CPU's driver, a software adapter, and what they are known by.

The engine makes these before the run and gives them to the gates; only the chain's child gets them, through
its environment.  Nothing in the chain knows of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import StorageError
from assay.files import sha256_file
from assay.gates.rehearsal_report import report_facts
from assay.model import Json

REPORT_VARIABLE = "ASSAY_REHEARSAL_REPORT"
"""Names the file that the CPU's driver tells its findings to."""

SECONDS_VARIABLE = "ASSAY_REHEARSAL_SECONDS"
"""Says how many seconds a kernel may run on the CPU's driver."""

KERNEL_SECONDS = 30
"""Less than the chain's child has for a result: the driver names the line, the child's deadline could not."""

REPORT_NAME = "rehearsal.jsonl"


@dataclass(frozen=True)
class Adapter:
    """A software Vulkan adapter.

    Attributes:
        icd: the manifest of its driver.
        libraries: folders that the Vulkan loader and the driver are found in; none where the system has them.
        origin: ``system`` or ``unpacked``.
        packages: name and version of what was unpacked.
    """

    icd: Path
    libraries: tuple[Path, ...] = ()
    origin: str = "system"
    packages: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Rehearsal:
    """What takes a GPU's place.

    Attributes:
        driver: the folder of the CPU's driver.
        digest: SHA-256 (hex) over all that the driver is made of.
        wrappers: the folder of the ``nvcc`` that makes PTX under the name of a CUBIN.
        adapter: the software adapter, None where no stage needs one.
        seconds: how long a kernel may run.
    """

    driver: Path
    digest: str
    wrappers: Path
    adapter: Adapter | None = None
    seconds: int = KERNEL_SECONDS

    @property
    def libraries(self) -> tuple[str, ...]:
        """Return the folders for the child's ``LD_LIBRARY_PATH``, in their order."""
        return tuple(map(str, (self.driver, *(self.adapter.libraries if self.adapter else ()))))

    def variables(self, folder: Path) -> Mapping[str, str]:
        """Return the child's further variables, given its private folder."""
        report = {REPORT_VARIABLE: str(folder / REPORT_NAME), SECONDS_VARIABLE: str(self.seconds)}
        if self.adapter is None:
            return report
        # the second name is for loaders before 1.3.207 ("Loader environment variables")
        return {**report, **dict.fromkeys(("VK_DRIVER_FILES", "VK_ICD_FILENAMES"), str(self.adapter.icd))}


def rehearsal_facts(rehearsal: Rehearsal | None, folder: Path) -> Json:
    """Return the fact ``rehearsal``, null where nothing took a GPU's place.

    Args:
        rehearsal: what took it.
        folder: the child's private folder, which its driver's report lies in.
    """
    if rehearsal is None:
        return None
    return {
        "adapter": _adapter(rehearsal.adapter),
        "driver": {"digest": rehearsal.digest, "folder": str(rehearsal.driver)},
        "nvcc": _file(rehearsal.wrappers / "nvcc"),
        "report": report_facts(folder / REPORT_NAME),
    }


def _adapter(adapter: Adapter | None) -> Json:
    if adapter is None:
        return None
    return {
        "folders": [str(folder) for folder in adapter.libraries],
        "icd": _file(adapter.icd),
        "origin": adapter.origin,
        "packages": [{"name": name, "version": version} for name, version in adapter.packages],
    }


def _file(path: Path) -> Json:
    """Return a file's path and digest, which is empty where it cannot be read."""
    try:
        return {"path": str(path), "sha256": sha256_file(path)[0]}
    except StorageError:
        return {"path": str(path), "sha256": ""}
