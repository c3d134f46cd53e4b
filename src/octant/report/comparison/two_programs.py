"""What a comparison of two programs says first: by how much B is faster or slower than A, or what would decide it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from octant.report.plain import clean
from octant.stats.verdicts import percent
from octant.units import brief_text, counted

if TYPE_CHECKING:
    from octant.analysis.compare import Comparison, Comparisons
    from octant.stats.intervals import Estimate
    from octant.stats.verdicts import Verdict
    from octant.store import StoredRun

MOST_SENTENCES = 12
"""Cells that have a sentence each; of more, the counts say what there is."""


def sentences(found: Comparisons) -> list[str]:
    """A sentence for each cell that both programs were asked for, in the order of the requests; empty of other runs."""
    if not found.of_programs:
        return []
    several = len(found.before.run.requests) > 1
    texts = []
    for one in found.figures:
        named = f"{clean(one.figure.title)}: " if several else ""
        texts.append(f"{named}{_sentence(one, found)}.")
    if not texts:
        texts = [f"{text}." for text in _missing(found)]
    more = len(texts) - MOST_SENTENCES
    return texts if more <= 0 else [*texts[:MOST_SENTENCES], f"{counted(more, 'more comparison')} below."]


def round_seconds(found: Comparisons) -> float | None:
    """How long a round of two programs takes, by the wall times that were recorded; `None`: there are none."""
    sums = [_mean_round(run) for run in found.runs]
    return None if None in sums else sum(one for one in sums if one is not None)


def _mean_round(run: StoredRun) -> float | None:
    """Seconds of all launches of one side in a round, which is that of its launches' number."""
    taken: dict[str, float] = {}
    for point in run.points:
        seconds = next((one.value for one in point.results if one.name == "wall time"), math.nan)
        number = point.launch.rpartition("-")[2]
        taken[number] = taken.get(number, 0.0) + seconds
    known = [seconds for seconds in taken.values() if math.isfinite(seconds)]
    return sum(known) / len(known) if known else None


def _missing(found: Comparisons) -> list[str]:
    """Which sides have failed launches, and why the first of each did: `B gave no result: ./new ended by SIGSEGV`."""
    sides = zip("AB", found.runs, strict=True)
    return [f"{name} gave no result: {clean(run.failures[0].reason)}" for name, run in sides if run.failures]


def _sentence(one: Comparison, found: Comparisons) -> str:
    wrong = [(name, row.wrong[0]) for name, row in (("A", one.before), ("B", one.after)) if row and row.wrong]
    if wrong:
        name, check = wrong[-1]  # an answer of B is compared with A's
        return f"{name} gave a wrong answer, which has no speed ({clean(check.text)})"
    if (one.before is None or one.after is None) and (missing := _missing(found)):
        return "; ".join(missing)
    verdict = one.verdict
    if verdict is None:
        return f"A and B cannot be compared ({_why(one)})"
    rounds, by = counted(verdict.number, "paired round"), _by(one)
    if verdict.speed is None:
        return f"No verdict: {rounds} of {verdict.needed}"
    if verdict.word in ("faster", "slower"):
        return f"B is {_difference(verdict.speed)} than A{by} {_interval(verdict.speed)}, {rounds}"
    if verdict.word == "same":
        return f"There is no difference larger than {percent(verdict.hidden)} between A and B{by}, {rounds}"
    return f"Not decided: {_between(verdict.speed)}{by}, {rounds}{_needed(verdict, found)}"


def _why(one: Comparison) -> str:
    return clean("; ".join(one.why))


def _by(one: Comparison) -> str:
    """Which quantity it is of, unless that is the wall time."""
    return "" if one.figure.metric.name == "wall time" else f" by {clean(one.figure.metric.name)}"


def _difference(speed: Estimate) -> str:
    """`12 % faster`: the share by which the speed, or where B is slower the time, is larger."""
    middle = speed.middle
    return f"{percent(middle - 1)} faster" if middle >= 1 else f"{percent(1 / middle - 1)} slower"


def _interval(speed: Estimate) -> str:
    """The ends of the interval in the direction of the difference: `[9 %, 15 %]`, or `[-1 %, 15 %]`."""
    ends = [one - 1 for one in (speed.low, speed.high)]
    if speed.middle < 1:
        ends = [1 / one - 1 for one in (speed.high, speed.low)]
    return f"[{', '.join(map(_signed, ends))}]"


def _signed(share: float) -> str:
    return f"-{percent(-share)}" if share < 0 else percent(share)


def _between(speed: Estimate) -> str:
    """`B is between 3 % slower and 8 % faster than A`."""
    if speed.is_too_wide:
        return "the interval is too wide to state a difference"
    low, high = (
        f"{percent(end - 1)} faster" if end >= 1 else f"{percent(1 / end - 1)} slower"
        for end in (speed.low, speed.high)
    )
    return f"B is between {low} and {high} than A"


def _needed(verdict: Verdict, found: Comparisons) -> str:
    """`; 28 more rounds, about 2 min, would detect 3 %`; empty if their number is not known."""
    more = (verdict.needed or 0) - verdict.number
    if more <= 0:
        return ""
    round_s = round_seconds(found)
    time = "" if round_s is None else f", about {brief_text(more * round_s)},"
    return f"; {counted(more, 'more round')}{time} would detect {percent(verdict.margin)}"
