"""Functions that all launchers use to write and read options, masks and remarks."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from octant.launchers._reading import LauncherReading
from octant.machine import CpuSet, Topology
from octant.placement import Placement, RankPlacement
from octant.placement.nonempty import NonEmptySet
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.recognise import recognise
from octant.placement.remarks import remarks as facts
from octant.placement.request import MAX_NODE_THREADS, Memory, PlacementRequest

PROGRAM = "PROGRAM"
DOCUMENTED = "the rules of this launcher are from its documentation; they were not compared with the launcher itself"
LONGEST_OPTIONS = 1 << 16
"""Characters of lines of options; rank files and map files may be longer."""
MAX_RANKS = 1 << 12
"""Of one node, and threads of one of its ranks."""
ACCUMULATES = "LoadLeveler's default accumulates tasks on one MCM and leaves the others idle; add mcm_distribute"
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def rank_sets(placement: Placement) -> list[NonEmptySet]:
    """Return the hardware threads of each rank."""
    return [place.cpus for place in placement.ranks]


def simplify_request(placement: Placement, request: PlacementRequest, topology: Topology) -> PlacementRequest:
    """Return the request without lists if a plain one gives the same masks."""
    if not request.cpus:
        return request
    found = recognise(rank_sets(placement), topology, request.threads)
    return replace(request, unit=found.unit, order=found.order, smt=found.smt, share=found.share, cpus=found.cpus)


def whole_cores(sets: Sequence[CpuSet], topology: Topology) -> bool:
    """Return whether each set consists of cores with all their usable threads."""
    cores = [core & topology.allowed for core in topology.groups("core")]
    return all(core <= held for held in sets for core in cores if core & held)


def siblings_used(sets: Sequence[CpuSet], topology: Topology) -> int:
    """Return the largest number of hardware threads of one core in one set."""
    return max((len(core & held) for held in sets for core in topology.groups("core")), default=1)


def cores_each(place: RankPlacement, topology: Topology) -> int:
    """Return the number of cores that a rank touches."""
    return sum(1 for core in topology.groups("core") if core & place.cpus)


def openmp_line(request: PlacementRequest) -> tuple[str, ...]:
    """Return the OpenMP variables for the threads inside a rank, which launchers do not set."""
    if request.threads == 1:
        return ()
    if request.unit not in ("hwthread", "core"):
        return (f"export OMP_NUM_THREADS={request.threads} OMP_PROC_BIND=false",)
    places = {"hwthread": "threads", "core": "cores"}[request.unit]
    return (f"export OMP_NUM_THREADS={request.threads} OMP_PLACES={places} OMP_PROC_BIND=close",)


def heap_line(request: PlacementRequest) -> tuple[str, ...]:
    """Return the line that enables huge pages for the heap of a program (glibc 2.35 or newer)."""
    if request.heap != "huge" and request.pages not in ("thp", "2m"):
        return ()
    return (f"export GLIBC_TUNABLES=glibc.malloc.hugetlb={2 if request.pages == '2m' else 1}",)


def no_memory(
    request: PlacementRequest, who: str, alternative: str = "numactl inside the launcher, or octant-bind"
) -> list[str]:
    """Return the remark that a launcher sets no memory policy, if one was requested."""
    if request.memory.policy in ("default", "local"):
        return []
    return [f"{who} sets no memory policy; for memory={request.memory} use {alternative}"]


def no_pages(request: PlacementRequest) -> list[str]:
    """Return the remark on page sizes that only the program itself or octant-bind can request."""
    requested = [] if request.pages in ("default", "4k", "thp", "2m") else [f"pages={request.pages}"]
    requested += [f"{segment}=huge" for segment in request.huge_segments]
    return (
        [f"{', '.join(requested)} cannot be requested from outside the program; use octant-bind"] if requested else []
    )


def no_threads(placement: Placement, who: str) -> list[str]:
    """Return the remark that a launcher binds ranks, not their threads."""
    if all(len(set(place.threads)) <= 1 for place in placement.ranks):
        return []
    return [f"{who} binds ranks, not threads: the OpenMP runtime places the threads inside each rank's mask"]


@dataclass(frozen=True)
class CommandLine:
    """A command line: the assignments before it, and its arguments, the program first."""

    variables: dict[str, str]
    arguments: list[str]

    def option(self, *names: str) -> str | None:
        """Return the value of the first of these options, as `-x v`, `--x=v` or `-xv` for one-letter ones."""
        for i, word in enumerate(self.arguments):
            for name in names:
                if word == name:
                    return self.arguments[i + 1] if i + 1 < len(self.arguments) else ""
                if word.startswith(name + "="):
                    return word[len(name) + 1 :]
                if re.fullmatch(r"-\w", name) and re.fullmatch(re.escape(name) + r"\d+", word):
                    return word[len(name) :]
        return None

    def number(self, *names: str, most: int = MAX_RANKS) -> int | None:
        """Return the value of the first of these options as a number from 1 to `most`.

        Raises:
            ValueError: it is none.
        """
        value = self.option(*names)
        return None if value is None else whole(names[0], value, most)

    def value(self, variable: str) -> str:
        """Return the value of a variable.

        Raises:
            ValueError: the text names it without setting it.
        """
        if variable not in self.variables:
            raise ValueError(
                f"cannot find {variable}=VALUE among the variables of these lines; add export {variable}=…"
            )
        return self.variables[variable]

    def threads(self) -> int | None:
        """OpenMP's number of threads, of the outermost level.

        Raises:
            ValueError: it is no number.
        """
        value = self.variables.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return whole("OMP_NUM_THREADS", value) if value else None

    def number_of(self, variable: str) -> int | None:
        """Return a variable's value as a number of at least 1.

        Raises:
            ValueError: it is none.
        """
        value = self.variables.get(variable)
        return None if value is None else whole(variable, value)


def whole(name: str, value: str, most: int = MAX_RANKS, least: int = 1) -> int:
    """Parse a number and check its bounds.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch("[0-9]{1,9}", value) or not least <= int(value) <= most:
        raise ValueError(f"cannot read {name} {value[:60]}: it is not an integer from {least} to {most}")
    return int(value)


