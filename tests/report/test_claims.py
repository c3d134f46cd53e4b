"""Every view says what low and high are, for figures of one, two, three and six launches."""

import csv
import dataclasses
import io
import json
import re
from collections.abc import Callable, Mapping
from functools import cache

import pytest

from fake_run import WORKLOADS, fake_run
from octant.analysis.summary import Summary, summarise
from octant.record import Point, Samples
from octant.report import claims
from octant.report.charts.pictures import pictures
from octant.report.export import tidy
from octant.report.page import run_page
from octant.report.tables import text
from reports import report_of

SAID = {
    1: "range within one launch at {at}:46; the launch was not repeated",
    2: "two launches between {at}:46 and {at}:47, no interval",
    3: "95 % interval for the median over 3 launches between {at}:46 and {at}:48",
    6: "95 % interval for the median over 6 launches between {at}:46 and {at}:51",
}


def later(point: Point) -> Point:
    """Each repeat a minute after the one before, and 1 % slower."""
    repeat = int(point.launch.rpartition("-")[2])
    series = tuple(dataclasses.replace(s, values=s.values * (1 + 0.01 * repeat)) for s in point.read().series)
    process = dataclasses.replace(point.process, started=f"2026-11-21T21:{46 + repeat}:00Z")
    return dataclasses.replace(point, read=lambda: Samples(series), process=process)


@cache
def summary(repeats: int) -> Summary:
    run = fake_run(repeats=repeats)
    kept = [point for point in run.points if point.workload == "node/peakflops" or "ladder" in point.notes]
    points = tuple(map(later, kept))
    return summarise(dataclasses.replace(run, points=points, failures=()), WORKLOADS, all_metrics=True)


def said(repeats: int, words: Mapping[int, str] = SAID) -> str:
    value = summary(repeats).figures[0].value
    assert value is not None
    return words[repeats].format(at=f"{value.period.begin:%H}")


def in_terminal(found: Summary) -> str:
    return "\n".join(line.plain for line in text.lines(report_of(found), 120))


def in_csv(found: Summary) -> str:
    file = io.BytesIO()
    tidy.write(found, "csv", "figures", file)
    return file.getvalue().decode()


def in_page(found: Summary) -> str:
    return re.sub(r"<script.*?</script>", "", run_page.render(report_of(found)), flags=re.DOTALL)


LEGEND = {
    1: "range within one launch, at {at}:46; the launch was not repeated",
    2: "no interval: both values of two launches, between {at}:46 and {at}:47",
    3: "95 % interval for the median of the valid launches, between {at}:46 and {at}:48",
    6: "95 % interval for the median of the valid launches, between {at}:46 and {at}:51",
}
"""What the terminal says below a table that has a column of launches."""
VIEWS: dict[str, Callable[[Summary], str]] = {
    "terminal": in_terminal, "page": in_page, "JSON": lambda found: tidy.as_json(report_of(found)), "CSV": in_csv,
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("repeats", SAID)
def test_every_view_says_what_low_and_high_are(view: str, repeats: int) -> None:
    shown = VIEWS[view](summary(repeats))
    assert (said(repeats, LEGEND) if view == "terminal" else said(repeats)) in shown
    assert ("95 % interval for" in shown) == (repeats > 2)


def test_a_terminal_row_says_its_launches_and_the_table_what_each_kind_of_ends_is() -> None:
    one, six = summary(1), summary(6)
    mixed = dataclasses.replace(one, figures=(one.figures[0], six.figures[1]))
    page = in_terminal(mixed)
    rows = [line for line in page.splitlines() if line.startswith("  Double, 512-bit")]
    assert [re.search(r"… \S+ +(\d)\b", row)[1] for row in rows] == ["1", "6"]  # type: ignore[index]
    legend = page[page.index("95 % interval for") :]
    assert "range within one launch" in legend
    assert "95 % interval for" in legend
    assert "two launches" not in legend


def test_two_values_are_named_as_what_they_are() -> None:
    assert re.search(r"Gflop/s +\S+ and \S+  ", in_terminal(summary(2)))
    assert "…" not in in_terminal(summary(2)).split("Failed")[0].replace("low … high", "")


def test_launches_of_one_sort_share_a_line_over_all_their_time() -> None:
    """The line holds for each: all its launches lie between these times."""
    values = [figure.value for figure in summary(3).figures]
    assert None not in values
    first, *rest = (value for value in values if value)
    earlier = dataclasses.replace(first.period, begin=first.period.begin.replace(minute=31))
    (line,) = claims.claims([dataclasses.replace(first, period=earlier), *rest]).values()
    assert ":31 and" in line
    assert line.endswith(":48")


def test_json_and_csv_contain_the_kind_and_the_next_launch() -> None:
    first = json.loads(tidy.as_json(report_of(summary(6))))["figures"][0]
    assert (first["kind"], first["launches"], first["tried"]) == ("order statistics", 6, 6)
    assert first["next_low"] < first["low"] < first["median"] < first["high"] < first["next_high"]
    assert first["first_start"] < first["last_start"]
    (row, *_) = csv.DictReader(io.StringIO(in_csv(summary(3))))
    assert (row["kind"], row["launches"], row["next_low"]) == ("student", "3", "")
    assert row["caveats"] == "note: there are only 3 launches; 6 or more give an interval from order statistics"


def test_the_page_says_where_the_next_launch_would_lie() -> None:
    assert "95 % interval for the next launch, from 6 launches between" in in_page(summary(6))
    assert "next launch, from" not in in_page(summary(3))


def test_tables_of_pictures_say_what_their_ends_are() -> None:
    tables = [picture for picture in pictures(summary(3)) if "kind of range" in picture.header]
    assert tables
    for picture in tables:
        ends, claim = (picture.header.index(title) for title in ("low … high", "kind of range"))
        assert all(row[claim] for row in picture.rows if row[ends])
        assert said(3) in {row[claim] for row in picture.rows}


def test_notes_are_hidden_until_asked() -> None:
    page = in_terminal(summary(3))
    assert "only 3 launches" not in page
    assert re.search(r"\ndetails: octant report \S+ --notes\n", page)
    asked = "\n".join(line.plain for line in text.lines(report_of(summary(3)), 120, notes=True))
    assert "    note: there are only 3 launches" in asked
    assert "--notes" not in asked
    assert '<span class="note">i note</span>: there are only 3 launches' in in_page(summary(3))
