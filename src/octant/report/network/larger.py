"""Predictions of a benchmark as tables: many nodes like a measured one, or a described machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.report.network.answers import CALIBRATED
from octant.report.tables.layout import fill
from octant.units import si_scale, si_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octant.benchmarks.described import OnSystem, System
    from octant.simulate.projection import ProjectedSystem
    from octant.stats import Interval


@dataclass(frozen=True)
class Answers:
    """A table of predictions with their assumptions."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]  # assumptions and exclusions


def range_text(value: Interval, unit: str) -> str:
    """Return the ends of a range: `1.20 … 1.70 GB/s`, or a single value."""
    if math.isinf(value.middle):
        return "no limit"
    if value.low == value.high:
        return si_text(value.middle, unit)
    scale, prefix = si_scale(value.high)
    return f"{value.low / scale:.3g} … {value.high / scale:.3g} {prefix}{unit}"


def measured_answers(found: ProjectedSystem) -> Answers:
    """Return predictions for many nodes like that of a run."""
    counts = list(dict.fromkeys(one.nodes for one in found.answers))
    node = {one.test: one for one in found.node}
    rows = []
    for test in dict.fromkeys(one.test for one in found.answers):
        of_test = {one.nodes: one for one in found.answers if one.test == test}
        here = si_text(node[test].per_s, node[test].unit) if test in node else ""
        cells = (range_text(of_test[count].rate.per_s, of_test[count].unit) for count in counts)
        rows.append((found.titles[test], here, *cells, of_test[counts[-1]].rate.limited_by))
    header = ("test", "one node, measured", *(f"{count:,} nodes" for count in counts), "limited by")
    missing = ", ".join(found.titles[test] for test in found.left_out)
    excluded = [
        f"{missing}: the run has no figure for all ranks of a node; run `octant study run hpcc-scaling`"
    ] * bool(missing)
    title = f"Many nodes like this one ({found.machine}, run {found.run})"
    return Answers(title, header, tuple(rows), _notes(found.assumptions, (), excluded))


def _notes(
    assumptions: Iterable[str], remarks: Iterable[str], excluded: Iterable[str], mark: str = ""
) -> tuple[str, ...]:
    values = {"assumptions": assumptions, "remarks": remarks, "excluded": excluded, "mark": mark}
    return tuple(fill("network/page", "notes", **values).splitlines())


def system_answers(found: System) -> Answers:
    """Return predictions for a described machine."""
    nodes = found.answers[0].nodes if found.answers else 0
    rows = tuple(_system_row(one) for one in found.answers)
    header = ("test", "model", "per node", "limited by", "published, per node", "error")
    remarks = [f"{one.title}: {one.note}" for one in found.answers if one.note]
    calibrated = any(one.published and one.published.calibrated for one in found.answers)
    notes = _notes(found.assumptions, remarks, found.left_out, CALIBRATED * calibrated)
    return Answers(f"{found.network} with {nodes:,} nodes", header, rows, notes)


def _system_row(one: OnSystem) -> tuple[str, ...]:
    known, error, of_each = "", "", ""
    if one.parts > 1 and not math.isinf(one.per_s.middle):
        of_each = si_text(one.per_s.middle / one.parts, one.unit)
    if one.published:
        sign = f" {CALIBRATED}" * bool(one.published.calibrated)
        known = f"{si_text(one.published.per_part, one.unit)} at {one.published.at}{sign}"
        error = "" if one.error is None else f"{100 * one.error:+.1f} %"
    return one.title, range_text(one.per_s, one.unit), of_each, one.limited_by, known, error
