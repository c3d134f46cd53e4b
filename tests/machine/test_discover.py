"""Discovery, on recorded and hand-made machines."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trees
from octant.analysis.measured_machine import with_measured
from octant.machine import (
    Cache,
    Cpu,
    CpuKind,
    Disagreement,
    Machine,
    MemoryAttribute,
    NumaNode,
    PageSize,
    Processor,
    Topology,
)
from octant.machine.codec import fingerprint, to_json
from octant.machine.cpus import read_topology_without_caches
from octant.machine.cpusets import cpus_text, parse_cpus
from octant.machine.crosscheck import disagreements
from octant.machine.discover import discover
from octant.machine.hwloc import read_synthetic
from octant.machine.modes import describe_numa_mode
from octant.machine.recording import record
from octant.machine.sanity import check_machine
from octant.machine.tree import FileTree
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.request import parse_request
from octant.software.observe import observe

ALL = [*trees.described(), "kvm-xeon-2cpu"]
SIZES = {  # hardware threads, cores, level-3 domains, NUMA domains, packages, threads of a core, allowed
    "altra-1s": (80, 80, 80, 1, 1, 1, 80),
    "board-no-numa": (4, 4, 4, 0, 1, 1, 4),
    "container-4of32": (32, 32, 2, 2, 2, 1, 4),
    "epyc-2s-nps4": (128, 128, 16, 8, 2, 1, 128),
    "kvm-xeon-2cpu": (2, 2, 1, 1, 1, 1, 2),
    "laptop-6p8e": (20, 14, 1, 1, 1, 2, 20),
    "power8-2s-smt8": (160, 20, 20, 2, 2, 8, 160),
    "power9-2s-smt4": (176, 44, 22, 2, 2, 4, 176),
    "server-offline": (7, 7, 2, 1, 1, 1, 7),
    "xeon-2s-smt2-snc4": (208, 104, 2, 8, 2, 2, 208),
}


MODES = {
    "altra-1s": "1 NUMA domain per package",
    "board-no-numa": "the system does not state NUMA nodes",
    "epyc-2s-nps4": "4 NUMA domains per package (NPS4), 2 L3 caches per domain",
    "kvm-xeon-2cpu": "1 NUMA domain per package, 1 L3 cache per domain",
    "power9-2s-smt4": "1 NUMA domain per package, 11 L3 caches per domain",
    "xeon-2s-smt2-snc4": "4 NUMA domains per package (SNC4), L3 caches span NUMA domains",
}


@pytest.mark.parametrize("name", MODES)
def test_the_numa_mode_is_found_from_the_topology(name: str) -> None:
    assert describe_numa_mode(trees.machine(name)) == MODES[name]


def test_interleaved_packages_and_caches_as_domains_are_modes_of_their_own() -> None:
    amd = trees.machine("epyc-2s-nps4")
    for text, mode in (
        (
            "machine:1 [numa] pack:2 l3:4 core:2 pu:1",
            "1 NUMA domain across 2 packages, 8 L3 caches per domain",
        ),
        (
            "pack:2 numa:8 l3:1 core:2 pu:1",
            "8 NUMA domains per package (L3 caches as NUMA domains), 1 L3 cache per domain",
        ),
        ("pack:2 numa:1 l3:8 core:2 pu:1", "1 NUMA domain per package, 8 L3 caches per domain"),
    ):
        assert describe_numa_mode(replace(amd, topology=read_synthetic(text))) == mode


@pytest.mark.parametrize("name", ALL)
def test_topology_has_the_described_shape(name: str) -> None:
    top = trees.machine(name).topology
    units = tuple(len(top.groups(unit)) for unit in ("thread", "core", "l3", "numa", "package"))
    assert (*units, top.smt(), len(top.allowed)) == SIZES[name]


@pytest.mark.parametrize("name", ALL)
def test_every_level_divides_the_threads(name: str) -> None:
    top = trees.machine(name).topology
    threads = {cpu.os for cpu in top.cpus}
    for unit in ("core", "l1", "l2", "l3", "numa", "die", "package"):
        groups = top.groups(unit)
        if unit == "numa" and name == "board-no-numa":
            assert groups == ()
            continue
        assert sum(map(len, groups)) == len(threads)
        assert frozenset().union(*groups) == threads
    assert [cpu.os for cpu in top.cpus] == sorted(threads)
    assert top.allowed <= threads
    assert all(len(node.distances) in (0, len(top.numa)) for node in top.numa)
    assert all(node.distances[n] == 10 for n, node in enumerate(top.numa) if node.distances)


@pytest.mark.parametrize("name", ALL)
def test_json_gives_the_machine_back(name: str) -> None:
    machine = trees.machine(name)
    assert trees.from_json(json.loads(json.dumps(to_json(machine)))) == machine


def test_sibling_threads_share_a_core() -> None:
    top = trees.machine("xeon-2s-smt2-snc4").topology
    assert top.groups("core")[0] == {0, 104}
    assert trees.machine("power8-2s-smt8").topology.groups("core")[1] == set(range(8, 16))


def test_distances_tell_the_packages_apart() -> None:
    numa = trees.machine("xeon-2s-smt2-snc4").topology.numa
    assert numa[1].distances == (12, 10, 12, 12, 21, 21, 21, 21)
    assert numa[0].memory_bytes == 64 * 2**30


def test_kinds_of_cores() -> None:
    machine = trees.machine("laptop-6p8e")
    kinds = [cpu.kind for cpu in machine.topology.cpus]
    assert kinds == ["performance"] * 12 + ["efficiency"] * 8
    assert [group for group in machine.topology.groups("l2") if len(group) == 4] == [
        {12, 13, 14, 15},
        {16, 17, 18, 19},
    ]


def test_kinds_from_capacities(tmp_path: Path) -> None:
    root = trees.tree("board-no-numa", tmp_path)
    for cpu, capacity in enumerate((446, 446, 1024, 1024)):
        (root / f"{trees.CPU}/cpu{cpu}/cpu_capacity").write_text(f"{capacity}\n")
    assert [cpu.kind for cpu in discover(root).topology.cpus] == ["efficiency"] * 2 + ["performance"] * 2


def test_a_container_gets_what_its_control_group_leaves() -> None:
    machine = trees.machine("container-4of32")
    assert machine.topology.allowed == {4, 5, 20, 21}
    assert machine.system["cgroup_cpu_quota"] == "2.5"
    assert machine.system["cgroup_memory_bytes"] == str(8 * 2**30)
    assert machine.system["container"] == "docker"


def test_memory_that_a_recorded_process_may_not_use_is_known(tmp_path: Path) -> None:
    root = trees.tree("power9-2s-smt4", tmp_path)
    (root / "proc/self").mkdir(parents=True, exist_ok=True)
    (root / "proc/self/status").write_text("Mems_allowed:\t00000001\nMems_allowed_list:\t0\n")
    top = discover(root).topology
    assert [node.os for node in top.usable_nodes()] == [0]
    assert top.forbidden_nodes() == {node.os for node in top.numa} - {0}
    assert trees.from_json(to_json(discover(root))).topology == top
    (root / "proc/self/status").write_text("Mems_allowed_list:\t0-4095\n")
    assert discover(root).topology.allowed_nodes is None


def test_masks_outside_the_machine_are_contradictions(tmp_path: Path) -> None:
    root = trees.tree("board-no-numa", tmp_path)
    (root / "proc/self").mkdir(parents=True, exist_ok=True)
    (root / "proc/self/status").write_text("Cpus_allowed_list:\t8-11\nMems_allowed_list:\t0\n")
    machine = discover(root)
    assert machine.topology.allowed == set(range(4))
    (said,) = machine.disagreements
    assert said.subject == "usable hardware threads"
    assert said.statements[0][1] == "hardware threads 8-11 are usable"


def test_version_1_control_groups(tmp_path: Path) -> None:
    root = trees.tree("container-4of32", tmp_path)
    (root / "proc/self/cgroup").write_text("3:cpuset:/job\n2:cpu,cpuacct:/job/step\n")
    for file in ("cpuset.cpus.effective", "cpu.max", "memory.max"):
        (root / "sys/fs/cgroup" / file).unlink()
    for path, text in (
        ("cpuset/job/cpuset.cpus", "0-1"),
        ("cpu,cpuacct/job/cpu.cfs_quota_us", "150000"),
        ("cpu,cpuacct/job/cpu.cfs_period_us", "100000"),
        ("cpu,cpuacct/job/step/cpu.cfs_quota_us", "-1"),
    ):
        (root / "sys/fs/cgroup" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "sys/fs/cgroup" / path).write_text(text + "\n")
    machine = discover(root)
    assert machine.topology.allowed == {0, 1}
    assert machine.system["cgroup_cpu_quota"] == "1.5"


MIB = 2**20


def with_group(root: Path, folder: str, **numbers: int | str) -> None:
    """Write files of a control group; `stat_` goes before the names of counts in `memory.stat`."""
    path = root / "sys/fs/cgroup" / folder
    path.mkdir(parents=True, exist_ok=True)
    counts = "".join(f"{name.removeprefix('stat_')} {n}\n" for name, n in numbers.items() if name.startswith("stat_"))
    (path / "memory.stat").write_text(counts)
    for name, number in numbers.items():
        if not name.startswith("stat_"):
            (path / f"memory.{name.replace('memsw_', 'memsw.')}").write_text(f"{number}\n")


def test_what_is_available_is_what_control_groups_leave_of_their_limits(tmp_path: Path) -> None:
    """Limit - usage + page cache that can be dropped, at every level; the system's own number is 20 GiB."""
    root = trees.tree("container-4of32", tmp_path)
    (root / "proc/meminfo").write_text("MemTotal: 33554432 kB\nMemAvailable: 20971520 kB\n")
    (root / "sys/fs/cgroup/memory.max").unlink()
    (root / "proc/self/cgroup").write_text("0::/user/job\n")
    with_group(root, "user", max="max", high="max", current=9000 * MIB)
    with_group(root, "user/job", max="max", current=500 * MIB)
    assert discover(root).system["available_memory_bytes"] == str(20480 * MIB)
    files = {"stat_inactive_file": 100 * MIB, "stat_active_file": 50 * MIB, "stat_file_dirty": 30 * MIB}
    with_group(root, "user/job", max=800 * MIB, current=500 * MIB, stat_shmem=300 * MIB, **files)
    assert discover(root).system["available_memory_bytes"] == str(420 * MIB)
    with_group(root, "user", max=9999 * MIB, high=9100 * MIB, current=9000 * MIB)
    assert discover(root).system["available_memory_bytes"] == str(100 * MIB)

    (root / "proc/self/cgroup").write_text("4:memory:/job\n")
    cache = {"stat_inactive_file": 0, "stat_total_inactive_file": 200 * MIB, "stat_total_writeback": 20 * MIB}
    with_group(root, "memory", limit_in_bytes=9223372036854771712, usage_in_bytes=9000 * MIB)
    with_group(root, "memory/job", limit_in_bytes=800 * MIB, usage_in_bytes=500 * MIB, **cache)
    assert discover(root).system["available_memory_bytes"] == str(480 * MIB)
    swap = {"memsw_limit_in_bytes": 800 * MIB, "memsw_usage_in_bytes": 700 * MIB}
    with_group(root, "memory/job", limit_in_bytes=800 * MIB, usage_in_bytes=500 * MIB, **swap)
    assert discover(root).system["available_memory_bytes"] == str(100 * MIB)
    with_group(root, "memory", stat_hierarchical_memory_limit=600 * MIB, usage_in_bytes=550 * MIB)
    assert discover(root).system["available_memory_bytes"] == str(50 * MIB)
    with_group(root, "memory", limit_in_bytes=500 * MIB, usage_in_bytes=550 * MIB)
    assert discover(root).system["available_memory_bytes"] == "0"


