"""Launches: what is to be started, and one file a launcher that turns it into the words of a command line."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from octant.workload import Mode


@dataclass(frozen=True)
class Launch:
    """One start of a kernel. A knob's value may be a list (`1KiB,2KiB`): one point each."""

    workload: str
    knobs: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = "one"
    ranks: int = 1
    title: str = ""
    repeat: int = 0  # a launch is a sample: the same question is asked several times
    table: bool = True
    place: str = ""  # a placement request for each node; "": every thread on a hardware thread of its own
    launcher: str = ""  # "": the one that is at hand
    hosts: tuple[str, ...] = ()  # reached by ssh; empty: this node, or those of the allocation
    mpi: Mapping[str, str] = field(default_factory=dict)  # settings of the MPI library, under its own names
    rest_of: str = ""  # the question of the launch whose missing points these are

    @cached_property
    def question(self) -> str:
        """The same for all repeats of a launch, and for the rest of one that was interrupted."""
        if self.rest_of:
            return self.rest_of
        asked: list[object] = [self.workload, self.mode, self.ranks, sorted(self.knobs.items())]
        further = [self.place, self.launcher, list(self.hosts), sorted(self.mpi.items())]
        if any(further):
            asked += further
        return f"{self.workload}-{hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:10]}"

    @property
    def key(self) -> str:
        """The same launch, the same key, on every machine and day."""
        return f"{self.question}-{self.repeat}"

    @property
    def words(self) -> list[str]:
        """The kernel's arguments."""
        return [f"{name}={value}" for name, value in self.knobs.items()]

    def points(self) -> list[dict[str, str]]:
        """The knob values of each point, in the order in which the kernel takes them."""
        lists = [value.split(",") for value in self.knobs.values()]
        return [dict(zip(self.knobs, values, strict=True)) for values in itertools.product(*lists)]

    def without(self, done: list[Mapping[str, str]]) -> "tuple[Launch, ...]":
        """The launches that ask for exactly the points of this one that are not done."""
        points = self.points()
        missing = [p for p in points if not any(p.items() <= dict(d).items() for d in done)]
        if len(missing) == len(points):
            return (self,)
        *outer, inner = [name for name, value in self.knobs.items() if "," in value] or [""]
        rest: dict[tuple[str, ...], list[str]] = {}  # values of the innermost list, for each choice from the others
        for point in missing:
            rest.setdefault(tuple(point[name] for name in outer), []).append(point[inner])
        return tuple(
            replace(
                self,
                knobs={**self.knobs, **dict(zip(outer, chosen, strict=True)), inner: ",".join(values)},
                rest_of=self.question,
            )
            for chosen, values in rest.items()
        )
