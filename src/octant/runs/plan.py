"""Works out a launch, once: placement, launcher, words, environment, time-out. Whoever starts it decides nothing."""

import functools
import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from octant import build, launchers, units, workloads
from octant.build.describe import default_knobs
from octant.failure import Exit, Refusal
from octant.launch import Planned, ProgramStart, bind, guard
from octant.launch import link as links
from octant.launch.link import Link
from octant.machine import Machine
from octant.mpi import settings
from octant.mpi.proof import READ_BACK
from octant.placement import RankPlacement, planner
from octant.placement.request import PlacementRequest, parse_request
from octant.request import Launch, Request, Shape
from octant.runs import rounds
from octant.runs.declared import check_memory, declared
from octant.runs.durations import BUDGET_S, Durations
from octant.runs.programs import fill
from octant.runs.programs.checks import check_commands, check_references
from octant.runs.programs.limits import NO_LIMIT_S, TimeLimits
from octant.software import blas, fftw
from octant.store import StoredRun
from octant.store.lines import Records

START_S, START_RANKS_S, POINT_S = 0.1, 0.4, 0.1  # of a process, of ranks, and of filling and checking a point
STARTUP_S = 30.0  # until a launch has surely started
SLACK = 4.0
SLOWER = 10.0
"""Times that a cell may take of what its slowest point took so far."""
UNKNOWN_S = 3600.0
"""Of a launch with a cell of which neither a declaration nor a point says how long it takes."""
ALONE_LEAST_S, ALONE_SLACK = 25.0, 3.0
COMMANDS_S = 600.0
"""The time limit of each command before and after a launch of a program."""
BYTE_S = 20e-9  # of filling, sending and checking a message of 2 GiB, with room

_FILE = re.compile(r"/(?!\d+\Z)")  # 10.0.0.0/8 is a network
Planner = Callable[[Launch], Planned]


@dataclass(frozen=True)
class Placed:
    """A placement as the start of a launch needs it."""

    request: PlacementRequest
    bind_words: tuple[str, ...]  # of octant-bind, for the ranks of one node
    places: tuple[RankPlacement, ...]


def expected_seconds(launch: Launch) -> float:
    """About how long a launch takes: the budgets of its cells, and starting, filling and checking.

    The knob `duration` is how long one repetition of a cell lasts, whatever the budget.
    """
    words, lasting = (launch.started_knobs.get(name, "").split(",") for name in ("seconds", "duration"))
    budget_s = sum(map(_seconds, words)) / len(words)
    if "duration" in launch.started_knobs:
        budget_s += sum(map(_seconds, lasting)) / len(lasting)
    return (START_S if launch.request.shape.ranks == 1 else START_RANKS_S) + len(launch.cells()) * (budget_s + POINT_S)


def _seconds(word: str) -> float:
    try:
        return units.parse_seconds(word)
    except ValueError:  # the kernel's own default, or refused by it
        return BUDGET_S


def timeout_seconds(launch: Launch, hardware_threads: int = 0, known: Durations | None = None) -> float:
    """When a launch has surely hung: far more than it is expected to take.

    A step may last longer than all budgets. Its cell then has many times what its slowest point took; before there is
    one, what its declared step takes at rates that are far below those of any machine; else an hour for the launch.

    Where a pattern of an MPI library that hangs is to be expected (`Workload.alone`), each would cost this: then a few
    times what is expected, more where ranks share hardware threads, and the time that long messages need.

    Args:
        hardware_threads: that the ranks may use; 0: not known.
        known: what points took so far.
    """
    expected_s = expected_seconds(launch)
    if not workloads.alone_knobs(launch.request.subject.workload):
        steps_s = [_steps_s(launch.request, cell, hardware_threads, known or Durations()) for cell in launch.cells()]
        unknown_s = UNKNOWN_S if None in steps_s else 0.0
        return STARTUP_S + SLACK * (len(launch.cells()) * 5.0 + expected_s) + sum(filter(None, steps_s)) + unknown_s
    crowd = max(1.0, launch.request.shape.ranks / hardware_threads) if hardware_threads else 1.0
    lengths = [_length(cell.get("bytes", "")) for cell in launch.cells()]
    return max(ALONE_LEAST_S, ALONE_SLACK * crowd * expected_s + BYTE_S * sum(lengths))


