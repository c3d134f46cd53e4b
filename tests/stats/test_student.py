"""Student's distribution against tables, and the number of rounds that a difference needs."""

import math

import numpy as np
import pytest

from octant.stats import student

TABLE = (12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139, 2.200985)


def test_quantiles_agree_with_the_table() -> None:
    for freedom, t in enumerate((*TABLE, 2.178813), start=1):
        assert student.t_quantile(0.05, freedom) == pytest.approx(t, abs=6e-7)
    assert student.t_quantile(0.05, 1e6) == pytest.approx(1.959966, abs=1e-5)  # scipy 1.17


def test_tails_agree_with_known_values_and_with_the_quantiles() -> None:
    assert float(student.two_sided_p(2.5, 5)) == pytest.approx(0.0544901, abs=5e-8)
    assert float(student.two_sided_p(1, 1)) == pytest.approx(0.5, abs=1e-12)
    assert student.two_sided_p([0.0, math.inf, -math.inf], 3).tolist() == [1.0, 0.0, 0.0]
    t = np.array([0.01, 0.3, 1.0, 4.0, 50.0])
    assert student.two_sided_p(t, 1) == pytest.approx(1 - 2 / np.pi * np.arctan(t), rel=1e-9)  # Cauchy's
    assert student.two_sided_p(t, 2) == pytest.approx(1 - t / np.sqrt(2 + t**2), rel=1e-8)
    for level in (1e-8, 1e-3, 0.1, 0.9):
        for freedom in (1, 2.5, 9.619824, 200):
            back = student.two_sided_p(student.t_quantile(level, freedom), freedom)
            assert float(back) == pytest.approx(level, rel=1e-9)


@pytest.mark.parametrize("effect", [0.0, 0.7, 1.5])
def test_power_is_what_simulation_finds(effect: float) -> None:
    x = np.random.default_rng(20).normal(effect, 1, (40_000, 6))
    t = x.mean(axis=1) / (x.std(axis=1, ddof=1) / math.sqrt(6))
    assert student.power(effect, 6) == pytest.approx(np.mean(np.abs(t) > TABLE[4]), abs=0.009)


def test_power_without_a_difference_is_the_level() -> None:
    for rounds in (3, 4, 12, 1000):
        assert student.power(0.0, rounds, 0.01) == pytest.approx(0.01, rel=1e-3)


@pytest.mark.parametrize("level", [0.05, 0.05 / 30])
def test_rounds_needed_are_the_fewest(level: float) -> None:
    # For differences of 2, 5 and 10 % between launches that spread by 1, 3, 6 and 10 %. Simulated with 200,000 trials:
    # 6 rounds find 5 % at a spread of 1 % and a thirtieth of 5 % in 90 %, 8 rounds 10 % at a spread of 3 % in 88 %.
    plain = {(2, 1): 7, (2, 3): 38, (5, 1): 3, (5, 3): 8, (5, 6): 25, (5, 10): 65, (10, 3): 4, (10, 6): 8, (10, 10): 18}
    holm = {(2, 1): 13, (2, 3): 77, (5, 1): 6, (5, 3): 17, (5, 6): 51, (5, 10): 133, (10, 3): 8, (10, 6): 17}
    for (difference, spread), rounds in (plain if level == 0.05 else holm).items():
        effect = difference / (math.sqrt(2) * spread)
        needed = student.rounds_needed(effect, level)
        assert abs(needed - rounds) <= (rounds > 10)
        assert student.smallest_effect(needed, level) <= effect * (1 + 1e-9)
        assert needed == 3 or student.smallest_effect(needed - 1, level) > effect


def test_large_numbers_of_rounds_are_not_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = student.rounds_needed(0.1)
    monkeypatch.setattr(student, "power", lambda *_: pytest.fail("counts"))
    assert student.rounds_needed(1e-5) == pytest.approx(exact * 1e8, rel=0.003)
