"""Record the masks that Intel MPI applies on machines that we do not have.

    PYTHONPATH=src:tests/support python tests/support/record_intelmpi.py MPIEXEC_HYDRA

MPIEXEC_HYDRA is `bin/mpiexec.hydra` of the wheel impi-rt, in an environment of its own. Its topology library `ipl2`
contains hwloc and honours HWLOC_SYNTHETIC and HWLOC_XMLFILE if HWLOC_THISSYSTEM=1 is set and sched_getaffinity shows
all CPUs, as the library of record_hydra.py does; that library also notes the masks. A C compiler is needed. The tests
read tests/data/intelmpi-runs.json and need no launcher.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from octant.launchers import to_syntax
from octant.machine import CpuSet
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFitError, plan
from pairs import all_pairs
from paths import DATA
from record_hydra import TOPOLOGIES, Run, build_shim, decoded, encoded, hydra, machine, placements

RECORDS = DATA / "intelmpi-runs.json"
FACTORS = {
    "topology": list(TOPOLOGIES),
    "ranks": ["-n 1", "-n 2", "-np 3", "-n 4", "-n 5", "-n 8", "-n 12", "-n 18", ""],
    "domain": [
        "", "auto", "auto:compact", "core", "socket", "sock", "numa", "cache1", "cache2", "cache3", "cache", "node",
        "1", "2", "3", "4", "6", "4:compact", "4:scatter", "2:platform", "omp", "foo", "[0x1,0x3]", "[3,c]",
    ],
    "order": ["", "bunch", "compact", "scatter", "spread", "range", "foo"],
    "cell": ["", "unit", "core"],
    "list": ["", "0,2,4", "0-3", "allcores", "allcores:map=scatter", "all", "1"],
    "other": [
        "", "I_MPI_PIN=0", "I_MPI_PIN=1", "OMP_NUM_THREADS=2", "I_MPI_PIN_RESPECT_CPUSET=0", "I_MPI_PIN_RESPECT_HCA=0",
        "I_MPI_PIN_PROCESSOR_EXCLUDE_LIST=0", "I_MPI_PIN_MODE=lib",
    ],
    "option": ["", "-genv I_MPI_PIN_CELL unit", "-ppn 2", "-perhost 3", "-bind-to core", "-cpu-bind 2", "-l", "-rr"],
}  # fmt: skip
"""Every pair of these values is recorded at least once."""
DOMAINS = {
    "topology": [name for name in TOPOLOGIES if name != "single core"],
    "ranks": [f"-n {ranks}" for ranks in (2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 17)],
    "domain": ["auto", "core", "numa", "cache3", "2", "3", "auto:compact"],
    "order": ["", "compact", "scatter", "spread"],
}
"""Domains and orders without anything else; each number of ranks with each domain on each machine."""


def cases() -> Iterator[tuple[str, str, str]]:
    """Yield the topology, variables and options of every command line."""
    for row in all_pairs(FACTORS):
        names = {"domain": "I_MPI_PIN_DOMAIN", "order": "I_MPI_PIN_ORDER", "cell": "I_MPI_PIN_CELL",
                 "list": "I_MPI_PIN_PROCESSOR_LIST"}  # fmt: skip
        variables = [f"{name}={row[key]}" for key, name in names.items() if row[key]]
        yield row["topology"], " ".join(filter(None, [*variables, row["other"]])), f"{row['ranks']} {row['option']}"
    for topology in DOMAINS["topology"]:
        for ranks in DOMAINS["ranks"]:
            yield topology, "", ranks
    for row in all_pairs(DOMAINS):
        order = row["order"] and f" I_MPI_PIN_ORDER={row['order']}"
        yield row["topology"], f"I_MPI_PIN_DOMAIN={row['domain']}{order}", row["ranks"]


def records() -> list[Run]:
    """Return the recorded runs."""
    data = json.loads(RECORDS.read_text())
    return [decoded(data["topologies"], *row) for row in data["runs"]]


def written() -> dict[tuple[str, str, str], list[CpuSet]]:
    """Return the planned masks by topology, variables and options of the lines that Octant writes."""
    found = {}
    for name, text in list(placements())[::2]:
        node = machine(name)
        request = parse_place(text, node)
        try:
            placement = plan(node, request)
        except DoesNotFitError:
            continue
        lines = to_syntax("intelmpi", placement, request, node).lines
        sets = [line.partition("export ")[2] for line in lines if "I_MPI_PIN_DOMAIN" in line]
        for variables in sets:
            found[name, variables, f"-n {len(placement.ranks)}"] = [frozenset(place.cpus) for place in placement.ranks]
    return found


def written_records() -> list[Run]:
    """Return the recorded runs of lines that Octant wrote."""
    data = json.loads(RECORDS.read_text())
    return [decoded(data["topologies"], *row) for row in data["written"]]


def main(launcher: str) -> None:
    """Record all command lines."""
    os.environ |= {"I_MPI_ROOT": str(Path(launcher).parents[1]), "I_MPI_FABRICS": "shm"}
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(Path(folder))
        runs = [encoded(hydra(launcher, shim, *case)) for case in dict.fromkeys(cases())]
        ours = [encoded(hydra(launcher, shim, *case)) for case in written()]
    rows = ",\n".join(map(json.dumps, runs))
    names = json.dumps(list(TOPOLOGIES))
    RECORDS.write_text(
        f'{{"version": "2021.18.1", "topologies": {names},\n"runs": [\n{rows}\n],\n"written": {json.dumps(ours)}}}\n'
    )


if __name__ == "__main__":
    main(sys.argv[1])
