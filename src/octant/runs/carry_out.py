"""Carries out a plan: starts each launch that has no result yet, and keeps whatever comes of it."""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass

from octant import build, store
from octant.ask import Launch
from octant.build import blas
from octant.failure import Exit, Refusal
from octant.launch import bind, launchers
from octant.launch.execute import Outcome, execute
from octant.machine import Machine
from octant.placement import planner
from octant.placement.request import Request, parse_request
from octant.record import Failure
from octant.runs import mpi_settings
from octant.store import Store, StoredRun

STARTUP_S = 30.0
SLACK = 4.0


@dataclass(frozen=True)
class Step:
    """How far a plan has come, for whoever shows progress."""

    done: int
    total: int
    launch: Launch
    done_s: float  # expected seconds of what is done
    total_s: float


def expected_seconds(launch: Launch) -> float:
    """About how long a launch takes: its points' budgets, and starting, filling and checking."""
    budget = launch.knobs.get("seconds", "1")
    seconds = float(budget.removesuffix("s")) if budget.replace(".", "").removesuffix("s").isdigit() else 1.0
    return 0.7 + len(launch.points()) * (0.6 * seconds + 0.1)


def timeout_seconds(launch: Launch) -> float:
    """When a launch has surely hung: far more than it is expected to take."""
    return STARTUP_S + SLACK * (len(launch.points()) * 5.0 + expected_seconds(launch))


def command(launch: Launch, run: StoredRun) -> list[str]:
    """The words that start a launch.

    Raises:
        Refusal: no kernel or no launcher.
    """
    kernel = [
        str(build.find(launch.workload)),
        "--output",
        str(run.records.resolve()),
        "--run",
        launch.key,
        *launch.words,
    ]
    request = parse_request(launch.place) if launch.place else None
    exported = tuple(sorted({*environment(), *launch.mpi}))
    given = launch.knobs.get("threads", "1").split(",")  # the kernel refuses what is no number, and says why
    threads = max((int(word) for word in given if word.isdecimal()), default=1)
    shape = launchers.Shape(launch.ranks, request.ranks if request else None, threads, launch.hosts, exported)
    name = launchers.chosen(launch.launcher, shape)
    program = [*_bound(request, run.machine, name), *kernel] if request else kernel
    return launchers.launcher(name).command(program, shape)


def _bound(request: Request, machine: Machine, launcher: str) -> list[str]:
    placement = planner.plan(machine.topology, request, machine.page_sizes)
    # What an outer launcher says about us is not about the rank that we start without one.
    alone = ["--local-rank", "0"] if launcher == "direct" else []
    return [str(build.find("bind")), *bind.words(placement, request), *alone, "--"]


def environment() -> dict[str, str]:
    """What every kernel finds in its environment: no library of its own makes threads behind our back."""
    found = {"OMP_DYNAMIC": "false", "OMP_PROC_BIND": "false"}
    library = os.environ.get("OCTANT_BLAS") or blas.openblas_path()
    return {**found, "OCTANT_BLAS": str(library)} if library else found


def carry_out(
    where: Store,
    run: StoredRun,
    progress: Callable[[Step, float], None],
    timeout_s: float | None = None,
    start: Callable[..., Outcome] = execute,
) -> StoredRun:
    """Starts what is left of a run, launch by launch; a launch that fails is recorded and the rest goes on.

    Args:
        progress: called with the step and the seconds that the current launch has taken.
        timeout_s: of one launch; `None` derives it from the points' budgets.
        start: what starts a command (tests pass one that answers without starting anything).

    Raises:
        Refusal: the store cannot be written, another process is at this run, or the environment has a name that the
            MPI library would ignore.
        KeyboardInterrupt: passed on, after the current launch was ended; what was measured is kept.
    """
    mpi_settings.check_environment(os.environ)
    with store.held(run):
        run = where.read(run.id)  # whoever held it before may have gone on with it
        left = run.left()
        total_s = sum(map(expected_seconds, left))
        done_s = 0.0
        for number, launch in enumerate(left):
            step = Step(number, len(left), launch, done_s, total_s)
            store.mend(run)
            _one(where, run, launch, functools.partial(progress, step), timeout_s, start)
            done_s += expected_seconds(launch)
    return where.read(run.id)


def _one(
    where: Store,
    run: StoredRun,
    launch: Launch,
    tick: Callable[[float], None],
    timeout_s: float | None,
    start: Callable[..., Outcome],
) -> None:
    before = len(where.read(run.id, samples=False).failures)
    try:
        words = command(launch, run)
        outcome = start(words, {**environment(), **launch.mpi}, timeout_s or timeout_seconds(launch), tick)
    except Refusal as refusal:
        where.append(run, _failure(launch, str(refusal), refusal.code))
        return
    unsupported = outcome.code == Exit.NOT_SUPPORTED
    told = (unsupported or outcome.code == Exit.WRONG_ANSWER) and "octant-bind:" in outcome.said  # no kernel ran
    recorded = outcome.code in (Exit.OK, Exit.WRONG_ANSWER) or (not launch.hosts and _left_reason(where, run, before))
    if outcome.timed_out or told or not recorded:
        where.append(run, _failure(launch, outcome.reason, Exit.NOT_SUPPORTED if unsupported else Exit.CANNOT_RUN))


def _left_reason(where: Store, run: StoredRun, before: int) -> bool:
    """Whether a rank recorded why it failed; launchers do not always pass on what it said."""
    return len(where.read(run.id, samples=False).failures) > before


def _failure(launch: Launch, reason: str, code: int) -> Failure:
    # A launcher that ends quickly may not pass on what the remote side said; which hosts were asked is always told.
    where = f"on {', '.join(launch.hosts)}: {reason}" if launch.hosts else reason
    return Failure(launch.workload, launch.key, launch.knobs, launch.ranks, where, int(code))
