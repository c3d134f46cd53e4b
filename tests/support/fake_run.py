"""A plausible artificial run: every number in it is written here, so that tests know the expected results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from octant.limit import Known, Limit, Provides
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
)
from octant.metric import Metric, per, rate
from octant.record import (
    Buffer,
    Clock,
    Failure,
    Head,
    Pace,
    Point,
    Process,
    RankResources,
    Result,
    Samples,
    Series,
    Work,
    known_count,
)
from octant.record.writer import failure_line, kept_member, seal
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.store import Store, StoredRun
from octant.store.run_request import RunRequest, run_request_text
from octant.workload import Bars, Curve, Ladder, Messages, Timeline, Workload

KIB, MIB, GIB = 2**10, 2**20, 2**30
STARTED = "2026-11-21T21:45:31Z"


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
        sets["numa"].setdefault(cpu.numa or 0, set()).add(cpu.os)
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
    clock_hz: Sequence[int] = (),
    bursts: Sequence[tuple[int, int]] = (),
    **head: Any,
) -> Series:
    """Samples one after the other; before sample i is a pause of `gaps[i]` ns. `head`: name, group, role, unit."""
    gap_ns = np.zeros(len(durations))
    for i, pause in {0: begin, **(gaps or {})}.items():
        if i < len(gap_ns):
            gap_ns[i] = pause
    of = Head(**{"name": "step", "rank": rank, "thread": thread, "clock_hz": tuple(clock_hz), **head})
    durations_ns = np.asarray(durations, dtype=np.float64)
    return Series(of, durations_ns, gap_ns, frozenset(preempted), bursts=tuple(bursts))


def point(pace: Pace = "chunks", **changes: Any) -> Point:
    """A clean point of workload `fake/thing`, with the changes.

    `lanes` are its series, `counts` what one of its lanes (or a step of all) does, `batch` how often in one sample;
    `build`, `mpi`, `clock` and `started` are of its process. Threads are one on each hardware thread from 0 on.
    """
    lanes: tuple[Series, ...] = changes.pop("lanes", ())
    counts, batch = changes.pop("counts", {}), changes.pop("batch", 1)
    steps = sum(series.head.name == "step" for series in lanes)
    each = max(1, steps) if pace == "chunks" else 1
    build = {"compiler": "g++ 12.2.0", "optimised": True, "faults_compiled": False}
    process = Process(
        changes.pop("mpi", "MPICH 5.0.1"), changes.pop("build", build), changes.pop("clock", Clock("", 21.0, 1.0)),
        started=changes.pop("started", STARTED),
    )  # fmt: skip
    ranks, threads = changes.get("ranks", 1), changes.get("threads", 1)
    clean: dict[str, Any] = {
        "workload": "fake/thing",
        "launch": "fake-thing-0",
        "knobs": {},
        "ranks": 1,
        "threads": 1,
        "pace": pace,
        "stopped_by": "interval",
        "work": (Work({name: count * each for name, count in counts.items()}, lanes=each, batch=batch),),
        "results": (Result("compared with the plain loop", 0.0, "1", 1e-12),),
        "read": lambda: Samples(lanes),
        "heads": tuple(series.head for series in lanes),
        "process": process,
        "given": tuple(
            RankResources(
                "node",
                tuple(range(rank * threads, (rank + 1) * threads)),
                tuple((cpu,) for cpu in range(rank * threads, (rank + 1) * threads)),
                (Buffer(MIB, MIB, MIB, 4096, {"0": 256}),),
            )
            for rank in range(ranks)
        ),
    }
    whole = {**clean, **changes}
    if whole["knobs"].get("pages") == "base":
        whole["given"] = tuple(
            replace(g, buffers=tuple(replace(b, huge_bytes=0) for b in g.buffers)) for g in whole["given"]
        )
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


TRAFFIC = ("bytes_read", "bytes_written", "bytes_allocated")


def _of_clock(cycles_per_s: float, name: str, source: str) -> Any:
    """A limit of so many of `name` per second and hardware thread."""

    def least_seconds(_known: Known, _machine: Machine, p: Point) -> Limit:
        return Limit(p.count(name) / (cycles_per_s * len(p.hardware_threads)), source)

    return least_seconds


def _of_memory(known: Known, _machine: Machine, p: Point) -> Limit | None:
    best = known.best("memory traffic", p.hardware_threads)
    return Limit(p.count(*TRAFFIC) / best.value, "best memory traffic of this run") if best else None


def _of_latency(_known: Known, _machine: Machine, p: Point) -> Limit:
    return Limit(p.count("loads") / p.lanes * 1.67e-9, "5 cycles at 2.99 GHz (measured)")


def _from_memory(_machine: Machine, p: Point) -> bool:
    return "ladder" not in p.notes


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload(
            "Fused multiply-adds in registers",
            (Metric("rate", "flop/s", "higher", rate("flops")),),
            {},
            "node/peakflops",
            least_seconds=_of_clock(95.7e9, "flops", "32 flop per cycle at 2.99 GHz (measured)"),
            provides=(Provides("fma double", "rate"),),
            pictures=(Bars("width"),),
        ),
        Workload(
            "Sustained memory bandwidth",
            (
                Metric(
                    "bandwidth",
                    "B/s",
                    "higher",
                    rate("bytes_read", "bytes_written"),
                    note="bytes that the source reads and writes",
                ),
                Metric("traffic", "B/s", "higher", rate(*TRAFFIC)),
            ),
            {},
            "node/stream",
            ("memory traffic",),
            _of_memory,
            provides=(Provides("memory traffic", "traffic", _from_memory),),
            footprint=lambda _machine, p: int(p.knobs["bytes"]) * known_count(p.ranks),
            pictures=(Ladder(),),
        ),
        Workload(
            "Dependent loads",
            (Metric("latency", "s", "lower", per("loads")),),
            {},
            "node/latency",
            least_seconds=_of_latency,
            pictures=(Ladder(),),
        ),
        Workload(
            "Matrix product",
            (Metric("rate", "flop/s", "higher", rate("flops")),),
            {},
            "node/gemm",
            least_seconds=_of_clock(95.7e9, "flops", "best compute rate of this run"),
            pictures=(Curve("n"),),
        ),
        Workload(
            "Messages there and back",
            (
                Metric("half round trip", "s", "lower", per("messages")),
                Metric("bandwidth", "B/s", "higher", rate("bytes_sent")),
            ),
            {},
            "mpi/p2p",
            pictures=(Messages("bandwidth"),),
            messages=True,
        ),
        Workload(
            "What the system takes from us",
            (Metric("quantum", "s", "lower", per("quanta")),),
            {},
            "node/noise",
            pictures=(Timeline(),),
        ),
    )
}
LADDER = [1 << shift for shift in range(12, 29)]
MESSAGES = [0, *(1 << shift for shift in range(23))]


def there_and_back(size: int) -> dict[str, int]:
    """What both ranks of a ping-pong count in a step."""
    return {"messages": 2, "bytes_sent": 2 * size, "turns": 2, "bytes_passed": 2 * size}


def pingpong_s(size: float) -> float:
    """The fake network: 0.4 µs and 0.12 ns per byte."""
    return 0.4e-6 + 0.12e-9 * size


def _latency_ns(size: int) -> float:
    return next(ns for top, ns in ((48 * KIB, 1.67), (2 * MIB, 5.2), (32 * MIB, 24.0), (GIB, 110.0)) if size <= top)


def _stars(
    middle_ns: int, ranks: int, threads: int = 1, clock_hz: tuple[int, ...] = (), **noise: Any
) -> tuple[Series, ...]:
    pairs = [(r, t) for r in range(ranks) for t in range(threads)]
    return tuple(lane(durations(middle_ns, **noise), t, r, begin=97 * (r + t), clock_hz=clock_hz) for r, t in pairs)


@dataclass
class _Recorder:
    """Takes down launches and points of a run that is `speed` times as fast as `speed=1`."""

    speed: float
    repeats: int
    launches: list[Launch] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    def add(self, workload: str, label: str, knobs: dict[str, str], table: bool = True, **changes: Any) -> None:
        """One point of each repeat; `at` are the knobs of the point where those of the request are lists."""
        at = changes.pop("at", {})
        shape = Shape(changes.get("ranks", 1))
        request = Request(Subject(workload), knobs, shape, show=Presentation(label, table), repeats=self.repeats)
        for repeat in range(self.repeats):
            launch = Launch(request, repeat)
            if launch.key not in {known.key for known in self.launches}:
                self.launches.append(launch)
            given = {**knobs, **at, "seconds": "1", "threads": str(changes.get("threads", 1))}
            self.points.append(point(workload=workload, launch=launch.key, knobs=given, **changes))

    def ns(self, value: float) -> int:
        """A duration of `speed=1`."""
        return round(value / self.speed)


def _rates(to: _Recorder) -> None:
    """Arithmetic, memory and matrix product on one core, on all by ranks, and on all by threads."""
    for mode, ranks, threads in (("one", 1, 1), ("star", 2, 1), ("threads", 1, 2)):
        at: dict[str, Any] = {"ranks": ranks, "threads": threads}
        own = {"threads": str(threads)} if threads > 1 else {}
        lanes = _stars(to.ns(100_000), ranks, threads, clock_hz=(2_990_000_000,) * 4)
        knobs = {"width": "512", **own}
        to.add("node/peakflops", "double, 512-bit", knobs, counts={"flops": 9_380_000}, lanes=lanes, **at)
        lanes = _stars(to.ns(100_000 * ranks * threads / 1.2), ranks, threads, late=(7, 41, 77))
        work = {"bytes_read": 1_600_000, "bytes_written": 800_000, "bytes_allocated": 800_000, "flops": 200_000}
        noise = {"during": {"time_s": 1.0, "node_busy_s": 2.0, "own_cpu_s": 1.0}, "before": {"frequency_hz": 2.99e9}}
        knobs = {"kernel": "triad", "bytes": "134217728", **own}
        to.add("node/stream", f"triad, {mode}", knobs, lanes=lanes, counts=work, noise=noise, **at)
        lanes = _stars(to.ns(2_000_000), ranks, threads)
        work = {"flops": 2 * 448**3, "bytes_read": 2 * 8 * 448**2, "bytes_written": 8 * 448**2}
        to.add("node/gemm", "double, n = 448", {"n": "448", **own}, lanes=lanes, counts=work, **at)


def _ladders(to: _Recorder) -> None:
    """Bandwidth and latency from the first cache to memory."""
    sizes = ",".join(map(str, LADDER))
    loads = {"loads": 1000}
    for size in LADDER:
        rate = next(r for top, r in ((48 * KIB, 180), (2 * MIB, 70), (32 * MIB, 30), (GIB, 28.8)) if size <= top)
        at = {"bytes": str(size)}
        lanes = _stars(to.ns(2_400_000 / rate), 1)
        moved = {"bytes_read": 1_600_000, "bytes_written": 800_000}
        knobs = {"kernel": "triad", "bytes": sizes}
        to.add("node/stream", "triad ladder", knobs, False, notes={"ladder": "yes"}, at=at, lanes=lanes, counts=moved)
        for pages in ("base", "thp"):
            slower = 1.3 if pages == "base" and size > 2 * MIB else 1.0
            lanes = _stars(to.ns(1000 * slower * _latency_ns(size)), 1)
            knobs = {"pages": pages, "bytes": sizes}
            to.add("node/latency", f"load, {pages} pages", knobs, False, at=at, lanes=lanes, counts=loads)
    for pages in ("base", "thp"):
        slower = 1.3 if pages == "base" else 1.0
        knobs, lanes = {"pages": pages, "bytes": str(256 * MIB)}, _stars(to.ns(110_000 * slower), 1)
        to.add("node/latency", f"load from memory, {pages} pages", knobs, lanes=lanes, counts=loads)


def _messages(to: _Recorder) -> None:
    """Messages of all sizes in one launch, and the small one that is in the table."""
    every = ",".join(map(str, MESSAGES))
    for size, label, listed in [*((size, "hot buffers", every) for size in MESSAGES), (8, "8 B, hot buffers", "8")]:
        to.add(
            "mpi/p2p", label, {"bytes": listed}, listed == "8", at={"bytes": str(size)}, ranks=2,
            pace="steps", batch=10, sync="clock", counts=there_and_back(size),
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
    to.add("node/noise", "fixed quantum of 100 µs", knobs, ranks=2, counts={"quanta": 1}, lanes=lanes)
    reason = "no 1 GiB pages are reserved; try `sysctl …`"
    failure = Failure("node/latency", to.launches[-1].key, {"pages": "1GiB"}, 1, reason, 3)
    return stored(to.launches, to.points, (failure,), folder, on or machine(), title)


def stored(
    launches: Sequence[Launch],
    points: Sequence[Point] = (),
    failures: Sequence[Failure] = (),
    folder: Path = Path("runs/20261121-214530-3f2a"),
    on: Machine | None = None,
    title: str = "run",
) -> StoredRun:
    """A run in which these launches were asked, in this order."""
    requests = {launch.request.key: launch.request for launch in launches}
    numbers = {key: number for number, key in enumerate(requests)}
    order = tuple((numbers[launch.request.key], launch.repeat) for launch in launches)
    who = title.partition(" ")[0]
    asked = RunRequest(
        who, title, "2026-11-21T21:45:30+00:00", on or machine(), {"OMP_PROC_BIND": "close"},
        tuple(requests.values()), order, benchmark=who if who in ("evaluate", "hpcc", "mpi") else "",
    )  # fmt: skip
    return StoredRun(**vars(asked), id=folder.name, folder=folder, points=tuple(points), failures=tuple(failures))


def retitled(run: StoredRun, title: str) -> StoredRun:
    """The run with another title for everything that was asked."""
    requests = tuple(replace(request, show=replace(request.show, title=title)) for request in run.requests)
    return replace(run, requests=requests)


def point_line(p: Point) -> str:
    """The line that `record.lines` reads back to this point."""
    samples = p.read()
    data = {
        "format": 2,
        "kind": "point",
        "workload": p.workload,
        "launch": p.launch,
        "knobs": dict(p.knobs),
        "shape": {"ranks": p.ranks, "threads": p.threads, "groups": [list(group) for group in p.groups]},
        "pace": p.pace,
        "warmup": p.warmup,
        "stopped_by": p.stopped_by,
        "work": [
            {"group": w.group, "role": w.role, "lanes": w.lanes, "batch": w.batch, "counts": dict(w.counts)}
            for w in p.work
        ],
        "series": list(map(_series_json, samples.series)),
        "results": [_without_nothing(r.__dict__) for r in p.results],
        "sync": {"method": p.sync, "exit_skew_ns": list(p.exit_skew_ns)},
        "share_cores": p.share_cores,
        "noise": {name: dict(look) for name, look in p.noise.items()},
        "notes": dict(p.notes),
        "spent": dict(p.spent_s),
        "files": list(map(kept_member, p.files)),
        "lost": [_without_nothing(t.__dict__) for t in p.taken],
        "given": [
            {**g.__dict__, "buffers": [{**b.__dict__, "pages_on_node": dict(b.pages_on_node)} for b in g.buffers]}
            for g in p.given
        ],
    }
    return seal(data)


def _without_nothing(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if value is not None}


def _series_json(series: Series) -> dict[str, Any]:
    head = {**series.head.__dict__, "clock_hz": list(series.head.clock_hz)}
    if series.head.name.startswith("reading/"):
        return {**head, "values": series.values.tolist()}
    gaps = {} if series.gap_ns is None else {"gap_ns": series.gap_ns.astype(int).tolist()}
    entries = {} if series.entries is None else {"entries": series.entries.astype(int).tolist()}
    return {**head, "ns": series.values.astype(int).tolist(), **gaps, **entries, "preempted": sorted(series.preempted)}


def launch_line(p: Point) -> str:
    """The line of the process that made this point."""
    clock = p.process.clock.__dict__
    process = {
        "mpi": p.process.mpi, "build": dict(p.process.build), "clock": dict(clock), "hosts": [],
        "started": p.process.started, "link": p.process.link,
    }  # fmt: skip
    return seal({"format": 2, "kind": "launch", "launch": p.launch, **process})


def write_run(run: StoredRun, store: Path) -> StoredRun:
    """Puts a run into a store as the command would have, and reads it back."""
    folder = store / "runs" / run.id
    folder.mkdir(parents=True)
    (folder / "asked.json").write_text(run_request_text(run), encoding="utf-8")
    processes = {point.launch: launch_line(point) for point in run.points}
    lines = [*processes.values(), *map(point_line, run.points), *map(failure_line, run.failures)]
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Store(store).read(run.id)
