"""The planner's laws, on every recorded machine, and its answers for the reference node."""

import functools
import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octant.machine import CpuKind, PageSize, Topology
from octant.machine.hwloc import load, read_synthetic
from octant.placement import Placement, set_text
from octant.placement.planner import DoesNotFitError, ordered_cores, plan, slots
from octant.placement.request import Memory, PlacementRequest, Unit, parse_request
from paths import MACHINES

RECORDED = sorted([*MACHINES.glob("*.xml"), *MACHINES.glob("*.synthetic")])


@functools.cache
def machine(name: str) -> Topology:
    return load(MACHINES / name)


@functools.cache
def reference() -> Topology:
    return machine("frameworks-node.synthetic")


def cpus(placement: Placement) -> list[str]:
    return [set_text(place.cpus) for place in placement.ranks]


def answer(topology: Topology, request: PlacementRequest) -> tuple[Placement | None, PlacementRequest | None]:
    """Return the placement, or the largest request that fits."""
    try:
        return plan(topology, request), None
    except DoesNotFitError as refusal:
        return None, refusal.largest


MACHINE = st.sampled_from([path.name for path in RECORDED]).map(machine)
UNIT: st.SearchStrategy[Unit] = st.sampled_from(["hwthread", "core", "l2", "l3", "numa", "package"])
ORDER = st.sampled_from(["compact", "scatter", "scatter:numa", "scatter:package", "scatter:l3"])
REQUEST = st.builds(
    PlacementRequest,
    ranks=st.integers(1, 40),
    threads=st.integers(1, 9),
    unit=UNIT,
    order=ORDER,
    smt=st.sampled_from([0, 1, 2, 4]),
    share=st.booleans(),
    kind=st.sampled_from(["any", "performance"]),
)
ANY_REQUEST = st.builds(replace, REQUEST, oversubscribe=st.booleans())


@given(MACHINE, ANY_REQUEST)
@settings(max_examples=300)
def test_a_request_fits_or_is_refused_with_the_largest_that_fits(topology: Topology, request: PlacementRequest) -> None:
    placement, largest = answer(topology, request)
    if placement is None:
        assert largest is not None
        assert len(plan(topology, largest).ranks) == largest.ranks
        if request.smt > topology.smt():
            assert largest.smt == topology.smt()
            return
        with pytest.raises(DoesNotFitError):
            plan(topology, replace(largest, ranks=largest.ranks + 1, oversubscribe=False))
        assert largest.ranks < request.ranks or largest.threads < request.threads
        return
    assert len(placement.ranks) == request.ranks
    for place in placement.ranks:
        assert len(place.threads) == request.threads
        assert all(place.threads)
        assert frozenset().union(*place.threads) == place.cpus
        assert place.cpus <= topology.allowed
        assert set(place.memory) == {c.numa for c in topology.cpus if c.os in place.cpus}


@given(MACHINE, REQUEST)
@settings(max_examples=300)
def test_a_request_that_fits_is_placed_alike_with_oversubscription(
    topology: Topology, request: PlacementRequest
) -> None:
    placement, _ = answer(topology, request)
    if placement is not None:
        assert plan(topology, replace(request, oversubscribe=True)) == placement


@given(MACHINE, REQUEST)
@settings(max_examples=300)
def test_ranks_beyond_those_that_fit_are_placed_like_the_first(topology: Topology, request: PlacementRequest) -> None:
    """In every order; a rank in compact order begins where the one before it ends."""
    beyond, _ = answer(topology, replace(request, oversubscribe=True))
    fitting, largest = answer(topology, request)
    if beyond is None or fitting is not None or largest is None:
        return
    if largest.threads < request.threads:  # wider than the machine: every rank has all of it, and more
        whole = frozenset().union(*(slot.bound for slot in slots(topology, request)))
        assert all(place.cpus == whole for place in beyond.ranks)
    elif request.order == "compact" and request.unit in ("hwthread", "core"):
        every = [slot.bound for slot in slots(topology, request)]
        taken = [bound for place in beyond.ranks for bound in place.threads]
        assert taken == [every[i % len(every)] for i in range(len(taken))]
    else:
        first = [place.threads for place in plan(topology, largest).ranks]
        assert [place.threads for place in beyond.ranks] == [first[i % len(first)] for i in range(request.ranks)]