def test_offline_processors_are_left_out() -> None:
    machine = trees.machine("server-offline")
    assert {cpu.os for cpu in machine.topology.cpus} == {0, 1, 2, 4, 5, 6, 7}
    assert machine.system["cpus_offline"] == "3,8-15"
    assert {cache.cpus for cache in machine.topology.data_caches(3)} == {
        frozenset({0, 1, 2}),
        frozenset({4, 5, 6, 7}),
    }


def test_no_memory_node_is_invented(tmp_path: Path) -> None:
    machine = trees.machine("board-no-numa")
    assert (
        machine.topology.numa
        == read_topology_without_caches(FileTree(trees.tree("board-no-numa", tmp_path))).numa
        == ()
    )
    assert {cpu.numa for cpu in machine.topology.cpus} == {None}
    for policy in ("bind", "interleave", "preferred:0", "bind:0"):
        with pytest.raises(DoesNotFitError, match="the system does not state NUMA nodes"):
            plan(machine.topology, parse_request(f"1x1,memory={policy}"))
    assert plan(machine.topology, parse_request("2x1,memory=local")).ranks[0].memory == ()
    assert machine.cache_bytes(3) is None


def test_page_sizes_and_pools() -> None:
    assert trees.machine("power8-2s-smt8").page_sizes == (
        PageSize(64 * 2**10),
        PageSize(16 * 2**20, 64, 64),
        PageSize(16 * 2**30, 0, 0),
    )


