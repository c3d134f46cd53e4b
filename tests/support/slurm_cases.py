"""Machines and command lines for the recorder of srun: all pairs of option values, and lines that people write."""

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from octant.launchers import to_syntax
from octant.machine import Topology
from octant.machine.cpusets import parse_cpus
from octant.machine.hwloc import read_synthetic
from octant.placement import Placement
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFitError, plan


@dataclass(frozen=True)
class Machine:
    """A pretended machine and the settings of its cluster."""

    topology: str  # hwloc's synthetic description
    offline: str = ""  # CPUs that are offline
    select: str = "CR_Core"  # SelectTypeParameters
    task_plugin: str = ""  # TaskPluginParam
    one_cpu_a_core: bool = False  # slurm.conf counts cores as CPUs

    def facts(self) -> dict[str, str | bool]:
        """Return what differs from the defaults."""
        return {name: value for name, value in self.__dict__.items() if value not in ("", "CR_Core", False)}


@dataclass(frozen=True)
class Case:
    """One srun in a job that has whole nodes; `job`: options of sbatch, `None`: srun creates the job."""

    options: str
    variables: tuple[tuple[str, str], ...] = ()
    job: str | None = ""
    nodes: int = 1

    def line(self) -> str:
        """Return the command line, with the job's options before it, as Octant reads them."""
        head = f"#SBATCH {self.job}\n" if self.job else ""
        return head + " ".join([*(f"{name}={value}" for name, value in self.variables), "srun", self.options])


