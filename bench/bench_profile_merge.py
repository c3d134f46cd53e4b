"""Time and memory of merging the profiles of a large job: files of nodes with packed profiles of their processes.

python bench/bench_profile_merge.py [--ranks 4096] [--entries 300] [--per-node 128]
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from octant.profile.container import read_container, write_container
from octant.profile.job import RECEIVED, SENT
from octant.profile.merge import merge
from profile_files import Call, MadeProcess, packed

NAMES = ("MPI_Isend", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce", "MPI_Bcast", "MPI_Sendrecv")


def write_node(path: Path, first: int, count: int, ranks: int, entries: int) -> None:
    """Write the file of one node."""
    calls = [
        Call(NAMES[n % len(NAMES)], 0x100 + 16 * (n // 4), 1000 + n, 1 << n % 20, 0.001 * n, region=n % 2)
        for n in range(entries)
    ]
    with path.open("wb") as file:
        for rank in range(first, first + count):
            peers = [((rank + step) % ranks, kind, 100, 6400) for step in (-1, 1, 64, -64) for kind in (SENT, RECEIVED)]
            one = MadeProcess(rank, ranks, calls, peers, path.name, 1000 + rank, regions=[("step", 0)])
            one.visits = [(1, 100, 5.0, 1.0)]
            file.write(packed(one))


def peak_mb() -> float:
    """Return the largest resident set so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Measure one merge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--entries", type=int, default=300)
    parser.add_argument("--per-node", type=int, default=128)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        paths = []
        for first in range(0, given.ranks, given.per_node):
            paths.append(Path(name) / f"node{first // given.per_node:05d}")
            write_node(paths[-1], first, min(given.per_node, given.ranks - first), given.ranks, given.entries)
        read = sum(path.stat().st_size for path in paths) / 1e6
        before, start = peak_mb(), time.process_time()
        job = merge(paths)
        took = time.process_time() - start
        print(f"merge: {len(job.calls)} entries of {job.ranks} ranks ({read:.0f} MB) in {took:.2f} s of CPU time")
        print(f"peak memory {peak_mb():.0f} MB, {peak_mb() - before:.0f} MB more than before")
        start = time.process_time()
        data = write_container(job)
        middle = time.process_time()
        read_container(data)
        print(f"container: {len(data) / 1e6:.1f} MB, written in {middle - start:.2f} s, read in", end=" ")
        print(f"{time.process_time() - middle:.2f} s")


if __name__ == "__main__":
    main()
