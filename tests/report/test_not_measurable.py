"""A figure that is not measurable states no interval, in whichever view."""

import json
import re

import pytest

from edge_runs import RUNS, unmeasurable
from octant.analysis.summary import Summary
from octant.report import claims
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.screen import tiles
from octant.report.tables import text
from pages import inflated
from reports import report_of

ENDS = re.compile(r"\d … \d|± \d")
"""Two ends, or a half-width."""


def both() -> list[tuple[str, Summary]]:
    names = ("six launches", "values of 0")
    return [("too wide", RUNS["all not measurable"]()), *((name, unmeasurable(RUNS[name]())) for name in names)]


SPOILED = pytest.mark.parametrize("summary", [one for _, one in both()], ids=[name for name, _ in both()])


def rows_of(page_text: str) -> list[str]:
    """The cells of the column of intervals, and what a tile says of its own."""
    cells = re.findall(r'<td class="n interval">(.*?)</td>', page_text, re.DOTALL)
    return cells + re.findall(r'<p class="soft">(.*?)</p>', page_text, re.DOTALL)


@SPOILED
def test_no_view_of_a_run_states_an_interval(summary: Summary) -> None:
    assert summary.figures
    assert all(one.invalid for one in summary.figures)
    shown = "\n".join(line.plain for line in text.lines(report_of(summary), 160, notes=True))
    assert not ENDS.search(re.sub(r"groups .*|\d+ values: .*", "", shown)), shown
    cells = rows_of(run_page.render(report_of(summary)))
    assert cells
    assert not [cell for cell in cells if ENDS.search(cell)]
    assert all(one.strip is None or one.strip.low == one.strip.high for one in tiles.tiles(summary))
    assert {json.loads(inflated(one))["interval"] for one in run_page.pack(summary.figures).figures} == {None}


@SPOILED
def test_no_export_has_its_ends(summary: Summary) -> None:
    lines = list(tidy.figure_lines(summary))
    assert {(one.low, one.high, one.next_low, one.next_high) for one in lines} == {(None,) * 4}
    assert {one.kind for one in lines} == {"not measurable"}
    assert not [one.claim for one in lines if "95 %" in one.claim]
    exported = json.loads(tidy.as_json(report_of(summary)))
    assert {(one["low"], one["high"]) for one in exported["figures"]} == {(None, None)}


def test_two_launches_that_are_not_measurable_still_show_both_values() -> None:
    """They are what was seen, and no interval."""
    (figure, *_) = unmeasurable(RUNS["two launches"]()).figures
    assert claims.claim_text(figure).endswith("two launches, no interval")
    assert " and " in claims.figure_texts(figure).ends
    (alone, *_) = unmeasurable(RUNS["one launch"]()).figures
    assert claims.figure_texts(alone).ends == ""


def test_what_is_measurable_has_its_interval_in_the_same_run() -> None:
    good, bad = RUNS["six launches"](), unmeasurable(RUNS["six launches"]())
    texts = [claims.figure_texts(summary.figures[0]) for summary in (good, bad)]
    assert [bool(one.ends) for one in texts] == [True, False]
    assert claims.claim_text(bad.figures[0]).endswith(" launches, no interval")
