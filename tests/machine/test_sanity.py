"""What a machine's description contradicts is reported and not used as a fact."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topologies
from octant.machine import Cache, Cpu, CpuKind, CpuSet, NumaNode, Topology
from octant.machine.sanity import make_consistent
from octant.placement import numbers_text


def machine(cores: int = 4, smt: int = 2, **changes: object) -> Topology:
    """Two packages of two cores each with two hardware threads, a memory node and an L3 each."""
    cpus = tuple(Cpu(n, n // smt, n * 2 // (cores * smt), n * 2 // (cores * smt)) for n in range(cores * smt))
    halves = [frozenset(cpu.os for cpu in cpus if cpu.package == half) for half in (0, 1)]
    each = [frozenset(range(n * smt, (n + 1) * smt)) for n in range(cores)]
    whole = Topology(
        cpus,
        (
            *(Cache(1, "data", 32768, 64, core) for core in each),
            *(Cache(3, "unified", 2**25, 64, one) for one in halves),
        ),
        tuple(NumaNode(n, one, 2**30, (10, 20)[:: 1 if n == 0 else -1]) for n, one in enumerate(halves)),
        frozenset(cpu.os for cpu in cpus),
    )
    return replace(whole, **changes)  # type: ignore[arg-type]  # of the tests below


def caches(level: int, *sets: CpuSet) -> tuple[Cache, ...]:
    return tuple(Cache(level, "unified", 2**20, 64, one) for one in sets)


def sets(*texts: tuple[int, ...]) -> list[CpuSet]:
    return [frozenset(one) for one in texts]


def subjects(topology: Topology) -> list[str]:
    return [one.subject for one in make_consistent(topology)[1]]


def test_a_consistent_machine_is_returned_as_it_is() -> None:
    assert make_consistent(machine()) == (machine(), ())


def test_caches_that_are_counted_once_per_thread_are_not_used() -> None:
    """H1: a kernel without lists of sharing made every thread of POWER9 the only user of its caches."""
    alone = caches(3, *(frozenset({n}) for n in range(8)))
    found, said = make_consistent(machine(caches=alone))
    assert found.caches is None, "the last level is not known, so no other level replaces it"
    assert said[0].statements == (("level-3 data caches", "4 cores have 8 caches of one hardware thread each"),)
    assert "contradiction: ignored" in said[0].trusted
    plain = machine(smt=1, cores=8)
    assert make_consistent(replace(plain, caches=alone)) == (replace(plain, caches=alone), ())


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (caches(3, *sets((0, 1, 2, 3), (3, 4, 5, 6, 7))), "hardware threads 3 have more than one"),
        (caches(3, *sets((0, 1, 2), (3, 4, 5, 6, 7))), "overlap cores in part"),
        (caches(3, *sets((0, 1, 2, 3, 4, 5), (6, 7))), "overlap packages in part"),
        (caches(3, *sets((0, 1, 2, 3), (4, 5, 6, 7, 99))), "hardware threads 99 do not exist"),
        (caches(3, *sets((0, 1, 2, 3), ())), "one cache has no hardware thread"),
    ],
)
def test_caches_that_contradict_the_cores_are_not_used(wrong: tuple[Cache, ...], why: str) -> None:
    inner = machine().data_caches(1)
    found, said = make_consistent(machine(caches=(*inner, *wrong)))
    assert found.caches is None
    assert why in said[0].statements[0][1]
    level_2 = tuple(replace(cache, level=2) for cache in wrong)
    below, said = make_consistent(machine(caches=(*inner, *level_2, *machine().data_caches(3))))
    assert below.caches == machine().caches, "a level below the last is left out alone"
    assert "level-2 data caches" in said[0].trusted


def test_levels_of_caches_that_overlap_in_part_are_not_used() -> None:
    two = caches(2, *sets((0, 1, 2, 3), (4, 5), (6, 7)))
    three = caches(3, *sets((0, 1), (2, 3), (4, 5, 6, 7)))
    assert make_consistent(machine(caches=(*two, *three)))[1] == ()
    across = caches(3, *sets((0, 1), (2, 3, 4, 5, 6, 7)))
    whole = replace(machine(caches=(*two, *across)), cpus=tuple(replace(cpu, package=0) for cpu in machine().cpus))
    found, said = make_consistent(whole)
    assert found.caches is None
    assert "level-2 and level-3 caches overlap in part" in said[0].statements[0][1]


def test_memory_nodes_that_overlap_in_part_hold_nothing_of_what_both_claim() -> None:
    nodes = (NumaNode(0, frozenset(range(5)), 2**30), NumaNode(1, frozenset(range(4, 8)), 2**30))
    found, said = make_consistent(machine(numa=nodes))
    assert [numbers_text(node.cpus) for node in found.numa] == ["0-3", "5-7"]
    assert [cpu.numa for cpu in found.cpus] == [0, 0, 0, 0, None, 1, 1, 1]
    assert [one.subject for one in said] == ["NUMA nodes"]
    assert "hardware threads 4 count as in no node" in said[0].trusted
    same = (NumaNode(0, frozenset(range(8)), 2**30), NumaNode(1, frozenset(range(8)), 2**34, kind="HBM"))
    both = machine(numa=same, cpus=tuple(replace(cpu, numa=0) for cpu in machine().cpus))
    assert make_consistent(both) == (both, ()), "two kinds of memory of the same threads are no contradiction"


def test_threads_whose_node_does_not_hold_them_have_none() -> None:
    other = tuple(replace(cpu, numa=7) if cpu.os == 0 else cpu for cpu in machine().cpus)
    found, said = make_consistent(machine(cpus=other))
    assert found.cpus[0].numa is None
    assert said[0].subject == "NUMA nodes"


def test_cores_that_are_in_two_packages_are_divided() -> None:
    torn = tuple(replace(cpu, package=1) if cpu.os == 1 else cpu for cpu in machine(caches=()).cpus)
    found, said = make_consistent(machine(cpus=torn, caches=()))
    assert frozenset({0}) in found.groups("core")
    assert frozenset({1}) in found.groups("core")
    assert said[0].subject == "cores"


def test_threads_that_may_be_used_exist() -> None:
    assert make_consistent(machine(allowed=frozenset({1, 99})))[0].allowed == {1}
    assert make_consistent(machine(allowed=frozenset()))[0].allowed == frozenset(range(8))
    assert subjects(machine(allowed=frozenset({99}))) == ["usable hardware threads"]


@pytest.mark.parametrize("second", [(1, 3, 5, 7), (0, 1, 2, 3, 4, 5, 6, 7)])
def test_kinds_that_divide_a_core_or_overlap_are_not_used(second: tuple[int, ...]) -> None:
    kinds = (CpuKind(frozenset({0, 2, 4, 6}), 0), CpuKind(frozenset(second), 1))
    found, said = make_consistent(machine(kinds=kinds))
    assert (found.kinds, {cpu.kind for cpu in found.cpus}) == (None, {""})
    assert [one.subject for one in said] == ["core kinds"]


def test_memory_nodes_that_may_be_used_exist() -> None:
    found, said = make_consistent(machine(allowed_nodes=frozenset({7})))
    assert (found.allowed_nodes, [one.subject for one in said]) == (None, ["usable NUMA nodes"])


def test_distances_to_another_number_of_nodes_are_not_used() -> None:
    nodes = tuple(replace(node, distances=(10,)) for node in machine().numa)
    assert [node.distances for node in make_consistent(machine(numa=nodes))[0].numa] == [(), ()]


@given(topologies.any_topology(), st.data())
def test_what_is_left_is_consistent(topology: Topology, data: st.DataObject) -> None:
    """Random descriptions: the check ends, is idempotent, and its result has all the properties that it states."""
    found, _ = make_consistent(topology)
    assert make_consistent(found) == (found, ())
    topologies.assert_consistent(found)