def _steps_s(request: Request, cell: Mapping[str, str], hardware_threads: int, known: Durations) -> float | None:
    """What the steps of a cell may take beside its budget; `None`: nothing says."""
    knobs = {**default_knobs(request.subject.workload), **cell} if request.subject.workload else cell
    slowest_s = known.slowest_s(request.subject.workload, knobs, (request.shape.ranks, _threads(knobs)))
    if slowest_s is not None:
        return SLOWER * slowest_s
    found = declared(request, cell)
    return found.longest_s(hardware_threads) if found and not request.shape.link else None


def _length(word: str) -> int:
    try:
        return units.parse_bytes(word)
    except ValueError:
        return 0


def planner_of(run: StoredRun, timeout_s: float | None = None, known: Durations | None = None) -> Planner:
    """What works out the launches of a run; a placement that many launches ask for is worked out once.

    Args:
        timeout_s: of each launch; `None`: far more than it is expected to take, as its points so far say; of a
            program a multiple of what the cell took so far.
        known: what points of earlier runs took.

    Raises:
        Refusal: the environment has a name that the MPI library would ignore.
    """
    settings.check_environment(os.environ)
    placed_once = functools.cache(functools.partial(placed, machine=run.machine))
    own = environment()
    tail, taken = Records(run.records, run.keys, run.started), known or Durations()
    threads = len(run.machine.topology.usable())
    limits = TimeLimits()

    resolved: dict[tuple[str, str], Planned] = {}  # launches of a program, which are alike for each cell

    def planned(launch: Launch) -> Planned:
        nonlocal taken
        points, _ = tail.read_new()
        if launch.request.subject.command:
            limits.add(points)
            cell = (launch.request.key, repr(sorted(launch.started_knobs.items())))
            if cell not in resolved:
                resolved[cell] = resolve_program(launch, run.records.resolve(), placed_once, timeout_s, timeout_s)
            return replace(resolved[cell], launch=launch, timeout_s=timeout_s or limits.limit_s(launch))
        taken = taken.add(points)
        here = threads * max(1, len(launch.request.shape.hosts))
        limit_s = timeout_s or timeout_seconds(launch, here, taken)
        return resolve(launch, run.records.resolve(), placed_once, own, limit_s, run.seed)

    return planned


def resolve(
    launch: Launch,
    records: Path,
    placed_at: Callable[[str], Placed],
    own: Mapping[str, str],
    timeout_s: float | None = None,
    seed: int = 0,
) -> Planned:
    """Everything that the start of a launch needs.

    Args:
        records: absolute path of the file that kernels append to.
        placed_at: works out the text of a placement.
        own: what every kernel finds in its environment.
        seed: of the run, from which a launch draws the order of its points and its hardware threads.
        timeout_s: of the launch; `None`: as declared, without what points took.

    Raises:
        Refusal: no kernel or launcher, one that cannot start this, or a placement that does not fit.
    """
    request, shape = launch.request, launch.request.shape
    if request.subject.command:
        return resolve_program(launch, records, placed_at, timeout_s)
    threads = _threads(launch.started_knobs)
    kernel = build.find(request.subject.workload)
    drawn = str(rounds.seed_within(seed, f"launch {launch.repeat}"))
    program = [str(kernel), "--output", str(records), "--run", launch.key, "--seed", drawn, *launch.words]
    variables = {**own, **request.mpi}
    if request.mpi:
        variables[READ_BACK] = ",".join(sorted(request.mpi))
    link = _link(shape)
    variables |= links.environment(link, request.mpi) if link else {}
    there = placed_at(shape.place) if shape.place else None
    size = launchers.JobSize(
        shape.ranks, there.request.ranks if there else None, threads, shape.hosts, tuple(sorted(variables))
    )
    size = links.job_size(link, size) if link else size
    name = launchers.chosen(shape.launcher, size)
    if crowded := launchers.yielding(name, size):
        variables |= {**crowded, **request.mpi}
        variables[READ_BACK] = ",".join(sorted({*crowded, *request.mpi}))
    if there:
        # What an outer launcher says about us is not about the rank that we start without one.
        alone = ["--local-rank", "0"] if name == "direct" else []
        stated = ["--refusal", str(bind.refusal_path(records))]
        program = [str(build.find("bind")), *stated, *there.bind_words, *alone, "--", *program]
    words = launchers.launcher(name).command(program, size)
    if link:
        words = links.wrapped(words, link, links.report_path(records))
    return Planned(
        launch, tuple(words), variables, name, there.places if there else (), expected_seconds(launch),
        timeout_s or timeout_seconds(launch), build.digest(kernel),
    )  # fmt: skip


