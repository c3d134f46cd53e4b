"""Records what Open MPI 5 does on ten pretended machines: `python tests/support/record_openmpi.py /path/to/mpirun`.

PRRTE maps and binds for the topology of a file, and prints the result without launching anything, so one run takes 50
ms. `COMPATIBLE` combines options that mostly belong together, `CONFLICTING` old spellings, MCA parameters and variables
that set the same things; both contain every pair of values, and many lines are refused. The records in
`tests/data/openmpi-options.json` let the tests compare without the launcher. `openmpi-written.json` has the masks of
the lines that Octant writes for placements.
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
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc import load
from octant.placement.expressions import objects
from pairs import all_pairs
from paths import DATA
from pretended import MACHINES, write_xml

RECORDS, WRITTEN = DATA / "openmpi-options.json", DATA / "openmpi-written.json"
MACHINE_NAMES = list(MACHINES)
RANKS = ["-n 4", "", "-n 1", "-np 2", "-c 3", "--n 8", "--np 5", "-n 20"]
MAPPERS = [
    "", "slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "socket", "node", "ppr:1:numa",
    "ppr:2:package", "ppr:4:node", "ppr:1:core", "ppr:2:l3cache", "ppr:2:hwthread", "pe-list=0,2,1,3", "pe-list=0-3",
]  # fmt: skip
BINDERS = [
    "", "none", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "socket",
    "core:overload-allowed", "package:if-supported", "hwthread:overload-allowed", "numa:no-overload",
]  # fmt: skip
COMPATIBLE: Mapping[str, Sequence[str]] = {
    "machine": MACHINE_NAMES,
    "ranks": RANKS,
    "mapper": MAPPERS,
    "pe": ["", "PE=2", "PE=3"],
    "modifier": ["", "SPAN", "OVERSUBSCRIBE", "HWTCPUS", "ORDERED"],
    "bind": BINDERS,
    "rank": ["", "slot", "node", "fill", "span"],
}
CONFLICTING: Mapping[str, Sequence[str]] = {
    "machine": MACHINE_NAMES,
    "ranks": ["-n 4", "", "-n 2"],
    "mapper": ["", "slot", "core", "numa", "node", "ppr:2:package", "seq", "dist", "rankfile"],
    "modifier": [
        "", "NOOVERSUBSCRIBE", "NOLOCAL", "CORECPUS", "INHERIT", "NOINHERIT", "HWTCPUS", "PE=2", "SPAN",
    ],
    "bind": ["", "none", "core", "numa", "hwthread"],
    "rank": ["", "span", "fill"],
    "old": [
        "", "--use-hwthread-cpus", "--oversubscribe", "--nooversubscribe", "--nolocal", "--bycore", "--bynode",
        "--byslot", "--bysocket", "--cpus-per-proc 2", "--cpus-per-rank 2", "--npersocket 2", "--npernode 2",
        "--pernode", "-N 2", "--ppr 1:numa", "--cpu-set 0,1,2,3", "--cpu-set 0-3", "--cpu-list 0,2", "--bind-to-core",
        "--bind-to-socket", "--report-bindings", "--display map", "-rankby span", "-bindto core", "--mapby numa",
    ],
    "parameter": [
        "", "--mca hwloc_base_cpu_list 2,3", "--mca hwloc_base_cpu_set 2,3", "--mca hwloc_base_binding_policy core",
        "--mca rmaps_base_mapping_policy numa", "--mca rmaps_base_ranking_policy span",
        "--mca hwloc_base_use_hwthreads_as_cpus 1", "--mca rmaps_default_mapping_policy numa",
        "--mca hwloc_default_cpu_list 2,3", "--mca hwloc_default_binding_policy core",
        "--prtemca rmaps_default_mapping_policy numa", "--prtemca rmaps_default_mapping_policy :oversubscribe",
        "--prtemca rmaps_default_mapping_policy slot:hwtcpus", "--prtemca rmaps_default_mapping_policy ppr:1:numa",
        "--prtemca rmaps_default_ranking_policy span", "--prtemca hwloc_default_binding_policy core",
        "--prtemca hwloc_default_binding_policy none", "--prtemca hwloc_default_cpu_list 2,3",
        "--prtemca hwloc_default_cpu_list 2,3:hwtcpus", "--prtemca rmaps_default_inherit 1",
        "--prtemca prte_set_default_slots 2", "--prtemca prte_set_default_slots hwthreads",
        "--prtemca mapby numa", "--prtemca bind_to core", "--prtemca rankby span", "--pmixmca mapby numa",
    ],
    "variable": [
        "", "OMPI_MCA_rmaps_base_mapping_policy=numa", "OMPI_MCA_hwloc_base_binding_policy=core",
        "OMPI_MCA_hwloc_base_cpu_list=2,3", "OMPI_MCA_rmaps_default_mapping_policy=numa",
        "PRTE_MCA_rmaps_default_mapping_policy=package", "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
        "PRTE_MCA_rmaps_default_ranking_policy=span", "PRTE_MCA_hwloc_default_binding_policy=core",
        "PRTE_MCA_hwloc_default_cpu_list=2,3", "PRTE_MCA_prte_set_default_slots=3",
        "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_default_cpu_list=2,3", "PRTE_MCA_mapby=numa",
    ],
}  # fmt: skip

ALONE = [*CONFLICTING["old"][1:], *CONFLICTING["parameter"][1:], *CONFLICTING["variable"][1:]]
"""Each one separately, on several machines and with several numbers of ranks."""

PARTICULAR = [  # lines of users, abbreviations, slots of hosts, and combinations that were once read wrongly
    "-np 4 --cpu-set 2,3,4,5 --bind-to core", "-np 4 --cpu-list 2,3,4,5",
    "-np 4 --mca hwloc_base_cpu_list 2,3,4,5 --bind-to core", "-n 4 --bind-to hwthread",
    "--map-by :INHERIT --bind-to hwthread",
    "-n 2 --bind-to hwthread:if-supported", "-n 3 --map-by socket:ORDERED", "-n 6 --map-by ppr:3:package:PE=2",
    "-n 4 --map-by ppr:2:package:PE=3", "-n 2 --map-by ppr:2:core", "-n 2 --map-by pack", "-n 2 --map-by numa:over",
    "-n 2 --host localhost", "-n 2 --host localhost:3", "--host localhost:3", "-n 2 --host localhost:*",
    "-n 2 --prtemca bind_to numa", "-n 2 --mca hwloc_default_binding_policy numa", "-n 2 --mca mapby numa",
    "-n 4 --prtemca rank_by span --map-by numa", "-n 2 --prtemca rmaps_default_mapping_policy numa:span --map-by :PE=2",
    "-n 2 --prtemca rmaps_default_mapping_policy :hwtcpus --map-by numa:PE=2", "-n 4 --map-by node:PE=2",
    "-n 2 --prtemca rmaps_default_mapping_policy pe-list=2,3", "-n 2 --omca hwloc_default_cpu_list 2,3",
    "-n 2 --gmca hwloc_default_cpu_list 2,3", "-n 2 --prtemca hwloc_default_cpu_list 2,99", "-n 2 --map-by core:PE=2",
    "-n 2 --prtemca prte_hwloc_default_cpu_list 2,3", "-n 4 --map-by numa:PE=2 --bind-to numa", "-n 4 --map-by seq",
]  # fmt: skip
_BINDING = re.compile(r"(?:Data for proc: \[[^,\n]*,|Process rank: )(\d+).*?(?:Binding|Bound): ([^\n]+)", re.DOTALL)


def command_lines() -> list[tuple[str, str]]:
    """Return every machine with its lines."""
    rows = [*all_pairs(COMPATIBLE), *all_pairs(CONFLICTING)]
    lines = [(row["machine"], map_bind_rank(row, ":")) for row in rows]
    lines += alone(ALONE, MACHINE_NAMES, ("", "-n 2", "-n 4"))
    return list(
        dict.fromkeys([*lines, *((name, line) for line in PARTICULAR for name in ("smt2", "no-smt", "sub-numa"))])
    )


def run(mpirun: str, xml: Path, topology: Topology, line: str) -> tuple[Masks, str]:
    """Return the masks that Open MPI 5 would set, and why it refuses.

    Where each core has one hardware thread, `core:` is followed by the system's numbers, otherwise by logical ones;
    `hwt:` always by the system's numbers (`prte_hwloc_base_cset2str` of PRRTE 3.0).
    """
    variables, words = split_variables(line)
    environment = {**os.environ, **variables}
    command = [mpirun, "--allow-run-as-root", "--prtemca", "hwloc_use_topo_file", str(xml), "--do-not-launch"]
    if "--display " not in line:
        command += ["--display", "map,bind"]
    command += [*words, "true"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=xml.parent, timeout=60, check=False
    )
    text = done.stdout + done.stderr
    found = {int(rank): _mask(binding, topology) for rank, binding in _BINDING.findall(text)}
    return tuple(found[rank] for rank in sorted(found)), "" if found else _reason(text)


def _mask(binding: str, topology: Topology) -> CpuSet | None:
    if "UNBOUND" in binding:
        return None
    cores = objects(topology, "core")
    single = len(cores) == len(topology.cpus)
    held: set[int] = set()
    for kind, listed in re.findall(r"\[(core|hwt):L([\d,-]+)\]", binding):
        numbers = parse_cpus(listed)
        held |= numbers if kind == "hwt" or single else frozenset().union(*(cores[n] for n in numbers))
    return frozenset(held)


def _reason(text: str) -> str:
    rows = [row.strip() for row in text.splitlines() if row.strip() and not row.startswith("---")]
    return re.sub(r"\[?\S*:\d+\]?", "", " ".join(rows))[:70].strip() or "nothing printed"


def main(mpirun: str) -> None:
    """Record every line."""
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout.split()[3]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        places: dict[str, tuple[Path, Topology]] = {}
        for name, machine in MACHINES.items():
            xml = Path(folder) / f"{name}.xml"
            xml.write_text(write_xml(machine))
            places[name] = (xml, load(xml))
        lines = command_lines()
        seen = list(pool.map(lambda line: run(mpirun, *places[line[0]], line[1]), lines))
        written = [_written(mpirun, *places[machine], machine, place) for machine, place in requests()]
    write(RECORDS, version, [Recorded(*line, *one) for line, one in zip(lines, seen, strict=True)])
    write_written(WRITTEN, version, written)


def _written(mpirun: str, xml: Path, topology: Topology, machine: str, place: str) -> Written:
    options = options_of("openmpi", machine, place, xml.parent)
    return Written(machine, place, options, run(mpirun, xml, topology, options)[0] if options else ())


if __name__ == "__main__":
    main(sys.argv[1])
