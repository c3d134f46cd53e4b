"""Rates in windows of time, made from lanes of which every number is written here."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_run import lane
from octant.analysis.windows import _bursts, steps_at_once, summed_rates
from octant.record import Series

STEADY = [1000] * 100


def test_lanes_that_work_at_once_add_up() -> None:
    rates, share = summed_rates([lane(STEADY), lane(STEADY, thread=1)], [10.0, 20.0], 0)
    assert rates == pytest.approx(np.full(len(rates), 30 / 1e-6))
    assert len(rates) == 24, "four samples each, and none that is not whole"
    assert share == 1


@pytest.mark.parametrize(("longest", "whole"), [(3.9, True), (4.1, False)])
def test_a_sample_over_four_times_as_long_as_usual_leaves_its_windows_out(longest: float, whole: bool) -> None:
    slow = [*STEADY[:50], int(1000 * longest), *STEADY[50:]]
    rates, share = summed_rates([lane(slow), lane([1000] * 110, thread=1)], [10.0, 10.0], 0)
    assert (share == 1) == whole
    assert bool(rates.min() < 0.99 * 2e7) == whole


@pytest.mark.parametrize(("last", "whole"), [(1040, True), (1060, False)])
def test_a_sample_that_was_interrupted_counts_where_it_cost_no_time(last: int, whole: bool) -> None:
    slow = [*STEADY[:50], last, *STEADY[50:]]
    _, share = summed_rates([lane(slow, preempted=[50]), lane([1000] * 110, thread=1)], [10.0, 10.0], 0)
    assert (share == 1) == whole


def test_pauses_between_bursts_are_part_of_no_rate() -> None:
    paused = lane(STEADY, gaps={40: 20_000})
    rates, share = summed_rates([paused, lane([1000] * 120, thread=1)], [10.0, 10.0], 0)
    assert rates == pytest.approx(np.full(len(rates), 2e7))
    assert share < 1


def test_warm_up_is_left_out_unless_there_is_nothing_else() -> None:
    warming = [3000] * 20 + STEADY
    rates, _ = summed_rates([lane(warming), lane(warming, thread=1)], [10.0, 10.0], 20)
    assert rates == pytest.approx(np.full(len(rates), 2e7))
    rates, _ = summed_rates([lane(STEADY[:5]), lane(STEADY[:5], thread=1)], [10.0, 10.0], 5)
    assert rates == pytest.approx(np.full(len(rates), 2e7))


def test_windows_are_shorter_where_few_long_ones_are_whole() -> None:
    often = [4500 if i % 8 == 0 else 1000 for i in range(100)]
    rates, share = summed_rates([lane(often), lane([1000] * 150, thread=1)], [10.0, 10.0], 0)
    assert len(rates) >= 10
    assert rates == pytest.approx(np.full(len(rates), 2e7), rel=0.3)
    assert share < 0.9


def test_where_no_window_is_whole_all_count() -> None:
    half = lane(STEADY, gaps=dict.fromkeys(range(1, 100), 1000))
    rates, share = summed_rates([half, lane([1000] * 200, thread=1, begin=500)], [10.0, 10.0], 0)
    assert share == 0
    assert rates.mean() == pytest.approx(1.5e7, rel=0.01)


def test_steps_count_where_the_other_group_was_in_a_burst() -> None:
    first = lane([1000] * 10, group=0)
    second = lane([1000] * 4, rank=1, begin=3000, group=1)
    kept = steps_at_once([first, second])
    assert kept is not None
    assert list(np.flatnonzero(kept[0])) == [3, 4, 5, 6]
    assert kept[1].all()


def test_a_step_that_one_rank_does_outside_is_left_out_for_its_group() -> None:
    group = [lane([1000] * 10, group=0), lane([1000] * 10, rank=1, begin=2000, group=0)]
    other = lane([1000] * 10, rank=2, group=1)
    kept = steps_at_once([*group, other])
    assert kept is not None
    assert list(np.flatnonzero(kept[0])) == list(range(8))


def test_without_gaps_no_windows_are_known() -> None:
    assert steps_at_once([replace(lane([1000] * 10, group=0), gap_ns=None), lane([1000] * 10, group=1)]) is None


def pairwise_at_once(series: Sequence[Series]) -> dict[int, list[bool]]:
    """Return the steps that have a burst of each other group around them, by definition."""
    spans: dict[int, list[tuple[float, float]]] = {}
    for one in series:
        assert one.begin_ns is not None
        spans.setdefault(one.head.group, [(float(a), float(b)) for a, b in _bursts(one.begin_ns, one.values)])
    kept: dict[int, list[bool]] = {}
    for one in series:
        assert one.begin_ns is not None
        keep = [
            all(
                any(begin <= start and start + last <= end for begin, end in bursts)
                for other, bursts in spans.items()
                if other != one.head.group
            )
            for start, last in zip(one.begin_ns.tolist(), one.values.tolist(), strict=True)
        ]
        kept[one.head.group] = [a and b for a, b in zip(kept.get(one.head.group, keep), keep, strict=False)]
    return kept


STEPS = st.lists(st.sampled_from([1, 10, 100, 1000]), min_size=1, max_size=12)
PAUSES = st.dictionaries(st.integers(0, 11), st.sampled_from([0, 5, 100, 900, 30_000]), max_size=4)


@given(st.lists(st.tuples(st.integers(0, 4), STEPS, PAUSES), min_size=1, max_size=9))
@settings(max_examples=300)
def test_steps_at_once_are_those_of_the_definition(ranks: list[tuple[int, list[int], dict[int, int]]]) -> None:
    series = [lane(steps, rank=rank, gaps=gaps, group=group) for rank, (group, steps, gaps) in enumerate(ranks)]
    found = steps_at_once(series)
    assert found is not None
    assert {group: keep.tolist() for group, keep in found.items()} == pairwise_at_once(series)


def test_thousands_of_groups_are_compared_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """One search per group in the bursts of each other one would be four million."""
    searches, search = list[int](), np.searchsorted

    def counted(*given: Any, **named: Any) -> Any:
        searches.append(1)
        return search(*given, **named)

    monkeypatch.setattr(np, "searchsorted", counted)
    series = [lane([1000] * 4, rank=rank, group=rank // 2) for rank in range(4096)]
    kept = steps_at_once(series)
    assert kept is not None
    assert len(kept) == 2048
    assert all(keep.all() for keep in kept.values())
    assert len(searches) < 100


def test_windows_are_not_more_than_samples_can_fill() -> None:
    paused = [lane([1, 1, 1], gaps={1 + thread: 2**60}, thread=thread) for thread in range(2)]
    rates, share = summed_rates(paused, [1, 1], 0)
    assert len(rates) < 100
    assert share <= 1


def test_pauses_within_a_burst_are_part_of_it_and_long_ones_part_bursts() -> None:
    """A step's usual distance is 1000 ns here: a pause of 20 of them is inside, one of 21 between two bursts."""
    for pause, inside in ((20_000, True), (21_000, False)):
        other = lane([1000] * 10, rank=1, gaps={5: pause}, group=1)
        kept = steps_at_once([lane([1000] * 31, group=0), other])
        assert kept is not None
        assert list(np.flatnonzero(~kept[0])) == ([30] if inside else [*range(5, 26)])


def test_one_step_is_a_burst() -> None:
    kept = steps_at_once([lane([1000] * 3, group=0), lane([1000], rank=1, begin=1000, group=1)])
    assert kept is not None
    assert list(kept[0]) == [False, True, False]
    assert list(kept[1]) == [True]
