"""Runs launchers on pretended topologies, where they exist; `python tests/support/record_launchers.py` records masks.

MPICH honours HWLOC_SYNTHETIC and, with HYDRA_TOPO_DEBUG, prints masks (record_hydra.py records it); Open MPI 5 takes a
topology file and maps without launching. The records let the same tests run where the launchers are absent.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from octant.machine import CpuSet
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc import read_synthetic
from octant.placement import numbers_text
from octant.placement.expressions import objects
from paths import DATA
from topology_xml import write_xml

REFERENCE = "pack:2 numa:2 core:4 pu:2"
LINUX = "pack:2 numa:2 l3:2 core:3 pu:2(indexes=core)"
POWER = "pack:2 numa:1 core:5 pu:8"
SMALL = "pack:1 core:2 pu:1"
OPENMPI = [
    "-n 4 --map-by slot:PE=2 --bind-to core",
    "-n 4 --map-by numa:PE=2",
    "-n 4 --map-by core:HWTCPUS --bind-to core",
    "-n 4 --map-by slot:PE=2:HWTCPUS --bind-to hwthread",
    "-n 4 --map-by numa --bind-to numa",
    "-n 4 --map-by package:PE=2 --rank-by span",
    "-n 4 --map-by package:PE=2",
    "-n 2 --map-by pe-list=0,1:ordered",
    "-n 2 --map-by pe-list=0,1",
    "-n 4",
    "-n 6 --map-by numa",
    "-n 5 --map-by slot",
    "-n 4 --map-by core:PE=2",
    "-n 20 --map-by core",
    "-n 20 --map-by core:OVERSUBSCRIBE",
    "-n 2 --map-by core:OVERSUBSCRIBE",
    "-n 2 --map-by core:OVERSUBSCRIBE --bind-to core",
    "-n 3 --bind-to none",
    "-n 3 --map-by slot:PE=3 --bind-to core",
    "-n 1 --map-by slot:PE=9 --bind-to core",
    "-n 2 --map-by slot",
    "--map-by core",
    "--map-by slot:PE=2",
    "--map-by numa:PE=4",
    "--bind-to none",
    "-n 4 --map-by ppr:1:numa",
    "-n 2 --map-by ppr:2:package:PE=2",
    "-n 4 --map-by ppr:2:package --rank-by span",
    "-n 4 --map-by ppr:2:package:PE=2:SPAN",
    "-n 4 --map-by ppr:2:package --bind-to core",
    "-n 4 --map-by ppr:4:package --bind-to numa",
    "-n 5 --map-by ppr:2:package:PE=2",
    "-n 2 --map-by ppr:2:core",
    "-n 2 --map-by ppr:2:core:HWTCPUS",
    "-n 2 --map-by ppr:1:hwthread",
    "-n 2 --map-by ppr:1:hwthread:HWTCPUS",
    "-n 2 --map-by ppr:2:node",
    "-n 4 --map-by ppr:4:node",
    "-n 2 --map-by ppr:2:node:PE=5",
    "-n 2 --map-by ppr:1:l3cache",
    "--map-by ppr:2:numa",
    "--map-by ppr:5:numa",
    "-n 2 --map-by ppr:2:package:OVERSUBSCRIBE",
    "-n 4 -N 4",
    "-n 4 --npersocket 2",
]
OVERLOAD = ":OVERSUBSCRIBE --bind-to core:overload-allowed"
FILES = [  # what follows `rankfile:file=FILE`, and the lines of the file
    ("", "rank 0=localhost slot=0\nrank 1=localhost slot=1\n"),
    (":HWTCPUS", "rank 0=localhost slot=0\nrank 1=localhost slot=1\n"),
    ("", "rank 0=a slot=0-1,3\nrank 1=a slot=2\n"),
    (":HWTCPUS", "rank 0=a slot=0-1,3\nrank 1=a slot=2\n"),
    ("", "rank 0=a slot=0:0-1\nrank 1=a slot=1:0,2\n"),
    ("", "rank 0=a slot=0:0;1:0\nrank 1=a slot=1:1\n"),
    ("", "# a comment\n\nrank 0 = a slots = 0:*  # another\nrank 1=a slot=p1\n"),
    ("", "rank 0=a slot=0\nrank 2=a slot=1\nrank 1=a slot=0:2\n"),
    ("", "rank 1=a slot=0\nrank 0=a slot=1\n"),
    ("", "rank 0=a slot=0\nrank 2=a slot=1\n"),
    ("", "rank 0=a slot=0\nrank 0=a slot=1\n"),
    ("", "rank 0=a slot=0\nrank 1=a slot=0\n"),
    (":OVERSUBSCRIBE", "rank 0=a slot=0\nrank 1=a slot=0\n"),
    (OVERLOAD, "rank 0=a slot=0\nrank 1=a slot=0\n"),
    (" --bind-to none", "rank 0=a slot=0\nrank 1=a slot=1\n"),
    ("", "rank 0=a slot=99\nrank 1=a slot=0\n"),
    ("", "rank 0=a\nrank 1=a slot=0\n"),
    ("", "0=a slot=1\n1=a slot=0\n"),
]


@dataclass(frozen=True)
class Seen:
    """What a launcher did: the mask of each rank (`None`: unbound), or nothing where it refused."""

    topology: str
    options: str
    masks: tuple[CpuSet | None, ...]
    file: str = ""  # lines of the rank file that the options name


def hydra(mpiexec: str, description: str, options: str) -> Seen:
    """Hydra's masks; in its output bit i is hardware thread i of the system."""
    environment = {**os.environ, "HWLOC_SYNTHETIC": description, "HYDRA_TOPO_DEBUG": "1"}
    words = [mpiexec, *options.split(), "sleep", "0.05"]  # Hydra 5.0 ends by SIGPIPE if a program ends first
    text = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=False).stdout
    found = {int(n): bits for n, bits in re.findall(r"process (\d+) binding: ([01]+)", text)}
    masks = [frozenset(i for i, bit in enumerate(found[n]) if bit == "1") for n in sorted(found)]
    return Seen(description, options, tuple(masks))


