"""One way against another: what is called slower, and how rarely that is false."""

import numpy as np
import pytest

from octant.stats.guidelines import LEAST_LAUNCHES, MARGIN, judge_guidelines


def drawn(seed: int, middles: list[float], launches: int = 6, spread: float = 0.03) -> list[list[float]]:
    random = np.random.default_rng(seed)
    return [list(middle * np.exp(random.normal(0, spread, launches))) for middle in middles]


def test_a_way_that_takes_a_fifth_more_is_slower_and_an_equal_one_is_not() -> None:
    found = judge_guidelines(drawn(1, [1.2, 1.0, 0.5]))
    assert [one.word for one in found] == ["slower", "not slower", "not slower"]
    assert found[0].low < 1.2 < found[0].high
    assert found[0].launches == 6


def test_what_lies_about_the_margin_or_has_few_launches_is_undecided() -> None:
    (near,) = judge_guidelines(drawn(2, [1 + MARGIN]))
    (few,) = judge_guidelines(drawn(3, [2.0], launches=LEAST_LAUNCHES - 1))
    (one,) = judge_guidelines([[2.0]])
    assert {near.word, few.word, one.word} == {"undecided"}
    assert judge_guidelines([]) == []


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.5])
def test_of_runs_that_compare_a_call_with_itself_none_in_a_hundred_is_convicted(spread: float) -> None:
    """Twenty guidelines each; at the margin itself, the worst case, at most one run in forty."""
    false = sum(
        any(one.word == "slower" for one in judge_guidelines(drawn(seed, [1.0] * 20, spread=spread)))
        for seed in range(100)
    )
    assert false == 0 if spread < 0.5 else false <= 5
    at_margin = sum(
        any(one.word == "slower" for one in judge_guidelines(drawn(1000 + seed, [1 + MARGIN] * 20, spread=spread)))
        for seed in range(400)
    )
    assert at_margin <= 400 / 40 + 3 * np.sqrt(400 / 40)


def test_equal_ratios_have_an_interval_of_no_width() -> None:
    slower, same = judge_guidelines([[1.5] * 6, [1.0] * 6])
    assert slower.word == "slower"
    assert [slower.low, slower.high] == pytest.approx([1.5, 1.5])
    assert same.word == "not slower"
