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
from octant.report.sentences import Sentences
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

_TEXTS = Sentences("octant.report.screen", "tiles")


@dataclass(frozen=True)
class LastRun:
    """The last comparable run before a run, with the comparison of each figure, by the figure's id."""

    run: StoredRun
    compared: Mapping[int, Comparison]
    differing: Sequence[str]  # what else differs between the two: names of conditions
    ids: Sequence[str] = ()  # of all runs of the store

    def text(self, figure: Figure) -> str:
        """Return the verdict on a figure, with its interval; "": it is not comparable.

        Without a difference that the interval holds, the smallest detectable difference.
        """
        one = self.compared.get(id(figure))
        if one is None or one.verdict is None:
            return ""
        verdict, speed = one.verdict, one.verdict.speed
        short = self.run.id[:15]  # if it is unique
        begun = [begun for point in self.run.points if (begun := point.process.begun)]
        return _TEXTS.line(
            "last_run",
            run=short if sum(name.startswith(short) for name in self.ids) == 1 else self.run.id,
            day=f"{min(begun).day} {min(begun):%b}" if begun else self.run.started[:10],
            before=one.before and claims.numbered(claims.figure_texts(one.before)),
            speed=speed,
            ends=sorted(abs(100 * (end - 1)) for end in (speed.low, speed.high)) if speed else (),
            proven=speed is not None and _is_proven(verdict, speed),
            is_time=figure.metric.unit == "s",
            differing=self.differing,
            detectable=percent(verdict.min_detectable_effect),
        )


def _is_proven(verdict: Verdict, speed: Estimate) -> bool:
    """Return whether the interval excludes 1; beyond the margin the verdict must be corrected for many figures."""
    if speed.low <= 1 <= speed.high or speed.is_too_wide:
        return False
    within_margin = 1 / (1 + verdict.margin) < speed.middle < 1 + verdict.margin
    return within_margin or verdict.word in ("differs", "faster", "slower")


def last_run(summary: Summary, figures: Sequence[Figure]) -> LastRun | None:
    """Return the newest earlier run on the same machine that has one of these figures.

    Args:
        figures: headline figures of the summary.

    `None`: there is none, or the store cannot be read.
    """
    wanted = {figure.identity.same_quantity for figure in figures}
    store = Store(summary.run.folder.parent.parent)
    try:
        for run in _earlier(store, summary.run):
            if any(run.identity_of(point).same_quantity in wanted for point in run.points):
                history = occasions_in(lambda: itertools.islice(store.runs_like(summary.run), MOST))
                found = compare(summarise(run), summary, curves=True, history=history)
                headlines = set(map(id, figures))
                by_id = {id(one.after): one for one in found.figures if one.before and id(one.after) in headlines}
                return LastRun(run, by_id, [what for what, _, _ in found.differences], store.ids())
    except Refusal:
        return None
    return None


def _earlier(store: Store, run: StoredRun) -> Iterator[StoredRun]:
    """Yield earlier runs of this machine, newest first: the newest few, and the newest with the same title."""
    machine = codec.fingerprint(run.machine)
    rows = [
        row
        for row in reversed(store.list_runs())
        if row.fingerprint == machine and row.started < run.started and row.id != run.id and not row.refused
    ]
    alike = [row.id for row in rows if row.title == run.title][:1]
    newest = [row.id for row in rows[:MOST]]
    stop = newest.index(alike[0]) + 1 if alike and alike[0] in newest else MOST
    yield from (store.read(name) for name in dict.fromkeys([*newest[:stop], *alike]))
