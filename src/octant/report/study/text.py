"""A study for the terminal and for programs: the published table beside ours, and a verdict for each finding."""

import json
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import to_builtins
from rich.markup import escape
from rich.table import Table

from octant import facts, stats
from octant.launch.link import explain_missing_link
from octant.machine import Machine
from octant.report.charts.terminal import bar
from octant.report.study.advice import steps
from octant.report.study.answer import answer, counts, reliability
from octant.report.study.further import FurtherTable, further_tables, larger_tables
from octant.report.study.rows import (
    MODEL_ENDS,
    UNSURE_RATIOS,
    columns_and_rows,
    ends_texts,
    is_invalid,
    places,
    stated_value,
)
from octant.report.terminal import console, render, screen_columns
from octant.request import Request
from octant.runs.declared import nothing_fits
from octant.runs.programs.allowed import command_lines, permissions, quoted
from octant.runs.programs.typed import resume_line
from octant.stats.grades import SIGNS as REPORT_SIGNS
from octant.study import file, kinds
from octant.study.cells import combinations
from octant.study.design import design
from octant.study.factors import stated
from octant.study.outcome import Outcome, library_of
from octant.study.question import Study, quantities
from octant.study.testable import count_lines, findings_asked
from octant.study.values import Bounded
from octant.study.verdict import FindingVerdict

BAR = 10  # characters of the longest bar in a table
_NUMBER = re.compile(r"([-+−]?\d+(?:\.\d+)?)")
WIDTH = 100  # columns into which the bars must fit, where no width is known
SIGNS = {"holds": "+", "does not hold": "-", "cannot be tested here": "o", "undecided": "?"}


def list_text(machine: Machine) -> str:
    """The studies that come with Octant, and how many published findings they test here."""
    table = Table(box=None, pad_edge=False)
    table.add_column("study", no_wrap=True)
    table.add_column("findings", justify="right")
    table.add_column("question", overflow="fold")
    found = file.entries()
    for name, study in found.working.items():
        table.add_row(name, str(len({asked.id for asked in study.findings})), study.question)
    for name, one in found.broken.items():
        table.add_row(name, "", escape(f"cannot be read here ({one.reason})"))
    for name, one in kinds.entries().broken.items():
        table.add_row(f"(kind of test) {name}", "", escape(f"cannot be used here ({one.reason})"))
    counted = count_lines(findings_asked(machine, library_of, explain_missing_link))
    width = max(60, screen_columns(WIDTH))
    lines = (line for text in counted for line in textwrap.wrap(text, width, subsequent_indent=" " * 7))
    return "\n".join([render(table), "", *lines])


def list_json(machine: Machine) -> str:
    """The same, for programs; with why findings cannot be tested here, and why studies cannot be read."""
    studies = file.entries()
    why_not = {one.id: one.why_not for one in findings_asked(machine, library_of, explain_missing_link) if one.why_not}
    found = (
        (name, study, list(dict.fromkeys(one.id for one in study.findings))) for name, study in studies.working.items()
    )
    return json.dumps(
        [
            {
                "name": name,
                "question": study.question,
                "findings": ids,
                "cannot_be_tested_here": {one: why_not[one] for one in ids if one in why_not},
            }
            for name, study, ids in found
        ]
        + [one.as_data() for one in studies.broken.values()]
        + [{"kind_of_test": name, **one.as_data()} for name, one in kinds.entries().broken.items()],
        indent=2,
        ensure_ascii=False,
    )


def show_text(name: str, machine: Machine) -> str:
    """What a study asks, and what of it this machine can answer.

    Raises:
        StudyError: no such study.
    """
    study = file.load(name)
    lines = [f"{name}: {study.question}", ""]
    for factor, levels in study.factors.items():
        lines.append(f"  {factor}: {', '.join(levels)}  (baseline: {study.baseline[factor]})")
    lines += [f"  measure {name}: {_measured_text(study, name)}" for name in study.measures]
    if study.source == "model":
        return "\n".join([*lines, "", f"Asks a model: octant study report {name}"])
    plan = design(study, machine, 0, library_of(study), explain_missing_link, nothing_fits)
    lines += ["", f"Here: {len(plan.questions)} of {len(combinations(study)) * len(study.measures)} cells, "]
    lines[-1] += f"{study.repeats} launches of each"
    reasons: dict[str, int] = {}
    for reason in plan.absent.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    lines += [f"  {count} cannot be asked: {reason}" for reason, count in reasons.items()]
    lines += _programs_lines(plan.requests)
    lines += ["", "Findings:" if study.findings else "It tests no published finding."]
    for asked in study.findings:
        why = [text for need in asked.needs if (text := facts.missing(need, machine))]
        lines.append(f"  {asked.id}" + (f" (cannot be tested here: {why[0]})" if why else ""))
    return "\n".join(lines)


