"""Lost time: shares and causes from readings as they were taken under known conditions."""

import pytest

from octant.stats.caveats import Grade
from octant.stats.lost import LostShares, caveats_about_lost_time, lost_time


def bursts(share: float, threads: int = 1) -> list[list[float]]:
    """Twenty bursts of 50 ms of each thread, of which `share` is the reading."""
    return [[0.05 * share] * 20] * threads


def reading(cpu: float | None, wait: float, throttled: float = 0, steal: float = 0, threads: int = 1) -> LostShares:
    taken = None if cpu is None else bursts(cpu, threads)
    return lost_time(bursts(1, threads), taken, bursts(wait, threads), throttled, steal)


@pytest.mark.parametrize(
    ("cpu", "wait", "throttled", "steal", "threads", "share", "cause"),
    [
        (0.51, 0.49, 0.49, 0.01, 1, 0.49, "a CPU quota"),  # half a core; the wait contains the throttling
        (0.24, 0.76, 0.80, 0.01, 1, 0.76, "a CPU quota"),
        (0.25, 0.77, 1.47, 0.02, 2, 0.75, "a CPU quota"),  # two threads: throttling adds up over CPUs
        (0.50, 0.50, 0, 0.03, 1, 0.50, "other work on the same CPUs"),
        (0.01, 0.92, 0, 0.01, 1, 0.99, "other work on the same CPUs"),
        (0.57, 0.00, 0, 0.01, 1, 0.43, "suspended processes or other causes"),  # stopped 20 ms of 40
        (0.90, 0.01, 0, 0.09, 1, 0.10, "the hypervisor"),
    ],
)
def test_shares_and_causes(
    cpu: float, wait: float, throttled: float, steal: float, threads: int, share: float, cause: str
) -> None:
    lost = reading(cpu, wait, throttled, steal * threads, threads)
    assert lost.share == pytest.approx(share)
    assert lost.cause == cause
    assert lost.throttled == pytest.approx(throttled / threads)
    assert lost.steal == pytest.approx(steal)


def test_wait_and_throttling_are_never_added() -> None:
    lost = reading(None, 0.4, 0.4)
    assert lost.share == pytest.approx(0.4)
    assert reading(None, 0.1, 0.3).share == pytest.approx(0.3)
    assert reading(None, 0.3, 0.1).share == pytest.approx(0.3)


def test_each_lane_has_its_own_share_and_ranks_count_by_the_worst() -> None:
    wall, halves = bursts(1, 2), [[0.05] * 20, [0.025] * 20]
    lanes = lost_time(wall, halves, bursts(0, 2))
    assert lanes.by_thread == pytest.approx((0, 0.5))
    assert lanes.share == pytest.approx(0.25)
    ranks = lost_time(wall, None, halves)
    assert ranks.by_thread == pytest.approx((1, 0.5))
    assert ranks.share == pytest.approx(1)


def test_long_bursts_weigh_more() -> None:
    assert lost_time([[0.9, 0.1]], [[0.9, 0.0]], [[0, 0]]).share == pytest.approx(0.1)


def test_quotas_and_steal_of_more_threads_than_are_read() -> None:
    lost = lost_time(bursts(1), None, bursts(0), throttled_s=2.0, steal_s=1.0, threads=4)
    assert (lost.throttled, lost.steal, lost.share) == pytest.approx((0.5, 0.25, 0.5))


@pytest.mark.parametrize(
    ("share", "grades"),
    [(0.01, []), (0.03, [Grade.NOTE]), (0.05, [Grade.NOTE]), (0.06, [Grade.LIMITED]), (0.51, [Grade.INVALID])],
)
def test_grades(share: float, grades: list[Grade]) -> None:
    found = caveats_about_lost_time(LostShares(share, (share,), share, 0, 0, "other work on the same CPUs"))
    assert [one.grade for one in found] == grades


def test_texts_name_the_cause_and_steal_is_separate() -> None:
    (quota,) = caveats_about_lost_time(reading(0.24, 0.76, 0.76))
    assert quota.text == "76 % of the time was lost to a CPU quota: not measurable"
    (unseen,) = caveats_about_lost_time(reading(1, 0, 0, 0.2))
    assert (unseen.kind, unseen.text) == ("stolen time", "the hypervisor took 20 % of the CPU time")
    (seen,) = caveats_about_lost_time(reading(0.8, 0, 0, 0.2))
    assert (seen.kind, seen.text) == ("lost time", "20 % of the time was lost to the hypervisor")


def test_clocks_that_run_ahead_lose_nothing() -> None:
    assert reading(1.001, 0).share == 0


def test_readings_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="threads x bursts"):
        lost_time([[1, 1]], [[1]], [[0, 0]])
    with pytest.raises(ValueError, match="threads x bursts"):
        lost_time([1, 1], None, [0, 0])
    with pytest.raises(ValueError, match="no wall time"):
        lost_time([[0.0]], [[0.0]], [[0.0]])
    with pytest.raises(ValueError, match="no wall time"):
        lost_time([[]], None, [[]])


def test_waits_are_shares_of_the_time_that_was_measured() -> None:
    lost = lost_time([[10.0, 10.0]], [[10.0, 10.0]], [[1.0, 1.0]])
    assert lost.wait == pytest.approx(0.1)
    assert lost_time([[10.0]], None, [[25.0]]).wait == 1


def test_of_ranks_that_wait_for_each_other_the_one_with_the_least_cpu_time_counts() -> None:
    lost = lost_time(bursts(1, 2), [[0.05] * 20, [0.025] * 20], bursts(0, 2), together=True)
    assert (lost.share, *lost.by_thread) == pytest.approx((0.5, 0, 0.5))
    assert lost.cause == "suspended processes or other causes"


def test_a_cause_that_took_no_time_is_never_named() -> None:
    assert lost_time([[1.0]], [[1.0]], [[0.0]]).cause == "suspended processes or other causes"
    assert lost_time([[1.0]], None, [[0.0]]).cause == "suspended processes or other causes"


def test_the_wait_for_threads_of_the_same_launch_is_oversubscription_and_the_rest_other_work() -> None:
    own = lost_time([[1.0]], [[0.5]], [[0.5]], crowded=0.5)
    assert (own.cause, own.oversubscribed) == ("oversubscription", 0.5)
    mixed = lost_time([[1.0]], [[0.2]], [[0.8]], crowded=0.3)
    assert (mixed.cause, mixed.oversubscribed) == ("other work on the same CPUs", 0.3)
    few = lost_time([[1.0]], [[0.9]], [[0.1]], crowded=0.5)
    assert few.cause == "oversubscription"
    assert few.oversubscribed == pytest.approx(0.1)


def test_half_of_what_was_lost_names_the_cause() -> None:
    assert lost_time([[1.0]], [[0.5]], [[0.5]], throttled_s=0.25).cause == "a CPU quota"
    assert lost_time([[1.0]], [[0.5]], [[0.5]], throttled_s=0.2499).cause == "other work on the same CPUs"
    assert lost_time([[1.0]], [[0.5]], [[0.25]]).cause == "other work on the same CPUs"
    assert lost_time([[1.0]], [[0.5]], [[0.2499]], steal_s=0.25).cause == "the hypervisor"
