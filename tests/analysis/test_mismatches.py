"""What a record says it was given is compared with the request: every difference is reported."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import WORKLOADS, fake_run, machine, point, stored
from octant.analysis import mismatches as readback
from octant.analysis.caveats import caveats_about
from octant.analysis.summary import summarise
from octant.launch import Planned
from octant.placement import planner
from octant.placement.request import parse_request
from octant.record import Buffer, Point, Process, RankResources, known_count
from octant.request import Launch, Request, Shape, Subject
from octant.stats import Grade
from octant.store import ProvenSetting, StoredRun

MACHINE = machine(nodes=2, cores=4)


def obedient(asked: str, hosts: int = 1, node: str = "0") -> Point:
    """Return a point whose ranks have exactly the resources of the placement, on each of the hosts."""
    placement = planner.plan(MACHINE.topology, parse_request(asked))
    answers = []
    for host in range(hosts):
        for place in placement.ranks:
            home = str(place.memory[0]) if node == "own" else node
            buffer = Buffer(1 << 20, 1 << 20, 0, 4096, {home: 64})
            masks = tuple(tuple(sorted(mask)) for mask in place.threads)
            answers.append(RankResources(f"host{host}", tuple(mask[-1] for mask in masks), masks, (buffer,)))
    return point(ranks=len(answers), threads=len(placement.ranks[0].threads), given=tuple(answers))


def reported(asked: str, found: Point, ranks: int | None = None) -> tuple[str, ...]:
    places = planner.plan(MACHINE.topology, parse_request(asked)).ranks
    return readback.mismatches(places, found, len(places) if ranks is None else ranks)


REQUESTS = st.builds(
    "{}x{},unit={},order={}".format,
    st.integers(1, 2),
    st.integers(1, 4),
    st.sampled_from(["core", "hwthread", "numa"]),
    st.sampled_from(["compact", "scatter"]),
)


@given(REQUESTS, st.integers(1, 3))
def test_what_was_given_as_asked_is_not_remarked_on(asked: str, hosts: int) -> None:
    found = obedient(asked, hosts, node="own")
    assert reported(asked, found, found.ranks) == ()


@given(REQUESTS, st.integers(0, 7), st.data())
def test_any_other_mask_of_any_thread_is_reported(asked: str, other: int, data: st.DataObject) -> None:
    found = obedient(asked, node="own")
    rank = data.draw(st.integers(0, len(found.given) - 1))
    thread = data.draw(st.integers(0, known_count(found.threads) - 1))
    masks = list(found.given[rank].thread_masks)
    wrong = tuple(sorted({*masks[thread]} ^ {other})) or (other + 1,)
    masks[thread] = wrong
    given = list(found.given)
    given[rank] = dataclasses.replace(given[rank], thread_masks=tuple(masks))
    (text,) = reported(asked, dataclasses.replace(found, given=tuple(given)))
    assert text.startswith(f"rank {rank}: ")
    assert "requested, bound to" in text


def test_a_thread_that_ran_elsewhere_is_reported() -> None:
    found = obedient("1x2")
    strayed = dataclasses.replace(found.given[0], cpus=(0, 5))
    assert reported("1x2", dataclasses.replace(found, given=(strayed,))) == (
        "rank 0: thread 1: CPUs 1 requested, ran on 5",
    )


def test_memory_elsewhere_is_reported() -> None:
    found = obedient("1x1,memory=bind:0", node="1")
    assert reported("1x1,memory=bind:0", found) == ("rank 0: memory on NUMA nodes 0 requested, 100 % is on 1",)


def test_ranks_alone_in_their_worlds_are_reported() -> None:
    one = obedient("1x1")
    (text,) = reported("2x1", one, 2)
    assert text.startswith("2 ranks requested, MPI_COMM_WORLD has 1: launcher and MPI library")


def test_more_ranks_than_places_on_a_host_are_reported() -> None:
    two = obedient("2x1")
    (text,) = reported("1x1", two, 2)
    assert text == "host0 has more ranks than the plan (1): rank 1 has no entry"


def test_fewer_threads_than_requested_are_reported() -> None:
    assert reported("1x2", obedient("1x1"))[0] == "rank 0: 2 threads requested, it has 1"


@pytest.mark.parametrize(
    ("pages", "huge", "said"),
    [
        ("default", 0.5, ()),
        ("try-thp", 0.0, ()),
        ("try-thp", 1.0, ()),
        ("thp", 1.0, ()),
        ("thp", 0.0, ("rank 0: pages=thp requested, 0 % of a buffer is on huge pages",)),
        ("2MiB", 0.4, ("rank 0: pages=2MiB requested, 40 % of a buffer is on huge pages",)),
        ("base", 0.0, ()),
        ("base", 1.0, ("rank 0: pages=base requested, 100 % of a buffer is on huge pages",)),
    ],
)
def test_pages_of_another_kind_are_reported(pages: str, huge: float, said: tuple[str, ...]) -> None:
    buffer = Buffer(1 << 30, 1 << 30, int(huge * (1 << 30)), 4096, {"0": 64})
    given = (RankResources("h", (0,), ((0,),), (buffer,)),)
    found = dataclasses.replace(point(), knobs={"pages": pages}, given=given)
    assert readback.page_mismatches(found) == said


def test_nothing_is_claimed_that_only_root_may_see() -> None:
    given = (RankResources("h", (0,), ((0,),), (Buffer(1 << 20, 1 << 20, 1 << 20, 0, {"0": 64}),)),)
    found = dataclasses.replace(point(), knobs={"pages": "64KiB"}, given=given)
    assert readback.page_mismatches(found) == (
        "rank 0: pages=64KiB requested; the pages could not be checked, since that needs root",
    )


@pytest.mark.parametrize(
    ("memory", "on", "said"),
    [
        ("bind:1", {"1": 64}, ()),
        ("bind:0+1", {"0": 30, "1": 34}, ()),
        ("bind:0-1", {"0": 30, "1": 34}, ()),
        ("bind:none", {"0": 64}, ()),
        ("bind:1", {"0": 64}, ("rank 0: memory=bind:1 requested, 100 % of the memory is on other NUMA nodes",)),
        ("default", {"0": 64}, ()),
        ("bind:1", {}, ()),  # nothing to be seen
    ],
)
def test_memory_that_is_not_bound_as_requested_is_reported(
    memory: str, on: dict[str, int], said: tuple[str, ...]
) -> None:
    given = (RankResources("h", (0,), ((0,),), (Buffer(1 << 20, 1 << 20, 0, 4096, on),)),)
    found = dataclasses.replace(point(), knobs={"memory": memory}, given=given)
    assert readback.node_mismatches(found) == said


def placed_run(asked: str, given: Point, plan: str) -> StoredRun:
    """Return a run of one launch with this request and plan, and this point."""
    launch = Launch(Request(Subject(given.workload), {}, Shape(known_count(given.ranks), asked)))
    places = planner.plan(MACHINE.topology, parse_request(plan)).ranks
    run = stored([launch], [dataclasses.replace(given, launch=launch.key)], on=MACHINE)
    return dataclasses.replace(run, plans={launch.key: Planned(launch, (), places=places)})


def test_what_differs_from_the_plan_casts_doubt_on_the_figure() -> None:
    run = placed_run("1x1", obedient("1x2,cpus=4-5", node="own"), "1x1")
    (wrong,) = run.points
    found = readback.mismatches_of(run, wrong)
    assert found[0] == "rank 0: 1 threads requested, it has 2"
    assert readback.all_mismatches(run) == sorted(found)
    (caveat,) = caveats_about(wrong, wrong.read(), found)
    assert caveat.text == "the request was not met: rank 0: 1 threads requested, it has 2 (and 2 more)"
    assert caveat.grade == Grade.INVALID
    assert readback.mismatches_of(dataclasses.replace(run, plans={}), wrong) == (), "nothing is planned again"


def test_a_better_planner_finds_no_fault_with_an_old_run() -> None:
    """The plan that a run was started by put its rank elsewhere than today's planner would."""
    assert readback.all_mismatches(placed_run("1x1", obedient("1x1,cpus=5", node="own"), "1x1,cpus=5")) == []


