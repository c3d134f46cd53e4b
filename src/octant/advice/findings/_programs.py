"""What rules on users' programs look at: each cell with what its launches occupied."""

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
    """One cell of a program with a right answer."""

    summary: Summary
    figure: Figure
    request: Request
    occupied: Occupancy | None  # of the launch in which most was seen; `None`: nothing was read back

    def middle(self, metric: str) -> float:
        """The median of a metric; 0 where it has no value."""
        figure = self.summary.figure(self.figure, metric)
        return figure.value.middle if figure and figure.value else 0.0

    @property
    def cores_used(self) -> float:
        """CPU time over wall time."""
        return self.middle(CORES_USED)

    @property
    def shares_cpus(self) -> bool:
        """Whether threads that had work waited for a hardware thread.

        By the kernel's pressure-stall information, else by how often threads were preempted. Threads that were seen
        may have run one after the other, so that their number alone does not say it.
        """
        shares = [share for point in self.figure.points if (share := cpu_pressure(point)) is not None]
        if shares:
            return sum(shares) / len(shares) >= PRESSURE
        wall_s = self.middle(WALL)
        return bool(wall_s) and self.middle(PREEMPTIONS) / wall_s >= PREEMPTIONS_A_SECOND

    def line(self, environment: Mapping[str, str] | None = None, place: str = "", **changed: str) -> tuple[str, ...]:
        """The command that measures this cell alone, with other variables, placement or values of knobs."""
        return program_line(self.request, {**self._knobs, **changed}, environment, place)

    def under(self, *tool: str) -> tuple[str, ...]:
        """The command line of this cell behind the words of another tool."""
        return plain_line(self.request, self._knobs, tool)

    @property
    def _knobs(self) -> dict[str, str]:
        return {name: self.figure.knobs.get(name, value) for name, value in self.request.knobs.items()}


def program_cells(summary: Summary) -> list[ProgramCell]:
    """The cells of users' programs with a value, in the order of the run; none of a run of kernels."""
    found = []
    for figure in summary.figures:
        request = summary.run.request_of(figure.point.launch) if is_program(figure.workload.name) else None
        if request is not None and request.subject.command and figure.value is not None:
            found.append(ProgramCell(summary, figure, request, most_occupied(figure.points)))
    return found


def glibc_tunables(known: Mapping[str, str], *settings: str) -> dict[str, str]:
    """The variable of glibc's tunables with these added to those that are set: one variable carries all."""
    name = "GLIBC_TUNABLES"
    names = {one.partition("=")[0] for one in settings}
    kept: Sequence[str] = [one for one in known.get(name, "").split(":") if one and one.partition("=")[0] not in names]
    return {name: ":".join([*kept, *settings])}


def crowd(cell: ProgramCell) -> tuple[int, frozenset[int]]:
    """How many ranks of a host are bound to the same hardware threads, of which there are fewer, and to which.

    No rank where all hardware threads of the machine are allowed, or where too few are free for all ranks.
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
