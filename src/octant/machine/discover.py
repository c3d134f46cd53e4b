"""The only probe: reads the local machine, or a recorded one, and what surrounds a measurement."""

import os
import platform
import re
import sysconfig
import time
from dataclasses import replace
from pathlib import Path

from octant.machine import CpuSet, Machine, Topology
from octant.machine.blas import VARIABLE, openblas, openblas_path, with_trials
from octant.machine.cpus import affinity, cgroup_cpus, online_cpus, topology_without_caches, total_bytes
from octant.machine.crosscheck import disagreements, disagreements_with_kernel, kernel_statements
from octant.machine.hwloc import NoHwlocError, read_xml, recorded_tree, this_machine
from octant.machine.hwloc.xml import known_sum
from octant.machine.prefetcher import prefetch_switch
from octant.machine.processor import processor
from octant.machine.sanity import checked
from octant.machine.software import software
from octant.machine.surroundings import Process, Surroundings
from octant.machine.system import page_sizes, system
from octant.machine.tree import Tree
from octant.machine.trials import tried

_POLICIES = {0: "other", 1: "fifo", 2: "round-robin", 3: "batch", 5: "idle", 6: "deadline"}  # linux/sched.h
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD, linux/sched.h


def discover(root: Path = Path("/")) -> Machine:
    """The machine whose `sys`, `proc` and `etc` are below `root`.

    With the default this is the live one: the mask of the process is asked of the scheduler, and versions of
    libraries are probed. Any other `root` is a recording, which gives the same answer everywhere.

    Raises:
        ValueError: nothing below `root` describes a machine.
    """
    return from_tree(Tree(root))


def from_tree(tree: Tree) -> Machine:
    """`discover` on an open tree, so that a recorder can see which files were read."""
    topology, unknown = _topology(tree)
    machine = Machine(
        name=tree.text("proc/sys/kernel/hostname") or (platform.node() if tree.live else tree.root.name),
        topology=topology,
        processor=processor(tree),
        memory_bytes=total_bytes(tree) or known_sum(topology.numa),
        page_sizes=page_sizes(tree, os.sysconf("SC_PAGE_SIZE") if tree.live else None),
        system=system(tree) | unknown,
        software=software() if tree.live else {},
    )
    if tree.live and not machine.processor.architecture:
        machine = replace(machine, processor=replace(machine.processor, architecture=platform.machine() or None))
    if tree.live:
        machine = replace(machine, system=machine.system | prefetch_switch(machine))
    found = disagreements(machine, _further(tree))
    found += disagreements_with_kernel(topology, kernel_statements(tree))
    return checked(replace(machine, disagreements=found))


def _topology(tree: Tree) -> tuple[Topology, dict[str, str]]:
    """The topology, and why its caches are not known if they are not.

    Raises:
        ValueError: hwloc cannot read the recording, or nothing below the root describes a machine.
    """
    online, unknown = online_cpus(tree), {}
    try:
        topology = read_xml(this_machine() if tree.live else recorded_tree(tree))
    except NoHwlocError as error:
        topology, unknown = topology_without_caches(tree), {"caches_unknown": str(error)}
    except ValueError as error:
        if not tree.live:
            raise
        topology, unknown = topology_without_caches(tree), {"caches_unknown": str(error)}
    usable = topology.allowed & (_allowed_cpus(tree) & online or online)
    return replace(topology, allowed=usable or topology.allowed), unknown


def _allowed_cpus(tree: Tree) -> CpuSet:
    """The mask of the process within the cpuset of its control group."""
    mask = affinity(tree)  # read in any case, so that a recording holds it
    if tree.live and hasattr(os, "sched_getaffinity"):
        mask = frozenset(os.sched_getaffinity(0))
    group = cgroup_cpus(tree)
    return mask & group if group and mask & group else mask


def _further(tree: Tree) -> dict[str, int]:
    """Facts that are only compared with others."""
    text = tree.text("proc/cpuinfo") or ""
    clock = re.search(r"(?m)^cpu MHz\s*:\s*(\d{1,9}(?:\.\d{1,9})?)", text)
    facts = {"cpuinfo_cpus": len(re.findall(r"(?m)^processor\s*:\s*\d+", text))}
    return facts | ({"cpuinfo_hz": int(float(clock[1]) * 1e6)} if clock else {})


def surroundings(machine: Machine, watch_s: float = 0.25) -> Surroundings:
    """Environment, foreign processes (observed for `watch_s` seconds), OpenMP runtimes, OpenBLAS. Live only."""
    before, begin_s = _times(), time.monotonic()
    time.sleep(watch_s)
    after, passed_s = _times(), time.monotonic() - begin_s
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    busy, realtime = [], []
    for pid, (command, ticks, policy, kernel) in after.items():
        earlier = before.get(pid)
        if earlier is None or pid == os.getpid():
            continue
        process = Process(pid, command, max(ticks - earlier[1], 0) * tick_s / passed_s, _POLICIES.get(policy, "other"))
        if process.cpus > 0.02:
            busy.append(process)
        if process.policy in ("fifo", "round-robin", "deadline") and not kernel:
            realtime.append(process)
    busy.sort(key=lambda process: -process.cpus)
    library, flags = openblas_path(), machine.processor.flags
    blas = openblas(library) if library else None
    return Surroundings(
        dict(os.environ),
        tuple(busy),
        tuple(realtime),
        _openmp_libraries(),
        with_trials(blas, flags, VARIABLE in os.environ) if blas else None,
        tried(machine.topology.usable_cores()),
    )


def _times() -> dict[int, tuple[str, int, int, bool]]:
    """Process number to command, clock ticks used, scheduling policy, and whether it is the kernel's own."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text(errors="replace")
        except OSError:
            continue  # it ended between the listing and the look
        # The command is in parentheses and may contain anything, parentheses included.
        command, words = text[text.find("(") + 1 : text.rfind(")")], text[text.rfind(")") + 2 :].split()
        ticks, policy = int(words[11]) + int(words[12]), int(words[38])
        found[int(folder.name)] = (command, ticks, policy, bool(int(words[6]) & _KERNEL_THREAD))
    return found


def _openmp_libraries() -> tuple[str, ...]:
    """OpenMP runtimes that packages of this Python bring with them."""
    packages = Path(sysconfig.get_path("platlib"))
    places = [
        packages,
        *packages.glob("*.libs"),
        *packages.glob("*/lib"),
        *packages.glob("*/.dylibs"),
        packages.parents[1],
    ]
    names = re.compile(r"lib(gomp|iomp5|omp|xlomp)[-.\w]*\.so[.\d]*")
    return tuple(
        sorted(
            str(path) for place in places if place.is_dir() for path in place.iterdir() if names.fullmatch(path.name)
        )
    )
