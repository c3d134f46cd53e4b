"""The network model's pictures for the terminal: the curve with its published points, and loads by class and size."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TypeVar

from rich.table import Table
from rich.text import Text

from octant.report.terminal import render, screen_columns
from octant.units import bytes_text, percent_text, si_text

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

_STEP_COLUMNS = (
    ">ranks",
    ">nodes",
    ">computing",
    ">halos",
    ">reductions",
    ">time of a step",
    ">computing",
    "halos fill",
)
Item = TypeVar("Item")
_SAID = ("limited by", "then limited by")  # columns of words
_ROWS = 12
_COLUMNS = 72
_SHADES = " ▁▂▃▄▅▆▇█"
_FULL = "▓"
_SATURATED = 0.9995


def overview_text(shown: Overview) -> str:
    """The curve, and how busy the busiest link of each class is at each size."""
    parts = [f"{shown.network.name}: {shown.traffic}, {shown.curve.points[0].unit}", chart(shown.curve)]
    if shown.maps:
        parts += ["", heat(shown.maps, shown.curve.size_word)]
    return "\n".join(parts)


def chart(curve: ScalingCurve) -> str:
    """Rate against size: `•` the model, `o` published, `@` both in one place."""
    points = _some(curve.points)
    top = max([p.rate_per_s for p in points] + [p.published.value for p in points if p.published])
    base = points[0].unit.split(" per ")[0]
    level = {p.size: (_row(p.rate_per_s, top), _row(p.published.value, top) if p.published else -1) for p in points}
    lines = []
    for row in range(_ROWS, -1, -1):
        label = si_text(top * row / _ROWS, base) if row % 4 == 0 else ""
        marks = ("@" if m == row == o else "•" if m == row else "o" if o == row else " " for m, o in level.values())
        dots = "".join(mark.ljust(_width(points)) for mark in marks)
        lines.append(f"{label:>15} │{dots}".rstrip())
    return "\n".join(
        [*lines, f"{'':>15} └{'─' * len(points) * _width(points)}", _scale([p.size for p in points], curve.size_word)]
    )


def heat(maps: Mapping[int, LoadMap], size_word: str) -> str:
    """One row a class, one column a size; the higher, the busier, and `▓` is saturated."""
    sizes = _some(list(maps))
    names = dict.fromkeys(one.link_class for found in maps.values() for one in found.classes)
    text = Text()
    for name in names:
        text.append(f"{name:>15} │")
        for size in sizes:
            busy = next((one.busiest for one in maps[size].classes if one.link_class == name), 0.0)
            full = busy >= _SATURATED
            mark = _FULL if full else _SHADES[min(8, round(busy * 8))]
            text.append(mark * _width(sizes), style="red" if full else "blue")
        text.append("\n")
    text.append(
        _scale(sizes, size_word)
        + f"\n{'':>17}busiest link of each class: {_SHADES[1]} little, {_SHADES[8]} much, {_FULL} saturated"
    )
    return render(text)


def opinion_text(found: SimulatorComparison) -> str:
    """Two answers side by side, with what they cost."""
    table = Table(box=None, pad_edge=False)
    for name, side in (("", "left"), ("time", "right"), ("CPU time", "right")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    table.add_row(f"Octant ({found.solver})", si_text(found.model_s, "s", 4), si_text(found.model_cpu_s, "s"))
    table.add_row(found.simgrid, si_text(found.simgrid_s, "s", 4), si_text(found.simgrid_cpu_s, "s"))
    lines = [
        f"{found.network}: {found.traffic} on {found.hosts} hosts, "
        f"{found.flows:,} flows of {found.bytes_each:,} bytes at once",
        render(table),
        f"difference {100 * found.difference:+.2f} %; {found.times_less_cpu:,.0f} times less CPU time",
    ]
    return "\n".join([*lines, *([f"note: {found.note}"] if found.note else [])])


def on_model_text(found: OnModel) -> str:
    """A workload's figures in simulated time, beside what its route alone allows."""
    table = Table(box=None, pad_edge=False)
    for name, side in (
        ("", "left"),
        ("metric", "left"),
        ("simulated", "right"),
        ("route alone", "right"),
        ("check", "left"),
    ):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for one in found.figures:
        table.add_row(
            " ".join(f"{knob}={value}" for knob, value in one.knobs.items()),
            one.metric,
            si_text(one.value, one.unit, 4) if one.value is not None else "",
            si_text(one.alone, one.unit, 4) if one.alone is not None else "",
            "passed" if one.passed else "WRONG",
        )
    head = f"{found.workload} on {found.network}, {found.ranks} ranks, {found.simgrid}"
    return "\n".join([head, render(table), *(f"note: {note}" for note in found.notes)])


