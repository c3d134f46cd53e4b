"""A stored run as rows of figures: repeated launches are joined, wrong answers have no speed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octant import stats, units, workloads
from octant.analysis.figures import ceilings as measured_ceilings
from octant.analysis.figures import figure, share_of
from octant.analysis.given import with_mismatches
from octant.machine.crosscheck import with_measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.analysis.figures import Figure
    from octant.launch import Launch
    from octant.record import Check, Point
    from octant.store import StoredRun
    from octant.workload import Ceilings, Limit, Metric, Workload

EFFORT = frozenset({"seconds", "samples", "least", "precision"})
"""Knobs that say how long to measure, not what."""


@dataclass(frozen=True)
class Row:
    """One figure of a run: the same point of all repeats of a launch."""

    workload: Workload
    metric: Metric
    label: str  # of the launch
    title: str  # the label and the values of the knobs that the launch swept
    mode: str
    table: bool
    knobs: Mapping[str, str]
    points: tuple[Point, ...]  # one a launch
    figures: tuple[Figure, ...]  # of the launches with a right answer
    wrong: tuple[Check, ...]  # the checks that failed

    @property
    def name(self) -> str:
        """The title, with the mode unless the title says it."""
        return self.title if not self.mode or self.mode in self.title else f"{self.title} ({self.mode})"

    @property
    def key(self) -> tuple[object, ...]:
        """What makes this the same figure in another run."""
        return _key(self.points[0], self.mode)

    @property
    def value(self) -> stats.Interval | None:
        """The figure with its interval, in base units; a wrong answer has none."""
        return None if self.wrong else stats.over_launches([figure.value for figure in self.figures])

    @property
    def limit(self) -> Limit | None:
        """The best value that the hardware could give."""
        return self.figures[0].limit if self.figures else None

    @property
    def steps_per_s(self) -> float | None:
        """How many chunks or steps of the declared work a second the value stands for; `None` without a value."""
        value, count = self.value, self.metric.count(self.points[0])
        if value is None or value.middle == 0 or count == 0:
            return None
        return value.middle / count if self.metric.kind == "rate" else 1 / (value.middle * count)

    @property
    def of_limit(self) -> float | None:
        """Fraction of the limit reached."""
        value = self.value
        return None if value is None else share_of(self.limit, self.metric, value.middle)

    @property
    def flags(self) -> tuple[str, ...]:
        """What casts doubt on the figure; that of each launch once."""
        found = dict.fromkeys(flag for figure in self.figures for flag in figure.flags)
        if 1 < len(self.figures) < stats.FEW_LAUNCHES and not self.wrong:
            found[f"only {len(self.figures)} launches: the interval is their range"] = None
        return tuple(found)


@dataclass(frozen=True)
class Summary:
    """A run with its rows in the order in which they were asked."""

    run: StoredRun
    rows: tuple[Row, ...]
    ceilings: Ceilings
    unknown: tuple[str, ...]  # workloads with points in the run that this installation does not have

    def by_workload(self) -> list[tuple[Workload, list[Row]]]:
        """The rows grouped by workload."""
        groups: dict[str, tuple[Workload, list[Row]]] = {}
        for row in self.rows:
            groups.setdefault(row.workload.name, (row.workload, []))[1].append(row)
        return list(groups.values())


def summarise(run: StoredRun, known: Mapping[str, Workload] | None = None) -> Summary:
    """The headline figure of every point of a run. `known` are the workloads, by default the installed ones."""
    known = workloads.workloads() if known is None else known
    run = with_mismatches(run)
    ceilings = measured_ceilings(run.points, run.machine, known)
    if ceilings.clock_hz:
        run = replace(run, machine=with_measured(run.machine, ceilings.clock_hz))
    launches = {launch.key: launch for launch in run.launches}
    order = {launch.key: i for i, launch in enumerate(run.launches)}
    groups: dict[tuple[object, ...], list[Point]] = {}
    for point in sorted(run.points, key=lambda p: order.get(p.launch, len(order))):
        if point.workload in known:
            launch = launches.get(point.launch)
            asked = launch.question if launch else point.launch
            groups.setdefault((asked, *_key(point, launch.mode if launch else "")), []).append(point)
    rows = tuple(
        _row(run, known[points[0].workload], points, launches.get(points[0].launch), ceilings)
        for points in groups.values()
    )
    unknown = sorted({point.workload for point in run.points} - set(known))
    return Summary(run, rows, ceilings, tuple(unknown))


def _key(point: Point, mode: str) -> tuple[object, ...]:
    knobs = sorted((name, canonical(value)) for name, value in point.knobs.items() if name not in EFFORT)
    return point.workload, mode, point.ranks, tuple(knobs)


def _value_text(knob: str, value: str) -> str:
    """A knob's value as people read it: `128 MiB`, where that says exactly the same as `134217728`."""
    if knob != "bytes" or not value.isdigit():
        return value
    text = units.bytes_text(int(value))
    try:
        return text if units.parse_bytes(text) == int(value) else value
    except ValueError:  # rounded: `976.6 KiB` is no whole number of bytes
        return value


def canonical(value: str) -> str:
    """A size in bytes, whatever its unit: `1MiB` and `1048576` ask for the same."""
    try:
        return str(units.parse_bytes(value))
    except ValueError:
        return value


def _row(run: StoredRun, workload: Workload, points: list[Point], launch: Launch | None, ceilings: Ceilings) -> Row:
    swept = [name for name, value in launch.knobs.items() if "," in value] if launch else []
    label = launch.title if launch and launch.title else workload.name
    words = [label, *(f"{name} {_value_text(name, points[0].knobs.get(name, '?'))}" for name in swept)]
    return Row(
        workload=workload,
        metric=workload.metrics[0],
        label=label,
        title=", ".join(words),
        mode=launch.mode if launch else "",
        table=launch.table if launch else True,
        knobs=points[0].knobs,
        points=tuple(points),
        figures=tuple(figure(workload, p, run.machine, ceilings) for p in points if p.verdict.passed),
        wrong=tuple(p.verdict for p in points if not p.verdict.passed),
    )
