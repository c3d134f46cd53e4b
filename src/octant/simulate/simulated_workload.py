"""The kernel of a workload on a simulated machine: compiled with SMPI, and run on the exported platform of a network.

The clock is that of SimGrid (SMPI returns simulated time from `clock_gettime`), and computation takes no time.
Therefore the figures are those of messages alone. They are not measurements and never enter the store.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant import workloads
from octant.analysis.figures import MeasuredCell, figures_of
from octant.build import program_name, smpi
from octant.failure import Exit, Refusal, worst
from octant.launch import smpirun
from octant.launch.execute import execute
from octant.machine.discover import discover
from octant.metric import Metric
from octant.network.files import NetworkFile
from octant.network.platform import Platform, platform, simgrid_xml
from octant.record import Failure, Point
from octant.record.lines import Reader
from octant.request import EFFORT
from octant.runs.command_line import find_workload
from octant.workload import NoTraffic, Traffic, Workload

MAX_RANKS = 128
_SAMPLES = "samples=5"
"""Number of samples; simulated time repeats exactly, so that more samples give no information."""
_SIGN = "SMPI"  # in the version text of the MPI library


@dataclass(frozen=True)
class SimulatedFigure:
    """One metric of one point, in base units, and whether the verification passed."""

    knobs: Mapping[str, str]
    metric: str
    unit: str
    value: float | None  # `None`: the verification failed
    alone: float | None  # from latency and bandwidth of the route between the first rank and the last
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
    tick: Callable[[str], None] = lambda _: None,
) -> OnModel:
    """Run a workload that exchanges messages, one rank per node, on the first nodes of the network.

    `tick` receives a progress message, a few times per second.

    Raises:
        Refusal: SimGrid is missing, the workload contains computation, there are too many ranks, or the run failed.
    """  # fmt: skip
    kernel = _messages_only(name)
    nodes = network.topology.active()
    count = ranks or min(len(nodes), 64)
    if not 2 <= count <= min(len(nodes), MAX_RANKS):
        most = min(len(nodes), MAX_RANKS)
        raise Refusal(
            f"cannot simulate {count} ranks on {network.name} (it supports 2 to {most}, one per node); "
            f"try --ranks {most}",
            Exit.WRONG_WORD,
        )
    tick(f"computing routes between {count} nodes of {network.name}")
    exported = platform(network, nodes[:count])
    records = _records(exported, kernel.name, knobs, timeout_s, tick)
    latency_s = exported.speed_alone(0, count - 1)[0]
    notes = ["simulated time includes no computation and no software overhead; SMPI adds 16 bytes to every message"]
    if not latency_s:
        notes.append(f"the file of {network.name} contains no link latency: times of small messages are meaningless")
    if exported.split:
        notes.append(
            "the simulation uses one route per pair of ranks, but the machine distributes messages over several"
        )
    shown = _shown_knobs(records, knobs)
    figures = tuple(figure for point in records for figure in _figures(kernel, point, shown, exported))
    return OnModel(kernel.name, network.name, count, smpirun.version(), figures, tuple(notes))


def _messages_only(name: str) -> Workload:
    kernel = find_workload(name)
    if not _exchanges_messages(kernel):
        offered = " or ".join(name for name, other in workloads.workloads().items() if _exchanges_messages(other))
        raise Refusal(
            f"cannot run {name} on a model (only messages are simulated, and it contains computation); try {offered}",
            Exit.WRONG_WORD,
        )
    return kernel


def _exchanges_messages(kernel: Workload) -> bool:
    return kernel.messages and kernel.traffic is not None and kernel.of_links


def _records(
    exported: Platform, name: str, knobs: Sequence[str], timeout_s: float, tick: Callable[[str], None]
) -> list[Point]:
    tick("compiling the kernel with SMPI (once)")
    sources, words = smpi.harness()
    folder = Path(next(iter(workloads.__path__))) / name
    named = f'-DOCTANT_WORKLOAD="{name}"'
    program = smpi.program(program_name(name), [*sorted(folder.glob("*.cpp")), *sources], [*words, named])
    ranks = len(exported.hosts)
    with tempfile.TemporaryDirectory(prefix="octant-simgrid-") as place:
        xml, hosts, output = (Path(place) / part for part in ("platform.xml", "hosts", "records.jsonl"))
        xml.write_text(simgrid_xml(exported), encoding="utf-8")
        hosts.write_text("".join(f"{host}\n" for host in exported.hosts), encoding="utf-8")
        effort = [] if any(word.partition("=")[0] in EFFORT for word in knobs) else [_SAMPLES]
        kernel = [str(program), "--output", str(output), "pin=none", *effort, *knobs]

        def observe(elapsed_s: float) -> None:
            done = output.read_bytes().count(b"\n") if output.exists() else 0
            tick(f"simulating {ranks} ranks: {done} records, {elapsed_s:.0f} s of at most {timeout_s:.0f} s")

        # Files that SimGrid leaves when it is killed are removed with this folder.
        outcome = execute(smpirun.command(kernel, ranks, xml, hosts), {"TMPDIR": place}, timeout_s, observe)
        lines = output.read_bytes().splitlines() if output.exists() else []
    reader = Reader()
    records = [reader.read(line) for line in lines]
    failed = [record for record in records if isinstance(record, Failure)]
    simulated = [record for record in records if isinstance(record, Point)]
    wrong = any(not point.passed for point in simulated)  # the exit status contains no further information
    if failed or not simulated or (outcome.reason and not wrong):
        why = failed[0].reason if failed else outcome.reason or "no record"
        code = worst(failure.exit for failure in failed) or Exit.CANNOT_RUN
        remedy = "; use a longer --timeout, or fewer ranks" if outcome.timed_out and not failed else ""
        raise Refusal(f"cannot run {name} under SimGrid ({why}){remedy}", code)
    library = next((point.process.mpi for point in simulated if _SIGN not in point.process.mpi), None)
    if library is not None:
        raise Refusal(f"{name} did not use SimGrid's MPI library, but {library!r}; check PATH and LD_LIBRARY_PATH")
    return simulated


def _shown_knobs(points: Sequence[Point], asked: Sequence[str]) -> list[str]:
    """Return the knobs that were requested or differ between points."""
    names = {word.partition("=")[0] for word in asked}
    names |= {name for name in points[0].knobs if len({point.knobs.get(name) for point in points}) > 1}
    return [name for name in points[0].knobs if name in names - EFFORT]


def _figures(kernel: Workload, point: Point, shown: Sequence[str], exported: Platform) -> list[SimulatedFigure]:
    """Return the plotted metrics of a point, with the value that its route alone would allow."""
    step_s = _step_alone(kernel, point, exported)
    counts = {name: point.count(name) for work in point.work for name in work.counts}
    return [
        SimulatedFigure(
            {name: point.knobs[name] for name in shown},
            figure.metric.name,
            figure.metric.unit,
            None if figure.value is None else figure.value.middle,
            None if step_s is None else figure.metric.at(step_s, counts, 1) or None,
            point.passed,
        )
        for figure in figures_of(MeasuredCell(kernel, [point], _drawn(kernel))).values()
        if not figure.missing  # another kernel of the program measures it
    ]


def _drawn(kernel: Workload) -> list[Metric]:
    """Return the headline metric and the other metrics in the pictures of the workload."""
    names = [getattr(picture, of, "") for picture in kernel.pictures for of in ("y", "rate")]
    return list(dict.fromkeys([kernel.metric(), *(kernel.metric(name) for name in names if name)]))


def _step_alone(kernel: Workload, point: Point, exported: Platform) -> float | None:
    """Return the time of a step if each message were alone on its route; `None`: several messages are simultaneous."""
    traffic = kernel.traffic(discover(), point) if kernel.traffic else NoTraffic("")
    headline = kernel.metric()
    counts = {name: point.count(name) for work in point.work for name in work.counts}
    of_a_second = headline.at(1.0, counts, 1)
    if not isinstance(traffic, Traffic) or not traffic.of_link or traffic.pattern != "first-to-last":
        return None
    if headline.unit != "s" or not of_a_second:
        return None
    latency_s, bytes_per_s = exported.speed_alone(0, len(exported.hosts) - 1)
    return (latency_s + traffic.units / bytes_per_s) / of_a_second
