"""Plans: a pure function of the question and the machine."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import machine
from octant import units, workloads
from octant.failure import Refusal
from octant.launch import Launch
from octant.runs import plan

NAMES = st.sampled_from(["bytes", "kernel", "pages", "width"])
VALUES = st.lists(st.integers(1, 99), min_size=1, max_size=4, unique=True).map(lambda xs: ",".join(map(str, xs)))
KNOBS = st.dictionaries(NAMES, VALUES, max_size=3)


@given(KNOBS)
def test_the_points_of_a_launch_are_the_whole_product_once(knobs: dict[str, str]) -> None:
    points = Launch("w", knobs).points()
    assert len(points) == math.prod(len(value.split(",")) for value in knobs.values())
    assert len({tuple(sorted(point.items())) for point in points}) == len(points)


@given(KNOBS, st.data())
def test_what_is_left_and_what_is_done_make_the_whole(knobs: dict[str, str], data: st.DataObject) -> None:
    launch = Launch("w", knobs)
    done = data.draw(st.lists(st.sampled_from(launch.points()), unique_by=lambda p: tuple(sorted(p.items()))))
    left = launch.without([{**point, "more": "knobs of the harness"} for point in done])
    missing = [point for point in launch.points() if point not in done]
    assert [point for rest in left for point in rest.points()] == missing, "exactly these, in their order"
    assert {rest.key for rest in left} <= {launch.key}, "what comes of the rest belongs to the same launch"
    if sum("," in value for value in knobs.values()) == 1:
        assert len(left) <= 1, "a single list is cut to what is missing"


def test_keys_tell_questions_apart_and_repeats_together() -> None:
    one, again = Launch("w", {"a": "1"}), Launch("w", {"a": "1"}, repeat=1)
    assert one.question == again.question
    assert one.key != again.key
    assert Launch("w", {"a": "1"}).key == one.key
    different = [Launch("w", {"a": "2"}), Launch("v", {"a": "1"}), Launch("w", {"a": "1"}, ranks=2)]
    assert len({launch.question for launch in [one, *different]}) == 4
    assert Launch("w", {"a": "1"}, title="other words").key == one.key, "a title is no part of the question"


def test_evaluate_asks_every_workload_and_uses_every_core() -> None:
    launches = plan.evaluate(workloads.workloads().values(), machine(packages=2, nodes=2, cores=4, smt=2), quick=True)
    asked = {name for name, w in workloads.workloads().items() if w.evaluate(machine(), True)}
    assert {launch.workload for launch in launches} == asked
    assert {launch.ranks for launch in launches if launch.mode == "star"} <= {16}
    assert {launch.knobs["threads"] for launch in launches if launch.mode == "threads"} <= {"16"}
    assert len({launch.key for launch in launches}) == len(launches), "the same question is asked once"


@pytest.mark.parametrize("quick", [True, False])
def test_a_machine_that_shows_no_caches_is_evaluated_all_the_same(quick: bool) -> None:
    shown = machine()
    hidden = dataclasses.replace(shown, topology=dataclasses.replace(shown.topology, caches=()))
    for launch in plan.evaluate(workloads.workloads().values(), hidden, quick):
        assert all(value not in ("", "0") for name, value in launch.knobs.items() if name != "precision")
        if launch.workload == "node/stream" and launch.table:
            assert units.parse_bytes(launch.knobs["bytes"]) * launch.ranks >= 2**28, "from memory, not from a cache"


@pytest.mark.parametrize("quick", [True, False])
def test_no_launch_asks_for_more_memory_than_the_machine_has(quick: bool) -> None:
    big = machine(packages=2, nodes=4, cores=16, smt=2)
    for launch in plan.evaluate(workloads.workloads().values(), big, quick):
        largest = max(units.parse_bytes(size) for size in launch.knobs.get("bytes", "0").split(","))
        assert largest * launch.ranks <= big.memory_bytes / 2


def test_on_one_core_star_and_threads_are_left_out() -> None:
    launches = plan.evaluate(workloads.workloads().values(), machine(cores=1), quick=True)
    assert {launch.mode for launch in launches} <= {"one", "all"}


@pytest.mark.parametrize("repeats", [0, -1])
def test_fewer_than_one_launch_is_refused(repeats: int) -> None:
    with pytest.raises(Refusal, match="--repeats 1"):
        plan.run("node/stream", {}, None, "one", repeats, machine())


def test_a_rank_count_makes_ranks_work_together() -> None:
    (launch,) = plan.run("node/stream", {"bytes": "1MiB"}, 4, "one", 1, machine())
    assert (launch.ranks, launch.mode) == (4, "all")
    first, second = plan.run("node/stream", {}, None, "star", 2, machine(cores=3))
    assert (first.ranks, first.repeat, second.repeat) == (3, 0, 1)
    with pytest.raises(Refusal, match="the mode sets it"):
        plan.run("node/stream", {"threads": "2"}, None, "threads", 1, machine())
