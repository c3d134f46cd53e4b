"""Gates: false alarms in all figures and at all looks together, early stops, and refusals."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
import pytest

from launch_shapes import SHAPES, simulated_launches
from octant.stats.gate import (
    EXTENDED_THRESHOLDS,
    OBRIEN_FLEMING_THRESHOLDS,
    can_prove_difference,
    e_value,
    gate_is_decided,
    gate_verdicts,
    least_rounds,
    planned_looks,
    sufficient_rounds,
    until_sure_verdicts,
)
from octant.stats.intervals import Period
from octant.stats.multiple import holm
from octant.stats.paired import is_equivalent, paired_p, paired_verdicts

NOW = datetime(2026, 11, 22, 7, 35, tzinfo=UTC)
PERIOD = Period(NOW, NOW)
NOISE = np.array([-0.002, 0.001, 0.002, -0.001, 0.0015, -0.0015, 0.0005, -0.0005])


@pytest.mark.parametrize(
    ("shape", "planned", "series"),
    [
        *((shape, OBRIEN_FLEMING_THRESHOLDS, 20_000) for shape in SHAPES),
        *((shape, EXTENDED_THRESHOLDS, 3000) for shape in SHAPES),
    ],
)
def test_rising_thresholds_keep_five_percent_over_all_looks(
    shape: str, planned: Mapping[int, float], series: int
) -> None:
    x = simulated_launches(shape, (series, max(planned), 2), np.random.default_rng(51)) @ [1, -1]
    looks = np.array([paired_p(x[:, :rounds]) for rounds in planned])
    thresholds = np.array(list(planned.values()))[:, None]
    assert np.mean((looks <= thresholds).any(axis=0)) <= 0.05 + 1.4 * math.sqrt(0.05 * 0.95 / series) + 0.003
    if shape == "normal":
        assert np.mean((looks <= 0.05).any(axis=0)) > 0.11  # each look at 5 %


@pytest.mark.parametrize("planned", [OBRIEN_FLEMING_THRESHOLDS, EXTENDED_THRESHOLDS])
@pytest.mark.parametrize("difference", [0.0, 0.04])
def test_intervals_of_rounds_that_end_at_a_look_hold(planned: Mapping[int, float], difference: float) -> None:
    x = np.random.default_rng(57).normal(difference, 0.04, (400, max(planned)))
    ends = []
    for row in x:
        for rounds, threshold in planned.items():
            (verdict,) = gate_verdicts([row[:rounds]], PERIOD, threshold=threshold)
            if verdict.is_decided:
                break
        ends.append(verdict)
    held = [one.speed.low <= math.exp(difference) <= one.speed.high for one in ends if one.speed]
    assert np.mean(held) > 0.95 - 2.9 * math.sqrt(0.95 * 0.05 / len(x))
    wrong = {"slower", "equivalent"} if difference else {"slower", "faster"}
    assert np.mean([one.word in wrong for one in ends]) < 0.05


def test_the_looks_of_a_gate_are_those_up_to_its_rounds() -> None:
    assert planned_looks(12) is OBRIEN_FLEMING_THRESHOLDS
    assert planned_looks(13) is planned_looks(96) is EXTENDED_THRESHOLDS
    assert list(EXTENDED_THRESHOLDS) == [4, 6, 8, 12, 24, 48, 96]


def test_rising_thresholds_find_a_clear_difference_early() -> None:
    x = np.random.default_rng(52).normal(2, 1, (10_000, 12))  # twice the spread of a round
    passed = np.array([paired_p(x[:, :rounds]) <= threshold for rounds, threshold in OBRIEN_FLEMING_THRESHOLDS.items()])
    rounds = np.array(list(OBRIEN_FLEMING_THRESHOLDS))[np.argmax(passed, axis=0)]
    assert passed.any(axis=0).mean() > 0.99
    assert rounds.mean() == pytest.approx(7.1, abs=0.3)


@pytest.mark.parametrize("shape", SHAPES)
def test_e_values_raise_few_alarms_at_any_time(shape: str) -> None:
    x = simulated_launches(shape, (10_000, 20, 2), np.random.default_rng(53)) @ [1, -1]
    assert np.mean(np.max([e_value(x[:, :rounds]) for rounds in range(4, 21)], axis=0) >= 20) <= 0.025
    found = np.max([e_value(x[:, :rounds] + 2 * x.std()) for rounds in range(4, 21)], axis=0) >= 20
    assert found.mean() > 0.99


def test_a_gate_over_thirty_figures_raises_few_alarms_over_its_looks() -> None:
    x = simulated_launches("normal", (2000, 30, 12, 2), np.random.default_rng(54)) @ [1, -1]
    looks = {rounds: paired_p(x[..., :rounds]) for rounds in OBRIEN_FLEMING_THRESHOLDS if rounds >= least_rounds(30)}
    alarms = [(holm(p) <= OBRIEN_FLEMING_THRESHOLDS[rounds]).any(axis=1) for rounds, p in looks.items()]
    assert np.mean(np.any(alarms, axis=0)) <= 0.06
    assert np.mean(np.any([(p <= 0.05).any(axis=1) for p in looks.values()], axis=0)) > 0.6  # uncorrected


def test_a_gate_refuses_too_few_rounds() -> None:
    with pytest.raises(ValueError, match=r"cannot gate 2 figures on 6 paired rounds \(at least 8 are required\)"):
        gate_verdicts([NOISE[:6]] * 2, PERIOD)
    with pytest.raises(ValueError, match=r"cannot gate 1 figure on 3 paired rounds \(at least 4 are required\)"):
        until_sure_verdicts([NOISE[:3]], PERIOD)
    assert [verdict.word for verdict in gate_verdicts([NOISE[:4]], PERIOD)] == ["equivalent"]
    assert gate_verdicts([], PERIOD) == until_sure_verdicts([], PERIOD) == []


def test_a_gate_corrects_where_a_single_figure_would_pass() -> None:
    clear, slight = 10 * NOISE + 0.035, 20 * NOISE + 0.035  # p = 0.0003 and 0.01
    clean = [NOISE] * 29
    assert [paired_verdicts([x], PERIOD)[0].word for x in (clear, slight)] == ["faster", "faster"]
    assert [gate_verdicts([x, *clean], PERIOD)[0].word for x in (clear, slight)] == ["faster", "undecided"]


def test_a_gate_is_decided_by_a_slower_figure_or_by_a_word_on_all() -> None:
    slow, same, unclear = NOISE - 0.1, NOISE, 40 * NOISE
    assert gate_is_decided(gate_verdicts([slow, unclear], PERIOD))
    assert gate_is_decided(gate_verdicts([same, -slow], PERIOD))
    assert not gate_is_decided(gate_verdicts([same, unclear], PERIOD))
    assert not gate_is_decided(gate_verdicts([same, NOISE[:2]], PERIOD))  # launches of one were lost


def test_looking_often_does_not_make_figures_the_same() -> None:
    end = math.log(1.03)
    x = np.random.default_rng(56).normal(end, end / 3, (1500, 12))
    same, naive = (
        np.mean([any(is_equivalent(row[:n], 0.03, level) for n, level in looks.items()) for row in x])
        for looks in (OBRIEN_FLEMING_THRESHOLDS, dict.fromkeys(OBRIEN_FLEMING_THRESHOLDS, 0.05))
    )
    assert same <= 0.065  # 5 % and 2.7 standard errors
    assert naive > 0.09
    assert gate_verdicts([22 * NOISE], PERIOD, threshold=OBRIEN_FLEMING_THRESHOLDS[8])[0].word == "undecided"
    assert gate_verdicts([22 * NOISE], PERIOD)[0].word == "equivalent"


def test_until_sure_has_a_word_for_a_difference_and_for_equality() -> None:
    slight = 10 * NOISE + 0.035
    assert 20 < e_value(slight) < 600
    assert until_sure_verdicts([slight], PERIOD)[0].word == "faster"
    assert until_sure_verdicts([slight, *[NOISE] * 29], PERIOD)[0].word == "undecided"
    words = [verdict.word for verdict in until_sure_verdicts([NOISE - 0.1, NOISE, 40 * NOISE, NOISE + 0.1], PERIOD)]
    assert words == ["slower", "equivalent", "undecided", "faster"]


def test_until_sure_rarely_says_same_at_the_margin() -> None:
    end = math.log(1.03)
    x = np.random.default_rng(55).normal(end, 0.02, (100, 30))
    words = [{until_sure_verdicts([row[:rounds]], PERIOD)[0].word for rounds in range(4, 31, 3)} for row in x]
    assert np.mean(["equivalent" in row for row in words]) <= 0.05


def test_until_sure_decides_from_the_fifth_round_on() -> None:
    """The greatest e-value of n rounds is (1 + n) to the power of (n - 1) / 2: 11 for four, 36 for five."""
    words = [until_sure_verdicts([1e-3 * NOISE[:rounds] - 0.1], PERIOD)[0].word for rounds in (4, 5)]
    assert words == ["undecided", "slower"]


@pytest.mark.parametrize("figures", [1, 2, 110])
@pytest.mark.parametrize("until_sure", [False, True])
def test_a_gate_decides_on_the_sufficient_number_of_rounds_and_not_on_fewer(figures: int, until_sure: bool) -> None:
    """The difference is large and almost the same in each round; the other figures differ by noise only."""

    def decides(rounds: int) -> bool:
        x = np.asarray(0.1 + 1e-9 * np.arange(rounds), np.float64)
        noise = [np.resize(NOISE, rounds)] * (figures - 1)
        try:
            verdicts = (until_sure_verdicts if until_sure else gate_verdicts)([x, *noise], PERIOD)
        except ValueError:
            return False
        return verdicts[0].word == "faster"

    for asked in (0, 5, 12):
        found = sufficient_rounds(figures, asked, until_sure)
        assert decides(found)
        assert not any(decides(rounds) for rounds in range(max(3, asked), found))


def test_many_figures_are_not_decided_by_signed_ranks_of_twelve_rounds() -> None:
    """Their smallest p-value is 2 to the power of -11."""
    assert [sufficient_rounds(figures, 12) for figures in (102, 103, 204, 205)] == [12, 13, 13, 14]
    assert sufficient_rounds(205) == sufficient_rounds(205, 11) - 3 == 8, "Student's test has no smallest p-value"
    last = OBRIEN_FLEMING_THRESHOLDS[12]
    assert [can_prove_difference(figures, 12, last) for figures in (85, 86)] == [True, False]


def test_verdicts_of_a_gate_name_its_period_and_the_rounds_that_all_its_figures_need() -> None:
    (found,) = gate_verdicts([NOISE], PERIOD)
    assert found.speed is not None
    assert found.speed.period == PERIOD
    alone, among = (until_sure_verdicts([40 * NOISE] * figures, PERIOD)[0].needed for figures in (1, 30))
    assert alone is not None
    assert among is not None
    assert among > alone


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_until_sure_has_no_verdict_on_a_figure_that_answered_in_few_rounds(rounds: int) -> None:
    full = np.linspace(0.3, 0.4, 8)
    assert [one.word for one in until_sure_verdicts([full, full[:rounds]], PERIOD)] == ["faster", "insufficient data"]
