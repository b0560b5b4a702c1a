"""Builds the fake machines that are described as JSON: parts, healthy ones, and those that went wrong.

A description is an object with any of these keys; those of the parts that it stands ``on`` come first::

    about       one sentence
    on          names of files in ``parts``, or ``healthy/<name>`` or ``faults/<name>``: what it is made of
    driver      keywords of ``build_driver.Driver``, a native Linux driver; those of all layers are merged,
                and it is added where the first one names it
    links, folders, files, programs, elf, pe, sparse, remove
                what to add to its root, by path (``remove`` is a list): a link's target, text, keywords of
                ``elf_bytes`` or ``pe_bytes``, a size in bytes of nothing
    env, stated, probes
                its environment, ``machine.json`` and ``probes.json``; objects are merged, null removes
    plan        changes of the small plan of ``tests/plan/support`` by dotted key; the text
                ``sha256:<path>`` stands for that file's digest as it is at that moment
    selection   null: what the environment selects; else {explicit, source, values, ignored}
    gates       the gates that are run on it; all three where it does not say
    finds       the findings other than warnings that each gate has, by gate; none where it is not named
    warns       the warnings that all gates together have
    says        by finding, texts that its observation, expectation and remedy hold between them
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.machine import Machine
from assay.plan import Plan, parse_plan
from assay.selection import Selection, resolve_selection
from tests.machines.build_driver import driver_layer
from tests.machines.build_elf import elf_bytes
from tests.machines.build_pe import pe_bytes
from tests.machines.building import Builder
from tests.plan.support import plan_table

HERE = Path(__file__).parent
KINDS = ("healthy", "faults")
_KEYS = {
    *("about", "on", "driver", "links", "folders", "files", "programs", "elf", "pe", "sparse", "remove"),
    *("env", "stated", "probes", "plan", "selection", "gates", "finds", "warns", "says"),
}
GATES = ("environment", "toolkit", "driver", "provider", "abi", "vulkan")


@dataclass(frozen=True)
class Described:
    """A built machine with its plan and selection, and what the gates are to find on it."""

    name: str
    machine: Machine
    plan: Plan
    selection: Selection
    gates: tuple[str, ...]
    finds: Mapping[str, list[str]]
    warns: list[str]
    says: Mapping[str, list[str]]


def names(kind: str) -> list[str]:
    """Return the names of the machines of a kind, sorted."""
    return sorted(path.stem for path in (HERE / kind).glob("*.json"))


def expected(kind: str, name: str) -> tuple[dict[str, list[str]], list[str]]:
    """Return the findings by gate and the warnings that a description names, without building it."""
    layer: dict[str, Any] = json.loads((HERE / kind / f"{name}.json").read_text(encoding="utf-8"))
    return layer.get("finds", {}), layer.get("warns", [])


def build(kind: str, name: str, folder: Path) -> Described:
    """Build a machine below ``folder``."""
    return _built(name, _layers(kind, name), folder)


def build_layer(name: str, layer: Mapping[str, Any], folder: Path) -> Described:
    """Build a machine below ``folder`` that no file describes: ``layer`` has a description's form."""
    return _built(name, _on(layer), folder)


def _built(name: str, layers: list[dict[str, Any]], folder: Path) -> Described:
    """Build a machine out of layers, the deepest first."""
    builder, merged, plan = Builder(folder), dict[str, Any](), plan_table()
    for layer in _with_driver(layers):
        unknown = set(layer) - _KEYS
        assert not unknown, f"{name}: unknown keys {unknown}"
        _add(builder, layer)
        for key in ("env", "stated", "probes", "finds", "says"):
            merged[key] = _merged(merged.get(key, {}), layer.get(key, {}))
        for path, value in layer.get("plan", {}).items():
            _change(plan, path, _digests(builder, value))
        merged.update({key: layer[key] for key in ("selection", "gates", "warns") if key in layer})
    machine = builder.machine(merged["env"], stated=merged["stated"], probes=merged["probes"])
    return Described(
        name,
        machine,
        parse_plan(plan),
        _selection(machine, merged.get("selection"), folder),
        tuple(merged.get("gates", GATES)),
        merged["finds"],
        merged.get("warns", []),
        merged["says"],
    )


