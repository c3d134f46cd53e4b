"""CPU time of the analysis of one launch with many ranks in groups of two, by metric and number of ranks.

Goal: at most 1 s of CPU time per metric for 4,096 ranks in 2,048 groups, and twice as much for twice as many ranks.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from fake_run import point
from octant.analysis.figures import launch_figures
from octant.analysis.reduce import measure
from octant.metric import Metric, Value, groups, per, ranks, rate, reading, seconds, share, steps
from octant.record import Head, Pace, Point, Series, Work

SIZES = (1024, 2048, 4096)
SAMPLES = 200
WITHOUT_MARKS = range(150, 160)
ROUNDS = 3
OF_STEPS: dict[str, Value] = {
    "time": seconds(),
    "time, undisturbed": seconds(undisturbed=True),
    "time per message": per("messages"),
    "rate": rate("bytes_sent"),
    "t_max": seconds(over=(steps("mean"), ranks("max"), groups("max"))),
    "time of a phase": seconds("phase/pack"),
    "phase, undisturbed": seconds("phase/pack", undisturbed=True),
    "share of a phase": share("phase/pack"),
    "reading": reading("residual"),
}
OF_CHUNKS: dict[str, Value] = {"time of a chunk": seconds(), "rate of lanes": rate("bytes_sent")}
PACES: dict[Pace, dict[str, Value]] = {"steps": OF_STEPS, "chunks": OF_CHUNKS}


def main() -> None:
    """Print the seconds of each metric for each number of ranks, and the factor between the largest two."""
    print(f"{'CPU seconds for ranks':32}" + "".join(f"{size:9,}" for size in SIZES) + "  factor")
    failed = []
    for pace, metrics in PACES.items():
        launches = {size: launch(size, pace) for size in SIZES}
        for name, value in metrics.items():
            taken = [least(launches[size], Metric(name, "s", "lower", value)) for size in SIZES]
            failed += [name] * (taken[-1] > 1)
            report(name, taken)
        whole = [of_all(launches[size], metrics) / len(metrics) for size in SIZES]
        failed += [f"all by {pace}"] * (whole[-1] > 1)
        report(f"all by {pace}, per metric", whole)
    print(f"above 1 s: {', '.join(failed) or 'none'} (goal: none)")
    raise SystemExit(bool(failed))


def report(name: str, taken: list[float]) -> None:
    print(f"{name:32}" + "".join(f"{one:9.3f}" for one in taken) + f"{taken[-1] / taken[-2]:8.1f}", flush=True)


def least(one: Point, metric: Metric) -> float:
    """Seconds for one metric of samples that are read already, the least of some."""
    samples, taken = one.read(), []
    for _ in range(ROUNDS):
        begin = time.process_time()
        measure(metric, one, samples)
        taken.append(time.process_time() - begin)
    return min(taken)


def of_all(one: Point, metrics: dict[str, Value]) -> float:
    """Seconds for the figures of a launch in all these metrics, caveats included."""
    begin = time.process_time()
    found = launch_figures(one, [Metric(name, "s", "lower", value) for name, value in metrics.items()])
    taken = time.process_time() - begin
    if any(isinstance(figure, Exception) for figure in found.values()):
        raise SystemExit(f"the bench measured nothing: {found}")
    return taken


def launch(size: int, pace: Pace) -> Point:
    """Return a launch of this number of ranks in groups of two, with steps, a phase and a reading."""
    pairs = tuple((rank, rank + 1) for rank in range(0, size, 2))
    series = tuple(one for group, pair in enumerate(pairs) for rank in pair for one in series_of(rank, group, pace))
    lanes = 2 if pace == "chunks" else 1
    counts = {"bytes_sent": 1000 * lanes, "messages": 2 * lanes}
    work = tuple(Work(counts, group, lanes=lanes) for group in range(len(pairs)))
    marks = tuple((WITHOUT_MARKS.start, WITHOUT_MARKS.stop, group) for group in range(len(pairs)))
    marks = marks if pace == "steps" else ()
    return point(pace, ranks=size, groups=pairs, lanes=series, work=work, warmup=3, marks_off=marks)


def series_of(rank: int, group: int, pace: Pace) -> Iterator[Series]:
    generator = np.random.default_rng(rank)
    ns = np.rint(generator.normal(10_000, 200, SAMPLES))
    gaps = np.full(SAMPLES, 20.0)
    gaps[0] = generator.integers(0, 5_000)
    gaps[SAMPLES // 2] += 3e6  # a second burst
    preempted = frozenset(generator.integers(0, SAMPLES, 2).tolist())
    yield Series(Head("step", rank, group=group), ns, gaps, preempted)
    if pace == "steps":
        yield Series(Head("phase/pack", rank, group=group), np.delete(ns, WITHOUT_MARKS) / 4)
        yield Series(Head("reading/residual", rank, group=group, unit="1"), ns * 1e-6)


if __name__ == "__main__":
    main()
