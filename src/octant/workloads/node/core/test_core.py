"""The parameters of a core from planted times, and chains that cannot have been as quick as they say."""

from collections.abc import Mapping

import pytest

from fake_run import lane, machine, point
from octant.analysis.figures import MeasuredCell, figure, figures_of
from octant.analysis.summary import with_limit
from octant.limit import Known
from octant.record import Clock, Point
from octant.workloads.node.core import WORKLOAD

NOTHING = Known(machine().topology)
FILLERS = [round(64 * 2 ** (i / 12)) for i in range(49)]


def chain(cycles: float, operation: str = "fma", form: str = "latency") -> Point:
    """8192 operations of one lane at 4 GHz."""
    return point(
        counts={"operations": 8192},
        knobs={"pattern": "operations", "operation": operation, "form": form},
        lanes=(lane([round(8192 * cycles / 4)] * 8, clock_hz=(4_000_000_000,)),),
    )


def phases(times: Mapping[str, float], **counts: int) -> Point:
    """Return a point with samples of each phase, 20 ns of each for the mark, and 1000 additions at 4 GHz."""
    every = {"additions": 250.0, **times}
    lanes = [lane([round(sum(every.values()))] * 6)]
    lanes += [lane([round(ns) + 20] * 5 + [round(9 * ns)], name=f"phase/{name}") for name, ns in every.items()]
    return point(
        pace="steps", lanes=tuple(lanes), counts={"additions": 1000, **counts}, clock=Clock("", 21.0, 1.0, 40.0, 20.0)
    )


def values(found: Point) -> dict[str, float]:
    """Return the metrics of the point."""
    every = figures_of(MeasuredCell(WORKLOAD, [found], WORKLOAD.metrics))
    return {name: one.value.middle for name, one in every.items() if one.value is not None}


def test_cycles_are_the_time_at_the_clock_of_the_same_bursts() -> None:
    found = values(chain(4))
    assert found["cycles"] == pytest.approx(4, rel=1e-3)
    assert found["per cycle"] == pytest.approx(0.25, rel=1e-3)
    assert found["time"] == pytest.approx(1e-9, rel=1e-3)
    assert found["rate"] == pytest.approx(1e9, rel=1e-3)
    assert found["clock"] == 4e9
    assert not {"rob size", "mlp", "misprediction penalty"} & set(found)


@pytest.mark.parametrize(("cycles", "operation"), [(0.5, "add"), (0.2, "popcount"), (1.5, "fma"), (0.5, "compare")])
def test_a_chain_that_was_broken_is_seen(cycles: float, operation: str) -> None:
    """A zeroing idiom or an eliminated move leaves a latency that no core has."""
    broken = with_limit(figure(WORKLOAD, [chain(cycles, operation)]), NOTHING, machine())
    assert [one.kind for one in broken.caveats if one.kind == "measured above the limit"]


@pytest.mark.parametrize(
    ("cycles", "operation", "form"), [(1, "add", "latency"), (4, "fma", "latency"), (0.5, "fma", "throughput")]
)
def test_what_cores_do_is_within_the_limits(cycles: float, operation: str, form: str) -> None:
    found = with_limit(figure(WORKLOAD, [chain(cycles, operation, form)]), NOTHING, machine())
    assert not [one.kind for one in found.caveats if one.kind == "measured above the limit"]


@pytest.mark.parametrize("size", [256, 456, 512])
def test_the_window_is_where_two_misses_no_longer_overlap(size: int) -> None:
    times = {f"fillers {n}": (160 if n < size else 320) * 48.0 for n in FILLERS}
    assert values(phases(times))["rob size"] == pytest.approx(size, rel=0.05)


def test_misses_that_never_cease_to_overlap_have_no_window() -> None:
    assert "rob size" not in values(phases({f"fillers {n}": 48 * (160 + n / 20) for n in FILLERS}))


def test_misses_are_the_time_of_one_over_that_of_one_among_many() -> None:
    """Twelve at once: up to twelve chains cost what one costs, and more wait for each other."""
    found = values(phases({f"chains {k}": 100 * 128 * max(1, k / 12) for k in (1, 2, 4, 8, 12, 16, 32)}))
    assert found["mlp"] == pytest.approx(12, rel=0.01)


def test_a_wrong_guess_costs_twice_the_difference() -> None:
    """Half of 10,000 guesses are wrong, and cost 5 ns more on the mean: 20 cycles of 0.25 ns each are 5 ns."""
    found = values(phases({"random": 10_000 * 3.0, "alternating": 10_000 * 0.5}, branches_of_phase=10_000))
    assert found["misprediction penalty"] == pytest.approx(20, rel=1e-3)
    assert found["clock"] == pytest.approx(4e9, rel=1e-3)
