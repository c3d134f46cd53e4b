"""MPI patterns against bare loops and IMB in the same library; duration of a sweep; effect of a busy core.

    python bench/bench_mpi.py [--repeats 9] [--only ratios|imb|sweep|hog]

Everything is interleaved, with two ranks, each on a separate core. IMB is part of the Intel MPI wheel (`make intel`)
and runs here with MPICH; it prints only means, so the minima over launches are compared.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _kernel import points
from bench_noise_robustness import hogging
from octant import build, workloads
from octant.analysis.figures import figure
from octant.benchmarks.messages.patterns import MessagePattern, find
from octant.benchmarks.messages.requests import POINT_S
from octant.build import find_environment_program

SIZES = (8, 1024, 65536, 1048576)
PATTERNS = ("PingPong", "Exchange", "Allreduce", "Barrier")
SWEEP = [0, *(1 << power for power in range(23))]
TOGETHER = {"Allreduce": "barrier", "Barrier": "none"}
"""How ranks enter a step, where it is not back to back."""
LAUNCHER = str(find_environment_program("mpiexec") or "mpiexec")
IMB = Path(__file__).parent.parent / ".venv-intel" / "bin" / "IMB-MPI1"


def two_ranks(words: list[str]) -> list[str]:
    """Return a command line of two ranks, each on a separate hardware thread."""
    first, second, *_ = sorted(os.sched_getaffinity(0))
    start = [LAUNCHER]
    for cpu in (first, second):
        start += [":"] * (cpu == second) + ["-n", "1", "taskset", "-c", str(cpu), *words]
    return start


def bare(program: Path, pattern: MessagePattern, size: int, batch: int) -> list[float]:
    """Seconds of a step of the bare loop, timed in blocks of so many steps as ours."""
    blocks = max(300, min(20_000, 40_000_000 // (size + 2000) // batch))
    words = [str(program), pattern.name.lower(), str(size), str(blocks), str(batch)]
    output = subprocess.run(two_ranks(words), check=True, capture_output=True, text=True).stdout
    return [float(line) for line in output.split()]


def words_of(pattern: MessagePattern, sizes: str, *further: str) -> list[str]:
    """Return the arguments of a kernel for a pattern."""
    words = [f"{name}={value}" for name, value in pattern.knobs.items()]
    words += [f"bytes={sizes}"] if pattern.sizes else []
    words += [f"sync={TOGETHER[pattern.name]}"] if pattern.name in TOGETHER else []
    return [*words, "precision=0", *further]


def ours(pattern: MessagePattern, size: int, seconds: str = "0.3") -> dict[str, float]:
    """Return the median of a launch, and IMB's t_max from the same samples, in seconds."""
    (point,) = points(pattern.workload, words_of(pattern, str(size), f"seconds={seconds}"), [LAUNCHER, "-n", "2"])
    workload = workloads.workload(pattern.workload)
    found = {name: figure(workload, [point], name).value for name in ("time", "t_max")}
    if not all(found.values()):
        raise SystemExit(f"cannot compare ({pattern.name}, {size} B gave no right answer); run it by itself")
    return {name: value.middle for name, value in found.items() if value} | {"batch": point.batch}


def imb(pattern: MessagePattern, size: int) -> float:
    """Return the t_max that IMB prints with the same library, in seconds."""
    library = Path(LAUNCHER).parent.parent / "lib"
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(f"{size}\n")
        file.flush()
        words = [str(IMB), pattern.name, "-npmin", "2", *(["-msglen", file.name] if pattern.sizes else [])]
        environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
        done = subprocess.run(two_ranks(words), check=True, capture_output=True, text=True, env=environment)
    head, *rows = re.findall(r"^ +[#\d].*$", done.stdout, re.MULTILINE)
    names = head.split()
    column = next(i for i, name in enumerate(names) if name in ("t[usec]", "t_max[usec]"))
    wanted = [row.split() for row in rows if not pattern.sizes or row.split()[0] == str(size)]
    return float(wanted[0][column]) * 1e-6


def cells() -> list[tuple[MessagePattern, int]]:
    """Every pattern with every size."""
    return [(find(name), size) for name in PATTERNS for size in (SIZES if find(name).sizes else (0,))]


