"""numactl: hardware threads and a memory policy for one process."""

import re
from collections.abc import Sequence

from octant.launchers import LauncherReading, Syntax, _command, _reading, _tables, _words, _writing
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.placement import Placement, RankPlacement, numbers_text, set_text
from octant.placement.request import Memory, PlacementRequest

TITLE = "numactl"
MARK = r"^[ \t]*(\w+=\S+[ \t]+)*numactl\s"
BINDS = "process"
READS = ("numactl",)
OPTIONS = _tables.table(
    _tables.interpreted("all|a localalloc|l"),
    _tables.interpreted("physcpubind|C cpunodebind|N interleave|i membind|m preferred|p", 1),
    _tables.not_read("it distributes pages by weights", "weighted-interleave|w", 1),
    _tables.not_read("it is a list of preferred nodes", "preferred-many|P", 1),
    _tables.not_read("its meaning depends on the version; use --cpunodebind or --physcpubind", "cpubind|c", 1),
    _tables.irrelevant("it concerns shared memory", "huge|u touch|T strict|t"),
    _tables.irrelevant("it concerns shared memory", "shm|S file|f shmid|I shmmode|M length|L offset|o", 1),
    _tables.irrelevant("it concerns page migration by the kernel", "balancing|b"),
    _tables.refused("it prints information and starts no program", "hardware|H show|s help|h version|V"),
    _tables.refused("it changes pages of shared memory and starts no program", "dump|d dump-nodes|D verify|v"),
)
"""Options of numactl 2.0.16 to 2.0.18: its manual page and `numactl --help`."""
VARIABLES: _tables.Table = {}


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options as getopt_long does."""
    return _words.getopt(words, OPTIONS)


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return one command per rank, with `--cpunodebind` for whole NUMA nodes and CPU numbers otherwise."""
    lines = []
    nodes = {node.cpus & topology.allowed: node.os for node in topology.numa}
    for place in placement.ranks:
        node = nodes.get(place.cpus)
        where = f"--physcpubind={set_text(place.cpus)}" if node is None else f"--cpunodebind={node}"
        lines.append(" ".join(filter(None, ["numactl", where, memory_option(request, place), _writing.PROGRAM])))
    cannot = [*_writing.thread_remarks(placement, "numactl"), *_writing.page_remarks(request)]
    if len(lines) > 1:
        cannot.append("numactl starts no ranks: use one line per local rank, selected in a wrapper script")
    return Syntax((*_writing.openmp_line(request), *_writing.heap_line(request), *lines), True, tuple(cannot))


def memory_option(request: PlacementRequest, place: RankPlacement) -> str:
    """Return the option for the memory policy of the request, empty for the default one.

    Raises:
        Refusal: the policy needs nodes, and none is known.
    """
    names = {"local": "--localalloc", "bind": "--membind", "interleave": "--interleave", "preferred": "--preferred"}
    name = names.get(request.memory.policy, "")
    return name if name in ("", "--localalloc") else f"{name}={set_text(place.memory_set())}"


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read one rank per line. Numbers with a leading `+` count within what the job may use; others are the system's."""
    sets: list[CpuSet] = []
    notes: list[str] = []
    memories: list[Memory] = []
    for row in command.rows:
        usable = frozenset(cpu.os for cpu in topology.cpus) if row.has("all") else topology.allowed
        chosen = [(name, value[0]) for name, value in row.given.all_values if name in ("physcpubind", "cpunodebind")]
        kind, value = (
            chosen[-1] if chosen else ("", "")
        )  # numactl applies the options one after the other: the last one counts
        held = topology.allowed
        if kind == "physcpubind":
            held = _numbers(value, sorted(usable))
        elif kind == "cpunodebind":
            node, wanted = value, _nodes(value, topology)
            held = frozenset().union(*(n.cpus for n in topology.numa if n.os in wanted)) & topology.allowed
            if not held:
                raise ValueError(
                    f"cannot bind to the hardware threads of NUMA node {node}: this job may use none of them; "
                    "choose another node"
                )
        outside = held - usable
        if outside:
            notes.append(f"numactl refuses hardware threads {numbers_text(outside)}: this job may not use them")
        sets.append(held)
        memories.append(_memory(row, topology))
    if any(memory.policy == "bind" for memory in memories):
        notes.append(
            "with --membind, the program is killed when these nodes are full; with --preferred, other nodes are used"
        )
    count = command.threads()
    return _reading.add_memory(_reading.reading_of_masks(sets, topology, count, notes), memories, topology)


def _numbers(text: str, usable: list[int]) -> CpuSet:
    """Parse a list of numactl: `all`, `0-3,8`, `+0-1` within the usable ones, `!0-3` all others.

    Raises:
        ValueError: another form, or a number that does not exist.
    """
    inverse, listed = text.startswith("!"), text.removeprefix("!")
    relative, listed = listed.startswith("+"), listed.removeprefix("+")
    if not inverse and not relative and listed == "all":
        return frozenset(usable)
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", listed):
        raise ValueError(f"cannot read {text[:60]!r} as a list of numactl; use 0-3,8, +0-1, !0-3 or all")
    numbers = parse_cpus(listed)
    if relative:
        if max(numbers) >= len(usable):
            raise ValueError(f"cannot use {text}: only {len(usable)} are available to this job")
        numbers = frozenset(usable[place] for place in numbers)
    held = frozenset(usable) - numbers if inverse else numbers
    if not held:
        raise ValueError(f"cannot use {text}: the result is empty; choose other numbers")
    return held


def _nodes(text: str, topology: Topology) -> CpuSet:
    known = frozenset(n.os for n in topology.numa)
    wanted = _numbers(text, sorted(known))
    if wanted - known:
        raise ValueError(f"cannot use NUMA node {numbers_text(wanted - known)}: it does not exist on this topology")
    return wanted


def _memory(row: _command.LauncherCommand, topology: Topology) -> Memory:
    if row.has("localalloc"):
        return Memory("local")
    for policy, name in (("bind", "membind"), ("interleave", "interleave"), ("preferred", "preferred")):
        value = row.last(name)
        if value is not None:
            return Memory(policy, tuple(sorted(_nodes(value, topology))))  # type: ignore[arg-type]
    return Memory()
