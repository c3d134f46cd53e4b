"""The memory levels of a machine, as the newest of its runs that has them measured them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from octant import units, workloads
from octant.analysis.appendix.measured import MAX_RUNS, runs_of
from octant.analysis.plateaus import LEAST_POINTS
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.report.screen.level_rows import LevelTable, level_table
from octant.report.screen.level_section import level_document, level_section
from octant.report.tables.layout import fill
from octant.report.tables.section_text import sections_lines
from octant.report.terminal import screen_columns
from octant.workload import Ladder

if TYPE_CHECKING:
    from octant.machine import Machine
    from octant.store import Store, StoredRun

_NEXT = "to measure them: octant evaluate --quick"


@dataclass(frozen=True)
class MeasuredLevels:
    """The memory levels that a run measured."""

    run: StoredRun
    table: LevelTable

    @property
    def age_s(self) -> float:
        """The time since the start of the run."""
        return max(0.0, (datetime.now(UTC) - datetime.fromisoformat(self.run.started)).total_seconds())


def newest_levels(store: Store, machine: Machine) -> MeasuredLevels:
    """Return the memory levels of the newest run that measured the bandwidth and latency of two or more levels.

    If no run measured both, one of them is sufficient.

    Raises:
        Refusal: no run of the machine measured memory levels.
    """
    partial: MeasuredLevels | None = None
    for run in islice((one for one in runs_of(store, machine) if _has_ladder(one)), MAX_RUNS):
        table = level_table(summarise(run))
        if table and len(table.titles) > 1:
            return MeasuredLevels(run, table)
        partial = partial or (MeasuredLevels(run, table) if table else None)
    if partial is None:
        raise Refusal(f"cannot show measured memory levels (no run of this machine in {store.root} has them); {_NEXT}")
    return partial


def levels_of_run(run: StoredRun) -> MeasuredLevels:
    """Return the memory levels of a run.

    Raises:
        Refusal: the run did not measure them.
    """
    table = level_table(summarise(run))
    if table is None:
        raise Refusal(f"cannot show memory levels of {run.id} (it has no ladder of footprints on one core); {_NEXT}")
    return MeasuredLevels(run, table)


def _has_ladder(run: StoredRun) -> bool:
    """Return whether a request of a run has enough footprints for a plateau; it costs no computation of figures."""
    known = workloads.workloads()
    ladders = {
        (name, picture.x) for name, one in known.items() for picture in one.pictures if isinstance(picture, Ladder)
    }
    return any(
        request.subject.workload == name and request.knobs.get(knob, "").count(",") >= LEAST_POINTS
        for request in run.requests
        for name, knob in ladders
    )


def as_text(levels: MeasuredLevels) -> str:
    """Return the memory levels for the terminal, with the run and its age."""
    section, width = level_section(levels.table), screen_columns(100)
    lines = [line.plain.rstrip() for line in sections_lines([section], width, details=True)[1:]]
    run = levels.run
    head = fill("machine/measured_levels", "head", machine=run.machine, run=run, age=units.duration_text(levels.age_s))
    return "\n".join([head, "", *lines])


def as_json(levels: MeasuredLevels) -> str:
    """Return the memory levels as JSON, with the run and its age."""
    run = levels.run
    document = {
        "machine": run.machine.name, "run": run.id, "started": run.started, "age_s": round(levels.age_s),
        "cores": levels.table.cores, "levels": level_document(levels.table),
    }  # fmt: skip
    return json.dumps(document, indent=2, ensure_ascii=False)
