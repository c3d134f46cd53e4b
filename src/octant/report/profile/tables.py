"""The tables of a profile as texts, for terminals and pages. JSON has the numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from octant import units
from octant.profile.job import Site
from octant.profile.results import (
    Analysis,
    CallTotals,
    ChangedCount,
    CollectiveWait,
    CommunicationMatrix,
    CommunicatorTotals,
    ExcessRow,
    RankTotals,
    RegionTotals,
    RepeatedValue,
    SiteOverlap,
    SiteTotals,
    SizeBucket,
)
from octant.report import claims
from octant.report.plain import clean
from octant.report.screen.sections import MAX_LISTED, Section, SectionColumn
from octant.report.sentences import Sentences
from octant.stats import FEW_LAUNCHES, Estimate, Period
from octant.stats.intervals import Kind

BRIEF_SITES, BRIEF_CALLS = 5, 4
"""Rows that a terminal shows without a request for details."""
BRIEF_COLUMNS = 6
LEAST_SHARE = 1e-4
"""Smaller shares are written as less than this."""
MAX_PAIRS = 40
"""Pairs of ranks with the most bytes that are listed."""
_NO_PERIOD = Period(datetime.fromtimestamp(0, UTC), datetime.fromtimestamp(0, UTC))
TEXTS = Sentences("octant.report.profile", "tables")


class _Field(NamedTuple):
    """A column of a table, and its text for an item."""

    title: str
    text: Callable[[Any], str]
    needs_values: bool = False  # of calls, a time or bytes; omitted if calls were only counted
    is_number: bool = True
    basis: str = ""


def sections(one: Analysis) -> tuple[Section, ...]:
    """Return the tables of a profile that have rows, and those that say why they have none."""
    valued = () if one.is_counts_only else (_waiting(one), _overlap(one), *_sizes(one), _pairs(one))
    found = (
        _sites(one), _calls(one), *valued, _communicators(one), _regions(one),
        _transfers(one, "one-sided", "One-sided communication", one.one_sided),
        _transfers(one, "files", "MPI-IO", one.files), _excess(one), _ranks(one), *_repeats(one), _definitions(),
    )  # fmt: skip
    return tuple(section for section in found if section.rows or section.text)


def site_text(site: Site) -> str:
    """Return a place in the program as part of a line."""
    return clean(site.text)


def short_site(site: Site) -> str:
    """Return file and line, or what else is known of a place: `solver.f90:212`."""
    name = site.file.rpartition("/")[2]
    return clean(f"{name}:{site.line}") if name and site.line else site_text(site)


def seconds(value: float | None) -> str:
    """Return a time: `4.21 s`; "" if it is not known."""
    return "" if value is None else claims.quantity(value, "s")


def size(value: float | None) -> str:
    """Return a number of bytes: `64.0 KiB`, `8 B`; "" if it is not known."""
    if value is not None and value < 1024 and value == int(value):
        return f"{int(value)}{claims.NARROW}B"
    return "" if value is None else claims.quantity(value, "B")


def share(value: float | None) -> str:
    """Return a share in percent with three digits, at most two decimals: `44.3 %`; "" if it is not known."""
    if value is None:
        return ""
    if 0 < value < LEAST_SHARE / 2:
        return f"<{claims.NARROW}{100 * LEAST_SHARE:g}{claims.NARROW}%"
    places = min(2, units.decimals(100 * value, 3)) if value else 0
    return f"{units.fixed_text(100 * value, places)}{claims.NARROW}%"


def count(value: int | None) -> str:
    """Return an exact number: `48,000`; "" if it is not known."""
    return "" if value is None else f"{value:,}"


def size_range(bucket: SizeBucket | ExcessRow) -> str:
    """Return the sizes of a bucket: `0 B`, `8 to 15 B`, `64 to 128 KiB` without its end."""
    if bucket.first == bucket.last:
        return units.bytes_text(bucket.first)
    if bucket.first < 1024:
        return f"{bucket.first} to {bucket.last} B"
    (first, unit), (last, end) = (units.bytes_text(x).split() for x in (bucket.first, bucket.last + 1))
    return f"{first} to {last} {unit}" if unit == end else f"{first} {unit} to {last} {end}"


def _section(
    analysis: Analysis, name: str, title: str, fields: Sequence[_Field], items: Iterable[object],
    most: int = MAX_LISTED, **more: Any,
) -> Section:  # fmt: skip
    """Return a table of items, at most `most`, with the columns for which this profile has numbers."""
    kept = [one for one in fields if not (one.needs_values and analysis.is_counts_only)]
    every = list(items)
    rows = tuple(tuple(clean(field.text(item)) for field in kept) for item in every[:most])
    filled = [i for i, field in enumerate(kept) if not field.is_number or any(row[i] for row in rows)]
    columns = tuple(SectionColumn(kept[i].title, kept[i].is_number, kept[i].basis) for i in filled)
    cells = tuple(tuple(row[i] for i in filled) for row in rows)
    return Section(f"mpi-{name}", title, columns, cells, total=len(every), **more)


def _text(title: str, text: Callable[[Any], str]) -> _Field:
    return _Field(title, text, is_number=False)


def _of_ranks() -> list[_Field]:
    """Return the distribution of a time over ranks."""
    return [
        _Field("mean rank", lambda one: seconds(one.of_ranks.mean), True),
        _Field("max rank", lambda one: seconds(one.of_ranks.maximum), True),
        _Field("rank of max", lambda one: str(one.of_ranks.rank_of_maximum), True),
        _Field("imbalance", lambda one: claims.ratio(one.of_ranks.imbalance), True),
    ]


_EXTREMES = (
    _Field("shortest call", lambda one: seconds(one.minimum_s) if one.maximum_s else "", True),
    _Field("longest call", lambda one: seconds(one.maximum_s) if one.maximum_s else "", True),
)


def _sites(one: Analysis) -> Section:
    untimed = {call.name for call in one.calls if not call.is_timed}
    spread = [field._replace(text=_if_timed(field.text, untimed)) for field in _of_ranks()]
    fields: list[_Field] = [
        _text("call site", lambda row: site_text(row.site)),
        _text("call", lambda row: row.name),
        _Field("of MPI time", _if_timed(lambda row: share(row.share), untimed), True),
        *spread[:2],
        _Field("calls", lambda row: count(row.calls)),
        _Field("bytes per call", _bytes_per_call, True),
        *spread[2:],
        _Field("time, sum of ranks", _if_timed(lambda row: seconds(row.time_s), untimed), True),
        _Field("bytes", lambda row: size(row.bytes or None), True),
        _Field("ranks", lambda row: count(row.ranks)),
        *(field._replace(text=_if_timed(field.text, untimed)) for field in _EXTREMES),
        _text("communicators", lambda row: _communicator_names(one, row.communicators)),
    ]
    text = TEXTS.line("sites", one.reliability.has_sites, bool(one.sites), one.is_counts_only)
    return _section(
        one, "sites", "Call sites", fields, one.sites, text=text, basis="measured", brief=BRIEF_SITES,
        brief_columns=BRIEF_COLUMNS,
    )  # fmt: skip


def _if_timed(text: Callable[[Any], str], untimed: Collection[str]) -> Callable[[Any], str]:
    """Return a text of a call that is "" for calls that are counted without time."""
    return lambda row: "" if row.name in untimed else text(row)


def _of_timed(text: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda row: text(row) if row.is_timed else ""


def _bytes_per_call(row: SiteTotals) -> str:
    return size(row.bytes / row.calls) if row.bytes and row.calls else ""


def _communicator_names(one: Analysis, numbers: Sequence[int]) -> str:
    names = [one.job.communicators[number].name for number in numbers]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _call_fields() -> list[_Field]:
    return [
        _text("call", lambda row: row.name),
        _Field("of MPI time", lambda row: share(row.share) if row.is_timed else "", True),
        _Field("mean rank", lambda row: seconds(row.of_ranks.mean) if row.is_timed else "", True),
        _Field("max rank", lambda row: seconds(row.of_ranks.maximum) if row.is_timed else "", True),
        _Field("calls", lambda row: count(row.calls)),
        _Field("bytes per call", lambda row: size(row.mean_bytes), True),
        _Field("rank of max", lambda row: str(row.of_ranks.rank_of_maximum) if row.is_timed else "", True),
        _Field("imbalance", lambda row: claims.ratio(row.of_ranks.imbalance) if row.is_timed else "", True),
        _Field("calls, least rank", lambda row: count(round(row.calls_of_ranks.minimum))),
        _Field("calls, most rank", lambda row: count(round(row.calls_of_ranks.maximum))),
        _Field("time, sum of ranks", lambda row: seconds(row.time_s) if row.is_timed else "", True),
        _Field("bytes", lambda row: size(row.bytes or None), True),
        *(field._replace(text=_of_timed(field.text)) for field in _EXTREMES),
    ]


def _calls(one: Analysis) -> Section:
    text = TEXTS.line("calls", bool(one.calls), one.is_counts_only) if one.ranks else ""
    return _section(
        one, "calls", "MPI calls", _call_fields(), one.calls, text=text, basis="measured",
        brief=BRIEF_CALLS if one.calls else 1, brief_columns=BRIEF_COLUMNS,
    )  # fmt: skip


def _transfers(one: Analysis, name: str, title: str, items: Sequence[CallTotals]) -> Section:
    fields = [field for field in _call_fields() if not field.title.startswith("calls, ")]
    text = TEXTS.line(name.replace("-", "_")) if items else ""
    return _section(one, name, title, fields, items, text=text, basis="measured")


def _waiting(one: Analysis) -> Section:
    fields: list[_Field] = [
        _text("call site", lambda row: site_text(row.site)),
        _text("call", lambda row: row.name),
        _Field("waits for rank", _late_rank, basis=one.waiting_basis),
        _Field("waiting", lambda row: seconds(row.waited_s), basis=one.waiting_basis),
        _Field("of MPI time", lambda row: share(row.share), basis=one.waiting_basis),
        _Field("time, sum of ranks", lambda row: seconds(row.time_s), basis="measured"),
        _Field("least rank", lambda row: seconds(row.least_s), basis="measured"),
        _Field("second least", lambda row: seconds(row.next_s), basis="measured"),
        _Field("calls of a rank", lambda row: count(row.calls), basis="measured"),
        _Field("ranks", lambda row: count(row.ranks), basis="measured"),
        _text("communicator", lambda row: row.communicator.name),
    ]
    text = TEXTS.line("waiting", one.waiting_basis if one.waits else "", seconds(one.waited_s), len(one.ranks))
    return _section(one, "waiting", "Waiting in collectives", fields, one.waits, text=text)


def _late_rank(row: CollectiveWait) -> str:
    return "none clearly" if row.rank is None else str(row.rank)


def _overlap(one: Analysis) -> Section:
    fields: list[_Field] = [
        _text("call site that starts requests", lambda row: site_text(row.site)),
        _text("call", lambda row: row.name),
        _Field("overlap", lambda row: share(row.overlap)),
        _Field("in flight", lambda row: seconds(row.in_flight_s)),
        _Field("waited for", lambda row: seconds(row.waited_s)),
        _Field("requests", lambda row: count(row.calls)),
        _Field("bytes", lambda row: size(row.bytes), True),
    ]
    text = TEXTS.line("overlap") if one.overlaps else ""
    return _section(one, "overlap", "Overlap of requests", fields, one.overlaps, text=text, basis="measured")


def _sizes(one: Analysis) -> list[Section]:
    every = [(called.name, bucket) for called in (one.sizes, *one.sizes_of_calls) for bucket in called.buckets]
    calls = sum(bucket.calls for bucket in one.sizes.buckets)
    fields: list[_Field] = [
        _text("call", lambda row: row[0] or "all calls"),
        _text("bytes of a call", lambda row: size_range(row[1])),
        _Field("calls", lambda row: count(row[1].calls)),
        _Field("bytes", lambda row: size(row[1].bytes), True),
        _Field("time", lambda row: seconds(row[1].time_s), True),
        _Field("time per call", lambda row: seconds(row[1].time_s / row[1].calls) if row[1].calls else "", True),
        _Field("of all calls", lambda row: share(row[1].calls / calls) if calls and not row[0] else ""),
    ]
    shown = [row for row in every if row[1].calls]
    text = TEXTS.line("sizes") if shown else ""
    return [_section(one, "sizes", "Message sizes", fields, shown, text=text, basis="measured")]


class TrafficPair(NamedTuple):
    """Messages from one block of ranks to another."""

    source: int
    target: int
    messages: int
    bytes: int


def busiest_pairs(matrix: CommunicationMatrix | None) -> list[TrafficPair]:
    """Return all pairs with messages, those with the most bytes first, then those with the most messages."""
    if matrix is None:
        return []
    found = [
        TrafficPair(int(i), int(j), int(matrix.messages[i, j]), int(matrix.bytes[i, j]))
        for i, j in zip(*np.nonzero(matrix.messages), strict=True)
    ]
    return sorted(found, key=lambda pair: (-pair.bytes, -pair.messages, pair.source, pair.target))


def ranks_of_block(matrix: CommunicationMatrix, number: int) -> str:
    """Return the ranks of a row of a matrix: `3`, or `64-127` if it is summarised."""
    first = number * matrix.block
    last = min(first + matrix.block, matrix.ranks) - 1
    return str(first) if first == last else f"{first}-{last}"


def _pairs(one: Analysis) -> Section:
    matrix, total = one.matrix, int(one.matrix.bytes.sum()) if one.matrix else 0

    def ranks(number: int) -> str:
        return ranks_of_block(matrix, number) if matrix else ""

    fields: list[_Field] = [
        _text("from rank", lambda pair: ranks(pair.source)),
        _text("to rank", lambda pair: ranks(pair.target)),
        _Field("bytes", lambda pair: size(pair.bytes), True),
        _Field("messages", lambda pair: count(pair.messages)),
        _Field("bytes per message", lambda pair: size(pair.bytes / pair.messages)),
        _Field("of all bytes", lambda pair: share(pair.bytes / total) if total else ""),
    ]
    text = TEXTS.line("pairs", matrix, len(one.ranks)) if matrix or len(one.ranks) > 1 else ""
    pairs = busiest_pairs(matrix)
    return _section(one, "pairs", "Messages between ranks", fields, pairs, MAX_PAIRS, text=text, basis="measured")


def _communicators(one: Analysis) -> Section:
    fields: list[_Field] = [
        _text("communicator", lambda row: row.communicator.name),
        _text("kind", lambda row: row.communicator.kind),
        _Field("size", lambda row: count(row.communicator.size)),
        _Field("of MPI time", lambda row: share(row.share), True),
        _Field("time, sum of ranks", lambda row: seconds(row.time_s), True),
        _Field("calls", lambda row: count(row.calls)),
        _Field("bytes", lambda row: size(row.bytes), True),
        _Field("ranks that called", lambda row: count(row.ranks)),
    ]
    rows: Sequence[CommunicatorTotals] = one.communicators
    text = TEXTS.line("communicators", one.is_counts_only) if rows else ""
    return _section(one, "communicators", "Communicators, windows and files", fields, rows, text=text, basis="measured")


def _regions(one: Analysis) -> Section:
    fields: list[_Field] = [
        _text("region", lambda row: f"{'· ' * row.depth}{row.name or 'whole program'}"),
        _Field("time, mean rank", lambda row: seconds(row.time_s.mean)),
        _Field("time, max rank", lambda row: seconds(row.time_s.maximum)),
        _Field("rank of max", lambda row: str(row.time_s.rank_of_maximum)),
        _Field("MPI, mean rank", lambda row: seconds(row.mpi_s.mean), True),
        _Field("MPI share", lambda row: share(row.mpi_share), True),
        _Field("visits", lambda row: count(row.visits)),
        _Field("calls", lambda row: count(row.calls)),
        _Field("bytes", lambda row: size(row.bytes), True),
        _Field("ranks", lambda row: count(row.ranks)),
    ]
    rows: Sequence[RegionTotals] = one.regions
    text = TEXTS.line("regions", one.is_counts_only) if rows else ""
    return _section(one, "regions", "Regions", fields, rows, text=text, basis="measured")


def _excess(one: Analysis) -> Section:
    fields: list[_Field] = [
        _text("bytes of a message", size_range),
        _Field("excess", lambda row: seconds(row.excess_s), basis="modelled"),
        _Field("time", lambda row: seconds(row.time_s), basis="measured"),
        _Field("expected", lambda row: seconds(row.expected_s), basis="modelled"),
        _Field("messages", lambda row: count(row.messages), basis="measured"),
        _text("size", lambda row: "outside the curve" if row.is_extrapolated else "on the curve"),
        _text("calls", lambda row: ", ".join(row.names)),
    ]
    text = TEXTS.line("excess", one.excess) if one.ranks else ""
    return _section(one, "excess", "Excess time of messages", fields, one.excess.rows, text=text)


def _ranks(one: Analysis) -> Section:
    fields: list[_Field] = [
        _text("rank", lambda row: str(row.rank)),
        _Field("communication", lambda row: seconds(row.mpi_s), True),
        _Field("MPI share", lambda row: share(row.mpi_share), True),
        _Field("elapsed", lambda row: seconds(row.elapsed_s)),
        _Field("user", lambda row: seconds(row.user_s)),
        _Field("system", lambda row: seconds(row.system_s)),
        _Field("memory", lambda row: size(row.peak_memory_bytes)),
        _Field("context switches", lambda row: count(row.context_switches)),
        _Field("calls", lambda row: count(row.calls)),
        _Field("bytes sent", lambda row: size(row.bytes_sent), True),
        _Field("threads", lambda row: count(row.threads)),
        _Field("overhead", lambda row: share(row.own_cost_share), basis="estimated"),
        _text("host", lambda row: row.host),
        _text("end", lambda row: "killed" if row.state == "running" else row.state),
    ]
    rows: Sequence[RankTotals] = one.ranks
    text = TEXTS.line("ranks") if rows else ""
    return _section(one, "ranks", "Ranks", fields, rows, text=text, basis="measured")


def _repeats(one: Analysis) -> list[Section]:
    if one.repeats.launches < 2:
        return []
    values: list[_Field] = [
        _text("value", lambda row: row.name),
        _Field("median", lambda row: repeated_texts(row).number),
        _text("unit", lambda row: repeated_texts(row).unit),
        _Field("interval", lambda row: repeated_texts(row).ends),
        _text("launches", lambda row: "; ".join(_single(x, row) for x in row.values[:8])),
        _text("kind of interval", lambda row: repeated_texts(row).claim),
    ]
    changed: list[_Field] = [
        _text("call", lambda row: row.name),
        _text("what differs", lambda row: row.what),
        _Field("least", _changed(lambda row: row.least)),
        _Field("most", _changed(lambda row: row.most)),
        _text("reason", lambda row: "polling: its number depends on time" if row.is_polling else "not known"),
    ]
    repeats = one.repeats
    return [
        _section(
            one, "launches", f"Values of {units.counted(repeats.launches, 'launch')}", values, repeats.values,
            text=TEXTS.line("launches", repeats.launches), basis="measured",
        ),
        _section(
            one, "counts", "Counts that differ between launches", changed, repeats.changed,
            text=TEXTS.line("counts", len(repeats.changed), repeats.launches, one.is_counts_only), basis="measured",
        ),
    ]  # fmt: skip


def repeated_texts(row: RepeatedValue) -> claims.ValueTexts:
    """Return the median of launches with the ends of its interval, or two values, and what the ends are."""
    number, is_share = len(row.values), row.unit == "1"
    if row.interval is None:
        low, high = min(row.values), max(row.values)
        estimate = Estimate(low, float(np.mean(row.values)), high, "two values", "median", number, _NO_PERIOD)
        texts = claims.value_texts(estimate, row.unit, is_share)
        return replace(texts, claim=TEXTS.line("two_launches", number))
    ends_of = (row.interval.low, row.interval.middle, row.interval.high)
    kind: Kind = "order statistics" if number >= FEW_LAUNCHES else "student"
    estimate = Estimate(*ends_of, kind, "median", number, _NO_PERIOD)
    texts = claims.value_texts(estimate, row.unit, is_share)
    return replace(texts, claim=TEXTS.line("interval", number, number < FEW_LAUNCHES, bool(texts.ends)))


def _single(value: float, row: RepeatedValue) -> str:
    return claims.quantity(value, row.unit, share=row.unit == "1")


def _changed(number: Callable[[ChangedCount], int]) -> Callable[[ChangedCount], str]:
    return lambda row: count(number(row)) if row.what == "calls" else f"{number(row):,} B"


def definitions() -> Mapping[str, str]:
    """Return the terms of the report with their definitions."""
    lines = TEXTS.lines("definitions")
    return {term.strip(): text.strip() for term, _, text in (line.partition(" | ") for line in lines)}


def _definitions() -> Section:
    columns = (SectionColumn("term", False), SectionColumn("definition", False))
    return Section("mpi-definitions", "Definitions", columns, tuple(definitions().items()), is_prose=True)


def overlap_of(rows: Sequence[SiteOverlap]) -> float | None:
    """Return the overlap of all sites: a sum over a sum; `None` without requests."""
    in_flight = sum(row.in_flight_s for row in rows)
    return (in_flight - sum(row.waited_s for row in rows)) / in_flight if in_flight > 0 else None
