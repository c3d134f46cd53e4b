"""Cells of users' programs, with the resources that their launches occupied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings._program_lines import plain_line, program_line
from octant.advice.findings._thresholds import PREEMPTIONS_A_SECOND, PRESSURE
from octant.analysis.lost import cpu_pressure
from octant.analysis.occupancy import most_occupied
from octant.analysis.program import CORES_USED, PREEMPTIONS, WALL
from octant.program import is_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.occupancy import Occupancy
    from octant.analysis.summary import Summary
    from octant.request import Request


@dataclass(frozen=True)
class ProgramCell:
    """Cell of a program with a correct result."""

    summary: Summary
    figure: Figure
    request: Request
    occupied: Occupancy | None  # of the launch with the largest occupancy; `None`: not recorded

    def middle(self, metric: str) -> float:
        """Return the median of a metric; 0 if it has no value."""
        figure = self.summary.figure(self.figure, metric)
        return figure.value.middle if figure and figure.value else 0.0

    @property
    def cores_used(self) -> float:
        """CPU time over wall time."""
        return self.middle(CORES_USED)

    @property
    def shares_cpus(self) -> bool:
        """Whether ready threads waited for a hardware thread.

        The source is the kernel's pressure-stall information, otherwise the rate of preemptions. The number of threads
        is not sufficient, because they may have run at different times.
        """
        shares = [share for point in self.figure.points if (share := cpu_pressure(point)) is not None]
        if shares:
            return sum(shares) / len(shares) >= PRESSURE
        wall_s = self.middle(WALL)
        return bool(wall_s) and self.middle(PREEMPTIONS) / wall_s >= PREEMPTIONS_A_SECOND

    def line(self, environment: Mapping[str, str] | None = None, place: str = "", **changed: str) -> tuple[str, ...]:
        """Return the command that measures only this cell, with other variables, placement or knobs."""
        return program_line(self.request, {**self._knobs, **changed}, environment, place)

    def under(self, *tool: str) -> tuple[str, ...]:
        """Return the command line of this cell under another tool."""
        return plain_line(self.request, self._knobs, tool)

    @property
    def _knobs(self) -> dict[str, str]:
        return {name: self.figure.knobs.get(name, value) for name, value in self.request.knobs.items()}


def program_cells(summary: Summary) -> list[ProgramCell]:
    """Return the cells of users' programs with a value, in the order of the run."""
    found = []
    for figure in summary.figures:
        request = summary.run.request_of(figure.point.launch) if is_program(figure.workload.name) else None
        if request is not None and request.subject.command and figure.value is not None:
            found.append(ProgramCell(summary, figure, request, most_occupied(figure.points)))
    return found


def glibc_tunables(known: Mapping[str, str], *settings: str) -> dict[str, str]:
    """Return the variable GLIBC_TUNABLES with these settings added to the existing ones."""
    name = "GLIBC_TUNABLES"
    names = {one.partition("=")[0] for one in settings}
    kept: Sequence[str] = [one for one in known.get(name, "").split(":") if one and one.partition("=")[0] not in names]
    return {name: ":".join([*kept, *settings])}


def shared_mask(cell: ProgramCell) -> tuple[int, frozenset[int]]:
    """Count the ranks of a host that are bound to the same, too few hardware threads; return both.

    The count is 0 if all hardware threads of the machine are allowed, or if there are too few for all ranks.
    """
    usable = {cpu.os for cpu in cell.summary.run.machine.topology.usable()}
    found: tuple[int, frozenset[int]] = (0, frozenset())
    for ranks in cell.occupied.by_host.values() if cell.occupied else ():
        masks = [rank.cpus for rank in ranks if rank.cpus]
        for mask in set(masks):
            number = masks.count(mask)
            if mask != usable and number > len(mask) and number > found[0] and len(ranks) <= len(usable):
                found = (number, mask)
    return found
