"""What the runtimes of OpenMP have in common: threads of one rank, and variables that contradict each other."""

import re
from collections.abc import Sequence

from octant.launchers import LauncherReading, _command, _line
from octant.machine import CpuSet, NotKnownError, Topology
from octant.placement import Placement, RankPlacement
from octant.placement.expressions import objects
from octant.placement.recognise import recognise
from octant.placement.remarks import remarks as facts
from octant.placement.request import MAX_NODE_THREADS

_BINDS = ("close", "spread", "master", "primary", "true", "false")
_PLACES = {"threads": "thread", "cores": "core", "sockets": "package", "numa_domains": "numa", "ll_caches": "l4"}
_VENDORS = ("KMP_AFFINITY", "GOMP_CPU_AFFINITY")


def one_rank(sets: tuple[CpuSet, ...], topology: Topology, notes: list[str]) -> LauncherReading:
    """Return the reading of the threads of one rank."""
    cpus = frozenset().union(*sets)
    nodes = tuple(node.os for node in topology.numa if node.cpus & cpus)
    ranks = (RankPlacement.of_threads(0, sets, nodes),)
    if len(set(sets)) < len(sets) and sets[0] != topology.allowed:
        notes.append("several threads are bound to the same place")
    request = recognise([cpus], topology, len(sets))
    return LauncherReading(request, Placement(ranks, facts(ranks, topology)), (*notes, *facts(ranks, topology)))


def runtimes(variables: dict[str, str]) -> list[str]:
    """Return remarks on variables of two or more runtimes."""
    vendors = [name for name in _VENDORS if name in variables]
    if len(vendors) == 2:
        return [
            "KMP_AFFINITY and GOMP_CPU_AFFINITY are both set: if a process has two OpenMP runtimes (typically "
            "gcc and MKL), all threads run on one hardware thread; unset one of them"
        ]
    if vendors == ["KMP_AFFINITY"] and "OMP_PLACES" in variables:
        return [
            "KMP_AFFINITY overrides OMP_PLACES in the runtimes of Intel and LLVM, sometimes without a warning; "
            "unset one of them"
        ]
    return []


def read(command: _command.Command, topology: Topology) -> LauncherReading:
    """Return the thread placement of the GNU runtime; other runtimes treat invalid values differently."""
    variables = command.variables
    notes = runtimes(variables)
    places: list[CpuSet] = []
    if "OMP_PLACES" in variables:
        try:
            places = parse_places(variables["OMP_PLACES"], topology)
        except NotKnownError:
            raise
        except ValueError as error:
            notes.append(f"{error}: the GNU runtime warns and ignores it")
    return bound_threads(command, places, topology, notes)


def bound_threads(
    command: _command.Command, places: Sequence[CpuSet], topology: Topology, notes: list[str]
) -> LauncherReading:
    """Return the reading of the threads of one rank on places, as OMP_PROC_BIND says; no places: none are stated."""
    count = command.threads() or len(topology.allowed)  # GNU's runtime counts the CPUs of its mask
    policy = command.variables.get("OMP_PROC_BIND", "").split(",")[0].strip().lower()
    if policy and policy not in _BINDS:
        then = "uses OMP_PLACES alone" if places else "runs unbound"
        notes.append(
            f"OMP_PROC_BIND={policy} is not a value of OpenMP (valid: {', '.join(_BINDS)}): the GNU runtime "
            f"warns and {then}; cores is a value of OMP_PLACES"
        )
        policy = ""
    policy = policy or ("true" if places else "false")
    if policy == "false":
        if not notes:
            notes.append("no binding requested: every thread may run on all hardware threads of its rank")
        return one_rank((topology.allowed,) * count, topology, notes)
    return one_rank(thread_places(places or objects(topology, "thread"), count, policy), topology, notes)


