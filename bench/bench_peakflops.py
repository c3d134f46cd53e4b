"""peakflops at every vector width against width x units x 2 x the clock observed under that load.

    python bench/bench_peakflops.py [--repeats 5]

Each launch gives a rate and the clock of the same 50 ms; the ratio is taken a launch, then the median of launches.
The upper ratio is that of the quickest twentieth of the samples: what the loop does when no neighbour shares the core.
"""

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from octant import build, record, workloads
from octant.analysis import figures
from octant.machine.discover import discover
from octant.record import Point
from octant.workloads.node.peakflops import busy_clock_hz, widths


def launch(words: list[str]) -> list[Point]:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "records.jsonl"
        subprocess.run([build.find("node/peakflops"), *words, "--output", output], check=True)
        points = [record.parse(line) for line in output.read_text().splitlines()]
    return [point for point in points if isinstance(point, Point)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    machine, workload = discover(), workloads.workload("node/peakflops")
    words = [f"width={','.join(widths(machine.processor))}", "element=double,single", "seconds=0.5", "precision=0"]
    found: dict[tuple[str, str], list[tuple[float, float, float, float]]] = {}
    for _ in range(repeats):
        for point in launch(words):
            figure = figures.figure(workload, point, machine)
            quick_ns = statistics.quantiles(point.lanes[0].duration_ns, n=20)[0]
            upper = point.work.flops * point.batch / (quick_ns * 1e-9) / figure.value.middle * (figure.of_limit or 0.0)
            row = figure.value.middle, figure.of_limit or 0.0, busy_clock_hz(point) or 0.0, upper
            found.setdefault((point.knobs["element"], point.knobs["width"]), []).append(row)
    print(f"{'element':<8}{'width':>8}{'Gflop/s':>10}{'GHz':>7}{'/ limit':>9}{'least':>8}{'most':>8}{'upper':>8}")
    for (element, width), rows in found.items():
        rate, share, clock_hz, upper = (statistics.median(column) for column in zip(*rows, strict=True))
        least, most = min(row[1] for row in rows), max(row[1] for row in rows)
        columns = f"{rate / 1e9:>10.1f}{clock_hz / 1e9:>7.2f}{share:>9.3f}{least:>8.3f}{most:>8.3f}{upper:>8.3f}"
        print(f"{element:<8}{width:>8}{columns}")


if __name__ == "__main__":
    main()