def openmpi(mpiexec: str, description: str, options: str, folder: Path, lines: str = "") -> Seen:
    """Open MPI's map; it prints logical cores, but the system's numbers of hardware threads."""
    topology = read_synthetic(description)
    file = folder / "topology.xml"
    file.write_text(write_xml(topology))
    if lines:
        (folder / "octant.rankfile").write_text(lines)
    words = [mpiexec, "--allow-run-as-root", "--prtemca", "hwloc_use_topo_file", str(file), "--do-not-launch"]
    words += ["--display", "map,bind", *options.split(), "true"]
    text = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=folder, check=False).stdout
    cores = objects(topology, "core")
    masks: list[CpuSet | None] = []
    for binding in re.findall(r"Binding: (.+)", text):
        held: set[int] = set()
        for kind, listed in re.findall(r"\[(core|hwt):L([\d,-]+)\]", binding):
            numbers = parse_cpus(listed)
            held |= numbers if kind == "hwt" else frozenset().union(*(cores[n] for n in numbers))
        masks.append(frozenset(held) if "UNBOUND" not in binding else None)
    return Seen(description, options, tuple(masks), lines)


def recorded(name: str) -> list[Seen]:
    """The records of one launcher."""
    entries = json.loads((DATA / f"{name}.json").read_text())["runs"]
    return [
        Seen(e["topology"], e["options"], tuple(m and parse_cpus(m) for m in e["masks"]), e.get("file", ""))
        for e in entries
    ]


def _write(name: str, version: str, runs: list[Seen]) -> None:
    entries = [
        {
            "topology": s.topology,
            "options": s.options,
            "masks": [None if m is None else numbers_text(m) for m in s.masks],
        }
        | ({"file": s.file} if s.file else {})
        for s in runs
    ]
    DATA.mkdir(exist_ok=True)
    rows = ",\n".join("  " + json.dumps(entry) for entry in entries)
    (DATA / f"{name}.json").write_text(f'{{"version": {json.dumps(version)}, "runs": [\n{rows}\n]}}\n')


def _version(mpiexec: str) -> str:
    text = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(?:Version:|\(Open MPI\))\s*(\S+)", text)
    return found[1] if found else "unknown"


def main(ompi: str) -> None:
    """Record Open MPI."""
    with tempfile.TemporaryDirectory() as folder:
        places = [(where, options) for where in (REFERENCE, LINUX, POWER, SMALL) for options in OPENMPI]
        runs = [openmpi(ompi, where, options, Path(folder)) for where, options in places]
        name = "--map-by rankfile:file=octant.rankfile"
        runs += [openmpi(ompi, where, f"-n {2 + ('rank 2' in lines)} {name}{more}", Path(folder), lines)
                 for where in (REFERENCE, LINUX) for more, lines in FILES]  # fmt: skip
    _write("openmpi", _version(ompi), runs)


if __name__ == "__main__":
    main(sys.argv[1])
