"""The page of a comparison: answer, ratios with detectable differences, and further measurements."""

from pathlib import Path

from octant.analysis.compare import Comparisons
from octant.report.comparison import statements, text
from octant.report.page import html
from octant.report.screen.first_screen import absent_workloads, period_text

MAX_ROWS = 12
"""Rows of a table before the rest is folded."""


def render(found: Comparisons) -> str:
    """Return the page of a comparison; equal comparisons give equal texts."""
    before, after = found.before.run, found.after.run
    pictures = [drawn] if (drawn := statements.picture(found)) else []
    name = f"{before.id}-against-{after.id}"
    notable = [one for one in found.figures if one.speed is None and (one.lost or not one.is_alone)]
    alone = [one for one in found.figures if one.is_alone]
    titles = [run.title.removeprefix("A again: ").removeprefix("B again: ") for run in found.runs]
    return html.render(
        "comparison.html.jinja",
        {"run": name, "document": text.document(found), "exports": html.exports(pictures, name)},
        found=found, before=before, after=after, titles=titles,
        command=f"compare --rounds {found.pair.rounds}" if found.pair else "compare",
        period=period_text(before, after), machines=list(dict.fromkeys([before.machine.name, after.machine.name])),
        answer=statements.answer(found), counts=statements.counts(found), reliability=statements.reliability(found),
        pictures=pictures, steps=statements.steps(found), absent=absent_workloads(found.before, found.after),
        apart=[(statements.name(one), statements.why(one), one.lost) for one in [*notable, *alone]],
        caveats=[(statements.name(one), statements.why(one)) for one in statements.ordered(found) if one.why],
        most=MAX_ROWS,
    )  # fmt: skip


def write(found: Comparisons, path: Path) -> Path:
    """Write the page of a comparison and return its path.

    Raises:
        Refusal: the file cannot be written.
    """
    return html.save(render(found), path, found.after.run)
