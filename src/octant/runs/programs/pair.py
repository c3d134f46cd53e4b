"""Two programs that are measured in turn: what is asked of each, and how many rounds fit into a sensible time."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from octant.failure import Exit, Refusal
from octant.request import Request, cells_of
from octant.runs.command_line import LOCAL_TARGET, LaunchTarget
from octant.runs.interleaved import Interleaved
from octant.runs.programs.program_request import program
from octant.stats.gate import OBRIEN_FLEMING_THRESHOLDS, least_rounds, planned_looks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.machine import Machine
    from octant.runs.interleaved import RequestPairs
    from octant.runs.programs.options import ProgramOptions
    from octant.store import Pair, StoredRun

Commands = tuple[tuple[str, ...], tuple[str, ...]]
"""The command lines of A and of B."""

EXAMPLE = "octant compare -- ./old input -- ./new input"
SENSIBLE_S, SHORT_S = 600.0, 60.0
"""Seconds that rounds may take that nobody asked for by their number: up to the last look of a gate, and beyond it."""


def two_commands(words: Sequence[str]) -> Commands:
    """The two command lines in the words behind the first `--`.

    Raises:
        Refusal: there are not two, or one has no words.
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
        why = f"no word of program {'A' if not found[0] else 'B'}"
    else:
        why = f"{len(found)} command lines, not two"
    hint = "; a program whose own words contain -- can be started by a script" if len(found) > 2 else ""
    raise Refusal(f"cannot compare two programs ({why}{hint}); try {EXAMPLE}", Exit.WRONG_WORD)


def request_pairs(
    commands: Commands,
    knobs: Sequence[str],
    ranks: int | None,
    where: LaunchTarget = LOCAL_TARGET,
    options: ProgramOptions | None = None,
) -> tuple[RequestPairs, Machine]:
    """What both programs are asked: a couple of asks for each combination of the values of the knobs.

    The two launches of a couple start one after the other, so that a drift meets both alike.

    Args:
        knobs: as for one program; each is named by both command lines.
        ranks: of both; `None`: one, or as many as each command's own launcher starts.
        options: of both programs.

    Raises:
        Refusal: as `programs.program_request.request_program`, of either side.
    """
    (before, machine), (after, _) = (program(words, knobs, ranks, None, where, options=options) for words in commands)
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
    """Two stored runs whose rounds go on with programs that were given again, since a store starts none.

    Raises:
        Refusal: they were not measured in turn, or what is stored is not what was given.
    """
    before, after = sorted(runs, key=lambda run: run.id)
    named = [run.pair.partner if run.pair else "" for run in (before, after)]
    if named != [after.id, before.id]:
        why = "they were not measured in turn"
        raise Refusal(f"cannot go on with {before.id} and {after.id} ({why}); try {EXAMPLE}", Exit.WRONG_WORD)
    for number, (name, run) in enumerate((("A", before), ("B", after))):
        repeated = [couple[number] for couple in couples]
        if why := _other_requests(run.requests, repeated):
            raise Refusal(f"cannot go on with {run.id} ({name} {why}); give the same again", Exit.WRONG_WORD)
    return Interleaved(before, after)


def _other_requests(stored: Sequence[Request], repeated: Sequence[Request]) -> str:
    """How what is stored differs from what was given; empty where it does not."""
    was, now = ([shlex.join(request.subject.command) for request in requests[:1]] for requests in (stored, repeated))
    if was != now:
        return f"was the command {was[0]!r}" if was[0] else "was no program"
    if [request.knobs for request in stored] != [request.knobs for request in repeated]:
        return "was measured with other values of knobs"
    same = [replace(request, repeats=1, show=other.show) for request, other in zip(stored, repeated, strict=True)]
    if same != [replace(request, repeats=1) for request in repeated]:
        return "was measured with other options, or in another directory"
    return ""


def default_rounds(pair: Pair, round_s: float, figures: int) -> int:
    """How many rounds fit into a sensible time: up to the last of the planned looks that does, at least to the first.

    Args:
        pair: its planned rounds, and when they may be judged.
        round_s: how long one takes.
        figures: on which a verdict is sought.
    """
    planned = [*planned_looks(pair.rounds), pair.rounds] if pair.looks == "rising" else range(1, pair.rounds + 1)
    looks = [look for look in planned if least_rounds(figures) <= look <= pair.rounds]
    fitting = [
        look for look in looks if look * round_s <= (SENSIBLE_S if look <= max(OBRIEN_FLEMING_THRESHOLDS) else SHORT_S)
    ]
    return max(fitting, default=min(looks, default=pair.rounds))