FAR = "pack:2 core:4 pu:2(indexes=core)"
MACHINES = [
    Machine(FAR),
    Machine("pack:2 core:4 pu:2"),
    Machine("pack:2 l3:2 core:3 pu:1"),
    Machine("pack:2 numa:2 core:2 pu:2(indexes=core)"),
    Machine("pack:2 numa:4 core:16 pu:2(indexes=core)"),
    Machine("pack:1 numa:4 core:3 pu:2(indexes=core)"),
    Machine("pack:1 l3:4 core:4 pu:2(indexes=core)"),
    Machine("pack:4 core:3 pu:1"),
    Machine("pack:2 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)"),
    Machine("pack:2 core:5 pu:4"),
    Machine("pack:2 numa:1 core:4 pu:8"),
    Machine("pack:1 core:1 pu:1"),
    Machine("pack:1 core:1 pu:2"),
    Machine("pack:1 core:8 pu:2(indexes=core)", offline="7,15"),
    Machine("pack:2 core:4 pu:2", offline="6-7,14-15"),
    Machine("pack:1 core:4 pu:2", offline="5,7"),
    Machine("pack:2 core:4 pu:1", offline="6-7"),
]
SETTINGS = [
    Machine(FAR, select="CR_Core_Memory"),
    Machine(FAR, select="CR_CPU"),
    Machine(FAR, select="CR_Socket"),
    Machine(FAR, select="CR_Core,CR_ONE_TASK_PER_CORE"),
    Machine(FAR, select="CR_Core,CR_CORE_DEFAULT_DIST_BLOCK"),
    Machine(FAR, select="CR_Core,CR_Pack_Nodes"),
    Machine(FAR, task_plugin="autobind=threads"),
    Machine(FAR, task_plugin="autobind=cores"),
    Machine(FAR, task_plugin="autobind=sockets"),
    Machine(FAR, one_cpu_a_core=True),
]
OPTIONS: dict[str, Sequence[str]] = {
    "ntasks": ["-n 1", "-n2", "--ntasks=3", "-n 4", "-n 8"],
    "nodes": ["-N 1", "-N2"],
    "cpus-per-task": ["-c 1", "-c2", "--cpus-per-task=3", "-c 4"],
    "cpu-bind": [
        "--cpu-bind=" + value
        for value in (
            "none", "cores", "core", "threads", "sockets", "ldoms", "rank", "rank_ldom", "map_cpu:0,2", "map_cpu:1*2,3",
            "mask_cpu:0x3,0xc", "mask_cpu:f", "map_ldom:0", "map_ldom:1,0", "mask_ldom:0x1,0x3", "verbose", "quiet",
            "verbose,cores", "q,threads", "v,none", "quiet,map_cpu:1,0", "verbose,sockets",
        )
    ],
    "distribution": [
        "-m " + value
        for value in (
            "block", "cyclic", "block:block", "block:cyclic", "block:fcyclic", "cyclic:block", "cyclic:cyclic",
            "cyclic:fcyclic", "plane=2", "*:block", "block:*", "block:block:cyclic", "block:cyclic:block",
            "*:cyclic:fcyclic", "block,Pack", "block:block,NoPack", "NoPack",
        )
    ],
    "hint": ["--hint=" + value for value in ("compute_bound", "memory_bound", "multithread", "nomultithread")],
    "threads-per-core": ["--threads-per-core=1", "--threads-per-core=2"],
    "ntasks-per-core": ["--ntasks-per-core=1", "--ntasks-per-core 2"],
    "ntasks-per-socket": ["--ntasks-per-socket=1", "--ntasks-per-socket=2"],
    "ntasks-per-node": ["--ntasks-per-node=2", "--ntasks-per-node=4"],
    "extra-node-info": ["-B 1", "-B 2:2", "-B *:*:1", "--extra-node-info=1:2:2"],
    "sockets-per-node": ["--sockets-per-node=1", "--sockets-per-node=2"],
    "cores-per-socket": ["--cores-per-socket=2", "--cores-per-socket=4"],
    "share": ["--exclusive", "--exact", "--overlap", "--whole", "-s"],
    "overcommit": ["-O", "--overcommit"],
    "mem-bind": ["--mem-bind=" + value for value in ("none", "local", "rank", "mask_mem:0x1", "map_mem:0")],
}  # fmt: skip
VARIABLES: dict[str, Sequence[str]] = {
    "SLURM_CPU_BIND": ["cores", "none", "verbose", "mask_cpu:0x3,0xc"],
    "SLURM_HINT": ["nomultithread", "multithread"],
    "SLURM_DISTRIBUTION": ["block:block", "cyclic"],
    "SLURM_CPUS_PER_TASK": ["2"],
    "SRUN_CPUS_PER_TASK": ["2"],
    "SLURM_THREADS_PER_CORE": ["1"],
    "SLURM_NTASKS": ["4"],
    "SLURM_OVERCOMMIT": ["1"],
    "SLURM_EXACT": ["1"],
}
MAX_IN_A_LINE = 6
PLAIN = [  # on every machine
    "-n 1", "-n 2", "-n 4", "-n 2 -c 2", "-n 4 -c 2", "-n 2 -c 4", "-n 3 -c 3", "-n 4 -c 1",
    "-n 4 --cpu-bind=cores", "-n 4 -c 2 --cpu-bind=cores", "-n 2 -c 2 --cpu-bind=threads -m block:block",
    "-n 4 -c 2 --hint=nomultithread", "-n 2 -c 4 --hint=nomultithread -m block:block", "-n 2 -c 1 --hint=nomultithread",
    "-n 4 -c 2 --threads-per-core=1 --cpu-bind=cores", "-n 2 --cpu-bind=sockets", "-n 4 -c 2 -m block:fcyclic",
    "-n 2 --cpu-bind=ldoms -m block:cyclic", "-n 4 -c 2 --cpu-bind=ldoms", "-n 2 --cpu-bind=rank_ldom",
    "-n 2 -c 2 --cpu-bind=verbose", "-n 4 -c 3 --ntasks-per-core=1", "--exclusive -n 4 --cpu-bind=cores",
    "-n 8 -c 2 --cpu-bind=cores -m block:block", "-n 2 --cpu-bind=none", "-n 3 --exact",
    "-n 4 --exact --cpu-bind=cores",
]  # fmt: skip
JOBS = [  # options of sbatch, and of srun
    ("-n 4", ""), ("-n 4 -c 2", ""), ("-n 4 -c 2", "-c 2"), ("--ntasks-per-node=4", ""),
    ("--ntasks-per-node=4", "-c 2"),
    ("--hint=nomultithread -n 4 -c 2", "-c 2"), ("--hint=nomultithread", "-n 4 -c 2"),
    ("--threads-per-core=1", "-n 4 -c 2"), ("--threads-per-core=1", "-n 4"), ("-m block:block", "-n 4 -c 2"),
    ("--ntasks-per-core=1", "-n 4 -c 2"), ("--ntasks-per-core=1 -n 4", ""), ("--ntasks-per-socket=2", "-n 4 -c 1"),
    ("--ntasks-per-socket=1 -n 2", ""), ("-B 2:2:1", "-n 4 -c 1"), ("--cores-per-socket=2", "-n 4"),
    ("-c 4 --ntasks-per-node=2", "--cpu-bind=cores"), ("--mem-bind=local", "-n 2"), ("-O", "-n 4 -c 2"),
    ("--hint=multithread", "-n 4 -c 2"), ("--hint=compute_bound", "-n 4 -c 2"), ("--hint=memory_bound", "-n 2"),
    ("-N 2 -n 8", "-c 2"), ("-N 2 --ntasks-per-node=4", "-c 2"), ("-N 2 --ntasks-per-node=2", "-m cyclic:block -c 2"),
]  # fmt: skip


