"""What a stored run measured, chosen by words: `stream kernel=triad mode=one bytes=2GiB`."""

from collections.abc import Mapping, Sequence

from octant import units
from octant.analysis.summary import EFFORT, Row, summarise
from octant.failure import Exit, Refusal
from octant.store import StoredRun
from octant.workloads import full_name

_MOST_VALUES = 4  # that a refusal shows of a knob


def chosen(run: StoredRun, kernel: str) -> list[Row]:
    """Rows of a run whose workload, mode, ranks and knobs are those of the words; all rows where there are no words.

    Raises:
        Refusal: a word that is no `knob=value`, or nothing in the run fits (with what it holds).
    """
    rows = list(summarise(run).rows)
    if not kernel.strip():
        return rows
    workload, *words = kernel.split()
    measured = dict.fromkeys(row.workload.name for row in rows)
    try:
        workload = full_name(workload, measured)
    except LookupError:
        have = ", ".join(measured) or "nothing"
        raise Refusal(f"cannot find {workload} in run {run.id} (it holds {have}); try octant report {run.id}") from None
    of_workload = [row for row in rows if row.workload.name == workload]
    found = of_workload
    for word in words:
        name, equals, value = word.partition("=")
        known = {name for row in of_workload for name in _facts(row)}
        if not equals or name not in known:
            names = ", ".join(sorted(known))
            text = f"cannot choose a point of {workload} by {word!r}; write knob=value with one of {names}"
            raise Refusal(text, Exit.WRONG_ANSWER)
        left = [row for row in found if _same(_facts(row).get(name, ""), value)]
        if not left:
            have = _values(found, name)
            raise Refusal(f"cannot find {workload} with {word} in run {run.id}; it has {name}={have}")
        found = left
    return found


def one(run: StoredRun, kernel: str) -> list[Row]:
    """The rows that measured one and the same thing, as words choose it.

    Raises:
        Refusal: as `chosen`, or the words fit several things (with the knobs that tell them apart).
    """
    rows = chosen(run, kernel)
    facts = [_facts(row) for row in rows]
    if any(other != facts[0] for other in facts):
        differing = [name for name in facts[0] if len({fact.get(name) for fact in facts}) > 1]
        said = " ".join(f"{name}={_values(rows, name)}" for name in differing)
        count = len({tuple(sorted(fact.items())) for fact in facts})
        raise Refusal(f"cannot choose one of {count} points of {kernel.split()[0]}; say {said}")
    return rows


def _facts(row: Row) -> Mapping[str, str]:
    knobs = {name: value for name, value in row.knobs.items() if name not in EFFORT}
    return {"mode": row.mode, "ranks": str(row.points[0].ranks), **knobs}


def _same(have: str, asked: str) -> bool:
    try:
        return have == asked or units.parse_bytes(have) == units.parse_bytes(asked)
    except ValueError:
        return False


def _values(rows: Sequence[Row], name: str) -> str:
    values = list(dict.fromkeys(_facts(row).get(name, "") for row in rows))
    return "|".join(values[:_MOST_VALUES]) + ("|…" if len(values) > _MOST_VALUES else "")
