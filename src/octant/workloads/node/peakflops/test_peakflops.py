"""The limit of peakflops by hand and by property: units known, units inferred, clock under load."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from octant.analysis.figures import figure
from octant.analysis.summary import with_limit
from octant.limit import Known, Limit
from octant.machine import Machine
from octant.record import Point
from octant.workloads.node.peakflops import WORKLOAD, is_widest, units_known

NOTHING = Known(machine().topology)


def on(vendor: str, *flags: str) -> Machine:
    fake = machine()
    return replace(fake, processor=replace(fake.processor, vendor=vendor, flags=frozenset(flags)))


def busy(gflops: float = 100.0, clock_hz: tuple[int, ...] = (3_400_000_000,) * 2, ranks: int = 1) -> Point:
    return point(
        workload="node/peakflops",
        counts={"flops": round(gflops * 1e5)},
        notes={"width": "512", "lanes": "8", "chains": "24", "fused": "yes"},
        knobs={"element": "double"},
        lanes=tuple(lane([100_000] * 6, rank=rank, clock_hz=clock_hz) for rank in range(ranks)),
        ranks=ranks,
    )


def limit_of(fake: Machine, found: Point) -> tuple[Limit | None, float]:
    """Return the limit, and the rate at the limit, flop/s."""
    limit = with_limit(figure(WORKLOAD, [found]), NOTHING, fake).limit
    return limit, found.count("flops") / limit.seconds if limit else 0.0


def test_two_known_units_of_eight_doubles_at_the_clock_under_load() -> None:
    limit, best = limit_of(on("GenuineIntel", "avx2", "avx512f", "amx_tile"), busy())
    assert limit is not None
    assert best == pytest.approx(8 * 2 * 2 * 3.4e9)
    assert "known" in limit.source
    assert "3.40 GHz" in limit.source


def test_unknown_units_are_inferred_and_the_limit_says_so() -> None:
    """100 Gflop/s are 1.84 multiply-adds of 8 per cycle at 3.4 GHz: two units; 50 are one."""
    fake = on("GenuineIntel", "avx2", "avx512f")
    (two, of_two), (_, of_one) = limit_of(fake, busy()), limit_of(fake, busy(50))
    assert two is not None
    assert of_two == pytest.approx(108.8e9)
    assert of_one == pytest.approx(54.4e9)
    assert "inferred from 1.84 measured operations per cycle" in two.source


def test_a_clock_that_was_observed_too_low_adds_no_units() -> None:
    """112.6 Gflop/s are 2.07 per cycle: two units, whose clock was 3.5 % higher, and not four."""
    _, limit = limit_of(on("AuthenticAMD", "avx2", "avx512f"), busy(112.6))
    assert limit == pytest.approx(108.8e9)


def test_a_known_processor_that_reaches_half_is_seen_to() -> None:
    fake = on("GenuineIntel", "avx2", "avx512f", "amx_tile")
    found = with_limit(figure(WORKLOAD, [busy(50)]), NOTHING, fake)
    assert found.of_limit == pytest.approx(50 / 108.8, rel=1e-3)
    assert not found.is_limit, "it provides a limit for others, and has one of its own"


def test_the_clock_of_the_limit_is_the_median_of_launches_and_no_maximum() -> None:
    """Bursts of one launch that ran on a quick clock, and one launch that did, leave the limit where it is."""
    fake = on("GenuineIntel", "avx2", "avx512f", "amx_tile")
    usual, quick = (2_500_000_000, 2_500_000_000, 3_500_000_000), (3_500_000_000,)
    launches = [busy(clock_hz=usual), busy(clock_hz=usual), busy(clock_hz=quick)]
    found = with_limit(figure(WORKLOAD, launches), NOTHING, fake)
    assert found.at_limit == pytest.approx(32 * 2.5e9)
    assert found.limit is not None
    assert "2.50 GHz" in found.limit.source
    quick_first = with_limit(figure(WORKLOAD, launches[::-1]), NOTHING, fake)
    assert quick_first.limit == found.limit


def test_only_the_widest_vectors_are_a_peak_for_others() -> None:
    wide, narrow = on("GenuineIntel", "avx2", "avx512f"), on("GenuineIntel", "avx2")
    half = replace(busy(), notes={**busy().notes, "width": "256"})
    scalar = replace(busy(), notes={**busy().notes, "width": "scalar"})
    assert [is_widest(wide, one) for one in (busy(), half, scalar)] == [True, False, False]
    assert is_widest(narrow, half)


def test_what_flags_tell_about_units() -> None:
    assert units_known(on("GenuineIntel", "avx2").processor, 256) == 2
    assert units_known(on("AuthenticAMD", "avx2", "avx512f").processor, 512) is None
    assert units_known(on("ARM").processor, 128) is None


def test_no_clock_no_limit() -> None:
    assert limit_of(machine(), busy(clock_hz=()))[0] is None


@given(st.integers(1, 4), st.integers(1_000_000_000, 5_000_000_000))
def test_the_limit_grows_with_hardware_threads_and_with_the_clock(ranks: int, clock_hz: int) -> None:
    fake = on("GenuineIntel", "avx2", "avx512f", "amx_tile")
    assert limit_of(fake, busy(clock_hz=(clock_hz,), ranks=ranks))[1] == pytest.approx(32 * clock_hz * ranks)


def test_more_threads_than_hardware_threads_have_no_higher_limit() -> None:
    fake = on("GenuineIntel", "avx2", "avx512f", "amx_tile")
    crowded = replace(busy(ranks=2), given=busy().given * 2)
    assert limit_of(fake, crowded)[1] == pytest.approx(32 * 3.4e9)
