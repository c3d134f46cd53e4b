"""Page of a study: the answer, recommendations, our values with published ones, and the verdicts."""

import json

from octant import __version__, catalogue, units
from octant.report.page import html
from octant.report.screen.first_screen import period_text
from octant.report.study import text as study
from octant.report.study.advice import steps, waiting
from octant.report.study.answer import answer, counts, reliability
from octant.report.study.pictures import pictures
from octant.report.study.rows import further_tables
from octant.study.outcome import Outcome
from octant.study.verdict import FindingVerdict, Status

MARKS: dict[Status, str] = {"holds": "✓", "does not hold": "✕", "undecided": "?", "cannot be tested here": "–"}
TONES: dict[Status, str] = {
    "holds": "good",
    "does not hold": "wrong",
    "undecided": "limited",
    "cannot be tested here": "soft",
}


def render(outcome: Outcome) -> str:
    """Return the page of an outcome; the same outcome gives the same text."""
    shown = pictures(outcome)
    document = json.loads(study.report_json(outcome))
    data = {**document, "run": document["run"] or outcome.name, "octant": __version__}
    return html.render(
        "study.html.jinja", {"run": outcome.name, "document": data, "exports": html.exports(shown, outcome.name)},
        name=outcome.name, study=outcome.study, about=study.about(outcome),
        period=period_text(outcome.run) if outcome.run else "", answer=answer(outcome), counts=counts(outcome),
        reliability=reliability(outcome), steps=steps(outcome), pictures=shown, verdicts=outcome.verdicts,
        tested=[one for one in outcome.verdicts if one.status != "cannot be tested here"],
        untested=[(reason, machine, those) for reason, (machine, those) in waiting(outcome).items()],
        there=lambda one: one.there_text or "–", here=lambda one: one.here_text or "–", why=why_text,
        marks=MARKS, tones=TONES, further=further_tables(outcome), absent=study.absent_texts(outcome),
        wrong=outcome.values.wrong, document=lambda file: catalogue.documents()[file].title,
    )  # fmt: skip


def why_text(verdict: FindingVerdict) -> str:
    """Return the reason of a verdict, without the values that have columns of their own."""
    text = f"{verdict.why}{verdict.remark}"
    text = text.removeprefix(f"published {verdict.there_text}, ") if verdict.there else text
    text = text.removeprefix(verdict.here_text).lstrip(" ,:") if verdict.here else text
    return units.capital(text)
