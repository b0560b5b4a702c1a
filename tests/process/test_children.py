"""An interrupted run leaves no process behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

CODE = """
import subprocess, sys, threading
from assay.process.children import end_children
wait = [sys.executable, "-c", "import sys; print('up', flush=True); sys.stdin.read()"]
found = []
def start(leads):
    process = subprocess.Popen(wait, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=leads)
    process.stdout.readline()
    found.append(process)
def again():
    start(True)
    found[-1].wait()
    start(False)
start(True)
start(False)
thread = threading.Thread(target=again)
thread.start()
while len(found) < 3:
    pass
print(end_children())
thread.join()
print(end_children(), [process.wait() for process in found])
"""


def test_all_children_end_also_those_that_lead_no_group_or_start_meanwhile() -> None:
    ended = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", CODE],
        env={"PYTHONPATH": str(SCRIPTS)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ended.stdout.splitlines()[-1] == "True [-9, -9, -9, -9]"
