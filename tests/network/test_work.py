"""Long computations: they refuse what would take too long, and Ctrl-C ends them."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from networks import network, uniform
from octant.failure import Refusal
from octant.network import NetworkFile, load, make, solve
from octant.network.solve import SolverSettings
from octant.network.traffic import Flows, TrafficPattern
from octant.network.whatif import bracket, diff, with_routing

WITH_TESTS = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}

LONG = """
import sys
sys.path.insert(0, "tests/support")
import numpy as np
from networks import network, uniform
from octant.network import make, solve
from octant.network.collectives import FREE, programs
from octant.network.whatif import bracket
from test_work import sizes_of_their_own
def torus(*sizes, routing="dimension-ordered"):
    return network("torus", routing, sizes=sizes)
some, many, spread = torus(8, 8, 8), torus(14, 14, 14), torus(16, 16, 8, routing="random-minimal")
print("begins", flush=True)
try:
    {question}
except KeyboardInterrupt:
    print("interrupted")
"""
QUESTIONS = {
    "enumeration": "solve(spread, uniform(spread), 'enumeration')",
    "packets": "solve(many, make(many, 'random', bytes_each=10_000), 'packets')",
    "max-min": "solve(many, uniform(many), 'max-min')",
    "fluid": "solve(many, sizes_of_their_own(many, 20_000), 'fluid')",
    "bracket": "bracket(some, uniform(some), 'random-minimal')",
    "alltoall": "programs(torus(32, 32, 16), 'alltoall', np.arange(16384, dtype=np.int32), FREE, 'linear')",
}


def sizes_of_their_own(machine: NetworkFile, count: int) -> TrafficPattern:
    """Flows between nodes at random, no two of one size: each ends alone."""
    nodes, draw = len(machine.topology.active()), np.random.default_rng(1)
    sources, targets = draw.integers(0, nodes, (2, count), dtype=np.int32)
    return replace(make(machine, "random"), flows=Flows(sources, targets, 1 + draw.random(count)))


def test_what_would_take_more_than_ten_minutes_is_refused_with_an_estimate() -> None:
    machine = network("torus", "valiant", sizes=(32, 32, 32))
    with pytest.raises(Refusal, match=r"would take about \d+ (min|h) of processor time, and the limit is 10 min"):
        solve(machine, uniform(machine), "enumeration")


def test_packets_over_long_routes_are_refused_with_an_estimate() -> None:
    """Two thousand senders of a ring, a thousand hops each: few packets, many events."""
    ring = network("torus", sizes=(2048,))
    flows = make(ring, "shift", 1024, bytes_each=40_000)
    with pytest.raises(Refusal, match=r"would take about \d+ (min|h) of processor time.*try smaller flows \(--bytes\)"):
        solve(ring, flows, "packets", SolverSettings(window=1, units_per_packet=1))


def test_packets_in_flight_hold_a_bounded_number_of_links() -> None:
    ring = network("torus", sizes=(2**15,))
    flows = make(ring, "shift", 2**14, bytes_each=1000)
    with pytest.raises(Refusal, match=r"their routes have more than 500000000 links.*try --window 1"):
        solve(ring, flows, "packets", SolverSettings(window=100, units_per_packet=1))


def test_a_bracket_of_too_many_flows_names_commands_that_answer() -> None:
    machine = load("power775")
    whole, small = machine.at_size(512), machine.at_size(4)
    with pytest.raises(
        Refusal, match=r"try a smaller --size, or compare both routings without a split: `octant model diff --routing`"
    ):
        bracket(whole, make(whole, "uniform"), "indirect")
    assert bracket(small, make(small, "uniform"), "indirect").ideal_per_s > 0
    indirect = with_routing("power775", "indirect", None)
    assert diff(machine, indirect, "uniform", [512])[0].ratio == pytest.approx(1)


@pytest.mark.parametrize(
    ("routing", "policy", "why"),
    [
        (
            "random-minmal",
            "stall",
            r"cannot route 'random-minmal' on a torus network .*; did you mean random-minimal\?",
        ),
        ("x", "stall", "; try one of dimension-ordered, random-minimal, valiant$"),
        ("valiant", "twin", "policy 'twin' to a torus network .*; try one of stall, detour, recompute$"),
    ],
)
def test_an_unsupported_routing_or_policy_is_refused_with_a_suggestion(routing: str, policy: str, why: str) -> None:
    torus = network("torus", routing, sizes=(3, 3))
    words = structs.replace(torus.routing, policy=policy)
    with pytest.raises(Refusal, match=why):
        solve(structs.replace(torus, routing=words), uniform(torus))


def test_fluid_with_a_completion_of_every_flow_is_refused_with_an_estimate() -> None:
    machine = network("torus", sizes=(14, 14, 14))
    with pytest.raises(Refusal, match=r"would take about \d+ (min|h) of processor time.*try fewer sizes of flows"):
        solve(machine, sizes_of_their_own(machine, 100_000), "fluid")


@pytest.mark.parametrize("question", QUESTIONS)
def test_ctrl_c_ends_a_long_computation(question: str) -> None:
    words = LONG.format(question=QUESTIONS[question])
    child = subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE, text=True, env=WITH_TESTS)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    time.sleep(1)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=20)[0] == "interrupted\n"
