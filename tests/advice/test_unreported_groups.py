"""Groups of hardware threads that times of pairs show and the system does not tell."""

import dataclasses

from fake_run import stored
from octant.advice.findings import RuleResult
from octant.advice.findings.unreported_groups import judge
from octant.analysis.summary import Summary, summarise
from octant.machine import Topology
from octant.machine.hwloc import read_synthetic
from octant.record import Point
from octant.request import Launch, Request, Subject
from pair_times import TWO_SOCKETS, launch


def summary(topology: Topology, found: Point | None = None) -> Summary:
    asked = Launch(Request(Subject("node/coherence"), {"pattern": "pairs"}))
    point = dataclasses.replace(found or launch(), launch=asked.key)
    run = stored([asked], [point])
    return summarise(dataclasses.replace(run, machine=dataclasses.replace(run.machine, topology=topology)))


def test_siblings_that_a_guest_does_not_see_are_a_finding_with_a_rank_on_each_core() -> None:
    (found,) = judge(summary(read_synthetic("pack:2 l3:2 core:4 pu:1"))).found
    assert found.title == "8 groups of hardware threads not reported by the operating system, probably SMT siblings"
    assert "7.00 ns within and 20.0 ns between the groups 0-1; 2-3; 4-5; 6-7 and 4 more" in found.body
    assert found.lines == ("octant bind --place 0,2,4,6,8,10,12,14",)
    assert len(found.details) == 1


def test_unreported_caches_are_no_siblings() -> None:
    (found,) = judge(summary(read_synthetic("pack:2 core:4 pu:2"))).found
    assert found.title == "4 groups of hardware threads not reported by the operating system"
    assert found.lines == ("octant bind --place 0,4,8,12",)


def test_reported_groups_pass_and_two_threads_give_no_check() -> None:
    judged = judge(summary(TWO_SOCKETS))
    assert (judged.found, len(judged.passed)) == ((), 1)
    assert judge(summary(read_synthetic("core:4 pu:1"), launch([0, 1]))) == RuleResult()
