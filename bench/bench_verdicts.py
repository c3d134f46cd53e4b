"""Intervals and verdicts on real launches: the same five figures, launched again and again as two equal sides.

    python bench/bench_verdicts.py [--folder build/verdicts] [--minutes 21] [--rounds 240] [--read]

Each round launches every figure once as A and once as B, which are equal, in an order that is drawn; the rounds are
spread evenly over the minutes. Every launch is a row of launches.csv in the folder; `--read` measures nothing and
reports on the file that is there. The report:

1. Coverage: how often the interval of six launches holds the median of all, for six of different minutes and for six
   of one minute. Goal: at least 90 % for different minutes.
2. Verdicts on equal sides, from six rounds each: goal: in at most 5 % of comparisons. 30 figures are made of six
   stretches of rounds taken together.
3. A planted difference: the values of B scaled by twice the spread of launches, and how often it is found.
"""

import argparse
import csv
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from _kernel import median
from octant.build import find_environment_program
from octant.stats.gate import gate_verdicts
from octant.stats.intervals import Period, order_statistics_bounds
from octant.stats.paired import paired_p, paired_verdicts
from octant.stats.verdicts import Verdict

FIGURES = {
    "peakflops": ("node/peakflops", []),
    "triad, 1 MiB": ("node/stream", ["kernel=triad", "bytes=1MiB"]),
    "triad, 256 MiB": ("node/stream", ["kernel=triad", "bytes=256MiB"]),
    "latency, 256 MiB": ("node/latency", ["bytes=256MiB"]),
    "pingpong, 8 B": ("mpi/p2p", ["bytes=8"]),
}
EFFORT = ["seconds=0.2", "precision=0"]
SIX, GATE = 6, 8  # rounds of a report, of a gate
TOGETHER = 6  # stretches of five figures that make a comparison of 30
DRAWS = 2000


@dataclass(frozen=True)
class Launches:
    """One figure: logarithms of launch medians, shape (rounds, 2) for A and B, and the minute of each round."""

    logs: NDArray[np.float64]
    minutes: NDArray[np.int_]

    @property
    def spread(self) -> float:
        """Return the standard deviation of consecutive launches, without drift."""
        return float((self.logs[:, 1] - self.logs[:, 0]).std(ddof=1) / np.sqrt(2))


def measure(path: Path, rounds: int, minutes: float) -> None:
    """Append a row for each launch of this number of rounds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    launcher = [str(find_environment_program("mpiexec") or "mpiexec"), "-n", "2"]
    begun = time.monotonic()
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["figure", "round", "side", "started", "seconds", "value"])
        for number in range(rounds):
            time.sleep(max(0.0, begun + number * 60 * minutes / rounds - time.monotonic()))
            for figure in random.sample(list(FIGURES), len(FIGURES)):
                name, words = FIGURES[figure]
                for side in random.sample("AB", 2):
                    since, now = time.monotonic() - begun, datetime.now().astimezone().isoformat(timespec="seconds")
                    value = median(name, [*words, *EFFORT], launcher if name.startswith("mpi/") else ())
                    rows.writerow([figure, number, side, now, f"{since:.3f}", repr(value)])
            file.flush()
            print(f"\rround {number + 1} of {rounds}, {(time.monotonic() - begun) / 60:.1f} min", end="", flush=True)
    print()


def read(path: Path) -> dict[str, Launches]:
    """Return the launches of every complete round, by figure."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for figure in dict.fromkeys(row["figure"] for row in rows):
        sides: dict[int, dict[str, dict[str, str]]] = {}
        for row in rows:
            if row["figure"] == figure:
                sides.setdefault(int(row["round"]), {})[row["side"]] = row
        pairs = [side for side in sides.values() if len(side) == 2]
        logs = np.log([[float(side[name]["value"]) for name in "AB"] for side in pairs])
        found[figure] = Launches(logs, np.array([int(float(side["A"]["seconds"]) / 60) for side in pairs]))
    return found


def coverage(one: Launches, generator: np.random.Generator) -> tuple[float, float]:
    """How often the interval of six launches holds the median of all: six of different minutes, six of one minute.

    `nan` where there are too few minutes, or launches in a minute.
    """
    truth = np.median(one.logs)
    by_minute = [one.logs[one.minutes == minute].ravel() for minute in np.unique(one.minutes)]
    full = [values for values in by_minute if len(values) >= SIX]
    apart = len(by_minute) >= SIX and [
        [generator.choice(by_minute[place]) for place in generator.choice(len(by_minute), SIX, replace=False)]
        for _ in range(DRAWS)
    ]
    drawn = full and [generator.choice(full[generator.integers(len(full))], SIX, replace=False) for _ in range(DRAWS)]
    shares = []
    for sets in (apart, drawn):
        low, _, high = order_statistics_bounds(np.array(sets)) if sets else (np.nan, np.nan, np.nan)
        shares.append(float(np.mean((low <= truth) & (truth <= high))) if sets else np.nan)
    return shares[0], shares[1]


