"""`octant compare`: two runs side by side, as they are stored or measured again in turn."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from octant.cli import _complete
from octant.cli._help import SEE
from octant.cli._options import (
    AllowOption,
    HostsOption,
    JsonOption,
    LauncherOption,
    PageOption,
    PlaceOption,
    RanksOption,
    StoreOption,
    TimeoutOption,
    finite,
    options_under,
)
from octant.cli._program import ProgramCommand, ProgramWords, takes_program
from octant.failure import Exit, Refusal, worst
from octant.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from octant.analysis.compare import Comparisons
    from octant.runs.exit_reasons import ExitReason
    from octant.store import Store, StoredRun

_TWO_PROGRAMS = "octant compare -- ./old input -- ./new input"
MOST_OTHERS = 200
"""Stored runs that are searched for other occasions, the newest first."""

compared_option, rounds_option = map(options_under, ("What is compared", "Measuring both again"))

BeforeArgument = Annotated[
    str,
    typer.Argument(
        help="The run to compare with: its id, its folder, last, or previous (the last comparable one).",
        autocompletion=_complete.runs,
    ),
]
MoreArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[KNOB=VALUE]...", help="Of two programs: values for {KNOB} in both.")
]
AfterArgument = Annotated[str, typer.Argument(help="The run to judge.", autocompletion=_complete.runs)]
RoundsOption = Annotated[
    int | None, rounds_option(min=4, max=1000, help="Measure both again in turn, in so many paired rounds: usually 6.")
]
ThresholdOption = Annotated[
    float, compared_option(min=0, max=10, callback=finite, help="Least difference that matters, as a fraction.")
]
CurvesOption = Annotated[bool, compared_option("--curves", help="Compare the points of curves too.")]
EveryOption = Annotated[bool, compared_option("--all", help="List each figure that only one run has.")]
GateOption = Annotated[
    bool,
    rounds_option(
        "--gate",
        help=f"Exit with {int(Exit.REGRESSION)} if B is slower (a workload also if it has a result in A only), with "
        f"{int(Exit.NOT_DECIDED)} if that is not decided, with {int(Exit.CANNOT_RUN)} if a program failed.",
    ),
]
UntilSureOption = Annotated[
    bool,
    rounds_option("--until-sure", help="Look after every round, at most --rounds [40]; of two runs with --gate only."),
]


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("compare", cls=ProgramCommand, rich_help_panel=SEE)(compare)


@takes_program
def compare(
    program: ProgramWords,
    a: BeforeArgument = "previous",
    b: AfterArgument = "last",
    more: MoreArgument = None,
    threshold: ThresholdOption = 0.03,
    curves: CurvesOption = False,
    every: EveryOption = False,
    rounds: RoundsOption = None,
    gate: GateOption = False,
    until_sure: UntilSureOption = False,
    allow: AllowOption = None,
    ranks: RanksOption = None,
    place: PlaceOption = "",
    launcher: LauncherOption = "",
    hosts: HostsOption = "",
    output: PageOption = None,
    store: StoreOption = None,
    timeout: TimeoutOption = None,
    json: JsonOption = False,
) -> None:
    """Show what is faster and slower in run B than in run A, and what is not decided.

    A gate decides on runs that were measured in turn: it measures both again where they were not. Two programs are
    measured in turn at once: octant compare [KNOB=VALUE]... -- A -- B, each a whole command line.
    """
    from octant.cli import _pair, _rounds
    from octant.cli._stored import find_run
    from octant.runs.command_line import LaunchTarget
    from octant.store import open_store

    where = open_store(store)
    judge = partial(_judged, where, threshold, curves)
    asked = _rounds.RoundOptions(rounds, gate, until_sure, timeout, tuple(allow or ()))
    if program.command is not None:
        given = [word for name, word in (("a", a), ("b", b)) if name in program.typed]
        programs = _pair.Programs(program, (*given, *(more or ())), ranks, LaunchTarget(place, launcher, hosts))
        _show(_pair.measured(where, programs, asked, partial(judge, gate=gate)), every, json, output, True, gate)
        return
    program.refuse_alone("octant compare")
    _refuse_options_of_programs(
        more or [], {"--ranks": ranks, "--place": place, "--launcher": launcher, "--hosts": hosts}
    )
    if until_sure and not gate:
        raise Refusal(
            "cannot look after every round (of two runs only a gate stops early); try --gate", Exit.WRONG_WORD
        )
    found = judge(find_run(store, a), find_run(store, b), gate=False)
    if (gate or rounds) and not found.pair and _rounds.are_programs(found):
        raise _rounds.programs_are_given(found, asked)
    if (gate or rounds) and not found.pair and not found.compared and not found.regressions:
        raise _not_comparable(found, Exit.NOT_DECIDED if gate else Exit.CANNOT_RUN)
    if gate or rounds:
        found = _rounds.measured(where, found, asked, partial(judge, gate=gate))
    _show(found, every, json, output, bool(gate or rounds), gate)


def _judged(
    where: Store, threshold: float, curves: bool, before: StoredRun, after: StoredRun, gate: bool
) -> Comparisons:
    from octant.analysis import compare as comparing
    from octant.analysis.evidence import occasions_in
    from octant.analysis.summary import summarise
    from octant.build.describe import default_knobs

    history = occasions_in(partial(_others, where, before, after))
    imported = bool(before.imported or after.imported)  # what another tool states is not always our headline
    sides = (
        summarise(before, all_metrics=imported, headlines=True),
        summarise(after, all_metrics=imported, headlines=True),
    )
    return comparing.compare(*sides, threshold, curves, default_knobs, gate, history)


def _show(found: Comparisons, every: bool, json: bool, output: Path | None, is_measured: bool, gate: bool) -> None:
    """Prints a comparison, writes its page, and ends the command with the exit code of what was measured.

    Args:
        is_measured: both runs are of this command: the page stands with them, unless a file is named.
    """
    from octant.cli._measure import end_command
    from octant.report.comparison import page as comparison_page
    from octant.report.comparison import text as comparison

    if json:
        print(comparison.as_json(found))
    else:
        comparison.show(found, every)
    stored = found.after.run.folder / "comparison.html"
    page = output or (stored if is_measured and not json else None)
    if page is not None:
        typer.echo(comparison_page.write(found, page), err=json)
    if is_measured:
        end_command(_ends(found, gate))


def _refuse_options_of_programs(more: Sequence[str], options: Mapping[str, object]) -> None:
    """Refuses what only two programs have.

    Raises:
        Refusal: more than two arguments, or an option with a value.
    """
    given = [name for name, value in options.items() if value]
    if more:
        what, why = f"compare {len(more) + 2} runs", "a comparison is of two"
    elif given:
        what, why = f"use {given[0]}", "runs that are stored say how they were started"
    else:
        return
    raise Refusal(f"cannot {what} ({why}); for two programs try {_TWO_PROGRAMS}", Exit.WRONG_WORD)


def _ends(found: Comparisons, gate: bool) -> list[ExitReason]:
    """What is not well with two runs that were measured in turn, and with the verdict of a gate over them."""
    from octant.runs.exit_reasons import ExitReason, list_exit_reasons

    ends = [end for side in (found.before, found.after) for end in list_exit_reasons(side.run)]
    if found.of_programs:  # one that failed or gave no value is no slower one, and leaves no verdict to wait for
        ends = [replace(end, code=Exit.CANNOT_RUN) if end.code == Exit.WRONG_WORD else end for end in ends]
        if any(one.lost for one in found.figures):
            ends.append(ExitReason(Exit.CANNOT_RUN, ""))
        if any(end.code == Exit.CANNOT_RUN for end in ends):
            return ends
    if gate and found.regressions:
        ends.append(ExitReason(Exit.REGRESSION, ""))
    elif gate and not found.compared:
        failed = [failure.reason for side in (found.before, found.after) for failure in side.run.failures]
        why = f": {failed[0]}" if failed else ""
        why = f"cannot judge (A and B gave no figure that can be compared{why}); correct that and try again"
        raise Refusal(why, worst([Exit.NOT_DECIDED, *(end.code for end in ends)]))
    elif gate and found.undecided:
        of = counted(len([one for one in found.figures if not one.is_alone]), "figure")
        ends.append(
            ExitReason(
                Exit.NOT_DECIDED, f"the gate is not decided: nothing is proven of {len(found.undecided)} of {of}"
            )
        )
    return ends


def _not_comparable(found: Comparisons, code: Exit) -> Refusal:
    """Why two runs have nothing to judge: no figure in common, or none that is measurable on both sides."""
    common = [one for one in found.figures if not one.is_alone]
    if not common:
        return Refusal(
            "cannot judge (the two runs have no figure in common); try two runs of the same `octant evaluate`", code
        )
    why = next((reason for one in common for reason in one.why), "no value")
    figures = counted(len(common), "figure")
    return Refusal(
        f"cannot judge ({figures} in common, none measurable in both: {why}); octant doctor says what disturbs", code
    )


def _others(where: Store, before: StoredRun, after: StoredRun) -> Iterator[StoredRun]:
    return (run for run in islice(where.runs_like(after), MOST_OTHERS) if run.id != before.id)
