"""Comparison of two runs: verdicts on common figures, and differing conditions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from octant import units
from octant.analysis.conditions import differences, differing_shapes
from octant.analysis.evidence import invalid_caveats, judge_rounds, judge_two_runs, no_history, values_behind
from octant.analysis.figures import includes
from octant.analysis.matching import Defaults, are_interleaved, matched
from octant.stats import Grade, verdicts
from octant.stats.intervals import MEANS
from octant.stats.verdicts import MARGIN, Verdict

if TYPE_CHECKING:
    from collections.abc import Hashable

    from octant.analysis.evidence import History
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.identity import Size
    from octant.record import Failure, Point
    from octant.request import Request
    from octant.store import Pair, StoredRun

Word = Literal[verdicts.Word, "not measurable", "not comparable"]
"""`not measurable`: a ratio without a verdict, since a side is not measurable; `not comparable`: no ratio."""


@dataclass(frozen=True)
class Comparison:
    """One figure in both runs. Its ratio is the speed of B over A: above 1 is faster, for rates and for times.

    The ratio is always that of `values`.
    """

    before: Figure | None
    after: Figure | None
    verdict: Verdict | None  # `None`: not measurable or not comparable
    why: tuple[str, ...]
    lost: bool = False  # A has a value and B failed: a regression without a ratio
    has_ratio: bool = False  # without a verdict, since a side is not measurable

    @property
    def figure(self) -> Figure:
        """The row of A, or of B if A has none."""
        found = self.before or self.after
        assert found is not None  # noqa: S101 - one of both always exists
        return found

    @property
    def word(self) -> Word:
        """The verdict."""
        return self.verdict.word if self.verdict else "not measurable" if self.has_ratio else "not comparable"

    @property
    def is_alone(self) -> bool:
        """Whether only one run has it, and the other did not attempt it."""
        return (self.before is None or self.after is None) and not self.lost

    @property
    def speed(self) -> float | None:
        """The ratio of the verdict, or of the medians if there is no verdict."""
        if self.verdict and self.verdict.speed:
            return self.verdict.speed.middle
        if self.verdict is None and not self.has_ratio:
            return None
        before, after = (math.nan if value is None else value for value in self.values)
        return after / before if self.figure.metric.better == "higher" else before / after

    @cached_property
    def values(self) -> tuple[float | None, float | None]:
        """The values of A and B, in base units: those of the estimated ratio, else medians."""
        if (
            self.before
            and self.after
            and self.verdict
            and (found := values_behind(self.before, self.after, self.verdict))
        ):
            return found
        before, after = (row.value.middle if row and row.value else None for row in (self.before, self.after))
        return before, after

    @property
    def statistic(self) -> str:
        """The statistic of `values` over the compared launches."""
        speed = self.verdict.speed if self.verdict else None
        return MEANS[speed.kind] if speed else "median"


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of all figures of two runs, and differing conditions."""

    before: Summary
    after: Summary
    margin: float
    figures: tuple[Comparison, ...]
    differences: tuple[tuple[str, str, str], ...]  # condition, value in A, value in B
    gate: bool = False  # whether the verdicts are those of a gate

    @property
    def pair(self) -> Pair | None:
        """How the two runs were interleaved; `None` if they were not."""
        pair = self.after.run.pair
        return pair if pair and pair.partner == self.before.run.id else None

    @property
    def of_programs(self) -> bool:
        """Whether two programs of the user were interleaved."""
        requests = [request for run in self.runs for request in run.requests]
        return bool(self.pair and requests) and all(request.subject.command for request in requests)

    @property
    def runs(self) -> tuple[StoredRun, StoredRun]:
        """The stored runs A and B."""
        return self.before.run, self.after.run

    @property
    def rounds(self) -> int:
        """The most paired rounds of a figure; 0 for runs that were not interleaved."""
        return max((verdict.number for verdict in self.verdicts), default=0) if self.pair else 0

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts on all figures that can be compared."""
        return [one.verdict for one in self.figures if one.verdict]

    @property
    def compared(self) -> int:
        """The number of figures that can be compared."""
        return len(self.verdicts)

    @property
    def regressions(self) -> list[Comparison]:
        """The figures that fail a gate: slower ones, and those that B attempted without a value."""
        return [figure for figure in self.figures if figure.word == "slower" or figure.lost]

    @property
    def undecided(self) -> list[Comparison]:
        """The common figures for which neither a difference nor equivalence is proven.

        A gate without regressions does not pass with any of them. Figures that B failed to measure are regressions.
        """
        return [
            one
            for one in self.figures
            if not one.lost and not one.is_alone and not (one.verdict and one.verdict.is_decided)
        ]

    def of(self, word: Word) -> list[Comparison]:
        """Return the figures with this verdict."""
        return [figure for figure in self.figures if figure.word == word]

    @property
    def shapes(self) -> tuple[tuple[str, tuple[Size, ...], tuple[Size, ...]], ...]:
        """Figures that both runs have with other sizes: workload, sizes in A and in B."""
        groups: dict[tuple[Hashable, ...], tuple[dict[Size, None], dict[Size, None]]] = {}
        for one in (one for one in self.figures if one.is_alone):
            of = one.figure.identity
            groups.setdefault((of.subject, of.knobs, of.link, of.input), ({}, {}))[one.before is None][of.size] = None
        found: dict[str, tuple[dict[Size, None], dict[Size, None]]] = {}
        for quantity, sides in groups.items():
            if all(sides):
                of_workload = found.setdefault(str(quantity[0]), ({}, {}))
                for known, sizes in zip(of_workload, sides, strict=True):
                    known.update(sizes)
        return tuple((name, tuple(in_a), tuple(in_b)) for name, (in_a, in_b) in found.items())

    def couples(self) -> tuple[tuple[Request, Request], ...]:
        """Return the requests of A and B that have, or should have, a common figure."""
        found: dict[tuple[str, str], tuple[Request, Request]] = {}
        for one in self.figures:
            before, after = _request_of(self.before, one.before), _request_of(self.after, one.after)
            if one.lost and one.before and after is None:
                failed = _failures_of(self.before.run, self.after.run, one.before)
                after = next((request for f in failed if (request := self.after.run.request_of(f.launch))), None)
            if before and after:
                found.setdefault((before.key, after.key), (before, after))
        return tuple(found.values())


def _request_of(summary: Summary, row: Figure | None) -> Request | None:
    return summary.run.request_of(row.point.launch) if row else None


def compare(
    before: Summary,
    after: Summary,
    margin: float = MARGIN,
    curves: bool = False,
    defaults: Defaults = lambda _workload: {},
    gate: bool = False,
    history: History = no_history,
) -> Comparisons:
    """Match the figures of two runs (`analysis.matching`), and judge each.

    Interleaved runs are judged by their paired rounds, others as two occasions.

    Args:
        margin: the smallest relative difference of interest.
        curves: include points of curves.
        gate: bound the family-wise error rate (Holm), else the false discovery rate (Benjamini and Hochberg).
        history: other occasions, for runs that were not interleaved.

    Raises:
        Refusal: fewer paired rounds than a gate over so many figures needs.
    """
    rows = matched(before, after, curves, defaults)
    pairs = [(old, new) for old, new in rows if old and new]
    both = [(old, new) for old, new in pairs if not (_obstacles(old, new) or _invalid_sides(old, new))]
    found = Comparisons(before, after, margin, (), differences(before.run, after.run, pairs), gate)
    if found.pair:
        judged = judge_rounds(both, (before.run, after.run), found.pair, margin, gate)
    else:
        judged = judge_two_runs(both, (before.run, after.run), margin, history)
    by_row = {id(old): verdict for (old, _), verdict in zip(both, judged, strict=True)}
    figures = tuple(_comparison((before, after), old, new, by_row.get(id(old))) for old, new in rows)
    found = replace(found, figures=figures)
    return replace(found, differences=(*differing_shapes(found.shapes), *found.differences))


def _comparison(
    sides: tuple[Summary, Summary], old: Figure | None, new: Figure | None, verdict: Verdict | None
) -> Comparison:
    if old is None or new is None:
        return _alone(sides, old, new)
    if verdict is None:
        lost = old.value is not None and new.value is None
        why = (*_obstacles(old, new), *_invalid_sides(old, new))
        return Comparison(old, new, None, why, lost, has_ratio=not _obstacles(old, new))
    return Comparison(old, new, verdict, tuple(_remarks(old, new)))


def _alone(sides: tuple[Summary, Summary], old: Figure | None, new: Figure | None) -> Comparison:
    if old is None:
        return Comparison(old, new, None, ("only in B",))
    tried = _failures_of(sides[0].run, sides[1].run, old)
    why = f"failed in B: {tried[0].reason}" if tried else "only in A"
    return Comparison(old, new, None, (why,), lost=bool(tried))


def _failures_of(before: StoredRun, after: StoredRun, old: Figure) -> list[Failure]:
    """Return the failures in B of a figure of A; for interleaved runs, those of the paired launches."""
    numbers = [number for number, request in enumerate(before.requests) if request.key == old.request]
    if are_interleaved(before, after) and numbers and numbers[0] < len(after.requests):
        partner = after.requests[numbers[0]]
        if partner.subject.command:
            return [failure for failure in after.failures if after.request_of(failure.launch) == partner]
    return [failure for failure in after.failures if includes(failure, old)]


def _obstacles(old: Figure, new: Figure) -> list[str]:
    """Return the reasons why two rows have no ratio."""
    a, b = old.points[0], new.points[0]
    found = [f"wrong result in {name} ({row.wrong[0].name})" for name, row in (("A", old), ("B", new)) if row.wrong]
    found += [text for name, row in (("A", old), ("B", new)) if (text := _no_ratio(name, row))]
    statements = (
        ("more threads than hardware threads", a.share_cores, b.share_cores),
        *(
            ()
            if {"imported"} & {*a.notes, *b.notes}
            else (  # outputs of other tools do not state these
                ("start synchronised", a.sync, b.sync),
                ("work counted", _work(a), _work(b)),
            )
        ),
        (
            "fault-injection build",
            bool(a.process.build.get("faults_compiled")),
            bool(b.process.build.get("faults_compiled")),
        ),
    )
    return found + [f"{what}: {_yes_or_no(x)} in A, {_yes_or_no(y)} in B" for what, x, y in statements if x != y]


def _invalid_sides(old: Figure, new: Figure) -> list[str]:
    """Return the caveats that rule out a verdict on two rows, but not their ratio."""
    sides = (("A", old), ("B", new))
    return [f"{name}: {one.text}" for name, row in sides if not row.wrong for one in invalid_caveats(row)]


def _no_ratio(name: str, row: Figure) -> str:
    """Return the reason why a correct result has no ratio: it is missing, zero or not a number."""
    if row.wrong:
        return ""
    if row.value is None:
        return f"no value in {name} ({row.missing})"
    launches = [launch for one in (row, *row.equal) for launch in one.launches]
    odd = [value for launch in launches if not 0 < (value := launch.value.middle) < math.inf]
    return f"{odd[0]:g} in {name}" if odd else ""


def _work(point: Point) -> str:
    """Return the declared work relative to its largest part; chunks of another length do the same work."""
    parts = {name: point.count(name) for work in point.work for name in work.counts}
    most = max(parts.values(), default=0)
    return ", ".join(f"{name} {value / most:.4g}" for name, value in parts.items() if value) if most else "none"


def _yes_or_no(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _remarks(old: Figure, new: Figure) -> list[str]:
    """Return remarks on a comparison: different pages or sizes, and caveats of either side."""
    shares = [[b.huge_share for p in row.points for rank in p.given for b in rank.buffers] for row in (old, new)]
    sizes = [dict(row.identity.knobs) for row in (old, new)]
    found = [
        f"{name}: {sizes[0][name]} in A, {sizes[1][name]} in B"  # of an imported result
        for name in sizes[0]
        if sizes[0][name] != sizes[1].get(name, sizes[0][name])
    ]
    if all(shares) and abs(min(shares[0]) - min(shares[1])) > 0.5:
        found.append(
            f"huge pages: {units.percent_text(min(shares[0]))} in A, {units.percent_text(min(shares[1]))} in B"
        )
    olds, news = ([one.text for one in row.caveats if one.grade > Grade.NOTE] for row in (old, new))
    found += [f"both: {text}" for text in olds if text in news]
    for name, mine, others in (("A", olds, news), ("B", news, olds)):
        found += [f"{name}: {text}" for text in mine if text not in others]
    return found
