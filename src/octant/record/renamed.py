"""Points and failures with old names, under current names (see `octant.renamed`)."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from octant import renamed
from octant.record import Failure, Head, Point, Reduced, Result, Samples, Series, Work
from octant.renamed import NO_NAMES, FormerWorkload, OldNames


def current_point(point: Point) -> Point:
    """Return a point under current names."""
    names, former = renamed.names_of(point.workload), renamed.former_workload(point.workload)
    if names is NO_NAMES:
        return point
    return replace(
        point,
        workload=renamed.current_workload(point.workload),
        knobs=_knobs(point.workload, point.knobs, former),
        work=tuple(_work(work, names, former) for work in point.work),
        results=tuple(_result(result, names) for result in point.results),
        heads=tuple(_head(head, names) for head in point.heads),
        read=_reader(point.read, names),
    )


def current_failure(failure: Failure) -> Failure:
    """Return a failure under current names."""
    names, former = renamed.names_of(failure.workload), renamed.former_workload(failure.workload)
    if names is NO_NAMES:
        return failure
    return replace(
        failure,
        workload=renamed.current_workload(failure.workload),
        knobs=_knobs(failure.workload, failure.knobs, former),
    )


def _knobs(workload: str, knobs: Mapping[str, str], former: FormerWorkload | None) -> dict[str, str]:
    return {**(former.knobs if former else {}), **renamed.current_knobs(workload, knobs)}


def _work(work: Work, names: OldNames, former: FormerWorkload | None) -> Work:
    counts = {names.counts.get(name, name): count for name, count in work.counts.items()}
    added = {new: counts[old] for new, old in former.counts.items() if old in counts} if former else {}
    by_rank = {names.counts.get(name, name): each for name, each in work.by_rank.items()}
    return replace(work, counts={**added, **counts}, by_rank=by_rank, role=names.roles.get(work.role, work.role))


def _result(result: Result, names: OldNames) -> Result:
    return replace(result, name=names.results[result.name]) if result.name in names.results else result


def _head(head: Head, names: OldNames) -> Head:
    return replace(head, name=names.series(head.name), role=names.roles.get(head.role, head.role))


def _reader(read: Callable[[], Samples], names: OldNames) -> Callable[[], Samples]:
    if not (names.phases or names.readings or names.roles):
        return read

    def reduced(one: Reduced) -> Reduced:
        return replace(one, name=names.series(one.name), role=names.roles.get(one.role, one.role))

    def series(one: Series) -> Series:
        return replace(one, head=_head(one.head, names))

    def current() -> Samples:
        samples = read()
        return Samples(tuple(map(series, samples.series)), tuple(map(reduced, samples.reduced)))

    return current
