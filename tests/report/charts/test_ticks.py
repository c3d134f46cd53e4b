"""Ticks of axes say counts as people write them."""

import pytest

from octant.report.charts.picture import count_text, places


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"), (1, "1"), (1000, "1000"), (65536, "65536"), (131072, "2^17"), (2**20, "2^20"),
        (3 * 2**20, "3145728"), (100_000, "100000"), (10**6, "10^6"), (2e7, "2e+07"), (0.0, "0"),
    ],
)  # fmt: skip
def test_counts_are_whole_numbers_or_powers(value: float, text: str) -> None:
    assert count_text(value) == text


def test_few_values_are_ticks_themselves_and_many_have_decades() -> None:
    assert [text for _, text in places([256, 2**18, 2**20])] == ["256", "2^18", "2^20"]
    assert [text for _, text in places([10.0**n for n in range(9)])][-1] == "10^8"
