"""The LogGP fit: planted curves come back, the fit never falls, noise is no protocol, and the error is what it says."""

import itertools
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.analysis import loggp

SIZES = (0, 1, *sorted({2**k for k in range(1, 23)} | {3 * 2 ** (k - 1) for k in range(1, 21)}))
Border = tuple[int, float, float]
"""First length of a segment, what it adds, its time per byte."""
VECTOR: tuple[Border, ...] = ((512, 0.0, 0.3e-9), (8192, 1.6e-6, 0.075e-9), (524288, 0.0, 0.16e-9))
"""A knee, a step with a knee, a knee."""


def planted(
    startup_s: float, per_byte_s: float, *borders: Border, noise: float = 0.0, seed: int = 1
) -> list[tuple[int, float]]:
    """Points of a curve of this family, with relative noise (normal)."""
    generator = np.random.default_rng(seed)
    points = []
    for length in SIZES:
        time_s, begin, slope = startup_s, 0, per_byte_s
        for first, jump_s, next_slope in borders:
            if length < first:
                break
            time_s, begin, slope = time_s + (first - begin) * slope + jump_s, first, next_slope
        exact = time_s + (length - begin) * slope
        points.append((length, exact * max(0.1, 1 + noise * float(generator.standard_normal()))))
    return points


def falls(found: loggp.Fit, lengths: Sequence[float]) -> list[float]:
    """Lengths after which the drawn line or the model falls."""
    drawn = found.line(lengths)
    modelled = [(length, found.seconds(length)) for length in lengths]
    return [a[0] for line in (drawn, modelled) for a, b in pairwise(line) if b[1] < a[1] * (1 - 1e-12)]


DENSE = (0.0, *(float(x) for x in np.geomspace(1, SIZES[-1], 1500)))


def test_a_curve_without_noise_comes_back_exactly() -> None:
    found = loggp.fit(planted(0.5e-6, 0.8e-9, *VECTOR))
    assert found.breaks == (512, 8192, 524288)
    assert found.steps == (8192,)
    assert found.startup_s == pytest.approx(0.5e-6, rel=1e-9)
    assert [s.seconds_per_byte for s in found.segments] == pytest.approx([0.8e-9, 0.3e-9, 0.075e-9, 0.16e-9], rel=1e-6)
    assert [s.jump_s for s in found.segments] == pytest.approx([0, 0, 1.6e-6, 0], rel=1e-6)
    assert found.segments[1].last_bytes == 6144
    assert found.segments[0].bandwidth == pytest.approx(1.25e9)
    assert found.worst < 1e-9
    assert str(found) == (
        "LogGP: L + 2o 500 ns, G 800 ps per byte; from 512 B G 300 ps per byte; from 8 KiB 1.60 µs more, "
        "G 75.0 ps per byte; from 512 KiB G 160 ps per byte; median error 0.0 %, 0.0 % at worst."
    )


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_a_curve_with_noise_comes_back_within_its_noise(seed: int) -> None:
    found = loggp.fit(planted(0.5e-6, 0.8e-9, *VECTOR, noise=0.02, seed=seed), noise=0.02)
    assert 8192 in found.steps
    assert found.startup_s == pytest.approx(0.5e-6, rel=0.04)
    for length in (1, 4096, 8192, 65536, 2**21):
        exact = next(time_s for size, time_s in planted(0.5e-6, 0.8e-9, *VECTOR) if size == length)
        assert found.seconds(length) == pytest.approx(exact, rel=0.08)
    assert found.segments[-1].seconds_per_byte == pytest.approx(0.16e-9, rel=0.12)


CURVES = st.builds(
    planted,
    st.floats(0.1e-6, 1e-4),
    st.floats(1e-11, 1e-8),
    st.tuples(st.sampled_from(SIZES[6:20]), st.floats(0, 1e-5), st.floats(1e-12, 1e-8)),
    st.tuples(st.sampled_from(SIZES[24:36]), st.floats(0, 1e-4), st.floats(1e-12, 1e-8)),
    noise=st.floats(0, 0.5),
    seed=st.integers(0, 10_000),
)


