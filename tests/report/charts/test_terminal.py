"""Pictures in characters: every kind has its lines, none wider than the screen."""

import pytest
from hypothesis import Phase, given, settings

import random_pictures
import sample_pictures
from octant.report.charts import terminal
from octant.report.charts.picture import Picture


def lines(picture: Picture, width: int = 100) -> list[str]:
    return [line.plain for line in terminal.picture_lines(picture, width)]


@pytest.mark.parametrize("picture", sample_pictures.every(), ids=lambda one: one.id)
@pytest.mark.parametrize("width", [60, 80, 140])
def test_no_line_is_wider_than_the_screen(picture: Picture, width: int) -> None:
    assert max(map(len, lines(picture, width))) <= width


@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(random_pictures.pictures())
def test_any_picture_has_lines(picture: Picture) -> None:
    assert len(lines(picture)) >= 2


def test_a_row_has_its_interval_its_value_and_its_words() -> None:
    drawn = lines(sample_pictures.comparison())
    row = next(number for number, line in enumerate(drawn) if line.startswith("Random load, 512"))
    assert all(sign in drawn[row] for sign in "│─●")
    assert drawn[row + 1].count("|") == 2
    assert "no verdict: 3 of 4" in drawn[row + 2]


def test_published_values_are_open() -> None:
    drawn = "\n".join(lines(sample_pictures.study()))
    assert "○" in drawn
    assert "not measured: one hardware thread a core" in drawn


def test_plateaus_and_notes_stand_under_the_curve() -> None:
    drawn = "\n".join(lines(sample_pictures.ladder()))
    assert "Bandwidth of triad, B/s" in drawn
    assert "L2 7.29 ns, to 1 MiB" in drawn
    assert "× 1.43" in drawn


def test_a_histogram_of_shares_is_linear() -> None:
    drawn = lines(sample_pictures.noise())
    lengths = {line.split()[-1]: line.count("█") for line in drawn if "█" in line}
    assert lengths["9"] > 3 * lengths["2.4"] > 6 * lengths["0.9"] / 2
