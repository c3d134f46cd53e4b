"""Comparison of two runs for the terminal and for programs."""

import json
import sys
import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import TextIO

from rich.text import Text

from octant import units
from octant.analysis.compare import Comparison, Comparisons, Word
from octant.report import claims
from octant.report.comparison import statements
from octant.report.export.tidy import number
from octant.report.plain import clean
from octant.report.screen.first_screen import absent_workloads
from octant.report.tables import text
from octant.stats.verdicts import percent

STYLES: dict[Word, str] = {
    "slower": "red", "differs": "yellow", "undecided": "yellow", "faster": "green", "not comparable": "yellow",
}  # fmt: skip


def show(found: Comparisons, every: bool = False, file: TextIO | None = None) -> None:
    """Print the comparison, slower figures first.

    Args:
        every: also each figure that only one run has.
    """
    text.put(lambda width: lines(found, width, every), file or sys.stdout)


def lines(found: Comparisons, width: int = 100, every: bool = False) -> list[Text]:
    """Return the comparison as styled lines of at most `width` columns, like its page."""
    before, after = found.before.run, found.after.run
    reliability, first = statements.reliability(found), statements.program_sentences(found)
    page = [line for sentence in first for line in _wrap(sentence, width, "bold")]
    for side, run in (("A ", before), ("B ", after)):
        page += [Text.assemble((side, "bold"), f"{run.id}  {clean(run.title)}  ", (clean(run.machine.name), "dim"))]
    page += [] if first else _wrap(statements.answer(found), width, "bold")
    page += _wrap(" · ".join(f"{number} {words}" for number, words in statements.counts(found)), width)
    if found.compared and before.id != after.id:
        page += _wrap(f"Reliability: {reliability.word}. {reliability.text}", width)
    page += _figures(found, width, every)
    page += [] if every else _only_lines(found, width)
    for step in statements.steps(found):
        page += [Text(), *_wrap(f"{step.title}: {step.body}", width, "dim")]
        page += [Text(f"  {line}") for line in step.lines]
    differences = [f"{what}: {in_a} in A, {in_b} in B" for what, in_a, in_b in found.differences]
    page += text.titled_list(text.ABSENT, absent_workloads(found.before, found.after), width)
    page += text.titled_list("Other differences", differences, width)
    return page


def _figures(found: Comparisons, width: int, every: bool) -> list[Text]:
    """Return the figures by verdict, then the meaning of their numbers."""
    rows = [*statements.ordered(found), *(one for one in found.figures if one.speed is None)]
    speeds = [one.verdict.speed if one.verdict else None for one in rows]
    claimed = claims.claims(speeds)
    marks = {sort: claims.mark(number) for number, sort in enumerate(claimed)}
    page = []
    for word, heading in statements.ORDER.items():
        figures = [one for one in rows if one.word == word and (every or not one.is_alone)]
        if figures:
            page += [Text(), Text(f"{heading} ({len(figures)})", style=f"bold {STYLES.get(word, '')}".strip())]
            reasons = {statements.reason_text(figure) for figure in figures}
            shared = reasons.pop() if len(reasons) == 1 else ""
            page += _wrap(f"  {shared}", width) if shared else []
            page += [line for figure in figures for line in _figure_lines(figure, found, marks, width, shared)]
    if all(one.speed is None for one in rows):
        return page
    equal = f"; differences below {percent(found.margin)} count as equal" * bool(claimed)
    power = "±  smallest detectable difference: a real difference of this size is detected in 80 % of cases"
    legend = (
        f"×  speed of B over A, above 1 is faster{equal}",
        *(f"{marks[sort]}  {words}" for sort, words in claimed.items()),
        f"→  {statements.values_text(found)}",
        *[power] * bool(claimed),
    )
    return [*page, Text(), *(line for words in legend for line in _wrap(words, width, "dim"))]


def _only_lines(found: Comparisons, width: int) -> list[Text]:
    """Return `27 figures only in A: node/stream 12, …; --all lists them`, for each side with such figures."""
    page = []
    for side, other in (("A", "after"), ("B", "before")):
        names = Counter(one.figure.workload.name for one in found.figures if one.is_alone and not getattr(one, other))
        if names:
            listed = ", ".join(f"{clean(name)} {number}" for name, number in names.most_common())
            what = units.counted(names.total(), "figure")
            page += [Text(), *_wrap(f"{what} only in {side}: {listed}; --all lists them", width)]
    return page