@pytest.mark.parametrize(
    ("name", "architecture", "vendor", "nominal_hz"),
    [
        ("xeon-2s-smt2-snc4", "x86_64", "GenuineIntel", 2.0e9),  # the driver's base clock, not cpuinfo's 2.7
        ("container-4of32", "x86_64", "GenuineIntel", 2.1e9),  # the name
        ("epyc-2s-nps4", "x86_64", "AuthenticAMD", 2.45e9),  # the highest step, not the moment's 1.5
        ("altra-1s", "aarch64", "Arm", 3.0e9),
        ("power9-2s-smt4", "ppc64le", "IBM", 3.8e9),
    ],
)
def test_processor(name: str, architecture: str, vendor: str, nominal_hz: float) -> None:
    processor = trees.machine(name).processor
    assert (processor.architecture, processor.vendor, processor.nominal_hz) == (
        architecture,
        vendor,
        nominal_hz,
    )


def test_power_names_its_vectors() -> None:
    processor = trees.machine("power9-2s-smt4").processor
    assert (processor.model, processor.flags) == ("POWER9", frozenset({"altivec", "vsx"}))


def test_a_moving_clock_is_not_stated(tmp_path: Path) -> None:
    root = trees.tree("epyc-2s-nps4", tmp_path)
    (root / f"{trees.CPU}/cpu0/cpufreq/scaling_available_frequencies").unlink()
    assert discover(root).processor.nominal_hz is None
    (root / f"{trees.CPU}/cpu0/acpi_cppc").mkdir()
    (root / f"{trees.CPU}/cpu0/acpi_cppc/nominal_freq").write_text("2450\n")
    assert discover(root).processor.nominal_hz == 2.45e9


