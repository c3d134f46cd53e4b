"""SimGrid's second opinion: recorded where it is absent, asked where it is there."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from networks import network
from octant import workloads
from octant.build import smpi
from octant.failure import Exit, Refusal
from octant.launch import smpirun
from octant.metric import Metric, per
from octant.network import NetworkFile, load
from octant.network.platform import platform
from octant.network.traffic import pairs
from octant.simulate import simulated_workload
from octant.simulate.simgrid import as_flows, check, compare_with_simulator, model_times, simulate_flows, with_one_route
from octant.workload import Traffic, Workload
from paths import DATA, ROOT

EXAMPLES = ROOT / "examples" / "networks"
RECORDED: dict[str, Any] = json.loads((DATA / "simgrid.json").read_text(encoding="utf-8"))
ENVELOPE = 16
"""SMPI adds so many bytes to every message, for its tag, communicator and length."""
CLOCK_S = 10e-9
"""What SMPI charges for reading the clock."""

needs_simgrid = pytest.mark.skipif(
    shutil.which("smpirun") is None or shutil.which("smpicxx") is None,
    reason="SimGrid is not installed here; try `make simgrid`",
)


def example(name: str) -> NetworkFile:
    return load(str(EXAMPLES / f"{name}.toml"))


@pytest.mark.parametrize("row", RECORDED["checks"], ids=lambda row: f"{row['network']}-{row['traffic']}")
def test_the_model_agrees_with_what_simgrid_said(row: dict[str, Any]) -> None:
    asked = example(row["network"])
    model_s, _ = model_times(asked, as_flows(asked, row["traffic"], row["bytes_each"]))
    assert model_s == pytest.approx(row["simgrid_s"], rel=0.03)
    envelopes = model_s * (1 + ENVELOPE / row["bytes_each"])
    # What remains is a constant: the ranks leave the barrier before the exchange one after the other.
    assert 0 <= row["simgrid_s"] - envelopes < 3e-6


def test_the_recorded_simgrid_cost_more_than_a_hundred_times_as_much() -> None:
    uniform = [row for row in RECORDED["checks"] if row["traffic"] == "uniform"]
    assert {row["network"] for row in uniform} == {"torus-4x4x4", "fat-tree-64"}
    assert all(row["simgrid_cpu_s"] > 100 * row["model_cpu_s"] for row in uniform)


@pytest.mark.parametrize("run", RECORDED["pingpong"], ids=lambda run: f"{run['ranks']} ranks")
def test_a_recorded_kernel_saw_its_route(run: dict[str, Any]) -> None:
    bgp = load("bgp")
    exported = platform(bgp, bgp.topology.active()[: run["ranks"]])
    latency_s, bytes_per_s = exported.speed_alone(0, run["ranks"] - 1)
    times = [figure for figure in run["figures"] if figure["metric"] == "time"]
    sizes = {"0": 0, "1KiB": 2**10, "64KiB": 2**16, "1MiB": 2**20}
    assert [figure["knobs"]["bytes"] for figure in times] == list(sizes)
    for figure in times:
        alone = latency_s + (sizes[figure["knobs"]["bytes"]] + ENVELOPE) / bytes_per_s
        assert figure["passed"]
        assert 0 <= figure["value"] - alone <= CLOCK_S


@needs_simgrid
@pytest.mark.simgrid
@pytest.mark.parametrize("traffic", ["uniform", "random", "incast"])
@pytest.mark.parametrize("name", ["torus-4x4x4", "fat-tree-64"])
def test_simgrid_says_the_same_again(name: str, traffic: str) -> None:
    row = next(r for r in RECORDED["checks"] if (r["network"], r["traffic"]) == (name, traffic))
    found = check(example(name), traffic, row["bytes_each"])
    assert abs(found.difference) < 0.03
    assert found.flows == row["flows"]
    if found.simgrid == RECORDED["simgrid"]:
        assert found.simgrid_s == pytest.approx(row["simgrid_s"], rel=1e-6)


@needs_simgrid
@pytest.mark.simgrid
@pytest.mark.parametrize("name", ["torus-4x4x4", "fat-tree-64"])
def test_flows_of_unlike_sizes_speed_up_when_others_end(name: str) -> None:
    asked = example(name)
    draw = np.random.default_rng(7)
    rows = [(int(s), int(t), float(draw.integers(2**16, 2**22))) for s, t in draw.integers(0, 64, (150, 2)) if s != t]
    pattern = pairs(asked, rows)
    theirs = simulate_flows(asked, pattern, 100, lambda _: None)
    assert model_times(asked, pattern)[0] == pytest.approx(theirs.seconds, rel=0.005)


@needs_simgrid
@pytest.mark.simgrid
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_kernel_runs_on_a_simulated_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache with spaces ä"))
    found = simulated_workload.run(load("bgp"), "p2p", ["bytes=0,64KiB", "samples=50"], 8)
    times = [figure for figure in found.figures if figure.metric == "time"]
    assert all(figure.passed for figure in found.figures)
    assert [figure.metric for figure in found.figures] == ["time", "bandwidth"] * 2
    assert times[1].alone == pytest.approx(times[1].value, rel=1e-3)
    again = simulated_workload.run(load("bgp"), "p2p", ["bytes=0,64KiB", "samples=50"], 8)
    repeated = [figure.value for figure in again.figures]
    assert repeated == pytest.approx([figure.value for figure in found.figures], rel=1e-4)  # simulated time repeats
    assert len(list(smpi.cache().iterdir())) == 1  # compiled once


@needs_simgrid
@pytest.mark.simgrid
def test_too_much_data_is_not_copied() -> None:
    with pytest.raises(Refusal, match="smaller --bytes"):
        check(example("torus-4x4x4"), "uniform", 2**20)


def test_without_simgrid_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    smpirun.version.cache_clear()
    with pytest.raises(Refusal, match="make simgrid") as refused:
        check(example("fat-tree-64"), "random", 1024)
    assert refused.value.code == Exit.NOT_SUPPORTED
    with pytest.raises(Refusal, match="make simgrid"):
        smpi.compiler()


def test_several_routes_a_pair_cannot_be_compared() -> None:
    with pytest.raises(Refusal, match="several routes"):
        check(load("power575-ib"), "random", 1024)


def test_a_torus_is_compared_on_one_route_a_pair_and_says_so() -> None:
    asked, note = with_one_route(load("bgp"))
    assert asked.routing.name == "dimension-ordered"
    assert not asked.routing.split_ties
    assert "random-minimal" in note
    assert with_one_route(example("torus-4x4x4")) == (example("torus-4x4x4"), "")


def test_uniform_traffic_goes_to_everybody_else() -> None:
    net = network("torus", sizes=[3, 3], split_ties=False)
    flows = as_flows(net, "uniform", 1000).flows
    assert flows is not None
    assert len(flows) == 9 * 8
    assert (flows.sources != flows.targets).all()
    assert (flows.units == 1000).all()


def test_updates_are_sent_as_their_payload() -> None:
    net = load("power775").at_size(1)
    pattern = as_flows(net, "randomaccess", 8000)
    assert pattern.flows is not None
    assert (pattern.flows.units == 1000).all()


@pytest.mark.parametrize(
    ("other", "size", "words"), [("ns3", "8KiB", "try one of simgrid"), ("simgrid", "8 dozen", "64KiB")]
)
def test_a_question_without_an_answer_is_refused(other: str, size: str, words: str) -> None:
    with pytest.raises(Refusal, match=words) as refused:
        compare_with_simulator(other, example("fat-tree-64"), "random", size)
    assert refused.value.code == Exit.WRONG_WORD


def test_only_messages_run_on_a_model() -> None:
    with pytest.raises(Refusal, match="only messages are simulated"):
        simulated_workload.run(load("bgp"), "stream", [])
    with pytest.raises(Refusal, match="did you mean p2p"):
        simulated_workload.run(load("bgp"), "p2pp", [])
    with pytest.raises(Refusal, match="--ranks 64"):
        simulated_workload.run(load("bgp"), "p2p", [], 65)


@pytest.mark.parametrize(("messages", "why"), [(True, "--ranks 64"), (False, "only messages are simulated")])
def test_what_exchanges_messages_and_declares_its_traffic_runs_on_a_model(
    messages: bool, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = Metric("time", "s", "lower", per("messages"))
    ring = Workload(
        "Ring", (metric,), {}, "mpi/ring", traffic=lambda _m, _p: Traffic("ordered-ring", 8.0), messages=messages
    )
    monkeypatch.setattr(workloads, "workloads", lambda: {"mpi/ring": ring})
    with pytest.raises(Refusal, match=why):
        simulated_workload.run(load("bgp"), "ring", [], 65)


def test_the_launcher_switches_simgrids_factors_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smpirun, "find", lambda: Path("/usr/bin/smpirun"))
    words = smpirun.command(["./exchange"], 64, Path("p.xml"), Path("hosts"))
    assert words[:7] == ["/usr/bin/smpirun", "-np", "64", "-platform", "p.xml", "-hostfile", "hosts"]
    assert "--cfg=network/model:CM02" in words
    assert "--cfg=smpi/simulate-computation:no" in words
    assert words[-1] == "./exchange"