def steps_text(network: NetworkFile, step: TimeStep, times: Sequence[StepTime]) -> str:
    """Time steps of an application, one number of ranks a line."""
    table = Table(box=None, pad_edge=False)
    for name in _STEP_COLUMNS:
        table.add_column(name.lstrip(">"), justify="right" if name.startswith(">") else "left")
    for one in times:
        parts = (si_text(s, "s") for s in (one.compute_s, one.halo_s, one.reduction_s))
        whole = f"{si_text(one.overlapped_s, 's')} … {si_text(one.together_s, 's')}"
        share = " … ".join(percent_text(part) for part in one.efficiency)
        table.add_row(str(one.ranks), str(one.nodes), *parts, whole, share, one.limited_by)
    heading = "a step's time: halos hidden behind computing as far as they fit … nothing overlaps"
    if step.range_s:
        ends = " … ".join(si_text(one, "s") for one in step.range_s)
        heading += f"\ncomputing as measured: {ends} ({step.range_is})"
    caveats = [f"doubt: {caveat}" for caveat in step.caveats]
    return "\n".join(
        [
            f"{network.name}: a time step, computing: {step.source}",
            render(table),
            heading,
            *_reductions_texts(step, times),
            *caveats,
        ]
    )


def _reductions_texts(step: TimeStep, times: Sequence[StepTime]) -> list[str]:
    """By which algorithm each reduction is predicted, on which numbers of ranks."""
    lines = []
    for number, reduction in enumerate(step.reductions):
        ranks: dict[str, list[str]] = {}
        for one in times:
            ranks.setdefault(one.algorithms[number], []).append(str(one.ranks))
        said = ", ".join(f"{name} ({', '.join(counts)} ranks)" for name, counts in ranks.items())
        lines.append(f"allreduce of {bytes_text(reduction.bytes_each)} by {said}")
    return lines


def _some(items: Sequence[Item]) -> list[Item]:
    return list(items[:: -(-len(items) // _COLUMNS)])


def _width(items: Sequence[object]) -> int:
    """Columns of one item: few items stand apart."""
    return 5 if len(items) <= 12 else 1


def _row(value: float, top: float) -> int:
    return round(_ROWS * value / top) if top > 0 else 0


def _scale(sizes: list[int], word: str) -> str:
    """Sizes under their columns, as many as fit."""
    width = _width(sizes)
    line = [" "] * (len(sizes) * width + 8)
    free = 0
    for i, size in enumerate(sizes):
        text, column = str(size), i * width
        if column >= free and (i == 0 or size % 8 == 0 or len(sizes) <= 12):
            line[column : column + len(text)] = text
            free = column + len(text) + 1
    return f"{'':>17}{''.join(line).rstrip()} {word}"


def answers_text(answers: Answers) -> str:
    """A table of predictions, and below it what they rest on."""
    table = Table(title=answers.title, title_justify="left", box=None, pad_edge=False)
    for column in answers.header:
        table.add_column(column, justify="left" if column in ("test", *_SAID) else "right")
    for cells in answers.rows:
        table.add_row(*cells)
    wide = screen_columns(100)
    notes = (line for note in answers.notes for line in textwrap.wrap(note, wide - 2, subsequent_indent="  "))
    return "\n".join([render(table), *(f"  {line}" for line in notes)])
