"""Stores of generated runs of one figure on recorded machines; every value in them is written by the test."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fake_run import lane, machine, point, write_run
from octant.machine import Machine
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store import StoredRun
from octant.store.run_request import RunRequest

BEGUN = datetime.datetime(2026, 11, 1, 3, 0, tzinfo=datetime.UTC)
TRIAD = {"kernel": "triad", "bytes": "1GiB"}
BYTES = 3_000_000
"""Bytes of a chunk; a chunk at 30 GB/s takes 100 µs."""


def night(number: float) -> datetime.datetime:
    """The start of the run of this night."""
    return BEGUN + datetime.timedelta(days=number)


def values_of(rate: float, launches: int = 6, spread: float = 0.01, seed: int = 0) -> list[float]:
    """Rates of launches in B/s about this one."""
    noise = np.random.default_rng(seed).normal(0, spread, launches)
    return [float(rate * np.exp(one)) for one in noise]


def triad_run(
    values: Sequence[float],
    begun: datetime.datetime,
    on: Machine | None = None,
    system: Mapping[str, str] | None = None,
    knobs: Mapping[str, str] | None = None,
    label: str = "Triad",
    counted: int = BYTES,
    **asked: Any,
) -> StoredRun:
    """A run of `node/stream`, which is in no store, with these rates of its launches, in B/s.

    Args:
        label: title of the request.
        system: facts of the machine that differ from the recorded ones.
        counted: bytes that a chunk is said to move.
        asked: further members of the run's description.
    """
    on = on or machine()
    on = replace(on, system={**on.system, **(system or {})})
    request = Request(
        Subject("node/stream"), knobs or TRIAD, Shape(), show=Presentation(label), repeats=len(values)
    )  # fmt: skip
    launches = [Launch(request, repeat) for repeat in range(len(values))]
    points = [
        point(
            workload="node/stream", launch=launch.key, knobs=cell, counts={"bytes_read": counted},
            lanes=(lane([round(1e9 * BYTES / value)] * 5),), started=begun.isoformat(),
        )
        for launch, value in zip(launches, values, strict=True)
        for cell in request.cells()
    ]  # fmt: skip
    described = {"who": "run", "title": "stream", **asked}
    order = tuple((0, launch.repeat) for launch in launches)
    question = RunRequest(
        started=begun.isoformat(), machine=on, environment={}, requests=(request,), order=order, **described
    )
    folder = Path("runs") / f"{begun:%Y%m%d-%H%M%S}-000-0000000000000000"
    return StoredRun(**vars(question), id=folder.name, folder=folder, points=tuple(points))


def write_triad(store: Path, values: Sequence[float], begun: datetime.datetime, **changes: Any) -> StoredRun:
    """The same run in a store."""
    return write_run(triad_run(values, begun, **changes), store)
