"""`octant compare --rounds` and `--gate`: measure both runs again in paired rounds."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from octant.analysis.compare import Comparisons
    from octant.runs.interleaved import Interleaved, RoundEnd
    from octant.store import Pair, Store, StoredRun
    from octant.store.run_request import Looks

    Judge = Callable[[StoredRun, StoredRun], Comparisons]

UNTIL_SURE = 40
"""Largest number of rounds of `--until-sure`, unless `--rounds` gives another one."""


@dataclass(frozen=True)
class RoundOptions:
    """The options of the command line on rounds."""

    rounds: int | None
    gate: bool
    until_sure: bool
    timeout_s: float | None = None
    allowed: tuple[str, ...] = ()  # hosts and files of the stored runs

    def plan(self, pair: Pair | None, usual: int, early: bool, figures: int) -> tuple[int, Looks, bool]:
        """Return the largest number of rounds, when they are judged, and whether the plan of the pair is continued.

        Args:
            usual: number of rounds without `--rounds`: that of the last planned interim analysis.
            early: use the planned interim analyses, as a gate does. Another number of rounds is judged once.
            figures: number of compared figures. If they are too many for the usual number of rounds, more are planned.

        Raises:
            Refusal: a gate cannot decide on this number of rounds.
        """
        from octant.analysis.evidence import explain_insufficient_rounds, refuse_insufficient_rounds, too_few_rounds
        from octant.cli._stored import warn
        from octant.stats.gate import can_prove_difference, least_rounds, planned_looks, sufficient_rounds

        if pair and self.rounds is None and not self.until_sure:
            if self.gate and pair.rounds < least_rounds(figures):
                raise Refusal(too_few_rounds(figures, pair.rounds), Exit.WRONG_WORD)
            return pair.rounds, pair.looks, True
        looks: Looks = "any time" if self.until_sure else "once"
        if early and not self.until_sure and self.rounds in (None, usual):
            if can_prove_difference(figures, usual, planned_looks(usual)[usual]):
                looks = "rising"
            else:
                usual = sufficient_rounds(figures, usual)
        rounds = self.rounds or (UNTIL_SURE if self.until_sure else usual)
        if self.gate or looks != "once":
            refuse_insufficient_rounds(figures, rounds, self.until_sure)
        elif text := explain_insufficient_rounds(figures, rounds):
            warn(text)
        return rounds, looks, bool(pair and pair.looks == looks and (self.until_sure or pair.rounds == rounds))


def command(pair: Pair, run: str, rounds: int, gate: bool = False) -> str:
    """Return the command that continues the rounds of a pair; a gate keeps its plan.

    Args:
        run: id of the run that has this pair.
    """
    options = "--gate" if gate or pair.looks == "rising" else f"--rounds {rounds}"
    options = f"--gate --until-sure --rounds {rounds}" if pair.looks == "any time" else options
    return " ".join(["octant compare", options, *sorted((run, pair.partner))])


def measure_rounds(where: Store, found: Comparisons, round_options: RoundOptions, judge: Judge) -> Comparisons:
    """Return the verdicts from paired rounds. Runs that are not a pair are measured again.

    Ctrl-C keeps both runs and prints the command that continues.

    Args:
        found: the two stored runs.
        judge: compares two runs, as a gate if requested.

    Raises:
        Refusal: too few rounds for a gate over this number of figures, or a run cannot be launched again.
        typer.Exit: it was stopped.
    """
    from octant.machine.discover import discover
    from octant.runs import interleaved
    from octant.stats.gate import OBRIEN_FLEMING_THRESHOLDS
    from octant.store import Store

    usual = max(OBRIEN_FLEMING_THRESHOLDS)
    rounds, looks, goes_on = round_options.plan(found.pair, usual, round_options.gate, found.compared)
    before, after = found.runs
    if goes_on and found.of_programs and round_options.rounds is None:
        return judge(before, after)  # a gate on stored runs: no command of a store is started
    if are_programs(found):
        raise programs_not_started(found, round_options)
    if goes_on:
        where = Store(after.folder.parent.parent)  # both runs may be given by their folders
        sides = interleaved.Interleaved(before, after)
    else:
        sides = interleaved.create_runs(
            where, before, after, found.couples(), discover(), rounds, looks, round_options.allowed
        )
    decided = functools.partial(is_decided, replace(sides.pair, rounds=rounds, looks=looks), judge, True)
    if goes_on:
        if sides.rounds >= rounds or decided(interleaved.RoundEnd(sides.rounds, (), lambda: sides)):
            return judge(before, after)
        for name, run in (("A", before), ("B", after)):
            interleaved.check_repeatable(name, run, run.requests, discover(), round_options.allowed)
    sides = _measure(where, sides, rounds, decided, round_options)
    return judge(sides.before, sides.after)


def are_programs(found: Comparisons) -> bool:
    """Return whether both runs measured programs of the user."""
    return all(run.requests and all(request.subject.command for request in run.requests) for run in found.runs)


def programs_not_started(found: Comparisons, round_options: RoundOptions) -> Refusal:
    """Return the refusal to start programs of stored runs, with the command that measures them, if it is known."""
    from octant.runs.program_pair import EXAMPLE
    from octant.runs.programs.command_text import comparison_line

    options = [*(["--gate"] if round_options.gate else []), *(["--until-sure"] if round_options.until_sure else [])]
    options += ["--rounds", str(round_options.rounds)] if round_options.rounds else []
    couples = found.couples() or tuple(zip(found.before.run.requests, found.after.run.requests, strict=False))
    first = tuple(request.subject for request in couples[0])
    is_whole = all(
        (old.subject, new.subject, old.mpi, new.mpi, old.knobs) == (*first, {}, {}, new.knobs) for old, new in couples
    )
    example = EXAMPLE.replace("compare", " ".join(["compare", *options]), 1)
    line = comparison_line(couples, *options) if is_whole else example
    why = "commands of a store are never started"
    return Refusal(f"cannot measure these programs again ({why}); try {line}", Exit.NOT_SUPPORTED)


def may_look(looks: Looks, rounds: int, most: int) -> bool:
    """Return whether this number of rounds may be judged before all rounds are complete.

    Args:
        most: number of planned rounds.
    """
    from octant.stats.gate import planned_looks
    from octant.stats.paired import LEAST_ROUNDS

    planned = looks == "rising" and rounds in planned_looks(most)
    return rounds >= LEAST_ROUNDS and (looks == "any time" or planned)


def is_decided(pair: Pair, judge: Judge, is_gate: bool, end: RoundEnd) -> bool:
    """Return whether the rounds may be judged now and further rounds would not change the answer.

    Args:
        pair: states when its rounds may be judged.
        is_gate: one regression decides; otherwise every figure needs a verdict.
    """
    from octant.stats.gate import gate_is_decided

    if not may_look(pair.looks, end.number, pair.rounds):
        return False
    sides = end.read()
    try:
        found = judge(sides.before, sides.after)
    except Refusal:  # too few rounds for this number of figures
        return False
    if is_gate:
        return bool(found.regressions) or gate_is_decided(found.verdicts)
    return bool(found.verdicts) and not found.undecided


def _measure(
    where: Store, sides: Interleaved, rounds: int, is_enough: Callable[[RoundEnd], bool], round_options: RoundOptions
) -> Interleaved:
    from octant.cli._progress import progress_of
    from octant.cli._stored import report_damage, warn
    from octant.runs import interleaved
    from octant.runs.plan import planner_of

    planners = planner_of(sides.before, round_options.timeout_s), planner_of(sides.after, round_options.timeout_s)
    due = {number: [launch for _, launch in sides.round(number)] for number in range(rounds)}
    left = [launch for number in range(sides.rounds, rounds) for launch in due[number]]
    numbers = {launch.key: number for number, launches in due.items() for launch in launches}
    try:
        with progress_of(left, numbers) as observe:
            sides = interleaved.measure_rounds(where, sides, planners, rounds, is_enough, observe, report=warn)
    except KeyboardInterrupt:
        kept = interleaved.Interleaved(where.read(sides.before.id), where.read(sides.after.id))
        done = f"{kept.rounds} of {rounds} rounds are complete and stored"
        again = command(kept.pair, kept.after.id, rounds, round_options.gate)
        typer.echo(f"\nStopped; {done}. To continue: {again}", err=True)
        raise typer.Exit(int(Exit.INTERRUPTED)) from None
    for run in (sides.before, sides.after):
        report_damage(run.id, run.unread)
    return sides
