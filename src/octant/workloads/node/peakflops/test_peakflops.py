"""The limit of peakflops by hand and by property: units known, units inferred, clock under load."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import lane, machine, point
from octant import analysis
from octant.machine import Machine
from octant.record import Point, Work
from octant.workload import Ceilings
from octant.workloads.peakflops import WORKLOAD, busy_clock_hz, units_known, widths


def on(vendor: str, *flags: str) -> Machine:
    fake = machine()
    return replace(fake, processor=replace(fake.processor, vendor=vendor, flags=frozenset(flags)))


def busy(
    width: str = "512", lanes: int = 8, gflops: float = 100.0, clock_hz: int = 3_400_000_000, ranks: int = 1
) -> Point:
    samples = tuple(replace(lane([100_000] * 6, rank=rank), clock_hz=(clock_hz, clock_hz)) for rank in range(ranks))
    return point(
        workload="peakflops",
        work=Work(flops=round(gflops * 1e5)),
        notes={"width": "512", "lanes": "8", "chains": "24", "fused": "yes"},
        knobs={"element": "double"},
        lanes=samples,
        ranks=ranks,
    )


def test_two_known_units_of_eight_doubles_at_the_clock_under_load() -> None:
    limit = WORKLOAD.limit(on("GenuineIntel", "avx2", "avx512f", "amx_tile"), Ceilings(), busy())
    assert limit is not None
    assert limit.value == pytest.approx(8 * 2 * 2 * 3.4e9)
    assert "known" in limit.source
    assert "3.40 GHz" in limit.source


def test_unknown_units_are_inferred_and_the_limit_says_so() -> None:
    """100 Gflop/s are 1.84 multiply-adds of 8 a cycle at 3.4 GHz: two units; 50 are one."""
    two = WORKLOAD.limit(on("GenuineIntel", "avx2", "avx512f"), Ceilings(), busy())
    one = WORKLOAD.limit(on("GenuineIntel", "avx2", "avx512f"), Ceilings(), busy(gflops=50))
    assert two is not None
    assert one is not None
    assert two.value == pytest.approx(108.8e9)
    assert one.value == pytest.approx(54.4e9)
    assert "inferred from the 1.84 a cycle" in two.source


def test_a_known_processor_that_reaches_half_is_seen_to() -> None:
    fake = on("GenuineIntel", "avx2", "avx512f", "amx_tile")
    figure = analysis.figure(WORKLOAD, busy(gflops=50), fake)
    assert figure.of_limit == pytest.approx(50 / 108.8, rel=1e-3)


def test_what_flags_tell_about_units() -> None:
    assert units_known(on("GenuineIntel", "avx2").processor, 256) == 2
    assert units_known(on("AuthenticAMD", "avx2", "avx512f").processor, 512) is None
    assert units_known(on("ARM").processor, 128) is None
    assert widths(on("ARM").processor) == ("scalar", "128")
    assert widths(machine().processor) == ("scalar", "128", "256", "512")


def test_no_clock_no_limit() -> None:
    silent = replace(busy(), lanes=(lane([100_000] * 6),))
    assert busy_clock_hz(silent) is None
    assert WORKLOAD.limit(machine(), Ceilings(), silent) is None


@given(st.integers(1, 4), st.integers(1_000_000_000, 5_000_000_000))
def test_the_limit_grows_with_ranks_and_with_the_clock(ranks: int, clock_hz: int) -> None:
    fake = on("GenuineIntel", "avx2", "avx512f", "amx_tile")
    limit = WORKLOAD.limit(fake, Ceilings(), busy(clock_hz=clock_hz, ranks=ranks))
    assert limit is not None
    assert limit.value == pytest.approx(32 * clock_hz * ranks)
