"""``Python`` in real Bun over the real host library: values, exceptions, its end, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.selection import EXECUTABLE, HOST_LIBRARY, LIBPYTHON, Selection
from tests.hosted.scripts import bun


def said(selection: Selection, folder: Path, script: str) -> Any:  # noqa: ANN401  # JSON of any form
    """Return what a script printed last; it has to end well and quietly."""
    told, ended = bun(selection, folder, script)
    assert (ended.returncode, ended.stderr) == (0, "")
    return told


def test_both_modules_have_one_constructor_and_importing_them_loads_nothing(
    selection: Selection, tmp_path: Path
) -> None:
    script = """
    const maps = await Bun.file("/proc/self/maps").text();
    const loaded = /libpython|libassay_host|libcuda|wgpu/u.test(maps);
    console.log(JSON.stringify([Python === Other, typeof Python, typeof GpuRuntime.load, loaded]));
    """
    assert said(selection, tmp_path, script) == [True, "function", "function", False]


def test_cpython_is_the_selected_environment_in_bun_s_process(selection: Selection, tmp_path: Path) -> None:
    script = """
    using python = new Python({ flags: ["-s", "-B"] });
    python.execute("import os, sys, numpy");
    const names = "sys.executable, sys.prefix, sys.flags.no_user_site, int(numpy.arange(5).sum())";
    const [pid, ...rest] = python.evaluate(`[os.getpid(), ${names}]`);
    console.log(JSON.stringify([pid === process.pid, ...rest]));
    """
    executable = selection.values[EXECUTABLE]
    prefix = str(Path(executable).parent.parent)
    assert said(selection, tmp_path, script) == [True, executable, prefix, 1, 10]


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -1.5, 2**53 - 1, 1e308, "", "\0", 'é漢😀"\\', "\u2028", [], {}),
        {"": {"__proto__": [[[1]]], "ключ": None}},
    ],
    ids=repr,
)
def test_values_come_back_as_they_were_sent(selection: Selection, tmp_path: Path, value: object) -> None:
    script = f"""
    using python = new Python();
    const value = JSON.parse({json.dumps(json.dumps(value))});
    console.log(JSON.stringify([
      python.call("copy:copy", [value]),
      python.evaluate("value", {{ value }}),
      python.call("builtins:dict", [], {{ value }}).value,
    ]));
    """
    assert said(selection, tmp_path, script) == [value] * 3


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("raise ValueError('größer 漢字 😀')", "ValueError", "größer 漢字 😀"),
        ("raise OSError('half \\udc80')", "OSError", "half \udc80"),
        ("raise SystemExit(3)", "SystemExit", "3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("1 +", "SyntaxError", "invalid syntax (<bun>, line 1)"),
        (
            "class E(Exception):\n def __str__(self): raise TypeError\nraise E",
            "E",
            "(its text cannot be told: TypeError)",
        ),
    ],
)
def test_an_exception_is_carried_whole_and_python_goes_on(
    selection: Selection, tmp_path: Path, code: str, kind: str, message: str
) -> None:
    script = f"""
    using python = new Python();
    const told = caught(() => python.execute({json.dumps(code)}));
    console.log(JSON.stringify([told, python.evaluate("6 * 7")]));
    """
    told, after = said(selection, tmp_path, script)
    assert (told["type"], told["message"], after) == (kind, message, 42)
    assert told["traceback"].startswith("Traceback (most recent call last):")


@pytest.mark.parametrize("value", ["float('nan')", "object()", "{1: 2, None: [float('inf')]}", "b'x'"])
def test_what_json_has_no_form_for_is_an_exception(selection: Selection, tmp_path: Path, value: str) -> None:
    script = f"""
    using python = new Python();
    console.log(JSON.stringify(caught(() => python.evaluate(`{value}`))));
    """
    assert said(selection, tmp_path, script)["type"] in {"TypeError", "ValueError"}


def test_a_second_host_and_one_after_the_end_are_refused_with_a_reason(
    selection: Selection, tmp_path: Path
) -> None:
    script = """
    const python = new Python();
    const during = caught(() => new Other());
    python.close();
    const closed = [python.close(), caught(() => python.evaluate("1")), caught(() => new Python())];
    console.log(JSON.stringify([during, ...closed]));
    """
    during, again, asked, after = said(selection, tmp_path, script)
    assert (during["code"], again) == ("already-open", [])
    assert (asked["code"], after["code"]) == ("already-closed", "already-closed")
    assert "NumPy cannot start twice" in after["message"]


def test_another_copy_of_the_host_library_is_refused_too(selection: Selection, tmp_path: Path) -> None:
    copy = shutil.copy(selection.values[HOST_LIBRARY], tmp_path / "copy.so")
    script = f"""
    const python = new Python();
    const during = caught(() => new Python({{ host: "{copy}" }}));
    python.close();
    console.log(JSON.stringify([during]));
    """
    (during,) = said(selection, tmp_path, script)
    assert during["code"] == "foreign"


def test_a_libpython_that_bun_opened_itself_is_no_stranger_until_it_runs(
    selection: Selection, tmp_path: Path
) -> None:
    script = f"""
    import {{ dlopen }} from "bun:ffi";
    const {{ symbols }} = dlopen("{selection.values[LIBPYTHON]}", {{ Py_Initialize: {{ args: [] }} }});
    symbols.Py_Initialize();
    console.log(JSON.stringify(caught(() => new Python())));
    """
    assert said(selection, tmp_path, script)["code"] == "foreign"


def test_a_worker_of_the_same_process_is_refused(selection: Selection, tmp_path: Path) -> None:
    (tmp_path / "worker.ts").write_text("""
    import { Python } from "buv:python";
    try { new Python(); postMessage("opened"); } catch (error) { postMessage(error.code); }
    """)
    script = """
    using python = new Python();
    const worker = new Worker(new URL("worker.ts", import.meta.url).href, { preload: [process.env.PLUGIN] });
    const told = await new Promise((resolve) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = (event) => resolve(event.message);
    });
    await worker.terminate();
    console.log(JSON.stringify([told, python.evaluate("1 + 1")]));
    """
    assert said(selection, tmp_path, script) == ["already-open", 2]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ('{ version: "3.1" }', "libpython-version"),
        ('{ version: "3" }', ""),
        ('{ executable: "/nowhere/python" }', "unselected"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    selection: Selection, tmp_path: Path, options: str, code: str
) -> None:
    script = f"""
    console.log(JSON.stringify(caught(() => new Python({options}).close().length)));
    """
    assert said(selection, tmp_path, script).get("code", "") == code


def test_an_environment_of_another_minor_version_is_refused_without_being_asked(
    selection: Selection, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("")
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nversion_info = 3.99.0.final.0\n")
    script = f"""
    console.log(JSON.stringify(caught(() => new Python({{ executable: "{tmp_path}/bin/python" }}))));
    """
    told = said(selection, tmp_path, script)
    assert told["code"] == "libpython-version"
    assert told["message"].endswith("the interpreter 3.99")


def test_destructors_and_threads_tell_at_the_end_what_they_could_not_raise(
    selection: Selection, tmp_path: Path
) -> None:
    script = """
    const python = new Python();
    python.execute(`
class Kept:
    def __del__(self):
        raise RuntimeError("im Abbau: ü")
kept = Kept()
import threading
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
`);
    console.log(JSON.stringify(python.close()));
    """
    told = {each["type"]: each["message"] for each in said(selection, tmp_path, script)}
    assert told == {"RuntimeError": "im Abbau: ü", "ZeroDivisionError": "division by zero"}


def test_signals_stay_bun_s(selection: Selection, tmp_path: Path) -> None:
    script = """
    const status = () => require("fs").readFileSync("/proc/self/status", "utf8").match(/^Sig(Ign|Cgt).*/gmu);
    const before = status();
    const python = new Python();
    const during = status();
    python.close();
    console.log(JSON.stringify([before, during, status()]));
    """
    before, during, after = said(selection, tmp_path, script)
    assert before == during == after


def test_ten_megabytes_go_both_ways_intact(selection: Selection, tmp_path: Path) -> None:
    script = """
    using python = new Python();
    const text = "é漢😀\\u0000\\"\\\\ plain".repeat(700_000);
    const back = python.call("builtins:str", [text]);
    const count = python.evaluate("len(text.encode())", { text });
    console.log(JSON.stringify([back === text, count]));
    """
    same, count = said(selection, tmp_path, script)
    assert same
    assert count == 700_000 * (2 + 3 + 4 + 1 + 1 + 1 + 6) > 10 << 20


def test_a_thousand_evaluations_leak_nothing(selection: Selection, tmp_path: Path) -> None:
    """Resident memory (proc(5), ``statm``) after rounds of 1,000 with 50 kB both ways and an exception."""
    script = """
    using python = new Python();
    python.execute("import os, resource");
    const resident = () => {
      Bun.gc(true);
      return python.evaluate("int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize()");
    };
    const text = "x".repeat(50_000);
    const round = () => {
      for (let at = 0; at < 1000; at++) {
        python.evaluate("text + str(at)", { at, text });
        caught(() => python.evaluate("1 / 0"));
      }
      return resident();
    };
    round();
    console.log(JSON.stringify([round(), round(), round()]));
    """
    rounds = said(selection, tmp_path, script)
    carried = 1000 * 50_000
    assert max(rounds) - min(rounds) < carried / 5
