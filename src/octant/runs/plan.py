"""Works out a launch, once: placement, launcher, words, environment, time-out. Whoever starts it decides nothing."""

import functools
import os
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant import build, launchers, units, workloads
from octant.ask import Ask, Launch, Shape
from octant.failure import Exit, Refusal
from octant.launch import Planned, bind
from octant.launch import link as links
from octant.launch.link import Link
from octant.machine import Machine, blas, fftw
from octant.mpi import settings
from octant.mpi.proof import READ_BACK
from octant.placement import RankPlace, planner
from octant.placement.request import Request, parse_request
from octant.runs import rounds
from octant.store import StoredRun

START_S, START_RANKS_S, POINT_S = 0.1, 0.4, 0.1  # of a process, of ranks, and of filling and checking a point
BUDGET_S = 0.2  # of a point where nobody says, as most kernels declare
STARTUP_S = 30.0  # until a launch has surely started
SLACK = 4.0
ALONE_LEAST_S, ALONE_SLACK = 25.0, 3.0
BYTE_S = 20e-9  # of filling, sending and checking a message of 2 GiB, with room

_FILE = re.compile(r"/(?!\d+\Z)")  # 10.0.0.0/8 is a network
Planner = Callable[[Launch], Planned]


@dataclass(frozen=True)
class Placed:
    """A placement as the start of a launch needs it."""

    request: Request
    bind_words: tuple[str, ...]  # of octant-bind, for the ranks of one node
    places: tuple[RankPlace, ...]


def expected_seconds(launch: Launch) -> float:
    """About how long a launch takes: the budgets of its cells, and starting, filling and checking.

    The knob `duration` is how long one repetition of a cell lasts, whatever the budget.
    """
    words, lasting = (launch.started_knobs.get(name, "").split(",") for name in ("seconds", "duration"))
    budget_s = sum(map(_seconds, words)) / len(words)
    if "duration" in launch.started_knobs:
        budget_s += sum(map(_seconds, lasting)) / len(lasting)
    return (START_S if launch.ask.shape.ranks == 1 else START_RANKS_S) + len(launch.cells()) * (budget_s + POINT_S)


def _seconds(word: str) -> float:
    try:
        return units.parse_seconds(word)
    except ValueError:  # the kernel's own default, or refused by it
        return BUDGET_S


def timeout_seconds(launch: Launch, hardware_threads: int = 0) -> float:
    """When a launch has surely hung: far more than it is expected to take.

    Where a pattern of an MPI library that hangs is to be expected (`Workload.alone`), each would cost this: then a few
    times what is expected, more where ranks share hardware threads, and the time that long messages need.

    Args:
        hardware_threads: that the ranks may use; 0: not known.
    """
    expected_s = expected_seconds(launch)
    if not workloads.alone_knobs(launch.ask.subject.workload):
        return STARTUP_S + SLACK * (len(launch.cells()) * 5.0 + expected_s)
    crowd = max(1.0, launch.ask.shape.ranks / hardware_threads) if hardware_threads else 1.0
    lengths = [_length(cell.get("bytes", "")) for cell in launch.cells()]
    return max(ALONE_LEAST_S, ALONE_SLACK * crowd * expected_s + BYTE_S * sum(lengths))


def _length(word: str) -> int:
    try:
        return units.parse_bytes(word)
    except ValueError:
        return 0


def planner_of(run: StoredRun, timeout_s: float | None = None) -> Planner:
    """What works out the launches of a run; a placement that many launches ask for is worked out once.

    Args:
        timeout_s: of each launch; `None`: far more than it is expected to take.

    Raises:
        Refusal: the environment has a name that the MPI library would ignore.
    """
    settings.check_environment(os.environ)
    placed_once = functools.cache(functools.partial(placed, machine=run.machine))
    own = environment()
    return functools.partial(
        resolve, records=run.records.resolve(), placed_at=placed_once, own=own, timeout_s=timeout_s, seed=run.seed,
        hardware_threads=len(run.machine.topology.usable()),
    )  # fmt: skip


