"""Launch every neutral MPI setting at typical values with the MPI library of this environment's kernels.

Each setting has a verified effect, is read back, only starts, or is refused before the start. For Open MPI run
`.venv-openmpi/bin/python bench/bench_mpi_settings.py`. The script exits with 1 if MPI did not start, or did not follow
a setting that was not refused.
"""

import os
import sys

from octant.failure import Refusal
from octant.mpi import neutral, proof, settings
from octant.mpi.inventory import linked

TYPICAL = {
    "eager-limit": ["0", "256", "1KiB", "8KiB", "64KiB", "256KiB", "1MiB", "1000001", "4MiB"],
    "single-copy-threshold": ["4KiB", "500000", "never"],
    "bulk-threshold": ["257", "64KiB", "256KiB"],
    "receive-buffer": ["64KiB", "16MiB", "64MiB"],
    "max-connections": ["256"],
    "early-arrivals": ["64MiB"],
    "retransmission": ["1s"],
    "adapters": ["eth0", "lo", "nonsense0"],
    "rails": ["1", "2"],
    "collective-algorithm": ["allreduce:ring", "allreduce:recursive_doubling", "bcast:binomial", "allreduce:nonsense"],
    "pretended-nodes": ["1", "2"],
}
TOGETHER = [
    ["eager-limit=64KiB", "shared-memory=no"],
    ["eager-limit=1MiB", "shared-memory=no"],
    ["eager-limit=64KiB", "transport=ofi", "shared-memory=no"],
    ["eager-limit=64KiB", "single-copy-threshold=500000"],
    ["eager-limit=64KiB", "bulk-threshold=64KiB"],
    ["eager-limit=64KiB", "bulk-threshold=65537"],
    ["eager-limit=64KiB", "receive-buffer=16MiB"],
    ["bulk-transfer=copy", "transport=ofi"],
    ["receive-buffer=16MiB", "transport=ofi"],
    ["rails=2", "transport=ofi"],
]


def main() -> int:
    library = linked()
    bad = 0
    start = proof.starter("mpiexec")
    single = [[f"{s.name}={value}"] for s in neutral.settings() for value in (TYPICAL.get(s.name) or s.values)]
    for words in [*single, *TOGETHER]:
        try:
            read = settings.read(words, library, {})
            found = proof.prove(read, settings.library_of(library, read.variables), start, {})
        except Refusal as refusal:
            bad += "assertion" in str(refusal).lower()  # the library's own end, which we should have foreseen
            print(f"{' '.join(words):55} refused     {refusal}")
            continue
        for one in found:
            bad += bool(one.caveat)
            print(f"{one.asked:55} {one.proof:11} {one.caveat or one.effect}  {' '.join(one.variables)}", flush=True)
    print(f"{library.library} {library.version} {library.device}: {bad} other than asked")
    return int(bad > 0)


if __name__ == "__main__":
    os.environ.pop("OCTANT_MPI_SETTINGS", None)
    sys.exit(main())
