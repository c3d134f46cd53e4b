"""What a workload declares holds for every point of a store: of another version, or of a file that was changed."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from fake_run import machine
from octant.analysis.figures import MeasuredCell, figures_of
from octant.analysis.reduce import NoSamplesError
from octant.limit import Known
from octant.record import Point
from octant.record.lines import Reader
from octant.record.writer import seal
from octant.workloads import workload, workloads
from paths import DATA, ROOT

RECORDED = [json.loads(line) for line in (DATA / "smoke-points.jsonl").read_text(encoding="utf-8").splitlines()]
POINTS = [line for line in RECORDED if line["kind"] == "point"]
FIRST = {line["workload"]: line for line in reversed(POINTS)}
ON = machine()


def variants(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The line with one thing missing, meaningless or extreme."""

    def without(path: tuple[str | int, ...], *value: Any) -> tuple[str, dict[str, Any]]:
        changed = copy.deepcopy(line)
        at = changed
        for key in path[:-1]:
            at = at[key]  # type: ignore[index]
        if value:
            at[path[-1]] = value[0]  # type: ignore[index]
        else:
            del at[path[-1]]  # type: ignore[arg-type]
        return f"{'/'.join(map(str, path))} {value}", changed

    for part in ("knobs", "notes"):
        for name in line.get(part, {}):
            yield without((part, name))
            yield from (without((part, name), value) for value in ("x", "0"))
    for number, work in enumerate(line["work"]):
        for name in work["counts"]:
            yield without(("work", number, "counts", name))
            yield from (without(("work", number, "counts", name), value) for value in (0, 2**62))
    for part in ("given", "results", "work", "series", "knobs", "notes"):
        if part in line:
            yield without((part,), type(line[part])())
    for number in range(len(line["results"])):
        yield from (without(("results", number, "value"), value) for value in (0, -1, None, 1e308))
    yield without(("shape", "groups"), [])
    yield without(("shape", "ranks"), 64)
    yield without(("warmup",), 10**6)
    yield without(("pace",), "chunks" if line["pace"] == "steps" else "steps")


def point(line: dict[str, Any]) -> Point | None:
    try:
        found = Reader("2026-11-21T21:45:31Z").read(seal(line).encode())
    except ValueError:  # a damaged line, which the store names
        return None
    assert isinstance(found, Point)
    return found


def test_points_of_every_workload_are_recorded() -> None:
    assert {line["workload"] for line in POINTS} == workloads().keys()


@pytest.mark.parametrize("line", FIRST.values(), ids=FIRST)
def test_declarations_hold_for_any_point(line: dict[str, Any]) -> None:
    declared = workload(line["workload"])
    tried = 0
    for what, changed in variants(line):
        found = point(changed)
        if found is None:
            continue
        tried += 1
        try:
            declared.least_seconds(Known(ON.topology, {name: {} for name in declared.bounded_by}), ON, found)
            declared.footprint(ON, found)
            _ = [one.when(ON, found) for one in declared.provides]
            _ = declared.traffic and declared.traffic(ON, found)
            _ = declared.guideline and declared.guideline(found)
            figures_of(MeasuredCell(declared, [found], declared.metrics))
        except NoSamplesError:
            continue
        except Exception as error:
            raise AssertionError(f"{declared.name} with {what}") from error
    assert tried > 30


@pytest.mark.parametrize("name", FIRST)
def test_results_of_stored_points_have_names_that_the_kernel_uses(name: str) -> None:
    """A result whose name is changed in the kernel needs an entry in `renamed.toml` of the workload."""
    folder = ROOT / "src/octant/workloads" / name
    sources = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.[ch]pp"))
    stored = [found for line in POINTS if line["workload"] == name if (found := point(line))]
    assert stored
    assert [
        one.name for found in stored for one in (*found.results, *found.checks) if f'"{one.name}' not in sources
    ] == []
