"""What the step of a workload declares, compared with what its kernel counted in a point."""

from collections.abc import Collection

from octant import workloads
from octant.record import Point, known_count
from octant.step import Step


def declared(point: Point) -> Step:
    """The step of a point's knobs, ranks of a group, and threads."""
    step = workloads.workload(point.workload).step
    assert step is not None
    ranks = known_count(point.working_ranks) // max(1, len(point.groups))
    return step(point.knobs, ranks, known_count(point.threads))


def differences(
    point: Point, step: Step, but: Collection[str] = (), may_be_missing: Collection[str] = ()
) -> dict[str, tuple[float | None, float | None]]:
    """What the kernel counts and the step declares, where they differ.

    Args:
        point: of one group, or of several alike.
        step: of each of them.
        but: counts that are not compared.
        may_be_missing: counts that the step need not declare.
    """
    groups = max(1, len(point.groups))
    names = dict.fromkeys(name for work in point.work_of(None) for name in work.counts)
    found: dict[str, float] = {"messages": 0, "bytes_sent": 0, **{name: point.count(name) / groups for name in names}}
    said = {**step.counts, "messages": step.messages, "bytes_sent": step.bytes_sent}
    compared = ({*found, *said} - set(may_be_missing) - set(but)) | {*step.counts}
    return {name: (found.get(name), said.get(name)) for name in compared if found.get(name) != said.get(name)}


def differences_of_any(point: Point) -> dict[str, tuple[float | None, float | None]]:
    """The same of any point: nothing where no step is declared for its knobs.

    Ranks that share memory send no messages, where the step takes them to be apart; and what data decide is no mistake.
    """
    try:
        step = declared(point) if workloads.workload(point.workload).step else None
    except (KeyError, ValueError):
        return {}
    if step is None:
        return {}
    apart = point.count("bytes_sent") == 0 or not all(part.exact for part in step.parts)
    counted = {name for work in point.work_of(None) for name in work.counts}
    return differences(point, step, ("messages", "bytes_sent") if apart else (), counted - {"messages", "bytes_sent"})
