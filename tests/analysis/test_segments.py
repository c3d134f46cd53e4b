"""Segments and N½ of curves whose steps and knees are known, with noise and without, and of five recorded ones."""

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.analysis.segments import Segment, half_length, hot_and_cold, segments, with_causes

KIB, MIB = 2**10, 2**20
LENGTHS = [0, 8, 64, 256, *(KIB << i for i in range(13))]
DENSE = [0, 1, *sorted({*(2**k for k in range(1, 23)), *(3 << k for k in range(21))})]
Time = Callable[[float], float]


def one(n: float) -> float:
    return 1.5e-6 + n / 2.6e9


def planted(n: float) -> float:
    """Return a curve with a knee at 512 B, a step of 1.6 µs at 8 KiB, and a knee at 512 KiB."""
    inside = min(n, 512), min(max(n - 512, 0), 7680), min(max(n - 8192, 0), 516096), max(n - 524288, 0)
    slopes = 0.8e-9, 0.3e-9, 0.075e-9, 0.16e-9
    return 0.5e-6 + 1.6e-6 * (n >= 8192) + sum(g * m for g, m in zip(slopes, inside, strict=True))


def measured(
    of: Time, noise: float = 0.0, seed: int = 0, lengths: Sequence[float] = DENSE
) -> list[tuple[float, float]]:
    draw = random.Random(seed)
    return [(float(n), of(n) * (1 + draw.gauss(0, noise))) for n in lengths]


def borders(found: Sequence[Segment]) -> list[tuple[float, str | None]]:
    return [(segment.first, segment.kind) for segment in found[1:]]


def model(found: Sequence[Segment], length: float) -> float:
    return next(one.seconds(length) for one in reversed(found) if one.first <= length)


PLANTED = [(512, "knee"), (8192, "step"), (524288, "knee")]


def test_a_curve_without_noise_gives_back_every_coefficient() -> None:
    found = segments(measured(planted))
    assert borders(found) == PLANTED
    assert found[0].startup_s == pytest.approx(0.5e-6, rel=1e-9)
    assert [one.seconds_per_byte for one in found] == pytest.approx([0.8e-9, 0.3e-9, 0.075e-9, 0.16e-9], rel=1e-9)
    assert [one.step_s for one in found] == pytest.approx([0, 0, 1.6e-6, 0], rel=1e-9)
    assert max(one.error for one in found) < 1e-9
    assert found[3].startup_s < 0, "its line is steeper than what comes before it"


@pytest.mark.parametrize(
    ("noise", "within"), [(0.02, (0.02, 0.1, 0.05, 0.05, 0.05, 0.12)), (0.05, (0.05, 0.12, 0.12, 0.12, 0.12, 0.3))]
)
@pytest.mark.parametrize("seed", range(10))
def test_noise_moves_no_border_and_coefficients_by_a_little(noise: float, within: Sequence[float], seed: int) -> None:
    found = segments(measured(planted, noise, seed), noise)
    assert [kind for _, kind in borders(found)] == [kind for _, kind in PLANTED]
    for (at, _), (known, _) in zip(borders(found), PLANTED, strict=True):
        assert abs(DENSE.index(int(at)) - DENSE.index(known)) <= 1
    values = [found[0].startup_s, *(one.seconds_per_byte for one in found), found[2].step_s]
    if [at for at, _ in borders(found)] == [at for at, _ in PLANTED]:
        known_values = [0.5e-6, 0.8e-9, 0.3e-9, 0.075e-9, 0.16e-9, 1.6e-6]
        for value, known_value, most in zip(values, known_values, within, strict=True):
            assert value == pytest.approx(known_value, rel=most)


SIZES = [0, 8, 64, 96, 256, 384, *(KIB * n for n in (1, 3, 4, 6, 8, 12, 32, 64, 256, 512, 768, 1024, 4096))]
RECORDED = {  # one way of a ping-pong on one node, µs: five MPI libraries on a virtual machine of two cores
    "MPICH 5.0.2": (
        1.37, 1.41, 1.61, 1.60, 1.51, 1.76, 2.10, 2.65, 3.00, 3.51, 4.97, 5.34, 7.22, 9.68, 24.1, 45.6, 79.2, 137, 841,
    ),
    "MPICH 4.0.2": (
        .684, .702, .724, .945, 1.01, 1.06, 1.39, 1.99, 2.18, 2.83, 3.21, 4.89, 6.54, 9.16, 23.2, 43.3, 80.5, 131, 1020,
    ),
    "Open MPI 5.0.11": (
        .424, .459, .567, .605, .699, .946, 1.27, 2.06, 3.25, 3.31, 3.62, 3.95, 5.88, 8.29, 22.5, 44.3, 77.5, 133, 1060,
    ),
    "Open MPI 4.1.4": (
        .437, .499, .586, .633, .719, .982, 1.33, 2.12, 3.38, 3.53, 3.85, 4.23, 5.85, 8.57, 22.6, 41.5, 71.4, 117, 830,
    ),
    "Intel MPI 2021.18": (
        .547, .558, .606, .609, .661, .770, 1.03, 1.47, 1.69, 2.18, 2.62, 3.39, 6.69, 11.2, 28.4, 58.4, 111, 158, 788,
    ),
}  # fmt: skip
EAGER = {"MPICH 5.0.2": 8 * KIB, "Open MPI 5.0.11": 4 * KIB, "Open MPI 4.1.4": 4 * KIB}
"""The first of the lengths above the limit that the library itself states (8112, 4016 and 4040 bytes)."""


