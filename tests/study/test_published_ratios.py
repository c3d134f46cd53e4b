"""Ratios that a table of times gives without saying them."""

import pytest

from octant.report.study.rows import published_tables
from octant.study import file
from octant.study.published_values import published_gains, published_range
from study_text import STUDY

THERE = 'there = { table = "p7-vsx-fmadd", metric = "time", where = { vsx = "enabled" }, to = { vsx = "disabled" } }'


def test_times_of_two_rows_give_how_many_times_as_good_one_is() -> None:
    study = file.load("vsx-fmadd")
    found = [published_range(study, asked) for asked in study.findings]
    assert found[0] == pytest.approx((23.2 / 15.0,) * 2)
    assert found[1] == pytest.approx((22.6 / 7.8,) * 2)
    assert found[2] is None
    assert found[3] == pytest.approx((23.2 / 22.6,) * 2)
    gains = {cell.measure: gain for (cell, _), gain in published_gains(study).items()}
    assert gains == {"double": pytest.approx((1.547, 1.547), abs=1e-3), "single": pytest.approx((2.897,) * 2, abs=1e-3)}


def test_ratios_of_several_rows_are_refused() -> None:
    with pytest.raises(
        file.StudyError, match=r"findings\.0\.there\.where: a ratio needs exactly one row, and 2 rows match"
    ):
        file.parse(STUDY + THERE, "mine")


def test_the_divided_values_are_listed_below() -> None:
    share = (
        STUDY.replace('kind = "ratio"', 'kind = "most"')
        .replace('measure = "m", ', "")
        .replace(", bar = { above = 1.0 }", "")
    )
    double = THERE.replace(" }", ', data_type = "double" }', 2)
    (table,) = published_tables(file.parse(share + double, "mine"))
    assert len(table.rows) == 4  # the whole table


def test_an_unknown_column_of_the_table_is_refused_by_its_key() -> None:
    wrong = THERE.replace("to = { vsx", "to = { vxs")
    with pytest.raises(file.StudyError, match=r"findings\.0\.there\.to: no column 'vxs'"):
        file.parse(STUDY + wrong, "mine")


def test_what_one_size_is_over_another_is_no_gain_of_a_setting() -> None:
    """The Power 755's near part of the cache against all of it: both are the baseline's."""
    gains = published_gains(file.load("l3-locality"))
    assert {cell.levels for cell, _ in gains} == {("all",)}
