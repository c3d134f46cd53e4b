"""A study as a section of a page, and as a page of its own: verdicts, tables, nothing from the network."""

from pathlib import Path

from markupsafe import Markup

from octant import __version__, catalogue
from octant.report import html, study
from octant.study.outcome import Outcome


def section(outcome: Outcome) -> Markup:
    """The part of a page that reports on a study."""
    tables = [(measure, *study.columns_and_rows(outcome, measure)) for measure in outcome.study.measures]
    text = (
        html.templates()
        .get_template("study.html.jinja")
        .render(
            name=outcome.name,
            study=outcome.study,
            about=study.about(outcome),
            verdicts=outcome.verdicts,
            tables=tables,
            absent=study.absent_texts(outcome),
            wrong=outcome.answers.wrong,
            document=lambda file: catalogue.documents()[file].title,
        )
    )
    return Markup(text)  # noqa: S704 - the template escapes its texts


def render(outcome: Outcome) -> str:
    """A page with one study."""
    page = html.templates().get_template("study_page.html.jinja")
    style = html.page_file("style.css")
    return page.render(name=outcome.name, section=section(outcome), style=style, version=__version__)


def write(outcome: Outcome, path: Path) -> Path:
    """Writes the page of a study and gives its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(outcome), path)
