"""``chain.toml`` as data: values, stages and the check that every value stays exact in float32."""

from __future__ import annotations

from assay.errors import PlanError
from assay.model import Json
from assay.plan.expression import EXACT, parse_expression
from assay.plan.reading import SHA256, Table
from assay.plan.values import RUNTIMES, Chain, Stage

MAX_VALUES = 1 << 20
MAX_STAGES = 64
"""Bounds what a verifier computes for a hostile plan."""

FRESH_COUNT = 4096
FRESH_VALUES = range(4096)
"""Besides the canonical values every chain runs on 4,096 fresh ones, each in 0…4095."""

MOST_EACH = 64
"""Most values that one thread may compute."""

FILE_NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_STAGE_NAME = r"[a-z][a-z0-9-]{0,30}"
_ENTRY = r"[A-Za-z_][A-Za-z0-9_]{0,62}"


def parse_chain(name: str, table: Table) -> Chain:
    """Read one chain: ``sha256``, ``values`` and the stages of ``stage``.

    Raises:
        PlanError: a key is unknown or wrong, or a value leaves float32's exact integers.
    """
    chain = Chain(
        name=name,
        sha256=table.text("sha256", match=SHA256.pattern),
        values=_values(table.table("values")),
        stages=table.each("stage", _stage),
    )
    table.finish()
    _check_stages(chain, table.at("stage"))
    return chain


def chain_json(chain: Chain) -> dict[str, Json]:
    """Return the form that ``parse_chain`` reads."""
    return {
        "sha256": chain.sha256,
        "stage": [_stage_json(stage) for stage in chain.stages],
        "values": _values_json(chain.values),
    }


def expected_values(chain: Chain, values: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the exact integers after each stage, for input ``values`` of shape (n,)."""
    results: list[tuple[int, ...]] = []
    for stage in chain.stages:
        given = results[-1] if stage.input == "previous" and results else values
        results.append(tuple(stage.expect.at(x, i) for i, x in enumerate(given)))
    return tuple(results)


def _values(table: Table) -> tuple[int, ...]:
    """Read ``list = [...]`` or ``start``, ``count`` and ``step``."""
    if "list" in table.names():
        values = table.each("list", _exact_integer)
    else:
        start = table.number("start", 0, low=-EXACT, high=EXACT)
        step = table.number("step", 1, low=-EXACT, high=EXACT)
        values = tuple(start + step * i for i in range(table.number("count", low=1, high=MAX_VALUES)))
    table.finish()
    if not 1 <= len(values) <= MAX_VALUES:
        raise PlanError(table.path, f"has {len(values)} values", f"1 to {MAX_VALUES}", "")
    return values


def _values_json(values: tuple[int, ...]) -> dict[str, Json]:
    """Return the form that ``_values`` reads; evenly spaced values in short, so that a plan stays small."""
    step = values[1] - values[0] if len(values) > 1 else 1
    if all(value == values[0] + step * i for i, value in enumerate(values)):
        return {"count": len(values), "start": values[0], "step": step}
    return {"list": list(values)}


def _exact_integer(value: object, path: str) -> int:
    """Read an integer that float32 holds exactly."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > EXACT:
        raise PlanError(path, f"is {value!r}", f"an integer of magnitude at most {EXACT}", "")
    return value


def _stage(value: object, path: str) -> Stage:
    """Read one stage."""
    table = Table(value, path)
    stage = Stage(
        name=table.text("name", match=_STAGE_NAME),
        runtime=table.text("runtime", match="|".join(RUNTIMES)),
        source=table.text("source", match=FILE_NAME),
        sha256=table.text("sha256", match=SHA256.pattern),
        entry=table.text("entry", match=_ENTRY),
        input=table.text("input", match="previous|values"),
        expect=parse_expression(table.text("expect"), table.at("expect")),
        ulp=_compare(table),
        each=table.number("each", 1, low=1, high=MOST_EACH),
    )
    table.finish()
    return stage


def _compare(table: Table) -> int | None:
    """Read ``compare = "bits"`` (None) or ``{ ulp = n }``."""
    if table.raw("compare") == "bits":
        return None
    tolerance = table.table("compare")
    ulp = tolerance.number("ulp", low=1, high=1 << 20)
    tolerance.finish()
    return ulp


def _stage_json(stage: Stage) -> dict[str, Json]:
    """Return the form that ``_stage`` reads."""
    later: dict[str, Json] = (
        {} if stage.each == 1 else {"each": stage.each}
    )  # earlier plans keep their digests
    return {
        **later,
        "compare": "bits" if stage.ulp is None else {"ulp": stage.ulp},
        "entry": stage.entry,
        "expect": stage.expect.text,
        "input": stage.input,
        "name": stage.name,
        "runtime": stage.runtime,
        "sha256": stage.sha256,
        "source": stage.source,
    }


def _check_stages(chain: Chain, path: str) -> None:
    """Refuse a chain without stages, with doubled names, or whose values leave the exact integers."""
    if not 1 <= len(chain.stages) <= MAX_STAGES:
        raise PlanError(
            path, f"has {len(chain.stages)} stages", f"1 to {MAX_STAGES}", "an empty chain shows nothing"
        )
    names = [stage.name for stage in chain.stages]
    if len(set(names)) != len(names):
        raise PlanError(path, "names a stage twice", "unique stage names", "")
    if chain.stages[0].input != "values":
        raise PlanError(f"{path}.0.input", "is 'previous'", "'values': nothing comes before it", "")
    _check_exact(chain, max(abs(x) for x in chain.values), len(chain.values) - 1, path)
    _check_exact(chain, FRESH_VALUES.stop - 1, FRESH_COUNT - 1, path)


def _check_exact(chain: Chain, most: int, last: int, path: str) -> None:
    """Refuse a chain that can leave the exact integers for inputs up to ``most``, indices to ``last``."""
    reached = most
    for number, stage in enumerate(chain.stages):
        given = most if stage.input == "values" else reached
        reached = stage.expect.peak(given, last)
        if reached > EXACT:
            observed = f"{stage.expect.text!r} can reach {reached}"
            raise PlanError(f"{path}.{number}.expect", observed, f"at most {EXACT} in magnitude", "")
