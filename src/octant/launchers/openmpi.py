"""Open MPI 5 (PRRTE 3): `--map-by`, `--rank-by`, `--bind-to`, rank files."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.launchers import (
    JobSize,
    LaunchCommand,
    Reading,
    Syntax,
    _command,
    _openmpi,
    _rankfile,
    _shared,
    _tables,
    _words,
)
from octant.machine import CpuSet, Topology
from octant.machine.synthetic import parse_cpus
from octant.placement import Placement
from octant.placement.expressions import objects
from octant.placement.request import Request

TITLE = "Open MPI 5"
VERSION = ("Open MPI", "OpenRTE", "prte")
PMI = "pmix"
SPINS = False
COMMANDS = ("mpiexec", "mpirun", "mpiexec.openmpi", "mpirun.openmpi", "orterun", "prterun")
UNBIND = "--bind-to none"
ANSWER = r"\(Open MPI\) [5-9]|\(PRRTE\)"
YIELD = "OMPI_MCA_mpi_yield_when_idle"
YIELDING = {YIELD: "1"}
MARK = (
    r"--map-by[ =]|--bind-to[ =]|--mapby[ =]|--bindto[ =]|PRTE_MCA_|--?rankfile |--?nper(node|socket) |"
    + _rankfile.MARK
)
FILE = r"rankfile:file=([^\s:]+)|--?rankfile[ =](\S+)"
FILE_LINES = _rankfile.MARK
DECIDES = "--map-by core"
_UNITS = {
    "slot": "package", "hwthread": "thread", "core": "core", "l1cache": "l1", "l2cache": "l2", "l3cache": "l3",
    "numa": "numa", "package": "package", "socket": "package", "node": "package",
}  # fmt: skip


class _Refused(ValueError):  # noqa: N818 (Open MPI's refusal, reported to the user)
    """Open MPI stops with an error here."""


@dataclass(frozen=True)
class _Options:
    """The options that decide masks."""

    map_by: str = "core"
    width: int | None = None  # PE=
    per: int | None = None  # ppr:N
    hwthreads: bool = False
    span: bool = False
    oversubscribe: bool = False
    rank_by: str = ""
    bind_to: str = ""


def to_syntax(placement: Placement, request: Request, topology: Topology) -> Syntax:
    """The shortest options that give the masks; a rank file where none do."""
    sets = _shared.rank_sets(placement)
    files: tuple[tuple[str, str], ...] = ()
    option = next((o for o in _options(sets, topology, request.unit) if _same(o, sets, topology)), None)
    if option is None:
        option = "--map-by rankfile:file=octant.rankfile:HWTCPUS"
        if sum(map(len, sets)) > len(frozenset().union(*sets)):
            option += " --bind-to hwthread:overload-allowed"  # ranks that share threads are refused otherwise
        files = (("octant.rankfile", _rankfile.write(sets, topology)),)
    lines = (
        *_shared.openmp_line(request),
        *_shared.heap_line(request),
        f"mpiexec -n {len(sets)} {option} {_shared.PROGRAM}",
    )
    cannot = [
        *_shared.no_threads(placement, "Open MPI"),
        *_shared.no_memory(request, "Open MPI 5"),
        *_shared.no_pages(request),
    ]
    if files:
        cannot.append("no option of Open MPI 5 gives these masks: a rank file does (its numbers are logical ones)")
    return Syntax(lines, True, tuple(cannot), files)


def _options(sets: list[CpuSet], topology: Topology, unit: str) -> list[str]:
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    threads = max(len(held) for held in sets)
    wide = [u for u in ("l3cache", "numa", "package") if _has(topology, u)]
    found = [f"--map-by slot:PE={cores} --bind-to core" if cores > 1 else "--map-by core --bind-to core"]
    found += [f"--map-by {u}:PE={cores}" for u in wide]
    found += [f"--map-by {u}:PE={cores} --rank-by span" for u in wide]
    whole = [f"--map-by {u} --bind-to {u}" for u in wide]
    whole += [f"--map-by {u} --rank-by span --bind-to {u}" for u in wide]
    found = whole + found if unit in ("l3", "numa", "package") else found + whole
    found += ["--map-by core:HWTCPUS --bind-to core", f"--map-by slot:PE={threads}:HWTCPUS --bind-to hwthread"]
    found += [f"--map-by {u}:PE={threads}:HWTCPUS --bind-to hwthread" for u in wide]
    return found + [f"--map-by {u}:PE={threads}:HWTCPUS --rank-by span --bind-to hwthread" for u in wide]


def _has(topology: Topology, unit: str) -> bool:
    return not unit.startswith("l") or any(cache.level == int(unit[1]) for cache in topology.caches)


def _same(option: str, sets: list[CpuSet], topology: Topology) -> bool:
    try:
        return masks(topology, _read_options(_shared.read_line("mpiexec " + option)), len(sets)) == sets
    except ValueError:
        return False


def masks(topology: Topology, asked: _Options, ranks: int | None) -> list[CpuSet] | None:
    """The mask of each rank, or `None` where Open MPI leaves all ranks unbound.

    Ranks go round-robin over the objects that still have room, and are then numbered object by object
    (fill) or in the order of assignment (span, slot). A rank never crosses a package. Without a
    number of ranks there is one for every slot. Checked against dry runs of 5.0.11 on synthetic topologies.

    Raises:
        ValueError: Open MPI refuses, or Octant does not know what it does.
    """
    threads = asked.hwthreads or asked.map_by == "hwthread"
    cpus = objects(topology, "thread" if threads else "core")
    width, slots = asked.width or 1, len(objects(topology, "core"))
    if ranks is None:
        ranks = max(1, min(len(cpus) // width, slots))
    bind = asked.bind_to or _default_bind(asked, threads, ranks)
    if asked.oversubscribe and not asked.bind_to and not asked.width:
        return None
    if bind != "none":
        _check(topology, asked, bind, threads)
    if ranks * width > len(cpus) or ranks > slots:
        raise _Refused(f"Open MPI 5 refuses {ranks} ranks of {width} (it counts cores as slots); try fewer")
    domains = objects(topology, _UNITS[asked.map_by])
    free = [[held for held in cpus if held <= domain] for domain in domains]
    dealt: list[tuple[int, CpuSet]]
    if asked.map_by in ("slot", "node"):
        dealt = _in_turn(free, width, ranks)
    elif asked.map_by in ("core", "hwthread") and not asked.per:
        dealt = list(enumerate(domains[:ranks]))
    else:
        dealt = _round_robin(free, width, ranks, asked.per)
        if asked.rank_by in ("", "fill", "slot") and not asked.span:
            dealt.sort(key=lambda pair: pair[0])
    if bind == "none":
        return None
    sets = [held for _domain, held in dealt]
    if asked.width or bind == "hwthread":
        return sets
    return [next(o for o in objects(topology, _UNITS[bind]) if held & o) for held in sets]


def _default_bind(asked: _Options, threads: bool, ranks: int) -> str:
    if asked.width:
        return "hwthread" if threads else "core"
    return ("core" if ranks <= 2 else "numa") if asked.map_by in ("slot", "node") else asked.map_by


def _resources(topology: Topology, asked: _Options, ranks: int | None) -> int | None:
    """How many ranks `ppr` starts; the number that was given where there is no `ppr`."""
    if asked.per is None:
        return ranks
    units = 1 if asked.map_by == "node" else len(objects(topology, _UNITS[asked.map_by]))
    most = asked.per * units
    if asked.map_by == "hwthread" and not asked.hwthreads and topology.smt() > 1:
        raise _Refused("Open MPI 5 refuses ppr by hwthread without HWTCPUS; try ppr:1:hwthread:HWTCPUS")
    if ranks is not None and ranks > most:
        raise _Refused(f"Open MPI 5 refuses {ranks} ranks: {asked.per} for each {asked.map_by} are {most} on this node")
    if ranks is not None and ranks % asked.per and asked.map_by != "node":
        raise _Refused(
            f"Open MPI 5.0.11 maps {asked.per} ranks on every {asked.map_by} and ignores -n, then starts none of the "
            f"{ranks} and still exits with 0; try -n {-(-ranks // asked.per) * asked.per}"
        )
    return most if ranks is None else ranks


_WIDTH = {"hwthread": 0, "core": 1, "l1cache": 2, "l2cache": 3, "l3cache": 4, "numa": 5, "package": 6, "socket": 6,
          "node": 7}  # fmt: skip


def _check(topology: Topology, asked: _Options, bind: str, threads: bool) -> None:
    """Refuses what Open MPI refuses, and combinations whose outcome was not observed."""
    if asked.map_by == "slot" and asked.rank_by in ("fill", "span"):
        raise _Refused(f"Open MPI 5 refuses --rank-by {asked.rank_by} with slots; try --map-by package")
    if asked.map_by in ("core", "hwthread") and (asked.width or 1) > 1:
        raise _Refused(f"Open MPI 5 refuses {asked.map_by}:PE={asked.width}; try slot:PE={asked.width}")
    mixed = asked.width and bind in ("core", "hwthread") and bind != ("hwthread" if threads else "core")
    if mixed or (asked.width and asked.map_by == "core" and threads):
        raise _Refused("Octant does not know what PE= does with this mix of cores and hardware threads")
    if asked.width and bind not in ("core", "hwthread"):
        raise _Refused(f"Open MPI 5 refuses PE={asked.width} with --bind-to {bind}; try --bind-to core")
    if bind == "hwthread" and not threads:
        raise _Refused("Octant does not know what --bind-to hwthread does here; try :HWTCPUS with it")
    for unit in (asked.map_by, bind):
        if unit != "slot" and not _has(topology, unit):
            raise _Refused(f"Open MPI 5 finds no {unit} on this topology")
    if asked.map_by != "slot" and _WIDTH[bind] > _WIDTH[asked.map_by]:
        raise _Refused(
            f"Open MPI 5 refuses --bind-to {bind} with --map-by {asked.map_by}: it binds within what it maps"
        )


def _in_turn(free: list[list[CpuSet]], width: int, ranks: int) -> list[tuple[int, CpuSet]]:
    dealt: list[tuple[int, CpuSet]] = []
    for index, cpus in enumerate(free):
        while len(cpus) >= width and len(dealt) < ranks:
            dealt.append((index, frozenset().union(*cpus[:width])))
            del cpus[:width]
    if len(dealt) < ranks:
        raise _Refused(f"Open MPI 5 refuses: no package has {width} left for rank {len(dealt)}")
    return dealt


def _round_robin(free: list[list[CpuSet]], width: int, ranks: int, per: int | None) -> list[tuple[int, CpuSet]]:
    """`per` ranks on each of the first objects; without it, on all as long as they have room."""
    dealt: list[tuple[int, CpuSet]] = []
    free = free[: ranks // per] if per else free
    while len(dealt) < ranks:
        before = len(dealt)
        for index, cpus in enumerate(free):
            if len(cpus) >= width and len(dealt) < ranks:
                dealt.append((index, frozenset().union(*cpus[:width])))
                del cpus[:width]
        if len(dealt) == before:
            raise _Refused(f"Open MPI 5 refuses: no object has {width} left for rank {before}")
    return dealt


def _read_options(line: _shared.Line) -> _Options:
    words = _mapping(line).lower().split(":")
    per = None
    if words[0] == "ppr":
        if len(words) < 3:
            raise ValueError(f"cannot read --map-by {':'.join(words)}; try ppr:2:numa")
        per, words = _shared.whole("--map-by ppr", words[1]), words[2:]
    unit = words[0] or "core"
    if unit not in _UNITS or (unit == "node" and per is None) or (unit == "slot" and per):
        known = ", ".join(name for name in _UNITS if name not in (("slot",) if per else ("node",)))
        raise ValueError(f"cannot read --map-by {unit}; Open MPI knows {known}, ppr, pe-list, rankfile")
    width = next((word[3:] for word in words if word.startswith("pe=")), None)
    bind = (line.option("--bind-to", "--bindto") or "").lower().split(":")[0]
    if bind and bind != "none" and (bind not in _UNITS or bind in ("node", "slot")):
        raise ValueError(f"cannot read --bind-to {bind}; Open MPI knows none, {', '.join(_WIDTH)}")
    return _Options(
        unit,
        None if width is None else _shared.whole("PE", width),
        per,
        "hwtcpus" in words or "--use-hwthread-cpus" in line.arguments,
        "span" in words,
        "oversubscribe" in words or "--oversubscribe" in line.arguments,
        (line.option("--rank-by", "--rankby") or "").lower(),
        bind,
    )


def _mapping(line: _shared.Line) -> str:
    """The value of `--map-by`, or the one that older options are turned into."""
    value = line.option("--map-by", "--mapby")
    for unit, names in (("node", ("-N", "--npernode", "-npernode")), ("package", ("--npersocket", "-npersocket"))):
        number = line.option(*names)
        if number is not None and value is not None:
            raise ValueError(f"cannot read {names[0]} beside --map-by; try --map-by ppr:{number}:{unit}")
        value = value if number is None else f"ppr:{number}:{unit}"
    return value or "core"


def from_syntax(command: _command.Command, topology: Topology) -> Reading:
    """What the options would do under Open MPI 5; the lines of a rank file may follow the command."""
    text = command.text
    listed = re.search(_rankfile.MARK, text, re.MULTILINE)
    line = _shared.read_line(text[: listed.start()] if listed else text)
    given = line.number("-n", "-np", "--np", "-c")
    count = line.threads()
    map_by = (line.option("--map-by", "--mapby") or "").lower()
    notes = list(_ignored_options(line))
    if _shared.hosts(line):
        notes.append("several hosts are named: all ranks are drawn on one node")
    sets: list[CpuSet] | None
    if listed or map_by.startswith("rankfile") or line.option("--rankfile", "-rankfile") is not None:
        sets = _from_file(text[listed.start() :] if listed else "", line, topology, given, notes)
    elif map_by.startswith("pe-list="):
        sets = _pe_list_masks(map_by, given, topology, notes)
    else:
        asked = _read_options(line)
        ranks = _resources(topology, asked, given)
        sets = masks(topology, asked, ranks)
        if line.option("--bind-to") is not None and ":" not in map_by:
            notes.append(
                "read as options of Open MPI: MPICH accepts them too, with other masks (use -bind-to for MPICH)"
            )
        if given is None:
            ranks = len(sets) if sets is not None else ranks or len(objects(topology, "core"))
            notes.append(f"no number of ranks given: Open MPI 5 starts {ranks}")
        if sets is None:
            why = "oversubscribing is allowed" if asked.oversubscribe else "asked not to bind"
            notes.append(f"Open MPI 5 silently leaves every rank unbound here ({why})")
            return _shared.reading_of_masks([topology.allowed] * (ranks or 1), topology, count or 1, notes)
    if count and any(count > _cores(held, topology) for held in sets):
        notes.append(f"OMP_NUM_THREADS={count} is more than the cores of a rank's mask: threads share cores")
    return _shared.reading_of_masks(sets, topology, count, notes)


def _from_file(lines: str, line: _shared.Line, topology: Topology, ranks: int | None, notes: list[str]) -> list[CpuSet]:
    if not lines:
        raise ValueError(
            "cannot draw a rank file without its lines; give them after the command: rank 0=localhost slot=0"
        )
    words = (line.option("--map-by", "--mapby") or "").lower().split(":")
    bind = line.option("--bind-to", "--bindto") or ""
    hwthreads = "hwtcpus" in words or "--use-hwthread-cpus" in line.arguments
    sets = _rankfile.read(lines, topology, hwthreads, "overload-allowed" in bind or "oversubscribe" in words)
    if ranks is not None and ranks > len(sets):
        raise ValueError(f"Open MPI 5 refuses {ranks} ranks with a rank file of {len(sets)} lines")
    if not line.arguments and topology.smt() > 1:
        notes.append("numbers are read as cores: they are hardware threads with --map-by rankfile:file=FILE:HWTCPUS")
    if bind == "none" or ("oversubscribe" in words and not bind):
        why = "asked not to bind" if bind == "none" else "oversubscribing is allowed"
        notes.append(f"Open MPI 5 silently leaves every rank unbound here ({why})")
        sets = [None] * len(sets)
    elif None in sets:
        notes.append("ranks without slot= in the rank file run unbound")
    return [topology.allowed if held is None else held for held in sets[:ranks]]


def _cores(held: CpuSet, topology: Topology) -> int:
    return sum(1 for core in topology.groups("core") if core & held)


def _ignored_options(line: _shared.Line) -> list[str]:
    if line.option("--cpu-list") is not None:
        return ["Open MPI 5 accepts --cpu-list but binds every rank to the whole list; try --map-by pe-list=…:ordered"]
    return []


def _pe_list_masks(map_by: str, ranks: int | None, topology: Topology, notes: list[str]) -> list[CpuSet]:
    listed, *qualifiers = map_by.removeprefix("pe-list=").split(":")
    unit = "thread" if "hwtcpus" in qualifiers else "core"
    cpus = objects(topology, unit)
    places = list(itertools.chain.from_iterable(sorted(parse_cpus(piece)) for piece in listed.split(",")))
    if max(places) >= len(cpus):
        raise ValueError(f"cannot use pe-list={listed}: there are {len(cpus)} {unit}s")
    ranks = len(places) if ranks is None else ranks
    if "ordered" not in qualifiers:
        notes.append("without :ordered every rank is bound to the whole pe-list")
        return [frozenset().union(*(cpus[place] for place in places))] * ranks
    if ranks > len(places):
        raise ValueError(f"Open MPI 5 refuses {ranks} ranks on a pe-list of {len(places)}")
    return [cpus[place] for place in places[:ranks]]


def unbound(size: JobSize, root: bool) -> list[str]:
    """More ranks than slots, by root too, and the variables that reach other hosts only if they are named."""
    where = ["--host", ",".join(f"{host}:{size.ranks_per_host}" for host in size.hosts)] if size.hosts else []
    for name in size.exported if size.hosts else ():
        where += ["-x", name]
    allow = ["--allow-run-as-root"] if root else []
    return [*allow, "-n", str(size.ranks), *where, "--bind-to", "none", "--map-by", ":OVERSUBSCRIBE"]


_COUNTS = {
    "": 0,
    **dict.fromkeys((
        "allow-run-as-root", "bind-to-core", "bycore", "bynode", "byslot", "continuous", "debug", "debug-daemons",
        "debug-daemons-file", "disable-recovery", "display-allocation", "display-comm", "display-comm-finalize",
        "display-devel-map", "display-map", "enable-recovery", "get-stack-traces", "hetero-nodes",
        "leave-session-attached", "merge-stderr-to-stdout", "no-aggregate-help", "no-app-prefix", "nolocal",
        "nooversubscribe", "noprefix", "oversubscribe", "parsable", "parseable", "pernode", "preload-binary",
        "report-bindings", "report-child-jobs-separately", "report-state-on-timeout", "show-progress", "soft",
        "stop-in-app", "stop-in-init", "stop-on-exec", "tag-output", "timestamp-output", "use-hwthread-cpus", "verbose",
        "xml",
    ), 0),
    **dict.fromkeys((
        "N", "am", "app-pmix-prefix", "arch", "bindto", "c", "cpu-list", "cpu-set", "cpus-per-proc", "cpus-per-rank",
        "default-hostfile", "display", "display-topo", "dvm", "file", "forward-signals", "gpu-support", "host",
        "hostfile", "initial-errhandler", "launch-agent", "machinefile", "mapby", "max-restarts", "max-vm-size",
        "memory-alloc-kinds", "n", "np", "npernode", "npersocket", "output", "output-directory", "output-filename",
        "path", "personality", "ppr", "prefix", "preload-files", "pset", "rankby", "rankfile", "report-pid",
        "report-uri", "rtos", "spawn-timeout", "stdin", "stream-buffering", "timeout", "tmpdir", "tune", "unset-env",
        "wd", "wdir", "with-ft", "x", "xterm",
        "bind-to", "map-by", "rank-by", "runtime-options",
    ), 1),
    **dict.fromkeys(("append-env", "gmca", "gomca", "mca", "omca", "pmixmca", "prepend-env", "prtemca"), 2),
    "fwd-environment": _tables.OPTIONAL, "output-proctable": _tables.OPTIONAL,
}  # fmt: skip
"""How many values follow each option: the tables of `schizo/ompi` and of PRRTE's parser in Open MPI 5.0.11."""
_HYPHENATED = frozenset({"bind-to", "map-by", "rank-by", "runtime-options"})
"""Accepted with two dashes and the value as the next word only: Open MPI replaces them by names without a hyphen."""
_LETTERS = {"H": "host", "p": "parseable", "s": "preload-binary", "v": "verbose"}
_OMPI_ONLY = frozenset({
    "am", "arch", "continuous", "debug-daemons-file", "disable-recovery", "display-comm", "display-comm-finalize",
    "display-topo", "enable-recovery", "file", "gmca", "gomca", "initial-errhandler", "max-restarts", "omca",
    "parsable", "parseable", "show-progress", "soft", "stream-buffering", "with-ft",
})  # fmt: skip
"""Options of mpiexec that prterun of PRRTE 3.0.14 lacks, or reads differently."""
_REFUSED = {
    **dict.fromkeys(("V", "h", "help", "version"), _words.NO_PROGRAM),
    "app": _words.PROGRAMS_IN_A_FILE,
    "do-not-launch": "it starts no program",
}
_BINDING = {"PRTE_MCA_": ("hwloc_default_binding_policy", "bind_to")}
_MAPPING = "PRTE_MCA_rmaps_default_mapping_policy"


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Names of several letters have one dash or two, and their value as the next word or after `=`.

    Without -n Open MPI 5 starts as many ranks as there are slots: cores of the node, or what the batch system, --host
    or a host file state; -N and `ppr` multiply with the number of nodes. It binds to cores by default, except if
    oversubscription is allowed. Files of MCA parameters (`prte-mca-params.conf`, --tune, --am) are not read here.
    Abbreviated names, which Open MPI 5 accepts where they are unambiguous, are refused.

    Raises:
        ValueError: an option that Open MPI 5 does not have, a missing value, or several programs.
    """
    prterun = Path(words[0]).name == "prterun"
    counts = {name: count for name, count in _COUNTS.items() if name not in _OMPI_ONLY} if prterun else _COUNTS
    given = _words.scan(words, _tables.unclassified(counts, _REFUSED), _split)
    if "donotlaunch" in (given.last("rtos", "runtime-options") or "").lower():
        raise ValueError("donotlaunch: it starts no program")
    at = _words.program_index(words, given)
    found = _openmpi.binding_option(given, _BINDING, environment) or _default_binding(given, environment)
    return LaunchCommand(_openmpi.rank_count(given), tuple(words[1:at]), at, *found)


def _split(word: str) -> tuple[str, str | None]:
    name, equals, value = word[2 if word.startswith("--") else 1 :].partition("=")
    if len(name) == 1 and not word.startswith("--"):
        if equals and name not in "Nnx":
            raise _words.unknown(word)
        return _LETTERS.get(name, name), value if equals else None
    single = len(name) == 1 and name not in "Nnx"
    if single or (name in _HYPHENATED and (equals or not word.startswith("--"))):
        raise _words.unknown(word)
    return name, value if equals else None


def _default_binding(given: _words.Given, environment: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether Open MPI 5 binds if no binding option is given, and the name of the reason.

    `pe-list=` binds to the listed cores, also if oversubscription is allowed. Open MPI 5 refuses `--bind-to none` with
    it and with the qualifier PE=, so that the option has to be replaced; the variable gives way. Tried with 5.0.11.
    """
    option = next((name for name, _ in reversed(given.all_values) if name in ("map-by", "mapby", "ppr")), "")
    text = given.values[option][0] if option else environment.get(_MAPPING, "")
    mapping, *qualifiers = text.lower().split(":")
    listed = mapping.startswith("pe-list=")
    if not listed and ("oversubscribe" in given.spelt or any(word.startswith("oversub") for word in qualifiers)):
        return False, ""
    if option and (listed or any(word.startswith("pe=") for word in qualifiers)):
        return True, given.spelt[option].partition("=")[0]
    return True, _openmpi.BY_DEFAULT


def temporary(folder: str) -> dict[str, str]:
    """Return the variable that moves the session folder `ompi.PID` of mpiexec, which SIGKILL leaves behind.

    Other hosts keep their own place, and the program's TMPDIR stays as it is. Tried with 5.0.11.
    """
    return {"PRTE_MCA_prte_local_tmpdir_base": folder}
