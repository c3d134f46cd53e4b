"""Tests of a benchmark on machines that are not here, as tables: many nodes like one that was measured, or a described
machine with the values that were published of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.units import si_scale, si_text

if TYPE_CHECKING:
    from octant.benchmarks.described import OnSystem, System
    from octant.simulate.projection import ProjectedSystem
    from octant.stats import Interval

CALIBRATED = "*"
"""Behind a published value on which the model was calibrated."""


@dataclass(frozen=True)
class Answers:
    """A table of predictions and what they rest on."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]  # what is assumed, and what is left out


def range_text(value: Interval, unit: str) -> str:
    """The ends of a range, or the one value where they are one: `1.20 … 1.70 GB/s`."""
    if math.isinf(value.middle):
        return "no limit"
    if value.low == value.high:
        return si_text(value.middle, unit)
    scale, prefix = si_scale(value.high)
    return f"{value.low / scale:.3g} … {value.high / scale:.3g} {prefix}{unit}"


def measured_answers(found: ProjectedSystem) -> Answers:
    """Many nodes like that of a run."""
    counts = list(dict.fromkeys(one.nodes for one in found.answers))
    node = {one.test: one for one in found.node}
    rows = []
    for test in dict.fromkeys(one.test for one in found.answers):
        of_test = {one.nodes: one for one in found.answers if one.test == test}
        here = si_text(node[test].per_s, node[test].unit) if test in node else ""
        cells = (range_text(of_test[count].rate.per_s, of_test[count].unit) for count in counts)
        rows.append((found.titles[test], here, *cells, of_test[counts[-1]].rate.limited_by))
    header = ("test", "a node, measured", *(f"{count:,} nodes" for count in counts), "then limited by")
    missing = ", ".join(found.titles[test] for test in found.left_out)
    left_out = [
        f"left out: {missing}, of which the run has no figure of all ranks of a node: octant study run hpcc-scaling"
    ] * bool(missing)
    notes = (*(f"assumed: {text}" for text in found.assumptions), *left_out)
    return Answers(f"Many nodes like this one ({found.machine}, run {found.run})", header, tuple(rows), notes)


def system_answers(found: System) -> Answers:
    """A described machine."""
    nodes = found.answers[0].nodes if found.answers else 0
    rows = tuple(_system_row(one) for one in found.answers)
    header = ("test", "model", "of each node", "limited by", "published, of each", "model over it")
    notes = [f"assumed: {text}" for text in found.assumptions]
    notes += [f"{one.title}: {one.note}" for one in found.answers if one.note]
    notes += [f"left out: {text}" for text in found.left_out]
    if any(one.published and one.published.calibrated for one in found.answers):
        notes.append(f"{CALIBRATED} the model was calibrated on this value: agreement there is no success of it")
    return Answers(f"{found.network} with {nodes:,} nodes", header, rows, tuple(notes))


def _system_row(one: OnSystem) -> tuple[str, ...]:
    known, error, of_each = "", "", ""
    if one.parts > 1 and not math.isinf(one.per_s.middle):
        of_each = si_text(one.per_s.middle / one.parts, one.unit)
    if one.published:
        sign = f" {CALIBRATED}" * bool(one.published.calibrated)
        known = f"{si_text(one.published.per_part, one.unit)} at {one.published.at}{sign}"
        error = "" if one.error is None else f"{100 * one.error:+.1f} %"
    return one.title, range_text(one.per_s, one.unit), of_each, one.limited_by, known, error
