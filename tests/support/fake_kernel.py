"""A kernel that only writes records: it is handed to `execute_run` in place of what starts processes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fake_run import durations, lane, launch_line, point, point_line
from octant.launch import Planned
from octant.launch.execute import ProcessOutcome
from octant.record import Point
from octant.request import Launch, Request, Shape, Subject, cells_of

GOOD = ProcessOutcome(0, False, 0.1, "")


def request(repeats: int = 1, workload: str = "node/stream", ranks: int = 1, **knobs: str) -> Request:
    """What these knobs ask of a workload."""
    return Request(Subject(workload), knobs, Shape(ranks), repeats=repeats)


def planned(launch: Launch, records: Path) -> Planned:
    """A start of the kernel itself: no launcher, no placement."""
    words = ("kernel", "--output", str(records), "--run", launch.key, *launch.words)
    return Planned(launch, words, {"OMP_DYNAMIC": "false"})


def answer(workload: str, launch: str, cell: Mapping[str, str]) -> Point:
    """The point of a cell."""
    knobs = {**cell, "pin": "each"}
    lanes = (lane(durations(100_000, 5)),)
    return point(workload=workload, launch=launch, knobs=knobs, lanes=lanes, counts={"bytes_read": 1000})


@dataclass
class Kernel:
    """Writes a point for each cell that it is started with; `ends` says how the n-th start ends instead."""

    ends: Mapping[int, ProcessOutcome] = field(default_factory=dict)
    answer: Callable[[str, str, Mapping[str, str]], Point] = answer
    starts: list[list[str]] = field(default_factory=list)

    def __call__(
        self, words: Sequence[str], _environment: object, _timeout_s: float, observe: Callable[[float], None]
    ) -> ProcessOutcome:
        self.starts.append(list(words))
        observe(0.0)
        end = self.ends.get(len(self.starts) - 1)
        if end:
            return end
        launch = words[words.index("--run") + 1]
        knobs = dict(word.split("=", 1) for word in words if "=" in word and not word.startswith("-"))
        points = [self.answer("node/stream", launch, cell) for cell in cells_of(knobs)]
        with Path(words[words.index("--output") + 1]).open("a") as file:
            file.write("".join(f"{line}\n" for line in (launch_line(points[0]), *map(point_line, points))))
        return GOOD
