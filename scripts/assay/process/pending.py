"""``spawn``: a command that runs while its caller does something else, on a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.process.promise import Pending
from assay.process.running import CAPTURE, run
from assay.process.values import Finished


def spawn(  # noqa: PLR0913  # each option is a bound or a place of its own, all by keyword
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    deadline_s: float,
    cwd: Path | None = None,
    capture_limit: int = CAPTURE,
    input: bytes | None = None,  # noqa: A002  # the name that subprocess.run gives it
) -> Pending[Finished]:
    """Begin a command under the same promises as ``run``; its deadline counts from now.

    It ends by itself or by its deadline, whether anybody asks for the result or not.  What keeps it from
    being started is raised with the result: GateError.
    """
    ended: list[Finished | BaseException] = []

    def work() -> None:
        try:
            ended.append(
                run(argv, env=env, deadline_s=deadline_s, cwd=cwd, capture_limit=capture_limit, input=input)
            )
        except BaseException as error:  # noqa: BLE001  # it is raised again where the result is asked for
            ended.append(error)

    thread = threading.Thread(target=work, name=f"command {argv[0] if argv else ''}")

    def take() -> Finished:
        thread.join()
        if isinstance(ended[0], BaseException):
            raise ended[0]
        return ended[0]

    thread.start()
    return Pending(take)