def stretches(found: dict[str, Launches], rounds: int, planted: float = 0.0) -> list[list[NDArray[np.float64]]]:
    """Successive comparisons of so many rounds: of each figure, the logarithms of B over A.

    Args:
        planted: what is taken off B's logarithms, in spreads of the figure's launches.
    """
    number = min(len(one.logs) for one in found.values()) // rounds
    ratios = {figure: one.logs[:, 1] - one.logs[:, 0] - planted * one.spread for figure, one in found.items()}
    return [[x[place * rounds : (place + 1) * rounds] for x in ratios.values()] for place in range(number)]


def groups_of(
    stretched: Sequence[list[NDArray[np.float64]]], generator: np.random.Generator
) -> Iterator[list[NDArray[np.float64]]]:
    """Comparisons of 30 figures: six stretches that are drawn, as if all were figures of one pair of runs."""
    for _ in range(200 if len(stretched) >= TOGETHER else 0):
        yield [x for place in generator.choice(len(stretched), TOGETHER, replace=False) for x in stretched[place]]


Judge = Callable[[list[NDArray[np.float64]], Period, float], list[Verdict]]


def share_with_verdict(comparisons: Sequence[list[NDArray[np.float64]]], judge: Judge, margin: float) -> str:
    """`2.5 % of 40`: comparisons in which a figure is faster or slower."""
    now = datetime.now().astimezone()
    words = [[verdict.word for verdict in judge(x, Period(now, now), margin)] for x in comparisons]
    alarms = [any(word in ("faster", "slower") for word in each) for each in words]
    return f"{100 * np.mean(alarms):5.1f} % of {len(alarms)}" if alarms else "too few rounds"


def report(found: dict[str, Launches]) -> None:
    """Print the three tables."""
    generator = np.random.default_rng(20)
    rounds = min(len(one.logs) for one in found.values())
    minutes = max(int(one.minutes.max()) for one in found.values()) + 1
    print(f"{rounds} rounds, {2 * rounds} launches of each figure, over {minutes} minutes\n")
    print(f"{'figure':<18}{'spread':>9}{'total':>9}{'different minutes':>20}{'one minute':>13}{'planted, 6, 12':>20}")
    for name, one in found.items():
        shares = [f"{100 * share:.1f} %" for share in coverage(one, generator)]
        planted = [
            [paired_p(x) <= 0.05 for (x,) in stretches({name: one}, number, planted=2)] for number in (SIX, 2 * SIX)
        ]
        hits = " / ".join(f"{100 * np.mean(each):.0f} %" if each else "-" for each in planted)
        total = 100 * one.logs.std(ddof=1)
        print(f"{name:<18}{100 * one.spread:>7.1f} %{total:>7.1f} %{shares[0]:>20}{shares[1]:>13}{hits:>20}")
    print("\ngoal for different minutes: 90 %; planted: B slower by 2 spreads, found at p <= 5 % in 6 or 12 rounds\n")
    six, gate = stretches(found, SIX), stretches(found, GATE)
    raw = [[bool(paired_p(x) <= 0.05) for x in each] for each in six]
    if not six:
        print("too few rounds for a comparison")
        return
    print(f"equal sides, {SIX} rounds each: p <= 5 % in {100 * np.mean(raw):.1f} % of {np.size(raw)} figures,")
    print(
        f"  uncorrected, in some figure of {100 * np.mean([any(each) for each in raw]):.1f} % of {len(six)} comparisons"
    )
    print(f"{'comparisons with a verdict':<44}{'margin 3 %':>18}{'no margin':>18}")
    for what, comparisons, judge in (
        ("report over 5 figures, 6 rounds", six, paired_verdicts),
        ("report over 30 figures, 6 rounds", list(groups_of(six, generator)), paired_verdicts),
        ("gate over 5 figures, 8 rounds", gate, gate_verdicts),
        ("gate over 30 figures, 8 rounds", list(groups_of(gate, generator)), gate_verdicts),
    ):
        print(
            f"{what:<44}" + "".join(f"{share_with_verdict(comparisons, judge, margin):>18}" for margin in (0.03, 0.0))
        )
    print("goal: at most 5 %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folder", type=Path, default=Path("build/verdicts"))
    parser.add_argument("--minutes", type=float, default=21)
    parser.add_argument("--rounds", type=int, default=240)
    parser.add_argument("--read", action="store_true", help="report on what was measured before")
    asked = parser.parse_args()
    path = asked.folder / "launches.csv"
    if not asked.read:
        measure(path, asked.rounds, asked.minutes)
    report(read(path))


if __name__ == "__main__":
    main()
