"""Two runs side by side: what is faster, what is slower, and where no difference can be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from octant import stats, units
from octant.ask import EFFORT, canonical, cell_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.record import Failure, Point

Word = Literal["slower", "faster", "no difference seen", "not comparable"]
THRESHOLD = 0.03
MOMENTARY = frozenset({"frequency_now_hz", "steal_fraction", "swap_used_bytes"})
"""Facts that differ between any two runs and say nothing about either."""


@dataclass(frozen=True)
class Comparison:
    """One figure in both runs. `speed` is that of B over A: above 1 is faster, for rates and for times."""

    before: Figure | None
    after: Figure | None
    speed: stats.Interval | None
    word: Word
    why: tuple[str, ...]
    lost: bool = False  # A had a figure, and B tried and has none: a regression without a ratio

    @property
    def figure(self) -> Figure:
        """The row of A, or of B where A has none."""
        found = self.before or self.after
        assert found is not None  # noqa: S101 - a comparison of nothing is never built
        return found


@dataclass(frozen=True)
class Comparisons:
    """All figures of two runs, and what else differs between them."""

    before: Summary
    after: Summary
    threshold: float
    figures: tuple[Comparison, ...]
    differences: tuple[tuple[str, str, str], ...]  # what, in A, in B

    def of(self, word: Word) -> list[Comparison]:
        """The figures with one verdict."""
        return [figure for figure in self.figures if figure.word == word]

    @property
    def regressions(self) -> list[Comparison]:
        """What a gate stops at: slower figures, and figures that B tried and could not give."""
        return [figure for figure in self.figures if figure.word == "slower" or figure.lost]

    @property
    def compared(self) -> int:
        """How many figures have a ratio."""
        return sum(figure.speed is not None for figure in self.figures)


def compare(
    before: Summary,
    after: Summary,
    threshold: float = THRESHOLD,
    curves: bool = False,
    defaults: Callable[[str], Mapping[str, str]] = lambda _workload: {},
) -> Comparisons:
    """Matches figures by workload, ranks and knobs, and compares their speeds.

    A figure is faster or slower if the 95 % interval of the ratio excludes 1 and the ratio differs from 1 by at least
    `threshold`. Points of curves take part only with `curves`.

    Args:
        defaults: of the knobs of a workload; asked where only one run knows a knob, which then counts as set so.
    """
    plain = _defaults_of_new_knobs((*before.figures, *after.figures), defaults)
    olds, news = _by_key(before, curves, plain), _by_key(after, curves, plain)
    figures = [_compare(after, olds.get(key), news.get(key), threshold) for key in {**olds, **news}]
    return Comparisons(before, after, threshold, tuple(figures), tuple(_differences(before, after)))


def _defaults_of_new_knobs(
    figures: Sequence[Figure], defaults: Callable[[str], Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """By workload: the defaults of the knobs that some of its figures know and others do not."""
    knobs: dict[str, list[frozenset[str]]] = {}
    for row in figures:
        knobs.setdefault(row.workload.name, []).append(frozenset(row.knobs))
    new = {name: frozenset.union(*sets) - frozenset.intersection(*sets) for name, sets in knobs.items()}
    return {name: {k: v for k, v in defaults(name).items() if k in some} for name, some in new.items() if some}


def _by_key(summary: Summary, curves: bool, plain: Mapping[str, Mapping[str, str]]) -> dict[tuple[object, ...], Figure]:
    """Table rows first, so that a point that also lies on a curve counts as the row."""
    rows = sorted(summary.figures, key=lambda row: not row.show.table)
    found: dict[tuple[object, ...], Figure] = {}
    for row in rows:
        if row.show.table or curves:
            known = plain.get(row.workload.name)
            found.setdefault((*cell_key(row.workload.name, row.knobs, row.point.ranks, known), row.metric.name), row)
    return found


def _compare(after: Summary, old: Figure | None, new: Figure | None, threshold: float) -> Comparison:
    if old is None or new is None:
        return _alone(after, old, new)
    why = _obstacles(old, new)
    if why:
        return Comparison(
            old, new, None, "not comparable", tuple(why), lost=old.value is not None and new.value is None
        )
    sides = [[launch.draws for launch in row.launches] for row in (new, old)]
    top, bottom = sides if old.metric.better == "higher" else sides[::-1]
    speed = stats.ratio_interval(top, bottom)
    word = _word(speed, threshold)
    hidden = max(speed.high - 1, 1 - speed.low)
    unclear = word == "no difference seen" and hidden > threshold
    remarks = [f"a difference of up to {units.percent_text(hidden)} could hide in the interval"] * unclear + _remarks(
        old, new
    )
    return Comparison(old, new, speed, word, tuple(remarks))


def _alone(after: Summary, old: Figure | None, new: Figure | None) -> Comparison:
    if old is None:
        return Comparison(old, new, None, "not comparable", ("only in B",))
    tried = [failure for failure in after.run.failures if _is_of(failure, old)]
    why = f"failed in B: {tried[0].reason}" if tried else "only in A"
    return Comparison(old, new, None, "not comparable", (why,), lost=bool(tried))


def _is_of(failure: Failure, row: Figure) -> bool:
    """Whether what failed includes the cell of a row: lists of values do, and knobs that the row does not know may."""
    if (failure.workload, failure.ranks) != (row.workload.name, row.point.ranks):
        return False
    asked = {name: values for name, values in failure.knobs.items() if name in row.knobs and name not in EFFORT}
    return all(canonical(row.knobs[name]) in canonical(values).split(",") for name, values in asked.items())


def _word(speed: stats.Interval, threshold: float) -> Word:
    if speed.low > 1 and speed.middle >= 1 + threshold:
        return "faster"
    if speed.high < 1 and speed.middle <= 1 - threshold:
        return "slower"
    return "no difference seen"


def _obstacles(old: Figure, new: Figure) -> list[str]:
    """Why two rows cannot be compared."""
    a, b = old.points[0], new.points[0]
    found = [f"wrong answer in {name} ({row.wrong[0].name})" for name, row in (("A", old), ("B", new)) if row.wrong]
    found += [text for name, row in (("A", old), ("B", new)) if (text := _no_ratio(name, row))]
    statements = (
        ("more threads than hardware threads", a.share_cores, b.share_cores),
        ("start synchronised", a.sync, b.sync),
        ("threads", a.threads, b.threads),
        ("work counted", _work(a), _work(b)),
        (
            "fault-injection build",
            bool(a.process.build.get("faults_compiled")),
            bool(b.process.build.get("faults_compiled")),
        ),
    )
    return found + [f"{what}: {_yes_or_no(x)} in A, {_yes_or_no(y)} in B" for what, x, y in statements if x != y]


def _no_ratio(name: str, row: Figure) -> str:
    """Why a right answer has no ratio: its metric could not be made, or is zero or no number."""
    if row.wrong:
        return ""
    if row.value is None:
        return f"no value in {name} ({row.missing})"
    return "" if row.value.middle and math.isfinite(row.value.middle) else f"{row.value.middle:g} in {name}"


def _work(point: Point) -> str:
    """The declared work in proportion to its largest part: chunks of another length still do the same work."""
    parts = {name: point.count(name) for work in point.work for name in work.counts}
    most = max(parts.values(), default=0)
    return ", ".join(f"{name} {value / most:.4g}" for name, value in parts.items() if value) if most else "none"


def _yes_or_no(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _remarks(old: Figure, new: Figure) -> list[str]:
    """What to keep in mind: other memory than in the other run, doubts about either side."""
    shares = [[b.huge_share for p in row.points for rank in p.given for b in rank.buffers] for row in (old, new)]
    found = []
    if all(shares) and abs(min(shares[0]) - min(shares[1])) > 0.5:
        found.append(
            f"huge pages: {units.percent_text(min(shares[0]))} in A, {units.percent_text(min(shares[1]))} in B"
        )
    olds, news = ([one.text for one in row.doubts if one.grade > stats.Grade.NOTE] for row in (old, new))
    found += [f"both: {text}" for text in olds if text in news]
    for name, mine, others in (("A", olds, news), ("B", news, olds)):
        found += [f"{name}: {text}" for text in mine if text not in others]
    return found


def _differences(before: Summary, after: Summary) -> list[tuple[str, str, str]]:
    facts = [_facts(summary) for summary in (before, after)]
    names = [*facts[0], *(name for name in facts[1] if name not in facts[0])]
    pairs = [(name, facts[0].get(name, "not set"), facts[1].get(name, "not set")) for name in names]
    return [pair for pair in pairs if pair[1] != pair[2]]


def _facts(summary: Summary) -> Mapping[str, str]:
    run, machine = summary.run, summary.run.machine
    return {
        "machine": machine.name,
        "processor": machine.processor.model,
        "hardware threads allowed": str(len(machine.topology.usable())),
        "memory": units.bytes_text(machine.memory_bytes),
        **{name: value for name, value in machine.system.items() if name not in MOMENTARY},
        **machine.software,
        "MPI": _all([" ".join(point.process.mpi.split()) for point in run.points]),
        "compiler": _all([str(point.process.build.get("compiler", "not recorded")) for point in run.points]),
        **run.environment,
    }


def _all(texts: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(texts)) or "none"
