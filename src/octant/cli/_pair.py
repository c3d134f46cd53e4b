"""`octant compare -- A -- B`: measure two programs in paired rounds until there is a verdict."""

from __future__ import annotations

import shlex
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from octant.failure import Exit, Refusal, worst
from octant.record import MISSING
from octant.units import brief_text, counted, duration_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from octant.analysis.compare import Comparisons
    from octant.cli._program import ProgramWords
    from octant.cli._rounds import Judge, RoundOptions
    from octant.record import Point
    from octant.runs.command_line import LaunchTarget
    from octant.runs.interleaved import Interleaved, RoundEnd
    from octant.runs.session import LaunchStart
    from octant.store import Pair, Store, StoredRun

_REDRAW_S = 0.1
_EVERY_LOOK = 16
"""Up to this number, each round may be judged; later rounds are judged less often, because judging reads all rounds."""


@dataclass(frozen=True)
class Programs:
    """Two programs and their options, from the command line."""

    typed: ProgramWords  # both command lines and the options of both programs
    given: tuple[str, ...] = ()  # arguments: knobs, and the two runs to continue
    ranks: int | None = None
    where: LaunchTarget | None = None

    @property
    def knobs(self) -> list[str]:
        """The arguments that set knobs."""
        return [word for word in self.given if "=" in word]

    @property
    def runs(self) -> list[str]:
        """The arguments that name runs: none or two.

        Raises:
            Refusal: another number of runs.
        """
        named = [word for word in self.given if "=" not in word]
        if len(named) not in (0, 2):
            why = f"{named[0]!r} is not KNOB=VALUE, and to continue, two runs are required"
            raise Refusal(f"cannot compare two programs ({why}); try n=1,2 with {{n}} in both", Exit.WRONG_WORD)
        return named

    def again(self, sides: Interleaved) -> str:
        """Return the command that continues the rounds of two runs; it repeats both command lines."""
        own = [word for word in self.typed.own if word not in self.runs]
        behind = self.typed.command or ()
        return shlex.join(["octant", "compare", *own, sides.before.id, sides.after.id, "--", *behind])


def line_of(run: StoredRun) -> str:
    """Return the command that continues the rounds of a pair of programs in one store.

    Raises:
        Refusal: the run of the other program cannot be read.
    """
    from octant.runs.programs.command_text import comparison_line
    from octant.store import Store

    assert run.pair is not None  # noqa: S101 - the caller asks for one of two
    runs = sorted((run, Store(run.folder.parent.parent).read(run.pair.partner)), key=lambda one: one.id)
    options = ["--until-sure"] if run.pair.looks == "any time" else []
    options += [] if run.pair.looks == "rising" else ["--rounds", str(run.pair.rounds)]
    couples = tuple(zip(runs[0].requests, runs[1].requests, strict=True))
    return comparison_line(couples, *options, runs=[one.id for one in runs])


