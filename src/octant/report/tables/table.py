"""The tables of a run's page: rows of figures with short names, merged footnotes, and what a row opens."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from octant import stats, units
from octant.analysis.figures import Figure
from octant.analysis.names import distinct_names
from octant.record import NOT_STATED, Point
from octant.report import claims
from octant.report.results import has_no_speed
from octant.report.screen.answer import ShareBar, Strip, launch_strip
from octant.stats.grades import GradeName

_AUTOGROUP = re.compile(r"/autogroup-\d+")


@dataclass(frozen=True)
class FigureRow:
    """Row of a figure."""

    figure: Figure
    number: int  # its place among the figures of the page
    name: str
    text: claims.ValueTexts
    ends: str  # "24.28 … 24.35"; "one launch" or "none valid" where repeated launches have no ends
    launches: str  # "6", "5 of 6"
    strip: Strip | None
    share: str  # "92 %", "best of this run", or nothing
    bar: ShareBar | None
    letters: tuple[str, str]  # of the footnotes on what the ends are, and on the limit; "" without one
    grade: GradeName


@dataclass(frozen=True)
class FigureTable:
    """Rows by workload, with their footnotes."""

    groups: tuple[tuple[str, str, tuple[FigureRow, ...]], ...]  # a workload's name, its summary and its rows
    footnotes: tuple[tuple[str, str], ...]  # letter and text
    ends: str  # heading of the column with the ends
    claim: str  # what the ends of the rows are, or where that is stated


def table(figures: Sequence[Figure], numbers: Mapping[int, int]) -> FigureTable:
    """Return the rows of figures; `numbers` are their positions among those of the page, by `id`."""
    said = claims.claims(figure.value for figure in figures if not claims.without_interval(figure))
    texts = list(dict.fromkeys(said.values()))
    letters = {text: claims.mark(number) for number, text in enumerate(texts)} if len(texts) > 1 else {}
    of_sort = {sort: letters.get(text, "") for sort, text in said.items()}
    limited = [one.limit.source for one in figures if one.limit and one.of_limit is not None]
    sources = dict.fromkeys(f"100 % is {source}" for source in limited if source)
    limits = {text: claims.mark(len(letters) + number) for number, text in enumerate(sources)}
    links = {claims.link_text(link): "link" for link in dict.fromkeys(one.link for one in figures if one.link)}
    groups: dict[str, tuple[str, str, list[FigureRow]]] = {}
    names = distinct_names(figures)
    for figure in figures:
        row = _row(figure, (numbers[id(figure)], names[id(figure)]), of_sort, limits)
        groups.setdefault(figure.workload.name, (figure.workload.name, figure.workload.summary, []))[2].append(row)
    certain = bool(said) and all(kind not in ("two values", "one launch") for kind, _, _ in said)
    return FigureTable(
        tuple((name, summary, tuple(rows)) for name, summary, rows in groups.values()),
        tuple((letter, text) for text, letter in (*letters.items(), *limits.items(), *links.items())),
        "95 % interval" if certain else "Low … high",
        texts[0] if len(texts) == 1 else "the notes below explain low and high" if texts else "none has an interval",
    )


def _row(
    figure: Figure, named: tuple[int, str], of_sort: Mapping[claims.Sort, str], limits: Mapping[str, str]
) -> FigureRow:
    share = figure.of_limit
    source = figure.limit.source if figure.limit and share is not None else ""
    text, none = claims.figure_texts(figure), claims.without_interval(figure)
    if none:
        text = replace(text, ends="", claim=claims.claim_text(figure))
    best = claims.BEST if figure.is_limit and figure.value else ""
    shown = best if share is None else claims.percent(share)
    ends_letter = "" if none or not figure.value else of_sort[claims.sort_of(figure.value)]
    letters = ends_letter, limits.get(f"100 % is {source}", "")
    return FigureRow(
        figure, *named, text, none or text.ends, figure.count_text, launch_strip(figure), shown,
        None if share is None else ShareBar("limit", (("", share),)), letters, claims.grade(figure),
    )  # fmt: skip


def quantile_texts(figure: Figure) -> list[tuple[str, str]]:
    """Return quantiles over the stored samples, at the levels that their number supports; none without samples."""
    samples = np.concatenate([launch.samples for launch in figure.launches] or [np.empty(0)])
    if not len(samples):
        return []
    levels = [0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0]
    stated = [q for q in levels if q in (0.0, 0.5, 1.0) or len(samples) * min(q, 1 - q) >= 5]
    names = {0.0: "least", 0.5: "median", 1.0: "greatest"}
    return [
        (names.get(q, f"{100 * q:g} %"), units.si_text(value, figure.metric.unit, 4))
        for q, value in zip(stated, stats.quantiles(samples, stated), strict=True)
    ]


def launch_rows(figure: Figure) -> list[tuple[str, ...]]:
    """Return the cells of `LAUNCH_HEADER` for each launch."""
    made = {} if has_no_speed(figure) else {id(launch.point): launch for launch in figure.launches}
    rows: list[tuple[str, ...]] = []
    for point in figure.points:
        begun, launch = point.process.begun, made.get(id(point))
        valid = "no: lost more than half of its CPU time"
        if launch is None:
            valid = "no: wrong result" if has_no_speed(figure) and not point.passed else "no: no value"
        elif any(one is launch for one in figure.counted):
            valid = "yes" if launch.counts else "shown, because every launch lost more than half of its CPU time"
        rows.append((
            f"{begun:%H:%M:%S}" if begun else "not recorded",
            units.si_text(launch.value.middle, figure.metric.unit, 4) if launch else "none",
            str(launch.count) if launch else "0",
            str(point.warmup),
            str(point.batch),
            point.stopped_by,
            valid,
        ))  # fmt: skip
    return rows


LAUNCH_HEADER = ("Start", "Value", "Samples", "Warm-up", "Batch", "Stopped by", "Counts")


def setting_texts(figure: Figure) -> list[tuple[str, str]]:
    """Return the requested and the observed settings: knobs, ranks and threads, start, CPUs, memory, scheduling."""
    points = figure.points
    shapes = (" × ".join(NOT_STATED if n is None else str(n) for n in (one.ranks, one.threads)) for one in points)
    knobs = " ".join(f"{name}={value}" for name, value in figure.knobs.items())
    return [
        ("Full name", figure.name),
        ("Workload", figure.workload.name),
        ("Knobs", knobs or "none"),
        ("Ranks × threads", _merged(shapes)),
        ("Start synchronisation", _merged(point.sync or "none" for point in points)),
        ("Ran on", _merged(places_text(point) for point in points)),
        ("Memory", _merged(memory_text(point) for point in points)),
        ("Scheduling", _merged(scheduling_text(point) for point in points)),
    ]


def _merged(texts: Iterable[str]) -> str:
    """Return a text that all launches share, or each text with the number of its launches."""
    found = Counter(texts)
    if len(found) <= 1:
        return next(iter(found), "")
    return "; ".join(f"{text} ({units.counted(number, 'launch')})" for text, number in found.items())


def places_text(point: Point) -> str:
    """Return the CPUs on which the threads of each rank ran: `CPU 0+1, 2+3`."""
    places = ["+".join(map(str, rank.cpus)) for rank in point.given]
    return f"CPU {', '.join(places)}" if places else "not recorded"


def memory_text(point: Point) -> str:
    """Return the size and the pages of the buffers: `640 MiB, 100 % of it in huge pages, on node 0`."""
    buffers = [buffer for rank in point.given for buffer in rank.buffers]
    resident = sum(buffer.resident_bytes for buffer in buffers)
    if not resident:
        return "not recorded"
    huge = sum(buffer.huge_bytes for buffer in buffers) / resident
    nodes = sorted({node for buffer in buffers for node in buffer.pages_on_node})
    where = f", on node {'+'.join(nodes)}" if nodes else ""
    return f"{units.bytes_text(resident)}, {units.percent_text(huge)} of it in huge pages{where}"


def scheduling_text(point: Point) -> str:
    """Return the scheduling of the ranks, without the numbers of autogroups, which are new in each session."""
    texts = (rank.scheduling.text for rank in point.given if rank.scheduling)
    return "; ".join(dict.fromkeys(_AUTOGROUP.sub("/autogroup", text) for text in texts)) or "not recorded"
