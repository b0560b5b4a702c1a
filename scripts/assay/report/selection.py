"""What was qualified, with digests: selected files, packages, toolkit, provider and the built wheel."""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.variables import VARIABLES
from assay.model import Facts
from assay.report.machine import ENVIRONMENT, PROVIDER, TOOLKIT
from assay.report.subject import Subject
from assay.report.text import mapping_at, number_at, objects_at, size_text, spaced, text_at, texts_at
from assay.report.view import Row, Table

BUILD = "build"
MOST = 200
"""Rows of one table; more are counted."""

_FILES = ("variable", "what it names", "version", "size", "SHA-256")
_PACKAGES = ("package", "version", "SHA-256 of its record")
_PARTS = ("part", "version", "found by", "file")


def selection_of(subject: Subject) -> tuple[Row, ...]:
    """Return what was selected as a whole."""
    environment, build = subject.facts(ENVIRONMENT), subject.facts(BUILD)
    explicit, provider = environment.get("explicit"), subject.facts(PROVIDER)
    rows = (
        Row("Kind", {True: "explicit", False: "embedded"}[explicit] if isinstance(explicit, bool) else ""),
        Row("Given by", text_at(environment, "source") if explicit is True else ""),
        Row("Set and ignored", ", ".join(texts_at(environment, "ignored"))),
        Row("Set outside and kept out", ", ".join(texts_at(environment, "kept_out"))),
        Row("Interpreter", text_at(environment, "interpreter.version_text")),
        Row("Provider", spaced(text_at(provider, "pin"), text_at(provider, "wgpu.reported"))),
        Row("Provider's SHA-256", text_at(provider, "sha256"), code=True),
        Row("Wheel", text_at(build, "wheel.name")),
        Row("Wheel's SHA-256", text_at(build, "wheel.sha256"), code=True),
        Row("Revision", _revision(build), code=True),
    )
    return tuple(row for row in rows if row.value)


def _revision(build: Facts) -> str:
    """Return the revision, and whether the tree was clean."""
    revision = text_at(build, "revision")
    return spaced(revision, "(clean)" if build.get("clean") is True else "(not clean)") if revision else ""


def selection_tables(subject: Subject) -> tuple[Table, ...]:
    """Return selected files, packages and parts of the toolkit; empty tables are left out."""
    environment, toolkit = subject.facts(ENVIRONMENT), subject.facts(TOOLKIT)
    found = (
        bounded("Selected files and folders", _FILES, _files(environment), code=frozenset({1, 4})),
        bounded(
            "Packages of the selected interpreter", _PACKAGES, _packages(environment), code=frozenset({2})
        ),
        bounded("Parts of the CUDA toolkit", _PARTS, _parts(toolkit), code=frozenset({3})),
    )
    return tuple(table for table in found if table.rows)


def bounded(
    title: str, columns: tuple[str, ...], rows: Iterator[tuple[str, ...]], *, code: frozenset[int]
) -> Table:
    """Return a table of at most ``MOST`` rows, the others counted."""
    found = tuple(rows)
    return Table(title, columns, found[:MOST], code, max(0, len(found) - MOST))


def _files(environment: Facts) -> Iterator[tuple[str, ...]]:
    """Yield what each variable names, in the order of the table of variables."""
    for variable in VARIABLES:
        seen = mapping_at(environment, f"selected.{variable.name}")
        given = text_at(seen, "path") or text_at(environment, f"variables.{variable.name}.given")
        size = number_at(seen, "size")
        if given:
            yield (
                variable.name,
                given,
                text_at(seen, "reported.version") or text_at(seen, "binary.version"),
                "" if size is None else size_text(size),
                text_at(seen, "sha256"),
            )


def _packages(environment: Facts) -> Iterator[tuple[str, ...]]:
    """Yield the packages."""
    for each in objects_at(environment, "distributions"):
        yield text_at(each, "name"), text_at(each, "version"), text_at(each, "record_sha256")


def _parts(toolkit: Facts) -> Iterator[tuple[str, ...]]:
    """Yield the parts of the toolkit."""
    parts = mapping_at(toolkit, "parts")
    for name in sorted(parts):
        part = mapping_at(parts, name)
        yield name, text_at(part, "version"), text_at(part, "found_via"), text_at(part, "real")