@dataclass
class _Rounds:
    """State of a measurement in rounds, its decisions and its progress line."""

    round_options: RoundOptions
    pair: Pair  # rounds that were planned, and when they may be judged
    is_decided: Callable[[RoundEnd], bool]
    figures: int
    names: Mapping[str, str]  # A or B, by the path of the records
    most: int  # largest number of rounds, at most the planned ones
    begun_s: float = 0.0  # start of the first launch; 0: none has begun
    failed: bool = False  # in the first round
    drawn_s: float = 0.0
    number: int = 0  # rounds so far
    round_s: float = 0.0  # 0: not known yet

    def is_enough(self, end: RoundEnd) -> bool:
        """Return whether this round is the last one: there is a verdict or a wrong result, or the time is over."""
        batches = [batch for _, batch in end.batches]
        self.number = end.number
        self.failed = end.number == 1 and any(
            batch.failures or not batch.points or _missing(batch.points) for batch in batches
        )
        if self.failed or any(point.failed_checks for batch in batches for point in batch.points):
            return True
        if not self.round_s:
            self.round_s = time.monotonic() - self.begun_s
            self._announce()
        if end.number >= self.most:
            return True
        return end.number % max(1, end.number // _EVERY_LOOK) == 0 and self.is_decided(end)

    def _announce(self) -> None:
        """Print the number of rounds and the estimated time, before the second round."""
        from octant.cli._rounds import may_look
        from octant.runs.program_pair import default_rounds

        all_of_them = self.pair.rounds
        if self.round_options.rounds is None:
            self.most = default_rounds(self.pair, self.round_s, self.figures)
        early = any(may_look(self.pair.looks, number, self.pair.rounds) for number in range(1, self.most))
        most = "at most " * early + counted(self.most, "round")
        text = f"a round takes {brief_text(self.round_s)}: {most}, about {brief_text(self.most * self.round_s)}"
        more = f"--rounds {all_of_them} takes {brief_text(all_of_them * self.round_s)}"
        hint = "change the number with --rounds N" if self.most == all_of_them else more
        self.clear()
        typer.echo(f"octant: {text}" + f"; {hint}" * (self.round_options.rounds is None), err=True)

    def observe(self, step: LaunchStart, elapsed_s: float) -> None:
        """Show the running program, its elapsed time and the time left, on a terminal."""
        self.begun_s = self.begun_s or time.monotonic()
        if not sys.stderr.isatty() or time.monotonic() - self.drawn_s < _REDRAW_S:
            return
        self.drawn_s = time.monotonic()
        launch = step.planned.launch
        left_s = max(0.0, (self.most - self.number) * self.round_s)
        left = f", at most {duration_text(left_s)} left" if self.round_s else ""
        name = self.names.get(str(step.records), "")
        text = f"round {launch.repeat + 1}/{self.most}, {name} {elapsed_s:.0f} s{left}"
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Remove the progress line."""
        if self.drawn_s and sys.stderr.isatty():
            sys.stderr.write("\r\033[K")


def measure_programs(to: Store, programs: Programs, round_options: RoundOptions, judge: Judge) -> Comparisons:
    """Measure two programs and return the verdict; Ctrl-C keeps both runs and prints the command that continues.

    Args:
        judge: compares two runs, as a gate if requested.

    Raises:
        Refusal: not two programs, a program cannot be started, too few rounds for a gate over this number of figures,
            or a program failed in the first round.
        typer.Exit: it was stopped.
    """
    from octant.runs import interleaved, program_pair
    from octant.runs.command_line import LOCAL_TARGET
    from octant.runs.plan import check_startable
    from octant.runs.programs.file_checks import check_files_exist
    from octant.stats.gate import EXTENDED_THRESHOLDS

    commands = program_pair.two_commands(programs.typed.command or ())
    options = programs.typed.options
    couples, machine = program_pair.request_pairs(
        commands, programs.knobs, programs.ranks, programs.where or LOCAL_TARGET, options
    )
    for request in (request for couple in couples for request in couple):
        check_files_exist(request)
        check_startable(request, machine)
    kept = program_pair.continue_runs([to.find(name) for name in programs.runs], couples) if programs.runs else None
    pair, usual = kept.pair if kept else None, max(EXTENDED_THRESHOLDS)
    rounds, looks, goes_on = round_options.plan(pair, usual, early=True, figures=len(couples))
    if kept and goes_on:
        return _measure(to, kept, programs, replace(kept.pair, rounds=rounds, looks=looks), round_options, judge)
    sides = interleaved.create_program_runs(to, couples, commands, machine, rounds, looks)
    return _measure(to, sides, programs, sides.pair, round_options, judge)


def _measure(
    to: Store, sides: Interleaved, programs: Programs, planned: Pair, round_options: RoundOptions, judge: Judge
) -> Comparisons:
    from functools import partial

    from octant.cli._measure import warn_of_commands, warn_of_output
    from octant.cli._progress import ended_like_ctrl_c
    from octant.cli._rounds import is_decided
    from octant.cli._stored import report_damage, warn
    from octant.runs import interleaved
    from octant.runs.plan import planner_of

    runs = (sides.before, sides.after)
    names = {str(run.records): name for name, run in zip("AB", runs, strict=True)}
    decided = partial(is_decided, planned, judge, round_options.gate)
    going = _Rounds(round_options, planned, decided, len(sides.couples), names, planned.rounds)
    if sides.rounds < planned.rounds and not decided(interleaved.RoundEnd(sides.rounds, (), lambda: sides)):
        planners = planner_of(sides.before, round_options.timeout_s), planner_of(sides.after, round_options.timeout_s)
        try:
            with ended_like_ctrl_c():
                sides = interleaved.measure_rounds(
                    to, sides, planners, planned.rounds, going.is_enough, going.observe, report=warn
                )
        except KeyboardInterrupt:
            going.clear()
            typer.echo(f"\nStopped; all rounds are stored. To continue: {programs.again(sides)}", err=True)
            raise typer.Exit(int(Exit.INTERRUPTED)) from None
        going.clear()
    for run in (sides.before, sides.after):
        report_damage(run.id, run.unread)
    found = judge(sides.before, sides.after)
    for run in found.runs:
        warn_of_output(run)
        warn_of_commands(run)
    if going.failed or (not sides.rounds and found.before.run.failures):
        raise _failed(found)
    return found


def _missing(points: Iterable[Point]) -> list[str]:
    """Return the notes on values that were not found in the output."""
    return [point.notes[MISSING] for point in points if MISSING in point.notes]


def _failed(found: Comparisons) -> Refusal:
    """Return the refusal after a program failed, or printed no value, in the first round."""
    texts = []
    for name, run in zip("AB", found.runs, strict=True):
        texts += [f"{name} failed: {reason}" for reason in dict.fromkeys(one.reason for one in run.failures)]
        texts += [f"{name} has no value: {text}" for text in dict.fromkeys(_missing(run.points))]
    codes = [failure.exit for run in found.runs for failure in run.failures] or [Exit.CANNOT_RUN]
    kept = " and ".join(run.id for run in found.runs)
    why = "; ".join(texts) or "the first round produced no record"
    return Refusal(
        f"cannot compare the programs ({why}); correct the cause, then repeat the command (stored as {kept})",
        worst(codes),
    )