def test_a_summary_doubts_what_was_not_given_as_asked() -> None:
    run = fake_run()
    small = (RankResources("h", (0,), ((0,),), (Buffer(1 << 30, 1 << 30, 0, 4096, {"0": 64}),)),)
    points = tuple(dataclasses.replace(p, knobs={**p.knobs, "pages": "thp"}, given=small) for p in run.points)
    figures = summarise(dataclasses.replace(run, points=points), WORKLOADS).figures
    assert all(
        one.caveats[0].text.startswith("the request was not met: rank 0: pages=thp requested") for one in figures
    )


def test_settings_that_the_library_reads_back_differently_are_reported() -> None:
    """A setting is compared with what the launch's own processes say, and the probe's doubt holds for every point."""
    mpi = {"OMPI_MCA_btl_tcp_rcvbuf": "65536", "OMPI_MCA_coll": "^han", "UCX_TLS": "tcp"}
    launch = Launch(Request(Subject("fake/thing"), mpi=mpi))
    read = {"OMPI_MCA_btl_tcp_rcvbuf": ("196608",), "OMPI_MCA_coll": ("^han",)}
    found = dataclasses.replace(point(ranks=1), launch=launch.key, process=Process(settings=read))
    caveat = "eager-limit=65536 asked: the largest eager message is 8112 B"
    run = dataclasses.replace(
        stored([launch], [found]),
        plans={launch.key: Planned(launch, ("x",))},
        settings=(ProvenSetting("eager-limit=65536", {}, proof="effect", caveat=caveat),),
    )
    raised = "OMPI_MCA_btl_tcp_rcvbuf=65536 requested, the library reports 196608"
    assert readback.mismatches_of(run, found) == (caveat, raised)
    assert readback.all_mismatches(run) == sorted([caveat, raised])
