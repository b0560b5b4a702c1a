"""Judges the GSP firmware of a native Linux driver: the running one, and the files that the module loads.

Facts::

    firmware {roots[], versions {version: [file]}}
        the kernel's folders of firmware, and the driver's files there
    gpus [{bus, firmware, uuid, …}]
        as ``/proc/driver/nvidia/gpus`` has them; ``N/A`` where no firmware runs

The kernel module loads the firmware of its own whole version and no other (``nv.c``, ``nv_get_firmware``).
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.driver_gpu import OPEN, generation_of
from assay.judge.reading import mapping, objects, text, texts
from assay.model import Facts, Finding

_NONE = "N/A"
"""How the driver writes that a GPU runs without its GSP (``nv-procfs.c``)."""

_COMPRESSED = (".xz", ".zst")
"""What the kernel unpacks itself (CONFIG_FW_LOADER_COMPRESS)."""


def running(facts: Facts) -> tuple[str, ...]:
    """Return the versions of firmware that ``/proc`` and NVML say are running, sorted, none twice."""
    told = [text(gpu, "firmware") for gpu in objects(facts, "gpus")]
    told += [text(gpu, "gsp_firmware") for gpu in objects(facts, "nvml.facts.gpus")]
    return tuple(sorted({version for version in told if version not in {"", _NONE}}))


def is_needed(facts: Facts) -> bool:
    """Say whether a GPU runs by its GSP, as far as its generation, the module and ``/proc`` tell.

    The open module always does.  The proprietary one may do without: then ``/proc`` names the GPU, with a
    UUID that only a started GPU has, and no firmware.
    """
    devices = objects(facts, "devices")
    if devices and not any(generation_of(device).firmware for device in devices):
        return False
    if text(facts, "module.flavour") == OPEN:
        return True
    gpus = objects(facts, "gpus")
    if gpus and all(text(gpu, "firmware") == _NONE and _started(gpu) for gpu in gpus):
        return False
    return bool(mapping(facts, "firmware.versions")) or bool(_failed(facts))


def _started(gpu: Facts) -> bool:
    """Say whether a GPU was started: its UUID is known."""
    return bool(text(gpu, "uuid")) and "?" not in text(gpu, "uuid")


def _failed(facts: Facts) -> tuple[str, ...]:
    """Return the files of the loaded module's version that the kernel could not load, in this boot."""
    version = text(facts, "module.version")
    return tuple(
        dict.fromkeys(
            f"nvidia/{version}/{text(event, 'file')}"
            for event in objects(facts, "log.events")
            if text(event, "kind") == "firmware-missing" and text(event, "version") == version
        )
    )


def judge_firmware(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that the firmware is another version's, is missing, or was not seen to run."""
    version, seen = text(facts, "module.version"), running(facts)
    if others := [each for each in seen if each != version]:
        observed = f"firmware {', '.join(others)} under kernel module {version}"
        where = ("gpus", "nvml.facts.gpus")
        yield finding(
            "DRIVER-FIRMWARE-OTHER", observed, expected=version, where=where, platform=case.platform
        )
    if seen or not is_needed(facts):
        return
    missing, failed = _missing(facts), _failed(facts)
    if failed or (missing and (_is_there(facts) or not text(facts, "container.kind"))):
        yield _missing_firmware(case, facts, missing, failed)
    elif text(facts, "module.flavour") == OPEN:
        observed = "neither /proc/driver/nvidia/gpus nor NVML tells the version of the running firmware"
        yield finding("DRIVER-FIRMWARE-UNSEEN", observed, where=("gpus",), platform=case.platform)


def _missing(facts: Facts) -> tuple[str, ...]:
    """Return the files that this machine's GPUs need and the module's version lacks.

    Where the GPUs are not known, either generation's file will do.
    """
    wanted = {generation_of(device).firmware for device in objects(facts, "devices")} - {""}
    names = {_plain(name) for name in _names(facts, text(facts, "module.version"))}
    if wanted:
        return tuple(sorted(wanted - names))
    return () if any(name.startswith("gsp_") for name in names) else ("gsp_*.bin",)


def _names(facts: Facts, version: str) -> tuple[str, ...]:
    """Return the firmware files of a version."""
    there: Facts = {"names": mapping(facts, "firmware.versions").get(version)}
    return texts(there, "names")


def _plain(name: str) -> str:
    """Return a file's name without the suffix of its compression."""
    return next((name.removesuffix(each) for each in _COMPRESSED if name.endswith(each)), name)


def _is_there(facts: Facts) -> bool:
    """Say whether any version's firmware lies on this machine: a container seldom has it."""
    return bool(mapping(facts, "firmware.versions"))


def _missing_firmware(case: Case, facts: Facts, missing: tuple[str, ...], failed: tuple[str, ...]) -> Finding:
    """Return the finding of firmware that is missing, with what lies there instead."""
    version = text(facts, "module.version")
    others = [each for each in mapping(facts, "firmware.versions") if each != version]
    parts = [f"kernel module {version}"]
    if failed:
        parts.append(f"the kernel could not load {', '.join(failed)}")
    if missing:
        parts.append(f"nvidia/{version} lacks {', '.join(missing)}")
    if others:
        parts.append(f"there is firmware of {', '.join(sorted(others))}")
    where = tuple(f"{root}/nvidia" for root in texts(facts, "firmware.roots")) or ("firmware",)
    expected = f"nvidia/{version}/{missing[0] if missing else 'gsp_*.bin'}"
    return finding(
        "DRIVER-FIRMWARE-MISSING",
        "; ".join(parts),
        expected=expected,
        where=where,
        platform=case.platform,
    )
