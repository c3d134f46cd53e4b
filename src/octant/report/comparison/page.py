"""The page of a comparison: answer, ratios with detectable differences, and further measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import output
from octant.report.comparison import statements, text
from octant.report.page import html
from octant.report.screen.first_screen import absent_workloads, period_text
from octant.store import files

if TYPE_CHECKING:
    from pathlib import Path

    from octant.analysis.compare import Comparisons
    from octant.store import StoredRun

MOST_ROWS = 12
"""Rows of a table before the rest is folded."""


def render(found: Comparisons) -> str:
    """Return the page of a comparison; equal comparisons give equal texts."""
    before, after = found.before.run, found.after.run
    drawn = statements.picture(found)
    pictures = [drawn] if drawn else []
    name = f"{before.id}-against-{after.id}"
    notable = [one for one in found.figures if one.verdict is None and (one.lost or not one.is_alone)]
    alone = [one for one in found.figures if one.is_alone]
    apart = [(statements.name(one), "; ".join(one.why), one.lost) for one in [*notable, *alone]]
    return html.render(
        "comparison.html.jinja",
        {"run": name, "document": text.document(found), "exports": html.exports(pictures, name)},
        found=found,
        before=before,
        after=after,
        titles=[_title(before), _title(after)],
        command=f"compare --rounds {found.pair.rounds}" if found.pair else "compare",
        period=period_text(before, after),
        machines=list(dict.fromkeys([before.machine.name, after.machine.name])),
        answer=statements.answer(found),
        counts=statements.counts(found),
        reliability=statements.reliability(found),
        pictures=pictures,
        steps=statements.steps(found),
        apart=apart,
        absent=absent_workloads(found.before, found.after),
        caveats=[(statements.name(one), "; ".join(one.why)) for one in statements.ordered(found) if one.why],
        most=MOST_ROWS,
    )


def _title(run: StoredRun) -> str:
    """Return what was measured, without the prefix of a repetition."""
    return run.title.removeprefix("A again: ").removeprefix("B again: ")


def write(found: Comparisons, path: Path) -> Path:
    """Write the page of a comparison and return its path.

    Raises:
        Refusal: the file cannot be written.
    """
    own = path.parent == found.after.run.folder  # a store is its owner's alone
    return html.save(render(found), path, files.FILE_MODE if own else output.FILE_MODE)
