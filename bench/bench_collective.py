"""Progress of collectives during computation by frequency of MPI_Test calls, and the slowest of 10,000 barriers.

    python bench/bench_collective.py [--repeats 5]

Two ranks; launches of all cells are interleaved. bench_mpi.py compares Allreduce and Barrier with a bare loop.
"""

import argparse
import statistics
from collections import defaultdict

from _kernel import points
from octant import workloads
from octant.analysis.figures import MeasuredCell, figures_of
from octant.build import find_environment_program

LAUNCHER = [str(find_environment_program("mpiexec") or "mpiexec"), "-n", "2"]
PATTERNS = ("allreduce", "bcast", "alltoall")
TESTS = ("none", "10us", "50us", "200us")
COLUMNS = ("time", "overlap", "overlap_imb", "test overhead", "exposed")
BARRIERS = ("least", "time", "p99_9", "worst_undisturbed", "worst")


def launch(words: list[str], names: tuple[str, ...]) -> dict[tuple[str, str], dict[str, float]]:
    """Return the metrics of one launch, by pattern and interval of tests."""
    workload = workloads.workload("mpi/collective")
    metrics = [workload.metric(name) for name in names]
    found = {}
    for point in points(workload.name, words, LAUNCHER):
        values = {name: figure.value for name, figure in figures_of(MeasuredCell(workload, [point], metrics)).items()}
        key = (point.knobs["pattern"], point.knobs["test"])
        found[key] = {name: value.middle for name, value in values.items() if value}
    return found


def medians(repeats: int, words: list[str], names: tuple[str, ...]) -> dict[tuple[str, str], dict[str, float]]:
    """Return the medians over launches."""
    every: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for _ in range(repeats):
        for key, values in launch(words, names).items():
            every[key].append(values)
    return {
        key: {name: statistics.median(one[name] for one in launches if name in one) for name in names}
        for key, launches in every.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    words = [
        f"pattern={','.join(PATTERNS)}",
        f"test={','.join(TESTS)}",
        "call=nonblocking",
        "bytes=1MiB",
        "seconds=0.5",
    ]
    found = medians(repeats, words, COLUMNS)
    titles = ("MPI_Test", "alone, us", "overlap", "by IMB", "test overhead", "exposed, us", "of alone")
    print(f"{'1 MiB':10}" + "".join(f"{title:>11}" for title in titles))
    for pattern in PATTERNS:
        for test in TESTS:
            one = found[(pattern, test)]
            print(
                f"{pattern:10}{test:>11}{one['time'] * 1e6:>11.1f}{one['overlap']:>11.2f}{one['overlap_imb']:>11.2f}"
                f"{one['test overhead']:>11.2f}{one['exposed'] * 1e6:>11.2f}{one['exposed'] / one['time']:>11.3f}"
            )
    words = ["pattern=barrier", "samples=10000", "least=10000", "seconds=5"]
    ((_, barrier),) = medians(repeats, words, BARRIERS).items()
    print("10,000 barriers, us: " + ", ".join(f"{name} {barrier[name] * 1e6:.2f}" for name in BARRIERS))


if __name__ == "__main__":
    main()
