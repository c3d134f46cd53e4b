"""Interleaved measurement of two sides, in paired rounds with random order, so that a drift affects both sides equally.

The sides are two stored runs or two programs. Differences between the requests of two stored runs are reproduced. Their
environment must equal the present one, because otherwise the new runs would not represent the old ones.
"""

import itertools
import random
import shlex
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from octant import build
from octant.failure import Refusal
from octant.launch.execute import ProcessOutcome, execute
from octant.machine import Machine
from octant.machine.codec import fingerprint
from octant.machine.system import VOLATILE
from octant.request import Launch, Request, RequestPairs
from octant.runs.knobs import check_requests
from octant.runs.plan import Planner, check_startable, check_stored
from octant.runs.program_schedule import settle_baseline
from octant.runs.rounds import new_seed, seed_within
from octant.runs.session import Batch, Observe, Report, SessionRun, SideSchedule, execute_runs
from octant.store import Pair, ProvenSetting, Store, StoredRun, finished_cells, new_ids, recorded_environment
from octant.store.run_request import Looks

BASELINE_LAUNCHES = 2
"""Launches of A before the rounds if a check compares with A. A check is refused if these two launches differ."""
_OTHERS = ("SLURM_", "OCTANT_STORE", "OCTANT_KERNELS")
"""Variables that do not affect kernels. The kernels themselves are compared by their digests."""


@dataclass(frozen=True)
class Interleaved:
    """Two runs with interleaved launches."""

    before: StoredRun
    after: StoredRun

    @property
    def pair(self) -> Pair:
        """The plan of the rounds, as stored with B."""
        pair = self.after.pair
        assert pair is not None  # noqa: S101 - interleaved runs always refer to each other
        return pair

    @property
    def couples(self) -> RequestPairs:
        """The requests of both sides, in pairs."""
        return tuple(zip(self.before.requests, self.after.requests, strict=True))

    @property
    def baselines(self) -> tuple[Request, ...]:
        """The requests of A whose results are the reference of all later launches, of A and of B."""
        return tuple(
            request for request in self.before.requests if any(check.needs_baseline for check in request.subject.checks)
        )

    @property
    def rounds(self) -> int:
        """Number of complete rounds, in which each launch has failed or has results for all its cells."""
        runs = (self.before, self.after)
        failed = [{failure.launch for failure in run.failures} for run in runs]
        cells = [finished_cells(run.points, ()) for run in runs]

        def is_there(side: int, launch: Launch) -> bool:
            return launch.key in failed[side] or not launch.without(cells[side].get(launch.key, ()))

        return next(n for n in itertools.count() if not all(itertools.starmap(is_there, self.round(n))))

    def round(self, number: int) -> list[tuple[int, Launch]]:
        """Return the launches of one round with the number of their side, in a reproducible random order."""
        draw = random.Random(seed_within(self.before.seed, f"round {number}"))
        couples = draw.sample(self.couples, len(self.couples))
        repeat = number + BASELINE_LAUNCHES * bool(self.baselines)  # these are not part of a round
        drawn = [(side, Launch(couple[side], repeat)) for couple in couples for side in draw.sample((0, 1), 2)]
        return list({(side, launch.key): (side, launch) for side, launch in drawn}.values())


@dataclass(frozen=True)
class RoundEnd:
    """A completed round, for the decision whether another one is needed."""

    number: int  # of rounds so far, including this one
    batches: tuple[tuple[int, Batch], ...]  # records of its launches, each with the number of its side
    read: Callable[[], Interleaved]  # reads both runs with all their files


