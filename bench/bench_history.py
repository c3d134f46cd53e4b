"""Histories: time to read 200 runs, false alarms over whole histories, and the share of planted steps that is found.

    python bench/bench_history.py [--histories 1000]

The noise models are those of sessions an hour or more apart. g1, g2: launches spread normally by 1 and 2 %. bad1: 1 %,
and 10 % of launches lose 3 to 8 %, one launch per session. bad3: the same, median of three. session: sessions spread by
1 % in addition to launches. session-bad: sessions spread like bad1. ar: correlated sessions (rho 0.6): no rate
is claimed. After each suspicion, the next session has eight launches, as with `octant history --confirm`.

Goals: `octant history` of 200 runs in 3 s of CPU time; at most 5 % of quiet histories of any length with an alarm,
except ar; 5 % steps found within 5 sessions in at least 90 % of histories of 20 sessions at 1 % noise.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from bench_report import measure
from made_history import night, values_of, write_triad
from octant.machine.discover import discover
from octant.stats.steps import FRESH_LAUNCHES, Replay, Session

LENGTHS, RUNS, LAUNCHES = (4, 6, 10, 20, 60, 200), 200, 6
Draw = np.random.Generator
Launches = Callable[[Draw, int], "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"]


def bad(draw: Draw, number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return launches of which 10 % lose 3 to 8 %."""
    lost = np.where(draw.random(number) < 0.1, np.log1p(-draw.uniform(0.03, 0.08, number)), 0.0)
    return draw.normal(0, 0.01, number) + lost


MODELS: dict[str, Launches] = {
    "g1": lambda draw, number: draw.normal(0, 0.01, number),
    "g2": lambda draw, number: draw.normal(0, 0.02, number),
    "bad1": bad,
    "bad3": lambda draw, number: np.median(bad(draw, 3 * number).reshape(-1, 3), axis=1),
    "session": lambda draw, number: draw.normal(0, 0.01) + draw.normal(0, 0.01, number),
    "session-bad": lambda draw, number: bad(draw, 1) + draw.normal(0, 0.003, number),
    "ar": lambda draw, number: draw.normal(0, 0.003, number),  # and the correlated level, see `replayed`
}


def replayed(draw: Draw, model: str, length: int, step: float = 0.0, at: int = 0) -> Replay:
    """Return a history of this length, in which suspicions are confirmed or refuted at once."""
    replay, level = Replay(), 0.0
    for number in range(length):
        usual = 1 if model == "bad1" else LAUNCHES
        launches = MODELS[model](draw, FRESH_LAUNCHES if replay.suspected else usual)
        level = 0.6 * level + draw.normal(0, 0.008) if model == "ar" else 0.0
        launches = launches + level + step * (number >= at)
        replay.add(Session(float(np.median(launches)), tuple(map(float, launches))))
    return replay


def false_alarms(histories: int) -> None:
    """Print the share of quiet histories with an alarm, by noise and length."""
    print(f"false alarms in % of whole quiet histories ({histories} each)")
    print("noise".ljust(12), *(f"{length:>6}" for length in LENGTHS), "  suspicions in 60 sessions")
    for model in MODELS:
        draw, row, suspected = np.random.default_rng(1), [], 0
        for length in LENGTHS:
            made = [replayed(draw, model, length) for _ in range(histories)]
            row.append(100 * sum(bool(one.steps) for one in made) / histories)
            suspected = sum(len(one.steps) + len(one.rejected) for one in made) if length == 60 else suspected
        print(model.ljust(12), *(f"{one:6.1f}" for one in row), f"  {suspected / histories:.2f}", flush=True)


def power(histories: int) -> None:
    """Print the share of planted steps that are found within 5 and 8 sessions after 20."""
    print(f"steps found in % of {histories} histories, within 5 and 8 sessions after 20, and within 8 after 4")
    for model in MODELS:
        row = []
        for size in (-0.03, -0.05, -0.1):
            draw = np.random.default_rng(2)
            for before, after in ((20, 5), (20, 8), (4, 8)):
                made = [replayed(draw, model, before + after, size, before) for _ in range(histories)]
                found = sum(any(abs(one.first - before) <= 1 for one in replay.steps) for replay in made)
                row.append(f"{100 * found / histories:.0f}")
        print(model.ljust(12), *(f"{size}: {' '.join(row[3 * n : 3 * n + 3])};" for n, size in enumerate((3, 5, 10))))


def reading() -> None:
    """Print the CPU time of the command on 200 runs."""
    with tempfile.TemporaryDirectory() as folder:
        here = discover()
        for number in range(RUNS):
            write_triad(Path(folder), values_of(30e9, seed=number), night(number), on=here)
        for words in (["history"], ["history", "triad"]):
            cpu_s, _, peak = measure(*words, store=Path(folder))
            print(f"octant {' '.join(words)} of {RUNS} runs: {cpu_s:.2f} s of CPU time (goal < 3 s), {peak:.0f} MiB")


def main() -> None:
    """Print the figures and the goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--histories", type=int, default=1000)
    asked = parser.parse_args()
    reading()
    false_alarms(asked.histories)
    power(max(100, asked.histories // 5))


if __name__ == "__main__":
    main()
