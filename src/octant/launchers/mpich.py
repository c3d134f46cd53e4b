"""MPICH's Hydra: `-bind-to` and `-map-by`. It binds nothing unless requested, and silently wraps around."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence

from octant.launchers import (
    MOST_RANKS,
    JobSize,
    LaunchCommand,
    Reading,
    Syntax,
    _command,
    _shared,
    _tables,
    _words,
    hydra_hosts,
)
from octant.machine import CpuSet, Topology
from octant.machine.synthetic import parse_cpus
from octant.placement import Placement, set_text
from octant.placement.expressions import objects
from octant.placement.request import Request

TITLE = "MPICH (Hydra mpiexec)"
VERSION = ("HYDRA", "MPICH")
PMI = "pmi2"
SPINS = True
COMMANDS = ("mpiexec", "mpirun", "mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich")
UNBIND = "-bind-to none"
ANSWER = "HYDRA|MPICH"
MARK = r"(?<!-)-bind-to[ =]|HYDRA_BINDING="  # Hydra takes two dashes as well, but they are Open MPI's
DECIDES = "-bind-to core"
_UNITS = {
    "hwthread": "thread", "core": "core", "numa": "numa", "numanode": "numa", "socket": "package",
    "package": "package", "die": "die", "machine": "machine",
    **{f"l{n}{kind}cache": f"l{n}" for n in (1, 2, 3, 4) for kind in ("", "d", "u")},
}  # fmt: skip


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The shortest options that give the masks; a `user:` list where none do."""
    sets = _shared.rank_sets(placement)
    option = next((words for words in _options(sets, topology, request.unit) if _same(words, sets, topology)), None)
    if option is None:
        option = "-bind-to user:" + ",".join(set_text(held).replace(",", "+") for held in sets)
    lines = (
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpiexec -n {len(sets)} {option} {_shared.PROGRAM}",
    )
    cannot = [
        *_shared.no_threads(placement, "MPICH"),
        *_shared.no_memory(request, "MPICH (its -membind takes the nodes of the mask only)"),
        *_shared.no_pages(request),
    ]
    return Syntax(lines, True, tuple(cannot))


def _options(sets: list[CpuSet], topology: Topology, unit: str) -> list[str]:
    cores = {sum(1 for core in topology.groups("core") if core & held) for held in sets}
    sizes = {len(held) for held in sets}
    binds = [f"core:{n}" if n > 1 else "core" for n in cores] + [f"hwthread:{n}" for n in sizes]
    binds += [unit for unit in ("l2cache", "l3cache", "numa", "socket") if _has(topology, unit)]
    binds.sort(key=lambda bind: bind != {"package": "socket", "l2": "l2cache", "l3": "l3cache"}.get(unit, unit))
    maps = [""] + [unit for unit in ("l3cache", "numa", "socket", "core") if _has(topology, unit)]
    return [f"-bind-to {b}" + (f" -map-by {m}" if m else "") for m, b in itertools.product(maps, binds)]


def _has(topology: Topology, unit: str) -> bool:
    level = re.match(r"l(\d)", unit)
    return level is None or any(cache.level == int(level[1]) for cache in topology.caches)


def _same(option: str, sets: list[CpuSet], topology: Topology) -> bool:
    binding, _, mapping = option.removeprefix("-bind-to ").partition(" -map-by ")
    try:
        masks = hydra_masks(topology, binding, mapping or binding)
    except ValueError:
        return False
    return len(masks) >= len(sets) and masks[: len(sets)] == sets


def hydra_masks(topology: Topology, binding: str, mapping: str) -> list[CpuSet]:
    """All masks that Hydra assigns before it starts again: for each mapping domain in turn, the next binding
    domain inside it, wrapping around within the mapping domain where binding domains are the smaller ones.

    Raises:
        ValueError: no such unit.
    """
    bind_objs, bind_count = _unit(binding, topology)
    map_objs, map_count = _unit(mapping, topology)
    pus = [cpu for held in objects(topology, "thread") for cpu in held]
    map_width = len(pus) // len(map_objs) * map_count
    bind_width = len(pus) // len(bind_objs) * bind_count
    if map_width > len(pus):
        raise ValueError(f"cannot map by {mapping}: that is larger than the machine")
    rounds = math.lcm(len(map_objs), map_count) // map_count
    domains = [[map_objs[(i * map_count + j) % len(map_objs)] for j in range(map_count)] for i in range(rounds)]
    total = rounds
    if bind_width < map_width:
        total = math.lcm(map_width, bind_width) // bind_width * rounds
    inside = [[cpu for cpu in pus if any(cpu in obj for obj in domain)] for domain in domains]
    starts = [cpus.index(next(c for c in pus if c in domain[0])) for cpus, domain in zip(inside, domains, strict=True)]
    covers = [_covering(frozenset(cpus), topology) for cpus in inside]
    masks: list[CpuSet] = []
    while len(masks) < total:
        for d in range(rounds):
            first = next((k for k, obj in enumerate(bind_objs) if inside[d][starts[d]] in obj), 0)
            masks.append(_walk(bind_objs, first, bind_count, covers[d] if bind_width < map_width else None))
            if bind_width < map_width:
                starts[d] = (starts[d] + bind_width) % len(inside[d])
    return masks


def _covering(held: CpuSet, topology: Topology) -> CpuSet:
    """The smallest object that holds all of them: Hydra wraps around in it, not in the mapping domain itself."""
    units = ("core", "l1", "l2", "l3", "l4", "numa", "package", "machine")
    return min((o for unit in units for o in objects(topology, unit) if o >= held), key=len)


