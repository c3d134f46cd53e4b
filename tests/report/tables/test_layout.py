"""Tables that templates write as lines with tabs."""

import dataclasses

import pytest

from octant.report.tables import listing
from octant.report.tables.layout import aligned, tabbed_table
from octant.store import Listed

RUN = Listed(**{field.name: "" for field in dataclasses.fields(Listed)})  # type: ignore[arg-type]


def test_a_table_of_lines_has_its_headings_first_and_ends_its_last_line() -> None:
    assert tabbed_table("name\t>rate\n\t12\nb\t1\n") == "name  rate\n        12\nb        1\n"
    assert tabbed_table("=\t\na\tb\n") == "a  b\n", "without headings there is no row of headings"
    assert tabbed_table("a\tb\nc\td\te\n").startswith("a  b\nc  d"), "a further tab belongs to the last cell"


@pytest.mark.parametrize("title", ["run\tx", "run\nx", "run"])
def test_a_control_character_in_a_title_does_not_change_the_columns_of_runs(title: str) -> None:
    run = dataclasses.replace(RUN, id="20261121-214530-3f2a", machine="m", title=title, points=3, left=0, failures=0)
    head, row = listing.as_text([run]).splitlines()
    assert head.split() == ["run", "machine", "measurements", "state", "command"]
    assert row.endswith(title.replace("\t", "�").replace("\n", "�"))


def test_rows_of_one_cell_are_headings() -> None:
    assert aligned([("a", "b"), ("a long heading",), ("ccc", "1")], right=(1,)) == [
        "a    b",
        "a long heading",
        "ccc  1",
    ]
