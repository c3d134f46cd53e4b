"""Record the masks that MPICH's Hydra applies on machines that we do not have.

    PYTHONPATH=src:tests/support python tests/support/record_hydra.py MPIEXEC [MPIEXEC of another version ...]

MPIEXEC is the mpiexec of any MPICH that contains Hydra with hwloc. Needed: a C compiler, and lstopo (see pretended.py).
Hydra takes its machine from HWLOC_SYNTHETIC or HWLOC_XMLFILE. A small library in front of libc writes down the CPUs and
memory nodes that it would give to the kernel, because its own output (HYDRA_TOPO_DEBUG) leaves out CPUs whose number is
not below the number of CPUs. The first version is recorded completely in tests/data/hydra-runs.json, the others where
they differ. The lines that Octant writes for placements are recorded, too: record again when those change. The tests
read that file and need no launcher.
"""

import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from octant.launchers import to_syntax
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc import load
from octant.placement import numbers_text
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFitError, plan
from pairs import all_pairs
from paths import DATA
from pretended import Pretended, write_xml

RECORDS = DATA / "hydra-runs.json"
TOPOLOGIES = {
    "single core": "pack:1 core:1 pu:1",
    "SMT, sub-NUMA": "pack:2 numa:2 l3:1 l2:4 l1:1 core:1 pu:2",
    "SMT, sub-NUMA, L3s, siblings last": "pack:2 numa:2 l3:2 l2:3 l1:1 core:1 pu:2(indexes=core)",
    "2 x 64 x 2": "pack:2 numa:4 l3:2 l2:8 l1:1 core:1 pu:2(indexes=core)",
    "no SMT": "pack:2 l3:1 l2:8 l1:1 core:1 pu:1",
    "no SMT, L3s": "pack:1 l3:4 l2:4 core:1 pu:1",
    "SMT8": "pack:2 numa:1 l3:5 l2:1 core:1 pu:8",
    "SMT4, two cores an L2": "pack:2 l3:5 l2:1 l1:2 core:1 pu:4",
    "many small packages": "numa:4 pack:4 l2:2 core:1 pu:2",
    "NUMA above packages": "numa:2 pack:2 l3:1 l2:2 core:1 pu:2",
    "dies": "pack:2 die:2 l3:2 l2:2 core:1 pu:2",
    "packages alternating": "pack:2 l3:2 l2:2 core:1 pu:1(indexes=pack)",
    "offline CPUs": "hydra-offline.xml",
    "uneven packages": "hydra-uneven.xml",
}
"""Machines: synthetic descriptions, or files in tests/data that `XML` describes."""
XML = {
    "hydra-offline.xml": Pretended("pack:2 numa:2 l3:1 l2:4 core:1 pu:2(indexes=core)", "0-1,5,16,30"),
    "hydra-uneven.xml": Pretended("pack:2 l3:2 l2:2 core:1 pu:2", "8-9,14-15"),
}
_BINDINGS = [
    "", "none", "hwthread", "hwthread:2", "hwthread:3", "core", "core:2", "core:3", "core:5", "l1cache", "l1dcache",
    "l1icache", "l2cache", "l2cache:2", "l2ucache", "l3cache", "l3cache:2", "l4cache", "numa", "numa:2", "numanode",
    "socket", "socket:2", "package", "die", "machine", "board", "cpu", "rr", "user:0,1,2", "user:2+3,4-6", "user:3x2,2",
    "gpu", "ib0", "pci:0000:00:00.0",
]  # fmt: skip
_MAPPINGS = [
    "", "hwthread", "hwthread:2", "hwthread:3", "core", "core:2", "core:3", "l1cache", "l2cache", "l2cache:3",
    "l3cache", "l3cache:2", "l3cache:3", "numa", "numa:2", "numa:3", "socket", "package", "die", "machine", "board",
    "none",
]  # fmt: skip
FACTORS = {
    "topology": list(TOPOLOGIES),
    "ranks": ["", "-n 1", "-np 2", "-n 3", "-n=5", "--np 8", "-n 17"],
    "binding": _BINDINGS,
    "mapping": _MAPPINGS,
    "option": [
        "", "-membind bind:numa", "-membind interleave:numa", "-membind firsttouch", "-membind nexttouch",
        "-membind none", "-order-nodes UP", "-order-nodes DESCENDING", "-ppn 3", "-genv HYDRA_BINDING numa",
        "-env HYDRA_MAPPING=core", "-genvnone", "-envlist HOME", "-usize 4", "-prepend-rank", "-rankmap (0,1,17)",
        "-print-all-exitcodes", "-launcher fork", "-topolib hwloc", "-pmi-port",
    ],
    "variable": [
        "", "HYDRA_BINDING=core", "HYDRA_BINDING=none", "HYDRA_MAPPING=socket", "HYDRA_MAPPING=numa",
        "HYDRA_BINDING=core:2 HYDRA_MAPPING=core:2", "HYDRA_BINDING=hwthread HYDRA_MEMBIND=bind:numa",
        "HYDRA_MEMBIND=interleave:0", "MPIEXEC_TIMEOUT=60", "HYDRA_ENV=all", "MPIR_CVAR_CH4_NUM_VCIS=2",
        "HYDRA_TOPOLIB=hwloc", "HYDRA_DEBUG=0", "HYDRA_LAUNCHER=fork",
    ],
}  # fmt: skip
"""Every pair of these values is recorded at least once. Many of them are refused, which hides what else is wrong."""
UNITS = {
    "topology": [name for name in TOPOLOGIES if name != "single core"],
    "ranks": ["-n 9", "-n 18"],
    "binding": [
        "hwthread", "hwthread:2", "hwthread:3", "core", "core:2", "core:3", "core:5", "l2cache", "l2cache:2",
        "l2cache:3", "l3cache", "l3cache:2", "numa", "numa:2", "socket", "machine",
    ],
    "mapping": ["hwthread", "hwthread:3", "core", "core:3", "l2cache", "l2cache:3", "l3cache", "l3cache:2", "numa",
                "numa:2", "socket", "machine"],
    "option": ["", "-membind bind:0"],
    "variable": [""],
}  # fmt: skip
"""Units that most of the machines have: every pair of them, too."""
_ON_TWO = ["SMT, sub-NUMA, L3s, siblings last", "no SMT"]
_SINGLE = [
    "-n 2 -n 3 -bind-to core", "-n 2 -np 3 -bind-to core", "-bind-to core -bind-to numa -n 2", "-bind-to core -ppn 4",
    "-binding core -n 3", "-BIND-TO core -n 2", "---bind-to=core -n 2", "--bind-to socket --map-by core -n 6",
    "-bind-to core:0 -n 2", "-bind-to core:x -n 2", "-bind-to user: -n 1", "-bind-to user:0+99 -n 1",
    "-bind-to user:3-1 -n 1", "-bind-to user:0x3,1 -n 5", "-bind-to user:core -n 1", "-bind-to user:0,,1 -n 2",
    "-bind-to core -map-by numa:99 -n 2", "-bind-to Core -n 1", "-bind-to none -map-by board -n 2",
    "-topolib foo -bind-to core -n 1", "-usize 1 -bind-to core -n 2", "-bind-to core -n 2 -membind foo",
    "-membind foo -n 2", "-order-nodes SIDEWAYS -bind-to core -n 1", "-bind-to rr -n 40",
    "-bind-to rr -map-by numa -n 3", "-bind-to machine -membind firsttouch -n 2", "-bind-to rr -membind bind:0 -n 2",
    "-bind-to core:2 -map-by numa -n 9", "-bind-to core:3 -map-by socket -n 9", "-bind-to hwthread:5 -map-by numa -n 9",
    "-bind-to hwthread -map-by l3cache:2 -n 30", "-bind-to core:7 -n 4", "-bind-to core:5 -map-by core:3 -n 12",
    "-foo -bind-to core -n 1", "-pmi-args 1 a b 2 -bind-to core",
    "-launcher fork -hosts a,b -bind-to core -n 4", "-launcher fork -hosts a,b -ppn 2 -bind-to core -n 8",
    "-launcher fork -hosts a:2,b:3 -bind-to core", "-launcher fork -hosts a:2,b:3 -bind-to core -n 7",
    "-launcher fork -hosts a:2,b:3 -ppn 3 -bind-to core -n 7", "-launcher fork -hosts a,a,b -bind-to numa -n 5",
    "-launcher fork -hosts a:1,b:3 -order-nodes DESCENDING -bind-to core -n 4",
    "-launcher fork -hosts a:1,b:3 -order-nodes UP -bind-to core -n 4",
    "-launcher fork -host a -bind-to core -n 3", "-launcher fork -machines a,b -bind-to core -n 3",
    "-launcher fork -hosts a,b -ppn 1 -rankmap 0,1,0,1,1 -bind-to core -n 5",
    "-launcher fork -hosts a,b -ppn 4 -skip-launch-node -bind-to core -n 5", "-ppn 0 -bind-to core -n 2",
    "-launcher fork -hosts a,b -bind-to core", "-launcher fork -hosts a,b,a -bind-to core -n 5",
    "-launcher fork -hosts a,b -rankmap 0,1,0 -bind-to core -n 5", "-rankmap 0,1 -bind-to core -n 2",
    "-launcher fork -hosts a,b -rankmap (0,2,2) -bind-to core -n 6",
    "-launcher fork -hosts a,b -rankmap (1,1,2),0,0 -bind-to core -n 5", "-launcher fork -hosts a,b -hosts a -n 2",
    "-launcher fork -hosts a:0,b -bind-to core -n 2", "-ppn 2 -ppn 3 -bind-to core -n 2",
    "-launcher fork -hosts a:1,b:3 -order-nodes UP -order-nodes DOWN -bind-to core -n 4",
]  # fmt: skip
"""Spellings, repetitions and hosts, on two of the machines."""
_SHIM = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static void note(const char* what, const unsigned long* bits, size_t count) {
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", getenv("HYDRA_RECORD"), (int)getpid());
    FILE* file = fopen(name, "a");
    if (!file) return;
    const char* rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("PMI_ID");
    fprintf(file, "%s %d %s:", rank ? rank : "-", (int)getppid(), what);
    for (size_t i = 0; i < count; ++i)
        if (bits[i / (8 * sizeof *bits)] >> i % (8 * sizeof *bits) & 1) fprintf(file, " %zu", i);
    fprintf(file, "\n");
    fclose(file);
}
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t* set) {
    (void)pid;
    note("cpus", (const unsigned long*)set, size * 8);
    return 0;
}
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t* set) {
    (void)pid;
    CPU_ZERO_S(size, set);
    for (size_t i = 0; i < 1024 && i < size * 8; ++i) CPU_SET_S(i, size, set);
    return 0;
}
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_set_mempolicy) {
        char what[32];
        snprintf(what, sizeof what, "memory %ld", a[0]);
        note(what, (const unsigned long*)a[1], a[1] ? (size_t)a[2] : 0);
        return 0;
    }
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
"""
_POLICIES = {"1": "preferred", "2": "bind", "3": "interleave", "4": "local", "5": "preferred"}
"""Modes of set_mempolicy(2)."""


@dataclass(frozen=True)
class Run:
    """A command line, and what Hydra did: masks by rank, or its refusal."""

    topology: str  # a key of `TOPOLOGIES`
    variables: str
    options: str
    masks: tuple[CpuSet | None, ...] = ()  # of the ranks on the first host; `None`: not bound
    memory: tuple[str, ...] = ()  # policy and nodes of the same ranks, as "bind 0-1"; "": none
    refusal: str = ""

    @property
    def line(self) -> str:
        """The command line as a user writes it."""
        return f"{self.variables} mpiexec {self.options} prog".strip()


def cases() -> Iterator[tuple[str, str, str]]:
    """Yield the topology, variables and options of every command line."""
    for row in [*all_pairs(FACTORS), *all_pairs(UNITS)]:
        binding = row["binding"] and f"-bind-to {row['binding']}"
        mapping = row["mapping"] and f"-map-by {row['mapping']}"
        yield row["topology"], row["variable"], " ".join(filter(None, (row["ranks"], binding, mapping, row["option"])))
    for options in _SINGLE:
        for topology in _ON_TWO:
            yield topology, "", options


def placements() -> Iterator[tuple[str, str]]:
    """Yield topologies and placements, the same ones each time; the line that Octant writes for each is recorded."""
    pick = random.Random(20261126)
    for name in TOPOLOGIES:
        for _ in range(30):
            size = f"{pick.choice([1, 2, 3, 4, 5, 8, 12])}x{pick.randint(1, 5)}"
            unit = pick.choice(["hwthread", "core", "core", "l2", "l3", "numa", "package"])
            order = pick.choice(["compact", "scatter", "scatter:numa", "scatter:package", "scatter:l3"])
            share = pick.choice(["", ",share=yes"])
            yield name, f"{size},unit={unit},order={order},smt={pick.choice([1, 2, 'all'])}{share}"


def written(topology: str, text: str) -> tuple[str, list[CpuSet]] | None:
    """Return the options that Octant writes for a placement, and its masks; `None`: it does not fit the machine."""
    node = machine(topology)
    request = parse_place(text, node)
    try:
        placement = plan(node, request)
    except DoesNotFitError:
        return None
    line = next(line for line in to_syntax("mpich", placement, request, node).lines if line.startswith("mpiexec "))
    return line.removeprefix("mpiexec ").removesuffix(" PROGRAM"), [place.cpus for place in placement.ranks]


@functools.cache
def machine(name: str) -> Topology:
    """Return one of `TOPOLOGIES`."""
    described = TOPOLOGIES[name]
    return load(DATA / described if described.endswith(".xml") else described)


def written_records() -> list[Run]:
    """Return the recorded runs of lines that Octant wrote."""
    data = json.loads(RECORDS.read_text())
    return [decoded(data["topologies"], *row) for row in data["written"]]


def records(version: str = "") -> list[Run]:
    """Return the recorded runs; of another version than the first, those that differ."""
    data = json.loads(RECORDS.read_text())
    rows = data["differences"][version] if version else data["runs"]
    return [decoded(data["topologies"], *row) for row in rows]


def other_versions() -> list[str]:
    """Return the versions that are recorded where they differ."""
    return sorted(json.loads(RECORDS.read_text())["differences"])


def decoded(topologies: list[str], topology: int, variables: str, options: str, result: str) -> Run:
    """Return a row of the file as a run."""
    if result.startswith("!"):
        return Run(topologies[topology], variables, options, refusal=result[1:])
    masks, memory = [], []
    for word in result.split(" | "):
        cpus, _, policy = word.partition(" ")
        masks.append(None if cpus == "*" else parse_cpus(cpus))
        memory.append(policy)
    return Run(topologies[topology], variables, options, tuple(masks), tuple(memory))


def encoded(run: Run) -> list[object]:
    """Return a run as a row of the file."""
    words = [
        f"{'*' if mask is None else numbers_text(mask)} {policy}".strip()
        for mask, policy in zip(run.masks, run.memory, strict=True)
    ]
    result = f"!{run.refusal}" if run.refusal else " | ".join(words)
    return [list(TOPOLOGIES).index(run.topology), run.variables, run.options, result]


def hydra(mpiexec: str, shim: Path, topology: str, variables: str, options: str) -> Run:
    """Run one command line on a pretended machine; ranks that Hydra places on other hosts are left out."""
    described = TOPOLOGIES[topology]
    machine = {"HWLOC_XMLFILE": str(DATA / described)} if described.endswith("xml") else {"HWLOC_SYNTHETIC": described}
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HYDRA", "MPI", "PMI", "SLURM"))}
    with tempfile.TemporaryDirectory() as folder:
        given = dict(word.split("=", 1) for word in variables.split())
        environment = {**own, **machine, **given, "HWLOC_THISSYSTEM": "1", "HYDRA_RECORD": folder}
        environment["LD_PRELOAD"] = str(shim)
        words = [mpiexec, *options.split(), "sh", "-c", "sleep 0.05; echo ${PMI_RANK:-$PMI_ID}"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return Run(topology, variables, options, refusal="it does not end")
        seen = "".join(path.read_text() for path in Path(folder).iterdir())
    if done.returncode:
        return Run(topology, variables, options, refusal=_reason(done.stdout + done.stderr))
    ranks = sorted(int(rank) for rank in re.findall(r"(?m)^(?:\[\d+\] )?(\d+)$", done.stdout))
    hosts = {
        int(rank): parent for rank, parent in re.findall(r"(\d+) (\d+) cpus:", seen)
    }  # by the process of Hydra there
    first = [rank for rank in ranks if hosts.get(rank, hosts.get(0)) == hosts.get(0)]
    cpus = {int(rank): _set(found) for rank, found in re.findall(r"(\d+) \d+ cpus:(.*)", seen)}
    memory = {int(rank): f"{_POLICIES[mode]} {numbers_text(_set(found))}".strip()
              for rank, mode, found in re.findall(r"(\d+) \d+ memory ([1-9]):(.*)", seen)}  # fmt: skip
    masks, policies = tuple(cpus.get(rank) for rank in first), tuple(memory.get(rank, "") for rank in first)
    return Run(topology, variables, options, masks, policies)


def _set(numbers: str) -> CpuSet:
    return frozenset(map(int, numbers.split()))


def _reason(output: str) -> str:
    """Return the first reason that Hydra states, without its place in the source."""
    found: list[str] = re.findall(r"\): (.+)", output)
    stated = [text for text in found if not text.startswith(("assert", "callback", "demux", "error waiting"))]
    return (stated or found or ["no reason stated"])[0]


def build_shim(folder: Path) -> Path:
    """Compile the library that notes what would be bound."""
    (folder / "shim.c").write_text(_SHIM)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "shim.so", folder / "shim.c"], check=True)
    return folder / "shim.so"


def version_of(mpiexec: str) -> str:
    """Return the version that Hydra states."""
    text = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"Version:\s*(\S+)", text)
    return found[1] if found else "unknown"


def main(launchers: list[str]) -> None:
    """Record all command lines with each launcher."""
    for name, machine in XML.items():
        (DATA / name).write_text(re.sub(r"\s*<(info|page_type) .*?/>", "", write_xml(machine)))
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(Path(folder))
        every = [[hydra(one, shim, *case) for case in cases()] for one in launchers]
        lines = {(name, found[0]): None for name, text in placements() if (found := written(name, text))}
        ours = [encoded(hydra(launchers[0], shim, name, "", options)) for name, options in lines]
    rows = ",\n".join(json.dumps(encoded(run)) for run in every[0])
    differences = {
        version_of(one): [encoded(run) for run, first in zip(runs, every[0], strict=True) if run != first]
        for one, runs in zip(launchers[1:], every[1:], strict=True)
    }
    RECORDS.write_text(
        f'{{"version": {json.dumps(version_of(launchers[0]))}, "topologies": {json.dumps(list(TOPOLOGIES))},\n'
        f'"runs": [\n{rows}\n],\n"written": {json.dumps(ours)},\n"differences": {json.dumps(differences)}}}\n'
    )


if __name__ == "__main__":
    main(sys.argv[1:])
