"""peakflops at every vector width against width x units x 2 x the clock observed under that load.

    python bench/bench_peakflops.py [--repeats 5]

Each launch gives a rate and the clock of the same 50 ms; the ratio is taken per launch, then the median of launches.
The upper ratio is that of the fastest 5 % of the samples, in which no sibling thread shares the core.
"""

import argparse
import statistics

import numpy as np

from _kernel import points
from octant import facts, workloads
from octant.analysis.figures import figure
from octant.analysis.summary import with_limit
from octant.limit import Known
from octant.machine.discover import discover


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    machine, workload = discover(), workloads.workload("node/peakflops")
    widths = facts.values("scalar, 128 to vector_bits by 2", facts.facts(machine))
    words = [f"width={widths}", "element=double,single", "seconds=0.5", "precision=0"]
    nothing = Known(machine.topology)
    found: dict[tuple[str, str], list[tuple[float, float, float, float]]] = {}
    for _ in range(repeats):
        for point in points("node/peakflops", words):
            one = with_limit(figure(workload, [point]), nothing, machine)
            if one.value is None:
                continue
            quick_ns = float(np.quantile(point.read().series[0].values, 0.05))
            share = one.of_limit or 0.0
            upper = point.count("flops") * point.batch / (quick_ns * 1e-9) / one.value.middle * share
            row = one.value.middle, share, point.clock_hz or 0.0, upper
            found.setdefault((point.knobs["element"], point.knobs["width"]), []).append(row)
    print(f"{'element':<8}{'width':>8}{'Gflop/s':>10}{'GHz':>7}{'/ limit':>9}{'least':>8}{'most':>8}{'upper':>8}")
    for (element, width), rows in found.items():
        rate, share, clock_hz, upper = (statistics.median(column) for column in zip(*rows, strict=True))
        least, most = min(row[1] for row in rows), max(row[1] for row in rows)
        columns = f"{rate / 1e9:>10.1f}{clock_hz / 1e9:>7.2f}{share:>9.3f}{least:>8.3f}{most:>8.3f}{upper:>8.3f}"
        print(f"{element:<8}{width:>8}{columns}")


if __name__ == "__main__":
    main()
