"""Recordings of machines: they contain what hwloc and Octant read, and nothing personal."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import trees
from octant.machine import Machine
from octant.machine.codec import fingerprint
from octant.machine.discover import discover
from octant.machine.hwloc import recorded_tree
from octant.machine.recording import record
from octant.machine.system import VOLATILE
from paths import Octant

CPU = "sys/devices/system/cpu"
NODE = "sys/devices/system/node"


def write(root: Path, path: str, text: str) -> None:
    """Write a file of a machine."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(f"{text}\n")


def link(root: Path, path: str, aim: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).symlink_to(aim)


def heterogeneous(root: Path) -> Path:
    """Write four CPUs in a control group of three, a node of DRAM and one of a DAX device, and masks without lists."""
    for cpu in range(4):
        for name, text in (("physical_package_id", "0"), ("core_id", str(cpu // 2)), ("package_cpus", "f")):
            write(root, f"{CPU}/cpu{cpu}/topology/{name}", text)
        write(root, f"{CPU}/cpu{cpu}/topology/core_cpus", "3" if cpu < 2 else "c")
        write(root, f"{CPU}/cpu{cpu}/cpu_capacity", "512" if cpu < 2 else "1024")
        for name, text in (("level", "2"), ("type", "Unified"), ("size", "1024K"), ("shared_cpu_map", "f")):
            write(root, f"{CPU}/cpu{cpu}/cache/index0/{name}", text)
        write(root, f"{CPU}/cpu{cpu}/cache/index0/coherency_line_size", "64")
    write(root, f"{CPU}/online", "0-3")
    for node, mask in ((0, "f"), (1, "0")):
        write(root, f"{NODE}/node{node}/cpumap", mask)
        write(root, f"{NODE}/node{node}/meminfo", f"Node {node} MemTotal: 1048576 kB")
        write(root, f"{NODE}/node{node}/distance", "10 20" if node == 0 else "20 10")
        write(root, f"{NODE}/node{node}/access1/initiators/read_bandwidth", f"{100000 + node}")
        link(root, f"{NODE}/node{node}/access1/initiators/node0", "../../../node0")
    write(root, f"{NODE}/online", "0-1")
    write(root, f"{NODE}/node1/memory_side_cache/index1/size", str(1 << 20))
    write(root, f"{NODE}/node1/memory_side_cache/index1/line_size", "64")
    write(root, f"{NODE}/node1/memory_side_cache/index1/indexing", "0")
    dax = "sys/devices/platform/hmem.0/dax0.0"
    write(root, f"{dax}/target_node", "1")
    link(root, "sys/bus/dax/devices/dax0.0", "../../../devices/platform/hmem.0/dax0.0")
    link(root, "sys/bus/dax/drivers/kmem/dax0.0", "../../../../devices/platform/hmem.0/dax0.0")
    write(root, "proc/mounts", "none /dev/cpuset cpuset rw,noprefix 0 0\n/dev/sda1 /home/alice ext4 rw 0 0")
    write(root, "proc/self/cpuset", "/alice/job")
    write(root, "dev/cpuset/alice/job/cpus", "0-2")
    write(root, "dev/cpuset/alice/job/mems", "0-1")
    write(root, "proc/meminfo", "MemTotal: 2097152 kB")
    write(root, "proc/cpuinfo", "\n\n".join(f"processor\t: {cpu}" for cpu in range(4)) + "\n\nSerial\t: 10000000a11ce")
    write(root, "proc/hwloc-nofile-info", "OSName: Linux\nHostName: alice-pc\nArchitecture: aarch64\nPageSize: 65536")
    return root


def personal_removed(xml: str) -> str:
    """Return hwloc's XML with the control group numbered, and without serial number and host name."""
    kept = (line for line in xml.splitlines() if not re.search('name="(HardwareSerial|HostName)"', line))
    return "\n".join(kept).replace("/alice/job", "/group1/group2")


def test_hwloc_reads_a_recording_as_its_original(tmp_path: Path) -> None:
    root = heterogeneous(tmp_path / "original")
    record(tmp_path / "copy", root)
    theirs, ours = recorded_tree(root), recorded_tree(tmp_path / "copy")
    facts = ("ReadBandwidth", "100001", "DAXType", "LinuxCapacity", "MemCache", "<indexes", "aarch64")
    assert [fact for fact in facts if fact not in theirs] == []
    assert 'allowed_cpuset="0x00000007"' in theirs
    assert ours.splitlines() == personal_removed(theirs).splitlines()


def test_a_recording_of_other_mounts_holds_nothing_personal(tmp_path: Path) -> None:
    written = record(tmp_path / "copy", heterogeneous(tmp_path / "original"))
    everything = "".join(f"{path} {path.read_text() if path.is_file() else path.readlink()}" for path in written)
    assert "alice" not in everything
    assert "a11ce" not in everything
    assert "/dev/cpuset cpuset rw,noprefix" in everything


def test_a_path_out_of_the_mount_of_control_groups_keeps_its_form(tmp_path: Path) -> None:
    """In a container the path of the group may lead out of what is mounted; its limits are found all the same."""
    root = trees.tree("container-4of32", tmp_path)
    write(root, "proc/self/cgroup", "0::/../alice")
    write(root, "sys/fs/cgroup/alice/cpu.max", "150000 100000")
    record(tmp_path / "copy", root)
    assert (tmp_path / "copy/proc/self/cgroup").read_text() == "0::/../group1\n"
    assert discover(tmp_path / "copy").system == discover(root).system
    assert discover(root).system["cgroup_cpu_quota"] == "1.5"


def test_links_that_leave_the_machine_are_not_recorded(tmp_path: Path) -> None:
    root = heterogeneous(tmp_path / "original")
    write(tmp_path, "secret/target_node", "s3cret")
    link(root, "sys/bus/dax/devices/dax1.0", "../../../../../secret")
    link(root, "sys/bus/dax/devices/dax2.0", str(tmp_path / "secret"))
    record(tmp_path / "copy", root)
    assert [path.name for path in (tmp_path / "copy/sys/bus/dax/devices").iterdir()] == ["dax0.0"]


@pytest.mark.parametrize("account", ["as it is", "ordinary"])
def test_a_recording_is_the_live_machine(account: str, octant: Octant, ordinary: Sequence[str], tmp_path: Path) -> None:
    """Everything but the versions of software, which are no files of the kernel, and what changes at any moment."""
    within = ordinary if account == "ordinary" else ()
    recorded = octant("machine", "--record", str(tmp_path / "copy"), within=within)
    assert recorded.returncode == 0, recorded.stderr
    live, copy = (
        trees.from_json(json.loads(octant("machine", "--json", *words, within=within).stdout))
        for words in ((), ("--from", str(tmp_path / "copy")))
    )
    assert lasting(live) == lasting(copy)
    assert fingerprint(live) == fingerprint(copy)


def lasting(machine: Machine) -> Machine:
    """Return a machine without its name, software, and what changes at any moment."""
    system = {key: value for key, value in machine.system.items() if key not in VOLATILE}
    pages = tuple(replace(page, free_pages=None) for page in machine.page_sizes)
    return replace(machine, name="", software={}, system=system, page_sizes=pages)
