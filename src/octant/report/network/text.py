"""The network model's pictures and tables for the terminal: curves, loads by class and size, simulations, steps."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TypeVar

from rich.text import Text

from octant.report.tables.layout import fill, text_table
from octant.report.terminal import render, screen_columns
from octant.units import percent_text, si_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.network.files import NetworkFile
    from octant.network.loads import LoadMap
    from octant.network.overview import Overview
    from octant.network.scale import ScalingCurve
    from octant.report.network.larger import Answers
    from octant.simulate.simgrid import SimulatorComparison
    from octant.simulate.simulated_workload import OnModel
    from octant.simulate.timestep import StepTime, TimeStep

Item = TypeVar("Item")
_ROWS = 12
_COLUMNS = 72
_SHADES = " ▁▂▃▄▅▆▇█"
_FULL = "▓"
_SATURATED = 0.9995


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


def opinion_text(found: SimulatorComparison) -> str:
    """Return the times of Octant and SimGrid with their CPU times."""
    rows = [
        (f"Octant ({found.solver})", si_text(found.model_s, "s", 4), si_text(found.model_cpu_s, "s")),
        (found.simgrid, si_text(found.simgrid_s, "s", 4), si_text(found.simgrid_cpu_s, "s")),
    ]
    return fill("network/times", "opinion", o=found, table=text_table(("", ">time", ">CPU time"), rows))


def on_model_text(found: OnModel) -> str:
    """Return a workload's figures in simulated time, and the bounds of its routes."""
    rows = [
        (
            " ".join(f"{knob}={value}" for knob, value in one.knobs.items()), one.metric,
            *(si_text(value, one.unit, 4) if value is not None else "" for value in (one.value, one.alone)),
            "passed" if one.passed else "WRONG",
        )
        for one in found.figures
    ]  # fmt: skip
    table = text_table(("", "metric", ">simulated", ">route without contention", "check"), rows)
    return fill("network/times", "on_model", m=found, table=table)


def steps_text(network: NetworkFile, step: TimeStep, times: Sequence[StepTime]) -> str:
    """Return time steps of an application, a row for each number of ranks."""
    rows = [
        (
            one.ranks, one.nodes, *(si_text(s, "s") for s in (one.compute_s, one.halo_s, one.reduction_s)),
            f"{si_text(one.overlapped_s, 's')} … {si_text(one.together_s, 's')}",
            " … ".join(percent_text(part) for part in one.efficiency), one.limited_by,
        )
        for one in times
    ]  # fmt: skip
    columns = (
        ">ranks", ">nodes", ">computing", ">halos", ">reductions", ">time per step", ">share of computing", "halos load"
    )  # fmt: skip
    algorithms = []
    for number, reduction in enumerate(step.reductions):
        ranks: dict[str, list[int]] = {}
        for one in times:
            ranks.setdefault(one.algorithms[number], []).append(one.ranks)
        algorithms.append((reduction, ranks))
    table = text_table(columns, rows)
    return fill("network/times", "steps", network=network, s=step, table=table, algorithms=algorithms)


def answers_text(answers: Answers) -> str:
    """Return a table of predictions, and below it their assumptions."""
    columns = [column if "limited by" in column or column == "test" else f">{column}" for column in answers.header]
    width = screen_columns(100) - 2
    notes = [line for note in answers.notes for line in textwrap.wrap(note, width, subsequent_indent="  ")]
    return "\n".join([text_table(columns, answers.rows, answers.title), *(f"  {line}" for line in notes)])


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
