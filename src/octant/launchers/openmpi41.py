"""Open MPI 4.1: the options of 5 in an older syntax; `socket` for `package`, slots that continue across packages."""

import itertools
from collections.abc import Mapping, Sequence

from octant.launchers import LaunchCommand, Syntax, _openmpi, _rankfile, _shared, _tables, _words
from octant.machine import CpuSet, Topology
from octant.placement import Placement
from octant.placement.expressions import objects
from octant.placement.request import Request

TITLE = "Open MPI 4.1"
COMMANDS = ("mpiexec", "mpirun", "mpiexec.openmpi", "mpirun.openmpi", "orterun")
UNBIND = "--bind-to none"
ANSWER = r"\((Open MPI|OpenRTE)\) 4\."
_UNITS = {"slot": "machine", "l3cache": "l3", "numa": "numa", "socket": "package"}


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The shortest options that give the masks; a rank file where none do. Compared with runs of 4.1.4."""
    sets = _shared.rank_sets(placement)
    option = next((text for text, masks in _options(sets, topology, request.unit) if masks == sets), None)
    files: tuple[tuple[str, str], ...] = ()
    if option is None:
        option = "--rankfile octant.rankfile --use-hwthread-cpus"
        files = (("octant.rankfile", _rankfile.write(sets, topology)),)
    cannot = [
        *_shared.no_threads(placement, "Open MPI"),
        *_shared.no_memory(request, "Open MPI 4.1 (hwloc_base_mem_alloc_policy supports at most local_only)"),
        *_shared.no_pages(request),
    ]
    if files:
        cannot.append("no option of Open MPI 4.1 gives these masks: a rank file does (its numbers are logical ones)")
    lines = (
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpirun -n {len(sets)} {option} --report-bindings {_shared.PROGRAM}",
    )
    return Syntax(lines, True, tuple(cannot), files)


def _options(sets: list[CpuSet], topology: Topology, unit: str) -> list[tuple[str, list[CpuSet]]]:
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    threads = max(map(len, sets))
    units = {name: of for name, of in _UNITS.items() if of != "l3" or any(c.level == 3 for c in topology.caches)}
    parts = [(f"--map-by {name}:PE={cores} --bind-to core", _deal(topology, of, "core", cores, len(sets)))
             for name, of in units.items()]  # fmt: skip
    whole = [(f"--map-by {name} --bind-to {name}", list(objects(topology, of)[: len(sets)]))
             for name, of in units.items() if of != "machine"]  # fmt: skip
    fine = [(f"--use-hwthread-cpus --map-by {name}:PE={threads} --bind-to hwthread",
             _deal(topology, of, "thread", threads, len(sets))) for name, of in units.items()]  # fmt: skip
    return [*whole, *parts, *fine] if unit in ("l3", "numa", "package") else [*parts, *whole, *fine]


def _deal(topology: Topology, domain: str, unit: str, width: int, ranks: int) -> list[CpuSet]:
    """Ranks in turn on the domains, each the next `width` units there, while every domain has room."""
    units = objects(topology, unit)
    free = [[held for held in units if held <= whole] for whole in objects(topology, domain)]
    rounds = min((len(cpus) // width for cpus in free), default=0)
    turns = itertools.product(range(rounds), free)
    return [frozenset().union(*cpus[k * width : (k + 1) * width]) for k, cpus in itertools.islice(turns, ranks)]


_COUNTS = {
    "": 0,
    **dict.fromkeys((
        "allow-run-as-root", "bind-to-core", "bind-to-socket", "bycore", "bynode", "byslot", "continuous", "d", "debug",
        "debug-daemons", "debug-daemons-file", "debug-devel", "disable-recovery", "display-allocation",
        "display-devel-allocation", "display-devel-map", "display-diffable-map", "display-map", "display-topo",
        "do-not-resolve", "dvm", "enable-instant-on-support", "enable-recovery", "fwd-mpirun-port", "get-stack-traces",
        "index-argv-by-rank", "leave-session-attached", "merge-stderr-to-stdout", "nolocal", "nooversubscribe",
        "noprefix", "novm", "output-proctable", "oversubscribe", "pernode", "preload-binary", "q", "quiet",
        "report-bindings", "report-child-jobs-separately", "report-state-on-timeout", "s", "set-cwd-to-session-dir",
        "show-progress", "tag-output", "timestamp-output", "tv", "use-hwthread-cpus", "use-regexp", "v", "verbose",
        "xml",
    ), 0),
    **dict.fromkeys((
        "H", "N", "am", "bind-to", "c", "cartofile", "cf", "cpu-list", "cpu-set", "cpus-per-proc", "cpus-per-rank",
        "debugger", "default-hostfile", "hnp", "host", "hostfile", "launch-agent", "machinefile", "map-by",
        "max-restarts", "max-vm-size", "n", "np", "npernode", "npersocket", "ompi-server", "output-filename", "path",
        "personality", "ppr", "prefix", "preload-files", "rank-by", "rankfile", "report-events", "report-pid",
        "report-uri", "rf", "stdin", "timeout", "tune", "wd", "wdir", "x", "xml-file", "xterm",
    ), 1),
    "gmca": 2, "mca": 2,
}  # fmt: skip
"""How many values follow each option of Open MPI 4.1.4: `mpiexec --help full`, and the table of its `schizo/ompi`."""
_REFUSED = {
    **dict.fromkeys(("V", "h", "help", "version"), _words.NO_PROGRAM),
    "app": _words.PROGRAMS_IN_A_FILE,
    "do-not-launch": "it starts no program",
}
_BINDING = {"OMPI_MCA_": ("hwloc_base_binding_policy",)}


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Names have one dash or two, and their value as the next word; several letters behind one dash are refused.

    Without -n Open MPI 4.1 starts as many ranks as there are slots: cores of the node, or what the batch system, --host
    or a host file state; -N and `ppr` multiply with the number of nodes. It binds by default: up to two ranks to cores,
    more to sockets, and none if there are more ranks than slots. Files of MCA parameters are not read here.

    Raises:
        ValueError: an option that Open MPI 4.1 does not have, a missing value, or several programs.
    """
    given = _words.scan(words, _tables.unclassified(_COUNTS, _REFUSED), _split)
    at = _words.program_index(words, given)
    found = _openmpi.binding_option(given, _BINDING, environment) or (True, _openmpi.BY_DEFAULT)
    return LaunchCommand(_openmpi.rank_count(given), tuple(words[1:at]), at, *found)


def _split(word: str) -> tuple[str, str | None]:
    return word[2 if word.startswith("--") else 1 :], None


def temporary(folder: str) -> dict[str, str]:
    """Return the variable that moves the session folder `ompi.HOST.UID` of mpiexec, which SIGKILL leaves behind.

    Other hosts keep their own place, and the program's TMPDIR stays as it is. Tried with 4.1.4.
    """
    return {"OMPI_MCA_orte_local_tmpdir_base": folder}
