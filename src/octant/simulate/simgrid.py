"""Comparison of the network model with SimGrid: the same traffic on the same platform."""

import json
import math
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import numpy as np
from msgspec import structs

from octant import units
from octant.build import smpi
from octant.failure import Exit, Refusal, suggestion
from octant.launch import smpirun
from octant.launch.execute import execute
from octant.network.files import NetworkFile
from octant.network.platform import platform, simgrid_xml
from octant.network.solve import solve
from octant.network.topologies import Torus
from octant.network.traffic import Flows, TrafficPattern, make

MAX_BYTES = 2**31
"""Maximum number of bytes; SimGrid copies all data between buffers of one process."""


@dataclass(frozen=True)
class SimulatorComparison:
    """Time until the last of simultaneously started flows has ended, from the model and from SimGrid."""

    network: str
    routing: str
    traffic: str
    hosts: int
    flows: int
    bytes_each: int  # payload of the largest flow
    solver: str
    model_s: float
    simgrid_s: float
    model_cpu_s: float  # building and solving, median of five
    simgrid_cpu_s: float
    simgrid: str  # its version
    note: str = ""

    @property
    def difference(self) -> float:
        """The model's time over SimGrid's, minus one."""
        return self.model_s / self.simgrid_s - 1

    @property
    def times_less_cpu(self) -> float:
        """SimGrid's CPU time over the model's."""
        return self.simgrid_cpu_s / self.model_cpu_s


def compare_with_simulator(
    other: str, network: NetworkFile, traffic: str, bytes_text: str, parameter: int = 1
) -> SimulatorComparison:
    """Compare the model with another simulator (only `simgrid`) for a traffic with flows of this size (`8KiB`).

    Raises:
        Refusal: the name or the size is invalid, or as `check`.
    """
    if other != "simgrid":
        raise Refusal(
            f"unknown simulator {other!r}; {suggestion(other, ['simgrid'])}",
            Exit.WRONG_WORD,
        )
    try:
        size = units.parse_bytes(bytes_text)
    except ValueError as error:
        raise Refusal(str(error), Exit.WRONG_WORD) from error
    return check(network, traffic, size, parameter)


def check(
    network: NetworkFile,
    traffic: str,
    bytes_each: int = 8192,
    parameter: int = 1,
    timeout_s: float = 600.0,
    tick: Callable[[float], None] = lambda _: None,
) -> SimulatorComparison:
    """Compute the traffic with the model (fluid max-min) and with SimGrid, without latencies, all flows at once.

    Raises:
        Refusal: SimGrid is not installed or does not support the case: several routes per pair, or too many hosts.
    """  # fmt: skip
    asked, note = with_one_route(network)
    pattern = as_flows(asked, traffic, bytes_each, parameter)
    model_s, model_cpu_s = model_times(asked, pattern)
    if not 0 < model_s < math.inf:
        raise Refusal(
            f"cannot compare {traffic} (no link of this network limits it); try another pattern", Exit.WRONG_WORD
        )
    theirs = simulate_flows(asked, pattern, timeout_s, tick)
    return SimulatorComparison(
        network.name, asked.routing.name, traffic, len(pattern.active), len(_flows(pattern)), bytes_each,
        "fluid", model_s, theirs.seconds, model_cpu_s, theirs.cpu_s, theirs.version, note,
    )  # fmt: skip


def with_one_route(network: NetworkFile) -> tuple[NetworkFile, str]:
    """Return the network with one route per pair, as in SimGrid, and a remark if the machine routes differently."""
    if not isinstance(network.topology, Torus) or (
        network.routing.name == "dimension-ordered" and not network.routing.split_ties
    ):
        return network, ""
    one = structs.replace(network.routing, name="dimension-ordered", split_ties=False)
    note = f"both use dimension-ordered routing instead of {network.routing.name}: SimGrid has one route per pair"
    return structs.replace(network, routing=one), note


