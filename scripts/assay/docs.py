"""The README's tables, made from the authored tables: nothing is written twice.

A section of the README between ``<!-- NAME -->`` and ``<!-- /NAME -->`` is what this module makes of the
plan, the gate table, the variables and the noxfile.  ``nox -s docs`` writes them; a test compares them.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from assay.errors import AssayError, StorageError
from assay.files import read_bounded, write_atomic
from assay.judge.catalogue import CATALOGUE
from assay.judge.row import EVERY_PLATFORM, EVERY_TIER, GateRow
from assay.judge.table import GATES, rows
from assay.judge.variables import VARIABLES
from assay.plan import Plan, load_plan
from assay.report.authored import BY_HAND, PROVES

README = Path("README.md")
_LIMIT = 1 << 20
_WIDTH = 118


def readme(text: str, sections: Mapping[str, str]) -> str:
    """Return the README with each section's content replaced.

    Raises:
        StorageError: a section has not exactly one place.
    """
    for name, content in sections.items():
        text = _fill(text, name, content)
    return text


def _fill(text: str, name: str, content: str) -> str:
    """Return the text with the one place of a section filled."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if (found := len(place.findall(text))) != 1:
        raise StorageError(
            f"the README has {found} places for the section {name!r}",
            f"one {begin.strip()} … {end}",
            "put the two comments where the table belongs",
        )
    return place.sub(lambda _: f"{begin}{content}{end}", text)


def sections(plan: Plan, noxfile: str) -> Mapping[str, str]:
    """Return every generated section by name.

    Args:
        plan: the project's plan.
        noxfile: the text of ``noxfile.py``.
    """
    return {
        "sessions": _table(("session", "what it does"), sessions(noxfile)),
        "gates": _table(("gate", "what it shows", "needs", "applies"), gates(plan)),
        "findings": _table(("finding", "severity", "what it says"), findings()),
        "variables": _table(("variable", "names", "needed by"), variables()),
        "by hand": f"```sh\n# by hand: BUNDLE is the path of the bundle\n{BY_HAND}```\n",
        "proves": "".join(f"{_bullet(paragraph)}\n" for paragraph in PROVES),
        "open claims": "".join(f"- {claim.text}.\n" for claim in plan.claims if not claim.gates),
    }


def _bullet(text: str) -> str:
    """Return a paragraph as an item of a Markdown list."""
    return textwrap.fill(f"- {text}", _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def sessions(noxfile: str) -> Iterator[tuple[str, str]]:
    """Yield name and purpose of each session of a noxfile, read without running it."""
    for node in ast.parse(noxfile).body:
        if isinstance(node, ast.FunctionDef) and (name := _session_name(node)):
            yield f"`nox -s {name}`", (ast.get_docstring(node) or "").partition("\n")[0]


def _session_name(function: ast.FunctionDef) -> str | None:
    """Return the name of the session that a function is, or None where it is none."""
    for decorator in function.decorator_list:
        if ast.unparse(decorator).startswith("nox.session"):
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            given = [ast.literal_eval(keyword.value) for keyword in keywords if keyword.arg == "name"]
            return str(given[0]) if given else function.name
    return None


def gates(plan: Plan) -> Iterator[tuple[str, ...]]:
    """Yield what is known of each planned gate, in the plan's order, then of each that is not planned."""
    planned = rows(plan)
    for row in (*planned, *(each for each in GATES if each.name not in plan.gates)):
        name = f"`{row.name}`" if row.name in plan.gates else f"`{row.name}` (optional)"
        yield name, row.title, ", ".join(f"`{need}`" for need in row.needs) or "none", _where(row)


def _where(row: GateRow) -> str:
    """Return the platforms and tiers that a gate applies to."""
    platforms = "" if row.platforms == EVERY_PLATFORM else ", ".join(sorted(row.platforms))
    tiers = "" if row.tiers == EVERY_TIER else ", ".join(sorted(row.tiers))
    return "; ".join(part for part in (platforms, tiers) if part) or "everywhere"


def findings() -> Iterator[tuple[str, str, str]]:
    """Yield id, severity and title of each finding, in the catalogue's order."""
    for entry in CATALOGUE.values():
        yield f"`{entry.id}`", entry.severity.value, entry.title


def variables() -> Iterator[tuple[str, str, str]]:
    """Yield what each variable of a selection names and which gates need it."""
    for each in VARIABLES:
        yield f"`{each.name}`", each.title, ", ".join(f"`{gate}`" for gate in sorted(each.needed_by))


def _table(head: Sequence[str], body: Iterator[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def project_sections(project: Path) -> Mapping[str, str]:
    """Return every generated section of a project.

    Raises:
        PlanError: the plan is wrong.
        StorageError: a file cannot be read.
    """
    noxfile = read_bounded(project / "noxfile.py", _LIMIT).decode()
    return sections(load_plan(project), noxfile)


def main() -> int:
    """Write the README's sections anew and return an exit code."""
    try:
        text = read_bounded(README, _LIMIT).decode()
        write_atomic(README, readme(text, project_sections(Path())).encode())
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
