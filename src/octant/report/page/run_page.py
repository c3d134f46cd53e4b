"""The page of a run: first screen, pictures, table, reliability, machine, settings, and the packed samples."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from octant import stats, units
from octant.analysis.figures import Figure, LaunchFigure
from octant.analysis.reduce import measure
from octant.analysis.summary import Summary
from octant.report import claims, results
from octant.report.charts.curves.curve import share_text
from octant.report.export import tidy
from octant.report.export.sharing import cleaned, cleaned_markup
from octant.report.machine import drawing
from octant.report.machine import text as machine_text
from octant.report.page import html
from octant.report.page.html import Clean
from octant.report.screen.first_screen import RunReport, about_text, period_text
from octant.report.screen.sections import MAX_SHOWN
from octant.report.tables import benchmark as benchmark_table
from octant.report.tables import table
from octant.stats.grades import GRADE_NAMES

MAX_FIGURES = 1000
"""Most figures that have a row on a page."""
MAX_BYTES = 110_000
"""Budget of deflated samples on a page, so that the page of a quick evaluation has less than 0.5 MB."""
_FIRST_GUESS = 2.1  # bytes of a page that one sample takes


def write(report: RunReport, path: Path, clean: Clean = str, all_samples: bool = False) -> Path:
    """Write the report of a run and return its path.

    Args:
        clean: applied to every text of the run (`sharing.cleaner`).
        all_samples: include all samples, regardless of their number.

    Raises:
        Refusal: the file cannot be written.
        RecordError: the samples of a point can no longer be read.
    """
    return html.save(render(report, clean, all_samples), path, report.summary.run)


def render(report: RunReport, clean: Clean = str, all_samples: bool = False) -> str:
    """Return the page of a run."""
    summary, first = report.summary, report.first
    run, machine = summary.run, summary.run.machine
    listed = listed_figures(summary)
    shown = [figure for figure in listed if figure.show.table or figure.wrong] or listed
    further = [figure for figure in listed if not any(figure is one for one in shown)]
    numbers = {id(figure): place for place, figure in enumerate(listed)}
    tables, functions = [table.table(shown, numbers), table.table(further, numbers)], _row_functions(summary)
    pictures = [cleaned(picture, clean) for picture in report.pictures]
    held = pack(listed, all_samples, clean)
    document = html.packed(cleaned(tidy.document(report, files=clean is str), clean))
    data = {"run": run.id, "document": document, "exports": html.exports(pictures, run.id), "figures": held.figures}
    data |= _packed_rows(tables, functions, clean)
    return html.render(
        "report.html.jinja", data, clean=clean, run=run, machine=machine, summary=summary, first=first,
        style=html.sections_style() if report.sections else "",
        about=f"imported {run.source}" if run.imported else about_text(machine), period=period_text(run),
        place=lambda number: numbers.get(id(summary.figures[number])), listed=listed, shown=tables[0],
        further=len(further), benchmark=benchmark_table.section(summary), pictures=pictures,
        notes=[f"{tile.name}: {reason}" for tile in first.tiles if tile.grade == "note" for reason in tile.reasons],
        failures={(f.workload, *sorted(f.knobs.items()), f.reason): f for f in run.failures}.values(),  # each once
        drawing=Markup(cleaned_markup(drawing.svg(machine), clean)),  # noqa: S704 - drawing.py escapes its texts
        words=drawing.description(machine), pages_text=machine_text.pages_text,
        software=[(name.replace("_", " "), value) for name, value in machine.software.items()],
        setting_texts=machine_text.setting_texts,
        kept=results.kept_file_texts([*run.points, *run.failures]) if clean is str else (), samples=held,
        sections=report.sections, most_rows=MAX_SHOWN, **functions,
    )  # fmt: skip


def listed_figures(summary: Summary) -> list[Figure]:
    """Return the figures of the page in the order of the run; points of curves are omitted first."""
    first = sorted(enumerate(summary.figures), key=lambda one: (not one[1].wrong, not one[1].show.table))
    return [figure for _, figure in sorted(first[:MAX_FIGURES], key=lambda one: one[0])]


def _row_functions(summary: Summary) -> dict[str, Any]:
    """Return the functions that rows and their details call."""
    return {
        "values": claims.figure_texts, "grades": GRADE_NAMES, "share": share_text, "quantity": units.si_text,
        "following": lambda figure: claims.value_texts(figure.next_launch, figure.metric.unit),
        "further_figures": lambda figure: results.further_figures(summary, figure), "results": results.named_results,
        "checks": results.checks, "failed": results.failed_texts, "groups_of": results.group_values,
        "quantiles": table.quantile_texts, "launch_header": table.LAUNCH_HEADER, "launches": table.launch_rows,
        "requested": table.setting_texts,
    }  # fmt: skip


def _packed_rows(tables: Sequence[table.FigureTable], functions: Mapping[str, Any], clean: Clean) -> dict[str, str]:
    """Return HTML that the page unpacks on opening: the details of each row, and the rows outside the first table."""
    pages = html.templates(clean)
    rows = [row for one in tables for _, _, group in one.groups for row in group]
    details = pages.get_template("rows.html.jinja").make_module(dict(functions)).details  # type: ignore[attr-defined]
    has_further = any(group for _, _, group in tables[1].groups)
    further = pages.get_template("further.html.jinja").render(shown=tables[1], **functions) if has_further else ""
    return {
        "details": html.packed({row.number: details(row) for row in rows}),
        "further": html.deflated(further) if further else "",
    }


class PackedSamples(NamedTuple):
    """The samples of each figure, in the order of the page, and how many of all samples they are."""

    figures: tuple[str, ...]
    kept: int
    total: int


def pack(figures: Sequence[Figure], every: bool = False, clean: Clean = str) -> PackedSamples:
    """Pack the samples of these figures into at most `MAX_BYTES`; `every`: all samples, read again from the store.

    Raises:
        RecordError: the samples of a point can no longer be read.
    """
    launches = [launch for figure in figures for launch in figure.launches]
    total, held = sum(launch.count for launch in launches), sum(len(launch.samples) for launch in launches)
    share, before = 1.0 if every else min(1.0, MAX_BYTES / _FIRST_GUESS / (held or 1)), 0
    while True:
        made = [_packed(figure, share, every, clean) for figure in figures]
        size = sum(len(text) for text, _ in made)
        if every or size <= MAX_BYTES or size == before:  # two samples per launch remain in any case
            return PackedSamples(tuple(text for text, _ in made), sum(kept for _, kept in made), total)
        share, before = 0.95 * share * MAX_BYTES / size, size


def _packed(figure: Figure, share: float, every: bool, clean: Clean) -> tuple[str, int]:
    value = figure.value
    launches = [_samples(figure, launch, share, every) for launch in figure.launches]
    found = {
        "title": figure.name, "metric": figure.metric.name, "unit": figure.metric.unit,
        "interval": [value.low, value.middle, value.high] if value and value.kind != "not measurable" else None,
        "count": sum(launch.count for launch in figure.launches),
        "samples": [[float(f"{x:.4g}") for x in samples.tolist()] for samples in launches],
    }  # fmt: skip
    return html.packed(cleaned(found, clean)), sum(map(len, launches))


def _samples(figure: Figure, launch: LaunchFigure, share: float, every: bool) -> NDArray[np.float64]:
    if every and launch.count > len(launch.samples):
        return measure(figure.metric, launch.point, launch.point.read()).samples
    return stats.thinned(launch.samples, max(2, int(share * len(launch.samples))))
