"""Limits of earlier runs of this machine, for a run that does not measure them.

`find_difference` decides alone which runs are comparable: every condition of a run counts unless `MAY_DIFFER` names it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from octant.analysis.conditions import MOMENTARY, NOT_SET, run_conditions
from octant.analysis.figures import known_limits
from octant.analysis.summary import provided_limits, summarise
from octant.limit import StoredLimit, variant_name
from octant.machine.system import VOLATILE
from octant.runs.limit_requests import plain_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.record import Point
    from octant.runs.limit_requests import NeededLimit
    from octant.store import Store, StoredRun

MAX_AGE = timedelta(hours=24)
"""Maximum age of a limit when the run that uses it starts."""
MAX_RUNS = 20
"""Maximum number of runs that are searched, newest first."""
MAY_DIFFER = frozenset({"MPI", "OCTANT_KERNELS", "OCTANT_STORE"}) | MOMENTARY | VOLATILE
"""Conditions without effect on a limit; the build of its kernel is compared by itself."""
_OF_JOBS = "SLURM_"  # variables that differ between any two jobs


def find_difference(run: StoredRun, now: StoredRun) -> str:
    """Return the first condition by which limits of a run do not hold for a new run; "" if all are equal.

    Args:
        now: the new run, without measurements.
    """
    before, after = run_conditions(run), run_conditions(now)
    for name in dict.fromkeys([*after, *before]):
        values = before.get(name, NOT_SET), after.get(name, NOT_SET)
        if name not in MAY_DIFFER and not name.startswith(_OF_JOBS) and values[0] != values[1]:
            return f"{name}: {values[0]}, now {values[1]}"
    return ""


def find_age_problem(measured: datetime, now: datetime) -> str:
    """Return why a limit is not used because of its age; "" if it may be used."""
    if measured > now:
        return "it was measured later"
    return f"it is older than {MAX_AGE // timedelta(hours=1)} hours" if now - measured > MAX_AGE else ""


@dataclass(frozen=True)
class LimitSearch:
    """Search for limits in the runs of a store."""

    where: Store
    now: StoredRun  # the new run, without measurements
    build_of: Callable[[str], str]  # the digest of the kernel of a workload that is installed now

    def find(self, needed: Sequence[NeededLimit]) -> list[tuple[StoredLimit, ...]]:
        """Return each limit by hardware threads, of the newest run that has it for as many; empty if none has it."""
        found: dict[int, tuple[StoredLimit, ...]] = {}
        for run in self._comparable_runs():
            missing = [(number, one) for number, one in enumerate(needed) if number not in found]
            for number, one in missing:
                if limits := self._of_run(run, one):
                    found[number] = limits
            if len(found) == len(needed):
                break
        return [found.get(number, ()) for number in range(len(needed))]

    def _comparable_runs(self) -> Iterator[StoredRun]:
        for run in islice(self.where.runs_like(self.now), MAX_RUNS):
            if self._started - datetime.fromisoformat(run.started) > MAX_AGE:
                return
            if not run.imported and not find_difference(run, self.now):
                yield run

    def _of_run(self, run: StoredRun, needed: NeededLimit) -> tuple[StoredLimit, ...]:
        """Return the best value of a run for each set of hardware threads.

        None if it has no usable one, or not of every setting of the request that would measure the limit: plain stores
        on base pages alone are no limit of streaming stores on huge pages.
        """
        points = tuple(point for point in run.points if self._may_provide(run, point, needed))
        if not points:
            return ()
        summary = summarise(replace(run, points=points))
        usable = [
            (figure, {needed.name: names[needed.name]})
            for figure, names in provided_limits(summary.every, summary.run.machine)
            if needed.name in names and self._is_fresh(figure)
        ]
        if not _settings(needed.request.cells(), needed) <= _settings((one.knobs for one, _ in usable), needed):
            return ()
        best = known_limits(usable, run.machine).by_name.get(needed.name, {})
        measured = min((_begun(figure) for figure, _ in usable), default=self._started)
        return tuple(
            StoredLimit(
                needed.name, one.value, tuple(sorted(number for _, number in threads)), run.id,
                measured.isoformat(timespec="seconds"), one.setting,
            )
            for threads, one in best.items()
            if len({host for host, _ in threads}) == 1
        )  # fmt: skip

    def _may_provide(self, run: StoredRun, point: Point, needed: NeededLimit) -> bool:
        """Return whether a point is of the limit, on as many hardware threads, in the same placement and build."""
        request, planned = run.request_of(point.launch), run.plans.get(point.launch)
        if point.workload != needed.provider or point.process.link or request is None or planned is None:
            return False
        of_pairs = needed.hardware_threads is None
        same_place = of_pairs or (
            request.shape.place == needed.request.shape.place and len(point.hardware_threads) == needed.hardware_threads
        )
        provides = needed.provides
        return (
            same_place
            and planned.build == self.build_of(point.workload)
            and variant_name(provides.name, provides.variant(point)) == needed.name
            and provides.when(run.machine, point)
        )

    def _is_fresh(self, figure: Figure) -> bool:
        return not find_age_problem(_begun(figure), self._started)

    @property
    def _started(self) -> datetime:
        return datetime.fromisoformat(self.now.started)


def _settings(cells: Iterable[Mapping[str, str]], needed: NeededLimit) -> set[tuple[str, ...]]:
    """Return the values of the knobs that are stated with a limit, of each cell."""
    return {tuple(plain_value(cell.get(name, "")) for name in needed.provides.setting) for cell in cells}


def _begun(figure: Figure) -> datetime:
    """Return the start of the first launch of a figure; the oldest one decides its age."""
    begun = [start for launch in figure.counted if (start := launch.point.process.begun)]
    return min(begun, default=datetime.min.replace(tzinfo=UTC))