def _walk(objs: Sequence[CpuSet], first: int, count: int, domain: CpuSet | None) -> CpuSet:
    held: set[int] = set()
    at = first
    for _ in range(min(count, len(objs))):  # then it comes to the same ones again
        held |= objs[at]
        steps = ((at + i) % len(objs) for i in range(1, len(objs) + 1))
        at = next((k for k in steps if domain is None or objs[k] <= domain), at)
    return frozenset(held)


def _unit(text: str, topology: Topology) -> tuple[tuple[CpuSet, ...], int]:
    name, _, count = text.partition(":")
    if name not in _UNITS:
        raise ValueError(f"cannot read {text!r}; Hydra knows {', '.join(_UNITS)}, each with :COUNT, and user:")
    if not _has(topology, name):
        raise ValueError(f"cannot find any {name} on this topology; Hydra stops with an error")
    return objects(topology, _UNITS[name]), _shared.whole(name, count or "1")


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """What `mpiexec -n N -bind-to … -map-by …` (or HYDRA_BINDING, HYDRA_MAPPING) would do."""
    text = command.text
    line = _shared.read_line(text)
    binding = line.option("-bind-to", "--bind-to") or line.variables.get("HYDRA_BINDING") or "none"
    mapping = line.option("-map-by", "--map-by") or line.variables.get("HYDRA_MAPPING") or binding
    ranks = line.number("-n", "-np", "--np", "--n") or 1
    if binding == "rr":
        binding = mapping = "hwthread"
    count = line.threads()
    notes = ["several hosts are named: all ranks are drawn on one node"] if _shared.hosts(line) else []
    if binding == "none":
        notes.append("MPICH binds nothing here: every rank may run anywhere")
        return _shared.reading_of_masks([topology.allowed] * ranks, topology, count or 1, notes)
    if binding.startswith("user:"):
        existing = frozenset(cpu.os for cpu in topology.cpus)
        masks = [m & existing for entry in binding[5:].split(",") for m in _user(entry)]
        if not all(masks):
            raise ValueError(f"cannot use {binding}: Hydra stops where a rank gets hardware threads that do not exist")
        if ranks > len(masks):
            notes.append(f"Hydra binds only ranks 0-{len(masks) - 1}; it silently leaves the others unbound")
            masks += [topology.allowed] * (ranks - len(masks))
    else:
        masks = hydra_masks(topology, binding, mapping)
        if ranks > len(masks):
            notes.append(
                f"Hydra silently wraps around: rank {len(masks)} gets the mask of rank 0 again ({ranks} ranks, "
                f"{len(masks)} masks)"
            )
    sets = [masks[rank % len(masks)] for rank in range(ranks)]
    if count and any(count > len(held) for held in sets):
        notes.append(f"OMP_NUM_THREADS={count} is more than the hardware threads of a rank's mask: threads take turns")
    return _shared.reading_of_masks(sets, topology, count, notes)


def _user(entry: str) -> list[CpuSet]:
    listed, _, times = entry.partition("x")
    return [parse_cpus(listed.replace("+", ","))] * _shared.whole("user:", times or "1")


def unbound(size: JobSize, root: bool) -> list[str]:
    """Hydra binds nothing if it is asked for that."""
    return ["-n", str(size.ranks), *hydra_hosts(size), "-bind-to", "none"]


_ARITY = {
    **dict.fromkeys((
        "disable-auto-cleanup", "disable-hostname-propagation", "disable-x", "enable-auto-cleanup",
        "enable-hostname-propagation", "enable-x", "envall", "envnone", "genvall", "genvnone", "hybrid-hosts", "l",
        "debug", "pmi-port", "prepend-rank", "print-all-exitcodes", "profile", "skip-launch-node", "v", "verbose",
    ), 0),
    **dict.fromkeys((
        "bind-to", "binding", "bootstrap", "bootstrap-exec", "demux", "envlist", "errfile", "errfile-pattern", "f", "g",
        "genvlist", "gpu-subdevs-per-proc", "gpus-per-proc", "host", "hostfile", "hostlist", "hosts", "iface",
        "launcher", "launcher-exec", "localhost", "machine", "machinefile", "machinelist", "machines", "map-by",
        "membind", "memory-alloc-kinds", "n", "nameserver", "np", "order-nodes", "outfile", "outfile-pattern",
        "output-from", "ppn", "prepend-pattern", "rankmap", "rmk", "topolib", "usize", "wdir",
    ), 1),
    "env": 2, "genv": 2,
}  # fmt: skip
"""How many values follow each option of Hydra 4.0 to 5.0 (`HYD_mpiexec_match_table` of its `mpiexec/options.c`)."""
_NO_PROGRAM = {
    **dict.fromkeys(("h", "help", "info", "version"), _words.NO_PROGRAM),
    "configfile": _words.PROGRAMS_IN_A_FILE,
    "pmi_args": "it continues a program that runs already",
}


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Options have any number of dashes, any case, and their value as the next word or after `=`.

    Without -n Hydra starts one rank for each host, or as many as the batch system allocated.

    Raises:
        ValueError: an option that Hydra does not have, a missing value, or several programs.
    """
    given = _words.scan(words, _tables.unclassified(_ARITY, _NO_PROGRAM), _split, ("env", "genv"))
    at = _words.program_index(words, given)
    number = given.last("n", "np")
    ranks = None if number is None else _shared.whole("-n", number, MOST_RANKS)
    binding, name = given.last("bind-to", "binding"), "bind-to" if "bind-to" in given.spelt else "binding"
    bound_by = given.spelt.get(name, "HYDRA_BINDING").partition("=")[0]
    binds = (environment.get("HYDRA_BINDING", "none") if binding is None else binding) != "none"
    return LaunchCommand(ranks, tuple(words[1:at]), at, binds, bound_by if binds else "")


def _split(word: str) -> tuple[str, str | None]:
    name, equals, value = word.lstrip("-").partition("=")
    return name.lower(), value if equals else None
