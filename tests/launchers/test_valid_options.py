"""On whatever machine: every option that is printed lists something, every mask is valid, or a refusal says why."""

import re
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import topologies
from octant.failure import Refusal
from octant.launchers import Syntax, from_syntax, to_every_syntax, to_syntax, translate
from octant.machine import Cpu, NumaNode, Topology
from octant.machine.cpusets import parse_cpus, parse_mask
from octant.machine.sanity import make_consistent
from octant.placement import Placement, RankPlacement, mask_text, planner, set_text
from octant.placement.draw import as_svg, as_text
from octant.placement.nonempty import NonEmptySet
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.request import Memory, PlacementRequest, Policy, Unit
from octant.placement.sanity import check, may_share

EMPTY = re.compile(r"(?:(?<! )=|[:,\[+;/])(?=[\s\],;+/]|$)|0x0\b|\{\}|\[\]")
"""An option whose list is empty, or has an empty member; a mask of nothing."""
UNIT: st.SearchStrategy[Unit] = st.sampled_from(["hwthread", "core", "l2", "l3", "numa", "package"])
POLICY: st.SearchStrategy[Policy] = st.sampled_from(["default", "local", "interleave", "bind"])
READ_BACK = ["taskset", "numactl", "slurm", "hwloc", "mpich", "openmpi"]
REQUEST = st.builds(
    PlacementRequest,
    ranks=st.integers(1, 9),
    threads=st.integers(1, 5),
    unit=UNIT,
    order=st.sampled_from(["compact", "scatter", "scatter:numa", "scatter:package", "scatter:l3"]),
    smt=st.sampled_from([0, 1, 2]),
    memory=st.builds(Memory, POLICY),
    kind=st.sampled_from(["any", "any", "performance"]),
    share=st.booleans(),
    oversubscribe=st.booleans(),
)


def options(syntax: Syntax) -> str:
    """Return the lines and files to paste."""
    return "\n".join([*syntax.lines, *(content for _, content in syntax.files)])


def planned(topology: Topology, request: PlacementRequest) -> tuple[Placement, PlacementRequest] | None:
    """Return the placement of the request or of the largest that fits, or a reason."""
    try:
        return plan(topology, request), request
    except DoesNotFitError as refusal:
        if refusal.largest is None:
            return None
        return plan(topology, refusal.largest), refusal.largest


