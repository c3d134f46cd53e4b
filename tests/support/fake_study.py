"""A study run in which no program starts: each launch is answered with the values that the test gives."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from fake_run import durations
from octant.build import program_name
from octant.launch import Launch
from octant.launch.execute import Outcome as Ended
from octant.machine import Machine
from octant.record import SCHEMA
from octant.runs.carry_out import carry_out
from octant.store import Store, StoredRun
from octant.study import outcome

BYTES = 10**12  # of one sample
Answer = Callable[[Launch, Mapping[str, str]], float | None]  # (launch, point) -> bytes/s; None: the launch fails


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch, names: Sequence[str] = ("node/stream", "bind")) -> None:
    """Programs that only say what knobs they have."""
    words = ("kernel", "bytes", "pin", "pages", "memory", "seconds", "threads")
    knobs = [{"name": name, "kind": "word", "default": "", "help": ""} for name in words]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        program = folder / program_name(name)
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps({'knobs': knobs, 'least_ranks': 1})}\nEND\n")
        program.chmod(0o755)
    monkeypatch.setenv("OCTANT_KERNELS", str(folder))
    mpiexec = folder / "mpiexec"  # of a library that lets more ranks start than there are cores here
    mpiexec.write_text("#!/bin/sh\necho 'mpiexec (Open MPI) 5.0.8'\n")
    mpiexec.chmod(0o755)
    monkeypatch.setenv("OCTANT_MPIEXEC", str(mpiexec))


def line(launch: Launch, knobs: Mapping[str, str], rate: float, passed: bool = True) -> str:
    """A record of one lane that moves `rate` bytes a second, in the median exactly."""
    times = durations(round(BYTES / rate * 1e9))
    begins = [sum(times[:i]) for i in range(len(times))]
    record = {
        "schema": SCHEMA, "kind": "point", "workload": launch.workload, "run": launch.key, "knobs": dict(knobs),
        "ranks": launch.ranks, "threads": 1, "sampling": "lanes", "batch": 1, "warmup": 0, "stopped_by": "interval",
        "work": {"bytes_read": BYTES}, "clock": {"cost_ns": 20, "resolution_ns": 1}, "share_cores": False,
        "verdict": {"check": "compared", "error": 0 if passed else 1, "tolerance": 0, "passed": passed},
        "sync": {"method": "none", "exit_skew_ns": []}, "noise": {}, "notes": {}, "given": [],
        "mpi": "fake", "build": {},
        "samples": {"lanes": [{"rank": 0, "thread": 0, "begin_ns": begins, "duration_ns": times, "preempted": []}]},
    }  # fmt: skip
    return json.dumps(record)


def run(where: Store, study: str, on: Machine, answer: Answer, repeats: int = 6, seed: int = 7) -> StoredRun:
    """Begins a study and carries it out on answers."""
    begun = outcome.begin(where, study, on, seed, repeats)
    return go_on(where, begun, answer)


def go_on(where: Store, begun: StoredRun, answer: Answer) -> StoredRun:
    """Carries out what is left of a study on answers."""
    by_key = {launch.key: launch for launch in begun.launches}

    def start(words: Sequence[str], _environment: object, _timeout_s: float, _tick: object) -> Ended:
        launch = by_key[words[words.index("--run") + 1]]
        for point in launch.points():
            rate = answer(launch, point)
            if rate is None:
                return Ended(1, False, 0.1, "octant-stream: cannot go on (no reason); try again")
            with Path(words[words.index("--output") + 1]).open("a") as records:
                records.write(line(launch, point, rate) + "\n")
        return Ended(0, False, 0.1, "")

    return carry_out(where, begun, lambda _step, _elapsed_s: None, start=start)
