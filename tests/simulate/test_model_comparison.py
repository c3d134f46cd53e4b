"""The model compared with measurements: its values for runs whose messages follow a known line."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from fake_run import fake_run, lane, point, there_and_back
from octant.analysis.figures import Figure
from octant.analysis.summary import Summary, summarise
from octant.network import load
from octant.record import Point, RankResources
from octant.report.charts.pictures import pictures
from octant.simulate.model_comparison import with_model
from octant.store import StoredRun

LENGTHS = (0, 8, 1024, 65536, 2**20)
START_NS, BYTES_PER_NS = 1000, 10


def taken_ns(length: int) -> int:
    return START_NS + length // BYTES_PER_NS


def of(workload: str, length: int, ns: int, ranks: int = 2, hosts: str = "aaaaaaaa", **more: Any) -> Point:
    given = tuple(RankResources(host, (rank,), ((rank,),)) for rank, host in zip(range(ranks), hosts, strict=False))
    name = "-".join([workload, str(length), *map(str, more.get("knobs", {}).values()), str(ranks)])
    knobs = {"bytes": str(length), "buffers": "hot", **more.pop("knobs", {})}
    lanes = tuple(lane([ns] * 8, rank=rank) for rank in range(ranks))
    clean: dict[str, Any] = {
        "workload": workload, "launch": f"{name}-0", "knobs": knobs, "ranks": ranks, "given": given, "lanes": lanes
    }  # fmt: skip
    return point("steps", **(clean | more))


def message(length: int, hosts: str = "aa") -> Point:
    return of("mpi/p2p", length, 2 * taken_ns(length), hosts=hosts, counts=there_and_back(length))


def exchange(length: int, ns: int = 5000) -> Point:
    counts = {"messages": 4, "bytes_sent": 4 * length, "turns": 1, "bytes_passed": 4 * length}
    return of("mpi/p2p", length, ns, counts=counts, knobs={"pattern": "exchange"})


def call(length: int, ranks: int = 2, ns: int = 9000, **knobs: str) -> Point:
    return of("mpi/collective", length, ns, ranks, counts={"bytes_sent": length}, knobs={"pattern": "bcast", **knobs})


def duplex(length: int, ratio: float) -> Point:
    times = {"step": 1000 * (1 + ratio), "phase/one_way": 1000, "phase/both_ways": 1000 * ratio}
    lanes = tuple(lane([round(ns)] * 8, rank=rank, name=name) for name, ns in times.items() for rank in (0, 1))
    counts = {"messages": 3, "bytes_sent": 3 * length, "turns": 2, "bytes_passed": length}
    return of("mpi/p2p", length, 0, counts=counts, knobs={"pattern": "duplex", "window": "1"}, lanes=lanes)


def run(*points: Point) -> StoredRun:
    return dataclasses.replace(fake_run(), points=points)


def modelled(*points: Point, network: str = "") -> Summary:
    summary = summarise(run(*points), all_metrics=True)
    return with_model(summary, load(network) if network else None)


def says(summary: Summary, **knobs: str) -> float | None:
    figure = of_knobs(summary, **knobs)
    assert summary.modelled is not None
    return summary.modelled.headline(figure)


def of_knobs(summary: Summary, **knobs: str) -> Figure:
    return next(one for one in summary.figures if all(one.knobs.get(name) == value for name, value in knobs.items()))


MESSAGES = tuple(map(message, LENGTHS))


@pytest.mark.parametrize("length", LENGTHS)
def test_a_message_takes_what_it_took(length: int) -> None:
    found = says(modelled(*MESSAGES), bytes=str(length))
    assert found == pytest.approx(taken_ns(length) * 1e-9, rel=0.02)


@pytest.mark.parametrize(("ranks", "steps"), [(2, 1), (4, 2), (8, 3)])
def test_a_broadcast_is_a_tree_of_messages_at_most(ranks: int, steps: int) -> None:
    summary = modelled(*MESSAGES, call(1024, ranks))
    assert says(summary, pattern="bcast") == pytest.approx(steps * taken_ns(1024) * 1e-9, rel=0.02)


def test_an_algorithm_of_our_own_is_priced_as_itself() -> None:
    summary = modelled(
        *MESSAGES, call(2**20, 4), call(2**20, 4, algorithm="chain"), call(2**20, 4, algorithm="binomial")
    )
    fastest, chain, binomial = (
        summary.modelled.headline(one)
        for one in summary.figures
        if one.knobs.get("pattern") == "bcast" and summary.modelled
    )
    assert chain is not None
    assert binomial is not None
    assert fastest is not None
    assert fastest <= min(chain, binomial)
    assert chain != binomial


def test_two_messages_more_cost_half_a_start_up_each() -> None:
    summary = modelled(*MESSAGES, exchange(0))
    assert says(summary, pattern="exchange") == pytest.approx(2 * START_NS * 1e-9, rel=0.02)


def test_both_directions_take_what_duplex_measured() -> None:
    """Four messages of 1 MiB between two ranks: each direction of their pair carries two of them."""
    wire_s = 2 * 2**20 / BYTES_PER_NS * 1e-9
    for ratio in (1.0, 1.5, 2.0):
        summary = modelled(*MESSAGES, exchange(2**20), duplex(2**20, ratio))
        found = says(summary, pattern="exchange")
        assert found == pytest.approx(2 * START_NS * 1e-9 + ratio * wire_s, rel=0.03)
        assert summary.modelled is not None
        assert f"{ratio:.2f} times" in summary.modelled.text


def test_nothing_is_said_without_messages_of_shared_cores_or_where_the_model_has_no_answer() -> None:
    assert modelled(call(8)).modelled is None
    summary = modelled(
        *MESSAGES, call(8, pattern="neighbour-alltoall"), dataclasses.replace(call(16), share_cores=True)
    )
    assert says(summary, pattern="neighbour-alltoall") is None
    assert says(summary, bytes="16") is None


def test_a_network_file_has_the_nodes_and_the_run_its_messages() -> None:
    between = tuple(message(length, hosts="ab") for length in LENGTHS)
    call_s = taken_ns(8) * 1e-9
    apart = of("mpi/collective", 8, 9000, 4, hosts="abcd", counts={"bytes_sent": 8}, knobs={"pattern": "bcast"})
    summary = modelled(*between, apart, network="bgp")
    assert says(summary, pattern="bcast") == pytest.approx(2 * call_s, rel=0.05)
    assert summary.modelled is not None
    assert summary.modelled.text.startswith("bgp")


def test_pictures_have_the_model_s_line_and_say_what_it_is() -> None:
    measured = [call(length, ns=3 * taken_ns(length)) for length in LENGTHS]
    found = {one.id: one for one in pictures(summarise(run(*MESSAGES, *measured), all_metrics=True))}
    curve = found["mpi-collective-curve"]
    (line,) = (one for one in curve.panels[0].series if one.name == "model")
    assert line.kind == "line"  # in the colour of its curve, which has marks and may have any dash
    assert np.allclose(line.y, [taken_ns(length) * 1e-9 for length in LENGTHS if length], rtol=0.02)
    assert "Lines without marks: the network model" in curve.caption
    assert "3 times the value of the model" in dict(curve.facts).popitem()[1]
    alone = pictures(summarise(run(*measured), all_metrics=True))
    assert not any(one.name == "model" for picture in alone for panel in picture.panels for one in panel.series)


def test_what_the_model_is_made_of_has_no_line_of_it() -> None:
    (picture,) = (one for one in pictures(summarise(run(*MESSAGES), all_metrics=True)) if "messages" in one.id)
    assert not any(one.name == "model" for one in picture.panels[0].series)


def test_what_is_not_measurable_makes_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = summarise(run(*MESSAGES, call(8)), all_metrics=True)
    assert with_model(summary).modelled is not None
    monkeypatch.setattr(Figure, "invalid", property(lambda _: True))
    assert with_model(summary).modelled is None


def test_process_counts_are_one_line_of_each_call_with_the_model() -> None:
    calls = [call(1024, ranks, ns=1000 * ranks) for ranks in (8, 2, 4)]
    found = pictures(summarise(run(*MESSAGES, *calls, call(8, 2), call(8, 4)), all_metrics=True))
    picture = next(one for one in found if "processes" in one.title and "against" in one.title)
    curves = [one for one in picture.panels[0].series if one.kind == "curve"]
    assert [one.x for one in curves] == [(2.0, 4.0, 8.0)]  # of 8 bytes there are two counts only
    (line,) = (one for one in picture.panels[0].series if one.name == "model")
    assert np.allclose(line.y, [steps * taken_ns(1024) * 1e-9 for steps in (1, 2, 3)], rtol=0.02)
    alone = pictures(summarise(run(call(8), call(1024)), all_metrics=True))
    assert not any("processes" in one.title and "against" in one.title for one in alone)
