"""numactl: hardware threads and a memory policy for one process."""

from octant.launchers import Reading, Syntax, _shared
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement, RankPlace, numbers_text, set_text
from octant.placement.request import Memory, Request

TITLE = "numactl"
MARK = r"^[ \t]*(\w+=\S+[ \t]+)*numactl\s"
BINDS = "process"
_VALUED = ("-C", "--physcpubind", "-N", "--cpunodebind", "-i", "--interleave", "-m", "--membind", "-p", "--preferred")


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One command per rank; whole memory nodes by `--cpunodebind`, else by the system's numbers."""
    lines = []
    nodes = {node.cpus & topology.allowed: node.os for node in topology.numa}
    for place in placement.ranks:
        node = nodes.get(place.cpus)
        where = f"--physcpubind={set_text(place.cpus)}" if node is None else f"--cpunodebind={node}"
        lines.append(" ".join(filter(None, ["numactl", where, memory_option(request, place), _shared.PROGRAM])))
    cannot = [*_shared.no_threads(placement, "numactl"), *_shared.no_pages(request)]
    if len(lines) > 1:
        cannot.append("numactl starts no ranks: each line belongs to one local rank, chosen in a wrapper script")
    return Syntax((*_shared.openmp_line(request), *_shared.heap_line(request), *lines), True, tuple(cannot))


def memory_option(request: Request, place: RankPlace) -> str:
    """The option for the request's memory policy, empty for the default one.

    Raises:
        Refusal: the policy needs nodes, and none is known.
    """
    names = {"local": "--localalloc", "bind": "--membind", "interleave": "--interleave", "preferred": "--preferred"}
    name = names.get(request.memory.policy, "")
    return name if name in ("", "--localalloc") else f"{name}={set_text(place.memory_set())}"


def from_syntax(text: str, topology: Topology) -> Reading:
    """One rank per line. Numbers with a leading `+` count within what the job may use; others are the system's."""
    sets: list[CpuSet] = []
    notes: list[str] = []
    memories: list[Memory] = []
    for row in filter(None, (part.strip() for part in text.splitlines())):
        line = _shared.read_line(row)
        if line.arguments[:1] != ["numactl"]:
            continue
        line = _shared.Line(line.variables, _shared.own_arguments(line.arguments, _VALUED))
        cpus = line.option("--physcpubind", "-C")
        node = line.option("--cpunodebind", "-N")
        held = topology.allowed
        if cpus is not None:
            held = _cpus(cpus, sorted(topology.allowed))
        elif node is not None:
            wanted = _nodes(node, topology)
            held = frozenset().union(*(n.cpus for n in topology.numa if n.os in wanted)) & topology.allowed
            if not held:
                raise ValueError(f"cannot bind to the hardware threads of memory node {node}: it has none for this job")
        outside = held - topology.allowed
        if outside:
            notes.append(f"numactl refuses hardware threads {numbers_text(outside)}: this job may not use them")
        sets.append(held)
        memories.append(_memory(line, topology))
    if any(memory.policy == "bind" for memory in memories):
        notes.append("--membind ends the program when those nodes are full; --preferred would go elsewhere")
    count = _shared.read_line(text).threads()
    return _shared.with_memory(_shared.reading_of_masks(sets, topology, count, notes), memories, topology)


def _cpus(text: str, allowed: list[int]) -> CpuSet:
    if text == "all":
        return frozenset(allowed)
    if not text.startswith("+"):
        return parse_cpus(text)
    places = parse_cpus(text[1:])
    if max(places) >= len(allowed):
        raise ValueError(f"cannot use {text}: the job has {len(allowed)} hardware threads")
    return frozenset(allowed[place] for place in places)


def _nodes(text: str, topology: Topology) -> CpuSet:
    known = frozenset(n.os for n in topology.numa)
    wanted = known if text == "all" else parse_cpus(text)
    if wanted - known:
        raise ValueError(f"cannot use memory node {numbers_text(wanted - known)}: there is none on this topology")
    return wanted


def _memory(line: _shared.Line, topology: Topology) -> Memory:
    if "--localalloc" in line.arguments or "-l" in line.arguments:
        return Memory("local")
    for policy, names in (("bind", ("--membind", "-m")), ("interleave", ("--interleave", "-i")),
                          ("preferred", ("--preferred", "-p"))):  # fmt: skip
        value = line.option(*names)
        if value is not None:
            return Memory(policy, tuple(sorted(_nodes(value, topology))))  # type: ignore[arg-type]
    return Memory()
