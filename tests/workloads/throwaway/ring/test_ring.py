"""What ring declares."""

from octant.workloads import workload


def test_the_headline_is_what_is_handed_over() -> None:
    assert workload("ring").metric().name == "handovers"
