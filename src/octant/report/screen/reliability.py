"""How far a run can be believed: one grade, one sentence, and what was seen with what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import facts, units
from octant.analysis.causes import causes_of_run, halved
from octant.analysis.caveats import failed_commands
from octant.analysis.lost import lost_time_of
from octant.analysis.names import short_name
from octant.analysis.sessions import Sessions, sessions
from octant.program import is_program
from octant.report import claims
from octant.report.screen.answer import Reliability, ReliabilityRow
from octant.runs.programs.command_text import resume_line
from octant.stats import Period
from octant.stats.caveats import BOUNDS
from octant.stats.grades import GRADE_NAMES
from octant.stats.launches import LEAST_FOR_NEIGHBOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.report.screen.answer import Tile
    from octant.stats.grades import GradeName

_NOT_MEASURED = "other hours may differ, which was not measured"
_NAMED = 3  # figures that a row names


@dataclass(frozen=True)
class _Lost:
    """Time lost by all launches of a run, shares of all time."""

    mean: float
    most: float
    cause: str  # that took at least half of it; "": none did


def reliability(summary: Summary, tiles: Sequence[Tile]) -> Reliability:
    """The grade of the page is the worst of its tiles; one that is not measurable is left out unless all are so."""
    lost = _lost(summary)
    known = sessions(summary, [summary.figures[tile.figure] for tile in tiles if tile.figure is not None])
    if summary.run.imported:
        return Reliability(
            page_grade(tiles), _of_others(summary), (_imported(summary), _answers(summary), *_failures(summary))
        )
    rows = (
        _time_lost(summary, lost),
        _launches(summary),
        _sessions(known),
        _as_asked(summary),
        _answers(summary),
        *_precision(summary),
        *_disagreements(summary),
        *_failures(summary),
    )
    return Reliability(page_grade(tiles), _sentence(summary, tiles, lost, known), rows)


def _of_others(summary: Summary) -> str:
    """The sentence on what another tool measured."""
    wrong = sum(bool(figure.wrong) for figure in summary.figures)
    parts = [f"{units.counted(wrong, 'figure')} gave a wrong answer and {'has' if wrong == 1 else 'have'} no speed."]
    return " ".join([*parts * bool(wrong), f"Not measured here: {summary.run.source}."])


def _imported(summary: Summary) -> ReliabilityRow:
    told = [one.version or "no version" for one in summary.run.imported]
    return ReliabilityRow(
        "Imported", f"{summary.run.source} ({'; '.join(dict.fromkeys(told))})", "nothing of it was read back"
    )


def page_grade(tiles: Sequence[Tile]) -> GradeName:
    """The worst grade of the tiles that have a figure, less those that are not measurable unless none else is there."""
    grades = [tile.grade for tile in tiles if not tile.missing]
    measurable = [grade for grade in grades if grade != "not measurable"]
    return max(measurable or grades or ["not measurable"], key=GRADE_NAMES.index)


def _sentence(summary: Summary, tiles: Sequence[Tile], lost: _Lost | None, known: Sessions) -> str:
    parts = []
    wrong, unclear = ([tile for tile in tiles if tile.grade == grade] for grade in ("wrong", "not measurable"))
    if wrong:
        parts.append(f"{_names(wrong)} gave a wrong answer and has no speed.")
    if unclear:
        parts.append(f"{_names(unclear)} could not be measured.")
    if lost is not None:
        parts.append(_took(lost))
    failed = failed_commands(summary.run.points)
    parts += [f"{units.capital(text)}." for text in failed]
    parts += _why_limited(tiles, lost, failed)
    values = [figure.value for figure in _rows(summary) if figure.value]
    hours = _differ(known) or _NOT_MEASURED
    if not values:
        return " ".join([*parts, "Nothing has a value."])
    period = Period(min(value.period.begin for value in values), max(value.period.end for value in values)).text
    numbers = sorted(value.number for value in values)
    if numbers[-1] == 1:
        parts.append(f"Each figure is of one launch, {period}: nothing is known of its spread; {hours}.")
    else:
        several = f"{_from_to(numbers[0], numbers[-1])} launches"
        what = "Intervals hold for the median of" if numbers[0] > 2 else "Medians of"
        parts.append(f"{what} {several}, {period}; {hours}.")
    return " ".join(parts)


def _why_limited(tiles: Sequence[Tile], lost: _Lost | None, said: Sequence[str]) -> list[str]:
    """What makes the page limited, where it is not the time that the whole run lost, nor said already."""
    limited = [tile for tile in tiles if tile.grade == "limited"]
    if not limited or page_grade(tiles) != "limited" or (lost and lost.mean > BOUNDS["lost time"][1]):
        return []
    if any(text.startswith(limited[0].reasons[0]) for text in said):
        return []
    more = f" (and {units.counted(len(limited) - 1, 'more tile')})" if len(limited) > 1 else ""
    return [f"{limited[0].name}: {limited[0].reasons[0].partition(':')[0]}{more}."]


def _from_to(least: int, most: int) -> str:
    few, many = units.number_word(least), units.number_word(most)
    return few if least == most else f"{few} {'or' if most == least + 1 else 'to'} {many}"


def _took(lost: _Lost) -> str:
    share = claims.percent(lost.mean)
    if lost.mean <= BOUNDS["lost time"][0]:
        return f"{share} of the processor time was lost on average."
    return f"{share} of the time was lost{_mostly(lost, ', ')}."


def _mostly(lost: _Lost, before: str) -> str:
    if not lost.cause:
        return ""
    return f"{before}mostly " + ("without a known cause" if lost.cause == "unexplained" else f"to {lost.cause}")


def _names(tiles: Sequence[Tile]) -> str:
    *first, last = (tile.name for tile in tiles)
    return f"{', '.join(first)} and {last}" if first else last


def _rows(summary: Summary) -> list[Figure]:
    """The figures of the table."""
    return [figure for figure in summary.figures if figure.show.table or figure.wrong] or list(summary.figures)


def _named(figures: Sequence[Figure]) -> str:
    """The short names of the first of them, and how many more there are."""
    names = list(dict.fromkeys(map(short_name, figures)))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _lost(summary: Summary) -> _Lost | None:
    """Of all points; `None` where no record says it."""
    found = causes_of_run(summary)
    if found is None:
        return None
    most = max((lost.share for point in summary.run.points if (lost := lost_time_of(point))), default=0.0)
    return _Lost(found.lost, most, found.main)


def _time_lost(summary: Summary, lost: _Lost | None) -> ReliabilityRow:
    measurements = halved(summary)
    if lost is None:
        return ReliabilityRow("Time lost", "not recorded", measurements.text if measurements.lost else "not known")
    seen = f"{claims.percent(lost.mean)} on average, {claims.percent(lost.most)} at most{_mostly(lost, '; ')}"
    so = measurements.text if measurements.lost else f"all {measurements.every} measurements count"
    return ReliabilityRow("Time lost", seen, so)


def _launches(summary: Summary) -> ReliabilityRow:
    values = [figure.value for figure in summary.figures if figure.value]
    if not values:
        return ReliabilityRow("Launches", "none with a value", "nothing can be said")
    begin, end = min(value.period.begin for value in values), max(value.period.end for value in values)
    rounds = max((figure.tried for figure in summary.figures if not figure.equal), default=1)
    minutes = (end - begin).total_seconds() / 60
    period = f"{minutes:.0f} minutes" if minutes >= 1.5 else "about a minute" if minutes >= 0.5 else "under a minute"
    alike = [f for f in _rows(summary) if any(one.kind == "launches resemble their neighbours" for one in f.caveats)]
    seen = f"{units.counted(rounds, 'round')} over {period}"
    if rounds == 1:
        return ReliabilityRow(
            "Launches", f"one, {Period(begin, end).text}", "nothing is known of the spread over launches"
        )
    if alike:
        so = f"launches resemble their neighbours, so the interval is too narrow: {_named(alike)}"
        return ReliabilityRow("Launches", seen, so)
    if max(value.number for value in values) >= LEAST_FOR_NEIGHBOURS:
        seen += "; neighbours are not alike"
    return ReliabilityRow("Launches", seen, "intervals hold for this period")


def _differ(known: Sessions) -> str:
    """What is known of other sessions; empty with fewer than four."""
    if known.deviation is None:
        return ""
    return f"sessions on this machine differ by {claims.percent(known.deviation)} ({known.number} sessions)"


def _sessions(known: Sessions) -> ReliabilityRow:
    what = "Other sessions"
    if known.deviation is None or known.figure is None:
        others = known.number - 1
        seen = f"{units.counted(others, 'session')} stored" if others else "none stored of this machine"
        return ReliabilityRow(what, seen, _NOT_MEASURED)
    seen = f"{known.number} sessions: standard deviation {claims.percent(known.deviation)}"
    return ReliabilityRow(what, f"{seen} in {short_name(known.figure)}, most of the tiles", _differ(known))


def _as_asked(summary: Summary) -> ReliabilityRow:
    what = "Placement, pages"
    other = [figure for figure in summary.figures if figure.mismatches]
    if not any(point.given for point in summary.run.points):
        return ReliabilityRow(what, "not read back", "what was asked is taken for what was given")
    if not other and all(request.subject.command and not request.shape.place for request in summary.run.requests):
        return ReliabilityRow(what, "read back; nothing was asked", "the system chose the places")
    if not other:
        return ReliabilityRow(what, "read back as asked", "every figure is of what it names")
    more = f" (and {len(other) - 1} more)" if len(other) > 1 else ""
    return ReliabilityRow(
        what, f"not as asked: {other[0].mismatches[0]}{more}", f"no share, no verdict: {_named(other)}"
    )


def _answers(summary: Summary) -> ReliabilityRow:
    checks = [check.passed for point in summary.run.points for check in point.checks]
    if not checks:
        of_program = any(is_program(point.workload) for point in summary.run.points)
        how = "; --check says what is right" * of_program
        return ReliabilityRow("Answers", "nothing was checked", f"figures are of work that may be wrong{how}")
    if all(checks):
        return ReliabilityRow("Answers", f"all {len(checks)} checks passed", "no figure is wrong")
    wrong = [figure for figure in summary.figures if figure.wrong]
    seen = f"{checks.count(False)} of {len(checks)} checks failed"
    return ReliabilityRow("Answers", seen, f"no speed: {_named(wrong)}")


def _precision(summary: Summary) -> list[ReliabilityRow]:
    """Whether launches reached the precision that was asked; of programs none is asked."""
    rows = [figure for figure in _rows(summary) if not is_program(figure.workload.name)]
    if not rows and summary.figures:
        return []
    short = [f for f in rows if any(one.kind == "precision not reached" for one in f.caveats)]
    if not short:
        return [ReliabilityRow("Precision", "every launch reached what was asked", "no launch was cut short")]
    seen = f"not reached in {len(short)} of {len(rows)} figures: the time was up"
    return [ReliabilityRow("Precision", seen, f"their intervals are as wide as they say: {_named(short)}")]


def _disagreements(summary: Summary) -> list[ReliabilityRow]:
    found = [
        ReliabilityRow(
            "Sources disagree",
            f"{one.subject}: {'; '.join(f'{source} says {what}' for source, what in one.statements)}",
            f"trusted: {one.trusted}",
        )
        for one in summary.run.machine.disagreements
    ]
    if assumption := "" if summary.run.imported else facts.assumption(summary.run.machine):
        found.append(
            ReliabilityRow("Assumed", assumption, "install hwloc where the system describes caches; `octant machine`")
        )
    return found or [ReliabilityRow("Sources disagree", "none does", "facts of the machine are taken as stated")]


def _failures(summary: Summary) -> list[ReliabilityRow]:
    failed, left = summary.run.failures, len(summary.run.remaining())
    rows = []
    if failed:
        seen = f"{units.counted(len({one.launch for one in failed}), 'launch')}: {failed[0].reason}"
        rows.append(ReliabilityRow("Failed", seen, "their figures are of fewer launches, or missing"))
    if left:
        rows.append(ReliabilityRow("Not complete", f"{units.counted(left, 'launch')} left", resume_line(summary.run)))
    return rows