def _programs_lines(requests: Sequence[Request]) -> list[str]:
    """The command lines of a study's programs, and what the user has to allow; empty where it names none."""
    if not (lines := command_lines(requests)):
        return []
    found = ["", "Programs:", *(f"  {line}" for line in lines)]
    needed = permissions(requests)
    return [
        *found,
        "  Allowed by:" * bool(needed),
        *(f"    --allow {quoted(one.word)}: {quoted(one.what)}" for one in needed),
    ]


def show_json(name: str) -> str:
    """The study file, for programs.

    Raises:
        StudyError: no such study.
    """
    return json.dumps({"name": name, **to_builtins(file.load(name))}, indent=2)


def _measured_text(study: Study, name: str) -> str:
    measure = study.measures[name]
    knobs = {**study.knobs, **measure.knobs, **measure.arguments}
    said = " ".join(f"{key}={value}" for key, value in knobs.items())
    axis = f", along {measure.axis.knob}" if measure.axis else ""
    every = [measure.link, *(level.link for levels in study.factors.values() for level in levels.values())]
    links = "".join(f", over an emulated link of {link}" for link in dict.fromkeys(filter(None, every)))
    command = " ".join(map(quoted, measure.command))
    return f"{measure.workload or measure.model or command} {said}{axis}{links}"


def report_text(outcome: Outcome) -> str:
    """The answer, the published table beside ours, the verdicts, and what to do: in the words of the page."""
    width, found = max(60, screen_columns(WIDTH)), reliability(outcome)
    counted = " · ".join(f"{number} {words}" for number, words in counts(outcome)) if outcome.verdicts else ""
    believed = f"{REPORT_SIGNS[found.grade]} {found.grade.capitalize()}: {found.text}"
    lines = [f"{outcome.name}: {outcome.study.question}", about(outcome), ""]
    lines += [line for text in (answer(outcome), counted, believed) for line in textwrap.wrap(text, width)]
    for measure in outcome.study.measures:
        lines += ["", _table_text(outcome, measure)] if places(outcome, measure) else []
    for table in (*larger_tables(outcome.predictions), *further_tables(outcome.study)):
        lines += ["", _further_text(table, width)]
    lines += [line for why in outcome.predictions.why_none for line in textwrap.wrap(f"No prediction: {why}", width)]
    absent = absent_texts(outcome)
    if absent:
        lines += ["", "Not measured:", *(f"  {text}" for text in absent)]
    if outcome.values.wrong:
        lines += ["", "WRONG ANSWERS (they have no speed):", *outcome.values.wrong]
    if outcome.verdicts:
        lines += ["", _verdicts_text(outcome)]
    lines += ["", "What to do with it"]
    for number, step in enumerate(steps(outcome), 1):
        text = f"{number}. {step.title}. {step.body}"
        lines += [*textwrap.wrap(text, width, subsequent_indent="   "), *(f"     {line}" for line in step.lines)]
    return "\n".join([*lines, *(f"Note: {note}" for note in outcome.study.notes)])


def _further_text(table: FurtherTable, width: int) -> str:
    shown = Table(title=table.title, title_justify="left", box=None, pad_edge=False)
    for column in table.header:
        shown.add_column(column, justify="right" if column is table.header[-1] else "left")
    for cells in table.rows:
        shown.add_row(*map(escape, cells))
    caption = textwrap.wrap(table.caption, width, initial_indent="  ", subsequent_indent="  ")
    return "\n".join([render(shown), *caption])