def seventeen() -> Topology:
    """H3 in small: two packages, of which the first has no memory node that is online."""
    cpus = tuple(Cpu(n, n, n // 2, None if n < 2 else 1) for n in range(4))
    return Topology(cpus, (), (NumaNode(1, frozenset({2, 3}), 2**30, (10,)),), frozenset(range(4)))


@given(topologies.any_topology(), REQUEST)
@settings(max_examples=60, phases=[Phase.generate])
def test_no_launcher_prints_an_option_with_an_empty_list(described: Topology, request: PlacementRequest) -> None:
    topology, _ = make_consistent(described)
    found = planned(topology, request)
    if found is None:
        return
    placement, request = found
    written, broken = to_every_syntax(placement, request, topology)
    assert [one.name for one in broken if "try" not in one.reason and "state" not in one.reason] == []
    for name, syntax in written.items():
        for line in options(syntax).splitlines():
            words = re.sub(r"^# [^:]*: ", "", line).replace("'", "").replace('"', "")
            assert not EMPTY.search(words), f"{name}: {line}"


@given(topologies.any_topology(), REQUEST)
@settings(max_examples=60, phases=[Phase.generate])
def test_masks_are_those_of_the_placement(described: Topology, request: PlacementRequest) -> None:
    topology, _ = make_consistent(described)
    found = planned(topology, request)
    if found is None:
        return
    placement, request = found
    sets = [frozenset(place.cpus) for place in placement.ranks]
    assert all(held <= topology.allowed for held in sets)
    assert may_share(request) or sum(map(len, sets)) == len(frozenset().union(*sets))
    lines = options(to_syntax("taskset", placement, request, topology))
    assert [parse_cpus(listed) for listed in re.findall(r"taskset -c (\S+)", lines)] == sets
    syntax = to_syntax("slurm", placement, request, topology)
    listed = re.search(r"mask_cpu:(\S+)", options(syntax))
    if listed:
        assert [parse_mask(mask) for mask in listed[1].split(",")] == sets
    else:
        assert syntax.cannot  # Slurm does not take masks with CPUs that it does not count
    known = {node.os for node in topology.numa}
    for place in placement.ranks:
        assert set(place.memory) <= known
        assert request.memory.policy != "bind" or place.memory


@given(topologies.any_topology(), REQUEST)
@settings(max_examples=60, phases=[Phase.generate])
def test_the_drawing_shows_every_hardware_thread_once(described: Topology, request: PlacementRequest) -> None:
    topology, _ = make_consistent(described)
    found = planned(topology, request)
    if found is None:
        return
    svg = as_svg(topology, found[0])
    shown = sorted(int(number) for number in re.findall(r"<title>hardware thread (\d+)</title>", svg))
    without = {cpu.os for cpu in topology.cpus if cpu.numa is None}
    assert shown == [cpu.os for cpu in topology.cpus]
    assert ("no local NUMA node" in svg) == any(core <= without for core in topology.groups("core"))


@given(
    topologies.any_topology(), st.sampled_from(["taskset", "numactl", "slurm", "hwloc", "mpich", "openmpi"]), REQUEST
)
@settings(max_examples=60, phases=[Phase.generate])
def test_what_is_read_back_is_valid_or_refused(described: Topology, name: str, request: PlacementRequest) -> None:
    """Lines that were written for one machine are read on it, and on the same with half of its hardware threads."""
    topology, _ = make_consistent(described)
    found = planned(topology, request)
    if found is None:
        return
    try:
        text = "\n".join(to_syntax(name, *found, topology).lines)
    except Refusal:
        return
    less = tuple(cpu for cpu in topology.cpus if cpu.os % 2 == 0) or topology.cpus[:1]
    half, _ = make_consistent(replace(topology, cpus=less))
    for machine in (topology, half):
        here = frozenset(cpu.os for cpu in machine.cpus)
        try:
            _, reading = from_syntax(text, machine)
        except (ValueError, Refusal):
            continue
        for place in reading.placement.ranks:
            assert place.cpus <= here
            assert all(place.threads)


def test_threads_without_a_node_are_drawn_and_bound_to_stated_memory_alone() -> None:
    topology = seventeen()
    placement = plan(topology, PlacementRequest(4))
    assert [place.memory for place in placement.ranks] == [(), (), (1,), (1,)]
    assert "no local NUMA node  │0│1│" in as_text(topology, placement).plain
    assert any(
        "hardware threads 0-1 are in no NUMA node and have no local memory" in text for text in placement.remarks
    )
    with pytest.raises(
        DoesNotFitError, match=r"memory=bind for rank 0: .*hardware threads 0 is not known; .*fits is 4x1,memory=bind:1"
    ):
        plan(topology, PlacementRequest(4, memory=Memory("bind")))
    stated = PlacementRequest(4, memory=Memory("bind", (1,)))
    lines = to_syntax("numactl", plan(topology, stated), stated, topology).lines
    assert lines[0] == "numactl --physcpubind=0 --membind=1 PROGRAM"
    partly = plan(topology, PlacementRequest(1, 4, memory=Memory("bind")))
    assert partly.ranks[0].memory == (1,)
    assert any("memory bound to NUMA nodes 1; hardware threads 0-1 have no known" in text for text in partly.remarks)


@pytest.mark.parametrize("name", ["numactl", "slurm", "hwloc"])
def test_a_memory_option_without_a_node_is_refused_by_rank(name: str) -> None:
    """The line cannot be written, whatever the origin of such a placement."""
    place = RankPlacement.of_threads(0, [{0}], ())
    with pytest.raises(Refusal, match=r"memory of rank 0: .*hardware threads 0 .*memory=bind:0"):
        to_syntax(name, Placement((place,)), PlacementRequest(memory=Memory("bind")), seventeen())


def test_a_set_for_an_option_has_a_member() -> None:
    for wrong in ((), (-1, 2)):
        with pytest.raises(Refusal, match="hardware threads of rank 3"):
            RankPlacement.of_threads(3, [{1}, wrong], ())
    empty = frozenset[int]()
    with pytest.raises(Refusal):
        set_text(empty)  # type: ignore[arg-type]  # what the type checker refuses
    with pytest.raises(Refusal):
        mask_text(empty)  # type: ignore[arg-type]  # what the type checker refuses
    with pytest.raises(Refusal):
        RankPlacement.of_threads(0, [], ())
    held = NonEmptySet({4, 5}, "threads")
    assert (set_text(held), mask_text(held)) == ("4-5", "0x30")


def refused(places: Iterable[RankPlacement]) -> str:
    with pytest.raises(Refusal) as refusal:
        check(Placement(tuple(places)), seventeen(), frozenset(range(4)), shared=False)
    return str(refusal.value)


def test_a_placement_that_is_not_valid_is_refused_by_rank() -> None:
    of = RankPlacement.of_threads
    good = (of(0, [{0}], ()), of(1, [{2}, {3}], (1,)))
    assert check(Placement(good), seventeen(), frozenset(range(4)), shared=False).ranks == good
    assert "rank 1: hardware thread 9 is not available" in refused([good[0], of(1, [{2, 9}], ())])
    assert "rank 1: hardware thread 0 is used by lower ranks" in refused([good[0], of(1, [{0, 1}], ())])
    assert "rank 1: NUMA node 7 is not available" in refused([good[0], of(1, [{1}], (1, 7))])
    assert "rank 5: it is at position 1" in refused([good[0], of(5, [{1}], ())])
    assert "rank 0: a thread is outside of the set" in refused(
        [replace(good[1], rank=0, cpus=NonEmptySet({2}, "threads"))]
    )
    shared = Placement((good[0], of(1, [{0, 1}], ())))
    assert check(shared, seventeen(), frozenset(range(4)), shared=True) is shared
    torus = (replace(good[0], coordinates=(0, 0)), replace(good[0], rank=1, coordinates=(1, 0)))
    check(Placement(torus), seventeen(), frozenset(range(4)), shared=False)


def test_lines_for_another_machine_are_refused() -> None:
    with pytest.raises(Refusal, match=r"placement of rank 1: hardware threads 8-9 are not available; .*choose others"):
        from_syntax("taskset -c 0-1 p\ntaskset -c 8-9 p", seventeen())
    _, reading = from_syntax("taskset -c 0-3 p", replace(seventeen(), allowed=frozenset({0, 1})))
    assert any("outside of the affinity mask of this job (0-1)" in text for text in reading.remarks)


def test_contradictions_of_a_machine_are_remarks_of_its_placements() -> None:
    torn = replace(seventeen(), numa=(NumaNode(0, frozenset({0, 1, 2}), 1), NumaNode(1, frozenset({2, 3}), 1)))
    answer = translate("1x1", torn)
    assert any("contradiction: ignored" in text.lower() for text in answer.remarks)


def test_caches_that_are_not_known_are_not_asked_for() -> None:
    topology = replace(seventeen(), caches=None)
    assert plan(topology, PlacementRequest(2)).ranks
    assert any("caches are not known" in text for text in plan(topology, PlacementRequest(2, order="scatter")).remarks)
    with pytest.raises(DoesNotFitError, match=r"unit=l3: caches are not known; .*fits is 2x1$"):
        plan(topology, PlacementRequest(2, unit="l3"))
    with pytest.raises(DoesNotFitError, match=r"order=scatter:l3: caches are not known; .*fits is 2x1,order=scatter$"):
        plan(topology, PlacementRequest(2, order="scatter:l3"))
    with pytest.raises(ValueError, match="caches are not known"):
        from_syntax("OMP_NUM_THREADS=2 OMP_PLACES=ll_caches p", topology)


@pytest.mark.parametrize(
    ("sets", "why"),
    [
        ([{0}, {0, 1}], "rank 1: hardware thread 0 is used by lower ranks"),
        ([{0}, {7}], "rank 1: hardware thread 7 is not available"),
    ],
)
def test_every_plan_passes_the_check(monkeypatch: pytest.MonkeyPatch, sets: list[set[int]], why: str) -> None:
    """A planner with a defect, as the check is there for."""
    monkeypatch.setattr(planner, "_by_slots", lambda _topology, _request: [(frozenset(one),) for one in sets])
    with pytest.raises(Refusal, match=why):
        plan(seventeen(), PlacementRequest(2))


def test_every_launcher_answers_for_a_machine_whose_memory_nodes_are_not_stated() -> None:
    """Generators tried the level of memory nodes, which is not known, and broke."""
    whole = seventeen()
    none = replace(whole, numa=(), cpus=tuple(replace(cpu, numa=None) for cpu in whole.cpus))
    request = PlacementRequest(2, 2)
    _made, broken = to_every_syntax(plan(none, request), request, none)
    assert not broken
