"""The cost of recording: its sentence states what the interval proves."""

import pytest

from octant.analysis.profile_cost import ProfileCost


@pytest.mark.parametrize(
    ("low", "ratio", "high", "remark"),
    [
        (1.01, 1.02, 1.03, ""),
        (0.99, 1.01, 1.03, "The interval contains 0: no overhead is proven."),
        (0.89, 0.94, 0.99, "Recording cannot make a program faster: the machine was disturbed; measure again"),
    ],
)
def test_the_remark_follows_from_the_interval(low: float, ratio: float, high: float, remark: str) -> None:
    text = ProfileCost(low, ratio, high, 1.0, ratio, 8).text
    assert f"by {100 * (ratio - 1):+.2g} % (95 % interval {100 * (low - 1):+.2g} % to {100 * (high - 1):+.2g} %" in text
    assert text.partition(" it). ")[2].startswith(remark)
    assert bool(remark) == (not text.endswith("with it)."))
