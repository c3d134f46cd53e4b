"""Warnings about placements: recomputed by brute force, on every recorded machine, and in the lines of launchers."""

import functools
import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octant.launchers import from_syntax, names, translate
from octant.machine import Topology
from octant.machine.hwloc import load, read_synthetic
from octant.machine.sanity import make_consistent
from octant.placement import Placement, RankPlacement
from octant.placement.advice import NO_ADVICE, PlacementAdvice, _count_matched, advise, advise_on_request
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.request import PlacementRequest, parse_request, request_from_lists
from paths import MACHINES
from topologies import any_topology

RECORDED = sorted(path.name for path in MACHINES.iterdir() if path.suffix in (".xml", ".synthetic"))
TWO_DOMAINS = "pack:1 numa:2(memory=1GB) core:2 pu:2"
WITHOUT_SMT = "pack:2 numa:1(memory=1GB) core:2 pu:1"


@functools.cache
def machine(name: str) -> Topology:
    return load(MACHINES / name)


@functools.cache
def small(text: str) -> Topology:
    return read_synthetic(text)


def advice(text: str, topology: Topology) -> PlacementAdvice:
    request = parse_request(text)
    return advise_on_request(plan(topology, request), request, topology)


def kinds(found: PlacementAdvice) -> list[str]:
    return [one.kind for one in found.warnings]


REFERENCE = "frameworks-node.synthetic"


@pytest.mark.parametrize(
    ("place", "kind", "better"),
    [
        ("4x1", "idle-domains", "4x1,order=scatter"),
        ("2x2,unit=numa", "idle-domains", "2x2,unit=numa,order=scatter"),
        ("4x1,unit=hwthread,smt=2,order=scatter:package", "shared-cores", "4x1,unit=hwthread,order=scatter,smt=2"),
        ("2x1,cpus=0/0", "oversubscribed", "2x1,order=scatter"),
        ("4x1,cpus=0/2/8/16", "uneven", "4x1,order=scatter"),
        ("4x2,cpus=0+8/2+10/16+24/18+26", "crossing", "4x2,order=scatter"),
        ("40x1,oversubscribe=yes", "oversubscribed", "16x1"),
    ],
)
def test_each_weakness_has_a_warning_and_a_better_request(place: str, kind: str, better: str) -> None:
    found = advice(place, machine(REFERENCE))
    assert kind in kinds(found) or (kind == "uneven" and "idle-domains" in kinds(found))
    assert str(found.better[0]) == better
    assert not advice(better, machine(REFERENCE)).warnings


def test_uneven_numbers_of_threads_are_stated_per_domain() -> None:
    found = advice("6x1,cpus=0/2/4/8/16/24", machine(REFERENCE))
    assert [one.text for one in found.warnings] == [
        "uneven numbers of threads in the NUMA domains: 3, 1, 1, 1; at most 2 are necessary"
    ]


@pytest.mark.parametrize(
    "place",
    [
        "1x1", "1x4", "4x1,order=scatter", "4x4", "16x1", "8x2", "32x1,smt=2", "16x2,smt=all", "4x4,unit=numa",
        "2x1,memory=interleave", "2x1,memory=bind:0",
    ],
)  # fmt: skip
def test_a_placement_without_a_better_one_gets_no_warning(place: str) -> None:
    assert advice(place, machine(REFERENCE)) == NO_ADVICE


def test_domains_that_ranks_span_to_use_all_memory_are_no_weakness() -> None:
    """Fewer domains for each rank would leave memory controllers idle, so neither placement is better."""
    assert advice("2x4,unit=package", machine("xeon-2s-snc4.synthetic")) == NO_ADVICE
    assert kinds(advice("2x4,unit=package,share=yes", machine("xeon-2s-snc4.synthetic"))) == ["idle-domains"]


def assign(masks: list[frozenset[int]], taken: frozenset[int] = frozenset()) -> int:
    """Return how many masks can have a place of their own, by trying all."""
    if not masks:
        return 0
    without = assign(masks[1:], taken)
    return max([without, *(1 + assign(masks[1:], taken | {place}) for place in masks[0] - taken)])


@example([frozenset({0, 4}), frozenset({1, 4}), frozenset({0, 1})])  # the first moves so that the last has a place
@given(st.lists(st.frozensets(st.integers(0, 4), min_size=1), max_size=5))
@settings(max_examples=40)
def test_places_of_threads_that_may_move_are_counted_as_by_brute_force(masks: list[frozenset[int]]) -> None:
    assert _count_matched(Counter(masks)) == assign(masks)


def test_threads_that_share_cores_are_reported_unless_the_user_requests_it() -> None:
    topology = machine(REFERENCE)
    request = parse_request("32x1,smt=2")
    assert kinds(advise(plan(topology, request), request, topology)) == ["shared-cores"]
    assert advise_on_request(plan(topology, request), request, topology) == NO_ADVICE


REQUEST = st.builds(
    PlacementRequest,
    ranks=st.integers(1, 40),
    threads=st.integers(1, 5),
    unit=st.sampled_from(["hwthread", "core", "l2", "l3", "numa", "package"]),
    order=st.sampled_from(["compact", "scatter", "scatter:numa", "scatter:package"]),
    smt=st.sampled_from([1, 1, 2]),
    share=st.booleans(),
    oversubscribe=st.booleans(),
)


