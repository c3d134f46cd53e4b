"""Duration of the table of protocols of `exchange`, and the ratio of the slowest to the fastest protocol.

python bench/bench_exchange.py [--full]: ten protocols at three lengths in two modes, or all at six lengths in three.
"""

import argparse
import time

from _kernel import points
from octant import workloads
from octant.analysis.choices import choices
from octant.analysis.figures import figure
from octant.build import find_environment_program
from octant.build.describe import describe
from octant.report.charts.bars.bars import choice_texts

TEN = (
    "sendrecv,isend-recv,irecv-send,irecv-rsend,ordered,issend-recv,bsend-recv,persistent,put-fence,get-fence",
    "8,64KiB,1MiB",
    "single,ten",
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    protocols, lengths, modes = TEN
    if parser.parse_args().full:
        protocols = ",".join(row for row in describe("mpi/exchange").raw["rows"] if row != "unordered")
        lengths, modes = "8,1KiB,16KiB,64KiB,256KiB,1MiB", "single,cold,ten"
    words = [f"protocol={protocols}", f"bytes={lengths}", f"mode={modes}", "seconds=0.02", "least=10"]
    begin_s = time.perf_counter()
    found = points("mpi/exchange", words, [str(find_environment_program("mpiexec") or "mpiexec"), "-n", "2"])
    took_s = time.perf_counter() - begin_s
    workload = workloads.workload("mpi/exchange")
    figures = [figure(workload, [point]) for point in found]
    print(*choice_texts(figures, "protocol"), sep="\n")
    spread = [one.cost.middle for one in choices(figures, "protocol")]
    apart = (
        f"worst over best {min(spread):.2f} to {max(spread):.2f}" if spread else "none lost less than half of its time"
    )
    print(f"{len(found)} points in {took_s:.1f} s; {apart}")


if __name__ == "__main__":
    main()
