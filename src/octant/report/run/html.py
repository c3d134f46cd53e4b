"""The report as one HTML file that opens anywhere: pictures, tables, every sample, nothing from the network."""

from __future__ import annotations

import base64
import functools
import json
import pkgutil
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from octant import __version__, stats, units
from octant.analysis.summary import EFFORT, Row, Summary, summarise
from octant.failure import Refusal
from octant.report.charts.pictures import pictures
from octant.report.machine import drawing
from octant.report.machine import text as machine
from octant.report.run import tidy
from octant.report.run.text import value_texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octant.record import Lane, Point
    from octant.store import StoredRun
    from octant.workload import Workload


def write(run: StoredRun, path: Path, known: Mapping[str, Workload] | None = None) -> Path:
    """Writes the report of a run and gives its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return save(render(run, known), path)


def save(page: str, path: Path) -> Path:
    """Writes a page and gives its path.

    Raises:
        Refusal: the file cannot be written.
    """
    try:
        partial = path.with_name(path.name + ".part")  # a reader never sees half a report
        partial.write_text(page, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise Refusal(f"cannot write {path} ({error.strerror}); try -o with a file of yours") from error
    return path


def render(run: StoredRun, known: Mapping[str, Workload] | None = None) -> str:
    """The report as a text."""
    summary = summarise(run, known)
    numbered = {id(row): i for i, row in enumerate(summary.rows)}
    shown = pictures(summary)
    environment = templates()
    environment.globals.update(number=lambda row: numbered[id(row)], values=value_texts, spread=spread, given=given)
    return environment.get_template("report.html.jinja").render(
        run=run,
        machine=summary.run.machine,
        summary=summary,
        groups=summary.by_workload(),
        failures={(f.workload, *sorted(f.knobs.items()), f.reason): f for f in run.failures}.values(),  # told once
        pictures=shown,
        drawing=Markup(drawing.svg(run.machine)),  # noqa: S704 - drawing.py escapes its texts
        words=drawing.in_words(run.machine),
        pages=machine.pages_text(run.machine.page_sizes),
        settings=list(machine.told(run.machine.system)),
        clock=units.si_text(summary.ceilings.clock_hz, "Hz") if summary.ceilings.clock_hz else "",
        version=__version__,
        effort=EFFORT,
        style=page_file("style.css"),
        script=page_file("page.js"),
        plotly=plotly(),
        data=embedded(_data(summary, shown)),
    )


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


def spread(row: Row) -> list[tuple[str, str]]:
    """Quantiles of all samples of a row, with the levels that so many samples can tell."""
    samples = np.concatenate([figure.samples for figure in row.figures])
    levels = [0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0]
    told = [q for q in levels if q in (0.0, 1.0) or len(samples) * min(q, 1 - q) >= 5]
    names = {0.0: "least", 0.5: "median", 1.0: "most"}
    return [
        (names.get(q, f"{100 * q:g} %"), units.si_text(value, row.metric.unit, 4))
        for q, value in zip(told, stats.quantiles(samples, told), strict=True)
    ]


def given(point: Point) -> str:
    """What a point was really given: where its threads ran and what its memory is made of."""
    places = ["+".join(map(str, rank.cpus)) for rank in point.given]
    buffers = [buffer for rank in point.given for buffer in rank.buffers]
    resident = sum(buffer.resident_bytes for buffer in buffers)
    pages = ""
    if resident:
        huge = sum(buffer.huge_bytes for buffer in buffers) / resident
        nodes = sorted({node for buffer in buffers for node in buffer.pages_on_node})
        pages = f"; {units.bytes_text(resident)} in memory, {units.percent_text(huge)} of it in huge pages"
        pages += f", on node {'+'.join(nodes)}" if nodes else ""
    return f"threads on CPU {', '.join(places)}{pages}" if places else "not recorded"


def page_file(name: str) -> Markup:
    """A script or style sheet of ours, to stand in a page."""
    return Markup((pkgutil.get_data("octant.report", f"page/{name}") or b"").decode())  # noqa: S704 - our own file


@functools.cache
def plotly() -> Markup:
    """Plotly's script, from its package, deflated to two fifths: the page unpacks it."""
    return Markup(_deflated(pkgutil.get_data("plotly", "package_data/plotly.min.js") or b""))  # noqa: S704 - base64


def _data(summary: Summary, shown: list[Any]) -> dict[str, Any]:
    return {
        "run": json.loads(tidy.as_json(summary.run, {row.workload.name: row.workload for row in summary.rows})),
        "pictures": [asdict(picture) for picture in shown],
        "figures": [_figure_data(row) for row in summary.rows],
    }


def _figure_data(row: Row) -> dict[str, Any]:
    value, point = row.value, row.points[0]
    windows = point.sampling == "lanes" and row.metric.kind == "rate" and len(point.lanes) > 1
    return {
        "title": row.name,
        "metric": row.metric.name,
        "unit": row.metric.unit,
        "rate": row.metric.kind == "rate",
        "interval": [value.low, value.middle, value.high] if value else None,
        "counts": [row.metric.count(point) * point.batch for point in row.points],
        "windows": [[float(f"{x:.5g}") for x in figure.samples] for figure in row.figures] if windows else None,
        "launches": _packed([_launch_data(point) for point in row.points]),
    }


def _launch_data(point: Point) -> dict[str, Any]:
    return {
        "launch": point.launch,
        "knobs": dict(point.knobs),
        "ranks": point.ranks,
        "batch": point.batch,
        "warmup": point.warmup,
        "work": asdict(point.work),
        "noise": point.noise,
        "lanes": [
            {
                "rank": lane.rank,
                "thread": lane.thread,
                "pauses_ns": _pauses(lane),
                "duration_ns": lane.duration_ns,
                "preempted": sorted(lane.preempted),
            }
            for lane in point.lanes
        ],
    }


def _pauses(lane: Lane) -> list[int]:
    """Beginnings as the time since the end of the sample before: small numbers pack well, and the page adds them up."""
    ends = (0, *(begin + duration for begin, duration in zip(lane.begin_ns, lane.duration_ns, strict=False)))
    return [begin - end for begin, end in zip(lane.begin_ns, ends, strict=False)]


def _packed(data: object) -> str:
    """JSON, deflated: a million samples stay a few megabytes, and the page unpacks only what somebody opens."""
    return _deflated(json.dumps(data, separators=(",", ":")).encode())


def _deflated(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 9)).decode()


def embedded(data: dict[str, Any]) -> Markup:
    """JSON that no text in it can end: `<` never appears as itself."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704