def create_runs(
    where: Store,
    before: StoredRun,
    after: StoredRun,
    couples: RequestPairs,
    machine: Machine,
    rounds: int,
    looks: Looks,
    allowed: Collection[str] = (),
) -> Interleaved:
    """Create two new runs, `A again` and `B again`, that refer to each other, without measuring.

    Args:
        machine: this machine in its present state.
        rounds: maximum number of rounds.
        looks: when the rounds are tested.
        allowed: hosts and files of the runs that are permitted.

    Raises:
        Refusal: a side cannot be launched under the same conditions, or the store cannot be written.
    """
    if not couples:
        why = "the runs do not contain the requests of their common figures"
        raise Refusal(f"cannot measure A and B again ({why}); measure both with the same command")
    for number, (name, run) in enumerate((("A", before), ("B", after))):
        check_repeatable(name, run, [couple[number] for couple in couples], machine, allowed)
    sides: list[_NewSide] = []
    for number, (name, run) in enumerate((("A", before), ("B", after))):
        title = f"{name} again: {run.title.removeprefix(f'{name} again: ')}"
        sides.append(_NewSide(title, [couple[number] for couple in couples], run.id, run.settings, run.benchmark))
    return _create(where, (sides[0], sides[1]), machine, rounds, looks)


def create_program_runs(
    where: Store,
    couples: RequestPairs,
    words: tuple[Sequence[str], Sequence[str]],
    machine: Machine,
    rounds: int,
    looks: Looks,
) -> Interleaved:
    """Create two new runs of programs, `A: COMMAND` and `B: COMMAND`, that refer to each other, without measuring.

    Args:
        couples: requests of A and B in each round.
        words: the command lines of A and of B.
        machine: this machine in its present state.
        rounds: maximum number of rounds.
        looks: when the rounds are tested.

    Raises:
        Refusal: the store cannot be written.
    """
    sides = [
        _NewSide(f"{name}: {shlex.join(words[number])}", [couple[number] for couple in couples])
        for number, name in enumerate(("A", "B"))
    ]
    return _create(where, (sides[0], sides[1]), machine, rounds, looks)


@dataclass(frozen=True)
class _NewSide:
    """Contents of a new run of one side."""

    title: str
    requests: Sequence[Request]
    of: str = ""  # id of the run that is repeated; "": none
    settings: Sequence[ProvenSetting] = ()
    benchmark: str = ""


def _create(where: Store, sides: tuple[_NewSide, _NewSide], machine: Machine, rounds: int, looks: Looks) -> Interleaved:
    ids, seed = new_ids(), new_seed()
    made = []
    for number, side in enumerate(sides):
        first = BASELINE_LAUNCHES * any(
            check.needs_baseline for request in side.requests for check in request.subject.checks
        )
        requests = [replace(request, repeats=rounds + first) for request in side.requests]
        pair = (ids[number], Pair(ids[1 - number], side.of, rounds, looks))
        made.append(
            where.create(
                side.title, machine, requests, (), "compare", settings=side.settings, seed=seed, pair=pair,
                benchmark=side.benchmark,
            )
        )  # fmt: skip
    return Interleaved(*made)


def check_repeatable(
    name: str, run: StoredRun, requests: Sequence[Request], machine: Machine, allowed: Collection[str] = ()
) -> None:
    """Check that launches of these requests would have the conditions of the stored run.

    Args:
        name: of the side: "A" or "B".
        machine: this machine in its present state.
        allowed: hosts and files of the run that are permitted.

    Raises:
        Refusal: the machine, a setting or the build of a kernel differs, the run contains a command line, an unknown
            setting, or a host or file that is not permitted, or the placement does not fit.
    """
    why = "it was imported, not measured with Octant" if run.imported else ""
    why = why or _other_surroundings(run, machine) or _other_builds(run, requests)
    try:
        if not why:
            check_stored([Launch(request) for request in requests], allowed)
            check_requests(requests)
            for request in requests:
                check_startable(request, machine)
    except Refusal as refusal:
        why = str(refusal)
    if why:
        raise Refusal(
            f"cannot measure {name} again ({run.id}: {why}); "
            "omit --rounds and --gate to compare the stored results, or measure a new run"
        )


