"""The LogGP fit: exact lines come back, steps are found, noise is no protocol, and the error is what it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.analysis import loggp

LENGTHS = (0, *(2**power for power in range(23)))


def curve(*protocols: tuple[int, float, float], noise: float = 0.0, seed: int = 1) -> list[tuple[int, float]]:
    """Points of (from bytes, start-up, seconds a byte) protocols, with relative noise."""
    generator = np.random.default_rng(seed)
    points = []
    for length in LENGTHS:
        _, startup_s, per_byte_s = [p for p in protocols if length >= p[0]][-1]
        exact = startup_s + max(0, length - 1) * per_byte_s
        points.append((length, exact * (1 + noise * float(generator.standard_normal()))))
    return points


def test_one_protocol_comes_back_exactly() -> None:
    found = loggp.fit(curve((0, 1e-6, 1e-10)))
    assert len(found.segments) == 1
    assert found.segments[0].startup_s == pytest.approx(1e-6)
    assert found.segments[0].bandwidth == pytest.approx(1e10)
    assert found.error < 1e-9
    assert str(found).startswith("LogGP (L + 2o, G): from 0 B 1.00 µs + 100 ps a byte; error 0.0 %")
    assert found.seconds(2**20) == pytest.approx(1e-6 + (2**20 - 1) * 1e-10)


def test_eager_and_rendezvous_are_told_apart_where_they_change() -> None:
    """0.65 us and 0.2 ns/B up to 8 KiB, then 2.6 us and 0.07 ns/B."""
    found = loggp.fit(curve((0, 0.65e-6, 2e-10), (8192, 2.6e-6, 7e-11), noise=0.005))
    assert found.breaks == (8192,)
    short, long = found.segments
    assert short.last_bytes == 4096
    assert short.startup_s == pytest.approx(0.65e-6, rel=0.02)
    assert long.startup_s == pytest.approx(2.6e-6, rel=0.05)
    assert long.seconds_per_byte == pytest.approx(7e-11, rel=0.02)
    assert found.error < 0.01
    assert found.seconds(5000) == short.seconds(5000)  # the rendezvous was first seen at 8192


def test_three_protocols_are_three_segments() -> None:
    found = loggp.fit(curve((0, 0.5e-6, 4e-10), (2048, 2e-6, 1e-10), (262144, 20e-6, 4e-11), noise=0.003))
    assert found.breaks == (2048, 262144)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_noise_is_no_protocol(seed: int) -> None:
    found = loggp.fit(curve((0, 1e-6, 1e-10), noise=0.01, seed=seed))
    assert len(found.segments) == 1
    assert found.worst < 0.06


@settings(max_examples=25)
@given(st.floats(0.1e-6, 1e-3), st.floats(1e-12, 1e-6), st.floats(0.0, 0.3), st.integers(0, 99))
def test_the_error_is_the_distance_of_the_model_from_the_points(
    l_s: float, g_s: float, noise: float, seed: int
) -> None:
    points = [(n, abs(t) + 1e-9) for n, t in curve((0, l_s, g_s), noise=noise, seed=seed)]
    found = loggp.fit(points)
    errors = [found.seconds(length) / seconds - 1 for length, seconds in points]
    assert found.error == pytest.approx(float(np.sqrt(np.mean(np.square(errors)))), abs=1e-9)
    assert found.worst == pytest.approx(max(map(abs, errors)), abs=1e-9)
    assert all(segment.startup_s >= 0 and segment.seconds_per_byte >= 0 for segment in found.segments)
    assert found.segments[0].first_bytes == 0
    assert found.segments[-1].last_bytes == LENGTHS[-1]


def test_a_length_measured_twice_counts_with_its_median() -> None:
    repeated = [(s, t) for s in (1, 1025, 4097) for t in (1e-6 + (s - 1) * 1e-9, 9e-5, 1e-7)]
    assert loggp.fit(repeated).segments[0].seconds_per_byte == pytest.approx(1e-9)


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ValueError, match="3 message lengths"):
        loggp.fit([(1, 1e-6), (2, 1e-6), (2, 2e-6)])
    with pytest.raises(ValueError, match="positive"):
        loggp.fit([(1, 1e-6), (2, 0.0), (3, 1e-6)])
