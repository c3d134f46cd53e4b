"""What has to be started for launches: some knobs of a workload take one value in each process."""

from collections.abc import Iterable

from octant import workloads
from octant.ask import Launch


def starts_of(launches: Iterable[Launch]) -> list[Launch]:
    """The starts for these launches, one after the other."""
    return [start for launch in launches for start in launch.starts(_one_by_one(launch.ask.subject.workload))]


def _one_by_one(workload: str) -> tuple[str, ...]:
    return (*workloads.alone_knobs(workload), *workloads.apart_knobs(workload))
