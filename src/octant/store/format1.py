"""`asked.json` of version 0.1 (`"schema": 1`): launches side by side, each with all that it was asked with."""

import hashlib
import json
import re
from dataclasses import replace
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from octant.machine.codec import StoredMachine
from octant.record import Natural
from octant.record.format1 import NAMES
from octant.renamed import current_knobs, current_workload
from octant.request import Count, Host, Presentation, Request, Shape, Subject, cell_count
from octant.store.environment import recorded
from octant.store.run_request import RunRequest, Seed, StudyRequest, check_cells, check_start, of_earlier_version

_OLD_MODE = Literal["one", "star", "threads", "all"]


class _Launch(Struct):
    workload: Annotated[str, Meta(pattern=r"^[a-z0-9_]+\Z")]
    knobs: dict[str, str]
    mode: _OLD_MODE = "one"
    ranks: Count = 1
    title: str = ""
    repeat: Natural = 0
    table: bool = True
    place: str = ""
    launcher: str = ""
    hosts: list[Host] = []
    mpi: dict[str, str] = {}

    @property
    def key(self) -> str:
        """By which its records name it."""
        asked: list[object] = [self.workload, self.mode, self.ranks, sorted(self.knobs.items())]
        further = [self.place, self.launcher, self.hosts, sorted(self.mpi.items())]
        if any(further):
            asked += further
        return f"{self.workload}-{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:10]}-{self.repeat}"

    def request(self, repeats: int) -> Request:
        """Return the equivalent current request."""
        name = current_workload(NAMES.get(self.workload, self.workload))
        shape = Shape(self.ranks, self.place, tuple(self.hosts), self.launcher)
        knobs = current_knobs(name, self.knobs)
        return Request(Subject(name), knobs, shape, self.mpi, Presentation(self.title, self.table), repeats)


class _Study(Struct):
    name: str
    seed: Seed
    text: str
    library: str = ""
    lacking: dict[str, str] = {}


class _RunRequest(Struct):
    schema: Literal[1]
    title: str
    started: str
    machine: StoredMachine
    environment: dict[str, str]
    launches: list[_Launch]
    study: _Study | None = None


_FIRST = re.compile(rb'\s*\{\s*"schema"\s*:')
_ASKED = msgspec.json.Decoder(_RunRequest)


def read_run_request(text: bytes) -> RunRequest:
    """Read a text of format 1.

    Raises:
        ValueError: a member is missing, of the wrong type or out of range; the message names it.
    """
    asked = _ASKED.decode(text)
    check_start(asked.started)
    check_cells(sum(cell_count(launch.knobs) for launch in asked.launches))
    repeats: dict[str, int] = {}
    for launch in asked.launches:
        key = launch.request(1).key
        repeats[key] = max(repeats.get(key, 0), launch.repeat + 1)
    requests: dict[str, Request] = {}
    numbers = {key: number for number, key in enumerate(repeats)}
    order, keys = [], {}
    for launch in asked.launches:
        key = launch.request(1).key
        requests.setdefault(key, launch.request(repeats[key]))
        order.append((numbers[key], launch.repeat))
        keys[launch.key] = f"{key}-{launch.repeat}"
    study = asked.study
    found = RunRequest(
        "run", asked.title, asked.started,
        asked.machine.machine(), recorded(asked.environment), tuple(requests.values()), tuple(order),
        study.seed if study else 0,
        StudyRequest(study.name, study.seed, study.text, study.library, study.lacking) if study else None,
        keys,
    )  # fmt: skip
    found = of_earlier_version(found)
    return replace(found, who=f"study {study.name}" if study else found.benchmark or "run")


def is_ours(text: bytes) -> bool:
    """Whether a text is of format 1."""
    return _FIRST.match(text) is not None