@given(MACHINE, REQUEST)
@settings(max_examples=300)
def test_ranks_share_a_core_only_on_request(topology: Topology, request: PlacementRequest) -> None:
    try:
        placement = plan(topology, request)
    except DoesNotFitError:
        return
    smt = request.smt or topology.smt()
    assert smt <= topology.smt()
    for core in topology.groups("core"):
        ranks = [place for place in placement.ranks if place.cpus & core]
        threads = [bound for place in ranks for bound in place.threads if bound & core]
        if smt == 1 and request.unit in ("hwthread", "core"):
            assert len(threads) <= 1
        elif request.unit in ("hwthread", "core"):
            assert len(threads) <= smt
        elif not request.share:
            assert len(ranks) <= 1
    if request.unit == "hwthread":
        held = [bound for place in placement.ranks for bound in place.threads]
        assert len(frozenset().union(*held)) == sum(map(len, held)) == len(held)


@given(MACHINE, st.integers(1, 40), st.integers(1, 4), st.sampled_from(["package", "numa", "l3"]))
@settings(max_examples=200)
def test_compact_fills_a_domain_before_the_next(topology: Topology, ranks: int, threads: int, level: str) -> None:
    try:
        placement = plan(topology, PlacementRequest(ranks=ranks, threads=threads))
    except DoesNotFitError:
        return
    order = [core[0].os for core in ordered_cores(topology)]
    group_of = {cpu: i for i, group in enumerate(topology.groups(level)) for cpu in group}
    used = [cpu for cpu in order if any(cpu in place.cpus for place in placement.ranks)]
    assert used == order[: len(used)]
    domains = [group_of[cpu] for cpu in used]
    changes = sum(1 for a, b in itertools.pairwise(domains) if a != b)
    assert changes == len(set(domains)) - 1


@given(MACHINE, st.integers(1, 40), st.integers(1, 4), st.sampled_from(["package", "numa", "l3"]))
@settings(max_examples=200)
def test_scatter_is_balanced_to_within_one(topology: Topology, ranks: int, threads: int, level: str) -> None:
    """A domain may hold fewer only because no further rank fits into it."""
    request = PlacementRequest(ranks=ranks, threads=threads, order=f"scatter:{level}")
    try:
        placement = plan(topology, request)
    except DoesNotFitError:
        return
    room = dict.fromkeys(range(len(topology.groups(level))), 0)
    count, left = dict(room), dict(room)
    group_of = {cpu: i for i, group in enumerate(topology.groups(level)) for cpu in group}
    for slot in slots(topology, request):
        left[group_of[slot.cpu.os]] += 1
    whole = [p for p in placement.ranks if len({group_of[c] for c in p.cpus}) == 1]
    for place in whole:
        count[group_of[min(place.cpus)]] += 1
    capacity = {i: left[i] // threads for i in left}
    most = max(count.values())
    assert all(count[i] >= min(most - 1, capacity[i]) for i in count)
    if len(whole) < ranks:
        assert count == capacity


@pytest.mark.parametrize("order", ["scatter", "scatter:numa", "scatter:package"])
@given(topology=MACHINE, ranks=st.integers(1, 40))
@settings(max_examples=60)
def test_scatter_of_everything_uses_what_compact_uses(topology: Topology, ranks: int, order: str) -> None:
    every = len(ordered_cores(topology))
    used = plan(topology, PlacementRequest(ranks=every, order=order))
    assert frozenset().union(*(p.cpus for p in used.ranks)) == topology.allowed


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # the six goals of the launcher tables; cores are two hardware threads wide
        ("4x2", ["0-3", "4-7", "8-11", "12-15"]),
        ("4x2,order=scatter:numa", ["0-3", "8-11", "16-19", "24-27"]),
        ("4x2,unit=hwthread,smt=2", ["0-1", "2-3", "4-5", "6-7"]),
        ("4x2,unit=numa", ["0-7", "8-15", "16-23", "24-31"]),
        ("4x2,order=scatter:package", ["0-3", "16-19", "4-7", "20-23"]),
        ("2x2,cpus=0+2/4+6", ["0,2", "4,6"]),
        ("4x2,order=scatter", ["0-3", "16-19", "8-11", "24-27"]),
        ("2x8,unit=numa,share=yes,smt=2", ["0-7", "8-15"]),
        ("4x4,unit=numa,share=yes,smt=2", ["0-7", "0-7", "8-15", "8-15"]),
        ("2x6,unit=numa", ["0-15", "16-31"]),
        ("3x1,unit=package,share=yes,order=scatter", ["0-15", "16-31", "0-15"]),
        ("4x2,order=scatter,oversubscribe=yes", ["0-3", "16-19", "8-11", "24-27"]),
        ("5x4,order=scatter,oversubscribe=yes", ["0-7", "16-23", "8-15", "24-31", "0-7"]),
        ("5x2,unit=numa,order=scatter,oversubscribe=yes", ["0-7", "16-23", "8-15", "24-31", "0-7"]),
    ],
)
def test_reference_node(text: str, expected: list[str]) -> None:
    assert cpus(plan(reference(), parse_request(text))) == expected


