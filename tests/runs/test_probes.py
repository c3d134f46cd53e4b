"""Looks at the machine at both ends of a run: which runs have them, and where."""

from dataclasses import replace

import pytest

from fake_run import stored
from octant import workloads
from octant.request import Launch, Request, Shape, Subject
from octant.runs import rounds
from octant.runs.probes import probes_for, with_probes

NODE = Request(Subject("node/stream"), {"bytes": "1MiB"}, repeats=3)
LOADS = Request(Subject("node/latency"), {"bytes": "1MiB"}, repeats=2)
MESSAGES = Request(Subject("mpi/p2p"), {"bytes": "8"}, Shape(2), repeats=3)


def test_a_run_in_a_node_begins_and_ends_with_a_look() -> None:
    requests, order = with_probes((NODE, LOADS), rounds.drawn_order([3, 2], 5))
    assert requests[:2] == (NODE, LOADS)
    (probe,) = requests[2:]
    declared = workloads.workload(probe.subject.workload).probe
    assert declared is not None
    assert probe.knobs == declared.knobs
    assert (order[0], order[-1]) == ((2, 0), (2, 1))
    assert order[1:-1] == rounds.drawn_order([3, 2], 5)
    assert sorted(Launch(requests[number], repeat).key for number, repeat in order) == sorted(
        launch.key for one in requests for launch in one.launches()
    )


@pytest.mark.parametrize(
    "requests",
    [
        (MESSAGES,),
        (replace(NODE, subject=Subject(command=("a.out",))),),
        (replace(NODE, shape=Shape(2, link="100Mbit/s")),),
        (),
    ],
)
def test_other_runs_have_none(requests: tuple[Request, ...]) -> None:
    order = rounds.drawn_order([one.repeats for one in requests], 5)
    assert with_probes(requests, order) == (requests, order)


def test_what_is_asked_anyway_is_not_asked_twice() -> None:
    (probe,) = probes_for((NODE,))
    assert probes_for((NODE, probe)) == ()


def test_the_rounds_of_a_run_with_looks_are_those_between_them() -> None:
    requests, order = with_probes((NODE, LOADS), rounds.drawn_order([3, 2], 5))
    run = stored([Launch(requests[number], repeat) for number, repeat in order])
    run = replace(run, requests=requests, order=order)
    found = rounds.rounds_of(run)
    between = rounds.rounds_of(replace(run, requests=requests[:2], order=order[1:-1]))
    assert between
    assert {key: number for key, number in found.items() if key in between} == between
    assert [found[launch.key] for launch in requests[2].launches()] == [0, 2]
