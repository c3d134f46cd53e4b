"""The terminal table: one row per figure, with its interval, its share of the limit and its worst caveat."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias

from rich.console import Console
from rich.text import Text

from octant import facts, stats, units
from octant.analysis.names import distinct_names
from octant.analysis.program import OF_THE_SYSTEM
from octant.program import is_program
from octant.report import claims, results
from octant.report.charts.bars.bars import choice_texts
from octant.report.charts.terminal import bar, picture_lines
from octant.report.plain import clean, clean_lines, in_ascii
from octant.report.screen.text import screen_lines, wrapped
from octant.report.terminal import screen_columns
from octant.workload import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.machine import Disagreement
    from octant.record import Failure, Point
    from octant.report.charts.picture import Picture
    from octant.report.screen.first_screen import RunReport
    from octant.store import StoredRun

Sources: TypeAlias = Literal["all", "names", "none"]
ABSENT = "Missing in this installation"
"""Heading of the workloads that are not installed."""
BAR = 8
LEAST_TITLE = 24


def show(report: RunReport, file: TextIO | None = None, notes: bool = False, sources: Sources = "all") -> None:
    """Print a run to `file` (default: standard output), as wide as it is; `notes`: with the caveats that are notes."""
    put(lambda width: lines(report, width, notes, sources), file or sys.stdout)


def show_pictures(pictures: Sequence[Picture]) -> None:
    """Print the pictures of a run in characters."""
    put(lambda width: [line for picture in pictures for line in picture_lines(picture, width)], sys.stdout)


def put(draw: Callable[[int], list[Text]], file: TextIO) -> None:
    """Print the lines that `draw` returns for a width: coloured on a terminal only, in characters it can take."""
    encoding = file.encoding or "utf-8"
    plain = not encoding.lower().replace("-", "").startswith("utf")
    terminal = file.isatty()
    console = Console(file=file, highlight=False, soft_wrap=True, color_system="auto" if terminal else None)
    for line in draw(screen_columns(100, file)):
        line.plain = clean_lines(line.plain).replace(claims.NARROW, " ")
        shown = in_ascii(line.plain).encode(encoding, "backslashreplace").decode(encoding)
        console.print(Text(shown) if plain else line)


def lines(report: RunReport, width: int = 100, notes: bool = False, sources: Sources = "all") -> list[Text]:
    """Return the report as styled lines of at most `width` columns.

    Args:
        sources: disagreements of the machine's sources: in full, by name, or none.
    """
    summary, first = report.summary, report.first
    found = [*screen_lines(first, summary.run.id, width, notes), Text(), *_table(summary, max(width, 60), notes)]
    found += _best(summary, width)
    failed = dict.fromkeys(f"{f.workload} {_knobs(f.knobs)}: {f.reason}" for f in summary.run.failures)
    found += _list("Failed", failed, width, "red")
    found += _list(ABSENT, first.absent, width)
    found += _list("Files", _file_texts(summary.run), width)
    assumption = "" if summary.run.imported or sources == "none" else facts.assumption(summary.run.machine)
    found += _list("Assumed", [assumption] if assumption else [], width)
    return found + _disagreements(summary.run.machine.disagreements, width, sources)


def _file_texts(run: StoredRun) -> list[str]:
    """Return the folder of the files of programs, and one line for each launch of a kernel that stored files."""
    records: list[Point | Failure] = [*run.points, *run.failures]
    kernels = results.kept_file_texts(one for one in records if not is_program(one.workload))
    return [*results.program_file_texts(records, run.folder), *(f"{launch}: {text}" for launch, text in kernels)]


def _best(summary: Summary, width: int) -> list[Text]:
    """Return the best of several variants of an operation, and the loss with the worst."""
    found = []
    for workload, figures in summary.by_workload():
        for knob in (picture.x for picture in workload.pictures if isinstance(picture, Choice)):
            found += _list(f"Best {knob}", choice_texts(figures, knob), width)
    return found


def _disagreements(found: Sequence[Disagreement], width: int, sources: Sources) -> list[Text]:
    if not found or sources == "none":
        return []
    if sources == "names":
        subjects = "; ".join(clean(one.subject) for one in found)
        return [Text(), *wrapped(f"Sources disagree about: {subjects} (see octant machine)", width, "", 2)]
    statements = [
        f"{d.subject}: {'; '.join(f'{source}: {what}' for source, what in d.statements)}. Trusted: {d.trusted}"
        for d in found
    ]
    return _list("Disagreements between sources", statements, width)


@dataclass(frozen=True)
class _Cells:
    """One row, ready to be aligned."""

    title: str
    number: str
    unit: str
    ends: str
    launches: str  # "5 of 6"
    share: float | None
    is_limit: bool
    limit: str  # name of the limit
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    results: str  # further values
    wrong: bool
    invalid: bool


def _cells(figure: Figure, title: str) -> _Cells:
    value = claims.figure_texts(figure)
    warnings = stats.warnings(figure.caveats)
    warnings += [f"WRONG RESULT: {text}" for text in results.failed_texts(figure)]
    warnings += [f"no value: {figure.missing}"] if figure.missing and not figure.value and not figure.wrong else []
    values = [f"{one.name} {one.text}" for one in results.named_results(figure) if one.name not in OF_THE_SYSTEM]
    beside = "; ".join(filter(None, [*values, results.group_text(figure)]))
    source = figure.limit.source if figure.limit and not figure.is_limit else ""
    return _Cells(
        clean(title), value.number, value.unit, value.ends, figure.count_text, figure.of_limit, figure.is_limit,
        clean(source), tuple(warnings), tuple(stats.notes(figure.caveats)), clean(beside),
        bool(figure.wrong), figure.invalid,
    )  # fmt: skip


def _table(summary: Summary, width: int, notes: bool) -> list[Text]:
    shown = [
        (workload, [figure for figure in figures if figure.show.table or figure.wrong])
        for workload, figures in summary.by_workload()
    ]
    names = distinct_names([figure for _, figures in shown for figure in figures])
    groups = [
        (workload, [_cells(figure, names[id(figure)]) for figure in figures]) for workload, figures in shown if figures
    ]
    every = [row for _, rows in groups for row in rows]
    if not every:
        return [Text("Nothing was measured.", style="yellow")]
    values = [figure.value for _, figures in shown for figure in figures]
    ends = "95 % interval" if any(value and value.is_interval for value in values) else "low … high"
    columns = ("title", "number", "unit", "ends", "launches")
    wide = {name: max(len(getattr(row, name)) for row in every) for name in columns}
    wide |= {"ends": max(wide["ends"], len(ends)), "launches": max(wide["launches"], len("launches"))}
    # Two spaces before each of five columns, one before the unit, then "100 % ", the bar and a mark.
    fixed = 2 * 5 + 1 + 6 + 2 + sum(wide[name] for name in columns[1:])
    least = min(wide["title"], LEAST_TITLE)
    wide["bar"] = BAR if width >= fixed + BAR + least else 0
    fixed += wide["bar"]
    stacked = width - fixed < least  # then the title has a line of its own
    wide["title"] = 0 if stacked else min(wide["title"], width - fixed)
    beside = not stacked and width - fixed - wide["title"] >= 30  # room to say what the limit is in the row itself
    found = [_header(wide, ends, beside, any(row.share is not None or row.is_limit for row in every))]
    limits: dict[str, str] = {}
    for workload, rows in groups:
        metric = workload.metrics[0]
        of = metric.name if metric.unit == "1" else f"{metric.name}, {metric.unit}"
        found += [Text(), Text.assemble((_cut(clean(workload.name), width - len(of) - 3), "bold"), (f" · {of}", "dim"))]
        for row in rows:
            found += _row_lines(row, wide, width, beside, limits, notes)
            found += wrapped(f"    note: {'; '.join(row.notes)}", width, "dim", 6) if notes and row.notes else []
    links = dict.fromkeys(figure.link for _, figures in shown for figure in figures if figure.link)
    below = [claims.link_text(link) for link in links]
    below += [*claims.legend(values), *(f"{mark}  100 % is {source}" for source, mark in limits.items())]
    found += [Text()] if below else []
    found += [line for text in below for line in wrapped(text, width, "dim", 3)]
    hidden = 0 if notes else sum(len(row.notes) + max(0, len(row.warnings) - 1) for row in every)
    more = f"{units.counted(hidden, 'further note')}; show them with --notes" * bool(hidden)
    return [*found, *wrapped(more, width, "dim", 0)]


def _cut(name: str, most: int) -> str:
    """Return a name shortened to a number of characters, at least 20."""
    most = max(most, 20)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _header(wide: Mapping[str, int], ends: str, beside: bool, limited: bool) -> Text:
    before = 2 + wide["title"] + 2 * bool(wide["title"]) + wide["number"]  # the word may be wider than the numbers
    text = f"{'median':>{before}} {'':{wide['unit']}}"
    text += f"  {ends:>{wide['ends']}}  {'launches':>{wide['launches']}}"
    text += ("  of limit" + ("  " * 4 + "limit") * beside) * limited
    return Text(text.rstrip(), style="dim")


def _row_lines(
    row: _Cells, wide: Mapping[str, int], width: int, beside: bool, limits: dict[str, str], notes: bool
) -> list[Text]:
    """Return a row with the lines below it.

    Args:
        limits: marks of limits; new limits are added.
        notes: show all caveats; otherwise, the worst in at most eight words.
    """
    titles = textwrap.wrap(row.title, wide["title"] or width - 4) or [""]
    above = [] if wide["title"] else [Text(f"  {titles[0]}"), *(Text(f"    {more}") for more in titles[1:])]
    line = Text("  " if above else f"  {titles[0]:<{wide['title']}}  ")
    if row.wrong:
        line.append("wrong result: no performance reported", style="bold red")
    else:
        line.append(f"{row.number:>{wide['number']}}", style="bold").append(f" {row.unit:<{wide['unit']}}")
        line.append(f"  {row.ends:>{wide['ends']}}  {row.launches:>{wide['launches']}}", style="dim")
    if row.is_limit:
        line.append("  limit", style="dim")
    elif row.share is not None:
        line.append(f"  {units.percent_text(row.share):>5} ").append(bar(row.share, wide["bar"]), style="cyan")
        if beside and len(row.limit) <= width - line.cell_len - 2:
            line.append(f"  {row.limit}", style="dim")
        else:
            line.append(f" {limits.setdefault(row.limit, claims.mark(len(limits)))}", style="dim")
    line.rstrip()
    found = [*above, line] if above else [line, *(Text(f"    {more}") for more in titles[1:])]
    if row.warnings:
        style = "red" if row.wrong or row.invalid else "yellow"
        texts = row.warnings if notes or row.wrong or not row.number else (claims.short_caveat(row.warnings),)
        found += wrapped(f"    ! {'; '.join(map(clean, texts))}", width, style, 6)
    return found + (wrapped(f"    {row.results}", width, "", 6) if row.results else [])


def _list(title: str, items: Iterable[str], width: int, style: str = "") -> list[Text]:
    below = [line for item in items for line in wrapped(f"  {clean(item)}", width, style, 4)]
    return [Text(), Text(title, style="bold"), *below] if below else []


def _knobs(knobs: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in knobs.items())