def test_threads_of_a_rank_get_sets_of_their_own() -> None:
    placement = plan(reference(), parse_request("1x3,unit=hwthread"))
    assert [set_text(t) for t in placement.ranks[0].threads] == ["0", "2", "4"]
    shared = plan(reference(), parse_request("1x2,cpus=0+1+8+9"))
    assert [set_text(t) for t in shared.ranks[0].threads] == ["0-1", "8-9"]


def test_container_gets_only_what_it_may_use() -> None:
    placement = plan(machine("container-2s.xml"), PlacementRequest(ranks=8))
    assert cpus(placement) == ["16", "17", "2,18", "3,19", "10,26", "11,27", "12,28", "13,29"]


def test_power7_slide_threads_per_core() -> None:
    """128 tasks on 32 cores of SMT4, as the POWER7 STREAM table has it."""
    power7 = load("pack:4 core:8 pu:4")
    placement = plan(power7, parse_request("128x1,unit=hwthread,smt=4"))
    assert cpus(placement) == [str(i) for i in range(128)]
    assert cpus(plan(power7, parse_request("32x4,smt=4")))[1] == "4-7"


def test_oversubscription_only_when_asked() -> None:
    topology = machine("vm-2core.xml")
    with pytest.raises(DoesNotFitError, match="largest request that fits is 2x1"):
        plan(topology, PlacementRequest(ranks=8))
    placement = plan(topology, PlacementRequest(ranks=8, oversubscribe=True))
    assert cpus(placement) == ["0", "1"] * 4
    assert any("share hardware threads" in remark for remark in placement.remarks)


def test_memory_nodes() -> None:
    def nodes(text: str) -> tuple[int, ...]:
        return plan(reference(), parse_request(text)).ranks[-1].memory

    assert nodes("4x2,unit=numa,memory=local") == (3,)
    assert nodes("4x2,memory=interleave") == (0, 1, 2, 3)
    assert nodes("4x2,memory=bind:0+2") == (0, 2)
    assert nodes("4x2,memory=preferred:1") == (1,)
    assert nodes("2x8,order=scatter:package") == (2, 3)
    with pytest.raises(DoesNotFitError, match="NUMA node 7"):
        plan(reference(), PlacementRequest(memory=Memory("bind", (7,))))


