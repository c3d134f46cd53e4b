"""Records what Open MPI 4.1 does on ten pretended machines: `python tests/support/record_openmpi41.py MPIRUN`.

4.1 computes bindings only when it launches, and cannot print them for a topology file. So it launches, on as many slots
as the pretended machine has, and a preloaded `hwloc_set_cpubind` writes down each mask in place of binding. Needs gcc.
The package `openmpi-bin` of Debian 12 contains 4.1.4; where it is only unpacked, set OPAL_PREFIX and LD_LIBRARY_PATH.
`COMPATIBLE`, `CONFLICTING` and `ALONE` are as in `record_openmpi`.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from launcher_records import (
    Masks,
    Recorded,
    Written,
    alone,
    map_bind_rank,
    options_of,
    requests,
    split_variables,
    write,
    write_written,
)
from octant.machine.synthetic import parse_cpus
from pairs import all_pairs
from paths import DATA
from pretended import MACHINES, write_xml

RECORDS, WRITTEN = DATA / "openmpi41-options.json", DATA / "openmpi41-written.json"
MACHINE_NAMES = list(MACHINES)
RANKS = ["-n 4", "", "-n 1", "-np 2", "-c 3", "--n 8", "--np 5", "-n 20"]
COMPATIBLE: Mapping[str, Sequence[str]] = {
    "machine": MACHINE_NAMES,
    "ranks": RANKS,
    "mapper": [
        "", "slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "socket", "board", "node",
        "ppr:1:numa", "ppr:2:socket", "ppr:4:node", "ppr:1:core", "ppr:2:l3cache", "ppr:2:hwthread",
    ],
    "pe": ["", "PE=2", "PE=3"],
    "modifier": ["", "SPAN", "OVERSUBSCRIBE", "NOOVERSUBSCRIBE"],
    "bind": [
        "", "none", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "socket", "board", "cpu-list",
        "core:overload-allowed", "socket:if-supported", "hwthread:overload-allowed",
    ],
    "rank": [
        "", "slot", "node", "hwthread", "core", "l2cache", "l3cache", "socket", "numa", "numa:span", "socket:fill",
    ],
    "old": ["", "--use-hwthread-cpus"],
}  # fmt: skip
CONFLICTING: Mapping[str, Sequence[str]] = {
    "machine": MACHINE_NAMES,
    "ranks": ["-n 4", "-n 3", "-n 2"],
    "mapper": ["", "slot", "core", "numa", "node", "ppr:2:socket", "seq", "dist", "package"],
    "modifier": ["", "NOOVERSUBSCRIBE", "PE=2", "SPAN", "HWTCPUS"],
    "bind": ["", "none", "core", "numa", "hwthread", "cpu-list:ordered"],
    "rank": ["", "socket", "slot"],
    "old": [
        "", "--use-hwthread-cpus", "--oversubscribe", "--nooversubscribe", "--nolocal", "--bycore", "--bynode",
        "--byslot", "--bysocket", "--cpus-per-proc 2", "--cpus-per-rank 2", "--npersocket 2", "--npernode 2",
        "--pernode", "-N 2", "--ppr 1:numa", "--cpu-set 0,1,2,3", "--cpu-set 2-5", "--cpu-list 0,2", "--cpu-list 4-7",
        "--bind-to-core", "--bind-to-socket", "--report-bindings", "--display-map", "--rank-by span",
    ],
    "parameter": [
        "", "--mca hwloc_base_cpu_list 2,3", "--mca hwloc_base_cpu_set 2,3", "--mca hwloc_base_slot_list 2,3",
        "--mca hwloc_base_binding_policy core", "--mca hwloc_base_bind_to_core 1", "--mca hwloc_base_bind_to_socket 1",
        "--mca rmaps_base_mapping_policy numa", "--mca rmaps_base_mapping_policy socket:PE=2",
        "--mca rmaps_base_ranking_policy core", "--mca rmaps_base_schedule_policy core",
        "--mca hwloc_base_use_hwthreads_as_cpus 1", "--mca rmaps_base_pattern 1:numa", "--mca rmaps_base_bycore 1",
        "--mca rmaps_base_byslot 1", "--mca rmaps_base_bynode 1", "--mca rmaps_base_cpus_per_proc 2",
        "--mca rmaps_base_cpus_per_rank 2", "--mca rmaps_base_oversubscribe 1", "--mca rmaps_base_no_oversubscribe 1",
        "--mca rmaps_base_no_schedule_local 1", "--mca rmaps_base_n_pernode 2", "--mca rmaps_base_n_persocket 2",
        "--mca rmaps_base_pernode 1", "--mca orte_set_default_slots 2", "--mca orte_set_default_slots hwthreads",
        "--mca rmaps_default_mapping_policy numa", "--gmca hwloc_base_binding_policy core", "--mca rmaps seq",
        "--mca rmaps_base_inherit 1", "--mca rtc ^hwloc",
    ],
    "variable": [
        "", "OMPI_MCA_rmaps_base_mapping_policy=numa", "OMPI_MCA_hwloc_base_binding_policy=core",
        "OMPI_MCA_hwloc_base_binding_policy=none", "OMPI_MCA_hwloc_base_cpu_list=2,3",
        "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_rmaps_base_ranking_policy=core",
        "OMPI_MCA_hwloc_base_use_hwthreads_as_cpus=1", "PRTE_MCA_rmaps_default_mapping_policy=package",
    ],
}  # fmt: skip
ALONE = [*CONFLICTING["old"][1:], *CONFLICTING["parameter"][1:], *CONFLICTING["variable"][1:]]
PARTICULAR = [  # lines of users, qualifiers without an object, slots of hosts
    "-np 4 --cpu-set 2,3,4,5 --bind-to core", "-np 4 --cpu-list 2,3,4,5",
    "-np 4 --mca hwloc_base_cpu_list 2,3,4,5 --bind-to core", "-n 2 --map-by :NOOVERSUBSCRIBE",
    "-n 2 --map-by :OVERSUBSCRIBE --bind-to core", "-n 4 --map-by :PE=2",
    "-n 3 --map-by :NOOVERSUBSCRIBE --bind-to core",
    "-n 2 --map-by :SPAN --bind-to core", "-n 2 --bind-to hwthread", "-n 4 --bind-to hwthread", "-n 2 --host localhost",
    "-n 2 --host localhost:3", "--host localhost:3", "-n 2 --map-by sock", "-n 4 --map-by socket:PE=2",
    "-n 4 --map-by slot:PE=2", "-n 4 --map-by node", "-n 4 --map-by dist", "-n 4 --map-by seq",
    "-n 4 --map-by numa:PE=2",
]  # fmt: skip
SPY = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int hwloc_bitmap_list_asprintf(char **, const void *);
int hwloc_set_cpubind(void *topology, const void *set, int flags) {
    char *text = 0;
    FILE *file = fopen(getenv("SPY_FILE"), "a");
    (void)topology, (void)flags;
    hwloc_bitmap_list_asprintf(&text, set);
    fprintf(file, "bind %d %s\\n", getpid(), text);
    return fclose(file);
}
"""


