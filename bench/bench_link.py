"""Rate and delay that each MPI library reaches over emulated links, against the set rate and the recorded delay.

python bench/bench_link.py [--repeats 5]

Libraries: the one of this environment, and those of .venv-openmpi and .venv-intel if they are built. Values are
medians over launches of the median step.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from octant.launch.link import parse_link
from octant.record import Point
from octant.store import Store
from octant.units import parse_bytes

ROOT = Path(__file__).parent.parent
OPEN_MPI, INTEL = ROOT / ".venv-openmpi", ROOT / ".venv-intel"
LIBRARIES: Mapping[str, tuple[Path, Mapping[str, str]]] = {
    "MPICH": (Path(sys.executable), {}),
    "Open MPI": (OPEN_MPI / "bin/python", {"PYTHONPATH": str(ROOT / "src")}),
    # Our programs of MPICH: its binary interface is the same.
    "Intel MPI": (
        Path(sys.executable),
        {"OCTANT_MPIEXEC": str(INTEL / "bin/mpiexec"), "LD_LIBRARY_PATH": str(INTEL / "lib")},
    ),
}
RATES = ("100Mbit/s", "1Gbit/s")
DELAYS = ("200us", "1ms", "5ms")
SHORT, PAIR, LONG = 65536, 524288, 1048576


@dataclass(frozen=True)
class Launched:
    """What one launch said."""

    step_s: Mapping[int, float]  # by bytes of a message: the median step of the slowest rank
    delay_s: float = 0.0  # the median that the relay recorded


def launch(library: str, link: str, *words: str, ranks: int = 2) -> Launched:
    """One launch of p2p over the link."""
    with tempfile.TemporaryDirectory() as store:
        python, own = LIBRARIES[library]
        command = [str(python), "-m", "octant.cli", "run", "p2p", "buffers=hot", *words]
        command += ["--repeats=1", f"--link={link}", f"--ranks={ranks}", f"--store={store}"]
        done = subprocess.run(command, env={**os.environ, **own}, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr.strip())
        run = Store(Path(store)).find("last")
        delays = [crossing.delay_ns["median"] * 1e-9 for crossing in run.link_traffic.values() if crossing.delay_ns]
        return Launched({parse_bytes(point.knobs["bytes"]): step_s(point) for point in run.points}, *delays)


def step_s(point: Point) -> float:
    """Return the median step of the slowest rank, in seconds."""
    steps = [one.values for one in point.read().series if one.head.name == "step"]
    return max(float(np.median(values)) for values in steps) * 1e-9 / point.batch


def middle(values: Sequence[float]) -> float:
    """Return the median over launches."""
    return statistics.median(values)


def rates(library: str, repeats: int) -> None:
    """One-way times, and the rate that two sizes give, over that of the bucket's payload."""
    for link in RATES:
        times: dict[int, list[float]] = {8: [], SHORT: [], LONG: []}
        for _ in range(repeats):
            run = launch(library, link, f"bytes=8,{SHORT},{LONG}", "seconds=0.5")
            for length, seconds in run.step_s.items():
                times[length].append(seconds / 2)
        found = [(LONG - SHORT) / (long - short) for short, long in zip(times[SHORT], times[LONG], strict=True)]
        share = middle(found) / parse_link(link).payload_bytes_per_s
        texts = "".join(f"{middle(one) * 1e6:>12.1f}" for one in times.values())
        print(f"{library:<11}{link:<10}{texts}{share:>10.3f}", flush=True)


def delays(library: str, repeats: int) -> None:
    """Return the time of 8 B over the recorded median delay, both without those of a link with (almost) no delay."""
    first = [launch(library, f"{RATES[0]},delay=1us", "bytes=8", "seconds=0.5") for _ in range(repeats)]
    near = middle([one.step_s[8] / 2 - one.delay_s for one in first])  # what the relay's own work takes
    for delay in DELAYS:
        recorded, measured = [], []
        for _ in range(repeats):
            run = launch(library, f"{RATES[0]},delay={delay}", "bytes=8", "seconds=0.5")
            recorded.append(run.delay_s)
            measured.append(run.step_s[8] / 2 - near)
        share = middle([mine / theirs for mine, theirs in zip(measured, recorded, strict=True)])
        print(
            f"{library:<11}{delay:<8}{middle(recorded) * 1e6:>13.1f}{middle(measured) * 1e6:>13.1f}{share:>9.3f}",
            flush=True,
        )


def contention(library: str, repeats: int) -> None:
    """Pairs that exchange at once: the rate of a pair and direction; over one pair's; duplex share."""
    found = []
    for pairs in (1, 2, 4):
        words = ("pattern=pingping", f"bytes={PAIR}", "groups=shift:P/2", "seconds=0.5")
        times = [launch(library, RATES[0], *words, ranks=2 * pairs).step_s[PAIR] for _ in range(repeats)]
        found.append(PAIR / middle(times))
    duplex = found[0] / parse_link(RATES[0]).payload_bytes_per_s
    texts = "".join(f"{one * 8e-6:>10.1f}" for one in found)
    print(f"{library:<11}{texts}{found[1] / found[0]:>10.3f}{found[2] / found[0]:>8.3f}{duplex:>10.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    there = {"MPICH": True, "Open MPI": OPEN_MPI.exists(), "Intel MPI": (INTEL / "bin/mpiexec").exists()}
    libraries = [name for name, found in there.items() if found]
    print("one way, µs            8 B      64 KiB       1 MiB     rate/payload")
    for name in libraries:
        rates(name, repeats)
    if os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("\ndelay set   recorded, µs  measured, µs    ratio")
        for name in libraries:
            delays(name, repeats)
    print("\nMbit/s of a pair: 1 pair   2 pairs   4 pairs      2/1     4/1   of duplex")
    for name in libraries:
        contention(name, repeats)


if __name__ == "__main__":
    main()
