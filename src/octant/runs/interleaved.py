"""Two sides measured in turn: paired rounds whose order is drawn, so that a drift meets both sides alike.

The sides are two stored runs or two programs. What differed between two runs when they were stored is measured again
as it was asked then; what was set around them has to be as it is now, or the new runs would say nothing of the old
ones.
"""

import itertools
import random
import shlex
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from octant import build
from octant.ask import Ask, Launch
from octant.failure import Refusal
from octant.launch.execute import ProcessOutcome, execute
from octant.machine import Machine
from octant.machine.codec import fingerprint
from octant.machine.system import VOLATILE
from octant.runs.knobs import check_asks
from octant.runs.plan import Planner, check_startable, check_stored
from octant.runs.programs.schedule import settle_baseline
from octant.runs.rounds import new_seed, seed_within
from octant.runs.session import Batch, DecideSides, Observe, Report, SessionRun, carry_out_sides
from octant.store import Pair, ProvenSetting, Store, StoredRun, finished_cells, new_ids, recorded_environment
from octant.store.asked import Looks

BASELINE_LAUNCHES = 2
"""Launches of A in front of the rounds where a check compares with it: what differs between them cannot be checked."""
Couples = tuple[tuple[Ask, Ask], ...]
"""What A and B are asked in each round: their asks that have a figure in common."""

_OTHERS = ("SLURM_", "OCTANT_STORE", "OCTANT_KERNELS")
"""Variables that differ without a kernel noticing; which kernels were used, their digests tell."""


@dataclass(frozen=True)
class Interleaved:
    """Two runs that are measured in turn."""

    before: StoredRun
    after: StoredRun

    @property
    def pair(self) -> Pair:
        """How they are measured in turn, as B has it."""
        pair = self.after.pair
        assert pair is not None  # noqa: S101 - runs that do not name each other are never measured in turn
        return pair

    @property
    def couples(self) -> Couples:
        """The asks of both sides, by twos."""
        return tuple(zip(self.before.asks, self.after.asks, strict=True))

    @property
    def baselines(self) -> tuple[Ask, ...]:
        """The asks of A whose answers are compared with those of all later launches, of A and of B."""
        return tuple(ask for ask in self.before.asks if any(check.needs_baseline for check in ask.subject.checks))

    @property
    def rounds(self) -> int:
        """How many are there: each of their launches has failed, or answered in all its cells."""
        runs = (self.before, self.after)
        failed = [{failure.launch for failure in run.failures} for run in runs]
        cells = [finished_cells(run.points, ()) for run in runs]

        def is_there(side: int, launch: Launch) -> bool:
            return launch.key in failed[side] or not launch.without(cells[side].get(launch.key, ()))

        return next(n for n in itertools.count() if not all(itertools.starmap(is_there, self.round(n))))

    def round(self, number: int) -> list[tuple[int, Launch]]:
        """The launches of one round, each with the number of its side, in an order that is drawn once for all."""
        draw = random.Random(seed_within(self.before.seed, f"round {number}"))
        couples = draw.sample(self.couples, len(self.couples))
        repeat = number + BASELINE_LAUNCHES * bool(self.baselines)  # those are no part of a round
        drawn = [(side, Launch(couple[side], repeat)) for couple in couples for side in draw.sample((0, 1), 2)]
        return list({(side, launch.key): (side, launch) for side, launch in drawn}.values())


@dataclass(frozen=True)
class RoundEnd:
    """A round that was just measured, for whoever decides whether it was the last."""

    number: int  # of the rounds so far, this one included
    batches: tuple[tuple[int, Batch], ...]  # what came of its launches, each with the number of its side
    read: Callable[[], Interleaved]  # both runs as they are now; it reads all of their files


def begin(
    where: Store,
    before: StoredRun,
    after: StoredRun,
    couples: Couples,
    machine: Machine,
    rounds: int,
    looks: Looks,
    allowed: Collection[str] = (),
) -> Interleaved:
    """Two new runs, `A again` and `B again`, that name each other; nothing is measured yet.

    Args:
        machine: this one, as it is now.
        rounds: at most.
        looks: when the rounds will be judged.
        allowed: hosts and files of the runs that may be used.

    Raises:
        Refusal: a side cannot be launched again as it was; the store cannot be written.
    """
    if not couples:
        raise Refusal("cannot measure A and B again (nothing says what was asked for the figures in common)")
    for number, (name, run) in enumerate((("A", before), ("B", after))):
        check_again(name, run, [couple[number] for couple in couples], machine, allowed)
    sides: list[_NewSide] = []
    for number, (name, run) in enumerate((("A", before), ("B", after))):
        title = f"{name} again: {run.title.removeprefix(f'{name} again: ')}"
        sides.append(_NewSide(title, [couple[number] for couple in couples], run.id, run.settings, run.benchmark))
    return _create(where, (sides[0], sides[1]), machine, rounds, looks)


