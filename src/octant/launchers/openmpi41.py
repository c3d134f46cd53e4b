"""Open MPI 4.1: the options of 5 in an older syntax; `socket` for `package`, slots that continue across packages."""

from collections.abc import Mapping, Sequence

from octant.launchers import (
    LaunchCommand,
    LauncherReading,
    Syntax,
    _command,
    _openmpi,
    _words,
    _writing,
)
from octant.launchers._openmpi import orte, orte_policy, rankfile, tables
from octant.machine import CpuSet, Topology
from octant.placement import Placement
from octant.placement.request import PlacementRequest

TITLE = "Open MPI 4.1"
COMMANDS = ("mpiexec", "mpirun", "mpiexec.openmpi", "mpirun.openmpi", "orterun")
UNBIND = "--bind-to none"
ANSWER = r"\((Open MPI|OpenRTE)\) 4\."
OPTIONS, VARIABLES = tables.OPTIONS41, tables.VARIABLES41
MARK = _openmpi.OF_41
DECIDES = "--mca hwloc_base_report_bindings 1"  # not in Open MPI 5, so that the line is read back as one of 4.1
_UNITS = ("slot", "l3cache", "numa", "socket")


def to_syntax(placement: Placement, request: PlacementRequest, topology: Topology) -> Syntax:
    """Return the shortest options that give the masks, or a rank file. Compared with runs of 4.1.4."""
    sets = _writing.rank_sets(placement)
    option = next((text for text in _options(sets, topology, request.unit) if _same(text, sets, topology)), None)
    files: tuple[tuple[str, str], ...] = ()
    if option is None:
        option = "--rankfile octant.rankfile --use-hwthread-cpus"
        files = (("octant.rankfile", rankfile.write(sets, topology)),)
    cannot = [
        *_writing.thread_remarks(placement, "Open MPI"),
        *_writing.memory_remarks(request, "Open MPI 4.1 (hwloc_base_mem_alloc_policy supports at most local_only)"),
        *_writing.page_remarks(request),
    ]
    if files:
        cannot.append("no option of Open MPI 4.1 gives these masks; a rank file does (with logical numbers)")
    lines = (
        *_writing.openmp_line(request),
        *_writing.heap_line(request),
        f"mpirun -n {len(sets)} {option} {DECIDES} {_writing.PROGRAM}",
    )
    return Syntax(lines, True, tuple(cannot), files)


def _options(sets: Sequence[CpuSet], topology: Topology, unit: str) -> list[str]:
    cores = max(sum(1 for core in topology.groups("core") if core & held) for held in sets)
    threads = max(map(len, sets))
    units = [name for name in _UNITS if name == "slot" or orte.has_level(topology, name)]
    parts = [f"--map-by {name}:PE={cores} --bind-to core" for name in units]
    whole = [f"--map-by {name} --bind-to {name}" for name in units if name != "slot"]
    fine = [f"--use-hwthread-cpus --map-by {name}:PE={threads} --bind-to hwthread" for name in units]
    return [*whole, *parts, *fine] if unit in ("l3", "numa", "package") else [*parts, *whole, *fine]


def _same(option: str, sets: Sequence[CpuSet], topology: Topology) -> bool:
    given = parse(["mpirun", "-n", str(len(sets)), *option.split()])
    try:
        policy, ranks = orte_policy.read(given.all_values, {}, topology)
        return orte.place(topology, policy, ranks) == sets
    except ValueError:
        return False


def from_syntax(command: _command.Command, topology: Topology) -> LauncherReading:
    """Read options of Open MPI 4.1."""
    masks, notes = rank_masks(command, topology)
    notes += _openmpi.find_ineffective_options(command, masks, lambda rest: rank_masks(rest, topology)[0])
    return _openmpi.reading(command, topology, masks, notes)


def rank_masks(command: _command.Command, topology: Topology) -> tuple[list[CpuSet | None], list[str]]:
    """Return the mask of each rank, `None`: unbound, and remarks.

    Raises:
        ValueError: Open MPI 4.1 refuses the line, or Octant does not read it.
    """
    if not command.words:
        raise ValueError("cannot find the command line of mpirun; start it with mpirun or mpiexec")
    if command.file:
        raise ValueError("cannot interpret a rank file of Open MPI 4.1, which is not supported; use options")
    policy, ranks = orte_policy.read(command.given.all_values, _openmpi.mpirun_variables(command), topology)
    masks = orte.place(topology, policy, ranks)
    own = _openmpi.find_option_of_41(command.text)
    notes = [f"interpreted as Open MPI 4.1 because of {own}, which Open MPI 5 ignores or refuses"] if own else []
    if ranks is None:
        notes.append(f"no number of ranks given: Open MPI 4.1 starts {len(masks)}")
    if all(mask is None for mask in masks):
        why = "binding is switched off" if policy.binder == "none" else "there are more ranks than CPUs or slots"
        notes.append(f"Open MPI 4.1 leaves every rank unbound here ({why})")
    return masks, notes


_BINDING = {"OMPI_MCA_": ("hwloc_base_binding_policy",)}


def parse(words: Sequence[str]) -> _words.ParsedOptions:
    """Read options up to the program.

    Raises:
        ValueError: an option that Open MPI 4.1 does not have, a missing value, or no program would start.
    """
    return _words.scan(words, OPTIONS, _split)


def recognise(words: Sequence[str], environment: Mapping[str, str]) -> LaunchCommand:
    """Take a command line apart: names have one dash or two, and the next word is the value; no joined letters.

    Without -n Open MPI 4.1 starts as many ranks as there are slots: cores of the node, or what the batch system, --host
    or a host file state; -N and `ppr` multiply with the number of nodes. It binds by default: up to two ranks to cores,
    more to sockets, and none if there are more ranks than slots. Files of MCA parameters are not read here.

    Raises:
        ValueError: an option that Open MPI 4.1 does not have, a missing value, or several programs.
    """
    given = parse(words)
    at = _words.program_index(words, given)
    found = _openmpi.binding_option(given, _BINDING, environment) or (True, _openmpi.BY_DEFAULT)
    return LaunchCommand(_openmpi.read_rank_count(given), tuple(words[1:at]), at, *found)


def _split(word: str) -> tuple[str, str | None]:
    return word[2 if word.startswith("--") else 1 :], None


def temporary(folder: str) -> dict[str, str]:
    """Return the variable that moves the session folder `ompi.HOST.UID` of mpiexec, which SIGKILL leaves behind.

    The folder has the same name on other hosts. `orte_local_tmpdir_base` would leave these as they are, but then every
    MPI program refuses to start, because mpiexec also hands it `orte_tmpdir_base` (4.1.4). TMPDIR stays as it is.
    """
    return {"OMPI_MCA_orte_tmpdir_base": folder}
