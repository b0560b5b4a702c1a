"""``assay``: arguments and exit codes; what a command does is in ``assay.commands``.

Importing this module loads almost nothing, so that ``assay --version`` starts about as fast as Python does.

Exit codes: 0 qualified (of ``gate``: passed), 1 rejected, 2 usage or plan error, 3 undecided, 4 invalid
bundle.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from assay import __version__


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code; a user's mistake never shows a traceback."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments == ["--version"]:
        print(f"assay {__version__}")
        return 0
    return _run(arguments)


def _run(arguments: list[str]) -> int:
    """Parse, run and turn errors into a message and an exit code."""
    from assay.arguments import parse_arguments  # noqa: PLC0415  # argparse doubles the start-up of --version
    from assay.errors import AssayError  # noqa: PLC0415  # as above

    try:
        return parse_arguments(arguments).run()
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("assay: interrupted; what was journalled is kept (assay bundle RUN)", file=sys.stderr)
        return _leave(130)
    except BrokenPipeError:
        sys.stderr.close()
        return 141


def _leave(code: int) -> NoReturn:
    """End at once: a gate's thread that still runs must neither delay the end nor start anything."""
    from assay.process.children import end_children  # noqa: PLC0415  # only an interrupted run needs it

    end_children()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