def test_system_facts() -> None:
    system = trees.machine("xeon-2s-smt2-snc4").system
    expected = {
        "governor": "powersave",
        "turbo": "on",
        "smt": "on",
        "numa_balancing": "1",
        "thp": "always",
        "pmu": "yes",
    }
    assert system.items() >= expected.items()
    assert system["virtualisation"] == "none"


def test_the_recorded_guest_contradicts_itself() -> None:
    machine = trees.machine("kvm-xeon-2cpu")
    assert machine.system["virtualisation"] == "kvm"
    found = {entry.subject: dict(entry.statements) for entry in machine.disagreements}
    assert "Rocket Lake" in found["processor model"]["/proc/cpuinfo model"]
    assert "Sapphire Rapids or later" in found["processor model"]["/proc/cpuinfo flags"]
    assert "480 MiB L3 for 2 cores" in found["last-level cache"]["/sys/devices/system/cpu cache"]
    assert set(found) == {"processor model", "last-level cache", "memory size"}


@pytest.mark.parametrize("name", trees.described())
def test_consistent_machines_have_no_disagreement(name: str) -> None:
    assert trees.machine(name).disagreements == ()


def test_clocks_out_of_the_limits_disagree() -> None:
    machine = trees.machine("xeon-2s-smt2-snc4")
    found = disagreements(machine, {"cpuinfo_hz": int(4.1e9), "cpuinfo_cpus": 208})
    assert [entry.subject for entry in found] == ["clock"]
    found = disagreements(machine, {"cpuinfo_cpus": 4})
    assert [entry.subject for entry in found] == ["number of processors"]


def test_measurements_are_set_against_what_is_stated() -> None:
    machine = trees.machine("kvm-xeon-2cpu")
    measured = with_measured(machine, clock_hz=3.9e9, cache_bytes=30e6)
    subjects = [entry.subject for entry in measured.disagreements]
    assert subjects[-2:] == ["measured clock", "measured last-level cache"]
    assert measured.may_be_cached_bytes() == 30_000_000
    assert with_measured(measured, 2.6e9) == machine  # agrees again: nothing measured is left to say
    turbo = trees.machine("xeon-2s-smt2-snc4")  # 2.0 GHz stated, up to 3.5
    assert with_measured(turbo, 3.4e9) == turbo
    assert [entry.subject for entry in with_measured(turbo, 1.5e9).disagreements] == ["measured clock"]
    with pytest.raises(ValueError, match="not positive"):
        with_measured(machine, 0.0)


def test_hwloc_is_not_led_astray_by_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HWLOC_SYNTHETIC", "pack:2 core:4 pu:2")
    assert not [entry for entry in discover().disagreements if "hwloc" in dict(entry.statements)]


