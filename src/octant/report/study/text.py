"""Texts and JSON of studies: the question, the tables of values, and a verdict for each finding."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import to_builtins
from rich.table import Table
from rich.text import Text

from octant import catalogue, facts, stats
from octant.launch.link import explain_missing_link
from octant.machine import Machine
from octant.registry import Entries
from octant.report.charts.terminal import bar
from octant.report.export.tidy import caveats_json
from octant.report.study import rows as study_rows
from octant.report.study.advice import steps
from octant.report.study.answer import answer, counts, reliability
from octant.report.study.rows import StudyPlace, is_invalid, places, stated_value
from octant.report.tables.layout import fill, text_table
from octant.report.tables.word_filter import select_entries
from octant.report.terminal import console, render, screen_columns
from octant.runs.cell_costs import explain_no_fit
from octant.runs.programs.command_text import resume_line
from octant.runs.programs.permissions import command_lines, permissions, quoted
from octant.stats.grades import SIGNS as REPORT_SIGNS
from octant.study import file, kinds
from octant.study.cells import combinations
from octant.study.design import design
from octant.study.outcome import Outcome, library_of
from octant.study.question import Study, quantities
from octant.study.ratios import stated
from octant.study.testable import count_lines, studied_findings
from octant.study.values import Bounded
from octant.study.verdict import FindingVerdict

BAR = 10  # characters of the longest bar in a table
WIDTH = 100  # columns into which the bars must fit, where no width is known
SIGNS = {"holds": "+", "does not hold": "-", "cannot be tested here": "o", "undecided": "?"}


def list_text(machine: Machine, words: Sequence[str] = ()) -> str:
    """Return the studies of Octant, and how many published findings they can test on this machine.

    Args:
        machine: on which they would run.
        words: the listed studies contain all of them.

    Raises:
        Refusal: no study contains all words.
    """
    found = file.entries()
    if words:
        return fill("study/report", "studies", found=Entries(_with_words(found, words), {}), kinds={}, lines=())
    width = max(60, screen_columns(WIDTH))
    counted = count_lines(studied_findings(machine, library_of, explain_missing_link))
    lines = [line for text in counted for line in textwrap.wrap(text, width, subsequent_indent=" " * 7)]
    return fill("study/report", "studies", found=found, kinds=kinds.entries().broken, lines=lines)


def _with_words(found: Entries[Study], words: Sequence[str]) -> dict[str, Study]:
    """Return the studies whose name, question, measures or findings (with statements) contain all words."""
    kept = select_entries(found.working.items(), words, lambda one: _searched(*one), "study", "octant study list")
    return dict(kept)


def _searched(name: str, study: Study) -> str:
    ids = dict.fromkeys(one.id for one in study.findings)
    claims = [catalogue.findings()[one].statement for one in ids if one in catalogue.findings()]
    return " ".join((name, study.question, *study.measures, *ids, *claims))


def list_json(machine: Machine, words: Sequence[str] = ()) -> str:
    """Return the same as JSON, with the reasons why findings cannot be tested here and studies cannot be read."""
    studies = file.entries()
    if words:
        studies = Entries(_with_words(studies, words), {})
    why_not = {
        one.id: one.why_not for one in studied_findings(machine, library_of, explain_missing_link) if one.why_not
    }
    rows: list[Mapping[str, object]] = []
    for name, study in studies.working.items():
        ids = list(dict.fromkeys(one.id for one in study.findings))
        reasons = {one: why_not[one] for one in ids if one in why_not}
        rows.append({"name": name, "question": study.question, "findings": ids, "cannot_be_tested_here": reasons})
    rows += [one.as_data() for one in studies.broken.values()]
    rows += [{"kind_of_test": name, **one.as_data()} for name, one in kinds.entries().broken.items()]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def show_text(name: str, machine: Machine) -> str:
    """Return the question of a study, and the configurations that this machine can measure.

    Raises:
        StudyError: no such study.
    """
    study = file.load(name)
    measured = study.source != "model"
    plan = design(study, machine, 0, library_of(study), explain_missing_link, explain_no_fit) if measured else None
    requests = plan.requests if plan else ()
    missing = [(t.id, [why for n in t.needs if (why := facts.missing(n, machine))]) for t in study.findings]
    return fill(
        "study/report", "show", name=name, study=study, plan=plan, total=len(combinations(study)) * len(study.measures),
        measures=[(measure, _measure_text(study, measure)) for measure in study.measures],
        reasons=Counter(plan.absent.values()) if plan else {}, programs=command_lines(requests),
        permissions=[(quoted(one.word), quoted(one.what)) for one in permissions(requests)],
        findings=list(dict.fromkeys((id_, why[0] if why else "") for id_, why in missing)),
        path=file.path_of(name) if name in file.names() else "",
    )  # fmt: skip


def show_json(name: str) -> str:
    """Return the study file as JSON.

    Raises:
        StudyError: no such study.
    """
    return json.dumps({"name": name, **to_builtins(file.load(name))}, indent=2)


def _measure_text(study: Study, name: str) -> str:
    measure = study.measures[name]
    knobs = {**study.knobs, **measure.knobs, **measure.arguments}
    settings = " ".join(f"{key}={value}" for key, value in knobs.items())
    axis = f", along {measure.axis.knob}" if measure.axis else ""
    every = [measure.link, *(level.link for levels in study.factors.values() for level in levels.values())]
    links = "".join(f", over an emulated link of {link}" for link in dict.fromkeys(filter(None, every)))
    command = " ".join(map(quoted, measure.command))
    return f"{measure.workload or measure.model or command} {settings}{axis}{links}"


def report_text(outcome: Outcome, notes: bool = False) -> str:
    """Return the answer, the published table with ours, the verdicts, and what to do next.

    Args:
        notes: list all caveats of each row below its table, informational ones included.
    """
    width, found = max(60, screen_columns(WIDTH)), reliability(outcome)
    tables = [_table_text(outcome, measure, notes) for measure in outcome.study.measures if places(outcome, measure)]
    for table in study_rows.further_tables(outcome):
        columns = [*table.header[:-1], f">{table.header[-1]}"]
        caption = textwrap.indent(textwrap.fill(table.caption, width - 2), "  ")
        tables.append(f"{text_table(columns, table.rows, table.title)}\n{caption}")
    return fill(
        "study/report", "report", outcome=outcome, about=about(outcome), width=width, answer=answer(outcome),
        counts=counts(outcome), sign=REPORT_SIGNS[found.grade], reliability=found,
        tables=tables, absent=absent_texts(outcome),
        verdicts=Counter((one.status, one.finding.id, one.finding.statement, one.text) for one in outcome.verdicts),
        signs=SIGNS, steps=steps(outcome),
    )  # fmt: skip


def about(outcome: Outcome) -> str:
    """Return the source of the values in one line."""
    run = outcome.run if outcome.run and outcome.run.study else None
    return fill(
        "study/report", "about", run=run, repeats=outcome.repeats if run else 0, resume=resume_line(run) if run else "",
        published=outcome.study.is_published, machine=outcome.local_run,
    )  # fmt: skip


def absent_texts(outcome: Outcome) -> list[str]:
    """Return what was not measured, by reason."""
    reasons: dict[str, list[str]] = {}
    for cell, reason in outcome.values.absent.items():
        reasons.setdefault(reason, []).append(str(cell))
    for (cell, at), reason in outcome.values.gaps.items():
        axis = outcome.study.measures[cell.measure].axis
        reasons.setdefault(reason, []).append(f"{cell} at {axis.label(at) if axis else at}")
    more = {reason: f" and {len(cells) - 3} more" if cells[3:] else "" for reason, cells in reasons.items()}
    return [f"{reason}: {'; '.join(cells[:3])}{more[reason]}" for reason, cells in reasons.items()]


def _table_text(outcome: Outcome, measure: str, notes: bool) -> str:
    """Return the table, with bars where they fit; each row names its worst caveat, whose text is below the table."""
    columns, rows = study_rows.columns_and_rows(outcome, measure)
    found = places(outcome, measure)
    texts: dict[str, list[str]] = {}
    if columns[-1] == "caveats":
        columns[-1] = "caveat"
        for place, cells in zip(found, rows, strict=True):
            caveats = [one for one in (place.ours.caveats if place.ours else ()) if one.grade > stats.Grade.NOTE]
            worst = max(caveats, key=lambda one: one.grade, default=None)
            cells[-1] = worst.kind if worst else ""
            if worst:
                texts.setdefault(worst.kind, []).append(worst.text)
    bars = _bars(found)
    shown = _table(measure, columns, rows, bars)
    if bars and console(10 * WIDTH).measure(shown).maximum > screen_columns(WIDTH):
        shown = _table(measure, columns, rows, [])
    below = [f"[ ] {text}" for text in study_rows.ends_texts(outcome, measure)]
    below += [f"[ ] {study_rows.MODEL_ENDS}"] * ("model" in columns)
    if any(is_invalid(place.ours) for place in found):
        below.append(f"Not as requested, or not measurable: see the caveats; {study_rows.UNSURE_RATIOS}")
    if notes:
        labels = [" ".join(cells[: columns.index("here")]) or measure for cells in rows]
        for label, place in zip(labels, found, strict=True):
            below += [f"{label}: {one.kind}: {one.text}" for one in (place.ours.caveats if place.ours else ())]
    else:
        for kind, those in texts.items():
            below.append(f"{kind}: {those[0]}" + f" (and {len(those) - 1} more)" * (len(those) > 1))
        if sum(len(place.ours.caveats) for place in found if place.ours) > len(texts):
            name = outcome.run.id if outcome.run else outcome.name
            below.append(f"all caveats: octant study report {name} --notes")
    return "\n".join([render(shown), *(f"  {text}" for text in below)])


def _table(measure: str, columns: list[str], rows: list[list[str]], bars: list[str]) -> Table:
    """Return the table, with the bars, if any, after our values."""
    shown = Table(title=measure, title_justify="left", box=None, pad_edge=False)
    behind = columns.index("here") + 1
    for n, column in enumerate(columns):
        if column in ("here", "there", "model") or column.startswith("×"):
            wraps = column in ("× baseline", "× model")
            shown.add_column(column, justify="right", no_wrap=not wraps, min_width=len(column) if wraps else None)
        else:
            words = [word for cells in rows for word in cells[n].split()]
            shown.add_column(column, min_width=max(map(len, [*column.split(), *words]), default=1))
        if bars and n + 1 == behind:
            shown.add_column("", no_wrap=True)
    for n, cells in enumerate(rows):
        shown.add_row(*map(Text, (*cells[:behind], *bars[n : n + 1], *cells[behind:])))
    return shown


def _bars(found: Sequence[StudyPlace]) -> list[str]:
    """Return a bar for each of our values, the largest full; none with fewer than two values."""
    values = [place.ours.value.middle if place.ours else None for place in found]
    most = max((value for value in values if value is not None), default=0.0)
    if most <= 0 or sum(value is not None for value in values) < 2:
        return []
    return [bar(value / most, BAR) if value is not None else "" for value in values]


def report_json(outcome: Outcome) -> str:
    """Return an outcome as JSON, with values in base units."""
    run, values = outcome.run, outcome.values
    document = {
        "study": outcome.name,
        "question": outcome.study.question,
        "run": run.id if run else None,
        "seed": run.study.seed if run and run.study else None,
        "complete": run.complete if run else True,
        "cells": [row for measure in outcome.study.measures for row in _cells_json(outcome, measure)],
        "absent": [
            *({"cell": str(cell), "reason": reason} for cell, reason in values.absent.items()),
            *({"cell": str(cell), "at": at, "reason": reason} for (cell, at), reason in values.gaps.items()),
        ],
        "wrong": list(values.wrong),
        "findings": [_verdict_json(verdict) for verdict in outcome.verdicts],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _cells_json(outcome: Outcome, measure: str) -> Iterator[Mapping[str, object]]:
    for place in places(outcome, measure):
        if place.ours is not None:
            value = stated_value(place.ours)
            yield {
                "measure": measure,
                "levels": dict(zip(outcome.study.factors, place.cell.levels, strict=True)),
                "at": place.at or None,
                **to_builtins(quantities(outcome.study)[measure]),
                "launches": len(place.ours.launches),
                **dict(zip(("low", "middle", "high"), _ends(value), strict=True)),
                "claim": value.text if isinstance(value, stats.Estimate) else "the model's own bounds",
                "of_limit": place.ours.of_limit,
                "there": place.published.value if place.published else None,
                "model": _ends(place.predicted) if place.predicted else None,
                "caveats": caveats_json(place.ours.caveats),
            }


def _ends(value: Bounded) -> list[float | None]:
    """Return low end, middle and high end; without ends if the value is not measurable."""
    if isinstance(value, stats.Estimate) and value.kind == "not measurable":
        return [None, value.middle, None]
    return [value.low, value.middle, value.high]


def _verdict_json(verdict: FindingVerdict) -> Mapping[str, object]:
    here = verdict.here
    return {
        "id": verdict.finding.id,
        "statement": verdict.finding.statement,
        "status": verdict.status,
        "why": verdict.why,
        "here": None if here is None else _ends(stated(here)),
        "here_is": verdict.interval_text,
        "there": verdict.there,
        "more_launches": verdict.more_launches,
        "predicted": verdict.predicted,
        "calibrated": {what: list(names) for what, names in verdict.calibrated.items()},
    }
