"""Two runs side by side, for the terminal and for programs."""

from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, TextIO

from rich.text import Text

from octant import units
from octant.report.plain import clean
from octant.report.run import text
from octant.report.run.tidy import number

if TYPE_CHECKING:
    from octant.analysis.compare import Comparison, Comparisons
    from octant.stats.verdicts import Verdict

HEADINGS = {
    "slower": ("Slower in B", "red"),
    "faster": ("Faster in B", "green"),
    "differs": ("Differs between these two occasions", "yellow"),
    "same": ("The same", ""),
    "no difference seen": ("No difference seen", ""),
    "cannot tell": ("Cannot tell", "yellow"),
    "no verdict": ("No verdict", ""),
    "not comparable": ("Not comparable", "yellow"),
}

SAME = "A and B are the same run: this shows how wide the intervals are, and nothing else."
APART = (
    "A and B were not measured in turn, and what differs between two occasions is in no interval over launches. For a "
    "verdict, measure both again: octant compare --rounds 6 {} {}"
)


def show(found: Comparisons, every: bool = False, file: TextIO | None = None) -> None:
    """Prints the comparison, the worst news first.

    Args:
        every: also each figure that only one run has.
    """
    text.put(lambda width: lines(found, width, every), file or sys.stdout)


def lines(found: Comparisons, width: int = 100, every: bool = False) -> list[Text]:
    """The comparison as styled lines of at most `width` columns."""
    before, after = found.before.run, found.after.run
    page = [
        _run_line("A", before.id, before.title, before.machine.name),
        _run_line("B", after.id, after.title, after.machine.name),
        *_wrap(f"× is the speed of B over A. Less than {100 * found.margin:g} % is of no interest.", width, "dim"),
    ]
    if before.id == after.id:
        page += _wrap(SAME, width, "yellow")
    for word, (heading, style) in HEADINGS.items():
        figures = [one for one in found.figures if one.word == word and (every or not one.is_alone)]
        if figures:
            page += [Text(), Text(f"{heading} ({len(figures)})", style=f"bold {style}".strip())]
            page += [line for figure in figures for line in _figure_lines(figure, found, width)]
    page += [] if every else _only_lines(found, width)
    if found.differences:
        page += [Text(), Text("What else differs", style="bold")]
        for what, in_a, in_b in found.differences:
            page += _wrap(f"  {what}: {in_a} in A, {in_b} in B", width, "")
    if found.compared and not found.pair and before.id != after.id:
        page += [Text(), *_wrap(APART.format(before.id, after.id), width, "dim")]
    return page


def _only_lines(found: Comparisons, width: int) -> list[Text]:
    """`27 figures only in A: node/stream 12, …; --all lists them`, for each side that has some."""
    page = []
    for side, alone in (
        ("A", [one for one in found.figures if one.is_alone and one.after is None]),
        ("B", [one for one in found.figures if one.is_alone and one.before is None]),
    ):
        if alone:
            names = Counter(one.figure.workload.name for one in alone)
            listed = ", ".join(f"{clean(name)} {number}" for name, number in names.most_common())
            what = units.counted(len(alone), "figure")
            page += [Text(), *_wrap(f"{what} only in {side}: {listed}; --all lists them", width, "")]
    return page


def _run_line(name: str, run: str, title: str, machine: str) -> Text:
    return Text.assemble((f"{name} ", "bold"), f"{run}  {clean(title)}  ", (clean(machine), "dim"))


def _figure_lines(one: Comparison, found: Comparisons, width: int) -> list[Text]:
    name = _name(one)
    if one.verdict is None:
        return _wrap(f"  {name}", width, "") + _wrap(f"    {_why(one)}", width, "")
    compared = [figure for figure in found.figures if figure.verdict]
    wide = [max(len(part(figure)) for figure in compared) for part in (_name, _values, _ratio)]
    room = max(16, min(width - wide[1] - wide[2] - 6, wide[0]))
    first, *more = textwrap.wrap(name, room) or [""]
    line = Text(f"  {first:<{room}}  {_values(one):>{wide[1]}}  ").append(_ratio(one), style="bold")
    below = [line, *(Text(f"    {words}") for words in more)]
    verdict = "; ".join([one.verdict.text, *([one.verdict.speed.text] if one.verdict.speed else [])])
    below += _wrap(f"    {verdict}", width, "")
    return below + (_wrap(f"    {_why(one)}", width, "yellow") if one.why else [])


def _name(one: Comparison) -> str:
    return clean(f"{one.figure.workload.name}: {one.figure.name}")


def _why(one: Comparison) -> str:
    return clean("; ".join(one.why))


def _values(one: Comparison) -> str:
    """Both medians in one scale: `93.80 → 89.11 Gflop/s`."""
    before, after = (row.value.middle if row and row.value else 0.0 for row in (one.before, one.after))
    base = one.figure.metric.unit
    scale, prefix = (1.0, "") if base == "1" else units.si_scale(before, 4)
    numbers = [f"{value / scale:.{units.decimals(value / scale, 4)}f}" for value in (before, after)]
    return f"{numbers[0]} → {numbers[1]} {'' if base == '1' else prefix + base:<7}"


def _ratio(one: Comparison) -> str:
    if one.verdict is None or one.speed is None:
        return ""
    ends = one.verdict.speed
    return f"×{one.speed:.3f}" + (f"  {ends.low:.3f} … {ends.high:.3f}" if ends else "")


def _wrap(words: str, width: int, style: str) -> list[Text]:
    hang = " " * (len(words) - len(words.lstrip()) and 4)
    return [Text(line, style=style) for line in textwrap.wrap(words, width, subsequent_indent=hang)]


def as_json(found: Comparisons) -> str:
    """The comparison, for programs."""
    document = {
        "a": found.before.run.id,
        "b": found.after.run.id,
        "threshold": found.margin,
        "rounds": found.rounds,
        "regressions": len(found.regressions),
        "figures": [_figure(figure) for figure in found.figures],
        "differences": [{"what": what, "a": before, "b": after} for what, before, after in found.differences],
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _figure(one: Comparison) -> dict[str, object]:
    row, verdict = one.figure, one.verdict
    medians = [number(side.value.middle) if side and side.value else None for side in (one.before, one.after)]
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
        "speed": one.speed,
        **_interval(verdict),
        "word": one.word,
        "why": list(one.why),
        "lost": one.lost,
    }


def _interval(verdict: Verdict | None) -> dict[str, object]:
    """What the verdict rests on; without one, nothing."""
    speed = verdict.speed if verdict else None
    return {
        "low": speed.low if speed else None,
        "high": speed.high if speed else None,
        "interval": speed.text if speed else "",
        "verdict": verdict.text if verdict else "",
        "p": verdict.p if verdict and speed else None,
        "hidden": verdict.hidden if verdict and speed else None,
        "findable": verdict.findable if verdict and speed else None,
        "number": verdict.number if verdict else 0,
        "unit_of_number": verdict.unit if verdict else "",
        "needed": verdict.needed if verdict else None,
    }
