"""The terminal table: one row per figure, with its interval, its share of the limit and its worst caveat."""

import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TextIO, TypeAlias

from rich.console import Console
from rich.text import Text

from octant import facts, stats, units
from octant.analysis.figures import Figure
from octant.analysis.names import distinct_names
from octant.analysis.program import OF_THE_SYSTEM
from octant.analysis.summary import Summary
from octant.machine import Disagreement
from octant.program import is_program
from octant.record import Failure, Point
from octant.report import claims, results
from octant.report.charts.bars.bars import choice_texts
from octant.report.charts.picture import Picture
from octant.report.charts.terminal import bar, picture_lines
from octant.report.plain import clean, clean_lines, in_ascii
from octant.report.screen.first_screen import RunReport
from octant.report.screen.text import screen_lines, wrapped
from octant.report.tables.footprints import footprint_texts
from octant.report.tables.section_text import MAX_LINES, sections_lines
from octant.report.terminal import screen_columns
from octant.store import StoredRun
from octant.workload import Choice

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
    found = [*screen_lines(first, summary.run.id, width, notes)]
    found += sections_lines(report.sections, width, notes, MAX_LINES - len(found))
    found += [Text(), *_table(summary, max(width, 60), notes)]
    found += _best(summary, width)
    failed = dict.fromkeys(f"{f.workload} {_knobs(f.knobs)}: {f.reason}" for f in summary.run.failures)
    found += titled_list("Failed", failed, width, "red")
    found += titled_list(ABSENT, first.absent, width)
    found += titled_list("Memory levels of the footprints", footprint_texts(summary), width)
    found += titled_list("Files", _file_texts(summary.run), width)
    assumption = "" if summary.run.imported or sources == "none" else facts.assumption(summary.run.machine)
    found += titled_list("Assumed", [assumption] if assumption else [], width)
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
            found += titled_list(f"Best {knob}", choice_texts(figures, knob), width)
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
    return titled_list("Disagreements between sources", statements, width)


def _warnings(figure: Figure) -> list[str]:
    found = stats.warnings(figure.caveats) + [f"WRONG RESULT: {text}" for text in results.failed_texts(figure)]
    return found + [f"no value: {figure.missing}"] * bool(figure.missing and not figure.value and not figure.wrong)


def _results_text(figure: Figure) -> str:
    """Return further values of a figure, in one line."""
    values = [one for one in results.named_results(figure) if one.name not in OF_THE_SYSTEM]
    texts = [*(f"{one.name} {one.text}" for one in values), results.group_text(figure)]
    return clean("; ".join(filter(None, texts)))


def _table(summary: Summary, width: int, notes: bool) -> list[Text]:
    shown = [
        (workload, [figure for figure in figures if figure.show.table or figure.wrong])
        for workload, figures in summary.by_workload()
    ]
    every = [figure for _, figures in shown for figure in figures]
    if not every:
        return [Text("Nothing was measured.", style="yellow")]
    titles = {key: clean(name) for key, name in distinct_names(every).items()}
    values = [figure.value for figure in every]
    ends = "95 % interval" if any(value and value.is_interval for value in values) else "low … high"
    texts = [claims.figure_texts(figure) for figure in every]
    wide = {
        "title": max(map(len, titles.values())),
        "number": max(len(text.number) for text in texts),
        "unit": max(len(text.unit) for text in texts),
        "ends": max(len(ends), *(len(text.ends) for text in texts)),
        "launches": max(8, *(len(figure.count_text) for figure in every)),
    }
    # Two spaces before each of five columns, one before the unit, then "100 % ", the bar and a mark.
    fixed = 2 * 5 + 1 + 6 + 2 + sum(wide.values()) - wide["title"]
    least = min(wide["title"], LEAST_TITLE)
    wide["bar"] = BAR if width >= fixed + BAR + least else 0
    fixed += wide["bar"]
    fixed += max(0, len(claims.BEST) - 6 - wide["bar"] - 2) * any(figure.is_limit for figure in every)
    stacked = width - fixed < least  # then the title has a line of its own
    wide["title"] = 0 if stacked else min(wide["title"], width - fixed)
    beside = not stacked and width - fixed - wide["title"] >= 30  # room to say what the limit is in the row itself
    limited = any(figure.of_limit is not None or figure.is_limit for figure in every)
    found = [_header(wide, ends, beside, limited)]
    limits: dict[str, str] = {}
    for workload, figures in shown:
        if not figures:
            continue
        metric = workload.metrics[0]
        of = metric.name if metric.unit == "1" else f"{metric.name}, {metric.unit}"
        name, most = clean(workload.name), max(width - len(of) - 3, 20)
        name = name if len(name) <= most else f"{name[: most - 1]}…"
        found += [Text(), Text.assemble((name, "bold"), (f" · {of}", "dim"))]
        for figure in figures:
            found += _row_lines(figure, titles[id(figure)], wide, width, beside, limits, notes)
            remarks = stats.notes(figure.caveats) if notes else []
            found += wrapped(f"    note: {'; '.join(remarks)}", width, "dim", 6) if remarks else []
    links = dict.fromkeys(figure.link for figure in every if figure.link)
    below = [claims.link_text(link) for link in links]
    below += [*claims.legend(values), *(f"{mark}  100 % is {source}" for source, mark in limits.items())]
    found += [Text()] if below else []
    found += [line for text in below for line in wrapped(text, width, "dim", 3)]
    has_caveats = any(_warnings(figure) or stats.notes(figure.caveats) for figure in every)
    details = f"details: octant report {summary.run.id} --notes" * (has_caveats and not notes)
    return [*found, *wrapped(details, width, "dim", 0)]


