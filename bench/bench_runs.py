"""Cost of a launch in Octant's code: 200 and 2,000 launches whose kernel only appends a record.

Goal: under 5 ms per launch, and the same however many launches there are (ratio about 1).
"""

import resource
import sys
import tempfile
import time
import zlib
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from fake_kernel import GOOD, answer, request
from fake_run import launch_line, machine, point_line
from octant.launch.execute import ProcessOutcome
from octant.request import Shape
from octant.runs.plan import planner_of
from octant.runs.session import execute_run, run_all
from octant.store import Store

GOAL_MS = 5.0
KEY = "bench-0000000000-0"
POINT = answer("node/stream", KEY, {"bytes": "1MiB"})
LINES = f"{launch_line(POINT)}\n{point_line(POINT)}\n"


def start(words: list[str], *_: object) -> ProcessOutcome:
    """Append the record of a kernel."""
    lines = []
    for line in LINES.replace(KEY, words[words.index("--run") + 1]).splitlines():
        body = line[: line.rindex(',"crc"')]
        lines.append(f'{body},"crc":"{zlib.crc32(body.encode()):08x}"}}\n')
    with Path(words[words.index("--output") + 1]).open("a") as file:
        file.write("".join(lines))
    return GOOD


def cost(launches: int, place: str) -> tuple[float, float]:
    """Milliseconds of wall and of CPU time per launch, without what the fake kernel takes."""
    spent = 0.0

    def timed(words: list[str], *_: object) -> ProcessOutcome:
        nonlocal spent
        begin = time.perf_counter()
        outcome = start(list(words))
        spent += time.perf_counter() - begin
        return outcome

    with tempfile.TemporaryDirectory() as folder:
        where = Store(Path(folder))
        question = replace(request(launches, bytes="1MiB"), shape=Shape(1, place))
        run = where.create("bench", machine(nodes=2, cores=8), [question])
        begin, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
        done = execute_run(where, run, run_all(run.launches), planner_of(run), start=timed)
        wall = time.perf_counter() - begin - spent
        cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu
        if not done.complete or len(done.points) != launches:
            raise SystemExit("the bench measured nothing: launches are missing")
    return 1e3 * wall / launches, 1e3 * cpu / launches


def main() -> None:
    """Print the figures and the goal."""
    cost(20, "")
    for place in ("", "1x1"):
        small, large = (min(cost(n, place) for _ in range(3)) for n in (200, 2000))
        print(f"{f'placed {place}' if place else 'one rank'} (goal < {GOAL_MS} ms, ratio about 1)")
        print(
            f"  200 launches: {small[0]:.2f} ms each, {small[1]:.2f} of CPU; 2,000: {large[0]:.2f} ms, {large[1]:.2f}"
        )
        print(f"  ratio of 2,000 to 200: {large[0] / small[0]:.2f}, of CPU {large[1] / small[1]:.2f}")


if __name__ == "__main__":
    main()
