"""The report as one HTML file that opens anywhere: pictures, tables, samples, nothing from the network."""

from __future__ import annotations

import base64
import functools
import json
import pkgutil
import zlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from octant import __version__, output, stats, units
from octant.report import claims
from octant.report.charts.curve import share_text
from octant.report.charts.picture import thin
from octant.report.charts.pictures import pictures
from octant.report.machine import drawing
from octant.report.machine import text as machine
from octant.report.plain import clean_lines
from octant.report.run import results, tidy
from octant.report.run.sharing import cleaned
from octant.report.run.text import mark
from octant.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octant.analysis.figures import Figure, LaunchFigure
    from octant.analysis.summary import Summary
    from octant.record import Point
    from octant.report.charts.picture import Picture
    from octant.workload import Workload

    Clean = Callable[[str], str]

MOST_FIGURES = 1000
"""Figures with a row and details of their own on a page."""
MOST_SAMPLES = 400_000
"""Samples on a page, some 2 MB; above, each launch keeps evenly chosen ones."""


def write(summary: Summary, path: Path, clean: Clean = str) -> Path:
    """Writes the report of a run and gives its path.

    Args:
        clean: what every text of the run goes through (`sharing.cleaner`).

    Raises:
        Refusal: the file cannot be written.
    """
    stored = path.parent == summary.run.folder  # a store is its owner's alone
    return save(render(summary, clean), path, files.FILE_MODE if stored else output.FILE_MODE)


def save(page: str, path: Path, mode: int = output.FILE_MODE) -> Path:
    """Writes a page and gives its path; `mode` is its permissions, less the umask.

    Raises:
        Refusal: the file cannot be written.
    """
    output.save(path, clean_lines(page), "try -o with a file of yours", mode)
    return path


def render(summary: Summary, clean: Clean = str) -> str:
    """The report as a text."""
    run, listed = summary.run, listed_figures(summary)
    numbers = {id(figure): i for i, figure in enumerate(listed)}
    drawn = pictures(summary)
    kept, count = _sample_numbers(listed)
    environment = templates()
    environment.finalize = (
        lambda value: clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value
    )
    environment.globals.update(
        number=lambda figure: numbers[id(figure)], values=_value_texts, quantiles=quantile_texts, given=given_text,
        share=share_text, further=lambda figure: results.further_figures(summary, figure),
        results=results.named_results, checks=results.checks, failed=results.failed_texts, quantity=units.si_text,
        groups_of=results.group_values, launch_of=_launch_of, following=_next_texts, sort_of=claims.sort_of,
        warnings=claims.warnings,
    )  # fmt: skip
    return environment.get_template("report.html.jinja").render(
        run=run,
        machine=run.machine,
        summary=summary,
        listed=listed,
        groups=_by_workload(listed),
        claims=_claim_marks(listed),
        failures={(f.workload, *sorted(f.knobs.items()), f.reason): f for f in run.failures}.values(),  # each once
        pictures=drawn,
        drawing=Markup(clean(drawing.svg(run.machine))),  # noqa: S704 - drawing.py escapes its texts
        words=drawing.description(run.machine),
        pages=machine.pages_text(run.machine.page_sizes),
        settings=list(machine.setting_texts(run.machine.system)),
        clock=summary.clock_text,
        samples=f"all {count} samples" if kept == count else f"{kept} of {count} samples, evenly chosen",
        version=__version__,
        style=page_file("style.css"),
        script=page_file("page.js"),
        plotly=plotly(),
        data=json_markup(_data(summary, listed, drawn, clean)),
    )


def listed_figures(summary: Summary) -> list[Figure]:
    """The figures of the page in the order of the run: wrong ones and those of the table before points of curves."""
    first = sorted(enumerate(summary.figures), key=lambda one: (not one[1].wrong, not one[1].show.table))
    return [figure for _, figure in sorted(first[:MOST_FIGURES], key=lambda one: one[0])]


def _by_workload(figures: Sequence[Figure]) -> list[tuple[Workload, list[Figure]]]:
    groups: dict[str, tuple[Workload, list[Figure]]] = {}
    for figure in figures:
        groups.setdefault(figure.workload.name, (figure.workload, []))[1].append(figure)
    return list(groups.values())