def resolve(
    launch: Launch,
    records: Path,
    placed_at: Callable[[str], Placed],
    own: Mapping[str, str],
    timeout_s: float | None = None,
    seed: int = 0,
    hardware_threads: int = 0,
) -> Planned:
    """Everything that the start of a launch needs.

    Args:
        records: absolute path of the file that kernels append to.
        placed_at: works out the text of a placement.
        own: what every kernel finds in its environment.
        seed: of the run, from which a launch draws the order of its points and its hardware threads.
        hardware_threads: of this node, for the time-out.

    Raises:
        Refusal: no kernel or launcher, one that cannot start this, or a placement that does not fit.
    """
    ask, shape = launch.ask, launch.ask.shape
    given = launch.started_knobs.get("threads", "1").split(",")  # the kernel refuses what is no number, and says why
    threads = max((int(word) for word in given if word.isdecimal()), default=1)
    kernel = None
    if ask.subject.command:
        program = _fill_words(launch)
        variables = {"OMP_NUM_THREADS": str(threads)} if "threads" in launch.started_knobs else {}
    else:
        kernel = build.find(ask.subject.workload)
        drawn = str(rounds.seed_within(seed, f"launch {launch.repeat}"))
        program = [str(kernel), "--output", str(records), "--run", launch.key, "--seed", drawn, *launch.words]
        variables = dict(own)
    variables |= ask.mpi
    if ask.mpi:
        variables[READ_BACK] = ",".join(sorted(ask.mpi))
    link = _link(shape)
    variables |= links.environment(link, ask.mpi) if link else {}
    there = placed_at(shape.place) if shape.place else None
    size = launchers.JobSize(
        shape.ranks, there.request.ranks if there else None, threads, shape.hosts, tuple(sorted(variables))
    )
    size = links.job_size(link, size) if link else size
    name = launchers.chosen(shape.launcher, size)
    if crowded := launchers.yielding(name, size):
        variables |= {**crowded, **ask.mpi}
        variables[READ_BACK] = ",".join(sorted({*crowded, *ask.mpi}))
    if there:
        # What an outer launcher says about us is not about the rank that we start without one.
        alone = ["--local-rank", "0"] if name == "direct" else []
        stated = ["--refusal", str(bind.refusal_path(records))]
        program = [str(build.find("bind")), *stated, *there.bind_words, *alone, "--", *program]
    words = launchers.launcher(name).command(program, size)
    limit_s = timeout_s or timeout_seconds(launch, hardware_threads * max(1, len(shape.hosts)))
    if link:
        words = links.wrapped(words, link, links.report_path(records))
    return Planned(
        launch, tuple(words), variables, name, there.places if there else (), expected_seconds(launch),
        limit_s, build.digest(kernel) if kernel else "",
    )  # fmt: skip


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
    except planner.DoesNotFit as error:
        raise Refusal(str(error), Exit.NOT_SUPPORTED) from error
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error


def check_startable(ask: Ask, machine: Machine) -> None:
    """Plans the first launch of an ask, so that what can never start is refused before there is a run of it.

    Raises:
        Refusal: as `resolve`, or the environment has a name that the MPI library would ignore.
    """
    settings.check_environment(os.environ)
    resolve(Launch(ask), Path(), functools.partial(placed, machine=machine), environment())


def environment() -> dict[str, str]:
    """What every kernel finds in its environment: no library of its own makes threads behind our back."""
    variables = {"OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false"}
    for name, finder in (("OCTANT_BLAS", blas.libraries), ("OCTANT_FFTW", fftw.libraries)):
        if libraries := os.environ.get(name) or blas.named(finder()):
            variables[name] = libraries
    return variables


def check_stored(launches: Sequence[Launch], allowed: Collection[str] = ()) -> None:
    """Looks at what a stored run would start, since it may be anybody's.

    Args:
        allowed: hosts and names of files that the user has said may be used.

    Raises:
        Refusal: a command line, a setting that is none of an MPI library that we know, or a host or a file (a library
            that a kernel would load) that is not allowed.
    """
    for launch in launches:
        if launch.ask.subject.command:
            what = " ".join(launch.ask.subject.command)
            why = "what a store says is never started"
            raise Refusal(f"cannot go on with the command line {what!r} ({why}); give it again", Exit.NOT_SUPPORTED)
    settings.check_stored(dict.fromkeys(name for launch in launches for name in launch.ask.mpi))
    named = dict.fromkeys(word for launch in launches for word in _hosts_and_files(launch.ask) if word not in allowed)
    if named:
        words = " ".join(f"--allow {shlex.quote(word)}" for word in named)
        why = "what a store names is neither reached nor loaded"
        raise Refusal(
            f"cannot go on with {', '.join(named)} ({why}); if you know them, try {words}", Exit.NOT_SUPPORTED
        )


def _hosts_and_files(ask: Ask) -> list[str]:
    """The hosts that an ask names, and every value that may name a file."""
    words = [word for value in (*ask.knobs.values(), *ask.mpi.values()) for word in value.split(",")]
    maps = [word[4:] for word in ask.shape.place.replace(" ", "").split(",") if word.startswith("map=")]
    return [*ask.shape.hosts, *filter(_FILE.search, words), *maps]


def _fill_words(launch: Launch) -> list[str]:
    """The words of a command line, with the values of its knobs where they are named in braces."""
    known = {"ranks": str(launch.ask.shape.ranks), **launch.started_knobs}
    return [re.sub(r"\{(\w+)\}", lambda name: known.get(name[1], name[0]), word) for word in launch.ask.subject.command]
