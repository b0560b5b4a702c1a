"""``assay``: arguments and exit codes; what a command does is in ``assay.commands``.

Importing this module loads almost nothing, so that ``assay --version`` starts about as fast as Python does.

Exit codes: 0 qualified (of ``gate``: passed), 1 rejected, 2 usage or plan error, 3 undecided, 4 invalid
bundle.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import NoReturn

from assay import __version__


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code; a user's mistake never shows a traceback."""
    arguments = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal may lack letters that a bundle has
    try:
        code = _run(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        gc.freeze()  # all goes with the process: at its end nothing is looked through once more
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as error:
        return _refused(error)
    return code


def _run(arguments: list[str]) -> int:
    """Parse, run and turn errors into a message and an exit code."""
    if arguments == ["--version"]:
        print(f"assay {__version__}")
        return 0
    gc.disable()  # what is imported stays: looking for garbage among it takes a tenth of a short command
    from assay.arguments import parse_arguments  # noqa: PLC0415  # argparse doubles the start-up of --version
    from assay.errors import AssayError  # noqa: PLC0415  # as above

    try:
        return parse_arguments(arguments).run()
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as ended:
        print(": ".join(["assay: interrupted", *map(str, ended.args)]), file=sys.stderr)
        return _leave(130)
    finally:
        gc.enable()


def _refused(error: OSError) -> int:
    """Say that the system refused something, such as an answer on a full disk: that is no verdict."""
    print(f"assay: the system refused: {error}", file=sys.stderr)
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest is not tried again
    return 3


def _leave(code: int) -> NoReturn:
    """End at once: a gate's thread that still runs must neither delay the end nor start anything."""
    from assay.process.children import end_children  # noqa: PLC0415  # only an interrupted run needs it

    end_children()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