@settings(max_examples=20, deadline=None)
@given(CURVES)
def test_the_fit_never_falls_and_states_its_error_however_noisy_the_curve_is(points: list[tuple[int, float]]) -> None:
    found = loggp.fit(points)
    assert falls(found, DENSE) == []
    assert found.startup_s >= 0
    assert found.segments[0].first_bytes == 0
    assert found.segments[-1].last_bytes == SIZES[-1]
    for one, other in pairwise(found.segments):
        assert other.begin_s == pytest.approx(one.seconds(other.first_bytes) + other.jump_s)
        assert other.jump_s >= 0
    errors = [abs(found.seconds(length) / seconds - 1) for length, seconds in points]
    assert found.error == pytest.approx(float(np.median(errors)), abs=1e-9)
    assert found.worst == pytest.approx(max(errors), abs=1e-9)
    assert found.is_trusted == (found.worst <= 0.25)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000), st.randoms(use_true_random=False), st.floats(1e-3, 1e3))
def test_the_order_of_points_and_the_unit_of_time_change_nothing(seed: int, order: object, factor: float) -> None:
    points = planted(0.5e-6, 0.8e-9, *VECTOR, noise=0.03, seed=seed)
    found = loggp.fit(points)
    shuffled = list(points)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert loggp.fit(shuffled) == found
    scaled = loggp.fit([(length, factor * seconds) for length, seconds in points])
    assert scaled.breaks == found.breaks
    assert scaled.startup_s == pytest.approx(factor * found.startup_s)
    assert scaled.worst == pytest.approx(found.worst)


def test_noise_is_no_protocol() -> None:
    """Of 60 seeds of each of 1, 5 and 10 % none gave a border; of all seeds few do."""
    for seed, noise in itertools.product(range(5), (0.01, 0.1)):
        found = loggp.fit(planted(1e-6, 1e-10, noise=noise, seed=seed), noise=noise)
        assert len(found.segments) == 1
        assert found.worst < 5 * noise


def test_a_fall_between_measured_points_is_no_fall_of_the_fit() -> None:
    """A protocol that is quicker than the one before it: the model has the least rise that there is."""
    quicker = [(length, seconds * (0.8 if length >= 4096 else 1)) for length, seconds in planted(1e-6, 1e-10)]
    assert falls(loggp.fit(quicker), DENSE) == []


def test_the_drawn_line_has_both_ends_of_a_step() -> None:
    drawn = loggp.fit(planted(0.5e-6, 0.8e-9, *VECTOR)).line(DENSE)
    at_step = [seconds for length, seconds in drawn if length == 8192]
    assert at_step[0] == pytest.approx(at_step[-1] - 1.6e-6)
    assert drawn[0] == pytest.approx((0.0, 0.5e-6))
    assert drawn[-1][0] == SIZES[-1]


def test_a_length_measured_twice_counts_with_its_median() -> None:
    repeated = [(s, t) for s in (1, 1025, 4097) for t in (1e-6 + s * 1e-9, 9e-5, 1e-7)]
    assert loggp.fit(repeated).segments[0].seconds_per_byte == pytest.approx(1e-9)


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ValueError, match="3 message lengths"):
        loggp.fit([(1, 1e-6), (2, 1e-6), (2, 2e-6)])
    with pytest.raises(ValueError, match="positive"):
        loggp.fit([(1, 1e-6), (2, 0.0), (3, 1e-6)])


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
def test_least_squares_without_negative_coefficients_meet_their_conditions(seed: int, columns: int) -> None:
    """Karush, Kuhn, Tucker: no coefficient is negative, and the error falls along none that could still grow."""
    draw = np.random.default_rng(seed)
    rows, target = draw.normal(size=(8, columns)), draw.normal(size=8)
    x = loggp._non_negative(rows, target)
    gradient = rows.T @ (target - rows @ x)
    assert (x >= 0).all()
    assert gradient[x > 0] == pytest.approx(0, abs=1e-7)
    assert (gradient <= 1e-7).all()
