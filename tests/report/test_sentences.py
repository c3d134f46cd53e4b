"""Templates of sentences: whitespace, control characters, missing values; and the caveat of a table row."""

import dataclasses

import pytest
from jinja2 import UndefinedError

from octant.report import claims
from octant.report.sentences import Sentences, listed
from octant.stats import caveat, graded
from octant.units import NARROW

TEXTS = Sentences("octant.report.screen", "reliability")


def test_control_characters_of_values_are_replaced_and_lines_are_not_divided() -> None:
    rows = TEXTS.lines("failures", 1, "ended\x1b[31m\nby SIGKILL", 0, "")
    assert rows == ["Failed", "1 launch: ended�[31m�by SIGKILL", "Their results use fewer launches, or are missing."]


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        TEXTS.lines("precision", 1)


def test_the_space_before_a_unit_is_kept() -> None:
    lost = {"mean": 0.24, "most": 0.3, "cause": ""}
    line = TEXTS.line("summary", wrong=(), unmeasured=(), failed=(), limited=None, lost=lost, launches=(6, 6))
    assert line == "24\u202f% of the CPU time was lost."


def test_texts_are_listed_with_and() -> None:
    assert [listed(x) for x in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]


def test_a_row_has_one_caveat_of_at_most_eight_words() -> None:
    short = caveat("drift", "4 % slower in the second half: see the page", 0.04)
    assert claims.short_caveat([short, caveat("few samples", "x")]) == "4 % slower in the second half"
    assert claims.short_caveat(()) == ""


def test_a_long_caveat_is_shown_by_its_kind_and_not_cut() -> None:
    long = "one two three four five six seven eight nine"
    (lost,) = graded("lost time", 0.78, long)
    at_most = dataclasses.replace(lost, is_upper_bound=True)
    cases = (
        lost,
        at_most,
        *graded("wide interval", 0.2, long),
        caveat("drift", long, 0.04),
        caveat("outliers", long, 3),
    )
    assert [claims.short_caveat([one]).replace(NARROW, " ") for one in cases] == [
        "lost time 78 %",
        "lost time up to 78 %",
        "wide interval ±20 %",
        "drift 4.0 %",
        "outliers",
    ]
