"""The terminal table: one row per figure, with its interval, its share of the limit and what casts doubt on it."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.text import Text

from octant import units
from octant.report.charts.pictures import pictures
from octant.report.charts.terminal import bar, picture_lines
from octant.report.plain import in_ascii
from octant.report.run import results
from octant.stats import Grade

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary

BAR = 8
LEAST_TITLE = 24


def show(summary: Summary, file: TextIO | None = None) -> None:
    """Prints a run to `file` (default: standard output), as wide as it is."""
    put(lambda width: lines(summary, width), file or sys.stdout)


def show_pictures(summary: Summary, file: TextIO | None = None) -> None:
    """Prints the pictures of a run in characters."""
    drawn = pictures(summary)
    put(lambda width: [line for picture in drawn for line in picture_lines(picture, width)], file or sys.stdout)


def put(draw: Callable[[int], list[Text]], file: TextIO) -> None:
    """Prints the lines that `draw` gives for a width: coloured on a terminal only, in characters it can take."""
    encoding = file.encoding or "utf-8"
    plain = not encoding.lower().replace("-", "").startswith("utf")
    terminal = file.isatty()
    console = Console(file=file, highlight=False, soft_wrap=True, color_system="auto" if terminal else None)
    for line in draw(console.width if terminal else 100):
        shown = in_ascii(line.plain).encode(encoding, "backslashreplace").decode(encoding)
        console.print(Text(shown) if plain else line)


def lines(summary: Summary, width: int = 100) -> list[Text]:
    """The summary as styled lines of at most `width` columns."""
    found = [*_head(summary, width), *_table(summary, max(width, 60))]
    failed = dict.fromkeys(f"{f.workload} {_knobs(f.knobs)}: {f.reason}" for f in summary.run.failures)
    found += _list("Failed", failed, width, "red")
    found += _list("Not shown", [f"{name}: no such workload in this installation" for name in summary.unknown], width)
    statements = [
        f"{d.subject}: {'; '.join(f'{source} says {what}' for source, what in d.statements)}. Trusted: {d.trusted}"
        for d in summary.run.machine.disagreements
    ]
    return found + _list("Where sources disagree", statements, width)


@dataclass(frozen=True)
class _Cells:
    """One row, ready to be aligned."""

    title: str
    mode: str
    number: str
    unit: str
    interval: str
    share: float | None
    is_limit: bool
    limit: str  # what the limit is
    notes: tuple[str, ...]  # doubts, in words
    results: str  # values beside the headline
    wrong: bool


def value_texts(figure: Figure) -> tuple[str, str, str]:
    """Number, unit and interval of a figure in one SI scale: `("24.31", "GB/s", "24.28 … 24.35")`; else empty."""
    value, base = figure.value, figure.metric.unit
    if value is None:
        return "", "", ""
    digits = 4 if value.high - value.low < 0.02 * abs(value.middle) else 3
    scale, prefix = (1.0, "") if base == "1" else units.si_scale(value.middle, digits)
    places = units.decimals(value.middle / scale, digits)
    number, low, high = (f"{x / scale:.{places}f}" for x in (value.middle, value.low, value.high))
    return number, "" if base == "1" else prefix + base, f"{low} … {high}"


def _cells(figure: Figure) -> _Cells:
    number, unit, interval = value_texts(figure)
    notes = [one.text for one in figure.doubts if one.grade > Grade.NOTE]
    notes += [f"WRONG ANSWER: {text}" for text in results.failed_texts(figure)]
    notes += [f"no value: {figure.missing}"] if figure.missing and not figure.wrong else []
    values = [f"{one.name} {one.text}" for one in results.named_results(figure)]
    beside = "; ".join(filter(None, [*values, results.group_text(figure)]))
    source = figure.limit.source if figure.limit and not figure.is_limit else ""
    return _Cells(
        clean(figure.title), figure.mode, number, unit, interval, figure.of_limit, figure.is_limit, clean(source),
        tuple(notes), clean(beside), bool(figure.wrong),
    )  # fmt: skip


def _table(summary: Summary, width: int) -> list[Text]:
    groups = [
        (workload, [_cells(figure) for figure in figures if figure.show.table or figure.wrong])
        for workload, figures in summary.by_workload()
    ]
    groups = [(workload, rows) for workload, rows in groups if rows]
    every = [row for _, rows in groups for row in rows]
    if not every:
        return [Text("Nothing was measured.", style="yellow")]
    wide = {
        name: max(len(getattr(row, name)) for row in every) for name in ("title", "mode", "number", "unit", "interval")
    }
    # Two spaces before each of five columns, one before the unit, then "100 % ", the bar and a mark.
    fixed = 2 * 5 + 1 + 6 + BAR + 2 + sum(wide[name] for name in ("mode", "number", "unit", "interval"))
    stacked = width - fixed < min(wide["title"], LEAST_TITLE)  # then the title has a line of its own
    wide["title"] = 0 if stacked else min(wide["title"], width - fixed)
    wide["bar"] = BAR if width >= fixed else 0
    beside = not stacked and width - fixed - wide["title"] >= 30  # room to say what the limit is in the row itself
    marks: dict[str, str] = {}
    found = [_header(wide, beside, any(row.share is not None or row.is_limit for row in every))]
    for workload, rows in groups:
        metric = workload.metrics[0]
        found += [Text(), Text.assemble((workload.name, "bold"), (f" · {metric.name}, {metric.unit}", "dim"))]
        for row in rows:
            found += _row_lines(row, wide, width, beside, marks)
    found += [Text()] if marks else []
    found += [line for source, mark in marks.items() for line in _wrap(f"{mark}  100 % is {source}", width, "dim", 3)]
    return found


def _header(wide: Mapping[str, int], beside: bool, limited: bool) -> Text:
    value = wide["number"] + 1 + wide["unit"]
    title = f"{'':{wide['title']}}  " if wide["title"] else ""
    text = f"  {title}{'':{wide['mode']}}  {'median':>{wide['number']}}{'':{value - wide['number']}}"
    text += f"  {'95 % interval':<{wide['interval']}}"
    text += ("  of limit" + ("  " * 4 + "what the limit is") * beside) * limited
    return Text(text.rstrip(), style="dim")


def _row_lines(row: _Cells, wide: Mapping[str, int], width: int, beside: bool, marks: dict[str, str]) -> list[Text]:
    titles = textwrap.wrap(row.title, wide["title"] or width - 4) or [""]
    above = [] if wide["title"] else [Text(f"  {titles[0]}"), *(Text(f"    {more}") for more in titles[1:])]
    line = Text("  " if above else f"  {titles[0]:<{wide['title']}}  ")
    line.append(f"{row.mode:<{wide['mode']}}  ", style="dim")
    if row.wrong:
        line.append("wrong answer: no speed", style="bold red")
    else:
        line.append(f"{row.number:>{wide['number']}}", style="bold").append(f" {row.unit:<{wide['unit']}}")
        line.append(f"  {row.interval:>{wide['interval']}}", style="dim")
    if row.is_limit:
        line.append("  limit", style="dim")
    elif row.share is not None:
        line.append(f"  {100 * row.share:3.0f} % ").append(bar(row.share, wide["bar"]), style="cyan")
        if beside and len(row.limit) <= width - line.cell_len - 2:
            line.append(f"  {row.limit}", style="dim")
        else:
            line.append(f" {marks.setdefault(row.limit, _mark(len(marks)))}", style="dim")
    line.rstrip()
    found = [*above, line] if above else [line, *(Text(f"    {more}") for more in titles[1:])]
    if row.notes:
        found += _wrap(f"    ! {'; '.join(map(clean, row.notes))}", width, "red" if row.wrong else "yellow", 6)
    return found + (_wrap(f"    {row.results}", width, "", 6) if row.results else [])


def _mark(number: int) -> str:
    """`a` … `z`, then `aa`, `ab` …: never twice the same."""
    more, last = divmod(number, 26)
    return (_mark(more - 1) if more else "") + chr(ord("a") + last)


def _head(summary: Summary, width: int) -> list[Text]:
    run, machine = summary.run, summary.run.machine
    counts = {unit: len(machine.topology.groups(unit)) for unit in ("package", "core", "thread")}
    facts = [
        clean(machine.processor.model or machine.processor.architecture),
        ", ".join(f"{count} {unit}{'s'[: count > 1]}" for unit, count in counts.items()),
        units.bytes_text(machine.memory_bytes),
    ]
    facts += [f"measured clock {summary.clock_text}"] if summary.clocks_hz else []
    left = units.counted(len(run.remaining()), "launch")
    state = "" if run.complete else f"incomplete: {left} left, octant resume {run.id}"
    return [
        Text.assemble((clean(machine.name), "bold"), f"  {clean(run.title)}"),
        *_wrap(" · ".join(facts), width, "dim", 2),
        Text(f"run {run.id}, {run.started}", style="dim"),
        *_wrap(state, width, "yellow", 2),
        Text(),
    ]


def _list(title: str, items: Iterable[str], width: int, style: str = "") -> list[Text]:
    below = [line for item in items for line in _wrap(f"  {clean(item)}", width, style, 4)]
    return [Text(), Text(title, style="bold"), *below] if below else []


def _wrap(text: str, width: int, style: str, hang: int) -> list[Text]:
    return [Text(line, style=style) for line in textwrap.wrap(text, width, subsequent_indent=" " * hang)]


def _knobs(knobs: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in knobs.items())


def clean(text: str) -> str:
    """Text from outside without control characters, so that it cannot steer the terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)
