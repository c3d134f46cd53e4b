"""Resolve launches: placement, launcher, command line, environment and timeout."""

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
from octant.launch import Planned, ProgramStart, bind, guard, profiles
from octant.launch import link as links
from octant.launch.link import Link
from octant.machine import Machine
from octant.mpi import settings
from octant.mpi.proof import READ_BACK
from octant.placement import RankPlacement, planner
from octant.placement.request import PlacementRequest, parse_request
from octant.request import Launch, Request, Shape
from octant.runs import rounds
from octant.runs.cell_costs import check_memory, declared_cost
from octant.runs.durations import BUDGET_S, Durations
from octant.runs.programs import placeholders
from octant.runs.programs.checks import check_commands, check_references
from octant.runs.programs.timeouts import NO_LIMIT_S, TimeLimits
from octant.software import blas, fftw
from octant.store import StoredRun
from octant.store.lines import Records

START_S, START_RANKS_S, POINT_S = 0.1, 0.4, 0.1  # of a process, of ranks, and of filling and checking a point
STARTUP_S = 30.0  # upper limit of the start-up time of a launch
SLACK = 4.0
SLOWER = 10.0
"""Timeout of a cell, relative to its slowest measurement so far."""
UNKNOWN_S = 3600.0
"""Timeout of a launch with a cell that has neither a declared step nor a measurement."""
ALONE_LEAST_S, ALONE_SLACK = 25.0, 3.0
COMMANDS_S = 600.0
"""Timeout of each command before and after a launch of a program."""
BYTE_S = 20e-9  # upper limit per byte of filling, sending and checking a message of 2 GiB

_FILE = re.compile(r"/(?!\d+\Z)")  # 10.0.0.0/8 is a network
Planner = Callable[[Launch], Planned]


@dataclass(frozen=True)
class Placed:
    """A placement in the form that a launch needs."""

    request: PlacementRequest
    bind_words: tuple[str, ...]  # of octant-bind, for the ranks of one node
    places: tuple[RankPlacement, ...]


def expected_seconds(launch: Launch) -> float:
    """Estimate the duration of a launch: the budgets of its cells, start-up, initialisation and verification.

    The knob `duration` is the time of one repetition of a cell, independently of the budget.
    """
    words, lasting = (launch.started_knobs.get(name, "").split(",") for name in ("seconds", "duration"))
    budget_s = sum(map(_seconds, words)) / len(words)
    if "duration" in launch.started_knobs:
        budget_s += sum(map(_seconds, lasting)) / len(lasting)
    return (START_S if launch.request.shape.ranks == 1 else START_RANKS_S) + len(launch.cells()) * (budget_s + POINT_S)


def _seconds(word: str) -> float:
    try:
        return units.parse_seconds(word)
    except ValueError:  # the default of the kernel, or a value that it refuses
        return BUDGET_S


