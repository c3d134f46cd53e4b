"""The reliability of a run: one grade, at most two sentences, and a table of observations with their consequences."""

from collections.abc import Mapping, Sequence
from typing import Any

from octant import facts
from octant.analysis.causes import causes_of_run, count_losses
from octant.analysis.caveats import failed_commands
from octant.analysis.figures import Figure
from octant.analysis.lost import lost_time_of, worst_oversubscription
from octant.analysis.names import short_name
from octant.analysis.sessions import sessions
from octant.analysis.summary import Summary
from octant.program import is_program
from octant.report.screen.answer import Reliability, ReliabilityRow, Tile
from octant.report.sentences import Sentences
from octant.runs.programs.command_text import resume_line
from octant.stats import Period
from octant.stats.caveats import BOUNDS
from octant.stats.grades import GRADE_NAMES, GradeName
from octant.stats.launches import LEAST_FOR_NEIGHBOURS

MAX_SENTENCES = 2
_NAMED = 3  # figures that a row names
_TEXTS = Sentences("octant.report.screen", "reliability")


def reliability(summary: Summary, tiles: Sequence[Tile]) -> Reliability:
    """Return the reliability of a run; its grade is the worst of its tiles (`page_grade`)."""
    run, grade = summary.run, page_grade(tiles)
    common = [*_checks(summary), *_failures(summary)]
    if run.imported:
        wrong = sum(bool(figure.wrong) for figure in summary.figures)
        versions = dict.fromkeys(one.version or "no version" for one in run.imported)
        rows = _rows("imported", source=run.source, versions=versions) + common
        return Reliability(grade, _TEXTS.line("imported_summary", wrong, run.source), tuple(rows))
    known = sessions(summary, [summary.figures[tile.figure] for tile in tiles if tile.figure is not None])
    lost, assumption = _lost(summary), facts.assumption(run.machine)
    rows = [
        *_rows("time_lost", lost, count_losses(summary)),
        *_launches(summary),
        *_rows("sessions", known.number, known.deviation, known.figure and short_name(known.figure)),
        *_placement(summary),
        *common,
        *_precision(summary),
        *_rows("sources", run.machine.disagreements, assumption),
    ]
    return Reliability(grade, _sentences(summary, tiles, lost), tuple(rows))


def page_grade(tiles: Sequence[Tile]) -> GradeName:
    """Return the worst grade of the tiles with a figure; tiles that are not measurable count only if all are so."""
    grades = [tile.grade for tile in tiles if not tile.missing]
    measurable = [grade for grade in grades if grade != "not measurable"]
    return max(measurable or grades or ["not measurable"], key=GRADE_NAMES.index)


def _rows(macro: str, /, *values: object, **named: object) -> list[ReliabilityRow]:
    """Return the rows that a macro writes as three lines each."""
    lines = _TEXTS.lines(macro, *values, **named)
    return [ReliabilityRow(*lines[i : i + 3]) for i in range(0, len(lines), 3)]


def _sentences(summary: Summary, tiles: Sequence[Tile], lost: Mapping[str, Any] | None) -> str:
    failed = failed_commands(summary.run.points)
    affected, limited = [tile for tile in tiles if tile.grade == "limited"], None
    if affected and page_grade(tiles) == "limited":
        first = affected[0].reasons[0]
        is_explained = lost is not None and lost["mean"] > BOUNDS["lost time"][1]  # by the time that the run lost
        if not is_explained and not any(text.startswith(first) for text in failed):
            limited = {"name": affected[0].name, "reason": first.partition(":")[0], "more": len(affected) - 1}
    numbers = sorted(figure.value.number for figure in _table_figures(summary) if figure.value)
    lines = _TEXTS.lines(
        "summary",
        wrong=[tile.name for tile in tiles if tile.grade == "wrong"],
        unmeasured=[tile.name for tile in tiles if tile.grade == "not measurable"],
        failed=failed,
        limited=limited,
        lost=lost,
        launches=(numbers[0], numbers[-1]) if numbers else (),
    )
    return " ".join(lines[:MAX_SENTENCES])


def _table_figures(summary: Summary) -> list[Figure]:
    return [figure for figure in summary.figures if figure.show.table or figure.wrong] or list(summary.figures)


def _with_caveat(kind: str, figures: Sequence[Figure]) -> list[Figure]:
    return [figure for figure in figures if any(one.kind == kind for one in figure.caveats)]


def _names(figures: Sequence[Figure]) -> str:
    """Return the short names of the first figures, and the number of others."""
    names = list(dict.fromkeys(map(short_name, figures)))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _lost(summary: Summary) -> Mapping[str, Any] | None:
    """Return the mean and the greatest share of lost time, and the cause of at least half; `None`: not recorded."""
    found = causes_of_run(summary)
    if found is None:
        return None
    most = max((lost.share for point in summary.run.points if (lost := lost_time_of(point))), default=0.0)
    crowd = worst_oversubscription(summary.run.points) if found.main == "oversubscription" else None
    return {"mean": found.lost, "most": most, "cause": f"{found.main} ({crowd.counts_text})" if crowd else found.main}


def _launches(summary: Summary) -> list[ReliabilityRow]:
    values = [figure.value for figure in summary.figures if figure.value]
    begin = min((value.period.begin for value in values), default=None)
    end = max((value.period.end for value in values), default=None)
    correlated = _with_caveat("autocorrelated launches", _table_figures(summary))
    return _rows(
        "launches",
        rounds=max((figure.tried for figure in summary.figures if not figure.equal), default=1) if values else 0,
        minutes=(end - begin).total_seconds() / 60 if begin and end else 0.0,
        period=Period(begin, end).text if begin and end else "",
        correlated=_names(correlated),
        is_tested=max((value.number for value in values), default=0) >= LEAST_FOR_NEIGHBOURS,
    )


def _placement(summary: Summary) -> list[ReliabilityRow]:
    other = [figure for figure in summary.figures if figure.mismatches]
    return _rows(
        "placement",
        is_read_back=any(point.given for point in summary.run.points),
        is_requested=not all(request.subject.command and not request.shape.place for request in summary.run.requests),
        mismatches=[figure.mismatches[0] for figure in other],
        names=_names(other),
    )


def _checks(summary: Summary) -> list[ReliabilityRow]:
    passed = [check.passed for point in summary.run.points for check in point.checks]
    return _rows(
        "checks",
        number=len(passed),
        failed=passed.count(False),
        names=_names([figure for figure in summary.figures if figure.wrong]),
        of_program=any(is_program(point.workload) for point in summary.run.points),
    )


def _precision(summary: Summary) -> list[ReliabilityRow]:
    """Return whether launches reached the requested precision; programs have none."""
    rows = [figure for figure in _table_figures(summary) if not is_program(figure.workload.name)]
    if not rows and summary.figures:
        return []
    short = _with_caveat("precision not reached", rows)
    return _rows("precision", len(short), len(rows), _names(short))


def _failures(summary: Summary) -> list[ReliabilityRow]:
    failed, left = summary.run.failures, len(summary.run.remaining())
    reason = failed[0].reason if failed else ""
    resume = resume_line(summary.run) if left else ""
    return _rows("failures", len({one.launch for one in failed}), reason, left, resume)
