"""What a workload declares of its step is known before anything starts: what does not fit into memory is refused."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from fake_kernel import request
from fake_run import machine
from octant import workloads
from octant.failure import Exit, Refusal
from octant.machine import Machine
from octant.request import Request, Shape
from octant.runs import cell_costs
from octant.runs.cell_costs import check_memory, explain_no_fit
from octant.step import Declared, Step

GIB = 2**30
DEFAULTS = {"groups": "all", "threads": "1", "n": "1", "bytes": "8", "pages": "default", "memory": "default"}


def step(knobs: Mapping[str, str], ranks: int, threads: int) -> Step:
    """`n` GiB in each thread."""
    return Step({"flops": 10.0}, int(knobs["n"]) * GIB * ranks * threads)


@pytest.fixture(autouse=True)
def _declares(monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(workloads.workload("node/stream"), step=step)
    monkeypatch.setattr("octant.workloads.workloads", lambda: {"node/stream": one})
    monkeypatch.setattr(cell_costs, "default_knobs", lambda _name: DEFAULTS)
    monkeypatch.setattr(cell_costs, "pace", lambda _name, _knobs: "steps")
    for name in ("SLURM_JOB_ID", "FLUX_URI", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE"):
        monkeypatch.delenv(name, raising=False)


def having(available: int) -> Machine:
    return replace(machine(nodes=2), system={"available_memory_bytes": str(available)})


@pytest.mark.parametrize(
    ("question", "held"),
    [
        (request(), 1),
        (request(n="3", threads="2"), 6),
        (request(ranks=5), 5),
        (request(ranks=5, groups="2"), 4),
        (request(ranks=5, groups="first:3"), 3),
        (request(ranks=5, groups="0+1/2+4"), 4),
        (request(ranks=6, groups="shift:P/2"), 2),
    ],
)
def test_all_groups_hold_what_the_step_of_each_declares(question: Request, held: int) -> None:
    (cell,) = question.cells()
    found = cell_costs.declared_cost(question, cell)
    assert found is not None
    assert found.bytes_held == held * GIB


@pytest.mark.parametrize(
    "question", [request(workload="node/absent"), request(n="many"), request(groups="0+x", ranks=2, n="x")]
)
def test_of_what_is_not_declared_nothing_is_known(question: Request) -> None:
    (cell,) = question.cells()
    assert cell_costs.declared_cost(question, cell) is None
    check_memory(question, having(1))


def misspelling(knobs: Mapping[str, str], _ranks: int, _threads: int) -> Step:
    return Step({}, int(knobs["byts"]))


def nothing(_knobs: Mapping[str, str], _ranks: int, _threads: int) -> Step:
    return None  # type: ignore[return-value]


@pytest.mark.parametrize("wrong", [misspelling, nothing])
def test_a_mistake_of_a_step_is_said_once_and_a_value_that_it_does_not_know_never(
    monkeypatch: pytest.MonkeyPatch, wrong: Declared
) -> None:
    one = replace(workloads.workload("node/stream"), step=wrong)
    monkeypatch.setattr("octant.workloads.workloads", lambda: {"node/stream": one})
    assert cell_costs.declared_cost(request(n="3"), {"n": "3"}) is None
    said = cell_costs.list_step_errors([request(n="3"), request(n="4,5")])
    assert len(said) == 1
    assert said[0].startswith(
        "node/stream: memory check and time estimate are not available (its step.py is unusable: "
    )
    assert f"{__file__}, line" in said[0]
    monkeypatch.setattr("octant.workloads.workloads", lambda: {"node/stream": replace(one, step=step)})
    assert cell_costs.declared_cost(request(n="many"), {"n": "many"}) is None
    assert cell_costs.list_step_errors([request(n="many"), request(n="3")]) == ()


def test_what_does_not_fit_is_refused_with_the_bytes_and_a_remedy() -> None:
    check_memory(request(ranks=2, n="2"), having(4 * GIB))
    with pytest.raises(Refusal) as refused:
        check_memory(request(ranks=2, n="1,2,3,4"), having(4 * GIB))
    assert str(refused.value) == (
        "cannot run node/stream with n=3 (2 ranks would need 6,442,450,944 B (6 GiB), "
        "and 4,294,967,296 B (4 GiB) are available); "
        "try a smaller n or fewer ranks"
    )
    assert refused.value.code == Exit.NOT_SUPPORTED
    assert explain_no_fit(request(ranks=2, n="1,2,3,4"), having(4 * GIB)) == ""
    assert "would need 6,442,450,944 B (6 GiB), " in explain_no_fit(request(ranks=2, n="3,4"), having(4 * GIB))


def test_hosts_have_their_memory_each_and_a_bound_node_its_own() -> None:
    shape = Shape(4, hosts=("a", "b"))
    check_memory(replace(request(n="2"), shape=shape), having(4 * GIB))
    with pytest.raises(Refusal, match=r"8,589,934,588 B \(8 GiB\) are available"):
        check_memory(replace(request(n="2"), shape=shape), having(4 * GIB - 2))
    check_memory(request(n="17"), having(30 * GIB))
    with pytest.raises(Refusal, match=r" B \(16 GiB\) are available"):
        check_memory(request(n="17", memory="bind:1"), having(30 * GIB))
    check_memory(request(n="17", memory="bind:0+1"), having(30 * GIB))
    whole = machine(nodes=2).memory_bytes
    with pytest.raises(Refusal, match=f"and {whole:,} B "):
        check_memory(request(n="100"), machine(nodes=2))


@pytest.mark.parametrize("name", ["SLURM_JOB_ID", "FLUX_URI", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE"])
def test_of_the_nodes_of_an_allocation_and_of_pools_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    check_memory(request(n="9", pages="2MiB"), having(GIB))
    monkeypatch.setenv(name, "1")
    check_memory(request(ranks=2, n="9"), having(GIB))
    check_memory(replace(request(n="9"), shape=Shape(2, launcher="srun")), having(GIB))
