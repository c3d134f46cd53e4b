"""The first screen of a profile: headline, reliability, six tiles, and what to do first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from octant import units
from octant.advice.findings import Review, RunFinding
from octant.placement import numbers_text
from octant.profile.results import Analysis
from octant.report import claims
from octant.report.plain import clean
from octant.report.profile.tables import count, repeated_texts, seconds, share, short_site, site_text, size
from octant.report.results import library_text
from octant.report.screen.answer import Reliability, ReliabilityRow, ShareBar, Strip, Tile
from octant.report.screen.first_screen import FirstScreen
from octant.report.sentences import Sentences
from octant.stats.grades import GradeName

NOTED_OVERHEAD, LIMITING_OVERHEAD = 0.01, 0.05
"""Shares of the time that recording takes, from which it is a caveat."""
LIMITING_LOSS = 0.01
"""Share of calls without site and size from which the tables of sites are limited."""
_TEXTS = Sentences("octant.report.profile", "screen")
_GRADES: tuple[GradeName, ...] = ("reliable", "note", "limited", "not measurable")


def first_screen_of(one: Analysis, review: Review | None = None) -> FirstScreen:
    """Return the first screen of a profile.

    Args:
        review: the findings about the run, with the checks that passed.
    """
    found = review or Review()
    rules = [f"the rule {rule.name} cannot be used here ({rule.reason})" for rule in found.broken]
    return FirstScreen(
        answer_text(one), reliability_of(one), profile_tiles(one),
        (*found.findings, *_missing_curve(one)), found.passed, absent=tuple(rules),
        identity=(program_text(one), about_text(one)),
    )  # fmt: skip


def program_text(one: Analysis) -> str:
    """Return the name of the program: `solver`."""
    return clean(one.job.program.rpartition("/")[2]) or "MPI profile"


def about_text(one: Analysis) -> str:
    """Return what ran: `8 ranks on 2 hosts · Open MPI v4.1.4 · MPI profile of 1 launch`."""
    hosts, library = len({rank.host for rank in one.ranks}), clean(library_text(one.job.library))
    return _TEXTS.line("about", one.job.ranks, hosts, library or clean(one.job.abi), one.repeats.launches)


def answer_text(one: Analysis) -> str:
    """Return the headline: the share of MPI, and where most of it goes."""
    wait, site, share_of_mpi = one.head.waiting, one.head.costliest, one.head.mpi_share
    several = next((row.values for row in one.repeats.values if row.name == "MPI share"), ())
    if share_of_mpi is not None and several:
        share_of_mpi = float(np.median(several))  # as in the tile
    if wait is not None and one.head.waiting_share >= 0.01:
        late = (_percent(one.head.waiting_share), str(wait.rank), _bare(wait.name), short_site(wait.site))
        return _TEXTS.line("answer", one, _percent(share_of_mpi), late, None)
    if site is not None and not site.time_s and not one.is_counts_only:
        site = None  # no time was spent in MPI
    costliest = (_bare(site.name), short_site(site.site), _percent(site.share), site.calls) if site else None
    return _TEXTS.line("answer", one, _percent(share_of_mpi), None, costliest)


def _percent(value: float | None) -> str:
    return "" if value is None else claims.percent(value)


def _bare(name: str) -> str:
    return clean(name.removeprefix("MPI_"))


def reliability_of(one: Analysis) -> Reliability:
    """Return the grade of a profile, one or two sentences, and a row for each aspect."""
    known = one.reliability
    ranks = ReliabilityRow(*_TEXTS.lines("ranks", known, one.job.ranks, *map(_ranks, (known.missing, known.killed))))
    rows = [
        ReliabilityRow(*_TEXTS.lines("overhead", known, share(known.own_cost_share), share(known.own_cost_of_worst))),
        ReliabilityRow(*_TEXTS.lines("dropped", known, share(known.lost_calls_share))),
        ranks,
        ReliabilityRow(*_TEXTS.lines("times", known)),
        ReliabilityRow(*_TEXTS.lines("processors", known)),
        ReliabilityRow(*_TEXTS.lines("launches", one.repeats)),
    ] if one.ranks else [ranks]  # fmt: skip
    problems = [ReliabilityRow("Problem", clean(text), "The profile is incomplete.") for text in known.problems]
    cost = (
        claims.percent(known.own_cost_share) if known.own_cost_share >= 0.0005 else f"less than {claims.percent(0.001)}"
    )
    text = _TEXTS.line("reliability", one, cost, *map(_ranks, (known.missing, known.killed)))
    return Reliability(_grade(one), text, (*rows, *problems))


def _ranks(numbers: Sequence[int]) -> str:
    """Return ranks as a list: `rank 5`, `ranks 5-6,9`."""
    return f"rank{'s' * (len(numbers) > 1)} {numbers_text(numbers)}"


def _grade(one: Analysis) -> GradeName:
    known = one.reliability
    if not one.ranks:
        return "not measurable"
    limits = (
        not known.is_complete, bool(known.problems), known.lost_calls_share > LIMITING_LOSS,
        known.own_cost_share > LIMITING_OVERHEAD, (known.oversubscription or 0.0) > 1.0,
    )  # fmt: skip
    notes = (
        known.is_counts_only, bool(known.lost_calls or known.lost_requests), not known.has_sites,
        known.own_cost_of_worst > NOTED_OVERHEAD,
    )  # fmt: skip
    return _GRADES[2 if any(limits) else 1 if any(notes) else 0]


class _Value(NamedTuple):
    """A value of the job with its launches."""

    texts: claims.ValueTexts
    strip: Strip | None = None


def profile_tiles(one: Analysis) -> tuple[Tile, ...]:
    """Return the six tiles; those without a value state the reason."""
    made = (_time(one), _mpi_share(one), _balance(one), _excess(one), _costliest(one), _memory(one))
    known = reliability_of(one)
    reasons = (known.text,) if known.grade != "reliable" else ()
    return tuple(replace(tile, grade=known.grade, reasons=reasons) if not tile.missing else tile for tile in made)


def _value(one: Analysis, name: str, value: float, unit: str) -> _Value:
    """Return the median of a value over all launches with its interval, or the value of a single launch."""
    several, is_share = next((row for row in one.repeats.values if row.name == name), None), unit == "1"
    if several is None or len(several.values) < 2:
        return _plain(value, unit, is_share)
    texts, middle = repeated_texts(several), float(np.median(several.values))
    known = several.interval if several.interval and texts.ends else None
    strip = Strip(several.values, (), known.low if known else middle, middle, known.high if known else middle)
    ends = [claims.quantity(end, unit, is_share) for end in strip.span]
    return _Value(texts, replace(strip, ends=(ends[0], ends[1])))


def _plain(value: float, unit: str, is_share: bool = False) -> _Value:
    return _Value(claims.number_texts(value, unit, is_share))


def _tile(
    name: str, what: str, value: _Value, basis: str, launches: int, bar: ShareBar | None = None,
    of: str = "", also: tuple[str, ...] = (),
) -> Tile:  # fmt: skip
    """Return a tile; details of a median of launches are those of the newest one.

    Args:
        of: first detail.
        also: further details.
    """
    texts, is_repeated = value.texts, value.strip is not None
    basis = _TEXTS.line("basis", basis, launches, texts.ends, texts.claim, is_repeated)
    if is_repeated and of:
        of = _TEXTS.line("newest", of)
    elif is_repeated and also:
        also = (_TEXTS.line("newest", also[0]), *also[1:])
    return Tile(
        name, what, number=texts.number, unit=texts.unit, ends=texts.ends, basis=basis.partition(":")[0],
        interval=basis, strip=value.strip, bar=bar, of=of, also=also,
    )  # fmt: skip


def _several(one: Analysis) -> int:
    """Return the number of launches, or 0 for one, for values that are always those of the newest launch."""
    return one.repeats.launches if one.repeats.launches > 1 else 0


def _time(one: Analysis) -> Tile:
    if not one.ranks:
        return Tile("Time", "slowest rank", "no rank wrote a profile")
    total = one.total
    used = [text for text in (seconds(total.user_s), seconds(total.system_s)) if text]
    return _tile(
        "Time", "slowest rank" if len(one.ranks) > 1 else "one rank", _value(one, "elapsed", total.elapsed_s, "s"),
        "measured", one.repeats.launches,
        also=(f"CPU time {' user, '.join(used)} system",) if len(used) == 2 else (),
    )  # fmt: skip


def _mpi_share(one: Analysis) -> Tile:
    total = one.total
    if total.mpi_share is None:
        return Tile("MPI share", "of the time", _no_times(one))
    ranks, also = total.mpi_share_of_ranks, []
    if ranks is not None and ranks.minimum < ranks.maximum:
        ends = ((share(ranks.minimum), ranks.rank_of_minimum), (share(ranks.maximum), ranks.rank_of_maximum))
        also.append(" to ".join(f"{text} (rank {rank})" for text, rank in ends))
    if one.waited_s and total.mpi_s:
        also.append(f"{share(one.waited_s / total.mpi_s)} of it waiting ({one.waiting_basis})")
    return _tile(
        "MPI share", "of the time of all ranks", _value(one, "MPI share", total.mpi_share, "1"), "measured",
        one.repeats.launches, bar=ShareBar("comparison", (("MPI", total.mpi_share),)),
        of=f"{seconds(total.mpi_s)} in MPI, sum of ranks", also=tuple(also),
    )  # fmt: skip


def _no_times(one: Analysis) -> str:
    if not one.ranks:
        return "no rank wrote a profile"
    return "calls were counted without times" if one.is_counts_only else "no time was recorded"


def _balance(one: Analysis) -> Tile:
    known = one.efficiency
    if known is None:
        return Tile("Load balance", "of useful time", _no_times(one))
    if len(one.ranks) < 2:
        return Tile("Load balance", "of useful time", "one rank has no other rank to balance with")
    useful = known.useful_s
    return _tile(
        "Load balance", "of useful time", _plain(known.load_balance, "1", True), "measured", _several(one),
        bar=ShareBar("comparison", (("load balance", known.load_balance),)),
        of=f"mean {seconds(useful.mean)}; {seconds(useful.maximum)} on rank {useful.rank_of_maximum}",
        also=(f"parallel efficiency {share(known.parallel)}", f"communication {share(known.communication)}"),
    )  # fmt: skip


def _excess(one: Analysis) -> Tile:
    known = one.excess
    if not one.ranks:
        return Tile("Excess time", "modelled", _no_times(one))
    if known.reason:
        return Tile("Excess time", "modelled", clean(known.reason.rstrip(".")))
    calls = [f"{clean(call.name)} {seconds(call.excess_s)}" for call in known.calls[:2] if call.excess_s]
    return _tile(
        "Excess time", "of messages", _plain(known.excess_s, "s"), "modelled", _several(one),
        bar=ShareBar("comparison", (("excess", known.share),)), of=f"{share(known.share)} of MPI time",
        also=(*calls, f"curve of {clean(known.curve)}"),
    )  # fmt: skip


def _costliest(one: Analysis) -> Tile:
    site = one.head.costliest
    if site is None:
        return Tile("Costliest site", "of calls", "no MPI call was recorded" if one.ranks else _no_times(one))
    calls, name, where = f"{count(site.calls)} call{'s' * (site.calls != 1)}", clean(site.name), site_text(site.site)
    if one.is_counts_only:
        value = _Value(claims.ValueTexts(count(site.calls), f"call{'s' * (site.calls != 1)}"))
        return _tile(
            "Most frequent site",
            "of all",
            value,
            "measured",
            _several(one),
            of=f"{name}, {where}",
            also=(_ranks_count(site.ranks),),
        )
    spread = site.of_ranks
    times = f"mean {seconds(spread.mean)}; {seconds(spread.maximum)} on rank {spread.rank_of_maximum}"
    return _tile(
        "Costliest site", "of MPI time", _plain(site.share, "1", True), "measured", _several(one),
        bar=ShareBar("comparison", (("of MPI time", site.share),)), of=f"{name}, {where}",
        also=(calls, times if site.ranks > 1 else seconds(spread.maximum)),
    )  # fmt: skip


def _ranks_count(number: int) -> str:
    return units.counted(number, "rank")


def _memory(one: Analysis) -> Tile:
    spread, total = one.total.peak_memory_of_ranks, one.total.peak_memory_bytes
    if spread is None or total is None:
        return Tile("Memory", "of all ranks", "the peak of memory was not recorded" if one.ranks else _no_times(one))
    most = f"mean {size(spread.mean)}; {size(spread.maximum)} on rank {spread.rank_of_maximum}"
    return _tile(
        "Memory", "sum of the peaks of ranks", _plain(float(total), "B"), "measured", _several(one),
        also=(most,) if len(one.ranks) > 1 else (),
    )  # fmt: skip


def _missing_curve(one: Analysis) -> tuple[RunFinding, ...]:
    """Return how to measure the curve without which there is no excess time."""
    known = one.excess
    if not known.reason or not known.command or one.is_counts_only or not one.matrix:
        return ()
    title, body = _TEXTS.lines("missing_curve", known.reason.rstrip("."))
    return (RunFinding("missing-curve", title, body, (known.command,), family="missing-curve"),)