@given(st.sampled_from(RECORDED).map(machine), REQUEST)
@settings(max_examples=40)
def test_the_better_request_fits_and_has_no_warning(topology: Topology, request: PlacementRequest) -> None:
    try:
        found = advise(plan(topology, request), request, topology)
    except DoesNotFitError:
        return
    assert bool(found.warnings) == bool(found.better)
    for better in found.better:
        assert not advise(plan(topology, better), better, topology).warnings
        if not {"oversubscribed", "shared-cores"} & {*kinds(found)}:
            assert (better.ranks, better.threads) == (request.ranks, request.threads)


@given(any_topology(), REQUEST)
@settings(max_examples=40)
def test_advice_holds_on_machines_with_missing_and_contradictory_facts(
    topology: Topology, request: PlacementRequest
) -> None:
    topology = make_consistent(topology)[0]
    try:
        found = advise(plan(topology, request), request, topology)
    except ValueError:
        return
    for better in found.better:
        assert not advise(plan(topology, better), better, topology).warnings


def single_threads(topology: Topology, cpus: tuple[int, ...]) -> Placement:
    home = {cpu.os: cpu.numa for cpu in topology.cpus}
    return Placement(tuple(RankPlacement.of_threads(rank, [{cpu}], (home[cpu] or 0,)) for rank, cpu in enumerate(cpus)))


def weaknesses(topology: Topology, cpus: tuple[int, ...]) -> tuple[int, ...]:
    """Return what is poor about single threads on these hardware threads, by counting."""
    of = {cpu.os: cpu for cpu in topology.cpus}
    found = [len(cpus) - len(set(cpus)), len(cpus) - len({of[cpu].core for cpu in cpus})]
    for unit in ("package", "numa"):
        every = [getattr(cpu, unit) for cpu in topology.cpus]
        used = [getattr(of[cpu], unit) for cpu in cpus]
        found += [len(set(every)) - len(set(used)), max(map(used.count, used))]
    return tuple(found)


@pytest.mark.parametrize("text", [TWO_DOMAINS, WITHOUT_SMT])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_warnings_are_exactly_those_of_brute_force(text: str, ranks: int) -> None:
    topology = small(text)
    all_sets = list(itertools.combinations_with_replacement(sorted(topology.allowed), ranks))
    every = {cpus: weaknesses(topology, cpus) for cpus in all_sets}
    for cpus, mine in every.items():
        request = request_from_lists([(cpu,) for cpu in cpus])
        found = advise(single_threads(topology, cpus), request, topology)
        dominated = any(
            other != mine and all(new <= old for new, old in zip(other, mine, strict=True)) for other in every.values()
        )
        assert bool(found.warnings) == dominated, (cpus, found)


LAUNCHERS = ("mpich", "openmpi", "openmpi41", "slurm")
SEVERAL_DOMAINS = [name for name in RECORDED if len(machine(name).numa) > 1]


@pytest.mark.parametrize("name", SEVERAL_DOMAINS)
def test_the_better_lines_of_a_launcher_have_no_warning(name: str) -> None:
    topology, written, number = machine(name), 0, SEVERAL_DOMAINS.index(name)
    for launcher, place in ((LAUNCHERS[number % 4], "4x1"), (LAUNCHERS[(number + 2) % 4], "2x1,cpus=2/2")):
        found = translate(place, topology, [launcher])
        assert found.advice.warnings
        if found.better_lines:
            reading = from_syntax("\n".join(found.better_lines), topology, launcher)[1]
            assert not advise(reading.placement, reading.request, topology).warnings
            assert len(reading.placement.ranks) == found.request.ranks
            written += 1
    assert written


@pytest.mark.parametrize(
    ("lines", "warning", "better"),
    [
        ("mpiexec -n 4 -bind-to core p", "only 1 of 4", "mpiexec -n 4 -bind-to core -map-by numa PROGRAM"),
        ("mpiexec -n 4 --map-by core --bind-to core p", "only 1 of 4", "mpiexec -n 4 --map-by numa:PE=1 PROGRAM"),
        ("srun -n 4 -c 2 -m block:cyclic p", "have no core of their own", "--cpu-bind=mask_cpu:"),
        ("mpiexec -n 32 -bind-to hwthread p", "32 threads on 16 usable cores", "mpiexec -n 16 -bind-to core PROGRAM"),
    ],
)
def test_lines_that_are_read_get_better_lines_of_their_launcher(lines: str, warning: str, better: str) -> None:
    found = translate(lines, machine(REFERENCE), lines=True)
    assert any(warning in one.text for one in found.advice.warnings)
    assert any(better in line for line in found.better_lines)
    assert found.read_as in names("write")


def test_threads_outside_of_the_job_and_positions_on_a_torus_get_no_advice() -> None:
    topology = replace(machine(REFERENCE), allowed=frozenset({0, 1}))
    request = parse_request("2x1,cpus=2/3")
    assert advise(single_threads(topology, (2, 3)), request, topology) == NO_ADVICE
    assert advice("4x1,torus=2x2x2,order=XYZT", machine(REFERENCE)) == NO_ADVICE