def resolve_program(
    launch: Launch,
    records: Path,
    placed_at: Callable[[str], Placed],
    timeout_s: float | None = None,
    commands_timeout_s: float | None = None,
) -> Planned:
    """Everything that a launch of a user's program needs, for a start of one cell.

    If the first word is a known launcher, octant-bind stands in front of the program that it starts; else Octant starts
    as many ranks of the program as were asked for.

    Args:
        records: absolute path of the file of records.
        placed_at: works out the text of a placement.
        timeout_s: of the launch; `None`: none.
        commands_timeout_s: of each command before and after it; `None`: ten minutes.

    Raises:
        Refusal: no launcher, one that cannot start this, its command line cannot be taken apart, or a placement that
            does not fit.
    """
    subject, shape, known = launch.request.subject, launch.request.shape, fill.known_values(launch)
    words = fill.filled_words(subject.command, known)
    variables = {name: fill.filled(value, known) for name, value in subject.environment.items()}
    if "threads" in launch.started_knobs:
        variables = {"OMP_NUM_THREADS": launch.started_knobs["threads"], **variables}
    variables |= launch.request.mpi
    there = placed_at(shape.place) if shape.place else None
    found = launchers.recognise(words, {**os.environ, **variables})
    ranks = (found[1].ranks or 0) if found else shape.ranks
    name = found[0] if found else launchers.chosen(shape.launcher, launchers.JobSize(ranks, hosts=shape.hosts))
    report = bind.report_path(records)
    stated = ["--refusal", str(bind.refusal_path(records)), *guard.words(report)]
    alone = ["--local-rank", "0"] if there and name == "direct" else []
    bound = [str(build.find("bind")), *stated, *(there.bind_words if there else ()), *alone, "--"]
    if found:
        at = found[1].program
        started = [*words[:at], *bound, *words[at:]]
    else:
        threads = _threads(launch.started_knobs)
        per_node = there.request.ranks if there else None
        size = launchers.JobSize(ranks, per_node, threads, shape.hosts, tuple(sorted(variables)))
        started = launchers.launcher(name).command([*bound, *words], size)
    program = ProgramStart(
        fill.filled(subject.input, known),
        subject.directory,
        subject.fresh,
        tuple(tuple(fill.filled_words(one, known)) for one in subject.before),
        tuple(tuple(fill.filled_words(one, known)) for one in subject.after),
        " ".join(found[1].options) if found and found[1].binds else "",
        tuple(fill.filled_words(subject.keep, known)),
        words[found[1].program if found else 0],
        str(report),
        commands_timeout_s or COMMANDS_S,
    )
    return Planned(
        launch, tuple(started), variables, name, there.places if there else (), expected_seconds(launch),
        timeout_s or NO_LIMIT_S, ranks=ranks, program=program,
    )  # fmt: skip


def _threads(knobs: Mapping[str, str]) -> int:
    """The most threads of a rank; the kernel refuses what is no number, and says why."""
    return max((int(word) for word in knobs.get("threads", "1").split(",") if word.isdecimal()), default=1)