def begin_programs(
    where: Store,
    couples: Couples,
    words: tuple[Sequence[str], Sequence[str]],
    machine: Machine,
    rounds: int,
    looks: Looks,
) -> Interleaved:
    """Two new runs of two programs, `A: COMMAND` and `B: COMMAND`, that name each other; nothing is measured yet.

    Args:
        couples: what A and B are asked in each round.
        words: the command lines of A and of B.
        machine: this one, as it is now.
        rounds: at most.
        looks: when the rounds will be judged.

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
    """What a new run of one side is made of."""

    title: str
    asks: Sequence[Ask]
    of: str = ""  # id of the run that is measured again; "": none is
    settings: Sequence[ProvenSetting] = ()
    benchmark: str = ""


def _create(where: Store, sides: tuple[_NewSide, _NewSide], machine: Machine, rounds: int, looks: Looks) -> Interleaved:
    ids, seed = new_ids(), new_seed()
    made = []
    for number, side in enumerate(sides):
        first = BASELINE_LAUNCHES * any(check.needs_baseline for ask in side.asks for check in ask.subject.checks)
        asks = [replace(ask, repeats=rounds + first) for ask in side.asks]
        pair = (ids[number], Pair(ids[1 - number], side.of, rounds, looks))
        made.append(
            where.create(
                side.title, machine, asks, (), "compare", settings=side.settings, seed=seed, pair=pair,
                benchmark=side.benchmark,
            )
        )  # fmt: skip
    return Interleaved(*made)


def check_again(
    name: str, run: StoredRun, asks: Sequence[Ask], machine: Machine, allowed: Collection[str] = ()
) -> None:
    """Whether launches of these asks would be what they were in the stored run.

    Args:
        name: of the side: "A" or "B".
        machine: this one, as it is now.
        allowed: hosts and files of the run that may be used.

    Raises:
        Refusal: another machine or setting, another build of a kernel, a command line, a setting that is not known, a
            host or file that is not allowed, a placement that does not fit.
    """
    why = "imported, not measured here" if run.imported else ""
    why = why or _other_surroundings(run, machine) or _other_builds(run, asks)
    try:
        if not why:
            check_stored([Launch(ask) for ask in asks], allowed)
            check_asks(asks)
            for ask in asks:
                check_startable(ask, machine)
    except Refusal as refusal:
        why = str(refusal)
    if why:
        raise Refusal(
            f"cannot measure {name} again ({run.id}: {why}); try comparing what is stored, without --rounds and --gate"
        )


def _other_surroundings(run: StoredRun, machine: Machine) -> str:
    """What was otherwise around the run than it is now."""
    if fingerprint(run.machine) != fingerprint(machine):
        return f"it is of {run.machine.name}, which is not this machine"
    then, now = _conditions(run.machine, run.environment), _conditions(machine, recorded_environment())
    return "; ".join(
        f"{name} was {then.get(name, 'not set')} and is {now.get(name, 'not set')}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    )


def _conditions(machine: Machine, environment: Mapping[str, str]) -> dict[str, str]:
    return {
        "hardware threads allowed": str(len(machine.topology.usable())),
        **{name: value for name, value in machine.system.items() if name not in VOLATILE},
        **machine.software,
        **{name: value for name, value in environment.items() if not name.startswith(_OTHERS)},
    }


def _other_builds(run: StoredRun, asks: Sequence[Ask]) -> str:
    """Which kernels are not those of the run: its plan holds their digests."""
    names = {ask.key: ask.subject.workload for ask in asks if ask.subject.workload}
    for key, planned in run.plans.items():
        name = names.get(key.rpartition("-")[0])
        if name is None:
            continue
        if not planned.build:
            return f"it does not say which build of {name} it is of"
        try:
            now = build.digest(build.find(name))
        except Refusal as refusal:
            return str(refusal)
        if planned.build != now:
            return f"{name} was build {planned.build} and is {now}"
    return ""


def measure(
    where: Store,
    sides: Interleaved,
    planners: tuple[Planner, Planner],
    rounds: int,
    is_enough: Callable[[RoundEnd], bool] = lambda _end: False,
    observe: Observe = lambda _step, _elapsed_s: None,
    start: Callable[..., ProcessOutcome] = execute,
    report: Report = lambda _text: None,
) -> Interleaved:
    """Measures the rounds that the two runs lack.

    Args:
        planners: work out the launches of each side.
        rounds: at most, those that are there included.
        is_enough: asked after each round that was not there, except the last.
        observe, start, report: as for `carry_out`.

    Raises:
        Refusal: the store cannot be written, or another process is at one of the runs.
        KeyboardInterrupt: passed on; what was measured is kept.
    """

    def read() -> Interleaved:
        return Interleaved(where.read(sides.before.id), where.read(sides.after.id))

    carry_out_sides(
        [SessionRun(run, plan) for run, plan in zip((sides.before, sides.after), planners, strict=True)],
        _decide(sides, rounds, is_enough, read),
        observe,
        start,
        report,
    )
    return read()


def _decide(
    sides: Interleaved, rounds: int, is_enough: Callable[[RoundEnd], bool], read: Callable[[], Interleaved]
) -> DecideSides:
    settled = yield from _settle_baselines(sides)
    if not settled:
        return
    for number in range(sides.rounds, rounds):  # what failed before would be measured at another time than its partner
        batches = []
        for side, launch in sides.round(number):
            batch = yield side, launch
            batches.append((side, batch))
        if number + 1 < rounds and is_enough(RoundEnd(number + 1, tuple(batches), read)):
            return


def _settle_baselines(sides: Interleaved) -> Generator[tuple[int, Launch], Batch, bool]:
    """Yield the launches of A with whose answers others are compared; return whether they ended well.

    Raises:
        Refusal: two equal runs differ by more than a tolerance, or A lacks what a check compares.
    """
    for ask in sides.baselines:
        deciding = settle_baseline([ask])
        try:
            launch = next(deciding)
            while True:
                launch = deciding.send((yield 0, launch))
        except StopIteration as end:
            if not end.value:
                return False
    return True