def test_fingerprint_is_of_the_machine_not_of_the_moment() -> None:
    machine = trees.machine("epyc-2s-nps4")
    later = replace(
        machine,
        name="another",
        system={},
        page_sizes=tuple(replace(page, free_pages=1) for page in machine.page_sizes),
        topology=replace(machine.topology, allowed=frozenset({1})),
    )
    assert fingerprint(later) == fingerprint(machine)
    assert fingerprint(replace(machine, memory_bytes=(machine.memory_bytes or 0) // 2)) != fingerprint(machine)
    weaker = replace(machine.processor, flags=machine.processor.flags - {"avx2"})
    assert fingerprint(replace(machine, processor=weaker)) != fingerprint(machine)
    assert len({fingerprint(trees.machine(name)) for name in ALL}) == len(ALL)


def test_nothing_to_discover_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no CPU is described"):
        discover(tmp_path)


def test_a_recording_discovers_as_its_original(tmp_path: Path) -> None:
    for name in ALL:
        root = trees.tree(name, tmp_path)
        copy = tmp_path / "copies" / name
        record(copy, root)
        assert discover(copy) == discover(root) == trees.machine(name)
    with pytest.raises(FileExistsError, match="not empty"):
        record(tmp_path / "copies" / ALL[0])


def test_a_recording_holds_nothing_personal(tmp_path: Path) -> None:
    root = trees.tree("container-4of32", tmp_path)
    (root / "proc/self/cgroup").write_text("0::/users/alice\n")
    (root / "proc/1").mkdir()
    (root / "proc/1/environ").write_text("SECRET=1\0container=podman\0")
    (root / "sys/fs/cgroup/users/alice").mkdir(parents=True)
    (root / "sys/fs/cgroup/users/alice/cpu.max").write_text("100000 100000\n")
    mounts = "22 1 254:0 / /home/alice rw - ext4 /dev/alice rw\n25 22 0:22 / /data rw s:2 - nfs4 alice:/export rw\n"
    mounts += "28 22 0:25 / /work rw - gpfs alice0 rw\n29 22 0:26 / /tank rw - zfs alice rw\n"
    pseudo = "26 22 0:23 / /proc rw - proc proc rw\n27 22 0:24 / /dev/shm rw - tmpfs tmpfs rw\n"
    (root / "proc/self/mountinfo").write_text(mounts + pseudo)
    written = record(tmp_path / "sent", root)
    everything = "".join(f"{path} {path.read_text()}" for path in written)
    assert not any(word in everything for word in ("alice", "SECRET", "container-4of32\n"))
    assert discover(tmp_path / "sent").system["cgroup_cpu_quota"] == "1"
    assert discover(tmp_path / "sent").system["container"] == "podman"
    assert discover(tmp_path / "sent").system["file_systems"] == "ext4 gpfs nfs4 tmpfs zfs"


def test_the_settings_of_the_live_kernel_are_read() -> None:
    """Linux refuses to read such files into a buffer of 4 MiB or more."""
    tree = FileTree(Path("/"))
    assert tree.text("proc/sys/kernel/osrelease") == os.uname().release
    assert discover().system["kernel"] == os.uname().release


def test_the_live_machine() -> None:
    machine = discover()
    assert machine.topology.allowed == os.sched_getaffinity(0)
    assert machine.page_sizes[0].size_bytes == os.sysconf("SC_PAGE_SIZE")
    assert machine.software["python"].startswith("3.")
    assert (
        observe(machine.topology.usable_cores(), machine.processor.flags, 0.01).environment["PATH"]
        == os.environ["PATH"]
    )


@given(st.frozensets(st.integers(0, 300)))
def test_lists_of_processors_read_back(cpus: frozenset[int]) -> None:
    assert parse_cpus(cpus_text(cpus), or_none=True) == cpus


def test_lists_of_processors() -> None:
    assert parse_cpus("0-6:2,9\n") == {0, 2, 4, 6, 9}
    assert parse_cpus("", or_none=True) == frozenset()
    for wrong in ("a", "1-", "0-4:0", "1,,x"):
        with pytest.raises(ValueError, match="is not a list of numbers"):
            parse_cpus(wrong)


def test_unreadable_files_are_absent(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    tree = FileTree(tmp_path)
    assert tree.text("folder") is None
    assert tree.text("missing") is None
    assert tree.cpus("missing") is None
    (tmp_path / "words").write_text("garbage")
    assert tree.cpus("words") is None
    assert tree.number("words") is None


_NUMBERS = st.integers(0, 2**40)
_MAYBE = st.none() | _NUMBERS
_PLACES = st.integers(-1, 10_000_000)
_TEXT = st.text(max_size=8)
_CPUS = st.frozensets(st.integers(0, 200), max_size=6)
_MACHINES = st.builds(
    Machine,
    name=_TEXT,
    topology=st.builds(
        Topology,
        cpus=st.lists(
            st.builds(Cpu, _PLACES, _PLACES, _PLACES, st.none() | _PLACES, _PLACES, _TEXT), min_size=1, max_size=3
        ).map(tuple),
        caches=st.lists(
            st.builds(
                Cache, st.integers(1, 9), st.sampled_from(["data", "unified"]), _MAYBE, _MAYBE, _CPUS, st.just(8)
            ),
            max_size=3,
        ).map(tuple)
        | st.none(),
        numa=st.lists(
            st.builds(
                NumaNode,
                _PLACES,
                _CPUS,
                _MAYBE,
                st.lists(st.integers(0, 2**31), max_size=3).map(tuple),
                _TEXT,
                st.lists(_MAYBE, max_size=2).map(tuple),
            ),
            max_size=3,
        ).map(tuple),
        allowed=_CPUS,
        complete=st.none() | _CPUS,
        kinds=st.lists(
            st.builds(CpuKind, _CPUS, st.none() | st.integers(0, 9), st.lists(st.tuples(_TEXT, _TEXT)).map(tuple)),
            max_size=2,
        ).map(tuple),
        memory_attributes=st.lists(
            st.builds(MemoryAttribute, _TEXT, _PLACES, st.floats(0, 1e12), _TEXT, st.none() | _CPUS), max_size=2
        ).map(tuple),
    ),
    processor=st.builds(
        Processor, st.none() | _TEXT, _TEXT, _TEXT, st.frozensets(_TEXT, max_size=4), st.none() | st.floats(1e6, 1e11)
    ),
    memory_bytes=_MAYBE,
    page_sizes=st.lists(st.builds(PageSize, _NUMBERS, st.none() | _NUMBERS, st.none() | _NUMBERS), max_size=3).map(
        tuple
    ),
    system=st.dictionaries(_TEXT, _TEXT, max_size=4),
    software=st.dictionaries(_TEXT, _TEXT, max_size=4),
    disagreements=st.lists(
        st.builds(Disagreement, _TEXT, st.lists(st.tuples(_TEXT, _TEXT), max_size=3).map(tuple), _TEXT),
        max_size=2,
    ).map(tuple),
)


@given(_MACHINES)
def test_json_reads_back(machine: Machine) -> None:
    assert trees.from_json(json.loads(json.dumps(to_json(machine)))) == check_machine(machine)


@pytest.mark.parametrize("data", [{}, {"schema": 2}, {"schema": 1, "name": "x"}])
def test_json_that_is_no_machine_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"machine of schema|missing required field"):
        trees.from_json(data)


@pytest.mark.parametrize("garbage", ["", "\n", "-1", "garbage: 5 x", "99999999999999999999", "\xff\x00[", "0-"])
def test_garbage_in_any_file_never_stops_discovery(garbage: str, tmp_path: Path) -> None:
    record(tmp_path / "copy", trees.MACHINES / "kvm-xeon-2cpu")
    for file in sorted(path for path in (tmp_path / "copy").rglob("*") if path.is_file()):
        kept = file.read_bytes()
        file.write_bytes(garbage.encode("latin-1"))
        found = discovered(tmp_path / "copy")
        if isinstance(found, str):
            assert re.match("cannot (read the recording|discover a machine)", found), file
        else:
            assert found.topology.allowed, file
            assert trees.from_json(to_json(found)) == found
        file.write_bytes(kept)


def discovered(root: Path) -> Machine | str:
    """Return the machine, or why it is refused."""
    try:
        return discover(root)
    except ValueError as refusal:
        return str(refusal)


def test_a_recording_is_read_from_plain_files(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "proc" / "cpuinfo")
    tree = FileTree(tmp_path)
    assert tree.text("proc/meminfo") is None
    assert tree.text("proc/cpuinfo") is None
    with (tmp_path / "proc" / "stat").open("wb") as file:
        file.truncate(40 * 2**20)
    assert len(tree.text("proc/stat") or "") <= 16 * 2**20
