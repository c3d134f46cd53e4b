"""What the network model answers, as text and as JSON: curves, loads, times, failures and predictions."""

from __future__ import annotations

import dataclasses
import json
import math
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct, to_builtins
from rich.text import Text

from octant.network.noise import operation_delay
from octant.report.charts.curves.curve import segment_facts
from octant.report.tables.layout import fill, table_rows, text_table
from octant.report.tables.word_filter import select_entries
from octant.report.terminal import render, screen_columns
from octant.study.ratios import digits
from octant.units import si_scale, si_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from octant.benchmarks.described import System
    from octant.network.collectives import Collective
    from octant.network.failures import Sweep
    from octant.network.files import NetworkFile
    from octant.network.inventory import NetworkInventory
    from octant.network.loads import LoadMap
    from octant.network.noise import Interruption
    from octant.network.overview import Overview
    from octant.network.predictions import Prediction
    from octant.network.scale import ScalingCurve
    from octant.network.whatif import Explanation, Sensitivity
    from octant.simulate.projection import ProjectedSystem
    from octant.simulate.run_calibration import StoreCalibration
    from octant.simulate.timestep import StepTime, TimeStep
    from octant.stats import Interval

Item = TypeVar("Item")
_ROWS = 12
_COLUMNS = 72
_SHADES = " ▁▂▃▄▅▆▇█"
_FULL = "▓"
_SATURATED = 0.9995
CALIBRATED = "*"
"""Mark of a published point with which the model was calibrated."""
_MAX_CAUSES = 8


@dataclasses.dataclass(frozen=True)
class NotedTable:
    """Predictions with their assumptions and exclusions, or published values with their source."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    id: str = ""  # of the section of a page

    @property
    def caption(self) -> str:
        """Return the notes as one text."""
        return f"{'; '.join(self.notes)}."


def plain(value: object) -> Any:
    """Return dataclasses, arrays and infinities as values of JSON; fields without `repr` are omitted."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Struct):
        return plain(to_builtins(value))
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def select_networks(networks: Iterable[NetworkFile], words: Sequence[str]) -> list[NetworkFile]:
    """Return the networks whose name, title, topology or routing contain all words.

    Raises:
        Refusal: there is none; the message names the nearest words.
    """

    def searched(one: NetworkFile) -> str:
        return " ".join((one.name, one.title, one.topology.kind, one.routing.name))

    return select_entries(networks, words, searched, "network", "octant model list")