def ratios(repeats: int) -> None:
    """Medians of launches of ours over those of the bare loop."""
    compiler = (
        find_environment_program("mpicc_abi") or find_environment_program("mpicc") or "mpicc"
    )  # the library that kernels use
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare"
        subprocess.run(
            [str(compiler), "-O2", str(Path(__file__).parent / "bare_mpi.c"), "-o", str(program)], check=True
        )
        print(f"{'pattern':10}{'bytes':>9}{'bare, us':>11}{'octant, us':>12}{'ratio':>8}{'of best':>9}")
        for pattern, size in cells():
            theirs, mine = [], []
            for _ in range(repeats):
                one = ours(pattern, size)
                mine.append(one["time"])
                theirs.append(statistics.median(bare(program, pattern, size, int(one["batch"]))))
            ratio, best = statistics.median(mine) / statistics.median(theirs), min(mine) / min(theirs)
            middle = statistics.median(theirs) * 1e6, statistics.median(mine) * 1e6
            print(
                f"{pattern.name:10}{size:>9}{middle[0]:>11.3f}{middle[1]:>12.3f}{ratio:>8.3f}{best:>9.3f}", flush=True
            )


def against_imb(repeats: int) -> None:
    """Print the minimum t_max of IMB over that of Octant, both means over repetitions."""
    if not IMB.exists():
        print(f"IMB is not here ({IMB}); try `make intel`")
        return
    print(f"{'pattern':10}{'bytes':>9}{'IMB, us':>11}{'t_max, us':>12}{'ratio':>8}{'median, us':>12}{'IMB moved':>11}")
    for pattern, size in cells():
        theirs, mine = [], []
        for _ in range(repeats):
            theirs.append(imb(pattern, size))
            mine.append(ours(pattern, size))
        least, t_max = min(theirs), min(one["t_max"] for one in mine)
        median, moved = statistics.median(one["time"] for one in mine), max(theirs) / least
        print(
            f"{pattern.name:10}{size:>9}{least * 1e6:>11.3f}{t_max * 1e6:>12.3f}{t_max / least:>8.3f}"
            f"{median * 1e6:>12.3f}{moved:>10.1f}x",
            flush=True,
        )


def sweep(repeats: int) -> None:
    """Seconds of one pattern over all sizes, as `octant mpi` measures it, without the start of the launch."""
    for name in (one for one in PATTERNS if find(one).sizes):
        pattern, took = find(name), []
        for _ in range(repeats):
            sizes = ",".join(str(size) for size in SWEEP if size % pattern.multiple == 0)
            took.append(_spent_s(words_of(pattern, sizes, f"seconds={POINT_S}"), pattern.workload))
        print(f"{name:10}: median {statistics.median(took):.2f} s, least {min(took):.2f} s", flush=True)


def _spent_s(words: list[str], workload: str) -> float:
    """Return the total time of the points of a launch: initialisation, measurement and checks."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "records.jsonl"
        subprocess.run([LAUNCHER, "-n", "2", str(build.find(workload)), *words, "--output", str(output)], check=True)
        spent = re.findall(r'"spent": *\{([^}]*)\}', output.read_text())
    return sum(float(seconds) for point in spent for seconds in re.findall(r'": *([\d.e+-]+)', point))


def with_busy_core(repeats: int) -> None:
    """How far a process that occupies a core in bursts moves medians, and means of the same samples."""
    for pattern, size in cells():
        if size not in (0, 8, 65536):
            continue
        quiet, disturbed = [], []
        for _ in range(repeats):
            quiet.append(ours(pattern, size))
            with hogging():
                disturbed.append(ours(pattern, size))
        change = {
            name: statistics.median(one[name] for one in disturbed) / statistics.median(one[name] for one in quiet)
            for name in ("time", "t_max")
        }
        print(
            f"{pattern.name:10}{size:>9} B: median x{change['time']:.3f}, plain mean x{change['t_max']:.2f}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", choices=("ratios", "imb", "sweep", "hog"))
    asked = parser.parse_args()
    parts = {"ratios": ratios, "imb": against_imb, "sweep": sweep, "hog": with_busy_core}
    for name, part in parts.items():
        if asked.only in (None, name):
            print(f"\n{(part.__doc__ or name).splitlines()[0]}")
            part(asked.repeats)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
