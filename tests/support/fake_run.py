"""A believable run that nobody measured: every number in it is written here, so tests know what must come out."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from octant.launch import Launch
from octant.machine import (
    Cache,
    CacheKind,
    Cpu,
    CpuSet,
    Disagreement,
    Machine,
    NumaNode,
    PageSize,
    Processor,
    Topology,
    codec,
)
from octant.record import Buffer, Check, Failure, Given, Lane, Point, Sampling, Work, failure_line
from octant.store import Store, StoredRun
from octant.workload import Ceilings, Limit, Metric, Mode, Workload

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
    whole = {**clean, **changes}
    if whole["knobs"].get("pages") == "base":
        whole["given"] = tuple(
            replace(g, buffers=tuple(replace(b, huge_bytes=0) for b in g.buffers)) for g in whole["given"]
        )
    if sampling == "steps":  # whose beginnings are not kept
        whole["lanes"] = tuple(replace(one, begin_ns=()) for one in whole["lanes"])
    return Point(**whole)


def durations(middle_ns: int, n: int = 101, spread: float = 0.01, late: Sequence[int] = ()) -> list[int]:
    """`n` (odd) durations whose median is exactly `middle_ns`; the samples in `late` are made five times as long.

    The order jumps about (37 is prime to n), so neighbours are not alike.
    """
    half = n // 2
    found = [middle_ns + round(middle_ns * spread * (i * 37 % n - half) / half) for i in range(n)]
    for i in late:
        found[i] = max(found[i], middle_ns) * 5
    return found


def _traffic(p: Point) -> float:
    return p.work.bytes_read + p.work.bytes_written + p.work.bytes_allocated


def _workload(
    name: str,
    summary: str,
    metric: Metric,
    order: int,
    axis: str = "",
    limit: tuple[str, float, str] | None = None,
    more: tuple[Metric, ...] = (),
) -> Workload:
    def limit_of(_machine: Machine, _ceilings: Ceilings, p: Point) -> Limit | None:
        return None if limit is None else Limit(limit[1] * (p.ranks * p.threads if limit[0] else 1), limit[2])

    def ceiling(_machine: Machine, p: Point) -> tuple[Literal["flops", "memory"], str] | None:
        kinds: dict[str, Literal["flops", "memory"]] = {"node/peakflops": "flops", "node/stream": "memory"}
        return (kinds[name], (more or (metric,))[-1].name) if name in kinds and "ladder" not in p.notes else None

    return Workload(summary, (metric, *more), limit_of, lambda _m, _q: (), ceiling, axis, order, name)


WORKLOADS = {
    workload.name: workload
    for workload in (
        _workload(
            "node/peakflops", "Fused multiply-adds in registers",
            Metric("rate", "flop/s", "rate", lambda p: p.work.flops),
            10, limit=("thread", 95.7e9, "32 flop a cycle at 2.99 GHz (measured)"),
        ),
        _workload(
            "node/stream", "Sustained memory bandwidth",
            Metric("bandwidth", "B/s", "rate", lambda p: p.work.bytes_read + p.work.bytes_written,
                   note="bytes that the source reads and writes"),
            20, "bytes", ("", 29.5e9, "best memory traffic of this run"),
            (Metric("traffic", "B/s", "rate", _traffic),),
        ),
        _workload(
            "node/latency", "Dependent loads", Metric("latency", "s", "time", lambda p: p.work.loads), 30, "bytes",
            ("", 1.67e-9, "5 cycles at 2.99 GHz (measured)"),
        ),
        _workload(
            "node/gemm", "Matrix product", Metric("rate", "flop/s", "rate", lambda p: p.work.flops), 40,
            limit=("thread", 95.7e9, "best compute rate of this run"),
        ),
        _workload("mpi/pingpong", "Messages there and back",
                  Metric("half round trip", "s", "time", lambda p: p.work.messages), 50, "bytes"),
        _workload("node/noise", "What the system takes from us",
                  Metric("quantum", "s", "time", lambda p: p.work.quanta), 60),
    )
}  # fmt: skip
LADDER = [1 << shift for shift in range(12, 29)]
MESSAGES = [0, *(1 << shift for shift in range(23))]


def pingpong_s(size: float) -> float:
    """The fake network: 0.4 µs and 0.12 ns a byte."""
    return 0.4e-6 + 0.12e-9 * size


def _latency_ns(size: int) -> float:
    return next(ns for top, ns in ((48 * KIB, 1.67), (2 * MIB, 5.2), (32 * MIB, 24.0), (GIB, 110.0)) if size <= top)


def _stars(middle_ns: int, ranks: int, threads: int = 1, **noise: Any) -> tuple[Lane, ...]:
    pairs = [(r, t) for r in range(ranks) for t in range(threads)]
    return tuple(lane(durations(middle_ns, **noise), t, r, begin=97 * (r + t)) for r, t in pairs)


@dataclass
class _Recorder:
    """Takes down launches and points of a run that is `speed` times as fast as `speed=1`."""

    speed: float
    repeats: int
    launches: list[Launch] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    def add(
        self, workload: str, mode: Mode, label: str, knobs: dict[str, str], table: bool = True, **changes: Any
    ) -> None:
        """One point of each repeat; `at` are the knobs of the point where those of the launch are lists."""
        at = changes.pop("at", {})
        for repeat in range(self.repeats):
            launch = Launch(workload, knobs, mode, changes.get("ranks", 1), label, repeat, table)
            if launch.key not in {known.key for known in self.launches}:
                self.launches.append(launch)
            given = {**knobs, **at, "seconds": "1", "threads": str(changes.get("threads", 1))}
            self.points.append(point(workload=workload, launch=launch.key, knobs=given, **changes))

    def ns(self, value: float) -> int:
        """A duration of `speed=1`."""
        return round(value / self.speed)


def _rates(to: _Recorder) -> None:
    """Arithmetic, memory and matrix product on one core, on all by ranks, and on all by threads."""
    modes: tuple[tuple[Mode, int, int], ...] = (("one", 1, 1), ("star", 2, 1), ("threads", 1, 2))
    for mode, ranks, threads in modes:
        at: dict[str, Any] = {"ranks": ranks, "threads": threads}
        lanes = _stars(to.ns(100_000), ranks, threads)
        to.add(
            "node/peakflops", mode, "double, 512-bit", {"width": "512"}, work=Work(flops=9_380_000), lanes=lanes, **at
        )
        lanes = _stars(to.ns(100_000 * ranks * threads / 1.2), ranks, threads, late=(7, 41, 77))
        work = Work(bytes_read=1_600_000, bytes_written=800_000, bytes_allocated=800_000, flops=200_000)
        noise = {"during": {"time_s": 1.0, "node_busy_s": 2.0, "own_cpu_s": 1.0}, "before": {"frequency_hz": 2.99e9}}
        knobs = {"kernel": "triad", "bytes": "134217728"}
        to.add("node/stream", mode, f"triad, {mode}", knobs, lanes=lanes, work=work, noise=noise, **at)
        lanes = _stars(to.ns(2_000_000), ranks, threads)
        work = Work(flops=2 * 448**3, bytes_read=2 * 8 * 448**2, bytes_written=8 * 448**2)
        to.add("node/gemm", mode, "double, n = 448", {"n": "448"}, lanes=lanes, work=work, **at)


def _ladders(to: _Recorder) -> None:
    """Bandwidth and latency from the first cache to memory."""
    sizes = ",".join(map(str, LADDER))
    loads = Work(loads=1000)
    for size in LADDER:
        rate = next(r for top, r in ((48 * KIB, 180), (2 * MIB, 70), (32 * MIB, 30), (GIB, 20)) if size <= top)
        at = {"bytes": str(size)}
        lanes = _stars(to.ns(2_400_000 / rate), 1)
        moved = Work(bytes_read=1_600_000, bytes_written=800_000)
        knobs = {"kernel": "triad", "bytes": sizes}
        to.add(
            "node/stream", "one", "triad ladder", knobs, False, notes={"ladder": "yes"}, at=at, lanes=lanes, work=moved
        )
        for pages in ("base", "thp"):
            slower = 1.3 if pages == "base" and size > 2 * MIB else 1.0
            lanes = _stars(to.ns(1000 * slower * _latency_ns(size)), 1)
            knobs = {"pages": pages, "bytes": sizes}
            to.add("node/latency", "one", f"load, {pages} pages", knobs, False, at=at, lanes=lanes, work=loads)
    for pages in ("base", "thp"):
        knobs, lanes = {"pages": pages, "bytes": str(256 * MIB)}, _stars(to.ns(110_000), 1)
        to.add("node/latency", "one", f"load from memory, {pages} pages", knobs, lanes=lanes, work=loads)


def _messages(to: _Recorder) -> None:
    """Messages of all sizes in one launch, and the small one that stands in the table."""
    every = ",".join(map(str, MESSAGES))
    for size, label, listed in [*((size, "hot buffers", every) for size in MESSAGES), (8, "8 B, hot buffers", "8")]:
        to.add(
            "mpi/pingpong", "all", label, {"bytes": listed}, listed == "8", at={"bytes": str(size)}, ranks=2,
            sampling="steps", batch=10, sync="clock", work=Work(messages=2, message_bytes=size),
            lanes=(lane(durations(to.ns(20e9 * pingpong_s(size)))),),
        )  # fmt: skip


def fake_run(
    folder: Path = Path("runs/20261121-214530-3f2a"),
    speed: float = 1.0,
    repeats: int = 1,
    on: Machine | None = None,
    title: str = "evaluate --quick",
) -> StoredRun:
    """All six workloads, `speed` times as fast as `speed=1`."""
    to = _Recorder(speed, repeats)
    _rates(to)
    _ladders(to)
    _messages(to)
    late = range(5, 1001, 97)
    lanes = tuple(lane(durations(to.ns(100_000), 1001, 0.002, late=late), rank=rank) for rank in range(2))
    knobs = {"quantum": "100us"}
    to.add("node/noise", "star", "fixed quantum of 100 µs", knobs, ranks=2, work=Work(quanta=1), lanes=lanes)
    reason = "no 1 GiB pages are reserved; try `sysctl …`"
    failure = Failure("node/latency", to.launches[-1].key, {"pages": "1GiB"}, 1, reason, 3)
    return StoredRun(
        folder.name, folder, title, "2026-11-21T21:45:30+00:00", on or machine(), {"OMP_PROC_BIND": "close"},
        tuple(to.launches), tuple(to.points), (failure,), 0,
    )  # fmt: skip


def point_line(p: Point) -> str:
    """The line that `record.parse` reads back to this point."""
    data = asdict(p)
    data |= {
        "schema": 1,
        "kind": "point",
        "run": data.pop("launch"),
        "clock": {"cost_ns": data.pop("clock_cost_ns"), "resolution_ns": data.pop("clock_resolution_ns")},
        "sync": {"method": p.sync, "exit_skew_ns": data.pop("exit_skew_ns")},
    }
    lanes = [{**one, "preempted": sorted(one["preempted"])} for one in data.pop("lanes")]
    data["samples"] = lanes[0] if p.sampling == "steps" else {"lanes": lanes}
    return json.dumps(data)


def write_run(run: StoredRun, store: Path) -> StoredRun:
    """Puts a run into a store as the command would have, and reads it back."""
    folder = store / "runs" / run.id
    folder.mkdir(parents=True)
    asked = {
        "schema": 1,
        "title": run.title,
        "started": run.started,
        "machine": codec.to_json(run.machine),
        "environment": dict(run.environment),
        "launches": [asdict(launch) for launch in run.launches],
    }
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    lines = [*map(point_line, run.points), *map(failure_line, run.failures)]
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Store(store).read(run.id)