def as_flows(network: NetworkFile, traffic: str, bytes_each: int, parameter: int = 1) -> TrafficPattern:
    """Return a named pattern as a list of flows of `bytes_each` payload bytes; uniform traffic has a flow per pair."""
    pattern = make(network, traffic, parameter)
    units = bytes_each / pattern.cost.payload_bytes
    if pattern.flows is not None:
        return replace(pattern, flows=replace(pattern.flows, units=pattern.flows.units * units))
    if len(pattern.active) > 256:
        raise Refusal(
            f"all pairs of {len(pattern.active)} nodes are too many flows for SimGrid; try --size 64", Exit.WRONG_WORD
        )
    sources, targets = (side.ravel() for side in np.meshgrid(pattern.active, pattern.active, indexing="ij"))
    others = sources != targets
    sent = np.full(int(others.sum()), units)
    return replace(pattern, flows=Flows(sources[others], targets[others], sent), per="flow")


def model_times(network: NetworkFile, pattern: TrafficPattern) -> tuple[float, float]:
    """Return the time of all flows in the model, and the CPU time of the computation, in seconds."""
    cpu_s = []
    for _ in range(5):
        begin = time.process_time()
        answer = solve(network, pattern, "fluid")
        cpu_s.append(time.process_time() - begin)
    return answer.time_s, statistics.median(cpu_s)


@dataclass(frozen=True)
class Simulated:
    """SimGrid's result."""

    seconds: float
    cpu_s: float
    version: str


def simulate_flows(
    network: NetworkFile, pattern: TrafficPattern, timeout_s: float, tick: Callable[[float], None]
) -> Simulated:
    """Run the flows under `smpirun`, one rank per node.

    Raises:
        Refusal: SimGrid is not installed or failed, a pair has several routes, or there is too much data.
    """
    exported = platform(network, pattern.active, latency=False, cost=pattern.cost)
    if exported.split:
        raise Refusal(
            f"cannot compare {network.name} with SimGrid (the traffic of {exported.split} pairs uses several routes, "
            "but SimGrid supports one per pair); try a network with one plane, link and route between two nodes",
            Exit.WRONG_WORD,
        )
    version = smpirun.version()
    flows = _flows(pattern)
    rank_of = {int(node): rank for rank, node in enumerate(pattern.active)}
    sizes = np.rint(flows.units * pattern.cost.payload_bytes).astype(np.int64)
    if 2 * sizes.sum() > MAX_BYTES:
        raise Refusal(
            f"{int(sizes.sum()):,} bytes are too many for SimGrid (it copies all data); try a smaller --bytes",
            Exit.WRONG_WORD,
        )
    rows = zip(flows.sources.tolist(), flows.targets.tolist(), sizes.tolist(), strict=True)
    with tempfile.TemporaryDirectory(prefix="octant-simgrid-") as name, resources.as_file(_driver()) as source:
        folder = Path(name)
        (folder / "platform.xml").write_text(simgrid_xml(exported), encoding="utf-8")
        (folder / "hosts").write_text("".join(f"{host}\n" for host in exported.hosts), encoding="utf-8")
        (folder / "traffic").write_text("".join(f"{rank_of[s]} {rank_of[t]} {size}\n" for s, t, size in rows))
        driver = [str(smpi.program("exchange", [source])), str(folder / "traffic"), str(folder / "answer")]
        words = smpirun.command(driver, len(pattern.active), folder / "platform.xml", folder / "hosts")
        before = _children_cpu_s()
        outcome = execute(words, {}, timeout_s, tick)
        if outcome.reason:
            raise Refusal(f"SimGrid failed ({outcome.reason}); try a smaller --size")
        result = json.loads((folder / "answer").read_text())
    if result["wrong_bytes"]:
        raise Refusal(f"SimGrid transferred {result['wrong_bytes']} bytes incorrectly", Exit.WRONG_ANSWER)
    return Simulated(result["seconds"], _children_cpu_s() - before, version)


def _driver() -> "resources.abc.Traversable":
    return resources.files("octant.simulate") / "exchange.cpp"


def _flows(pattern: TrafficPattern) -> Flows:
    if pattern.flows is None:
        raise Refusal(f"{pattern.name} is not a list of flows; try another pattern", Exit.WRONG_WORD)
    return pattern.flows


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
