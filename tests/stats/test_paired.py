"""Verdicts from paired rounds: published values, false alarms and power by simulation, and the words."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from launch_shapes import OWN_ERROR, SHAPES, simulated_launches
from octant.stats.gate import e_value
from octant.stats.intervals import Period
from octant.stats.multiple import benjamini_hochberg, holm
from octant.stats.occasions import TwoRuns
from octant.stats.paired import (
    centre,
    is_equivalent,
    paired_bounds,
    paired_levels,
    paired_p,
    paired_verdicts,
    student_p,
)
from octant.stats.student import two_sided_p
from octant.stats.verdicts import Verdict, log_speeds, percent

MORNING = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)
PERIOD = Period(MORNING, MORNING + timedelta(minutes=3))
A = np.log([16.77, 16.21, 17.03, 16.45, 15.90, 16.60])
B = np.log([15.98, 15.61, 16.22, 15.75, 15.30, 15.83])
C = np.log([16.70, 16.30, 16.98, 16.50, 15.95, 16.52])
TRIALS = 20_000


def drifting(
    shape: str, trials: int, rounds: int, drift: float, seed: int, own_error: float = OWN_ERROR
) -> NDArray[np.float64]:
    """Two launches a round (trials, rounds, 2) without a difference, on a machine that drifts over all of them."""
    generator = np.random.default_rng(seed)
    y = simulated_launches(shape, (trials, 2 * rounds), generator, own_error) + np.linspace(0, drift, 2 * rounds)
    pairs = y.reshape(trials, rounds, 2)
    return np.asarray(generator.permuted(pairs, axis=2))


def welch_p(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    n = a.shape[-1]
    parts = a.var(axis=-1, ddof=1) / n, b.var(axis=-1, ddof=1) / n
    freedom = (parts[0] + parts[1]) ** 2 / ((parts[0] ** 2 + parts[1] ** 2) / (n - 1))
    return two_sided_p((a.mean(axis=-1) - b.mean(axis=-1)) / np.sqrt(parts[0] + parts[1]), freedom)


def one(x: NDArray[np.float64], margin: float = 0.03) -> Verdict:
    return paired_verdicts([x], PERIOD, margin)[0]


def test_paired_student_has_the_published_values() -> None:
    x = A - B
    assert float(paired_p(x)) == pytest.approx(3.82432e-06, rel=2e-6)
    assert np.exp(paired_bounds(x)) == pytest.approx([1.039582, 1.045008, 1.050463], abs=6e-7)
    assert np.exp(paired_bounds(A - C, 0.1))[[0, 2]] == pytest.approx([0.996383, 1.003711], abs=6e-7)


def test_equivalence_has_the_p_values_of_two_one_sided_tests() -> None:
    def below(x: NDArray[np.float64], end: float) -> float:  # one-sided p of a mean that is not below this end
        p = float(student_p(x - end))
        return p / 2 if x.mean() < end else 1 - p / 2

    end = math.log(1.03)
    assert [below(B - A, end), below(A - B, end)] == pytest.approx([1.48725e-07, 0.999582], rel=2e-6)
    assert sorted([below(A - C, end), below(C - A, end)]) == pytest.approx([7.97772e-06, 8.08589e-06], rel=2e-6)
    assert float((A - C).mean()) == pytest.approx(4.04503e-05, rel=2e-6)


def test_welch_has_the_published_values() -> None:
    runs = TwoRuns(B, A, np.array([]))
    error, freedom = runs.error()
    assert (runs.difference / error, freedom) == pytest.approx((3.412607, 9.619824), abs=6e-7)
    assert runs.p() == pytest.approx(0.00700725, rel=2e-6)
    assert float(welch_p(A, B)) == pytest.approx(runs.p())


def test_signed_ranks_count_every_assignment_of_signs() -> None:
    generator = np.random.default_rng(41)
    x = generator.normal(0.3, 1, 12)
    ranks = np.argsort(np.argsort(np.abs(x))) + 1
    signs = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    sums = signs @ ranks
    tail = min(np.mean(sums <= ranks[x > 0].sum()), np.mean(sums >= ranks[x > 0].sum()))
    assert float(paired_p(x)) == pytest.approx(min(1, 2 * tail), rel=1e-12)
    assert float(paired_p(np.arange(1.0, 13.0))) == pytest.approx(2 / 2**12)
    assert float(paired_p(np.zeros(12))) == 1


def test_the_interval_of_signed_ranks_and_its_p_value_agree() -> None:
    x = np.random.default_rng(42).normal(0.2, 1, (2000, 14))
    low, middle, high = paired_bounds(x)
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert np.array_equal((low > 0) | (high < 0), paired_p(x) <= 0.05)


def test_corrections_for_many_figures_have_the_published_values() -> None:
    p = [0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1]
    bh = [0.0056, 0.0133, 0.044333, *4 * [0.0688], 0.080325, 0.504, 0.59668, 0.727873, 0.7616, 0.817385, 1]
    steps = [0.0056, 0.0247, 0.114, 0.2211, 0.278, 0.278, 0.278, 0.3213, *6 * [1.0]]
    order = np.random.default_rng(43).permutation(14)
    assert benjamini_hochberg(np.array(p)[order]) == pytest.approx(np.array(bh)[order], abs=6e-7)
    assert holm(np.array(p)[order]) == pytest.approx(np.array(steps)[order], abs=6e-7)
    assert holm([]).shape == benjamini_hochberg([]).shape == (0,)


def test_e_values_have_the_published_values() -> None:
    growing = [float(e_value((A - B)[:n])) for n in range(2, 7)]
    assert growing == pytest.approx([1.682256, 3.782542, 10.348129, 31.327508, 107.982499], abs=6e-7)
    equal = [float(e_value((A - C)[:n])) for n in range(2, 7)]
    assert equal == pytest.approx([0.584771, 0.508425, 0.452954, 0.459553, 0.378061], abs=6e-7)
    assert float(e_value(np.zeros(4))) == pytest.approx(5**-0.5)
    assert float(e_value(np.ones(4))) == pytest.approx(5**1.5)  # the limit for an effect without spread


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rounds", [4, 6, 8, 11, 12, 16])
def test_paired_rounds_raise_few_false_alarms_on_a_drifting_machine(shape: str, rounds: int) -> None:
    pairs = drifting(shape, TRIALS, rounds, 4, rounds)
    assert np.mean(paired_p(pairs[..., 0] - pairs[..., 1]) <= 0.05) <= 0.055


def test_without_pairs_or_without_a_drawn_order_drift_decides() -> None:
    pairs = drifting("normal", TRIALS, 6, 4, 44)
    shift = np.array([2.0, 0.0])
    paired = np.mean(paired_p((pairs + shift) @ [1, -1]) <= 0.05)
    unpaired = np.mean(welch_p(pairs[..., 0] + 2, pairs[..., 1]) <= 0.05)
    assert paired == pytest.approx(0.75, abs=0.04)
    assert unpaired < 0.5  # the drift hides the difference
    y = simulated_launches("normal", (TRIALS, 12), np.random.default_rng(45)) + np.linspace(0, 4, 12)
    assert np.mean(welch_p(y[:, :6], y[:, 6:]) <= 0.05) > 0.7  # all of A, then all of B
    always_a_first = y.reshape(TRIALS, 6, 2) @ [1, -1]
    assert np.mean(paired_p(always_a_first) <= 0.05) > 0.07


@pytest.mark.parametrize(
    ("shape", "rounds", "power"), [("normal", 6, 0.77), ("slow tail", 6, 0.51), ("normal", 8, 0.92)]
)
def test_paired_rounds_find_a_difference_of_two_spreads(shape: str, rounds: int, power: float) -> None:
    pairs = drifting(shape, TRIALS, rounds, 4, 46, own_error=0)
    assert np.mean(paired_p(pairs @ [1, -1] + 2) <= 0.05) == pytest.approx(power, abs=0.04)


def test_one_launch_on_each_side_claims_differences_by_its_own_interval() -> None:
    y = simulated_launches("normal", (TRIALS, 2), np.random.default_rng(47))
    assert np.mean(np.abs(y[:, 0] - y[:, 1]) > 1.96 * math.sqrt(2) * 0.3) > 0.3


def test_thirty_clean_figures_raise_an_alarm_in_few_comparisons() -> None:
    for rounds in (6, 8, 12):
        x = simulated_launches("slow tail", (2000, 30, rounds, 2), np.random.default_rng(rounds)) @ [1, -1]
        p = paired_p(x)
        assert np.mean((p <= 0.05).any(axis=1)) > 0.55  # uncorrected
        assert np.mean((holm(p) <= 0.05).any(axis=1)) <= 0.06
        assert np.mean((benjamini_hochberg(p) <= 0.05).any(axis=1)) <= 0.06


def test_words_follow_interval_and_margin() -> None:
    noise = np.array([-0.002, 0.001, 0.002, -0.001, 0.0015, -0.0015])
    assert [one(noise + math.log(speed)).word for speed in (0.9, 0.965, 1.0, 1.02, 1.04)] == [
        "slower",
        "slower",
        "equivalent",
        "equivalent",
        "faster",
    ]
    assert one(10 * noise).word == "equivalent"
    assert one(40 * noise).word == "undecided"
    assert one(10 * noise + math.log(1.03)).word in ("undecided", "faster")
    assert one(noise + math.log(0.9)).beyond_margin
    assert not one(10 * noise + math.log(0.96)).beyond_margin
    assert one(noise + math.log(1.02), margin=0.01).word == "faster"


def test_fewer_than_four_rounds_give_no_verdict() -> None:
    x = np.log([1.5, 1.5001, 1.4999])
    found = one(x)
    assert (found.word, found.speed) == ("insufficient data", None)
    assert found.text == "insufficient data: 3 of 4 rounds"
    assert one(np.append(x, math.log(1.5))).word == "faster"


def test_texts_are_those_of_the_words_for_verdicts() -> None:
    noise = np.array([-0.002, 0.001, 0.002, -0.001, 0.0015, -0.0015])
    slower, same, unclear = (one(x) for x in (noise + math.log(0.9), noise, 40 * noise))
    assert slower.text == "at least 3 % slower"
    assert same.text == "equivalent within 3 %"
    assert unclear.text == "undecided: about 44 rounds would detect 3 %"
    assert (percent(unclear.max_undetected_effect), percent(unclear.min_detectable_effect)) == ("7.4 %", "10 %")
    near_the_margin = one(10 * noise + 0.025)
    assert near_the_margin.word == "undecided"
    assert near_the_margin.text == "undecided"  # the rounds were enough
    assert slower.speed is not None
    assert (
        slower.speed.text == "95 % interval for the geometric mean ratio over 6 paired rounds between 07:35 and 07:38"
    )


def test_what_could_have_been_found_is_found_in_four_of_five() -> None:
    x = np.random.default_rng(48).normal(0, 0.05, (400, 8))
    min_detectable_effect = np.array([one(row).min_detectable_effect for row in x])
    shifted = x + np.log1p(np.median(min_detectable_effect))
    assert np.mean([one(row).word == "faster" for row in shifted]) == pytest.approx(0.8, abs=0.06)


def test_speeds_of_times_are_their_reciprocals() -> None:
    assert log_speeds([2.0, 4.0], "higher") == pytest.approx([math.log(2), math.log(4)])
    assert log_speeds([2.0, 4.0], "lower") == pytest.approx([-math.log(2), -math.log(4)])
    with pytest.raises(ValueError, match=r"^cannot compare values by their ratio \(they are not all positive\)$"):
        log_speeds([1.0, 0.0], "lower")


@pytest.mark.parametrize(("rounds", "kind"), [(4, "student"), (11, "student"), (12, "signed ranks")])
def test_intervals_say_how_they_were_made(rounds: int, kind: str) -> None:
    speed = one(np.linspace(0.1, 0.2, rounds)).speed
    assert speed is not None
    assert speed.kind == kind


def test_same_needs_four_rounds_within_the_margin_and_off_its_ends() -> None:
    end = math.log1p(0.03)
    assert not is_equivalent(np.zeros(3), 0.03)
    assert is_equivalent(np.zeros(4), 0.03)
    assert [is_equivalent(np.full(4, at), 0.03) for at in (-end, -0.99 * end, 0.99 * end, end)] == [
        False,
        True,
        True,
        False,
    ]


def test_no_number_of_rounds_finds_a_margin_of_nothing() -> None:
    found = one(np.array([-0.02, 0.01, 0.02, -0.01]), margin=0)
    assert (found.word, found.needed) == ("undecided", None)


def test_more_figures_need_more_rounds() -> None:
    x = 40 * np.array([-0.002, 0.001, 0.002, -0.001, 0.0015, -0.0015])
    alone, among = one(x).needed, paired_verdicts([x] * 30, PERIOD)[0].needed
    assert alone is not None
    assert among is not None
    assert among > 1.5 * alone


def test_no_verdict_has_numbers_that_hide_everything() -> None:
    found = one(np.zeros(2))
    assert (found.p, found.max_undetected_effect, found.min_detectable_effect) == (1, math.inf, math.inf)


@pytest.mark.filterwarnings("error")
def test_differences_without_spread_are_certain_and_no_difference_is_none() -> None:
    assert float(paired_p(np.full(4, 0.125))) == 0
    assert float(paired_p(np.zeros(4))) == 1


def test_a_round_without_a_difference_counts_half_for_either_side() -> None:
    """All others positive: the rank sum of the negative ones is a half, which 2 of 4096 assignments reach."""
    assert float(paired_p(np.arange(12.0))) == pytest.approx(2 * 2 / 2**12)


@pytest.mark.parametrize("rounds", [4, 11, 12])
def test_many_series_at_once_have_the_numbers_of_each(rounds: int) -> None:
    rows = np.random.default_rng(49).normal(0.3, 1, (5, rounds))
    assert paired_p(rows) == pytest.approx([float(paired_p(row)) for row in rows])
    assert e_value(rows) == pytest.approx([float(e_value(row)) for row in rows])
    together, apart = paired_bounds(rows), [paired_bounds(row) for row in rows]
    for number, ends in enumerate(together):
        assert ends == pytest.approx([float(each[number]) for each in apart])


def test_signed_ranks_begin_with_the_twelfth_round() -> None:
    x = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 50])
    averages = sorted((a + b) / 2 for i, a in enumerate(x) for b in x[i:])
    low, middle, high = paired_bounds(x)
    assert float(middle) == pytest.approx(np.median(averages))
    assert {float(low), float(high)} <= set(averages), "Walsh averages"
    assert float(paired_bounds(x[:11])[1]) == pytest.approx(5), "the mean"


@pytest.mark.parametrize("rounds", [1, 4, 11, 12, 13])
def test_levels_of_both_sides_differ_by_the_estimate_of_the_ratio(rounds: int) -> None:
    a, b = np.random.default_rng(57).normal(0, 1, (2, rounds)) + np.linspace(0, 5, rounds)
    low, high = paired_levels(a, b)
    assert high - low == pytest.approx(float(centre(b - a)))
    assert paired_levels(b, a) == pytest.approx((high, low))
    assert paired_levels(-a, -b) == pytest.approx((-low, -high)), "a time and its rate"
    assert paired_levels(a + 7, b + 7) == pytest.approx((low + 7, high + 7))
    if rounds < 12:
        assert (low, high) == pytest.approx((a.mean(), b.mean()))
    if rounds >= 4:
        assert high - low == pytest.approx(float(paired_bounds(b - a)[1]))


def test_a_verdict_has_the_numbers_that_it_rests_on() -> None:
    x = np.log([1.05, 1.06, 1.04, 1.07, 1.02])
    found = one(x)
    assert (found.p, found.number, found.unit, found.margin) == (float(paired_p(x)), 5, "paired rounds", 0.03)
    none = one(x[:3], margin=0.02)
    assert (none.margin, none.number, none.needed) == (0.02, 3, 4)


def test_of_many_ratios_looked_at_together_few_are_beyond_equality() -> None:
    """Sixteen equal sizes, six pairs of launches that differ by 10 %: a run seldom finds one to be faster."""
    draws = np.random.default_rng(11).normal(0.0, 0.1 * math.sqrt(2), (1000, 16, 6))
    together, alone = (float((paired_bounds(draws, level)[0] > 0).any(axis=1).mean()) for level in (0.05 / 16, 0.05))
    assert together < 0.05
    assert alone > 0.25