def test_page_sizes_that_the_system_does_not_have_are_refused() -> None:
    known = [PageSize(4096), PageSize(1 << 21, 10, 10)]
    assert plan(reference(), PlacementRequest(pages="2m"), known)
    assert plan(reference(), PlacementRequest(pages="thp"), known)
    with pytest.raises(DoesNotFitError, match="pages of 16 MiB: the system supports 4 KiB, 2 MiB;") as refusal:
        plan(reference(), PlacementRequest(pages="16m"), known)
    assert refusal.value.largest == PlacementRequest()


def test_explicit_lists_outside_the_job_are_refused() -> None:
    with pytest.raises(DoesNotFitError, match="rank 1 on hardware threads 0"):
        plan(machine("container-2s.xml"), parse_request("2x1,cpus=2/0"))
    with pytest.raises(DoesNotFitError, match="3 threads of rank 0 on 2 hardware threads"):
        plan(reference(), parse_request("1x3,cpus=0-1"))


def test_remarks_say_what_surprises() -> None:
    def remarks(text: str, on: Topology) -> str:
        return " / ".join(plan(on, parse_request(text)).remarks)

    assert remarks("4x4", reference()) == ""
    assert "rank 1: placed on more than one NUMA domain" in remarks("2x3", reference())
    assert "placed on more than one package" in remarks("5x3", reference())
    assert "ranks 0-7: share cores" in remarks("8x1,unit=hwthread,smt=2", reference())
    assert "wait for the slower cores" in remarks("12x1", machine("hybrid-laptop.xml"))
    assert remarks("4x1,kind=performance", machine("hybrid-laptop.xml")) == ""
    assert "this topology has no L3 cache" in remarks("2x1,unit=l3", reference())
    assert remarks("2x1,unit=l3", machine("epyc-2s-nps4.synthetic")) == ""
    assert "while 6 cores are idle" in remarks("2x2,order=scatter,smt=2", machine("container-2s.xml"))
    alternating = remarks("4x2,unit=hwthread,smt=2,order=scatter:package", reference())
    assert "alternate between packages, and the threads of a rank share a core" in alternating


def test_torus_letters_give_nodes_and_places() -> None:
    node = load("core:4 pu:1")
    xyzt = plan(node, PlacementRequest(ranks=16, order="XYZT", torus=(2, 2, 1)))
    assert [p.coordinates for p in xyzt.ranks[:5]] == [
        (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0), (0, 0, 0, 1)
    ]  # fmt: skip
    txyz = plan(node, PlacementRequest(ranks=16, order="TXYZ", torus=(2, 2, 1)))
    assert [p.coordinates[-1] for p in txyz.ranks[:5]] == [0, 1, 2, 3, 0]
    assert cpus(txyz)[:5] == ["0", "1", "2", "3", "0"]
    assert txyz.remarks == ()
    with pytest.raises(DoesNotFitError, match="largest request that fits is 16x1"):
        plan(node, PlacementRequest(ranks=17, order="XYZT", torus=(2, 2, 1)))


def test_nothing_is_given_in_place_of_what_was_asked() -> None:
    """Four threads a core of two, or efficiency cores where all are alike, would come out as something else."""
    with pytest.raises(
        DoesNotFitError,
        match=r"4 hardware threads per core: a core has at most 2.*largest request that fits is 4x2,smt=2",
    ):
        plan(reference(), parse_request("4x2,smt=4"))
    with pytest.raises(DoesNotFitError, match="a core has 1 hardware thread;"):
        plan(machine("vm-2core.xml"), parse_request("4x1,smt=2"))
    with pytest.raises(DoesNotFitError, match="no efficiency cores; the largest request that fits is 4x1"):
        plan(reference(), parse_request("4x1,kind=efficiency"))
    assert plan(machine("hybrid-laptop.xml"), parse_request("2x2,smt=2,kind=performance"))


