"""`octant compare`: compare two stored runs, or measure both again in paired rounds."""

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
MAX_OTHER_RUNS = 200
"""Number of stored runs, newest first, that are searched for further occasions."""

compared_option, rounds_option = map(options_under, ("Comparison", "Paired rounds"))

BeforeArgument = Annotated[
    str,
    typer.Argument(
        help="Baseline run: its id, its directory, last, or previous (the last comparable one).",
        autocompletion=_complete.runs,
    ),
]
MoreArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KNOB=VALUE]...", help="Values that replace {KNOB} in the command lines of two programs."),
]
AfterArgument = Annotated[str, typer.Argument(help="Run to judge.", autocompletion=_complete.runs)]
RoundsOption = Annotated[
    int | None,
    rounds_option(
        min=4,
        max=1000,
        help="Measure both again in this number of paired rounds; 6 is a usual number. "
        "--gate requires 4 for one figure and 8 for several.",
    ),
]
ThresholdOption = Annotated[
    float, compared_option(min=0, max=10, callback=finite, help="Smallest relevant difference, as a fraction.")
]
CurvesOption = Annotated[bool, compared_option("--curves", help="Also compare the points of curves.")]
EveryOption = Annotated[bool, compared_option("--all", help="Also list figures that exist in only one run.")]
GateOption = Annotated[
    bool,
    rounds_option(
        "--gate",
        help=f"Exit with {int(Exit.REGRESSION)} if B is slower or has no result, {int(Exit.NOT_DECIDED)} if undecided, "
        f"{int(Exit.CANNOT_RUN)} if a program failed; requires paired rounds and measures them if necessary.",
    ),
]
UntilSureOption = Annotated[
    bool,
    rounds_option(
        "--until-sure",
        help="Stop early: test after every round (anytime-valid), at most --rounds [40]. Stored runs also need --gate.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
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
    """Compare two runs or programs and report significant differences.

    To compare two programs: octant compare [KNOB=VALUE]... -- COMMAND_A -- COMMAND_B
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
        _show(
            _pair.measure_programs(where, programs, asked, partial(judge, gate=gate)), every, json, output, True, gate
        )
        return
    program.refuse_alone("octant compare")
    _refuse_options_of_programs(
        more or [], {"--ranks": ranks, "--place": place, "--launcher": launcher, "--hosts": hosts}
    )
    if until_sure and not gate:
        why = "with stored runs, it requires a gate"
        raise Refusal(f"cannot use --until-sure ({why}); try --gate --until-sure", Exit.WRONG_WORD)
    found = judge(find_run(store, a), find_run(store, b), gate=False)
    if (gate or rounds) and not found.pair and _rounds.are_programs(found):
        raise _rounds.programs_not_started(found, asked)
    if (gate or rounds) and not found.pair and not found.compared and not found.regressions:
        raise _not_comparable(found, Exit.NOT_DECIDED if gate else Exit.CANNOT_RUN)
    if gate or rounds:
        found = _rounds.measure_rounds(where, found, asked, partial(judge, gate=gate))
    _show(found, every, json, output, bool(gate or rounds), gate)


def _judged(
    where: Store, threshold: float, curves: bool, before: StoredRun, after: StoredRun, gate: bool
) -> Comparisons:
    from octant.analysis import compare as comparing
    from octant.analysis.evidence import occasions_in
    from octant.analysis.summary import summarise
    from octant.build.describe import default_knobs

    history = occasions_in(partial(_others, where, before, after))
    imported = bool(before.imported or after.imported)  # another tool may not state our headline metric
    sides = (
        summarise(before, all_metrics=imported, headlines=True),
        summarise(after, all_metrics=imported, headlines=True),
    )
    return comparing.compare(*sides, threshold, curves, default_knobs, gate, history)


def _show(found: Comparisons, every: bool, json: bool, output: Path | None, is_measured: bool, gate: bool) -> None:
    """Print a comparison, write its page, and exit with the code of the measured runs.

    Args:
        is_measured: this command measured both runs; the page is stored with them unless a file is given.
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
    """Refuse arguments and options that apply only to two programs.

    Raises:
        Refusal: more than two arguments, or such an option.
    """
    given = [name for name, value in options.items() if value]
    if more:
        what, why = f"compare {len(more) + 2} runs", "two are required"
    elif given:
        what, why = f"use {given[0]}", "stored runs are repeated with their stored options"
    else:
        return
    raise Refusal(f"cannot {what} ({why}); for two programs try {_TWO_PROGRAMS}", Exit.WRONG_WORD)


def _ends(found: Comparisons, gate: bool) -> list[ExitReason]:
    """Return the failures of two measured runs, and the verdict of a gate."""
    from octant.runs.exit_reasons import ExitReason, list_exit_reasons

    ends = [end for side in (found.before, found.after) for end in list_exit_reasons(side.run)]
    if found.of_programs:  # a program that failed is not slower, and no verdict follows
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
        hint = "correct the cause, then measure both again" if failed else "compare runs of the same workload"
        text = f"cannot judge (A and B have no common figure{why}); {hint}"
        raise Refusal(text, worst([Exit.NOT_DECIDED, *(end.code for end in ends)]))
    elif gate and found.undecided:
        of = counted(len([one for one in found.figures if not one.is_alone]), "figure")
        ends.append(
            ExitReason(Exit.NOT_DECIDED, f"the gate is undecided: no verdict on {len(found.undecided)} of {of}")
        )
    return ends


def _not_comparable(found: Comparisons, code: Exit) -> Refusal:
    """Return the refusal to judge two runs without a common figure that is measurable in both."""
    common = [one for one in found.figures if not one.is_alone]
    if not common:
        subjects = (", ".join(dict.fromkeys(request.subject.name for request in run.requests)) for run in found.runs)
        why = "no common figures: A measured {}, B measured {}".format(*subjects)
        return Refusal(f"cannot judge ({why}); compare two runs of the same command", code)
    why = next((reason for one in common for reason in one.why), "no value")
    figures = counted(len(common), "figure")
    return Refusal(f"cannot judge ({figures} in common, none measurable in both: {why}); try octant doctor", code)


def _others(where: Store, before: StoredRun, after: StoredRun) -> Iterator[StoredRun]:
    return (run for run in islice(where.runs_like(after), MAX_OTHER_RUNS) if run.id != before.id)
