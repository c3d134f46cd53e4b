"""Suggestions for commands and options that other tools have, and Octant has under another name or not at all."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from octant.failure import Exit, Refusal

_DELETE = "to delete a run, delete its directory in `runs` of the store (octant runs lists them)"
_MEASURE = "to measure a program, try octant run -- ./app"
_PROGRAM = f"to show where a program runs, try octant where -- ./app; {_MEASURE}"
_START = f"to show a placement, try octant place; {_MEASURE}, or octant run -- mpiexec -n 4 ./app"
_PROFILE = "to profile the MPI calls of a program, try octant profile -- mpiexec -n 4 ./app"
_PLACE = "to show a placement, try octant place --place 2x1; to apply it, try octant bind --place 2x1"
_COMMANDS = {
    **dict.fromkeys(("time", "timeit", "hyperfine"), _MEASURE),
    **dict.fromkeys(("trace", "perf", "top", "ps"), _PROGRAM),
    **dict.fromkeys(("mpirun", "mpiexec", "srun", "aprun", "jsrun", "flux", "sbatch", "start", "exec"), _START),
    **dict.fromkeys(("mpitrace", "mpip", "ipm", "tau", "scorep", "gprof", "vtune"), _PROFILE),
    **dict.fromkeys(("delete", "remove", "rm", "clean"), _DELETE),
    **dict.fromkeys(
        ("bench", "benchmark", "benchmarks", "measure", "test", "suite", "likwid-bench", "lmbench", "sysbench"),
        "try octant evaluate, or octant run with a workload (octant workloads lists them)",
    ),
    **dict.fromkeys(("check", "verify", "health", "fit"), "to check this machine, try octant doctor"),
    **dict.fromkeys(("topo", "topology", "lstopo", "lscpu", "numactl", "cpuinfo", "info", "system", "hardware"),
                    "to show this machine, try octant machine"),
    "likwid-topology": "to show this machine, try octant machine",
    **dict.fromkeys(("diff", "cmp", "ratio"), "to compare two runs, try octant compare previous last"),
    **dict.fromkeys(("pin", "affinity", "likwid-pin", "taskset", "hwloc-bind"), _PLACE),
    **dict.fromkeys(("network", "predict", "simulate"), "to predict a network, try octant model"),
    **dict.fromkeys(("show", "results", "print", "plot", "view"), "to show a run, try octant report last"),
    **dict.fromkeys(("csv", "dump"), "to write figures as a table, try octant export last"),
    **dict.fromkeys(("ls", "log"), "to list the stored runs, try octant runs"),
    **dict.fromkeys(("knobs", "kernels"), "try octant workloads NAME"),
    **dict.fromkeys(("studies", "questions", "ask"), "try octant study list"),
    **dict.fromkeys(("machines", "findings"), "try octant catalogue"),
    **dict.fromkeys(("continue", "restart"), "to continue a run, try octant resume"),
    **dict.fromkeys(("env", "variables", "mca"), "to explain a setting, try octant settings NAME"),
    "list": "try octant runs, octant workloads or octant study list",
    "help": "try octant --help",
}  # fmt: skip
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


def foreign_name_hint(word: str) -> str:
    """Return what to use instead of a command of another tool or a collection of benchmarks; "" if it is neither."""
    from fnmatch import fnmatchcase

    from octant import benchmarks

    name = word.lower()
    for one in benchmarks.benchmarks().values():
        if any(fnmatchcase(name, pattern) for pattern in (one.command, *one.aliases)):
            return f"to measure the tests of {one.title}, try octant {one.command}"
    return _COMMANDS.get(name, "")


def refuse_foreign_command(word: str) -> None:
    """Refuse a word that is not a command of Octant but has a known substitute.

    Raises:
        Refusal: with the substitute: a command of another tool, a program, or the name or alias of a workload.
    """
    from octant import benchmarks, workloads

    if any(word == one.command for one in benchmarks.benchmarks().values()):  # its command cannot be loaded
        return
    hint = foreign_name_hint(word)
    if not hint:
        names = workloads.workloads()
        if any(word in (name, name.rpartition("/")[2]) for name in names) or word.lower() in workloads.aliases():
            hint = f"to measure this workload, try octant run {word}"
        elif "/" in word:
            hint = f"to measure this program, try octant run -- {word}"
    if hint:
        raise Refusal(f"no such command: {word}; {hint}", Exit.WRONG_WORD)


def refuse_launcher_line(command: str, words: Sequence[str]) -> None:
    """Refuse the command line of a launcher after `octant run` without `--`.

    Raises:
        Refusal: with the complete command.
    """
    from octant import launchers
    from octant.program import shell_text

    if command == "run" and words and "--" not in words and words[0] in launchers.command_names():
        hint = f"to measure a program: octant run -- {shell_text(words)}"
        raise Refusal(f"cannot measure {words[0]!r} (it is a launcher, no workload); {hint}", Exit.WRONG_WORD)


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
