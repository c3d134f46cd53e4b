"""What relay declares."""

from octant.workloads import workload


def test_the_headline_is_what_is_handed_over() -> None:
    assert workload("relay").metric().name == "handovers"