def _link(shape: Shape) -> Link | None:
    """The emulated link of a launch, which only mpiexec can start over.

    Raises:
        Refusal: it cannot be read, something of the shape does not go with it, or this system allows none.
    """
    if not shape.link:
        return None
    link = links.read_link(shape.link)
    if shape.place or shape.launcher not in ("", "mpiexec"):
        what = "a placement" if shape.place else f"the launcher {shape.launcher}"
        why = "mpiexec starts the ranks, and each host has its share of the hardware threads"
        raise Refusal(f"cannot emulate a link with {what} ({why}); try without it", Exit.WRONG_WORD)
    links.check(link)
    return link


def placed(text: str, machine: Machine) -> Placed:
    """What the text of a placement means on a machine.

    Raises:
        Refusal: it cannot be read, or does not fit.
    """
    try:
        request = parse_request(text)
        placement = planner.plan(machine.topology, request, machine.page_sizes)
        return Placed(request, tuple(bind.words(placement, request)), placement.ranks)
    except planner.DoesNotFitError as error:
        raise Refusal(str(error), Exit.NOT_SUPPORTED) from error
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error


def check_startable(request: Request, machine: Machine) -> None:
    """Plans the first launch of a request, so that what can never start is refused before there is a run of it.

    Of a program each combination of the values of its knobs is planned, since they may be words of a launcher.

    Raises:
        Refusal: as `resolve`, a cell does not fit into memory, or the environment has a name that the MPI library would
            ignore.
    """
    settings.check_environment(os.environ)
    check_memory(request, machine)
    known = (
        [fill.known_values(Launch(request, knobs=cell)) for cell in request.cells()] if request.subject.command else []
    )
    check_commands(request.subject, known[0] if known else {})
    check_references(request.subject, known)
    placed_once = functools.cache(functools.partial(placed, machine=machine))
    for start in Launch(request).starts():
        resolve(start, Path(), placed_once, environment())


def environment() -> dict[str, str]:
    """What every kernel finds in its environment: no library of its own makes threads behind our back."""
    variables = {"OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false"}
    for name, finder in (("OCTANT_BLAS", blas.libraries), ("OCTANT_FFTW", fftw.libraries)):
        if libraries := os.environ.get(name) or blas.named(finder()):
            variables[name] = libraries
    return variables


def check_stored(launches: Sequence[Launch], allowed: Collection[str] = (), given: bool = False) -> None:
    """Looks at what a stored run would start, since it may be anybody's.

    Args:
        allowed: hosts and names of files that the user has said may be used.
        given: the user has given the command lines again, and the values of their knobs (`programs.again`).

    Raises:
        Refusal: a command line, a setting that is none of an MPI library that we know, or a host or a file (a library
            that a kernel would load) that is not allowed.
    """
    for launch in launches:
        if launch.request.subject.command and not given:
            what = " ".join(launch.request.subject.command)
            why = "what a store says is never started"
            raise Refusal(f"cannot go on with the command line {what!r} ({why}); give it again", Exit.NOT_SUPPORTED)
    settings.check_stored(dict.fromkeys(name for launch in launches for name in launch.request.mpi))
    named = dict.fromkeys(
        word for launch in launches for word in _hosts_and_files(launch.request) if word not in allowed
    )
    if named:
        words = " ".join(f"--allow {shlex.quote(word)}" for word in named)
        why = "what a store names is neither reached nor loaded"
        raise Refusal(
            f"cannot go on with {', '.join(named)} ({why}); if you know them, try {words}", Exit.NOT_SUPPORTED
        )


def _hosts_and_files(request: Request) -> list[str]:
    """The hosts that a request names, and every value that may name a file."""
    knobs = (
        () if request.subject.command else request.knobs.values()
    )  # those of a program are given again, or it is refused
    words = [word for value in (*knobs, *request.mpi.values()) for word in value.split(",")]
    maps = [word[4:] for word in request.shape.place.replace(" ", "").split(",") if word.startswith("map=")]
    return [*request.shape.hosts, *filter(_FILE.search, words), *maps]
