"""OpenMP: OMP_PLACES and OMP_PROC_BIND for the threads inside each rank."""

import re
from collections.abc import Sequence

from octant.launchers import Reading, Syntax, _command, _openmp, _shared, _tables
from octant.machine import CpuSet, Topology
from octant.machine.synthetic import parse_cpus
from octant.placement import Placement
from octant.placement.expressions import objects
from octant.placement.request import MOST, Request

TITLE = "OpenMP (any runtime)"
MARK = r"OMP_PLACES|OMP_PROC_BIND"
BINDS = "threads"
VARIABLES = _tables.table(_tables.interpreted("OMP_PLACES OMP_PROC_BIND"))
_BINDS = ("close", "spread", "master", "primary", "true", "false")
_PLACES = {"threads": "thread", "cores": "core", "sockets": "package", "numa_domains": "numa", "ll_caches": "l4"}


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """One list of places per rank; named places where the masks of the ranks suffice."""
    if all(len(set(place.threads)) == 1 and len(place.threads) > 1 for place in placement.ranks):
        line = f"export OMP_NUM_THREADS={request.threads} OMP_PROC_BIND=false"
        return Syntax((line,), False, ("OpenMP places no ranks: their masks must come from the launcher",))
    lines = []
    for place in placement.ranks:
        places = ",".join("{" + ",".join(str(cpu) for cpu in sorted(bound)) + "}" for bound in place.threads)
        lines.append(f'export OMP_NUM_THREADS={len(place.threads)} OMP_PROC_BIND=close OMP_PLACES="{places}"')
    cannot = [*_shared.no_memory(request, "OpenMP (first touch decides)", "numactl"), *_shared.no_pages(request)]
    cannot.append(
        "beside a second OpenMP runtime (MKL in gcc's program) these put all threads on one CPU: load one only"
    )
    if len(lines) > 1:
        lines += [f"# inside masks that the launcher sets: {line}" for line in _shared.openmp_line(request)]
        cannot.append("OpenMP starts no ranks: each line belongs to one local rank, chosen in a wrapper script")
    return Syntax(tuple(lines), True, tuple(cannot))


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """What GNU's runtime does in a process that may use the whole topology; others treat invalid values differently."""
    text = command.text
    line = _shared.read_line(text)
    notes = _openmp.runtimes(line.variables)
    count = line.threads() or len(topology.allowed)  # GNU's runtime counts the CPUs of its mask
    places: list[CpuSet] = []
    if "OMP_PLACES" in line.variables:
        try:
            places = parse_places(line.variables["OMP_PLACES"], topology)
        except ValueError as error:
            notes.append(f"{error}: GNU's runtime warns and ignores it")
    policy = line.variables.get("OMP_PROC_BIND", "").split(",")[0].strip().lower()
    if policy and policy not in _BINDS:
        then = "binds by OMP_PLACES alone" if places else "runs unbound"
        notes.append(
            f"OMP_PROC_BIND={policy} is not a value of OpenMP (known: {', '.join(_BINDS)}): GNU's runtime only warns "
            f"and {then}; cores belongs in OMP_PLACES"
        )
        policy = ""
    policy = policy or ("true" if places else "false")
    if policy == "false":
        if not notes:
            notes.append("no binding is asked for: every thread may run wherever its rank may")
        return _openmp.one_rank((topology.allowed,) * count, topology, notes)
    return _openmp.one_rank(thread_places(places or objects(topology, "thread"), count, policy), topology, notes)


def thread_places(places: Sequence[CpuSet], threads: int, policy: str) -> tuple[CpuSet, ...]:
    """The place of each thread, the first thread being on the first place (OpenMP 5.2, section 10.1.3)."""
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
    """The places of an OMP_PLACES value: an abstract name, or a list of sets with `:count:stride`.

    Raises:
        ValueError: neither.
    """
    name = re.fullmatch(r"(\w+)(?:\((\d+)\))?", text.strip().lower())
    if name and name[1] in _PLACES:
        found = list(objects(topology, _PLACES[name[1]]))
        return found[: _shared.whole("OMP_PLACES", name[2])] if name[2] else found
    places: list[CpuSet] = []
    for match in re.finditer(r"\{([^}]*)\}(?::(\d+)(?::(-?\d+))?)?|([^,{}]+)", text):
        if match[4] is not None:
            if match[4].strip():
                raise ValueError(f"OMP_PLACES={text} cannot be read; try cores, threads or {{0,1}},{{2,3}}")
            continue
        held = frozenset().union(*(_interval(part) for part in re.split(r",(?![^(]*\))", match[1])))
        stride = int((match[3] or str(len(held)))[:10])
        count = _shared.whole("OMP_PLACES", match[2] or "1")
        if count * len(held) > MOST or len(places) > MOST:
            raise ValueError(f"OMP_PLACES={text[:60]} names more than {MOST} hardware threads")
        places += [frozenset(cpu + i * stride for cpu in held) for i in range(count)]
    usable = [place & topology.allowed for place in places if place & topology.allowed]
    if not usable:
        raise ValueError(f"OMP_PLACES={text} names no hardware thread that this job may use")
    return usable


def _interval(text: str) -> CpuSet:
    match = re.fullmatch(r"\s*(\d+)(?::(\d+)(?::(\d+))?)?\s*", text)
    if match is None:
        return parse_cpus(text)
    first = _shared.whole("OMP_PLACES", match[1], least=0)
    count, step = (_shared.whole("OMP_PLACES", part or "1") for part in match.groups()[1:])
    return frozenset(range(first, first + count * step, step))