def _header(wide: Mapping[str, int], ends: str, beside: bool, limited: bool) -> Text:
    before = 2 + wide["title"] + 2 * bool(wide["title"]) + wide["number"]  # the word may be wider than the numbers
    text = f"{'median':>{before}} {'':{wide['unit']}}"
    text += f"  {ends:>{wide['ends']}}  {'launches':>{wide['launches']}}"
    text += ("  of limit" + ("  " * 4 + "limit") * beside) * limited
    return Text(text.rstrip(), style="dim")


def _row_lines(
    figure: Figure, title: str, wide: Mapping[str, int], width: int, beside: bool, limits: dict[str, str], notes: bool
) -> list[Text]:
    """Return a row with the lines below it.

    Args:
        limits: marks of limits; new limits are added.
        notes: show all caveats; otherwise the worst one in short.
    """
    value, warnings, more_results = claims.figure_texts(figure), _warnings(figure), _results_text(figure)
    titles = textwrap.wrap(title, wide["title"] or width - 4) or [""]
    further = [Text(f"    {more}") for more in titles[1:]]
    line = Text(f"  {titles[0]:<{wide['title']}}  " if wide["title"] else "  ")
    if figure.wrong:
        line.append("wrong result: no performance reported", style="bold red")
    else:
        line.append(f"{value.number:>{wide['number']}}", style="bold").append(f" {value.unit:<{wide['unit']}}")
        line.append(f"  {value.ends:>{wide['ends']}}  {figure.count_text:>{wide['launches']}}", style="dim")
    if figure.is_limit:
        line.append(f"  {claims.BEST}", style="dim")
    elif figure.of_limit is not None:
        limit, share = clean(figure.limit.source) if figure.limit else "", figure.of_limit
        line.append(f"  {units.percent_text(share):>5} ").append(bar(share, wide["bar"]), style="cyan")
        fits = beside and len(limit) <= width - line.cell_len - 2
        line.append(f"  {limit}" if fits else f" {limits.setdefault(limit, claims.mark(len(limits)))}", style="dim")
    line.rstrip()
    found = [line, *further] if wide["title"] else [Text(f"  {titles[0]}"), *further, line]
    if warnings:
        style = "red" if figure.wrong or figure.invalid else "yellow"
        texts = warnings if notes or figure.wrong or not value.number else [claims.short_caveat(figure.caveats)]
        found += wrapped(f"    ! {'; '.join(map(clean, texts))}", width, style, 6)
    return found + (wrapped(f"    {more_results}", width, "", 6) if more_results else [])


def titled_list(title: str, items: Iterable[str], width: int, style: str = "") -> list[Text]:
    """Return wrapped items below a title; nothing without items."""
    below = [line for item in items for line in wrapped(f"  {clean(item)}", width, style, 4)]
    return [Text(), Text(title, style="bold"), *below] if below else []


def _knobs(knobs: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in knobs.items())