def read_line(text: str) -> CommandLine:
    """Parse assignments and arguments (`export A=b`, `A=b mpiexec -n 4 prog`); lines may end in `\\`.

    Raises:
        ValueError: too long, or with an open quotation.
    """
    if len(text) > LONGEST_OPTIONS:
        raise ValueError(
            f"cannot read lines of {len(text)} characters (at most {LONGEST_OPTIONS}); give the lines of one launch"
        )
    variables: dict[str, str] = {}
    words: list[str] = []
    for row in text.replace("\\\n", " ").splitlines():
        try:
            pieces = shlex.split(re.sub(r"^(export|env)\s+", "", row.strip()), comments=True)
        except ValueError as error:
            raise ValueError(f"cannot read {row.strip()!r} ({str(error).lower()})") from None
        begin = next((at for at, piece in enumerate(pieces) if not _ASSIGNMENT.match(piece)), len(pieces))
        variables |= dict(piece.split("=", 1) for piece in pieces[:begin])
        words += pieces[begin:]
    for at, word in enumerate(words[:-1]):  # `-x A=b` of Open MPI, `-genv A b` and `-genv A=b` of Hydra, `env A=b`
        if word in ("-x", "-env", "-genv", "--env", "--genv", "env"):
            name, equals, value = words[at + 1].partition("=")
            if equals or (word.endswith("env") and word != "env" and at + 2 < len(words)):
                variables.setdefault(name, value if equals else words[at + 2])
    return CommandLine(variables, words)


def reading_of_request(request: PlacementRequest, topology: Topology, remarks: Sequence[str] = ()) -> LauncherReading:
    """Return a reading whose placement is the plan of a request.

    Raises:
        DoesNotFit: the topology cannot hold it.
    """
    placement = plan(topology, request)
    return LauncherReading(request, placement, (*remarks, *placement.remarks))


def fill_ranks(request: PlacementRequest, topology: Topology) -> tuple[PlacementRequest, tuple[str, ...]]:
    """Return the request with as many ranks as fit, for lines without a number of ranks, and a remark."""
    too_many = max(1, min(len(topology.cpus) + 1, MAX_NODE_THREADS // request.threads))
    try:
        plan(topology, replace(request, ranks=too_many, oversubscribe=False))
    except DoesNotFitError as refusal:
        if refusal.largest is not None:
            ranks = refusal.largest.ranks
            return replace(request, ranks=ranks), (f"no number of ranks given: the maximum of {ranks} is assumed",)
    return request, ()


def reading_of_masks(
    sets: Sequence[CpuSet], topology: Topology, threads: int | None, notes: Sequence[str] = ()
) -> LauncherReading:
    """Return the reading of one mask per rank; an OpenMP runtime is assumed to divide it among threads.

    Raises:
        ValueError: no masks, or too many threads.
    """
    if not sets:
        raise ValueError("cannot interpret these lines (none of them starts a rank); give a complete command line")
    if len(sets) * (threads or 1) > MAX_NODE_THREADS:
        raise ValueError(
            f"cannot place {len(sets)} ranks x {threads or 1} threads on one node (more than {MAX_NODE_THREADS}); reduce them"
        )
    request = recognise(sets, topology, threads)
    try:
        ranks = plan(topology, request).ranks
    except DoesNotFitError:
        ranks = tuple(
            RankPlacement.of_threads(i, (held,) * (threads or 1), _nodes(held, topology)) for i, held in enumerate(sets)
        )
    return LauncherReading(request, Placement(ranks, facts(ranks, topology)), (*notes, *facts(ranks, topology)))


def with_memory(read: LauncherReading, memories: Sequence[Memory], topology: Topology) -> LauncherReading:
    """Return the reading with a memory policy for each rank."""
    every = tuple(node.os for node in topology.usable_nodes())
    ranks = tuple(
        replace(place, memory=memory.nodes or (every if memory.policy == "interleave" else place.memory))
        for place, memory in zip(read.placement.ranks, memories, strict=True)
    )
    memory = memories[-1]
    own = all(m.nodes == _nodes(place.cpus, topology) for m, place in zip(memories, ranks, strict=True))
    notes: tuple[str, ...] = ()
    if len(set(memories)) > 1:
        if own and {m.policy for m in memories} == {"bind"}:
            memory = Memory("bind")
        else:
            notes = (
                "ranks have different memory policies: the syntax of other launchers uses the policy of the last line",
            )
    request = replace(read.request, memory=memory)
    return LauncherReading(request, replace(read.placement, ranks=ranks), (*notes, *read.remarks))


def _nodes(held: CpuSet, topology: Topology) -> tuple[int, ...]:
    return tuple(node.os for node in topology.numa if node.cpus & held)