@pytest.mark.parametrize("library", RECORDED)
@pytest.mark.parametrize("noise", [0.01, 0.03])
def test_recorded_curves_are_described_within_13_percent(library: str, noise: float) -> None:
    found = segments([(n, t * 1e-6) for n, t in zip(SIZES, RECORDED[library], strict=True)], noise)
    assert max(one.error for one in found) <= 0.13
    assert [one.first for one in found if one.kind == "step" and one.first == EAGER.get(library)] == [
        *filter(None, [EAGER.get(library)])
    ]
    assert any(512 * KIB <= one.first <= MIB for one in found[1:]), "the second cache, 2 MiB, ends"


BORDERS = [("step", 0.2), ("step", 0.3), ("knee", 0.2), ("knee", 0.3), ("knee", 3.0), ("knee", 5.0)]
"""Kinds, and slopes over those before. A steeper line behind a step is that of a knee one length before it."""
Families = st.tuples(
    st.floats(0.2e-6, 5e-6),
    st.lists(st.sampled_from(BORDERS), max_size=3),
    st.sampled_from([0, 2]),
)


def of_family(drawn: tuple[float, list[tuple[str, float]], int]) -> tuple[Time, list[tuple[float, str]]]:
    """Return a curve of the family with distant borders, different slopes and large steps.

    Knees lie at every second length, so that those show them too.
    """
    startup, kinds, shift = drawn
    planned = [(DENSE[16 + 8 * i + shift + (kind[0] == "step")], *kind) for i, kind in enumerate(kinds)]
    slopes, steps = [startup / 300], list[float]()
    for _, _, factor in planned:
        slopes.append(slopes[-1] * factor)

    def curve(n: float) -> float:
        places = [0, *(at for at, _, _ in planned), math.inf]
        bytes_in = [max(0.0, min(n, end) - begin) for begin, end in pairwise(places)]
        jumps = sum(height for (at, _, _), height in zip(planned, steps, strict=False) if n >= at)
        return float(startup + jumps + sum(g * m for g, m in zip(slopes, bytes_in, strict=True)))

    for at, kind, _ in planned:
        steps.append(0.5 * curve(at) if kind == "step" else 0.0)
    return curve, [(at, kind) for at, kind, _ in planned]


@given(Families)
@settings(max_examples=25)
def test_a_curve_of_the_family_is_given_back(drawn: tuple[float, list[tuple[str, float]], int]) -> None:
    curve, known = of_family(drawn)
    points = measured(curve)
    found = segments(points)
    assert borders(found) == known
    assert all(model(found, n) == pytest.approx(t, rel=1e-6) for n, t in points)


@given(Families, st.integers(-20, 20), st.randoms())
@settings(max_examples=15)
def test_units_and_order_change_nothing(
    drawn: tuple[float, list[tuple[str, float]], int], power: int, order: random.Random
) -> None:
    points = measured(of_family(drawn)[0], 0.02, 3, DENSE[::2])
    found, shuffled = segments(points), list(points)
    order.shuffle(shuffled)
    assert segments(shuffled) == found
    scaled = segments([(n, t * 2.0**power) for n, t in points])
    assert borders(scaled) == borders(found)
    for a, b in zip(found, scaled, strict=True):
        assert (b.at_first_s, b.seconds_per_byte, b.step_s) == pytest.approx(
            tuple(2.0**power * value for value in (a.at_first_s, a.seconds_per_byte, a.step_s)), rel=1e-9, abs=1e-30
        )


@given(Families)
@settings(max_examples=15)
def test_twice_as_many_lengths_move_no_border_by_more_than_one_of_the_old(
    drawn: tuple[float, list[tuple[str, float]], int],
) -> None:
    curve, _ = of_family(drawn)
    few, many = (segments(measured(curve, lengths=lengths)) for lengths in (DENSE[::2], DENSE))
    assert len(few) == len(many)
    places = DENSE[::2]
    for old, new in zip(few[1:], many[1:], strict=True):
        place = places.index(int(old.first))
        assert places[place - 1] <= new.first <= places[min(place + 1, len(places) - 1)]


