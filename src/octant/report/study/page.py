"""A study as a page of its own: verdicts, pictures with their numbers, nothing from the network."""

import json
from pathlib import Path

from octant import __version__, catalogue
from octant.report.run import html
from octant.report.study import text as study
from octant.report.study.pictures import pictures
from octant.study.outcome import Outcome
from octant.study.verdict import tally


def render(outcome: Outcome) -> str:
    """A page with one study; the same outcome gives the same text."""
    shown = pictures(outcome)
    document = json.loads(study.report_json(outcome))
    data = {**document, "run": document["run"] or outcome.name, "octant": __version__}
    return html.render(
        "study.html.jinja",
        {"run": outcome.name, "document": data, "exports": html.exports(shown, outcome.name)},
        ("chart",),
        name=outcome.name,
        study=outcome.study,
        about=study.about(outcome),
        verdicts=outcome.verdicts,
        tally=tally(outcome.verdicts),
        pictures=shown,
        absent=study.absent_texts(outcome),
        wrong=outcome.values.wrong,
        document=lambda file: catalogue.documents()[file].title,
    )  # fmt: skip


def write(outcome: Outcome, path: Path) -> Path:
    """Writes the page of a study and gives its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(outcome), path)
