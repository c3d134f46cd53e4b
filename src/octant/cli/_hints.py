"""Suggestions for commands and options that other tools have, and Octant has under another name or not at all."""

from __future__ import annotations

from collections.abc import Collection

from octant.failure import Exit, Refusal

_DELETE = "to delete a run, delete its directory in `runs` of the store (octant runs lists them)"
_PROGRAM = "to show where a program runs, try octant where -- ./app; to measure it, try octant run -- ./app"
_COMMANDS = {
    **dict.fromkeys(("trace", "perf", "time"), _PROGRAM),
    **dict.fromkeys(("mpitrace", "mpip", "ipm"), "try octant profile -- mpiexec -n 4 ./app"),
    **dict.fromkeys(("delete", "remove", "rm", "clean"), _DELETE),
    **dict.fromkeys(("bench", "benchmark", "measure"), "try octant evaluate, or octant run with a workload"),
    "list": "try octant runs, octant workloads or octant study list",
    "help": "try octant --help",
}
"""Commands of other tools, each with the commands to use instead."""

_OPTIONS = {
    ("mpi", "--place"): "to place the ranks, try octant run p2p bytes=8 --ranks 2 --place 2x1,order=compact",
    ("run", "--on"): "to simulate a network, try --on-model NETWORK; to start on other hosts, try --hosts a,b",
    ("runs", "--delete"): _DELETE,
    ("study run", "--dry-run"): "octant study show prints what a study measures here",
    ("report", "--note"): "try --notes",
    ("profile", "--json"): "to print the stored profile as JSON, try octant profile report --json",
}
"""Options that a command does not have, each with what to use instead."""


def refuse_foreign_command(word: str) -> None:
    """Refuse a word that is not a command of Octant but has a known substitute.

    Raises:
        Refusal: with the substitute: a command of another tool, a program, or the name of a workload.
    """
    hint = _COMMANDS.get(word.lower(), "")
    if not hint:
        from octant.workloads import workloads

        if any(word in (name, name.rpartition("/")[2]) for name in workloads()):
            hint = f"to measure this workload, try octant run {word}"
        elif "/" in word:
            hint = f"to measure this program, try octant run -- {word}"
    if hint:
        raise Refusal(f"no such command: {word}; {hint}", Exit.WRONG_WORD)


def refuse_foreign_options(command: str, words: Collection[str], declared: Collection[str]) -> None:
    """Refuse options that a command does not have but for which there is a substitute.

    Args:
        command: its words: `study run`.
        words: its arguments.
        declared: the options that it has.

    Raises:
        Refusal: with the substitute of the first such option.
    """
    for word in words:
        name = word.partition("=")[0]
        if name not in declared and (hint := _OPTIONS.get((command, name))):
            raise Refusal(f"octant {command} has no option {name}; {hint}", Exit.WRONG_WORD)
