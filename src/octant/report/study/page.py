"""A study as a page of its own: verdicts, pictures with their numbers, nothing from the network."""

import json
from dataclasses import asdict
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
    return html.templates().get_template("study.html.jinja").render(
        name=outcome.name,
        study=outcome.study,
        about=study.about(outcome),
        verdicts=outcome.verdicts,
        tally=tally(outcome.verdicts),
        pictures=shown,
        absent=study.absent_texts(outcome),
        wrong=outcome.values.wrong,
        document=lambda file: catalogue.documents()[file].title,
        version=__version__,
        style=html.page_file("style.css"),
        script=html.page_file("page.js"),
        plotly=html.plotly(),
        data=html.json_markup({"run": data, "pictures": [asdict(picture) for picture in shown], "figures": []}),
    )  # fmt: skip


def write(outcome: Outcome, path: Path) -> Path:
    """Writes the page of a study and gives its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(outcome), path)
