"""Findings of a launch, one for each kind and instruction, with how often it happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..findings import Finding, Report
from ..ptx.values import Instruction

if TYPE_CHECKING:
    from .chunk import Chunk


class Recorder:
    """Collects findings and what the kernel prints.

    Args:
        kernel: the entry's name.
        files: ``.file`` index -> path.
        most: distinct findings that are kept.
    """

    def __init__(self, kernel: str, files: Mapping[int, str], most: int) -> None:
        self.kernel = kernel
        self.printed = bytearray()
        self.instructions = 0
        self._files = files
        self._most = most
        self._found: dict[tuple[str, int, str], Finding] = {}

    def note(  # noqa: PLR0913, PLR0917  # a finding has these parts
        self,
        kind: str,
        site: Instruction,
        message: str,
        chunk: Chunk,
        thread: int,
        address: int | None,
        count: int,
    ) -> None:
        """Add a finding, or to the count of the one that is known at this instruction.

        Args:
            kind: of ``findings.KINDS``.
            site: the instruction.
            message: a sentence.
            chunk: whose thread it was.
            thread: its number in the chunk.
            address: what it meant.
            count: threads that did the same.
        """
        key = (kind, site.line, site.text)
        if key in self._found:
            known = self._found[key]
            self._found[key] = replace(known, count=known.count + count)
        elif len(self._found) < self._most:
            self._found[key] = replace(self.finding(kind, site, message, chunk, thread, address), count=count)

    def finding(  # noqa: PLR0913, PLR0917  # as above
        self, kind: str, site: Instruction, message: str, chunk: Chunk, thread: int, address: int | None
    ) -> Finding:
        """Return a finding of one thread of a chunk, without recording it."""
        block, place = chunk.place(thread)
        file, line = self.source(site)
        return Finding(kind, message, self.kernel, file, line, site.line, block, place, address)

    def place(self, site: Instruction) -> str:
        """Return the source line of an instruction, or its line in the PTX where that is all there is."""
        file, line = self.source(site)
        return f"{file}:{line}" if file and line else f"PTX line {site.line}"

    def source(self, site: Instruction) -> tuple[str, int]:
        """Return the file and line of an instruction, in the author's own source where there is one.

        What was inlined from a header of the toolkit or the system is told where it was called.
        """
        location = site.location
        inside_out = ((location.file, location.line), *location.callers)
        places = [(self._files.get(file, ""), line) for file, line in inside_out]
        return next((place for place in places if not _is_foreign(place[0])), places[0])

    def where(self, site: Instruction) -> str:
        """Return an instruction's place as words for a message."""
        file, line = self.source(site)
        source = f"{file}:{line}, " if file and line else ""
        return f"{self.kernel} at {source}PTX line {site.line} (`{site.text}`)"

    def report(self) -> Report:
        """Return what was collected."""
        return Report(tuple(self._found.values()), bytes(self.printed), self.instructions)


def _is_foreign(file: str) -> bool:
    """Return whether a file is a header of the toolkit or the system; kernels lie below ``/kernels/``."""
    return not file or (_INCLUDE in file and not file.startswith(_KERNELS))


_INCLUDE = "/include/"
_KERNELS = "/kernels/"