def test_memory_comes_from_nodes_that_have_some() -> None:
    """Node 1 has cores alone, node 2 memory alone, as machines with missing modules or CXL memory show it."""
    whole = reference()
    far = [(10, 20, 40, 40), (20, 10, 15, 40), (40, 15, 10, 20), (40, 40, 20, 10)]
    numa = tuple(
        replace(node, memory_bytes=0 if node.os == 1 else node.memory_bytes, distances=row)
        for node, row in zip(whole.numa, far, strict=True)
    )
    topology = replace(whole, numa=numa)
    assert [place.memory for place in plan(topology, parse_request("4x1,unit=numa,memory=bind")).ranks] == [
        (0,), (2,), (2,), (3,)
    ]  # fmt: skip
    assert plan(topology, parse_request("1x1,memory=interleave")).ranks[0].memory == (0, 2, 3)
    with pytest.raises(DoesNotFitError, match=r"NUMA node 1: it has no memory"):
        plan(topology, parse_request("1x1,memory=bind:1"))
    nearest = replace(topology, numa=tuple(replace(node, distances=()) for node in numa))
    with pytest.raises(DoesNotFitError, match=r"rank 1: .* 8-15 is not known; .*memory=bind:0\+2-3"):
        plan(nearest, parse_request("4x1,unit=numa,memory=bind"))
    assert [place.memory for place in plan(nearest, parse_request("4x1,unit=numa")).ranks] == [(0,), (), (2,), (3,)]


def test_maps_of_nodes_that_hold_fewer_are_refused() -> None:
    node = load("core:2 pu:1")
    places = ((0, 0, 0, 1), (1, 0, 0, 0), (0, 0, 0, 2))
    assert cpus(plan(node, PlacementRequest(2, torus=(2, 1, 1), map=places))) == ["1", "0"]
    with pytest.raises(DoesNotFitError, match=r"rank 2 of the map in slot 2: a node has 2 slots.*fits is 2x1"):
        plan(node, PlacementRequest(3, torus=(2, 1, 1), map=places))


@pytest.mark.parametrize(
    ("text", "on", "said"),
    [
        ("999x1,unit=l2", "epyc-2s-nps4.synthetic", "by L2 caches: there are "),
        ("99x1,unit=l3", "epyc-2s-nps4.synthetic", "by L3 caches: there are "),
        ("9x1,unit=numa", "frameworks-node.synthetic", "9 ranks x 1 threads by NUMA domains: there are 4, one"),
        ("9x1,unit=package", "frameworks-node.synthetic", "by packages: there are 2, one rank each"),
        ("9x9,unit=package,share=yes", "frameworks-node.synthetic", "by packages: there are 2;"),
        ("17x1", "frameworks-node.synthetic", "17 ranks x 1 threads: 16 cores are usable, with 16 slots at smt=1"),
        ("40x1,smt=all", "frameworks-node.synthetic", "16 cores are usable, with 32 slots at smt=all"),
        ("9x1,kind=performance", "hybrid-laptop.xml", "performance cores are usable"),
        (
            "2x1,cpus=0/999",
            "frameworks-node.synthetic",
            "hardware threads 999: this job may use 0-31; no similar request",
        ),
    ],
)
def test_refusals_count_what_there_is(text: str, on: str, said: str) -> None:
    with pytest.raises(DoesNotFitError) as refusal:
        plan(machine(on), parse_request(text))
    assert said in str(refusal.value)


def test_an_explicit_list_may_be_shared_by_more_threads_when_asked() -> None:
    placement = plan(reference(), parse_request("1x5,cpus=4+6,oversubscribe=yes"))
    assert [set_text(cpus) for cpus in placement.ranks[0].threads] == ["4", "6", "4", "6", "4"]


def test_an_explicit_list_is_dealt_to_threads_and_the_last_has_the_rest() -> None:
    placement = plan(reference(), parse_request("1x2,cpus=0+2+4+6+8"))
    assert [set_text(cpus) for cpus in placement.ranks[0].threads] == ["0,2", "4,6,8"]