def _other_surroundings(run: StoredRun, machine: Machine) -> str:
    """Return the differences between the environment of the run and the present one."""
    if fingerprint(run.machine) != fingerprint(machine):
        return f"it was measured on another machine, {run.machine.name}"
    then, now = _conditions(run.machine, run.environment), _conditions(machine, recorded_environment())
    return "; ".join(
        f"{name} was {then.get(name, 'not set')} and is {now.get(name, 'not set')}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    )


def differing_conditions(before: StoredRun, after: StoredRun) -> tuple[str, ...]:
    """Return the recorded conditions in which two runs differ, so that at least one of them cannot be repeated now."""
    if fingerprint(before.machine) != fingerprint(after.machine):
        return ("machine",)
    sides = [{**_conditions(run.machine, run.environment), **_builds(run)} for run in (before, after)]
    return tuple(name for name in sorted(sides[0].keys() | sides[1].keys()) if sides[0].get(name) != sides[1].get(name))


def _builds(run: StoredRun) -> dict[str, str]:
    """Return the digest of each kernel of a run, by the name of the condition."""
    return {
        f"build of {planned.launch.request.subject.workload}": planned.build
        for planned in run.plans.values()
        if planned.launch.request.subject.workload
    }


def _conditions(machine: Machine, environment: Mapping[str, str]) -> dict[str, str]:
    return {
        "hardware threads allowed": str(len(machine.topology.usable())),
        **{name: value for name, value in machine.system.items() if name not in VOLATILE},
        **machine.software,
        **{name: value for name, value in environment.items() if not name.startswith(_OTHERS)},
    }


def _other_builds(run: StoredRun, requests: Sequence[Request]) -> str:
    """Return which kernel differs from that of the run, whose plan contains the digests."""
    names = {request.key: request.subject.workload for request in requests if request.subject.workload}
    for key, planned in run.plans.items():
        name = names.get(key.rpartition("-")[0])
        if name is None:
            continue
        if not planned.build:
            return f"it does not state the build of {name}"
        try:
            now = build.digest(build.find(name))
        except Refusal as refusal:
            return str(refusal)
        if planned.build != now:
            return f"the build of {name} was {planned.build} and is {now}"
    return ""


def measure_rounds(
    where: Store,
    sides: Interleaved,
    planners: tuple[Planner, Planner],
    rounds: int,
    is_enough: Callable[[RoundEnd], bool] = lambda _end: False,
    observe: Observe = lambda _step, _elapsed_s: None,
    start: Callable[..., ProcessOutcome] = execute,
    report: Report = lambda _text: None,
) -> Interleaved:
    """Measure the missing rounds of two runs.

    Args:
        planners: resolve the launches of each side.
        rounds: maximum number, including the rounds that exist.
        is_enough: called after each new round except the last; true ends the measurement.
        observe, start, report: as for `execute_run`.

    Raises:
        Refusal: the store cannot be written, or another process is executing one of the runs.
        KeyboardInterrupt: passed on; all records are kept.
    """

    def read() -> Interleaved:
        return Interleaved(where.read(sides.before.id), where.read(sides.after.id))

    execute_runs(
        [SessionRun(run, plan) for run, plan in zip((sides.before, sides.after), planners, strict=True)],
        _decide(sides, rounds, is_enough, read),
        observe,
        start,
        report,
    )
    return read()


def _decide(
    sides: Interleaved, rounds: int, is_enough: Callable[[RoundEnd], bool], read: Callable[[], Interleaved]
) -> SideSchedule:
    settled = yield from _settle_baselines(sides)
    if not settled:
        return
    for number in range(sides.rounds, rounds):  # failed launches are not repeated: their partner was measured earlier
        batches = []
        for side, launch in sides.round(number):
            batch = yield side, launch
            batches.append((side, batch))
        if number + 1 < rounds and is_enough(RoundEnd(number + 1, tuple(batches), read)):
            return


def _settle_baselines(sides: Interleaved) -> Generator[tuple[int, Launch], Batch, bool]:
    """Yield the reference launches of A; return whether they succeeded.

    Raises:
        Refusal: two equal launches differ by more than a tolerance, or A has no such value or file.
    """
    for request in sides.baselines:
        deciding = settle_baseline([request])
        try:
            launch = next(deciding)
            while True:
                launch = deciding.send((yield 0, launch))
        except StopIteration as end:
            if not end.value:
                return False
    return True