def about(outcome: Outcome) -> str:
    """Where and how the values came about, in a line."""
    run = outcome.run
    if run is None or run.study is None:
        own = f"; this machine: {outcome.own.machine}, run {outcome.own.id}" if outcome.own.id else ""
        values = "published values" if outcome.study.is_published else "values of a model; nothing was measured"
        return f"{values}{own}"
    state = "" if run.complete else f", INCOMPLETE ({resume_line(run)})"
    return (
        f"run {run.id} on {run.machine.name}: {outcome.repeats} launches of each combination, "
        f"in random order (seed {run.study.seed}){state}"
    )


def absent_texts(outcome: Outcome) -> list[str]:
    """What was not measured, by reason."""
    reasons: dict[str, list[str]] = {}
    for cell, reason in outcome.values.absent.items():
        reasons.setdefault(reason, []).append(str(cell))
    for (cell, at), reason in outcome.values.gaps.items():
        axis = outcome.study.measures[cell.measure].axis
        reasons.setdefault(reason, []).append(f"{cell} at {axis.label(at) if axis else at}")
    return [
        f"{reason}: {'; '.join(cells[:3])}{f' and {len(cells) - 3} more' if cells[3:] else ''}"
        for reason, cells in reasons.items()
    ]


def _table_text(outcome: Outcome, measure: str) -> str:
    """The table, with bars where they fit; caveats stand below it once, by number."""
    columns, rows = columns_and_rows(outcome, measure)
    known: dict[str, list[str]] = {}
    if columns[-1] == "caveats":
        columns = [*columns[:-1], "!"]
        ours = [place.ours for place in places(outcome, measure)]
        rows = [
            [*cells[:-1], _caveat_numbers(stats.warnings(o.caveats) if o else (), known)]
            for cells, o in zip(rows, ours, strict=True)
        ]
    bars = _bars(outcome, measure)
    shown = _table(measure, columns, rows, bars)
    if not bars or console(10 * WIDTH).measure(shown).maximum > screen_columns(WIDTH):
        shown = _table(measure, columns, rows, [])
    caveats = (f"  doubt {number}: {_caveat_text(texts)}" for number, texts in enumerate(known.values(), 1))
    unsure = any(is_invalid(place.ours) for place in places(outcome, measure))
    signs = [f"  [ ] {MODEL_ENDS}"] * ("model" in columns)
    signs += [f"  Not as asked, or not measurable: see caveats; {UNSURE_RATIOS}"] * unsure
    return "\n".join([render(shown), *(f"  [ ] {text}" for text in ends_texts(outcome, measure)), *signs, *caveats])


def _table(measure: str, columns: list[str], rows: list[list[str]], bars: list[str]) -> Table:
    """The table, with the bars, if any, behind our values."""
    shown = Table(title=measure, title_justify="left", box=None, pad_edge=False)
    behind = columns.index("here") + 1
    for n, column in enumerate(columns):
        if column in ("here", "there", "model") or column.startswith("×"):
            wraps = column in ("× baseline", "× model")
            shown.add_column(column, justify="right", no_wrap=not wraps, min_width=len(column) if wraps else None)
        elif column == "!":
            shown.add_column(column, no_wrap=True)
        else:
            words_of = [word for cells in rows for word in cells[n].split()]
            shown.add_column(column, min_width=max(map(len, [*column.split(), *words_of]), default=1))
        if bars and n + 1 == behind:
            shown.add_column("", no_wrap=True)
    for n, cells in enumerate(rows):
        shown.add_row(*cells[:behind], *bars[n : n + 1], *cells[behind:])
    return shown


def _bars(outcome: Outcome, measure: str) -> list[str]:
    """A bar for each of our values, the largest full; none where there are no two to compare."""
    values = [place.ours.value.middle if place.ours else None for place in places(outcome, measure)]
    most = max((value for value in values if value is not None), default=0.0)
    if most <= 0 or sum(value is not None for value in values) < 2:
        return []
    return [bar(value / most, BAR) if value is not None else "" for value in values]


def _caveat_numbers(caveats: Sequence[str], known: dict[str, list[str]]) -> str:
    """Caveats as numbers; `known` learns the texts of each, which differ in their values alone."""
    for caveat in caveats:
        known.setdefault(_kind_of(caveat), []).append(caveat)
    order = list(known)
    return " ".join(map(str, sorted({order.index(_kind_of(caveat)) + 1 for caveat in caveats})))


def _kind_of(caveat: str) -> str:
    return _NUMBER.sub("", _without_values(caveat))


def _without_values(caveat: str) -> str:
    return caveat.partition(": undisturbed ")[0]