def thread_places(places: Sequence[CpuSet], threads: int, policy: str) -> tuple[CpuSet, ...]:
    """Return the place of each thread; the first thread is on the first place (OpenMP 5.2, section 10.1.3)."""
    count = len(places)
    if policy in ("master", "primary"):
        return (places[0],) * threads
    if threads > count:
        low, extra = divmod(threads, count)  # GNU's runtime wraps around with the remaining threads
        return (*(place for place in places for _ in range(low)), *places[:extra])
    if policy == "spread":
        low, extra = divmod(count, threads)
        starts = [i * low + min(i, extra) for i in range(threads)]
        return tuple(places[start] for start in starts)
    return tuple(places[:threads])


def parse_places(text: str, topology: Topology) -> list[CpuSet]:
    """Parse the places of OMP_PLACES: an abstract name, or a list of places, intervals and excluded places.

    The list is read as GNU's runtime reads it (recorded by `tests/support/record_gomp.py`): a place is `{0:4:2}` or one
    number, `{0:8,!3}` leaves a number out, `{0:4}:3:4` is an interval of three places, and `!{0}` removes a place that
    the list contains. A stride is 1 unless stated.

    Raises:
        ValueError: neither, or nothing that this job may use.
    """
    name = re.fullmatch(r"([a-z_]+)(?:\s*\(\s*(\d+)\s*\))?", text.strip().lower())
    if name and name[1] in _PLACES:
        found = list(objects(topology, _PLACES[name[1]]))
        return found[: _line.read_integer("OMP_PLACES", name[2])] if name[2] else found
    places: list[CpuSet] = []
    for part in re.split(r",(?![^{]*\})", text):
        match = _PLACE.fullmatch(part)
        if match is None or (match[1] and match[4]):
            raise ValueError(f"OMP_PLACES={text[:60]} is not valid; use cores, threads or {{0,1}},{{2,3}}")
        held = _place(match[2] if match[2] is not None else match[3], text)
        if match[1]:
            if held not in places:
                raise ValueError(f"OMP_PLACES={text[:60]} excludes a place that it does not contain")
            places = [place for place in places if place != held]
            continue
        count, stride = _line.read_integer("OMP_PLACES", match[4] or "1"), int(match[5] or 1)
        if count * len(held) > MAX_NODE_THREADS or len(places) > MAX_NODE_THREADS:
            raise ValueError(f"OMP_PLACES={text[:60]} contains more than {MAX_NODE_THREADS} hardware threads")
        places += [frozenset(cpu + i * stride for cpu in held) for i in range(count)]
    if any(cpu < 0 for place in places for cpu in place):
        raise ValueError(f"OMP_PLACES={text[:60]} contains negative numbers")
    usable = [place & topology.allowed for place in places if place & topology.allowed]
    if not usable:
        raise ValueError(f"OMP_PLACES={text[:60]} contains no hardware thread that this job may use")
    return usable


_PLACE = re.compile(r"\s*(!\s*)?(?:\{([^}]*)\}|(\d{1,9}))\s*(?::\s*(\d{1,9})\s*(?::\s*(-?\d{1,9})\s*)?)?")
_NUMBERS = re.compile(r"\s*(!\s*)?(\d{1,9})\s*(?::\s*(\d{1,9})\s*(?::\s*(-?\d{1,9})\s*)?)?")


def _place(text: str, value: str) -> CpuSet:
    held: set[int] = set()
    for part in text.split(","):
        match = _NUMBERS.fullmatch(part)
        if match is None or (match[1] and match[3]):
            raise ValueError(f"OMP_PLACES={value[:60]} is not valid; use cores, threads or {{0,1}},{{2,3}}")
        first, step = _line.read_integer("OMP_PLACES", match[2], MAX_NODE_THREADS, least=0), int(match[4] or 1)
        numbers = [first + i * step for i in range(_line.read_integer("OMP_PLACES", match[3] or "1", MAX_NODE_THREADS))]
        if min(numbers) < 0:
            raise ValueError(f"OMP_PLACES={value[:60]} contains negative numbers")
        held = held - set(numbers) if match[1] else held | set(numbers)
    if not held:
        raise ValueError(f"OMP_PLACES={value[:60]} contains an empty place")
    return frozenset(held)