def timeout_seconds(launch: Launch, hardware_threads: int = 0, known: Durations | None = None) -> float:
    """Return the timeout of a launch, far above its estimated duration.

    A step may last longer than all budgets. The timeout of its cell is then a multiple of its slowest measurement.
    Before there is one, it is the time of the declared step at rates far below those of any machine. Without a declared
    step it is one hour for the launch.

    Patterns that may hang in an MPI library (`Workload.alone`) get a tighter timeout: a few times the estimate, more if
    ranks share hardware threads, plus the time of long messages.

    Args:
        hardware_threads: number that the ranks may use; 0: not known.
        known: durations of earlier measurements.
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
    """Return the time limit of the steps of a cell beyond its budget; `None`: not known."""
    knobs = {**default_knobs(request.subject.workload), **cell} if request.subject.workload else cell
    slowest_s = known.slowest_s(request.subject.workload, knobs, (request.shape.ranks, _threads(knobs)))
    if slowest_s is not None:
        return SLOWER * slowest_s
    found = declared_cost(request, cell)
    return found.longest_s(hardware_threads) if found and not request.shape.link else None


def _length(word: str) -> int:
    try:
        return units.parse_bytes(word)
    except ValueError:
        return 0


def planner_of(run: StoredRun, timeout_s: float | None = None, known: Durations | None = None) -> Planner:
    """Return a function that resolves the launches of a run. A placement that many launches share is planned once.

    Args:
        timeout_s: timeout of each launch; `None`: as `timeout_seconds`, or for a program as `TimeLimits`.
        known: durations of measurements of earlier runs.

    Raises:
        Refusal: the environment contains a variable that the MPI library would ignore.
    """
    settings.check_environment(os.environ)
    placed_once = functools.cache(functools.partial(placed, machine=run.machine))
    base_environment = environment()
    tail, taken = Records(run.records, run.keys, run.started), known or Durations()
    threads = len(run.machine.topology.usable())
    limits = TimeLimits()

    resolved: dict[tuple[str, str], Planned] = {}  # launches of a program are equal for each cell

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
        return resolve(launch, run.records.resolve(), placed_once, base_environment, limit_s, run.seed)

    return planned


def resolve(
    launch: Launch,
    records: Path,
    placed_at: Callable[[str], Placed],
    base_environment: Mapping[str, str],
    timeout_s: float | None = None,
    seed: int = 0,
) -> Planned:
    """Return the command line, the environment and the timeout of a launch.

    Args:
        records: absolute path of the file to which kernels append.
        placed_at: plans the text of a placement.
        own: environment variables of every kernel.
        seed: seed of the run, from which a launch derives the order of its points and its hardware threads.
        timeout_s: timeout; `None`: as declared, without earlier measurements.

    Raises:
        Refusal: the kernel or the launcher is missing, the launcher does not support this, or the placement does not
            fit.
    """
    request, shape = launch.request, launch.request.shape
    if request.subject.command:
        return resolve_program(launch, records, placed_at, timeout_s)
    threads = _threads(launch.started_knobs)
    kernel = build.find(request.subject.workload)
    drawn = str(rounds.seed_within(seed, f"launch {launch.repeat}"))
    program = [str(kernel), "--output", str(records), "--run", launch.key, "--seed", drawn, *launch.words]
    variables = {**base_environment, **request.mpi}
    if request.mpi:
        variables[READ_BACK] = ",".join(sorted(request.mpi))
    link = _link(shape)
    variables |= links.environment(link, request.mpi) if link else {}
    placement = placed_at(shape.place) if shape.place else None
    size = launchers.JobSize(
        shape.ranks, placement.request.ranks if placement else None, threads, shape.hosts, tuple(sorted(variables))
    )
    size = links.job_size(link, size) if link else size
    name = launchers.chosen(shape.launcher, size)
    if crowded := launchers.yielding(name, size):
        variables |= {**crowded, **request.mpi}
        variables[READ_BACK] = ",".join(sorted({*crowded, *request.mpi}))
    if placement:
        # Variables of an outer launcher describe this process, not the rank that is started without a launcher.
        alone = ["--local-rank", "0"] if name == "direct" else []
        stated = ["--refusal", str(bind.refusal_path(records))]
        program = [str(build.find("bind")), *stated, *placement.bind_words, *alone, "--", *program]
    words = launchers.launcher(name).command(program, size)
    if link:
        words = links.wrapped(words, link, links.report_path(records))
    return Planned(
        launch, tuple(words), variables, name, placement.places if placement else (), expected_seconds(launch),
        timeout_s or timeout_seconds(launch), build.digest(kernel),
    )  # fmt: skip


def resolve_program(
    launch: Launch,
    records: Path,
    placed_at: Callable[[str], Placed],
    timeout_s: float | None = None,
    commands_timeout_s: float | None = None,
) -> Planned:
    """Return the command line, the environment and the timeout of a launch of a user's program, for one cell.

    If the command line begins with a known launcher, octant-bind is inserted before the program. Otherwise Octant
    starts the requested number of ranks.

    Args:
        records: absolute path of the file of records.
        placed_at: plans the text of a placement.
        timeout_s: timeout of the launch; `None`: no limit.
        commands_timeout_s: timeout of each command before and after it; `None`: ten minutes.

    Raises:
        Refusal: the launcher is missing or does not support this, its command line cannot be parsed, or the placement
            does not fit.
    """
    subject, shape, known = launch.request.subject, launch.request.shape, placeholders.start_values(launch)
    words = placeholders.fill_words(subject.command, known)
    variables = _program_variables(launch, known)
    placement = placed_at(shape.place) if shape.place else None
    found = launchers.recognise(words, {**os.environ, **variables})
    ranks = (found[1].ranks or 0) if found else shape.ranks
    name = found[0] if found else launchers.chosen(shape.launcher, launchers.JobSize(ranks, hosts=shape.hosts))
    at = found[1].program if found else 0
    words = _with_example_found(words, at)
    report = bind.report_path(records)
    stated = ["--refusal", str(bind.refusal_path(records)), *guard.words(report), *profiles.words(subject.profile)]
    alone = ["--local-rank", "0"] if placement and name == "direct" else []
    bound = [str(build.find("bind")), *stated, *(placement.bind_words if placement else ()), *alone, "--"]
    if found:
        started = [*words[:at], *bound, *words[at:]]
    else:
        per_node, threads = placement.request.ranks if placement else None, _threads(launch.started_knobs)
        size = launchers.JobSize(ranks, per_node, threads, shape.hosts, tuple(sorted(variables)))
        started = launchers.launcher(name).command([*bound, *words], size)
    program = ProgramStart(
        placeholders.fill_text(subject.input, known),
        subject.directory,
        subject.fresh,
        tuple(tuple(placeholders.fill_words(one, known)) for one in subject.before),
        tuple(tuple(placeholders.fill_words(one, known)) for one in subject.after),
        " ".join(found[1].options) if found and found[1].binds else "",
        tuple(placeholders.fill_words(subject.keep, known)),
        words[at],
        str(report),
        subject.profile is not None,
        commands_timeout_s or COMMANDS_S,
    )
    return Planned(
        launch, tuple(started), variables, name, placement.places if placement else (), expected_seconds(launch),
        timeout_s or NO_LIMIT_S, ranks=ranks, program=program,
    )  # fmt: skip


def _program_variables(launch: Launch, known: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are set for a program; `known` has the values of placeholders."""
    threads = launch.started_knobs.get("threads")
    stated = {name: placeholders.fill_text(value, known) for name, value in launch.request.subject.environment.items()}
    return {**({"OMP_NUM_THREADS": threads} if threads else {}), **stated, **launch.request.mpi}