def _figure_lines(
    one: Comparison, found: Comparisons, marks: Mapping[claims.Sort, str], width: int, shared: str
) -> list[Text]:
    """Return the lines of a figure.

    Args:
        shared: reason for the missing verdict that is printed once for all figures.
    """
    name, why, verdict = statements.name(one), statements.why(one), one.verdict
    if one.speed is None:
        return _wrap(f"  {name}", width) + _wrap(f"    {why}", width)
    judged = [figure for figure in found.figures if figure.speed is not None]
    wide = [max(len(part(figure)) for figure in judged) for part in (statements.name, _values, _ratio)]
    room = max(16, min(width - wide[1] - wide[2] - 8, wide[0]))
    first, *more = textwrap.wrap(name, room) or [""]
    line = Text(f"  {first:<{room}}  {_values(one):>{wide[1]}}  ").append(_ratio(one), style="bold")
    speed = verdict.speed if verdict else None
    mark = marks.get(claims.sort_of(speed), "") if speed and not speed.is_too_wide else ""
    line.append(f" {mark}" if mark else "", style="dim")
    words = [statements.reason_text(one)] if one.word == "insufficient data" and not shared else []
    if verdict and one.word not in ("differs", "no difference detected", "insufficient data"):  # the headings say it
        words = [verdict.text]
    words += [f"smallest detectable difference {detectable}"] if (detectable := statements.detectable_text(one)) else []
    below = [*(Text(f"    {part}") for part in more), *(_wrap(f"    {'; '.join(words)}", width) if words else [])]
    return [line, *below, *(_wrap(f"    {why}", width, "yellow") if why else [])]


def _values(one: Comparison) -> str:
    """Return both values in one scale: `93.80 → 89.11 Gflop/s`; their ratio is the one that is printed."""
    before, after = (value or 0.0 for value in one.values)
    base = one.figure.metric.unit
    scale, prefix = (1.0, "") if base == "1" else units.si_scale(before, 4, base)
    scale, unit = (0.01, "%") if one.figure.metric.is_percentage else (scale, "" if base == "1" else prefix + base)
    numbers = [units.fixed_text(value / scale, units.decimals(value / scale, 4)) for value in (before, after)]
    return f"{numbers[0]} → {numbers[1]} {unit:<7}"


def _ratio(one: Comparison) -> str:
    """Return the ratio with the ends of its interval, if it is measurable."""
    if one.speed is None:
        return ""
    speed = one.verdict.speed if one.verdict else None
    ends = [] if speed is None or speed.is_too_wide else [units.fixed_text(end, 3) for end in (speed.low, speed.high)]
    return f"×{units.fixed_text(one.speed, 3)}  {' … '.join(ends)}".rstrip()


def _wrap(words: str, width: int, style: str = "") -> list[Text]:
    hang = " " * (len(words) - len(words.lstrip()) and 4)
    lines = textwrap.wrap(words, width, subsequent_indent=hang, break_on_hyphens=False)
    return [Text(line, style=style) for line in lines]


def as_json(found: Comparisons) -> str:
    """Return the comparison as JSON."""
    return json.dumps(document(found), indent=2, ensure_ascii=False, allow_nan=False)


def document(found: Comparisons) -> dict[str, object]:
    """Return the comparison as an object of JSON types."""
    return {
        "a": found.before.run.id,
        "b": found.after.run.id,
        **({"answer": answer} if (answer := statements.program_sentences(found)) else {}),
        "threshold": found.margin,
        "rounds": found.rounds,
        "regressions": len(found.regressions),
        "undecided": len(found.undecided),
        "figures": [_figure(figure) for figure in statements.sorted_by_size(found.figures)],
        "absent": absent_workloads(found.before, found.after),
        "differences": [{"what": what, "a": before, "b": after} for what, before, after in found.differences],
    }


def _figure(one: Comparison) -> dict[str, object]:
    """Return a figure with the data behind its verdict; `None` values without one."""
    row, verdict = one.figure, one.verdict
    before, after = (None if value is None else number(value) for value in one.values)
    speed = verdict.speed if verdict else None
    ends = speed if speed and not speed.is_too_wide else None
    return {
        "workload": row.workload.name,
        "title": row.title,
        "mode": row.mode,
        "ranks": row.points[0].ranks,
        "knobs": dict(row.knobs),
        "metric": row.metric.name,
        "unit": row.metric.unit,
        "a": before,
        "b": after,
        "values_are": one.statistic,
        "speed": one.speed,
        "low": ends.low if ends else None,
        "high": ends.high if ends else None,
        "interval": speed.stated.text if speed else "",
        "verdict": verdict.text if verdict else "",
        "p": verdict.p if verdict and speed else None,
        "hidden": verdict.max_undetected_effect if verdict and speed else None,
        "findable": verdict.min_detectable_effect if verdict and speed else None,
        "number": verdict.number if verdict else 0,
        "unit_of_number": verdict.unit if verdict else "",
        "needed": verdict.needed if verdict else None,
        "word": one.word,
        "why": list(one.why),
        "lost": one.lost,
    }
