"""A study run in which no program starts: each launch measures the rates that the test gives."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from fake_run import STARTED, durations, lane, launch_line, point, point_line
from octant.build import program_name
from octant.launch.execute import ProcessOutcome as Ended
from octant.machine import Machine
from octant.record import Process, Result
from octant.request import Launch
from octant.runs.plan import planner_of
from octant.runs.session import execute_run, run_all
from octant.store import Store, StoredRun
from octant.study import file, outcome
from octant.study.published_values import published_values
from octant.study.stored import study_run

BYTES = 10**12  # of one sample
Rate = Callable[[Launch, Mapping[str, str]], float | None]  # (launch, point) -> bytes/s; None: the launch fails


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch, names: Sequence[str] = ("node/stream", "bind")) -> None:
    """Programs that only say what knobs they have."""
    words = (
        "kernel",
        "bytes",
        "pin",
        "pages",
        "memory",
        "seconds",
        "threads",
        "prefetch",
        "library",
        "isa",
        "element",
        "n",
    )
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


def line(launch: Launch, knobs: Mapping[str, str], rate: float, passed: bool = True, **changes: Any) -> str:
    """A record of one lane that moves `rate` bytes a second, in the median exactly."""
    return point_line(
        point(
            workload=launch.request.subject.name, launch=launch.key, knobs=dict(knobs),
            ranks=launch.request.shape.ranks,
            results=(Result("compared", 0.0 if passed else 1.0, "1", 0.0),), given=(),
            counts={"bytes_read": BYTES, "bytes_allocated": BYTES // 2},
            lanes=(lane(durations(round(BYTES / rate * 1e9))),), **changes,
        )
    )  # fmt: skip


def run(where: Store, study: str, on: Machine, rate_of: Rate, repeats: int = 6, seed: int = 7) -> StoredRun:
    """Begins a study and carries it out on such rates."""
    begun = outcome.begin(where, study, on, seed, repeats)
    return go_on(where, begun, rate_of)


def go_on(where: Store, begun: StoredRun, rate_of: Rate) -> StoredRun:
    """Carries out what is left of a study on such rates."""
    by_key = {launch.key: launch for launch in begun.launches}

    def start(words: Sequence[str], _environment: object, _timeout_s: float, _tick: object) -> Ended:
        launch = by_key[words[words.index("--run") + 1]]
        for cell in launch.cells():
            rate = rate_of(launch, cell)
            if rate is None:
                return Ended(1, False, 0.1, "node/stream: cannot go on (no reason); try again")
            with Path(words[words.index("--output") + 1]).open("a") as records:
                if link := launch.request.shape.link:
                    process = Process(link=link, started=STARTED)
                    records.write(launch_line(point(launch=launch.key, process=process)) + "\n")
                records.write(line(launch, cell, rate) + "\n")
        return Ended(0, False, 0.1, "")

    return execute_run(where, begun, run_all(begun.launches), planner_of(begun), start=start)


def outcome_of(run: StoredRun) -> outcome.Outcome:
    """What a run says, as the command reads it from a store."""
    return outcome.outcome_of_run(study_run(run))


def as_published(launch: Launch) -> float:
    """What the POWER7 node measured in a launch's combination; elsewhere, what bound and local gave."""
    rows = {str(row.cell): row.value for row in published_values(file.load("stream-affinity-pages"))}
    jitter = 1 + 0.002 * (random.Random(launch.key).random() - 0.5)
    return rows.get(launch.request.show.title, 122409e6) * jitter
