"""Random descriptions of machines: facts are missing or contradictory; numbers are as operating systems give them."""

from collections.abc import Iterable

from hypothesis import strategies as st

from octant.machine import Cache, Cpu, CpuKind, CpuSet, NumaNode, Topology

_NAMES = ("", "efficiency", "performance")


@st.composite
def any_topology(draw: st.DrawFn) -> Topology:
    """At most 32 hardware threads; nodes missing, empty, overlapping; caches unknown, per thread or contradictory."""
    widths = draw(st.lists(st.sampled_from([1, 2, 2, 4]), min_size=1, max_size=8))  # threads of each core
    packages = sorted(draw(st.integers(0, 2)) for _ in widths)
    rows = [(core, package) for core, (width, package) in enumerate(zip(widths, packages, strict=True))
            for _ in range(width)]  # fmt: skip
    numbers = draw(st.permutations(range(len(rows))) | st.just(range(3, 3 + 2 * len(rows), 2)))[: len(rows)]
    if draw(st.integers(0, 9)) == 0:  # a core in two packages
        rows[0] = (rows[0][0], 1 + rows[0][1])
    here = frozenset(numbers)
    nodes = draw(_nodes(here))
    home = {cpu: node.os for node in reversed(nodes) for cpu in node.cpus}
    kinds = draw(st.integers(1, 5))
    cpus = [
        Cpu(number, core, package, home.get(number), draw(st.integers(0, 1)) if len(rows) < 3 else 0,
            _NAMES[min(core % kinds, 2)] if kinds > 1 else "")
        for number, (core, package) in zip(numbers, rows, strict=True)
    ]  # fmt: skip
    allowed = draw(st.just(here) | st.frozensets(st.sampled_from([*sorted(here), max(here) + 1])))
    return Topology(
        tuple(sorted(cpus, key=lambda cpu: cpu.os)), draw(_caches(cpus)), nodes, allowed, kinds=_kinds(cpus, kinds)
    )


def _kinds(cpus: Iterable[Cpu], number: int) -> tuple[CpuKind, ...]:
    sets = [frozenset(cpu.os for cpu in cpus if cpu.core % number == rank) for rank in range(number)]
    return tuple(CpuKind(held, rank) for rank, held in enumerate(sets) if held) if number > 1 else ()


@st.composite
def _nodes(draw: st.DrawFn, here: CpuSet) -> tuple[NumaNode, ...]:
    count = draw(st.integers(0, 3))
    size = st.sampled_from([None, 0, 2**30])
    if draw(st.booleans()):  # each thread is in one node, or in none
        of = {cpu: draw(st.integers(-1 if draw(st.booleans()) else 0, max(count - 1, 0))) for cpu in sorted(here)}
        sets = [frozenset(cpu for cpu in here if of[cpu] == n) for n in range(count)]
    else:
        sets = [draw(st.frozensets(st.sampled_from(sorted(here)))) for _ in range(count)]
    distances = [draw(st.just(()) | st.tuples(*[st.integers(10, 40)] * count)) for _ in range(count)]
    return tuple(
        NumaNode(5 * n, one, draw(size), far) for n, (one, far) in enumerate(zip(sets, distances, strict=True))
    )


@st.composite
def _caches(draw: st.DrawFn, cpus: list[Cpu]) -> tuple[Cache, ...] | None:
    if draw(st.integers(0, 3)) == 0:
        return None
    found = []
    for level in draw(st.lists(st.integers(1, 4), unique=True, max_size=3)):
        by = draw(st.sampled_from(["core", "core", "package", "thread", "any"]))
        groups: dict[int, set[int]] = {}
        for cpu in cpus:
            key = {"core": cpu.core, "package": cpu.package, "thread": cpu.os}.get(by)
            groups.setdefault(draw(st.integers(0, 2)) if key is None else key, set()).add(cpu.os)
        size = draw(st.sampled_from([None, 2**15, 2**25]))
        found += [Cache(level, "unified", size, None, frozenset(held)) for held in groups.values()]
    return tuple(found)


def assert_consistent(topology: Topology) -> None:
    """What `octant.machine.sanity` promises of its result, computed in another way."""
    here = {cpu.os for cpu in topology.cpus}
    assert len(here) == len(topology.cpus)
    assert topology.allowed
    assert topology.allowed <= here
    for core in topology.groups("core"):
        of = [cpu for cpu in topology.cpus if cpu.os in core]
        assert len({(cpu.package, cpu.die) for cpu in of}) == 1
        assert len({cpu.numa for cpu in of} - {None}) <= 1
    for one in topology.numa:
        assert one.cpus <= here
        assert len(one.distances) in (0, len(topology.numa))
        for other in topology.numa:
            both = one.cpus & other.cpus
            assert not both or both in (one.cpus, other.cpus)
    holds = {node.os: node.cpus for node in topology.numa}
    assert all(cpu.numa is None or cpu.os in holds[cpu.numa] for cpu in topology.cpus)
    levels = sorted({cache.level for cache in topology.data_caches()})
    cores = topology.groups("core")
    for level in levels:
        sets = [cache.cpus for cache in topology.data_caches(level)]
        assert all(sets)
        assert sum(map(len, sets)) == len(frozenset().union(*sets)), "disjoint"
        assert len(sets) <= sum(1 for core in cores if any(core & held for held in sets)) or max(map(len, sets)) > 1
        for group in (*cores, *topology.groups("package"), *(one.cpus for one in topology.data_caches())):
            for held in sets:
                assert not held & group or held & group in (held, group)