def _layers(kind: str, name: str) -> list[dict[str, Any]]:
    """Return a description and all that it stands on, the deepest first, each once."""
    return _on(json.loads((HERE / kind / f"{name}.json").read_text(encoding="utf-8")))


def _on(layer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a layer and all that it stands on, as ``_layers`` does."""
    found: list[dict[str, Any]] = []
    for below in layer.get("on", []):
        where, _, part = below.rpartition("/")
        found += [each for each in _layers(where or "parts", part) if each not in found]
    return [*found, dict(layer)]


def _with_driver(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return layers with the driver that they describe together, before the first that names it."""
    naming = [at for at, layer in enumerate(layers) if "driver" in layer]
    if not naming:
        return layers
    keywords: dict[str, Any] = {}
    for layer in layers:
        keywords |= layer.get("driver", {})
    return [*layers[: naming[0]], driver_layer(keywords), *layers[naming[0] :]]


def _add(builder: Builder, layer: Mapping[str, Any]) -> None:
    """Add a layer's files to the root; what stood there before is replaced."""
    for path in layer.get("remove", []):
        _remove(builder.place(path))
    for path, target in layer.get("links", {}).items():
        _remove(builder.place(path))
        builder.link(path, target)
    for path in layer.get("folders", []):
        builder.folder_at(path)
    for path, text in layer.get("files", {}).items():
        builder.file(path, "\n".join(text) if isinstance(text, list) else text)
    for path, text in layer.get("programs", {}).items():
        builder.program(path, "\n".join(text) if isinstance(text, list) else text)
    for path, keywords in layer.get("elf", {}).items():
        given = {**keywords, "text": keywords.get("text", "").encode()}
        builder.program(path, elf_bytes(**given))
    for path, keywords in layer.get("pe", {}).items():
        builder.program(path, pe_bytes(**keywords))
    for path, size in layer.get("sparse", {}).items():
        os.truncate(builder.file(path), size)


def _remove(host: Path) -> None:
    """Remove whatever lies at a path."""
    if host.is_dir() and not host.is_symlink():
        shutil.rmtree(host)
    else:
        host.unlink(missing_ok=True)


def _merged(below: Any, above: Any) -> Any:  # noqa: ANN401  # JSON of any form
    """Return two values merged: objects key by key, null removes, anything else replaces."""
    if not isinstance(below, dict) or not isinstance(above, dict):
        return copy.deepcopy(above)
    merged = {**below, **{key: _merged(below.get(key), value) for key, value in above.items()}}
    return {key: value for key, value in merged.items() if value is not None}


def _change(plan: Any, path: str, value: Any) -> None:  # noqa: ANN401  # JSON of any form
    """Set the value at a dotted path of a plan; null removes it."""
    *way, last = path.split(".")
    for part in way:
        plan = plan[int(part)] if isinstance(plan, list) else plan.setdefault(part, {})
    if isinstance(plan, list):
        plan[int(last)] = value
    elif value is None:
        plan.pop(last, None)
    else:
        plan[last] = value


def _digests(builder: Builder, value: Any) -> Any:  # noqa: ANN401  # JSON of any form
    """Return a value with each ``sha256:<path>`` replaced by that file's digest."""
    if isinstance(value, str) and value.startswith("sha256:"):
        return hashlib.sha256(builder.place(value.removeprefix("sha256:")).read_bytes()).hexdigest()
    if isinstance(value, dict):
        return {key: _digests(builder, part) for key, part in value.items()}
    return [_digests(builder, part) for part in value] if isinstance(value, list) else value


def _selection(machine: Machine, described: Mapping[str, Any] | None, folder: Path) -> Selection:
    """Return the described selection, or the one that the machine's environment makes."""
    if described is None:
        return resolve_selection(machine.env, folder / "project", None, machine.platform)
    return Selection(
        explicit=described["explicit"],
        source=described["source"],
        values=MappingProxyType(described["values"]),
        ignored=tuple(described.get("ignored", ())),
        separator=";" if machine.view.windows else ":",
    )
