"""A workload's own kernel on a simulated machine: recompiled with SMPI, run on the network's exported platform.

Its clock is SimGrid's (SMPI answers `clock_gettime` with simulated time) and computing takes no time, so the figures
are those of messages alone. They are no measurements and never enter the store.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant import workloads
from octant.analysis.figures import figure
from octant.build import program_name, smpi
from octant.failure import Exit, Refusal
from octant.launch import smpirun
from octant.launch.execute import execute
from octant.machine.discover import discover
from octant.network.files import NetworkFile
from octant.network.platform import Platform, platform, simgrid_xml
from octant.record import Failure, Point, parse
from octant.workload import Workload

MOST_RANKS = 128
_SIGN = "SMPI"  # in the MPI library's own description


@dataclass(frozen=True)
class SimulatedFigure:
    """One metric of one point, in base units, and whether the kernel's check held."""

    knobs: Mapping[str, str]
    metric: str
    unit: str
    value: float
    alone: float | None  # the same from latency and bandwidth of the route between the first rank and the last
    passed: bool


@dataclass(frozen=True)
class OnModel:
    """A workload on a simulated machine."""

    workload: str
    network: str
    ranks: int
    simgrid: str
    figures: tuple[SimulatedFigure, ...]
    notes: tuple[str, ...]


def run(
    network: NetworkFile,
    name: str,
    knobs: Sequence[str],
    ranks: int | None = None,
    timeout_s: float = 600.0,
    tick: Callable[[float], None] = lambda _: None,
) -> OnModel:
    """Runs a workload that exchanges messages, one rank a node, on the first nodes of the network.

    Raises:
        Refusal: SimGrid is missing, the workload computes, too many ranks, or the run failed.
    """  # fmt: skip
    kernel = _messages_only(name)
    nodes = network.topology.active()
    count = ranks or min(len(nodes), 64)
    if not 2 <= count <= min(len(nodes), MOST_RANKS):
        most = min(len(nodes), MOST_RANKS)
        raise Refusal(
            f"cannot simulate {count} ranks on {network.name} (2 to {most} here, one a node); try --ranks {most}"
        )
    exported = platform(network, nodes[:count])
    records = _records(exported, kernel.name, knobs, timeout_s, tick)
    latency_s = exported.speed_alone(0, count - 1)[0]
    notes = ["simulated time: computing and software take none, and SMPI adds 16 bytes to every message"]
    if not latency_s:
        notes.append(f"{network.name}'s file gives its links no latency: times of small messages say nothing")
    if exported.split:
        notes.append("each pair of ranks has one route here, where the machine spreads its messages over several")
    found = tuple(_figure(kernel, metric.name, point, exported) for point in records for metric in kernel.metrics)
    return OnModel(kernel.name, network.name, count, smpirun.version(), found, tuple(notes))


def _messages_only(name: str) -> Workload:
    try:
        kernel = workloads.workload(name)
    except LookupError as error:
        raise Refusal(str(error.args[0]), Exit.WRONG_ANSWER) from error
    if any(ask.mode != "all" for ask in kernel.evaluate(discover(), True)):
        raise Refusal(
            f"cannot run {name} on a model (it measures what a computer does by itself; only messages are simulated); "
            "try pingpong"
        )
    return kernel


def _records(
    exported: Platform, name: str, knobs: Sequence[str], timeout_s: float, tick: Callable[[float], None]
) -> list[Point]:
    sources, words = smpi.harness()
    folder = Path(next(iter(workloads.__path__))) / name
    named = f'-DOCTANT_WORKLOAD="{name}"'
    program = smpi.program(program_name(name), [*sorted(folder.glob("*.cpp")), *sources], [*words, named])
    ranks = len(exported.hosts)
    with tempfile.TemporaryDirectory(prefix="octant-simgrid-") as place:
        xml, hosts, output = (Path(place) / part for part in ("platform.xml", "hosts", "records.jsonl"))
        xml.write_text(simgrid_xml(exported), encoding="utf-8")
        hosts.write_text("".join(f"{host}\n" for host in exported.hosts), encoding="utf-8")
        kernel = [str(program), "--output", str(output), "pin=none", *knobs]
        outcome = execute(smpirun.command(kernel, ranks, xml, hosts), {}, timeout_s, tick)
        lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    points = [parse(line) for line in lines]
    failed = [point.reason for point in points if isinstance(point, Failure)]
    if outcome.reason or failed or not points:
        raise Refusal(f"cannot run {name} under SimGrid ({(failed or [outcome.reason or 'no record'])[0]})")
    simulated = [point for point in points if isinstance(point, Point)]
    if any(_SIGN not in point.mpi for point in simulated):
        raise Refusal(f"cannot trust this run of {name} (its MPI is {simulated[0].mpi!r}, not SimGrid's)")
    return simulated


def _figure(kernel: Workload, metric: str, point: Point, exported: Platform) -> SimulatedFigure:
    found = figure(kernel, point, metric=metric)
    latency_s, bytes_per_s = exported.speed_alone(0, len(exported.hosts) - 1)
    alone_s = point.work.messages * latency_s + point.work.message_bytes / bytes_per_s
    count = found.metric.count(point)
    alone = (count / alone_s if found.metric.kind == "rate" else alone_s / count) if alone_s > 0 and count else None
    return SimulatedFigure(
        {name: point.knobs[name] for name in (kernel.axis,) if name}, metric, found.metric.unit, found.value.middle,
        alone if kernel.name == "mpi/pingpong" else None, point.verdict.passed,
    )  # fmt: skip