def _with_example_found(words: Sequence[str], at: int) -> list[str]:
    """Return a command line with the path of an example program of Octant in place of its name."""
    example = build.example_named(words[at])
    return [*words[:at], str(build.find(example)) if example else words[at], *words[at + 1 :]]


def _threads(knobs: Mapping[str, str]) -> int:
    """Return the largest number of threads of a rank. The kernel refuses values that are not numbers."""
    return max((int(word) for word in knobs.get("threads", "1").split(",") if word.isdecimal()), default=1)


def _link(shape: Shape) -> Link | None:
    """Return the emulated link of a launch; only mpiexec supports one.

    Raises:
        Refusal: the text is invalid, the launcher or the placement excludes a link, or this system does not permit one.
    """
    if not shape.link:
        return None
    link = links.read_link(shape.link)
    if shape.place or shape.launcher not in ("", "mpiexec"):
        what = "a placement" if shape.place else f"the launcher {shape.launcher}"
        why = "mpiexec starts the ranks, and each emulated host gets an equal share of the hardware threads"
        raise Refusal(f"cannot combine --link with {what} ({why}); omit one of the two", Exit.WRONG_WORD)
    links.check(link)
    return link


def placed(text: str, machine: Machine) -> Placed:
    """Plan the text of a placement on a machine.

    Raises:
        Refusal: the text is invalid, or the placement does not fit.
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
    """Resolve the first launch of a request, so that an impossible one is refused before a run is created.

    For a program, each combination of the values of its knobs is resolved, since they may be options of a launcher.

    Raises:
        Refusal: as `resolve`, a cell does not fit into memory, or the environment contains a variable that the MPI
            library would ignore.
    """
    settings.check_environment(os.environ)
    check_memory(request, machine)
    known = (
        [placeholders.start_values(Launch(request, knobs=cell)) for cell in request.cells()]
        if request.subject.command
        else []
    )
    check_commands(request.subject, known[0] if known else {})
    check_references(request.subject, known)
    placed_once = functools.cache(functools.partial(placed, machine=machine))
    for start in Launch(request).starts():
        resolve(start, Path(), placed_once, environment())


def environment() -> dict[str, str]:
    """Return the environment variables of every kernel; they prevent libraries from starting threads of their own."""
    variables = {"OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false"}
    for name, finder in (("OCTANT_BLAS", blas.libraries), ("OCTANT_FFTW", fftw.libraries)):
        if libraries := os.environ.get(name) or blas.named(finder()):
            variables[name] = libraries
    return variables


def check_stored(launches: Sequence[Launch], allowed: Collection[str] = (), is_repeated: bool = False) -> None:
    """Check what a stored run would start, since the store may be of another user.

    Args:
        allowed: hosts and file names that the user permits (`--allow`).
        given: the user repeated the command lines and the values of their knobs (`programs.resume_checks`).

    Raises:
        Refusal: the run contains a command line, an unknown setting of an MPI library, or a host or a file (a library
            that a kernel would load) that is not permitted.
    """
    for launch in launches:
        if launch.request.subject.command and not is_repeated:
            what = " ".join(launch.request.subject.command)
            why = "command lines in a store are never executed"
            raise Refusal(f"cannot resume {what!r} ({why}); repeat the command line after --", Exit.NOT_SUPPORTED)
    settings.check_stored(dict.fromkeys(name for launch in launches for name in launch.request.mpi))
    named = dict.fromkeys(
        word for launch in launches for word in _hosts_and_files(launch.request) if word not in allowed
    )
    if named:
        words = " ".join(f"--allow {shlex.quote(word)}" for word in named)
        why = "hosts and files that are named in a store need permission"
        raise Refusal(f"cannot use {', '.join(named)} ({why}); if you trust them, add {words}", Exit.NOT_SUPPORTED)


def _hosts_and_files(request: Request) -> list[str]:
    """Return the hosts of a request, and every value that may name a file."""
    knobs = () if request.subject.command else request.knobs.values()  # the user repeats those of a program
    words = [word for value in (*knobs, *request.mpi.values()) for word in value.split(",")]
    maps = [word[4:] for word in request.shape.place.replace(" ", "").split(",") if word.startswith("map=")]
    return [*request.shape.hosts, *filter(_FILE.search, words), *maps]
