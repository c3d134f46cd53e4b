"""Steps in a history: sequential ranks by enumeration, both stages, sizes, and the rate of false alarms."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from octant.stats import steps
from octant.stats.steps import (
    LEAST_SESSIONS,
    Replay,
    Session,
    StepSearch,
    change_point,
    find_steps,
    mann_whitney_p,
    rank_score,
    session_p,
    shift_between,
)
from octant.stats.student import LEVEL


def sessions(*levels: tuple[float, int], spread: float = 0.01, launches: int = 6, seed: int = 1) -> list[Session]:
    """Sessions of (level, number), whose launches spread normally."""
    draw = np.random.default_rng(seed)
    rows = [level + draw.normal(0, spread, launches) for level, number in levels for _ in range(number)]
    return [Session(float(np.median(row)), tuple(map(float, row))) for row in rows]


def scores_of(values: tuple[float, ...]) -> list[float]:
    return [rank_score(sorted(values[:n]), value) for n, value in enumerate(values)]


@pytest.mark.parametrize("n", range(1, 7))
def test_sequential_ranks_are_independent_and_uniform_for_any_order(n: int) -> None:
    seen = Counter(tuple(round(one, 9) for one in scores_of(order)) for order in itertools.permutations(range(n)))
    expected = itertools.product(*([rank_score(list(range(k)), r - 0.5) for r in range(k + 1)] for k in range(n)))
    assert set(seen) == {tuple(round(one, 9) for one in scores) for scores in expected}
    assert set(seen.values()) == {1}, "each combination of ranks comes from one of n! orders"


def test_equal_values_share_a_rank() -> None:
    assert scores_of((5.0, 5.0, 5.0)) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 2), (5, 3), (2, 4)])
def test_mann_whitney_is_exact_by_enumeration(n: int, m: int) -> None:
    sums = [sum(ranks) for ranks in itertools.combinations(range(1, n + m + 1), m)]
    for ranks in itertools.combinations(range(1, n + m + 1), m):
        others = [rank for rank in range(1, n + m + 1) if rank not in ranks]
        wanted = sum(one >= sum(ranks) for one in sums) / len(sums)
        assert mann_whitney_p(others, ranks) == pytest.approx(wanted)


def test_mann_whitney_of_many_or_equal_values_is_close_to_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    before, fresh = draw.normal(0, 1, 52).tolist(), draw.normal(0.8, 1, 8).tolist()
    exact = mann_whitney_p(before, fresh)
    monkeypatch.setattr(steps, "_EXACT", 0)
    assert mann_whitney_p(before, fresh) == pytest.approx(exact, rel=0.1)
    assert mann_whitney_p([1.0] * 20, [1.0] * 8) == 1.0
    assert mann_whitney_p([1.0] * 20, [2.0] * 8) < 1e-5


def test_the_change_point_has_the_least_sum_of_squares() -> None:
    assert change_point([1.0, 1.1, 0.9, 2.0, 2.1]) == 3
    assert change_point([9.0, 1.1, 0.9, 1.0, 2.1]) >= 3, "an outlier is no level"


def test_the_test_between_sessions_is_students() -> None:
    before, after = [0.0, 2.0], [4.0, 6.0]
    t = (6.0 - 1.0) / math.sqrt(2.0 * 1.5)
    assert session_p(before, after, 6.0) == pytest.approx((1 - t / math.sqrt(t * t + 2)) / 2), "two degrees of freedom"
    assert session_p(before, after, 1.0) == 1.0
    assert session_p([1.0], [2.0], 9.0) == 1.0, "nothing is known of the spread"
    assert session_p([1.0, 1.0], [2.0], 2.0) == 0.0


def test_the_size_is_hodges_and_lehmanns_with_its_interval() -> None:
    before, after = [0.0, 1.0, 2.0, 3.0], [10.0, 11.0, 12.0, 14.0]
    found = shift_between(before, after)
    differences = sorted(b - a for a in before for b in after)
    assert found.middle == np.median(differences)
    assert (found.low, found.high) == (differences[0], differences[-1]), "4 and 4: 2 of 70 orders are as extreme"
    few = shift_between([0.0, 2.0], [10.0])
    assert few.low is not None
    assert few.low < few.middle == 9.0
    assert shift_between([0.0], [1.0]).low is None


@pytest.mark.parametrize(("size", "direction"), [(0.05, "faster"), (-0.05, "slower")])
def test_a_planted_step_is_found_with_date_size_and_direction(size: float, direction: str) -> None:
    (found,) = find_steps(sessions((0.0, 12), (size, 8))).steps
    assert (found.first, found.direction) == (12, direction)
    assert found.confirmed > found.first
    assert found.shift.low is not None
    assert found.shift.high is not None
    assert found.shift.low < found.shift.middle < found.shift.high
    assert found.shift.middle == pytest.approx(size, abs=0.01)
    assert found.shift.low < size < found.shift.high


def test_two_steps_are_found_one_after_the_other() -> None:
    found = find_steps(sessions((0.0, 12), (-0.05, 12), (0.0, 12), seed=4))
    assert [(one.first, one.direction) for one in found.steps] == [(12, "slower"), (24, "faster")]


def test_a_step_is_possible_until_fresh_launches_confirm_it() -> None:
    every = sessions((0.0, 12), (-0.05, 5))
    replay = Replay()
    while not replay.suspected:
        replay.add(every[len(replay.sessions)])
    last = len(replay.sessions)
    found = replay.result()
    assert found.suspicion
    assert (found.suspicion.first, found.suspicion.direction, found.steps) == (12, "slower", ())
    replay.add(Session(every[last].value, every[last].launches[:3]))
    assert replay.suspected, "three launches are too few for a confirmation"
    replay.add(every[last])
    assert [one.first for one in replay.result().steps] == [12]


def test_fresh_launches_of_the_old_level_refute_a_step() -> None:
    replay = Replay()
    for one in sessions((0.0, 12), (-0.05, 3)):
        replay.add(one)
    assert replay.suspected == "slower"
    for one in sessions((0.0, 3), seed=9):
        replay.add(one)
    found = replay.result()
    assert (found.steps, found.suspicion, found.rejected) == ((), None, (15,))


def test_fewer_than_four_sessions_never_suspect_a_step() -> None:
    every = sessions((0.0, 2), (-0.5, 2), spread=0.001)
    assert LEAST_SESSIONS == 4
    for number in range(4):
        found = find_steps(every[:number])
        assert (found.is_enough, found.steps, found.suspicion) == (False, (), None)
    assert find_steps(every).is_enough


def test_launches_that_agree_do_not_confirm_what_sessions_do_not_show() -> None:
    draw = np.random.default_rng(5)
    levels = draw.normal(0, 0.02, 400)
    made = [Session(float(one), tuple(one + draw.normal(0, 0.0002, 6))) for one in levels]
    alarms = sum(bool(find_steps(made[n : n + 20]).steps) for n in range(0, 400, 20))
    assert alarms <= 2, "without the test between sessions, most suspicions would be confirmed"


def test_correlated_sessions_withdraw_the_claim() -> None:
    draw, value, values = np.random.default_rng(6), 0.0, []
    for _ in range(80):
        value = 0.6 * value + draw.normal(0, 0.008)
        values.append(value)
    found = StepSearch(sessions=59, correlation=0.6)
    assert not found.is_correlated, "too few sessions to see it"
    assert find_steps(Session(one, (one,)) for one in values).is_correlated
    assert not find_steps(Session(one, (one,)) for one in draw.normal(0, 0.01, 80)).is_correlated


def test_a_step_is_no_correlation() -> None:
    assert find_steps(sessions((0.0, 40), (-0.2, 40))).correlation < 0.2


@pytest.mark.parametrize("between", [0.0, 0.01])
def test_at_most_five_percent_of_quiet_histories_report_a_step(between: float) -> None:
    draw = np.random.default_rng(7)
    histories = 150
    alarms = 0
    for _ in range(histories):
        rows = draw.normal(0, between, (30, 1)) + draw.normal(0, 0.01, (30, 6))
        alarms += bool(find_steps(Session(float(np.median(row)), tuple(row)) for row in rows).steps)
    assert alarms <= histories * LEVEL + 2 * math.sqrt(histories * LEVEL)


def test_the_levels_of_all_decisions_sum_to_five_percent() -> None:
    found = find_steps(sessions((0.0, 12), (-0.05, 12), (0.0, 12), seed=4))
    decisions = sorted([*found.rejected, *(one.confirmed for one in found.steps)])
    for one in found.steps:
        number = decisions.index(one.confirmed) + 1
        assert one.level == pytest.approx(LEVEL / (number * (number + 1)))


@pytest.mark.parametrize("fresh", [(-0.05,) * 4 + (0.0,) * 3, (-0.021,) * 12])
def test_both_tests_of_a_decision_must_agree(fresh: tuple[float, ...]) -> None:
    replay = Replay()
    for n in range(16):
        spread = 0.02 if fresh[-1] else 0.002
        value = -0.05 - 1e-5 * n if n >= 12 else spread * (-1) ** n + 1e-5 * n
        replay.add(Session(value, (value,) * (6 if n < 12 else 2)))
    assert replay.suspected == "slower"
    replay.add(Session(float(np.median(fresh)), fresh))
    assert replay.result().rejected == (16,)