def _caveat_text(texts: Sequence[str]) -> str:
    """Of one place as it is; of several without the values of one: `7 … 44 % of the time was lost to stops`."""
    if len(set(texts)) == 1:
        return texts[0]
    return "".join(map(_span, zip(*(_NUMBER.split(_without_values(text)) for text in texts), strict=True)))


def _span(parts: Sequence[str]) -> str:
    """One text that all have, or the least and the greatest of their numbers."""
    several = sorted(set(parts), key=lambda part: float(part.replace("−", "-"))) if len(set(parts)) > 1 else parts[:1]
    return " … ".join(several[:: max(1, len(several) - 1)])


def _verdicts_text(outcome: Outcome) -> str:
    shown = Table(title="Findings", title_justify="left", box=None, pad_edge=False, show_header=False)
    shown.add_column(no_wrap=True)
    shown.add_column(overflow="fold")
    said = [(SIGNS[one.status], one.finding.id, one.finding.statement, one.text) for one in outcome.verdicts]
    above = ""
    for (sign, name, statement, text), tests in Counter(said).items():  # of what cannot be tested all say the same
        is_next = name == above
        if not is_next:
            shown.add_row(f"{sign} {name}", statement)
        shown.add_row(sign * is_next, text + (f" ({tests} tests)" if tests > 1 else ""))
        above = name
    return render(shown)


def report_json(outcome: Outcome) -> str:
    """The same, for programs: values in base units."""
    run = outcome.run
    return json.dumps(
        {
            "study": outcome.name,
            "question": outcome.study.question,
            "run": run.id if run else None,
            "seed": run.study.seed if run and run.study else None,
            "complete": run.complete if run else True,
            "cells": [row for measure in outcome.study.measures for row in _cells_json(outcome, measure)],
            "absent": [
                *({"cell": str(cell), "reason": reason} for cell, reason in outcome.values.absent.items()),
                *({"cell": str(c), "at": at, "reason": why} for (c, at), why in outcome.values.gaps.items()),
            ],
            "wrong": list(outcome.values.wrong),
            "findings": [_verdict_json(verdict) for verdict in outcome.verdicts],
        },
        indent=2,
        ensure_ascii=False,
    )


def _cells_json(outcome: Outcome, measure: str) -> list[Mapping[str, object]]:
    quantity = quantities(outcome.study)[measure]
    there = {(one.cell, one.at): one for one in outcome.published}
    found: list[Mapping[str, object]] = []
    for cell in outcome.cells(measure):
        for at, ours in outcome.values.by_cell.get(cell, {}).items():
            published = there.get((cell, at))
            found.append(
                {
                    "measure": measure,
                    "levels": dict(zip(outcome.study.factors, cell.levels, strict=True)),
                    "at": at or None,
                    "unit": quantity.unit,
                    "better": quantity.better,
                    "launches": len(ours.launches),
                    **dict(zip(("low", "middle", "high"), _ends(stated_value(ours)), strict=True)),
                    "claim": _claim(stated_value(ours)),
                    "of_limit": ours.of_limit,
                    "there": published.value if published else None,
                    "model": _ends(model) if (model := outcome.predictions.by_cell.get(cell)) else None,
                    "caveats": [{"kind": d.kind, "grade": d.grade.name.lower(), "text": d.text} for d in ours.caveats],
                }
            )
    return found


def _ends(value: Bounded) -> list[float | None]:
    """Low end, middle and high end; of what is not measurable the middle alone."""
    if isinstance(value, stats.Estimate) and value.kind == "not measurable":
        return [None, value.middle, None]
    return [value.low, value.middle, value.high]


def _claim(value: Bounded) -> str:
    return value.text if isinstance(value, stats.Estimate) else "the model's own bounds"


def _verdict_json(verdict: FindingVerdict) -> Mapping[str, object]:
    here = verdict.here
    return {
        "id": verdict.finding.id,
        "statement": verdict.finding.statement,
        "status": verdict.status,
        "why": verdict.why,
        "here": None if here is None else _ends(stated(here)),
        "here_is": verdict.here_is,
        "there": verdict.there,
        "more_launches": verdict.more_launches,
        "predicted": verdict.predicted,
        "calibrated": {what: list(names) for what, names in verdict.calibrated.items()},
    }
