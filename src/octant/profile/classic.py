"""Text files with the tables of IBM's mpitrace, one per rank: `mpi_profile.0`.

The columns are those of mpitrace, so that scripts which read its files read these. By default, the ranks 0 and those
with the least, the median and the greatest time in MPI have a file; the file of rank 0 ends with a table of all ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from octant.failure import Exit, Refusal, remedy_for_writing
from octant.profile.categories import category_of
from octant.profile.totals import groups

if TYPE_CHECKING:
    from octant.profile.categories import Category
    from octant.profile.job import JobProfile, ProcessProfile

ALL_TASKS, TASK_LIST = "SAVE_ALL_TASKS", "SAVE_LIST"
_LINE = "-" * 68
_CATEGORIES: tuple[Category, ...] = (
    "send", "receive", "exchange", "wait", "poll", "collective", "one-sided", "file", "other",
)  # fmt: skip
_COLUMNS = f"{'#calls':>12} {'avg. bytes':>14} {'time(sec)':>14}"
_UNKNOWN = "not known"
_YES = frozenset({"yes", "y", "true", "1", "on"})
_Row = tuple[int, float, float]  # calls, mean bytes, seconds


def write_classic(job: JobProfile, folder: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Write the files of the ranks that the variables select, and return their paths.

    Args:
        environ: SAVE_ALL_TASKS=yes selects all ranks, SAVE_LIST=0,3 these; without them, see above.

    Raises:
        Refusal: SAVE_LIST is not a list of numbers, there is no profile, or a file cannot be written.
    """
    if not job.processes:
        raise Refusal("cannot write the files of mpitrace (there is no profile of any process); use a complete profile")
    ordered = sorted(job.processes, key=lambda one: (one.mpi_s, one.rank))
    roles = {ordered[0].rank: "minimum", ordered[-1].rank: "maximum"} if len(ordered) > 1 else {}
    roles.setdefault(ordered[len(ordered) // 2].rank, "median")
    chosen = selected_ranks(environ, [one.rank for one in job.processes], {0, *roles})
    calls = {rank: rows for (rank,), rows in groups(job.calls, "rank")}
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in job.processes:
            if one.rank in chosen:
                text = rank_text(job, one, calls.get(one.rank, job.calls[:0]), roles.get(one.rank, ""))
                if one.rank == 0:
                    text += all_ranks_text(ordered)
                paths.append(folder / f"mpi_profile.{one.rank}")
                paths[-1].write_text(text, encoding="utf-8")
    except OSError as error:
        why = f"{error.strerror or error}"
        raise Refusal(f"cannot write to {folder} ({why}); {remedy_for_writing(error)}") from error
    return tuple(paths)


def selected_ranks(environ: Mapping[str, str], ranks: Sequence[int], usual: set[int]) -> set[int]:
    """Return the ranks that have a file.

    Args:
        usual: those without a selection.

    Raises:
        Refusal: SAVE_LIST is not a list of numbers.
    """
    if environ.get(ALL_TASKS, "").strip().lower() in _YES:
        return set(ranks)
    words = environ.get(TASK_LIST, "").replace(",", " ").split()
    if not words:
        return usual
    if not all(word.isdecimal() and len(word) < 10 for word in words):
        text = f"cannot use {TASK_LIST}={environ[TASK_LIST]} (it is not a list of ranks); use {TASK_LIST}=0,3"
        raise Refusal(text, Exit.WRONG_WORD)
    return set(map(int, words))


def rank_text(job: JobProfile, process: ProcessProfile, calls: np.ndarray, role: str) -> str:
    """Return the tables of one rank.

    Args:
        calls: rows of `JobProfile.calls` of this rank.
        role: "minimum", "median" or "maximum", if the rank has that time in MPI; else "".
    """
    totals = {_plain(job.call_names[call]): _row(rows) for (call,), rows in groups(calls, "call")}
    sizes: dict[str, list[_Row]] = {}
    for (call, size), rows in groups(calls, "call", "bucket"):
        if size or totals[_plain(job.call_names[call])][1]:
            sizes.setdefault(_plain(job.call_names[call]), []).append(_row(rows))
    names = sorted(totals, key=_order)
    lines = [
        f"Data for MPI rank {process.rank} of {job.ranks}:",
        "Times and statistics from MPI_Init() to MPI_Finalize().",
        _LINE,
        f"{'MPI Routine':<26}{_COLUMNS}",
        _LINE,
        *(f"{name:<26}{_row_text(totals[name])}" for name in names),
        _LINE,
    ]
    if role:
        lines.append(f"MPI task {process.rank} of {job.ranks} had the {role} communication time.")
    lines += [
        f"total communication time = {process.mpi_s:.3f} seconds.",
        f"total elapsed time       = {process.elapsed_s:.3f} seconds.",
        f"user cpu time            = {_seconds(process.user_s)}.",
        f"system time              = {_seconds(process.system_s)}.",
        f"maximum memory size      = {_kilobytes(process.peak_memory_bytes)}.",
        "",
        _LINE,
        "Message size distributions:",
        "",
    ]
    for name in names:
        if name in sizes:
            lines += [f"{name:<26}{_COLUMNS}", *(f"{'':<26}{_row_text(row)}" for row in sizes[name]), ""]
    return "\n".join([*lines, _LINE, ""])


def all_ranks_text(ordered: Sequence[ProcessProfile]) -> str:
    """Return the summary of all ranks, which are in the order of their time in MPI."""
    chosen = {"minimum": ordered[0], "median": ordered[len(ordered) // 2], "maximum": ordered[-1]}
    lines = ["", "Communication summary for all tasks:", ""]
    lines += [
        f"  {f'{name}':<8}communication time = {one.mpi_s:.3f} sec for task {one.rank}" for name, one in chosen.items()
    ]
    lines += ["", "MPI tasks sorted by communication time:"]
    heads = ("comm(s)", "elapsed(s)", "user(s)", "size(KB)", "switches")
    lines.append(f"{'taskid':>8}{''.join(f'{head:>13}' for head in heads)}")
    for one in ordered:
        memory = "-" if one.peak_memory_bytes is None else str(one.peak_memory_bytes // 1024)
        user = "-" if one.user_s is None else f"{one.user_s:.2f}"
        switches = "-" if one.context_switches is None else str(one.context_switches)
        lines.append(f"{one.rank:>8}{one.mpi_s:>13.2f}{one.elapsed_s:>13.2f}{user:>13}{memory:>13}{switches:>13}")
    return "\n".join([*lines, ""])


def _row(rows: np.ndarray) -> _Row:
    calls = int(rows["calls"].sum())
    return calls, int(rows["bytes"].sum()) / max(1, calls), float(rows["time_s"].sum())


def _row_text(row: _Row) -> str:
    return f"{row[0]:>12} {row[1]:>14.1f} {row[2]:>14.3f}"


def _order(name: str) -> tuple[int, int, str]:
    """Return the place of a call: messages, waiting, collectives, others; short names first."""
    return _CATEGORIES.index(category_of(name)), len(name), name


def _plain(name: str) -> str:
    """Return a name without characters that could change the layout of a text."""
    return "".join(each if each.isprintable() else "?" for each in name) or "?"


def _seconds(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.3f} seconds"


def _kilobytes(value: int | None) -> str:
    return _UNKNOWN if value is None else f"{value // 1024} KBytes"
