"""Segments and N½ of synthetic curves whose breaks are known, with noise and without."""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octant.analysis.segments import Segment, half_length, segments

KIB = 2**10
LENGTHS = [0, 8, 64, 256, *(KIB << i for i in range(13))]
Time = Callable[[float], float]


def one(n: float) -> float:
    return 1.5e-6 + n / 2.6e9


def two(n: float) -> float:
    return one(n) if n <= 4 * KIB else 6e-6 + n / 12e9


def three(n: float) -> float:
    return 1e-6 + n / 4e9 if n <= 4 * KIB else 8e-6 + n / 14e9 if n <= 512 * KIB else 150e-6 + n / 3e9


def measured(of: Time, noise: float = 0.0, seed: int = 0) -> list[tuple[float, float]]:
    draw = random.Random(seed)
    return [(float(n), of(n) * (1 + draw.uniform(-noise, noise))) for n in LENGTHS]


def lasts(found: Sequence[Segment]) -> list[float]:
    return [segment.last for segment in found]


@pytest.mark.parametrize(("of", "breaks"), [(one, []), (two, [4 * KIB]), (three, [4 * KIB, 512 * KIB])])
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("seed", range(20))
def test_breaks_are_found_within_a_length(of: Time, breaks: list[int], noise: float, seed: int) -> None:
    found = segments(measured(of, noise, seed), noise / 3**0.5)
    assert len(found) == len(breaks) + 1
    for last, known in zip(lasts(found), breaks, strict=False):
        assert abs(LENGTHS.index(int(last)) - LENGTHS.index(known)) <= 1
    assert all(segment.fits for segment in found)
    assert (found[0].first, found[-1].last) == (LENGTHS[0], LENGTHS[-1])


def test_lines_without_noise_are_those_planted() -> None:
    first, second, third = segments(measured(three))
    assert (first.startup_s, first.bandwidth) == pytest.approx((1e-6, 4e9))
    assert (second.startup_s, second.bandwidth) == pytest.approx((8e-6, 14e9))
    assert (third.startup_s, third.bandwidth) == pytest.approx((150e-6, 3e9))
    assert max(first.error, second.error, third.error) < 1e-9


@given(st.lists(st.floats(1e-7, 1e-2), min_size=3, max_size=12), st.floats(1e-3, 1e3))
def test_lines_rise_and_cover_the_curve_whatever_was_measured(times: list[float], scale: float) -> None:
    points = [(float(length), time) for length, time in zip(LENGTHS, times, strict=False)]
    found = segments(points)
    assert 1 <= len(found) <= 4
    assert all(sum(one.first <= x <= one.last for x, _ in points) >= 3 for one in found)
    assert all(one.startup_s >= 0 and one.seconds_per_byte >= 0 for one in found)
    assert all(b.seconds(b.first) >= a.seconds(a.last) for a, b in pairwise(found))
    assert sum(sum(one.first <= x <= one.last for x, _ in points) for one in found) == len(points)
    assert lasts(segments([(x, scale * y) for x, y in points])) == lasts(found)
    for one in found:
        worst = max(abs(one.seconds(x) / y - 1) for x, y in points if one.first <= x <= one.last)
        assert one.error == pytest.approx(worst, abs=1e-9)


def test_a_break_has_to_gain_a_third_of_the_worst_error() -> None:
    numbers = set()
    for percent in range(100, 200):
        height = percent / 100
        points = [(n + 1.0, (1.1 if n % 2 else 0.9) * (1 if n < 3 else height)) for n in range(6)]
        (whole,) = segments(points, noise=9.0)
        halves = [segments(half)[0] for half in (points[:3], points[3:])]
        gained = sum(half.error for half in halves) / 2 <= whole.error * 2 / 3
        rising = halves[1].seconds(4) >= halves[0].seconds(3)
        assert len(segments(points)) == (2 if gained and rising else 1)
        numbers.add(gained)
    assert numbers == {True, False}


def test_no_more_than_three_breaks_and_no_segment_of_two_lengths() -> None:
    stairs = [(float(i + 1), (1.0, 3.0, 9.0, 27.0, 40.5)[i // 3]) for i in range(15)]
    assert lasts(segments(stairs)) == [3, 6, 9, 15]
    assert lasts(segments([(float(i + 1), 1.0 if i < 2 else 9.0) for i in range(8)]))[0] != 2


def test_deviations_within_the_noise_are_no_segments() -> None:
    for step, count in ((1.04, 1), (1.10, 2)):
        stepped = [
            (float(n), 1e-6 * (step if i >= 6 else 1)) for i, n in enumerate((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
        ]
        assert len(segments(stepped)) == count
    assert len(segments([(n, t * (1 if n <= 256 else 1.15)) for n, t in measured(one)[:8]], noise=0.05)) == 1


@pytest.mark.parametrize(("error", "fits"), [(0.249, True), (0.251, False)])
def test_a_line_that_is_off_by_more_than_a_quarter_does_not_fit(error: float, fits: bool) -> None:
    assert Segment(0, 8, 1e-6, 0.0, error).fits is fits
    assert Segment(0, 8, 1e-6, 0.0, error).bandwidth == float("inf")


def test_a_curve_that_no_line_fits_says_so() -> None:
    (whole,) = segments([(1.0, 1.0), (2.0, 3.0), (3.0, 1.0)])
    assert not whole.fits
    assert segments([(1.0, 1.0), (2.0, 2.0)]) == ()


def test_a_stretch_that_no_line_fits_hides_no_break_elsewhere() -> None:
    points = [(n, t * (1 if n <= 512 * KIB else 3 if n <= 1024 * KIB else 120)) for n, t in measured(two)]
    *found, rest = segments(points)
    assert lasts(found) == [4 * KIB, 512 * KIB]
    assert all(one.fits for one in found)
    assert not rest.fits


def test_many_lengths_are_thinned() -> None:
    found = segments([(float(n), two(n * 64)) for n in range(1000)])
    assert (found[0].first, found[-1].last) == (0, 999)
    assert found[0].last * 64 == pytest.approx(4 * KIB, abs=64 * 17)


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("seed", range(20))
def test_half_of_the_best_rate_is_between_the_lengths_around_it(noise: float, seed: int) -> None:
    points = [(n, n / time) for n, time in measured(one, noise, seed) if n]
    true = 1.5e-6 * 2.6e9 * (LENGTHS[-1] / (LENGTHS[-1] + 2 * 1.5e-6 * 2.6e9))
    half = half_length(points)
    assert half is not None
    assert half / 2 <= true <= 2 * half, "lengths are a factor of two apart"
    if not noise:
        assert half == pytest.approx(true, rel=0.05)


def test_half_is_the_first_such_length_and_none_where_the_shortest_reaches_it() -> None:
    assert half_length([(1.0, 1.0), (4.0, 4.0), (16.0, 8.0), (64.0, 2.0)]) == pytest.approx(4)
    assert half_length([(1.0, 2.0), (4.0, 8.0), (16.0, 1.0)]) == pytest.approx(2)
    assert half_length([(1.0, 5.0), (2.0, 8.0)]) is None
    assert half_length([]) is None
