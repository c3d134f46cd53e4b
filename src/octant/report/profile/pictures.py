"""The pictures of a profile: time of ranks, waiting at call sites, message sizes, matrix of ranks, and regions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from octant import units
from octant.profile.results import Analysis, CommunicationMatrix, SizeDistribution
from octant.report import claims
from octant.report.charts.bars.bars import places_axis
from octant.report.charts.picture import (
    MAX_BARS,
    ZERO_BYTES,
    Axis,
    ChartSeries,
    Panel,
    Picture,
    Role,
    even_ticks,
    si_ticks,
    size_ticks,
    thin,
)
from octant.report.plain import clean
from octant.report.profile.tables import count, seconds, short_site, size, size_range
from octant.report.screen.sections import Section
from octant.report.sentences import Sentences
from octant.report.tables.section_text import shortened

MAX_CALLS, MAX_SITES, MAX_ROWS = 3, 8, 96
"""Calls with a colour of their own; sites with a bar; rows and columns of a drawn matrix."""
DECADE = 10
"""If the largest value of a matrix is this many times the smallest, its shades are logarithmic."""
SHOWN_TWICE = ("mpi-sites",)
"""Tables that are shown in addition to their picture."""
_REST, _OUTSIDE = "other MPI calls", "outside MPI"
_TEXTS = Sentences("octant.report.profile", "pictures")


def profile_pictures(one: Analysis, tables: Sequence[Section]) -> tuple[Picture, ...]:
    """Return the pictures for which the profile has numbers.

    Args:
        tables: of the profile; the numbers of a picture are the rows of the table with its id.
    """
    found = (_ranks(one), _sites(one), _sizes(one), _matrix(one.matrix), _regions(one))
    by_name = {f"{table.id}-picture": table for table in tables if table.rows}
    return tuple(_with_numbers(picture, by_name.get(picture.id)) for picture in found if picture is not None)


def _with_numbers(picture: Picture, table: Section | None) -> Picture:
    if table is None:
        return picture
    return replace(picture, header=tuple(column.heading for column in table.columns), rows=table.rows)


def without_pictures(tables: Sequence[Section], pictures: Sequence[Picture]) -> tuple[Section, ...]:
    """Return the tables that are not the numbers of a small picture."""
    drawn = {picture.id for picture in pictures}
    return tuple(one for one in tables if one.id in SHOWN_TWICE or f"{one.id}-picture" not in drawn)


def _stack(name: str, values: Sequence[float], role: Role, labels: Sequence[str] = ()) -> ChartSeries:
    places = tuple(map(float, range(len(values))))
    return ChartSeries(name, "stack", tuple(values), places, labels=tuple(labels), role=role, names="legend")


def _ranks(one: Analysis) -> Picture | None:
    """Draw the time of each rank: its costliest calls, other calls, and the time outside MPI."""
    if one.is_counts_only or not one.ranks or not one.total.elapsed_s:
        return None
    names = [call.name for call in one.calls if call.is_timed and call.time_s > 0][:MAX_CALLS]
    numbers = {name: one.job.call_names.index(name) for name in names}
    kept = thin(one.ranks, MAX_BARS)
    calls, parts = one.job.calls, dict[str, list[float]]()
    for name, number in numbers.items():
        mine = calls[calls["call"] == number]
        sums = np.bincount(mine["rank"], mine["time_s"], one.job.ranks)
        parts[name] = [float(sums[rank.rank]) / max(1, rank.threads) for rank in kept]
    in_mpi = [rank.mpi_s / max(1, rank.threads) for rank in kept]
    parts[_REST] = [max(0.0, all_of - sum(column)) for all_of, *column in zip(in_mpi, *parts.values(), strict=True)]
    parts[_OUTSIDE] = [max(0.0, rank.elapsed_s - inside) for rank, inside in zip(kept, in_mpi, strict=True)]
    if not any(parts[_REST]):
        del parts[_REST]
    roles: dict[str, Role] = {_REST: "grey", _OUTSIDE: "faint"}
    colours: tuple[Role, ...] = ("series-1", "series-2", "series-3")
    series = [
        _stack(clean(name), values, roles.get(name) or colours[number], [""] * len(values))
        for number, (name, values) in enumerate(parts.items())
    ]
    axis = Axis("time", False, even_ticks(max(rank.elapsed_s for rank in kept), si_ticks("s")), "s")
    return Picture(
        "mpi-times-picture", "Time of each rank",
        _TEXTS.line("ranks", len(kept), len(one.ranks), any(rank.threads > 1 for rank in kept)),
        (Panel(axis, places_axis("rank", [str(rank.rank) for rank in kept]), tuple(series)),),
        ("rank", *map(clean, parts), "elapsed"),
        tuple(
            (str(rank.rank), *(seconds(values[i]) for values in parts.values()), seconds(rank.elapsed_s))
            for i, rank in enumerate(kept)
        ),
        width=564,
    )  # fmt: skip


def _sites(one: Analysis) -> Picture | None:
    """Draw the time of the costliest call sites, that of waiting for a late rank apart."""
    if one.is_counts_only:
        return None
    kept = [site for site in one.sites if site.time_s > 0][:MAX_SITES]
    if len(kept) < 2:
        return None
    waits = {(wait.site_number, wait.name): 0.0 for wait in one.waits}
    for wait in one.waits:
        is_known = wait.rank is not None or wait.basis == "measured"
        waits[wait.site_number, wait.name] += wait.waited_s if is_known else 0.0
    waiting = [min(site.time_s, waits.get((site.site_number, site.name), 0.0)) for site in kept]
    other = [site.time_s - wait for site, wait in zip(kept, waiting, strict=True)]
    labels = [f"{clean(site.name)} {shortened(short_site(site.site), 36)}" for site in kept]
    series = [_stack("in the call", other, "series-1", [""] * len(kept))]
    if any(waiting):
        series.append(
            _stack(f"waiting for the latest rank ({one.waiting_basis})", waiting, "series-2", [""] * len(kept))
        )
    axis = Axis("time, sum of ranks", False, even_ticks(kept[0].time_s, si_ticks("s")), "s")
    return Picture(
        "mpi-sites-picture", "Costliest call sites",
        _TEXTS.line("sites", len(kept), len(one.sites), one.waiting_basis if any(waiting) else ""),
        (Panel(axis, places_axis("", labels), tuple(series)),),
        (), (), width=564,
    )  # fmt: skip


def _sizes(one: Analysis) -> Picture | None:
    """Draw calls and time by the size of a call."""
    buckets = one.sizes.buckets
    if not any(bucket.bytes for bucket in buckets):
        return None
    middles = [_place(bucket.first) for bucket in buckets]
    ticks = size_ticks([middles[0], *(2.0**bucket.number for bucket in buckets if bucket.number)])
    ends = (middles[0] / 2**0.5, middles[-1] * 2**0.5)
    axis = Axis("bytes of a call", True, tuple(tick for tick in ticks if ends[0] <= tick[0] <= ends[1]), "B", ends=ends)
    calls = [float(bucket.calls) for bucket in buckets]
    times = [bucket.time_s for bucket in buckets]
    panels = (_bars(axis, "Calls", "1", middles, calls), _bars(axis, "Time, sum of ranks", "s", middles, times))
    return Picture(
        "mpi-sizes-picture", "Message sizes", _TEXTS.line("sizes", _largest(one.sizes)), panels, (), (), width=564
    )


def _place(first: int) -> float:
    """Return the middle of a bucket on a logarithmic axis."""
    return first * 2**0.5 if first else ZERO_BYTES


def _bars(axis: Axis, title: str, unit: str, xs: Sequence[float], values: Sequence[float]) -> Panel:
    most = max(values)
    scale, name = (1.0, "") if unit == "1" else units.si_scale(most, unit=unit)
    ticks = even_ticks(most / scale, lambda value: f"{value:,.6g}")
    some = tuple((at * scale, text) for at, text in ticks[:: max(1, len(ticks) // 4)])
    upright = Axis(title if unit == "1" else f"{title}, {name}{unit}", False, some, unit)
    return Panel(axis, upright, (ChartSeries(title, "bars", tuple(xs), tuple(values), role="series-1", names="none"),))


def _largest(sizes: SizeDistribution) -> str:
    """Return the sizes of the bucket with the most calls that have bytes."""
    return size_range(max((one for one in sizes.buckets if one.bytes), key=lambda one: one.calls))


def _matrix(matrix: CommunicationMatrix | None) -> Picture | None:
    """Draw the bytes, or else the messages, of each pair of ranks."""
    if matrix is None or not matrix.messages.any():
        return None
    has_bytes = bool(matrix.bytes.any())
    values, number = matrix.bytes if has_bytes else matrix.messages, len(matrix.bytes)
    step = -(-number // MAX_ROWS)  # consecutive rows that are drawn as one
    block = matrix.block * step
    drawn = _summed(values, step)
    low, high = int(drawn[drawn > 0].min()), int(drawn.max())
    unit = "bytes" if has_bytes else "messages"
    text = size if has_bytes else lambda value: count(int(value or 0))

    def ranks(place: int) -> str:
        first, last = place * block, min((place + 1) * block, matrix.ranks) - 1
        return str(first) if first == last else f"{first}-{last}"

    found = [(float(j), float(i), int(drawn[i, j])) for i, j in zip(*np.nonzero(drawn), strict=True)]
    labels = [f"rank {ranks(int(i))} to rank {ranks(int(j))}: {text(value)}" for j, i, value in found]
    name = f"dark {text(high)} … pale {text(low)}" if text(low) != text(high) else f"each {text(high)}"
    squares = ChartSeries(
        name, "cells", tuple(j for j, _, _ in found), tuple(i for _, i, _ in found), labels=tuple(labels),
        shades=tuple(_shade(value, low, high) for _, _, value in found), role="series-1", names="legend",
    )  # fmt: skip
    ends, places = (-0.5, len(drawn) - 0.5), len(drawn) - 1
    ticks = [(at, ranks(int(at))) for at, _ in even_ticks(places, str) if at == int(at)]
    across, up = (Axis(title, False, tuple(ticks), ends=ends) for title in ("rank that receives", "rank that sends"))
    caption = _TEXTS.line("matrix", unit, block, high >= DECADE * low, size(int(matrix.bytes.sum())),
                          count(int(matrix.messages.sum())))  # fmt: skip
    panel = Panel(across, up, (squares,), height=1.5)
    return Picture("mpi-pairs-picture", "Messages between ranks", caption, (panel,), (), (), width=564)


def _summed(values: np.ndarray, step: int) -> np.ndarray:
    """Return a matrix whose blocks of `step` rows and columns are summed."""
    starts = np.arange(0, len(values), step)
    sums: np.ndarray = np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)
    return sums


def _shade(value: int, low: int, high: int) -> float:
    """Return 1 for the greatest, and less in proportion; over a decade and more on a logarithmic scale, from 0."""
    return math.log(value / low) / math.log(high / low) if high >= DECADE * low else value / high


def _regions(one: Analysis) -> Picture | None:
    """Draw the mean time of each region over its ranks, inside and outside MPI."""
    kept = [region for region in one.regions if region.time_s.mean > 0][:MAX_BARS]
    if one.is_counts_only or len(kept) < 2:
        return None
    inside = [min(region.mpi_s.mean, region.time_s.mean) for region in kept]
    outside = [region.time_s.mean - mpi for region, mpi in zip(kept, inside, strict=True)]
    names = [f"{'· ' * one_.depth}{shortened(clean(one_.name), 40) or 'whole program'}" for one_ in kept]
    words = [claims.percent(region.mpi_share or 0.0) for region in kept]
    series = (_stack("in MPI", inside, "series-1", words), _stack(_OUTSIDE, outside, "faint", [""] * len(kept)))
    most = max(region.time_s.mean for region in kept)
    axis = Axis("time, mean of ranks", False, even_ticks(most, si_ticks("s")), "s")
    return Picture(
        "mpi-regions-picture", "Regions", _TEXTS.line("regions", len(kept), len(one.regions)),
        (Panel(axis, places_axis("", names), series),),
        (), (), width=564,
    )  # fmt: skip
