"""p2p against hand-written bare MPI loops in the same MPI, hot buffers; interleaved launches, medians.

python bench/bench_p2p.py [--repeats 9] [--real-time]

Goal: ratios of at most 1.05 (medians over rounds). The median is compared with a loop that times each step. The mean
time of a ping-pong (`t_avg`) is compared with a loop that times many steps together, as the OSU benchmarks do.
`--real-time` starts all ranks with `chrt -r 1`.

The script also measures the cost of a window's acknowledgement and of a queue entry.
"""

import argparse
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from _kernel import median
from octant.build import find_environment_program

LENGTHS = (0, 8, 1024, 65536, 1048576)
WINDOWED = (8, 2048, 32768, 131072)
DEPTHS = (0, 100, 1000, 10_000)
MAX_BYTES = 2 << 30  # that a bare loop moves in a launch
TOGETHER = 1000  # steps of a bare ping-pong that are timed together
REAL_TIME = ("chrt", "-r", "1")

Launch = Callable[[], float]


def steps(length: int, messages: int = 1) -> int:
    """So many samples of a bare loop; each is one step, as octant's: a mean over many would be another statistic."""
    return max(200, min(5001, MAX_BYTES // (messages * max(1, length))))


def bare(
    launcher: Sequence[str], program: Path, pattern: str, length: int, messages: int = 1, together: int = 1
) -> float:
    """Return the median of one launch with a rank on each of the first two hardware threads."""
    stretches = max(5, steps(length, messages) // together)
    words = [str(program), pattern, str(length), str(stretches), str(together)]
    mpiexec, *priority = launcher
    pinned = [mpiexec]
    for cpu in ("0", "1"):
        pinned += [":"] * (cpu == "1") + ["-n", "1", *priority, "taskset", "-c", cpu, *words]
    output = subprocess.run(pinned, check=True, capture_output=True, text=True).stdout
    return statistics.median(map(float, output.split()))


def ours(launcher: Sequence[str], pattern: str, *words: str, metric: str = "") -> float:
    """Return a metric of one launch (default: the headline)."""
    mpiexec, *priority = launcher
    words = (f"pattern={pattern}", *words, "seconds=0.5", "precision=0")
    return median("mpi/p2p", words, [mpiexec, "-n", "2", *priority], metric=metric)


def in_turn(repeats: int, sides: Sequence[Launch]) -> list[list[float]]:
    """Return interleaved launches of both sides."""
    rounds = [[side() for side in sides] for _ in range(repeats)]
    return [list(side) for side in zip(*rounds, strict=True)]


def print_ratio(pattern: str, length: int, repeats: int, theirs: Launch, mine: Launch) -> None:
    bare_s, octant_s = in_turn(repeats, (theirs, mine))
    # of each round: the host of a guest may move its processors between rounds, which changes times by half
    ratio = statistics.median(one / other for one, other in zip(octant_s, bare_s, strict=True))
    best = min(octant_s) / min(bare_s)
    middles = [statistics.median(side) * 1e6 for side in (bare_s, octant_s)]
    print(f"{pattern:>14}{length:>9}{middles[0]:>11.3f}{middles[1]:>12.3f}{ratio:>8.3f}{best:>9.3f}", flush=True)


def against_bare(program: Path, launcher: Sequence[str], repeats: int) -> None:
    print(f"{'pattern':>14}{'bytes':>9}{'bare, us':>11}{'octant, us':>12}{'ratio':>8}{'of best':>9}")
    for pattern, lengths in (("pingpong", LENGTHS), ("exchange", LENGTHS), ("uniband", WINDOWED)):
        loop, messages = ("window", 64) if pattern == "uniband" else (pattern, 1)
        for length in lengths:
            theirs = partial(bare, launcher, program, loop, length, messages)
            print_ratio(pattern, length, repeats, theirs, partial(ours, launcher, pattern, f"bytes={length}"))
    for length in LENGTHS:
        theirs = partial(bare, launcher, program, "pingpong", length, together=min(TOGETHER, steps(length) // 5))
        mine = partial(ours, launcher, "pingpong", f"bytes={length}", metric="t_avg")
        print_ratio("pingpong, mean", length, repeats, theirs, mine)


def acknowledgement(program: Path, launcher: Sequence[str], repeats: int) -> None:
    print("time of a window's message with an acknowledgement over that without")
    for length in WINDOWED:
        closed, unclosed = in_turn(
            repeats, [partial(bare, launcher, program, loop, length, 64) for loop in ("window", "open")]
        )
        print(f"{length:>9} {statistics.median(closed) / statistics.median(unclosed):.2f}")


def matching(launcher: Sequence[str], repeats: int) -> None:
    print(f"{'queue':>12}{'depth':>8}{'us':>10}{'ns an entry since the depth before':>38}")
    for pattern in ("posted", "unexpected"):
        times = in_turn(repeats, [partial(ours, launcher, pattern, f"depth={depth}") for depth in DEPTHS])
        middles = [statistics.median(side) for side in times]
        for i, depth in enumerate(DEPTHS):
            slope = (middles[i] - middles[i - 1]) / (depth - DEPTHS[i - 1]) * 1e9 if i else 0.0
            print(f"{pattern:>12}{depth:>8}{middles[i] * 1e6:>10.3f}{slope:>38.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--real-time", action="store_true", help="start all ranks with chrt -r 1")
    arguments = parser.parse_args()
    repeats = arguments.repeats
    # octant's own library: MPICH's libmpi_abi takes 7 % longer than its libmpi at 1 KiB
    compiler = find_environment_program("mpicc_abi") or find_environment_program("mpicc") or "mpicc"
    launcher = [str(find_environment_program("mpiexec") or "mpiexec"), *(REAL_TIME if arguments.real_time else ())]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare"
        source = Path(__file__).parent / "bare_p2p.c"
        subprocess.run([str(compiler), "-O2", str(source), "-o", str(program)], check=True)
        against_bare(program, launcher, repeats)
        acknowledgement(program, launcher, repeats)
        matching(launcher, repeats)


if __name__ == "__main__":
    main()