def command_lines() -> list[tuple[str, str]]:
    """Return every machine with its lines; on 128 cores they have a number of ranks, since each rank is a process."""
    rows = [*all_pairs(COMPATIBLE), *all_pairs(CONFLICTING)]
    lines = [(row["machine"], map_bind_rank(row, ",")) for row in rows]
    lines += alone(ALONE, MACHINE_NAMES, ("", "-n 2", "-n 4"))
    lines += [(name, line) for line in PARTICULAR for name in ("smt2", "no-smt", "sub-numa")]
    lines = list(dict.fromkeys(lines))
    return [(name, f"{line} -n 16".strip()) if _many(name, line) else (name, line) for name, line in lines]


def _many(name: str, line: str) -> bool:
    return name == "large" and not re.search(r"(^| )-(n|np|c|-n|-np) \d", line)


def build_spy(folder: Path) -> None:
    """Build the library that writes masks down."""
    (folder / "spy.c").write_text(SPY)
    subprocess.run(["gcc", "-shared", "-fPIC", "spy.c", "-o", "spy.so"], cwd=folder, check=True)


def run(mpirun: str, xml: Path, line: str, folder: Path) -> tuple[Masks, str]:
    """Return the masks that Open MPI 4.1 would set, and why it refuses.

    Args:
        mpirun: the launcher.
        xml: the machine.
        line: variables and options.
        folder: where `build_spy` was, and where the launcher runs.
    """
    variables, words = split_variables(line)
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        environment = {**os.environ, **variables, "SPY_FILE": log.name, "LD_PRELOAD": str(folder / "spy.so")}
        command = [mpirun, "--allow-run-as-root", "--mca", "hwloc_base_topo_file", str(xml), *words]
        command += ["sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK $$"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, cwd=folder, timeout=20, check=False
            )
        except subprocess.TimeoutExpired:
            return (), "no end within 20 s"
        held = dict(re.findall(r"bind (\d+) (\S+)", Path(log.name).read_text()))
    ranks = sorted((int(rank), pid) for rank, pid in re.findall(r"rank (\d+) (\d+)", done.stdout))
    masks = tuple(parse_cpus(held[pid]) if pid in held else None for _rank, pid in ranks)
    return masks, "" if masks else reason((done.stdout + done.stderr).replace(mpirun, "mpirun"))


def reason(text: str) -> str:
    """Return the beginning of what a launcher prints when it refuses."""
    rows = [row.strip() for row in text.splitlines() if row.strip() and not row.startswith(("---", "["))]
    return " ".join(rows)[:70].strip() or "nothing printed"


def main(mpirun: str) -> None:
    """Record every line."""
    said = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout.split()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        build_spy(folder)
        for machine, description in MACHINES.items():
            (folder / f"{machine}.xml").write_text(write_xml(description))
        written = [_written(mpirun, folder, machine, place) for machine, place in requests()]
        lines = command_lines()
        seen = list(pool.map(lambda line: run(mpirun, folder / f"{line[0]}.xml", line[1], folder), lines))
    write(RECORDS, said[2], [Recorded(*line, *one) for line, one in zip(lines, seen, strict=True)])
    write_written(WRITTEN, said[2], written)


def _written(mpirun: str, folder: Path, machine: str, place: str) -> Written:
    options = options_of("openmpi41", machine, place, folder)
    return Written(
        machine, place, options, run(mpirun, folder / f"{machine}.xml", options, folder)[0] if options else ()
    )


if __name__ == "__main__":
    main(sys.argv[1])
