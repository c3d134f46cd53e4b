"""Machines for tests: recorded trees, and trees written from the descriptions in `machines/trees/*.toml`."""

import functools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from octant.machine import Machine
from octant.machine.codec import StoredMachine
from octant.machine.cpusets import cpus_text, parse_cpus
from octant.machine.discover import discover, from_tree
from octant.machine.tree import FileTree
from octant.untrusted import InputTable, convert
from paths import ROOT

MACHINES = ROOT / "machines" / "trees"
CPU = "sys/devices/system/cpu"


def from_json(data: dict[str, object]) -> Machine:
    """The machine that `octant.machine.codec.to_json` wrote."""
    return msgspec.convert(data, StoredMachine).machine()


class Cores(InputTable, frozen=True):
    """A run of like cores in every NUMA domain."""

    count: int
    threads: int = 1
    kind: Literal["", "performance", "efficiency"] = ""


class SharedCache(InputTable, frozen=True):
    """A cache of so many neighbouring cores of a NUMA domain; 0 cores: of the whole package."""

    level: int
    size: str
    type: Literal["Data", "Instruction", "Unified"] = "Unified"
    line: int = 64
    cores: int = 1
    kind: str = ""  # only of these cores, counted among their like


class Description(InputTable, frozen=True, kw_only=True):
    """A machine in a few lines."""

    origin: str
    architecture: str
    packages: int = 1
    domains: int = 1  # NUMA domains in a package
    cores: tuple[Cores, ...]
    siblings: Literal["near", "far"] = "near"  # numbers of a core's threads: 0,1 or 0,64
    caches: tuple[SharedCache, ...]
    memory_kib: int  # of each domain
    distances: tuple[int, int] = (12, 32)  # in the package, across
    numa: bool = True
    offline: str = ""
    allowed: str = ""
    pools: Mapping[str, int] = {}
    cpuinfo: str  # of one processor
    files: Mapping[str, str] = {}


@dataclass(frozen=True)
class Thread:
    """One hardware thread: its core in the NUMA domain and among its like, its domain, package and kind."""

    os: int
    core: int
    alike: int
    domain: int
    package: int
    kind: str


