"""A believable run that nobody measured: every number in it is written here, so tests know what must come out."""

from collections.abc import Mapping, Sequence
from typing import Any

from octant.machine import Cache, CacheKind, Cpu, CpuSet, Disagreement, Machine, NumaNode, PageSize, Processor, Topology
from octant.record import Buffer, Check, Given, Lane, Point, Sampling, Work

KIB, MIB, GIB = 2**10, 2**20, 2**30


def machine(
    packages: int = 1, nodes: int = 1, cores: int = 2, smt: int = 1, name: str = "fake", model: str = "Fake CPU 9000"
) -> Machine:
    """`packages` × `nodes` NUMA domains × `cores` × `smt` threads; L1 and L2 a core, L3 a domain, 16 GiB a domain."""
    cpus = []
    for os in range(packages * nodes * cores * smt):
        core = os % (packages * nodes * cores)
        cpus.append(Cpu(os, core, core // (nodes * cores), core // cores))
    sets: dict[str, dict[int, set[int]]] = {"core": {}, "numa": {}}
    for cpu in cpus:
        sets["core"].setdefault(cpu.core, set()).add(cpu.os)
        sets["numa"].setdefault(cpu.numa, set()).add(cpu.os)
    kinds: tuple[tuple[str, int, CacheKind, int], ...] = (
        ("core", 1, "data", 48 * KIB),
        ("core", 1, "instruction", 32 * KIB),
        ("core", 2, "unified", 2 * MIB),
        ("numa", 3, "unified", 32 * MIB),
    )
    caches = [
        Cache(level, kind, size, 64, CpuSet(group))
        for unit, level, kind, size in kinds
        for group in sets[unit].values()
    ]
    numa = tuple(NumaNode(n, CpuSet(group), 16 * GIB) for n, group in sets["numa"].items())
    return Machine(
        name=name,
        topology=Topology(tuple(cpus), tuple(caches), numa, CpuSet(cpu.os for cpu in cpus)),
        processor=Processor("x86_64", "GenuineFake", model, frozenset({"avx2", "avx512f"}), 2.0e9),
        memory_bytes=len(numa) * 16 * GIB,
        page_sizes=(PageSize(4 * KIB), PageSize(2 * MIB, 0, 0)),
        system={"kernel": "6.18.5", "thp": "madvise", "governor": "none visible", "virtualisation": "kvm"},
        software={"mpi": "MPICH 5.0.1", "blas": "OpenBLAS 0.3.30"},
        disagreements=(
            Disagreement(
                "clock",
                (("cpuinfo", "2.00 GHz"), ("measured", "2.99 GHz")),
                "the measurement: hypervisors mask the clock",
            ),
        ),
    )


def lane(
    durations: Sequence[int],
    thread: int = 0,
    rank: int = 0,
    begin: int = 0,
    gaps: Mapping[int, int] | None = None,
    preempted: Sequence[int] = (),
) -> Lane:
    """Samples one after the other; before sample i there is a pause of `gaps[i]` ns."""
    begins, now = [], begin
    for i, duration in enumerate(durations):
        now += (gaps or {}).get(i, 0)
        begins.append(now)
        now += duration
    return Lane(rank, thread, tuple(begins), tuple(durations), frozenset(preempted))


def point(sampling: Sampling = "lanes", **changes: Any) -> Point:
    """A clean point of workload `thing`, with the changes."""
    clean: dict[str, Any] = {
        "workload": "thing",
        "launch": "thing-0",
        "knobs": {},
        "ranks": 1,
        "threads": 1,
        "sampling": sampling,
        "batch": 1,
        "warmup": 0,
        "stopped_by": "interval",
        "work": Work(),
        "verdict": Check("compared with the plain loop", 0.0, 1e-12, True),
        "clock_cost_ns": 21.0,
        "clock_resolution_ns": 1.0,
        "sync": "none",
        "exit_skew_ns": (),
        "share_cores": False,
        "noise": {},
        "notes": {},
        "given": (Given("node", (0,), ((0, 1),), (Buffer(MIB, MIB, MIB, 4096, {"0": 256}),)),),
        "mpi": "MPICH 5.0.1",
        "build": {"compiler": "g++ 12.2.0", "optimised": True, "faults_compiled": False},
        "lanes": (),
    }
    return Point(**{**clean, **changes})
