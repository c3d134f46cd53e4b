"""Two runs side by side, for the terminal and for programs."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

from rich.text import Text

from octant import units
from octant.report.run import text

if TYPE_CHECKING:
    from octant.analysis.compare import Comparison, Comparisons

HEADINGS = {
    "slower": ("Slower in B", "red"),
    "faster": ("Faster in B", "green"),
    "no difference seen": ("No difference seen", ""),
    "not comparable": ("Not comparable", "yellow"),
}

SAME = "A and B are the same run: this shows how wide the intervals are, and nothing else."
ONE_LAUNCH = (
    "One launch on each side: how much launches differ among themselves is not in the intervals; "
    "`octant run … --repeats 6` on both sides would tell."
)


def show(found: Comparisons, file: TextIO | None = None) -> None:
    """Prints the comparison, the worst news first."""
    text.put(lambda width: lines(found, width), file or sys.stdout)


def lines(found: Comparisons, width: int = 100) -> list[Text]:
    """The comparison as styled lines of at most `width` columns."""
    page = [
        _run_line("A", found.before.run.id, found.before.run.title, found.before.run.machine.name),
        _run_line("B", found.after.run.id, found.after.run.title, found.after.run.machine.name),
        *_wrap(
            "× is the speed of B over A, with its 95 % interval. Less than "
            f"{100 * found.threshold:g} % counts as no difference.",
            width,
            "dim",
        ),
    ]
    if found.before.run.id == found.after.run.id:
        page += _wrap(SAME, width, "yellow")
    for word, (heading, style) in HEADINGS.items():
        figures = [figure for figure in found.figures if figure.word == word]
        if figures:
            page += [Text(), Text(f"{heading} ({len(figures)})", style=f"bold {style}".strip())]
            page += [line for figure in figures for line in _figure_lines(figure, found, width)]
    if found.differences:
        page += [Text(), Text("What else differs", style="bold")]
        for what, before, after in found.differences:
            page += _wrap(f"  {what}: {before} in A, {after} in B", width, "")
    if all(len(one.figure.points) == 1 for one in found.figures):
        page += [Text(), *_wrap(ONE_LAUNCH, width, "dim")]
    return page


def _run_line(name: str, run: str, title: str, machine: str) -> Text:
    return Text.assemble((f"{name} ", "bold"), f"{run}  {text.clean(title)}  ", (text.clean(machine), "dim"))


def _figure_lines(one: Comparison, found: Comparisons, width: int) -> list[Text]:
    name = _name(one)
    if one.speed is None:
        return _wrap(f"  {name}", width, "") + _wrap(f"    {_why(one)}", width, "")
    compared = [figure for figure in found.figures if figure.speed]
    wide = [max(len(part(figure)) for figure in compared) for part in (_name, _values, _ratio)]
    room = max(16, min(width - wide[1] - wide[2] - 6, wide[0]))
    first, *more = textwrap.wrap(name, room) or [""]
    line = Text(f"  {first:<{room}}  {_values(one):>{wide[1]}}  ").append(_ratio(one), style="bold")
    below = [line, *(Text(f"    {words}") for words in more)]
    return below + (_wrap(f"    {_why(one)}", width, "yellow") if one.why else [])


def _name(one: Comparison) -> str:
    return text.clean(f"{one.figure.workload.name}: {one.figure.name}")


def _why(one: Comparison) -> str:
    return text.clean("; ".join(one.why))


def _values(one: Comparison) -> str:
    """Both medians in one scale: `93.80 → 89.11 Gflop/s`."""
    before, after = (row.value.middle if row and row.value else 0.0 for row in (one.before, one.after))
    base = one.figure.metric.unit
    scale, prefix = (1.0, "") if base == "1" else units.si_scale(before, 4)
    numbers = [f"{value / scale:.{units.decimals(value / scale, 4)}f}" for value in (before, after)]
    return f"{numbers[0]} → {numbers[1]} {'' if base == '1' else prefix + base:<7}"


def _ratio(one: Comparison) -> str:
    speed = one.speed
    return f"×{speed.middle:.3f}  {speed.low:.3f} … {speed.high:.3f}" if speed else ""


def _wrap(words: str, width: int, style: str) -> list[Text]:
    hang = " " * (len(words) - len(words.lstrip()) and 4)
    return [Text(line, style=style) for line in textwrap.wrap(words, width, subsequent_indent=hang)]


def as_json(found: Comparisons) -> str:
    """The comparison, for programs."""
    document = {
        "a": found.before.run.id,
        "b": found.after.run.id,
        "threshold": found.threshold,
        "regressions": len(found.regressions),
        "figures": [_figure(figure) for figure in found.figures],
        "differences": [{"what": what, "a": before, "b": after} for what, before, after in found.differences],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _figure(one: Comparison) -> dict[str, object]:
    row, speed = one.figure, one.speed
    medians = [side.value.middle if side and side.value else None for side in (one.before, one.after)]
    return {
        "workload": row.workload.name,
        "title": row.title,
        "mode": row.mode,
        "ranks": row.points[0].ranks,
        "knobs": dict(row.knobs),
        "metric": row.metric.name,
        "unit": row.metric.unit,
        "a": medians[0],
        "b": medians[1],
        "speed": speed.middle if speed else None,
        "low": speed.low if speed else None,
        "high": speed.high if speed else None,
        "word": one.word,
        "why": list(one.why),
        "lost": one.lost,
    }