def templates() -> Environment:
    """The templates of pages, with filters for quantities."""
    environment = Environment(
        loader=PackageLoader("octant.report", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["bytes"] = units.bytes_text
    environment.filters["percent"] = units.percent_text
    return environment


def _value_texts(figure: Figure) -> claims.ValueTexts:
    return claims.value_texts(figure.value, figure.metric.unit)


def _next_texts(figure: Figure) -> claims.ValueTexts:
    """Where one more launch would lie; all empty where that is not known."""
    return claims.value_texts(figure.next_launch, figure.metric.unit)


def _claim_marks(figures: Sequence[Figure]) -> dict[claims.Sort, tuple[str, str]]:
    """The mark and the line of each sort of value in the table."""
    said = claims.claims(figure.value for figure in figures if figure.show.table)
    return {sort: (mark(number), text) for number, (sort, text) in enumerate(said.items())}


def quantile_texts(figure: Figure) -> list[tuple[str, str]]:
    """Quantiles over the samples that the figure keeps, at the levels that so many can state; none without samples."""
    samples = np.concatenate([launch.samples for launch in figure.launches])
    if not len(samples):
        return []
    whole = len(samples) == sum(launch.count for launch in figure.launches)  # else the extremes may be left out
    levels = [0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0]
    stated = [q for q in levels if (whole if q in (0.0, 1.0) else len(samples) * min(q, 1 - q) >= 5) or q == 0.5]
    names = {0.0: "least", 0.5: "median", 1.0: "greatest"}
    return [
        (names.get(q, f"{100 * q:g} %"), units.si_text(value, figure.metric.unit, 4))
        for q, value in zip(stated, stats.quantiles(samples, stated), strict=True)
    ]


def given_text(point: Point) -> str:
    """What a point was really given: where its threads ran, what its memory is made of, how it was scheduled."""
    places = ["+".join(map(str, rank.cpus)) for rank in point.given]
    buffers = [buffer for rank in point.given for buffer in rank.buffers]
    resident = sum(buffer.resident_bytes for buffer in buffers)
    pages = ""
    if resident:
        huge = sum(buffer.huge_bytes for buffer in buffers) / resident
        nodes = sorted({node for buffer in buffers for node in buffer.pages_on_node})
        pages = f"; {units.bytes_text(resident)} in memory, {units.percent_text(huge)} of it in huge pages"
        pages += f", on node {'+'.join(nodes)}" if nodes else ""
    how = "; ".join(dict.fromkeys(rank.scheduling.text for rank in point.given if rank.scheduling))
    scheduled = f"; scheduling {how}" if how else ""
    return f"threads on CPU {', '.join(places)}{pages}{scheduled}" if places else "not recorded"


def _launch_of(figure: Figure, point: Point) -> LaunchFigure | None:
    return next((launch for launch in figure.launches if launch.point is point), None)


def page_file(name: str) -> Markup:
    """A script or style sheet of ours, to stand in a page."""
    return Markup((pkgutil.get_data("octant.report", f"page/{name}") or b"").decode())  # noqa: S704 - our own file


@functools.cache
def plotly() -> Markup:
    """Plotly's script, from its package, deflated to two fifths: the page unpacks it."""
    return Markup(_deflate(pkgutil.get_data("plotly", "package_data/plotly.min.js") or b""))  # noqa: S704 - base64


def _sample_numbers(listed: Sequence[Figure]) -> tuple[int, int]:
    """How many samples the page holds, and how many there were."""
    launches = [launch for figure in listed for launch in figure.launches]
    return min(MOST_SAMPLES, sum(len(one.samples) for one in launches)), sum(one.count for one in launches)


def _data(summary: Summary, listed: Sequence[Figure], drawn: Sequence[Picture], clean: Clean) -> dict[str, Any]:
    there = sum(len(launch.samples) for figure in listed for launch in figure.launches)
    return {
        "run": {"run": summary.run.id},
        "document": _pack(cleaned(tidy.document(summary), clean)),
        "pictures": [cleaned(asdict(picture), clean) for picture in drawn],
        "figures": [_figure_data(figure, min(1.0, MOST_SAMPLES / (there or 1)), clean) for figure in listed],
    }


def _figure_data(figure: Figure, share: float, clean: Clean) -> dict[str, Any]:
    """What the page draws of a figure, with that share of the samples that it keeps."""
    value = figure.value
    kept = [thin(launch.samples.tolist(), max(2, int(share * len(launch.samples)))) for launch in figure.launches]
    return {
        "title": clean(figure.name),
        "metric": figure.metric.name,
        "unit": figure.metric.unit,
        "interval": [value.low, value.middle, value.high] if value else None,
        "count": sum(launch.count for launch in figure.launches),
        "samples": _pack([[float(f"{x:.5g}") for x in samples] for samples in kept]),
    }


def _pack(data: object) -> str:
    """JSON, deflated: the page unpacks only what somebody opens."""
    return _deflate(json.dumps(data, separators=(",", ":"), allow_nan=False).encode())


def _deflate(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


def json_markup(data: dict[str, Any]) -> Markup:
    """JSON that no text in it can end: `<` never appears as itself."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704