@given(st.lists(st.floats(1e-7, 1e-2), min_size=3, max_size=17))
@settings(max_examples=40)
def test_segments_never_fall_and_cover_the_curve_whatever_was_measured(times: list[float]) -> None:
    points = [(float(length), time) for length, time in zip(LENGTHS, times, strict=False)]
    found = segments(points)
    assert 1 <= len(found) <= 7
    assert all(sum(one.first <= x <= one.last for x, _ in points) >= min(2, len(points)) for one in found)
    assert sum(sum(one.first <= x <= one.last for x, _ in points) for one in found) == len(points)
    assert all(one.seconds_per_byte >= 0 and one.at_first_s >= 0 and one.step_s >= 0 for one in found)
    said = [model(found, x) for x, _ in points]
    assert all(b >= a * (1 - 1e-9) for a, b in pairwise(said))
    for segment in found:
        worst = max(abs(segment.seconds(x) / y - 1) for x, y in points if segment.first <= x <= segment.last)
        assert segment.error == pytest.approx(worst, rel=1e-6, abs=1e-9)


def test_deviations_within_the_noise_are_no_borders() -> None:
    assert len(segments(measured(one))) == 1
    bought = [len(segments(measured(one, 0.05, seed), 0.05)) - 1 for seed in range(40)]
    assert sum(map(bool, bought)) <= 4
    stepped = measured(lambda n: one(n) * (1 if n < 4 * KIB else 1.3), 0.03, 1)
    assert borders(segments(stepped, 0.03))[:1] == [(4 * KIB, "step")]
    assert len(segments(stepped, 0.5)) == 1


def test_no_border_at_a_word_or_below() -> None:
    found = segments(measured(lambda n: 1e-6 if n < 8 else 5e-6))
    assert all(one.first > 8 for one in found[1:])


def test_steps_are_common_to_hot_and_cold_buffers_and_knees_are_not() -> None:
    def hot(n: float) -> float:  # the end of a cache of 1 MiB, of which each buffer fills half
        return 1e-6 + n * 0.1e-9 + 2e-6 * (n >= 8192) + max(0, n - 512 * KIB) * 0.3e-9

    def cold(n: float) -> float:
        return 1.2e-6 + n * 0.4e-9 + 2.5e-6 * (n >= 8192)

    for lengths in (DENSE, [KIB << i for i in range(0, 13, 2)]):
        found, other = hot_and_cold(measured(hot), measured(cold, lengths=lengths))
        assert borders(found) == [(8192, "step"), (512 * KIB, "knee")]
        assert [one.kind for one in other] == [None, "step"]
        assert other[1].border == 8192
        assert [one.cause for one in with_causes(found, {1: 48 * KIB, 2: MIB}, other)] == ["", "protocol", "L2"]
        assert [one.cause for one in with_causes(found, {}, other)] == ["", "protocol", "a cache"]
        assert [one.cause for one in with_causes(found, {2: MIB})] == ["", "", "L2"]
        assert [one.cause for one in with_causes(found, {})] == ["", "", ""]
    leap = measured(lambda n: hot(n) + 30e-6 * (n >= 768 * KIB))
    alone, other = hot_and_cold(leap, measured(cold))
    causes = {one.first: one.cause for one in with_causes(alone, {2: 2 * MIB}, other) if one.kind == "step"}
    assert causes == {8192: "protocol", 768 * KIB: "L2"}, "a step of hot buffers alone is none of a protocol"
    assert with_causes((), {}) == ()


def test_too_few_lengths_have_no_segments() -> None:
    assert segments([(1.0, 1.0), (2.0, 2.0)]) == ()
    assert hot_and_cold(measured(one), [(1.0, 1.0)]) == ((), ())
    (whole,) = segments([(1.0, 1.0), (2.0, 3.0), (3.0, 1.0)])
    assert not whole.fits


@pytest.mark.parametrize(("error", "fits"), [(0.249, True), (0.251, False)])
def test_a_line_that_is_off_by_more_than_a_quarter_does_not_fit(error: float, fits: bool) -> None:
    assert Segment(0, 8, 1e-6, 0.0, error).fits is fits
    assert Segment(0, 8, 1e-6, 0.0, error).bandwidth == math.inf


def test_many_lengths_are_thinned() -> None:
    found = segments([(float(n), planted(n * 4)) for n in range(0, 10_000, 10)])
    assert (found[0].first, found[-1].last) == (0, 9990)
    assert found[-1].first * 4 == pytest.approx(8192, abs=4 * 170)
    assert found[-1].kind == "step"


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.15])
@pytest.mark.parametrize("seed", range(20))
def test_half_of_the_best_rate_is_between_the_lengths_around_it(noise: float, seed: int) -> None:
    draw = random.Random(seed)
    points = [(n, n / (one(n) * (1 + draw.uniform(-noise, noise)))) for n in LENGTHS if n]
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
