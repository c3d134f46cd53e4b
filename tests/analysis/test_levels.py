"""What ladders say that caches hold: levels that show, levels that do not, and ladders that cannot tell."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from fake_run import KIB, MIB, WORKLOADS, lane, machine, point
from octant.analysis.figures import Figure, figure
from octant.analysis.levels import cached_by_ladder
from octant.analysis.measured_machine import with_measured
from octant.limit import MEMORY, level_of

LOADS = 1000
TWO_CORES = machine()  # L1 48 KiB and L2 2 MiB a core, L3 32 MiB


def with_l3(size: int) -> float:
    """ns of a load: as the system states its caches."""
    return next(ns for top, ns in ((48 * KIB, 2.0), (2 * MIB, 7.0), (32 * MIB, 30.0), (2**40, 170.0)) if size <= top)


def without_l3(size: int) -> float:
    """ns of a load of a guest: what is beyond L2 comes from memory."""
    return next(ns for top, ns in ((48 * KIB, 2.0), (2 * MIB, 7.0), (3 * MIB, 90.0), (2**40, 170.0)) if size <= top)


def ladder(
    ns: Callable[[int], float], longest: int = 256 * MIB, pages: str = "thp", label: str = "one"
) -> list[Figure]:
    """Figures of footprints from 8 KiB on, two an octave."""
    sizes = sorted(size for k in range(20) for size in (8 * KIB << k, 12 * KIB << k) if size <= longest)
    return [
        replace(
            figure(
                WORKLOADS["node/latency"],
                [
                    point(
                        counts={"loads": LOADS},
                        knobs={"bytes": str(size), "pages": pages},
                        lanes=(lane([round(ns(size) * LOADS)] * 8),),
                    )
                ],
            ),
            label=label,
        )
        for size in sizes
    ]


def test_a_level_that_no_ladder_shows_is_not_what_caches_hold() -> None:
    """Memory begins at 4 MiB of one core: both together hold 8 MiB at most, whatever the system says of L3."""
    seen = cached_by_ladder(ladder(without_l3), TWO_CORES)
    assert seen == 2 * 4 * MIB
    assert cached_by_ladder(ladder(with_l3), TWO_CORES) is None


def test_points_that_are_no_ladder_contradict_none() -> None:
    """Walks over pages, which have the default for a footprint."""
    walks = [replace(one, label="walk over pages") for one in ladder(without_l3)[-1:]]
    assert cached_by_ladder([*walks, *ladder(without_l3)], TWO_CORES) == 2 * 4 * MIB


def test_a_ladder_of_rates_that_shows_the_level_outdoes_one_of_times() -> None:
    """With busy neighbours, random loads may see less of a shared cache than a stream does."""
    rates = [
        replace(one, workload=WORKLOADS["node/stream"], metric=WORKLOADS["node/stream"].metrics[0], launches=tuple(
            replace(launch, value=launch.value.__class__(*(1 / end for end in (v.high, v.middle, v.low))))
            for launch in one.launches for v in [launch.value]
        ))
        for one in ladder(with_l3)
    ]  # fmt: skip
    assert cached_by_ladder([*rates, *ladder(without_l3)], TWO_CORES) is None


@pytest.mark.parametrize(
    "figures",
    [
        ladder(without_l3, longest=48 * MIB),  # the level may be beyond what it shows
        ladder(without_l3, pages="base"),  # page walks would pass for memory
        ladder(without_l3, label="one") + ladder(with_l3, label="another"),
        ladder(without_l3)[:3],
        [],
    ],
    ids=["too short", "base pages", "another shows it", "few points", "none"],
)
def test_a_ladder_that_cannot_tell_contradicts_nothing(figures: list[Figure]) -> None:
    assert cached_by_ladder(figures, TWO_CORES) is None


def test_footprints_in_memory_follow_what_the_ladder_shows() -> None:
    """16 MiB would be in the stated L3."""
    seen = with_measured(TWO_CORES, 2.0e9, cached_by_ladder(ladder(without_l3), TWO_CORES))
    one = frozenset({("node", 0)})
    assert level_of(TWO_CORES, one, 16 * MIB) == "L3"
    assert level_of(seen, one, 16 * MIB) == MEMORY
    assert level_of(seen, one, 12 * MIB) is None
    assert [entry.subject for entry in seen.disagreements][-1] == "measured last-level cache"