def test_a_node_that_holds_no_rank_of_a_torus_is_refused_with_its_size() -> None:
    node = load("core:2 pu:1")
    with pytest.raises(
        DoesNotFitError, match=r"1 ranks x 3 threads: 2 cores are usable, with 2 slots .*; no similar request"
    ):
        plan(node, PlacementRequest(1, 3, order="XYZT", torus=(2, 1, 1)))
    with pytest.raises(DoesNotFitError, match="cannot map 5 ranks on 2x1x1x2 slots; at most 4 ranks fit"):
        plan(node, PlacementRequest(5, order="XYZT", torus=(2, 1, 1)))


def test_memory_of_unknown_size_counts_as_memory() -> None:
    numa = tuple(replace(node, memory_bytes=0) for node in reference().numa)
    placement = plan(replace(reference(), numa=numa), parse_request("4x1,unit=numa,memory=interleave"))
    assert placement.ranks[0].memory == (0, 1, 2, 3)


def test_units_are_shared_in_turn_when_asked_and_remarks_name_the_level_that_is_missing() -> None:
    placement = plan(reference(), parse_request("6x1,unit=numa,oversubscribe=yes"))
    assert cpus(placement) == ["0-7", "8-15", "16-23", "24-31", "0-7", "8-15"]
    no_l3 = plan(reference(), parse_request("1x1,unit=l3")).remarks
    assert no_l3 == ("this topology has no L3 cache: each rank gets the next smaller unit",)
    with_l2 = plan(load("l2:2 core:1 pu:1"), parse_request("1x1,unit=l2")).remarks
    assert with_l2 == ()


def test_the_largest_that_fits_has_memory_of_its_own_too() -> None:
    """Threads outside every NUMA node cannot be bound to their own memory, whatever their number."""
    whole = reference()
    outside = whole.numa[-1].cpus
    numa = tuple(replace(node, cpus=node.cpus - outside) for node in whole.numa)
    cpus = tuple(replace(cpu, numa=None) if cpu.os in outside else cpu for cpu in whole.cpus)
    topology = replace(whole, numa=numa, cpus=cpus)
    for unit in ("core", "package"):
        placement, largest = answer(topology, PlacementRequest(ranks=99, unit=unit, memory=Memory("bind")))
        assert placement is None
        assert largest is not None
        assert plan(topology, largest).ranks


def test_memory_that_this_job_may_not_use_is_in_no_option() -> None:
    """`Mems_allowed` excludes node 1: numactl would refuse it."""
    whole = read_synthetic("pack:2 numa:1(memory=1GiB) core:4 pu:1")
    held = replace(whole, allowed_nodes=frozenset({0}))
    assert plan(held, parse_request("1x1,memory=interleave")).ranks[0].memory == (0,)
    for text in ("memory=preferred:1", "memory=bind:0+1", "memory=interleave:1"):
        with pytest.raises(DoesNotFitError, match=r"cannot use NUMA node 1: this job may use 0"):
            plan(held, parse_request(f"1x1,{text}"))
    far = plan(held, parse_request("2x4,memory=local"))
    assert 1 not in far.ranks[1].memory
    bound = replace(held, numa=tuple(replace(node, distances=()) for node in held.numa))
    with pytest.raises(DoesNotFitError, match="is not known"):
        plan(bound, parse_request("2x4,memory=bind"))


def test_cores_of_a_kind_are_not_chosen_where_kinds_are_not_known() -> None:
    """Without libhwloc, `kind=performance` gave the first cores of a big.LITTLE machine, which were the slow ones."""
    whole = read_synthetic("core:4 pu:1")
    assert plan(whole, parse_request("2x1,kind=performance")).ranks
    for caches, kinds, said in (
        (None, None, "not known; install hwloc"),
        (whole.caches, None, "contradict"),
        (whole.caches, (CpuKind(frozenset({0, 1}), None), CpuKind(frozenset({2, 3}), None)), "not ranked"),
    ):
        for kind in ("performance", "efficiency"):
            with pytest.raises(DoesNotFitError, match=f"cannot select {kind} cores: kinds of cores .*{said}"):
                plan(replace(whole, caches=caches, kinds=kinds), parse_request(f"2x1,kind={kind}"))