@functools.cache
def all_pairs() -> list[Case]:
    """Return lines in which every two values of different options or variables occur together.

    Unlike those of `pairs.all_pairs`, a line has few options, so that a refusal hides few pairs. They are made
    greedily: each starts with a pair that is still missing, and takes further values as long as each adds such a pair.
    """
    values = [(name, value) for name, some in {**OPTIONS, **VARIABLES}.items() for value in some]
    missing = dict.fromkeys(pair for pair in itertools.combinations(values, 2) if pair[0][0] != pair[1][0])
    found = []
    while missing:
        chosen = list(next(iter(missing)))
        while len(chosen) < MAX_IN_A_LINE:
            free = [one for one in values if one[0] not in {name for name, _value in chosen}]
            gains = [sum(_pair(one, other, values) in missing for other in chosen) for one in free]
            if max(gains) == 0:
                break
            chosen.append(free[gains.index(max(gains))])
        for pair in itertools.combinations(chosen, 2):
            missing.pop(_pair(*pair, values), None)
        found.append(_case(sorted(chosen, key=values.index)))
    return found


def _pair(
    one: tuple[str, str], other: tuple[str, str], values: list[tuple[str, str]]
) -> tuple[tuple[str, str], tuple[str, str]]:
    return (one, other) if values.index(one) < values.index(other) else (other, one)


def _case(chosen: Sequence[tuple[str, str]]) -> Case:
    options = [value for name, value in chosen if name in OPTIONS]
    variables = tuple((name, value) for name, value in chosen if name in VARIABLES)
    stated = any(name in ("ntasks", "ntasks-per-node") or name == "SLURM_NTASKS" for name, _value in chosen)
    if not stated:
        options.insert(0, "-n 4")
    return Case(" ".join(options), variables, nodes=2 if "-N2" in options else 1)


def cases(machine: Machine) -> list[Case]:
    """Return the command lines of one machine: the pairs are divided among the machines."""
    every = MACHINES + SETTINGS
    at = every.index(machine)
    pairs = all_pairs()
    mine = pairs[at :: len(MACHINES)] if at < len(MACHINES) else pairs[at - len(MACHINES) :: len(SETTINGS)]
    jobs = [Case(srun, job=job, nodes=2 if "-N 2" in job else 1) for job, srun in JOBS] if at in (0, 4, 9) else []
    return list(dict.fromkeys([*(Case(options) for options in PLAIN), *jobs, *mine]))


PLACES = [
    "1x1", "2x1", "4x1", "2x2", "4x2", "3x1,order=scatter", "2x2,order=scatter:package", "4x2,order=scatter:numa",
    "4x2,unit=hwthread,smt=2", "2x1,unit=hwthread,order=scatter:package", "2x1,unit=numa", "2x1,unit=package",
    "2x2,unit=l3", "4x1,unit=core,smt=2", "3x2,smt=2", "2x1,cpus=1/0", "2x1,cpus=0+1/2", "2x1,unit=numa,memory=bind",
    "2x1,memory=local", "2x1,unit=numa,order=scatter:package", "4x1,unit=numa,share=yes",
]  # fmt: skip
"""Placements whose lines for Slurm are recorded."""


def topology_of(machine: Machine) -> Topology:
    """Return the topology without the CPUs that are offline."""
    whole = read_synthetic(machine.topology)
    gone = parse_cpus(machine.offline) if machine.offline else frozenset[int]()
    caches = tuple(replace(cache, cpus=cache.cpus - gone) for cache in whole.caches or () if cache.cpus - gone)
    return replace(
        whole,
        cpus=tuple(cpu for cpu in whole.cpus if cpu.os not in gone),
        caches=caches,
        numa=tuple(replace(node, cpus=node.cpus - gone) for node in whole.numa),
        allowed=whole.allowed - gone,
    )


def generated(machine: Machine) -> list[tuple[str, Placement, list[str]]]:
    """Return the placements that fit a machine, and all lines with srun that Octant writes for each."""
    found, topology = [], topology_of(machine)
    for text in PLACES:
        try:
            request = parse_place(text, topology)
            placement = plan(topology, request)
        except (DoesNotFitError, ValueError):
            continue
        lines = to_syntax("slurm", placement, request, topology).lines
        starts = [line[line.index("srun ") :].removesuffix(" PROGRAM") for line in lines if "srun " in line]
        found.append((text, placement, starts))
    return found


def generated_lines(machine: Machine) -> list[str]:
    """Return the lines of all placements, each once."""
    return list(dict.fromkeys(line for _text, _placement, lines in generated(machine) for line in lines))