def as_json(value: object) -> str:
    """Return any answer of the model as JSON; rates are in base units."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def curve_json(curve: ScalingCurve) -> str:
    """Return a curve as JSON; each point has its error against the published value."""
    points = [{**plain(point), curve.size_word: point.size, "error": plain(point.error)} for point in curve.points]
    return as_json({**plain(curve), "points": points})


def curve_text(curve: ScalingCurve) -> str:
    """Return a row for each size: the rate with its range, what limits it, the next solver and the published value."""
    return fill("network/answers", "curve", c=curve, calibrated=CALIBRATED)


def answer_text(answer: Prediction) -> str:
    """Return the rate, and the limit of each class of links; loads are per unit of a sender or of the largest flow."""
    return fill("network/answers", "prediction", a=answer)


def explanation_text(explanation: Explanation, gains: Sequence[Sensitivity]) -> str:
    """Return an answer with the sources of the load on its tightest link, and the gain from faster links."""
    return fill("network/answers", "explanation", e=explanation, gains=gains, most=_MAX_CAUSES)


def sweep_text(sweep: Sweep, unit: str) -> str:
    """Return the distribution of the rate over single failures."""
    return fill("network/failures", "sweep", s=sweep, unit=f"{unit}/s")


def store_calibration_text(found: StoreCalibration) -> str:
    """Return what a run measured, the resulting capacities and start-up times, and lines for a network file."""
    pairs = zip(found.evidence, found.fits, strict=True)
    parts = [(evidence, fit, segment_facts(evidence.segments)) for evidence, fit in pairs]
    return fill("network/calibration", "stored", s=found, parts=parts)


def inventory_text(found: NetworkInventory, path: Path | None = None) -> str:
    """Return nodes, switches and cables; for a fabric also the devices without traffic and the lines of the dump.

    Args:
        path: file of a network of the catalogue, to copy.
    """
    return fill("network/answers", "inventory", n=found, path=path)


def overview_text(shown: Overview) -> str:
    """Return the curve, and the load of the busiest link of each class at each size."""
    parts = [f"{shown.network.name}: {shown.traffic}, {shown.curve.points[0].unit}", chart(shown.curve)]
    if shown.maps:
        parts += ["", heat(shown.maps, shown.curve.size_word)]
    return "\n".join(parts)


def chart(curve: ScalingCurve) -> str:
    """Return rate against size: `•` the model, `o` published, `@` both in one place."""
    points = _thinned(curve.points)
    width = _width(points)
    top = max([p.rate_per_s for p in points] + [p.published.value for p in points if p.published])
    base = points[0].unit.split(" per ")[0]
    level = {p.size: (_row(p.rate_per_s, top), _row(p.published.value, top) if p.published else -1) for p in points}
    lines = []
    for row in range(_ROWS, -1, -1):
        label = si_text(top * row / _ROWS, base) if row % 4 == 0 else ""
        marks = ("@" if m == row == o else "•" if m == row else "o" if o == row else " " for m, o in level.values())
        lines.append(f"{label:>15} │{''.join(mark.ljust(width) for mark in marks)}".rstrip())
    return "\n".join([*lines, f"{'':>15} └{'─' * len(points) * width}", _scale([*level], curve.size_word)])


def heat(maps: Mapping[int, LoadMap], size_word: str) -> str:
    """Return a row for each class and a column for each size; a higher bar is busier, and `▓` is saturated."""
    sizes = _thinned(list(maps))
    text = Text()
    for name in dict.fromkeys(one.link_class for found in maps.values() for one in found.classes):
        text.append(f"{name:>15} │")
        for size in sizes:
            busy = next((one.busiest for one in maps[size].classes if one.link_class == name), 0.0)
            full = busy >= _SATURATED
            mark = _FULL if full else _SHADES[min(8, round(busy * 8))]
            text.append(mark * _width(sizes), style="red" if full else "blue")
        text.append("\n")
    legend = f"{'':>17}busiest link of each class: {_SHADES[1]} low, {_SHADES[8]} high, {_FULL} saturated"
    text.append(f"{_scale(sizes, size_word)}\n{legend}")
    return render(text)


def steps_text(network: NetworkFile, step: TimeStep, times: Sequence[StepTime]) -> str:
    """Return time steps of an application, a row for each number of ranks."""
    algorithms = []
    for number, reduction in enumerate(step.reductions):
        ranks: dict[str, list[int]] = {}
        for one in times:
            ranks.setdefault(one.algorithms[number], []).append(one.ranks)
        algorithms.append((reduction, ranks))
    return fill("network/times", "steps", network=network, s=step, times=times, algorithms=algorithms)


def interval_text(value: Interval, unit: str) -> str:
    """Return the ends of a range: `1.20 … 1.70 GB/s`, or a single value."""
    if math.isinf(value.middle):
        return "no limit"
    if value.low == value.high:
        return si_text(value.middle, unit)
    scale, prefix = si_scale(value.high, unit=unit)
    return f"{digits(value.low / scale)} … {digits(value.high / scale)} {prefix}{unit}"


def measured_answers(found: ProjectedSystem) -> NotedTable:
    """Return predictions for many nodes like that of a run."""
    counts = list(dict.fromkeys(one.nodes for one in found.answers))
    node = {one.test: one for one in found.node}
    rows = []
    for test in dict.fromkeys(one.test for one in found.answers):
        of_test = {one.nodes: one for one in found.answers if one.test == test}
        here = si_text(node[test].per_s, node[test].unit) if test in node else ""
        cells = (interval_text(of_test[count].rate.per_s, of_test[count].unit) for count in counts)
        rows.append((found.titles[test], here, *cells, of_test[counts[-1]].rate.limited_by))
    header = ("test", "one node, measured", *(f"{count:,} nodes" for count in counts), "limited by")
    missing = ", ".join(found.titles[test] for test in found.left_out)
    title = f"Estimate for many nodes like this one ({found.machine}, run {found.run})"
    return NotedTable(title, header, tuple(rows), _notes(assumptions=found.assumptions, missing=missing))


def _notes(**values: Any) -> tuple[str, ...]:
    return tuple(fill("network/page", "notes", **values).splitlines())


def system_answers(found: System) -> NotedTable:
    """Return predictions for a described machine."""
    nodes = found.answers[0].nodes if found.answers else 0
    rows = table_rows(
        "network/answers", "system_rows", answers=found.answers, interval=interval_text, calibrated=CALIBRATED
    )
    header = ("test", "model", "per node", "limited by", "published, per node", "error")
    remarks = [f"{one.title}: {one.note}" for one in found.answers if one.note]
    mark = CALIBRATED * any(one.published and one.published.calibrated for one in found.answers)
    notes = _notes(assumptions=found.assumptions, remarks=remarks, excluded=found.left_out, mark=mark)
    return NotedTable(f"{found.network} with {nodes:,} nodes", header, rows, notes)


def answers_text(answers: NotedTable) -> str:
    """Return a table of predictions, and below it their assumptions."""
    columns = [column if "limited by" in column or column == "test" else f">{column}" for column in answers.header]
    width = screen_columns(100) - 2
    notes = [line for note in answers.notes for line in textwrap.wrap(note, width, subsequent_indent="  ")]
    return "\n".join([text_table(columns, answers.rows, answers.title), *(f"  {line}" for line in notes)])


def collective_text(found: Collective, noise: Sequence[Interruption] = ()) -> str:
    """Return a row for each algorithm, or for each size; OS noise of the cores adds a second table."""
    every = [one for sized in found.timings for one in sized] if noise else []
    return fill(
        "network/times", "collective", c=found, noise=noise, noise_share=sum(kind.share for kind in noise),
        delays=[(one, operation_delay(one.time_s, found.ranks, noise)) for one in every],
    )  # fmt: skip


def collective_json(found: Collective, noise: Sequence[Interruption] = ()) -> str:
    """Return the same in base units; each time has its parts, and its delay by interruptions."""
    timings = [[{**plain(one), "limited_by": one.limited_by[0]} for one in sized] for sized in found.timings]
    for one in (one for sized in timings if noise for one in sized):
        one["late"] = plain(operation_delay(one["time_s"], found.ranks, noise))
    return as_json({**plain(found), "timings": timings})


def _thinned(items: Sequence[Item]) -> list[Item]:
    """Return evenly spaced items that fit the columns."""
    return list(items[:: -(-len(items) // _COLUMNS)])


def _width(items: Sequence[object]) -> int:
    return 5 if len(items) <= 12 else 1


def _row(value: float, top: float) -> int:
    return round(_ROWS * value / top) if top > 0 else 0


def _scale(sizes: list[int], word: str) -> str:
    """Return sizes under their columns, as many as fit."""
    width = _width(sizes)
    line = [" "] * (len(sizes) * width + 8)
    free = 0
    for i, size in enumerate(sizes):
        text, column = str(size), i * width
        if column >= free and (i == 0 or size % 8 == 0 or len(sizes) <= 12):
            line[column : column + len(text)] = text
            free = column + len(text) + 1
    return f"{'':>17}{''.join(line).rstrip()} {word}"
