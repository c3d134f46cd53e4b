"""Step programs under LogGP, by hand and against the static column of recorded simulations."""

import numpy as np
import pytest

from networks import network
from octant.failure import Refusal
from octant.network import make, solve
from octant.network.applications import offloaded_tree
from octant.network.solve import solve_program
from octant.network.traffic import place

# Alltoall of 8 KiB per pair on tori of 425 MB/s links, milliseconds: the fullest link of each step, without latencies.
# SMPI (SimGrid 3.32) gives 0.934 to 0.948, 2.585, 17.37 and 37.51 for them, with 13 to 17 % of step latencies in the
# last three.
STATIC = [
    ((4, 4, 4), "linear", 0.925, 0.934), ((4, 4, 4), "ring", 2.159, 2.585),
    ((8, 8, 4), "ring", 14.50, 17.37), ((8, 8, 8), "ring", 32.54, 37.51),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "algorithm", "static_ms", "smpi_ms"), STATIC)
def test_alltoall_on_a_torus_takes_what_its_fullest_links_take(
    sizes: tuple[int, ...], algorithm: str, static_ms: float, smpi_ms: float
) -> None:
    torus = network("torus", sizes=sizes, split_ties=False, rates={"link": 425e6, "endpoint": 1e12})
    ranks = int(np.prod(sizes))
    answer, steps = solve_program(torus, "alltoall", algorithm, 8192, place(torus, "block", ranks))
    assert answer.time_s * 1e3 == pytest.approx(static_ms, rel=5e-4)
    assert len(steps) == (1 if algorithm == "linear" else ranks - 1)
    assert static_ms < smpi_ms < static_ms * (1.03 if algorithm == "linear" else 1.2)


def test_a_message_costs_latency_overheads_gap_and_wire() -> None:
    pair = network("torus", sizes=(2,), wraps=False, rates={"link": 1e6, "endpoint": 1e9})
    pair = pair.model_copy(update={"links": {"link": pair.links["link"].model_copy(update={"latency": 3e-6})}})
    answer, steps = solve_program(pair, "broadcast", "binomial", 1001, place(pair, "block", 2), 5e-6, 1e-9)
    assert steps == pytest.approx([3e-6 + 2 * 5e-6 + 1000 * 1e-9 + 1001 / 1e6])
    assert answer.time_s == pytest.approx(sum(steps))
    assert answer.solver == "LogGP"


def test_loads_of_a_program_are_those_of_all_its_steps() -> None:
    ring = network("torus", sizes=(5,), split_ties=False)
    one, _ = solve_program(ring, "allgather", "ring", 1.0, place(ring, "block", 5))
    assert one.loads[ring.build().fabric :].sum() == 4 * 5
    assert one.time_s == pytest.approx(4 * 1e-6)


def test_barriers_cost_latency_only() -> None:
    machine = network("hyperx", sizes=(4,), nodes_per_router=2)
    answer, steps = solve_program(machine, "barrier", "dissemination", 0.0, place(machine, "block", 8), overhead_s=1e-6)
    assert steps == pytest.approx([2e-6] * 3)
    assert answer.bottleneck is None


def test_programs_refuse_ranks_that_they_cannot_have() -> None:
    machine = network("torus", sizes=(6,))
    with pytest.raises(Refusal, match="power of two"):
        solve_program(machine, "alltoall", "pairwise", 1.0, place(machine, "block", 6))
    with pytest.raises(Refusal, match="allreduce rabenseifner"):
        solve_program(machine, "alltoall", "magic", 1.0, place(machine, "block", 6))


def test_a_tree_in_hardware_costs_its_depth() -> None:
    assert offloaded_tree(1, 2, 1e-6) == 0
    assert offloaded_tree(64, 4, 1e-6, 0.5e-6) == pytest.approx(2 * 3e-6 + 2 * 0.5e-6)
    assert offloaded_tree(65, 4, 1e-6) == pytest.approx(2 * 4e-6)
    with pytest.raises(Refusal, match="radix"):
        offloaded_tree(4, 1, 1e-6)


def test_patterns_of_the_mpi_benchmarks_have_their_names() -> None:
    ring = network("torus", sizes=(6,))
    loads = {name: make(ring, name).flows for name in ("pingping", "sendrecv", "exchange")}
    assert [len(f) for f in loads.values() if f] == [2, 6, 12]
    assert solve(ring, make(ring, "exchange")).time_s == pytest.approx(2e-6)  # two messages leave every node
