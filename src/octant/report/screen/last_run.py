"""Comparison of a figure with the same figure of the last comparable run in the store, in one sentence."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.analysis.compare import compare
from octant.analysis.evidence import occasions_in
from octant.analysis.sessions import MOST
from octant.analysis.summary import summarise
from octant.failure import Refusal
from octant.machine import codec
from octant.report import claims
from octant.stats.verdicts import percent
from octant.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octant.analysis.compare import Comparison
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.stats import Estimate
    from octant.stats.verdicts import Verdict
    from octant.store import StoredRun


@dataclass(frozen=True)
class LastRun:
    """The last comparable run before a run, with the comparison of each figure, by the figure's id."""

    run: StoredRun
    compared: Mapping[int, Comparison]
    differing: Sequence[str]  # what else differs between the two: names of conditions
    ids: Sequence[str] = ()  # of all runs of the store

    def text(self, figure: Figure) -> str:
        """Return the verdict on a figure, with its interval: `3.1 % faster than run … of 25 Nov (1.5 … 4.7 %)`.

        Without a difference that the interval holds, the least that would have been found. "": it is not comparable.
        """
        one = self.compared.get(id(figure))
        if one is None or one.verdict is None:
            return ""
        than = f"run {self._name} of {self._day}"
        speed, verdict = one.verdict.speed, one.verdict
        if speed is None:
            before = "" if one.before is None else claims.numbered(claims.figure_texts(one.before))
            return f"{before} in {than}; too few launches for an interval of the difference"
        if _is_proven(verdict, speed):
            low, middle, high = (_change(end) for end in (speed.low, speed.middle, speed.high))
            ends = f"{abs(low):.1f} … {abs(high):.1f}" if middle > 0 else f"{abs(high):.1f} … {abs(low):.1f}"
            word = self._word(figure, middle > 0)
            whose = "" if speed.claim == "ratio on other occasions" else " of these two sessions"
            interval = f"{ends}{claims.NARROW}%, 95{claims.NARROW}% interval{whose}"
            return f"{abs(middle):.1f}{claims.NARROW}% {word} than {than} ({interval}){self._besides}"
        least = percent(verdict.min_detectable_effect).replace(" ", claims.NARROW)
        return f"no difference to {than} was detected; smallest detectable difference: {least}"

    @property
    def _name(self) -> str:
        """Prefix of its id if it is unique, else the id."""
        short = self.run.id[:15]
        return short if sum(name.startswith(short) for name in self.ids) == 1 else self.run.id

    @property
    def _day(self) -> str:
        begun = [begun for point in self.run.points if (begun := point.process.begun)]
        return f"{min(begun).day} {min(begun):%b}" if begun else self.run.started[:10]

    @property
    def _besides(self) -> str:
        """Conditions that differ and may cause the difference."""
        shown = list(self.differing)[:2]
        more = len(self.differing) - len(shown)
        return f"; {' and '.join(shown)}{f' and {more} more' if more else ''} differ" if shown else ""

    @staticmethod
    def _word(figure: Figure, better: bool) -> str:
        if figure.metric.unit == "s":
            return "faster" if better else "slower"
        return "better" if better else "worse"


def _is_proven(verdict: Verdict, speed: Estimate) -> bool:
    """Return whether the interval excludes 1; beyond the margin the verdict must be corrected for many figures."""
    if speed.low <= 1 <= speed.high or speed.is_too_wide:
        return False
    within_margin = 1 / (1 + verdict.margin) < speed.middle < 1 + verdict.margin
    return within_margin or verdict.word in ("differs", "faster", "slower")


def _change(speed: float) -> float:
    """Return the change of speed in percent; negative: slower."""
    return 100 * (speed - 1)


def last_run(summary: Summary, figures: Sequence[Figure]) -> LastRun | None:
    """Return the newest earlier run on the same machine that has one of these figures.

    Args:
        figures: headline figures of the summary.

    `None`: there is none, or the store cannot be read.
    """
    wanted = {figure.identity.same_quantity for figure in figures}
    try:
        for run in _earlier(summary.run):
            if any(run.identity_of(point).same_quantity in wanted for point in run.points):
                return _compared(summary, run, figures)
    except Refusal:
        return None
    return None


def _earlier(run: StoredRun) -> Iterator[StoredRun]:
    """Yield earlier runs of this machine, newest first: the newest few, and the newest with the same title."""
    store, machine = Store(run.folder.parent.parent), codec.fingerprint(run.machine)
    rows = [
        row
        for row in reversed(store.list_runs())
        if row.fingerprint == machine and row.started < run.started and row.id != run.id and not row.refused
    ]
    alike = next((row.id for row in rows if row.title == run.title), None)
    for row in itertools.islice(rows, MOST):
        yield store.read(row.id)
        if row.id == alike:
            return
    if alike:
        yield store.read(alike)


def _compared(summary: Summary, before: StoredRun, figures: Sequence[Figure]) -> LastRun:
    store = Store(summary.run.folder.parent.parent)
    history = occasions_in(lambda: itertools.islice(store.runs_like(summary.run), MOST))
    found = compare(summarise(before), summary, curves=True, history=history)
    rows = {id(one.after): one for one in found.figures if one.before and one.after}
    differing = [what for what, _, _ in found.differences]
    by_id = {id(figure): rows[id(figure)] for figure in figures if id(figure) in rows}
    return LastRun(before, by_id, differing, store.ids())