def _threads(made: Description) -> list[Thread]:
    """Every hardware thread that is switched on, numbered as `siblings` says."""
    kinds = [(cores, alike) for cores in made.cores for alike in range(cores.count)]
    slots = [
        (sibling, Thread(0, core, alike, domain, domain // made.domains, cores.kind))
        for domain in range(made.packages * made.domains)
        for core, (cores, alike) in enumerate(kinds)
        for sibling in range(cores.threads)
    ]
    if made.siblings == "far":
        slots.sort(key=lambda slot: slot[0])
    offline = parse_cpus(made.offline, or_none=True)
    return [replace(thread, os=os) for os, (_sibling, thread) in enumerate(slots) if os not in offline]


def _files(made: Description, name: str) -> Iterator[tuple[str, str]]:
    threads = _threads(made)
    online = cpus_text(thread.os for thread in threads)
    yield f"{CPU}/online", online
    yield f"{CPU}/offline", made.offline
    yield from _cpu_files(made, threads)
    if made.numa:
        yield from _node_files(made, threads)
    for kind, unit in (("performance", "cpu_core"), ("efficiency", "cpu_atom")):
        cpus = cpus_text(thread.os for thread in threads if thread.kind == kind)
        if cpus:
            yield f"sys/devices/{unit}/cpus", cpus
    for size, pages in made.pools.items():
        for file in ("nr_hugepages", "free_hugepages"):
            yield f"sys/kernel/mm/hugepages/hugepages-{size}kB/{file}", str(pages)
    one = made.cpuinfo.strip()
    yield "proc/cpuinfo", "\n\n".join(f"processor\t: {thread.os}\n{one}" for thread in threads)
    memory_kib = made.memory_kib * made.packages * made.domains
    yield "proc/meminfo", f"MemTotal: {memory_kib} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB"
    yield "proc/sys/kernel/arch", made.architecture
    yield "proc/sys/kernel/hostname", name
    yield "proc/self/status", f"Cpus_allowed_list:\t{made.allowed or online}"
    yield from made.files.items()


def _cpu_files(made: Description, threads: list[Thread]) -> Iterator[tuple[str, str]]:
    def group(thread: Thread, cache: SharedCache) -> tuple[int, int, str]:
        number = thread.alike if cache.kind else thread.core
        return (thread.domain, number // cache.cores, cache.kind) if cache.cores else (thread.package, -1, "")

    core = SharedCache(level=0, size="0")
    members: dict[tuple[SharedCache, tuple[int, int, str]], list[int]] = {}
    for thread in threads:
        for cache in (core, *made.caches):
            if cache.kind in ("", thread.kind):
                members.setdefault((cache, group(thread, cache)), []).append(thread.os)
    for thread in threads:
        folder = f"{CPU}/cpu{thread.os}"
        yield f"{folder}/topology/physical_package_id", str(thread.package)
        yield f"{folder}/topology/core_cpus_list", cpus_text(members[core, group(thread, core)])
        for index, cache in enumerate(c for c in made.caches if c.kind in ("", thread.kind)):
            yield f"{folder}/cache/index{index}/level", str(cache.level)
            yield f"{folder}/cache/index{index}/type", cache.type
            yield f"{folder}/cache/index{index}/size", cache.size
            yield f"{folder}/cache/index{index}/coherency_line_size", str(cache.line)
            sharing = members[cache, group(thread, cache)]
            yield f"{folder}/cache/index{index}/shared_cpu_list", cpus_text(sharing)


def _node_files(made: Description, threads: list[Thread]) -> Iterator[tuple[str, str]]:
    nodes = range(made.packages * made.domains)
    yield "sys/devices/system/node/online", cpus_text(nodes)
    near, far = made.distances
    for node in nodes:
        same = [other // made.domains == node // made.domains for other in nodes]
        distances = (10 if other == node else near if same[other] else far for other in nodes)
        folder = f"sys/devices/system/node/node{node}"
        yield f"{folder}/cpulist", cpus_text(thread.os for thread in threads if thread.domain == node)
        yield f"{folder}/meminfo", f"Node {node} MemTotal: {made.memory_kib} kB"
        yield f"{folder}/distance", " ".join(map(str, distances))


def described() -> list[str]:
    """Names of the hand-made machines."""
    return sorted(path.stem for path in MACHINES.glob("*.toml"))


def description(name: str) -> Description:
    """What is described of a hand-made machine."""
    return convert(tomllib.loads((MACHINES / f"{name}.toml").read_text(encoding="utf-8")), Description)


class InMemory(FileTree):
    """The files of a hand-made machine without a disk, where writing and removing thousands of them takes seconds."""

    def __init__(self, name: str) -> None:
        super().__init__(Path("/nowhere", name))
        self.read = {path: text + "\n" for path, text in _described_files(name)}

    def names(self, folder: str) -> list[str]:
        """Return the names of a folder's entries, sorted."""
        begin = f"{folder}/"
        return sorted({path.removeprefix(begin).split("/")[0] for path in self.read if path.startswith(begin)})


def _described_files(name: str) -> Iterator[tuple[str, str]]:
    yield from _files(description(name), name)


def tree(name: str, folder: Path) -> Path:
    """The root of a machine's files: the recording itself, or a hand-made one written below `folder`."""
    if (MACHINES / name).is_dir():
        return MACHINES / name
    root = folder / name
    for path, text in _described_files(name):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text + "\n", encoding="utf-8")
    return root


@functools.cache
def machine(name: str) -> Machine:
    """A recorded or hand-made machine as discovery sees it."""
    return discover(MACHINES / name) if (MACHINES / name).is_dir() else from_tree(InMemory(name))
