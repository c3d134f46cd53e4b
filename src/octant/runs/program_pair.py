"""Interleaved measurement of two programs: the requests of each, and the default number of rounds."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal
from octant.request import Request, cells_of
from octant.runs.command_line import LOCAL_TARGET, LaunchTarget
from octant.runs.interleaved import Interleaved
from octant.runs.programs.program_request import request_program
from octant.stats.gate import OBRIEN_FLEMING_THRESHOLDS, least_rounds, planned_looks
from octant.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.machine import Machine
    from octant.request import RequestPairs
    from octant.runs.programs.options import ProgramOptions
    from octant.store import Pair, StoredRun

Commands = tuple[tuple[str, ...], tuple[str, ...]]
"""The command lines of A and of B."""

EXAMPLE = "octant compare -- ./old input -- ./new input"
SENSIBLE_S, SHORT_S = 600.0, 60.0
"""Time limits of the default number of rounds, in seconds: up to the last interim test of a gate, and beyond it."""


def two_commands(words: Sequence[str]) -> Commands:
    """Return the two command lines in the arguments after the first `--`.

    Raises:
        Refusal: there are not two command lines, or one is empty.
    """
    found: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            found.append([])
        else:
            found[-1].append(word)
    if len(found) == 2 and all(found):
        return tuple(found[0]), tuple(found[1])
    if len(found) == 2:
        why = f"the command line of program {'A' if not found[0] else 'B'} is empty"
    else:
        why = f"{counted(len(found), 'command line')} instead of two"
    hint = " (use a script for a program with -- in its arguments)" if len(found) > 2 else ""
    raise Refusal(f"cannot compare two programs ({why}); try {EXAMPLE}{hint}", Exit.WRONG_WORD)


def request_pairs(
    commands: Commands,
    knobs: Sequence[str],
    ranks: int | None,
    where: LaunchTarget = LOCAL_TARGET,
    options: ProgramOptions | None = None,
) -> tuple[RequestPairs, Machine]:
    """Return pairs of requests of both programs, one pair for each combination of the values of the knobs.

    The two launches of a pair are adjacent, so that a drift affects both equally.

    Args:
        knobs: as for one program; both command lines contain each of them.
        ranks: of both; `None`: one, or as many as the launcher in each command line starts.
        options: of both programs.

    Raises:
        Refusal: as `request_program`, for either side.
    """
    (before, machine), (after, _) = (
        request_program(words, knobs, ranks, None, where, options=options) for words in commands
    )
    swept = [name for name, values in before.knobs.items() if "," in values]
    found = [
        (_of_cell(before, cell, swept), _of_cell(after, cell, swept))
        for cell in {tuple(cell.items()): cell for cell in cells_of(before.knobs)}.values()
    ]
    return tuple(found), machine


def _of_cell(request: Request, cell: dict[str, str], swept: Sequence[str]) -> Request:
    title = ", ".join([request.show.title, *(f"{name} {cell[name]}" for name in swept)])
    return replace(request, knobs=cell, show=replace(request.show, title=title))


def continue_runs(runs: Iterable[StoredRun], couples: RequestPairs) -> Interleaved:
    """Return two stored runs to be continued with the repeated command lines.

    Raises:
        Refusal: the runs are not interleaved, or their requests differ from the repeated ones.
    """
    before, after = sorted(runs, key=lambda run: run.id)
    named = [run.pair.partner if run.pair else "" for run in (before, after)]
    if named != [after.id, before.id]:
        why = "they were not measured together, with interleaved launches"
        raise Refusal(f"cannot continue {before.id} and {after.id} ({why}); try {EXAMPLE}", Exit.WRONG_WORD)
    for number, (name, run) in enumerate((("A", before), ("B", after))):
        repeated = [couple[number] for couple in couples]
        if why := _other_requests(run.requests, repeated):
            hint = "repeat the original command line and options"
            raise Refusal(f"cannot continue {run.id} ({name} {why}); {hint}", Exit.WRONG_WORD)
    return Interleaved(before, after)


def _other_requests(stored: Sequence[Request], repeated: Sequence[Request]) -> str:
    """Return how the stored requests differ from the repeated ones; "": they are equal."""
    was, now = ([shlex.join(request.subject.command) for request in requests[:1]] for requests in (stored, repeated))
    if was != now:
        return f"was the command {was[0]!r}" if was[0] else "was not a program"
    if [request.knobs for request in stored] != [request.knobs for request in repeated]:
        return "was measured with other values of knobs"
    same = [replace(request, repeats=1, show=other.show) for request, other in zip(stored, repeated, strict=True)]
    if same != [replace(request, repeats=1) for request in repeated]:
        return "was measured with other options or in another directory"
    return ""


def default_rounds(pair: Pair, round_s: float, figures: int) -> int:
    """Return the number of rounds up to the last interim test within the time limits, at least up to the first test.

    Args:
        pair: the planned rounds, and when they may be tested.
        round_s: duration of a round, in seconds.
        figures: number of figures that need a verdict.
    """
    planned = [*planned_looks(pair.rounds), pair.rounds] if pair.looks == "rising" else range(1, pair.rounds + 1)
    looks = [look for look in planned if least_rounds(figures) <= look <= pair.rounds]
    fitting = [
        look for look in looks if look * round_s <= (SENSIBLE_S if look <= max(OBRIEN_FLEMING_THRESHOLDS) else SHORT_S)
    ]
    return max(fitting, default=min(looks, default=pair.rounds))
