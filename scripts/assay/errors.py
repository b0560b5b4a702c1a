"""The one tree of errors; every error says what was observed, what was expected and what to do.

    AssayError                    exit code
      UsageError                  2   the command line or an option is wrong
        PlanError                 2   the plan, with the dotted path of the key
        SelectionError            2   the selection file or variables cannot be read at all
      GateError                   3   a gate broke: outcome ``error``
        DeadlineError             3   a child outlived its deadline
      StorageError                3   the disk is full, read-only, or a file is not what it should be
        BinaryFormatError         3   a library or executable cannot be read as what it claims to be
        ArchiveError              3   a zip or tar is broken, or goes past a reader's bounds
      FetchError                  3   a download failed or had the wrong digest
        TransferError             3   a body broke off; another try may bring it
      DepositError                3   an archive refused a file, or holds something else under its name
      ProvisionError              3   the embedded selection could not be built
      CanonicalError              3   a value has no canonical JSON form; names its dotted path
      BundleError                 4   the bundle is not what it says; names member and field
        NewerSchemaError          3   the bundle was written by a newer assay: undecided, never invalid

A user's mistake never shows a traceback: ``cli`` prints ``AssayError`` and returns its exit code.
"""

from __future__ import annotations

from collections.abc import Iterable


class AssayError(Exception):
    """Base of all errors of this package.

    Args:
        observed: what was seen, as a full sentence without a final stop.
        expected: what should have been there.
        remedy: what the reader can do about it.
    """

    exit_code = 3

    def __init__(self, observed: str, expected: str = "", remedy: str = "") -> None:
        """Keep the three parts; ``str()`` joins those that are present."""
        super().__init__(observed)
        self.observed = observed
        self.expected = expected
        self.remedy = remedy

    def __str__(self) -> str:
        """Return the parts on lines of their own, for a terminal."""
        parts = [self.observed]
        if self.expected:
            parts.append(f"  expected: {self.expected}")
        if self.remedy:
            parts.append(f"  remedy:   {self.remedy}")
        return "\n".join(parts)


class UsageError(AssayError):
    """The command line is wrong."""

    exit_code = 2


class PlanError(UsageError):
    """The plan is wrong; ``path`` is the dotted path of the key."""

    def __init__(self, path: str, observed: str, expected: str = "", remedy: str = "") -> None:
        """Prefix the observation with the key's dotted path."""
        super().__init__(f"{path}: {observed}", expected, remedy)
        self.path = path


class SelectionError(UsageError):
    """The selection cannot be read."""


class GateError(AssayError):
    """A gate itself broke."""


class DeadlineError(GateError):
    """A child outlived its deadline."""


class StorageError(AssayError):
    """A file could not be read or written as it should."""


class BinaryFormatError(StorageError):
    """A library or executable is not of the format that it claims to be, or goes past a reader's bounds."""


class ArchiveError(StorageError):
    """A zip or tar is broken, or goes past a reader's bounds."""


class FetchError(AssayError):
    """A download failed or had the wrong digest."""


class TransferError(FetchError):
    """A body broke off on its way; another try may bring it."""


class DepositError(AssayError):
    """An archive refused a file, lost part of it, or holds something else under its name."""


class ProvisionError(AssayError):
    """The embedded selection could not be built: a compiler, a package or a toolkit let it down."""


class CanonicalError(AssayError):
    """A value has no canonical JSON form; ``path`` is its dotted path, ``fault`` what is wrong with it."""

    def __init__(self, path: Iterable[str | int], fault: str, expected: str) -> None:
        """Prefix the fault with the value's dotted path."""
        self.path = ".".join(map(str, path))
        self.fault = fault
        super().__init__(f"{self.path}: {fault}" if self.path else f"the value {fault}", expected)


class BundleError(AssayError):
    """A bundle is broken; ``member`` and ``field`` say where."""

    exit_code = 4

    def __init__(
        self, observed: str, expected: str = "", remedy: str = "", *, member: str = "", field: str = ""
    ) -> None:
        """Prefix the observation with the member and the dotted field path."""
        where = ": ".join(part for part in (member, field) if part)
        super().__init__(f"{where}: {observed}" if where else observed, expected, remedy)
        self.member = member
        self.field = field


class NewerSchemaError(BundleError):
    """The bundle was written by a newer version; the answer is to update, never "invalid"."""

    exit_code = 3
