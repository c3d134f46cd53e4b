"""Contradictions between the sources of a machine's facts, and the source that Octant uses."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from octant.machine import LAST_CACHE, CpuSet, Disagreement, Machine, NumaNode, Topology
from octant.machine.cpus import CPU, NODE, read_numa_nodes, read_online_cpus
from octant.machine.cpusets import cpus_text
from octant.machine.tree import FileTree
from octant.units import bytes_text, si_text

_INTEL_FAMILY_6 = {  # CPUID model numbers, as the Linux kernel's intel-family.h lists them
    61: "Broadwell", 63: "Haswell server", 71: "Broadwell", 78: "Skylake", 79: "Broadwell server",
    85: "Skylake or Cascade Lake server", 86: "Broadwell server", 94: "Skylake", 106: "Ice Lake server",
    108: "Ice Lake server", 125: "Ice Lake", 126: "Ice Lake", 140: "Tiger Lake", 141: "Tiger Lake",
    142: "Kaby Lake", 143: "Sapphire Rapids", 151: "Alder Lake", 154: "Alder Lake", 158: "Coffee Lake",
    165: "Comet Lake", 167: "Rocket Lake", 170: "Meteor Lake", 173: "Granite Rapids", 174: "Granite Rapids",
    183: "Raptor Lake", 207: "Emerald Rapids",
}  # fmt: skip
_WITH_AMX = frozenset({143, 207, 173, 174})
_WITHOUT_AVX512 = frozenset({61, 63, 71, 78, 79, 86, 94, 142, 158, 165, 170, 183})
_AMD_FAMILIES = {21: "Bulldozer", 23: "Zen 1 or 2", 25: "Zen 3 or 4", 26: "Zen 5"}
_PLAUSIBLE_L3_BYTES = 16 * 2**20
"""Upper limit per visible core. Server processors of 2017–2025 have 1.4 to 12 MiB of L3 per core, stacked caches
included; only a few models with most cores disabled exceed 16, and clouds do not offer virtual machines on those."""


def disagreements(machine: Machine, facts: dict[str, int]) -> tuple[Disagreement, ...]:
    """Return the contradictions among the facts of `machine` and the facts in `facts`.

    `facts`: `cpuinfo_cpus` (processors in /proc/cpuinfo) and `cpuinfo_hz` (their clock frequency); both are optional.
    """
    checks = _model(machine), _host_cache(machine), _sizes(machine, facts), _clock(machine, facts)
    return tuple(found for check in checks for found in check)


def _disagreement(subject: str, trusted: str, *statements: tuple[str, str]) -> Disagreement:
    return Disagreement(subject, statements, trusted)


def _model(machine: Machine) -> Iterator[Disagreement]:
    family, model = (int(machine.system.get(key, -1)) for key in ("family", "model"))
    flags, vendor = machine.processor.flags, machine.processor.vendor
    generation, signs = "", ()  # type: str, tuple[str, ...]
    if vendor == "GenuineIntel" and family == 6 and model in _INTEL_FAMILY_6:
        name = _INTEL_FAMILY_6[model]
        if "amx_tile" in flags and model not in _WITH_AMX:
            generation, signs = "Sapphire Rapids or later", ("amx_tile", "amx_bf16", "avx512_fp16")
        elif "avx512f" in flags and model in _WITHOUT_AVX512:
            generation, signs = "a core with AVX-512", ("avx512f", "avx512_vnni", "avx512_bf16")
    elif vendor == "AuthenticAMD" and family in _AMD_FAMILIES:
        name = _AMD_FAMILIES[family]
        if "avx512f" in flags and family < 25:
            generation, signs = "Zen 4 or later", ("avx512f", "avx512_vnni")
    if generation:
        newest = ", ".join(flag for flag in signs if flag in flags)
        yield _disagreement(
            "processor model",
            "flags: the processor executes these instructions; a hypervisor may change the model number",
            ("/proc/cpuinfo model", f"family {family} model {model}: {name}"),
            ("/proc/cpuinfo flags", f"{newest}: {generation}"),
        )


def _host_cache(machine: Machine) -> Iterator[Disagreement]:
    cores, system = len(machine.topology.groups("core")), machine.system.get("virtualisation", "none")
    l3_bytes = sum(c.size_bytes or 0 for c in machine.topology.data_caches(3))
    if system != "none" and l3_bytes > _PLAUSIBLE_L3_BYTES * cores:
        yield _disagreement(
            LAST_CACHE,
            "neither: the size is that of the whole host; measure the latency ladder to find the guest's capacity",
            ("/sys/devices/system/cpu cache", f"{bytes_text(l3_bytes)} L3 for {cores} core{'s' * (cores > 1)}"),
            ("virtualisation", f"{system} guest: other cores of the host share the cache"),
        )


def _sizes(machine: Machine, facts: dict[str, int]) -> Iterator[Disagreement]:
    nodes_bytes, memory_bytes = sum(node.memory_bytes or 0 for node in machine.topology.numa), machine.memory_bytes
    if nodes_bytes and memory_bytes and abs(nodes_bytes - memory_bytes) > 0.02 * memory_bytes:
        yield _disagreement(
            "memory size",
            "/proc/meminfo; the cause of the difference is unknown",
            ("/proc/meminfo", f"{bytes_text(machine.memory_bytes)} in total"),
            ("/sys/devices/system/node", f"{bytes_text(nodes_bytes)} in all nodes"),
        )
    listed, online = facts.get("cpuinfo_cpus", 0), len(machine.topology.cpus)
    if listed and listed != online:
        yield _disagreement(
            "number of processors",
            "/sys/devices/system/cpu/online: containers may mask /proc/cpuinfo",
            ("/proc/cpuinfo", f"{listed} processors"),
            ("/sys/devices/system/cpu/online", f"{online} hardware threads"),
        )


def _clock(machine: Machine, facts: dict[str, int]) -> Iterator[Disagreement]:
    shown_hz, stated_hz = facts.get("cpuinfo_hz", 0), machine.processor.nominal_hz
    low_hz, high_hz = (float(machine.system.get(key, 0)) for key in ("frequency_min_hz", "frequency_max_hz"))
    shown = ("/proc/cpuinfo cpu MHz", si_text(shown_hz, "Hz"))
    if shown_hz and high_hz and not 0.98 * low_hz <= shown_hz <= 1.02 * high_hz:
        trusted = "cpufreq: it sets the clock frequency; cpuinfo may show the frequency of the time-stamp counter"
        limits = ("cpufreq limits", f"{si_text(low_hz, 'Hz')} to {si_text(high_hz, 'Hz')}")
        yield _disagreement("clock", trusted, shown, limits)
    if shown_hz and stated_hz and not high_hz and abs(shown_hz - stated_hz) > 0.05 * stated_hz:
        trusted = "neither: there is no cpufreq; measure the clock with a loop of dependent operations"
        yield _disagreement("clock", trusted, shown, ("processor name", si_text(stated_hz, "Hz")))


def read_kernel_statements(tree: FileTree) -> dict[str, str]:
    """Return the statements of the kernel's files about facts that hwloc may correct, by subject."""
    online, listed = read_online_cpus(tree), tree.cpus(f"{CPU}/online")
    nodes = read_numa_nodes(tree, online)
    found = {"hardware threads": cpus_text(listed)} if listed else {}
    if any(node.cpus for node in nodes):
        found |= _node_statements(nodes)
    caches, unstated = _kernel_caches(tree, online)
    stated = [(subject, size) for (subject, _), size in caches.items() if subject not in unstated]
    return found | _cache_statements(stated)


def find_unshared_caches(tree: FileTree, topology: Topology) -> str:
    """Return the caches beyond those of the topology whose sharing the kernel does not state, or ""."""
    last = max((_cache_subject(cache.level, cache.kind) for cache in topology.data_caches()), default="")
    unstated = _kernel_caches(tree, read_online_cpus(tree))[1]
    return ", ".join(sorted(one for one in unstated if one > last and not one.startswith("L1i")))


def _kernel_caches(tree: FileTree, online: CpuSet) -> tuple[dict[tuple[str, CpuSet], int | None], set[str]]:
    """Return cache sizes by subject and hardware threads, and the subjects of caches whose sharing is not stated."""
    caches: dict[tuple[str, CpuSet], int | None] = {}
    unstated = set()
    for subject, listed, mask in _set_files(tree, online):
        if subject.startswith("L"):
            cpus, size = tree.cpu_set(listed, mask), tree.text(f"{listed.rpartition('/')[0]}/size") or ""
            if not cpus:
                unstated.add(subject)
            else:
                kib = re.fullmatch("([0-9]{1,9})K", size)
                caches.setdefault((subject, cpus & online), int(kib[1]) * 1024 if kib else None)
    return caches, unstated


def compare_with_kernel(
    topology: Topology, kernel: Mapping[str, str], missing: CpuSet = frozenset()
) -> tuple[Disagreement, ...]:
    """Return the differences between hwloc's topology and the kernel's files; empty if the topology is not hwloc's.

    `missing`: hardware threads that are listed as online and have no files.
    """
    if topology.caches is None:
        return ()
    found = {"hardware threads": cpus_text(cpu.os for cpu in topology.cpus), **_node_statements(topology.numa)}
    found |= _cache_statements([(_cache_subject(c.level, c.kind), c.size_bytes) for c in topology.caches])
    trusted = "hwloc; the cause of the difference is unknown"
    if missing:
        trusted = f"hwloc: the files of hardware threads {cpus_text(missing)} are missing"
    both = ((subject, stated, found.get(subject, "none")) for subject, stated in kernel.items())
    return tuple(
        _disagreement(subject, trusted, ("/sys/devices/system", stated), ("hwloc", corrected))
        for subject, stated, corrected in both
        if stated != corrected
    )


def find_contradictions(tree: FileTree, topology: Topology) -> Iterator[Disagreement]:
    """Yield contradictions in the kernel's files about cores, caches and NUMA nodes; hwloc resolves them silently.

    Examples: a list differs from its mask, names hardware threads that do not exist, or overlaps another list in part;
    a core is in more than one package.
    """
    online = frozenset(cpu.os for cpu in topology.cpus)
    exist = online | frozenset(tree.numbers(CPU, "cpu")) | (tree.cpus(f"{CPU}/present") or frozenset())
    owners: dict[tuple[str, int], tuple[str, CpuSet]] = {}
    found: dict[tuple[str, str], dict[str, str]] = {}

    def add(subject: str, what: str, *sets: tuple[str, CpuSet]) -> None:
        found.setdefault((subject, what), {}).update((path, cpus_text(cpus)) for path, cpus in sets)

    for subject, *paths in _set_files(tree, online):
        read = zip(paths, (tree.cpus(paths[0]), tree.mask(paths[1])), strict=True)
        both = [(path, cpus) for path, cpus in read if cpus is not None]
        if len({cpus for _, cpus in both}) > 1:
            add(subject, "list and mask differ", *both)
        for path, cpus in both[:1]:
            if cpus - exist:
                add(subject, "they contain hardware threads that do not exist", (path, cpus))
            if cpus and owners.get((subject, min(cpus)), ("", frozenset()))[1] != cpus:
                for cpu in cpus:
                    first = owners.setdefault((subject, cpu), (path, cpus))
                    if first[1] & online != cpus & online:
                        add(subject, "they overlap in part", first, (path, cpus))
            packages = {cpu: tree.text(f"{CPU}/cpu{cpu}/topology/physical_package_id") for cpu in cpus & online}
            if subject == "cores" and len({*packages.values()} - {None}) > 1:
                found.setdefault((subject, "one core is in more than one package"), {})[path] = (
                    f"{cpus_text(cpus)}, in packages {', '.join(sorted(filter(None, packages.values())))}"
                )
    source = "hwloc" if topology.complete is not None else "the lists"
    for (subject, what), statements in found.items():
        trusted = f"contradiction: {what}; the topology is that of {source}"
        yield _disagreement(subject, trusted, *list(statements.items())[:4])


def _set_files(tree: FileTree, online: CpuSet) -> Iterator[tuple[str, str, str]]:
    """Yield the subject and the paths of each pair of files with a list and a mask of hardware threads."""
    for cpu in sorted(online):
        for name in ("core_cpus", "thread_siblings"):
            path = f"{CPU}/cpu{cpu}/topology/{name}"
            yield "cores", f"{path}_list", path
        for index in tree.numbers(f"{CPU}/cpu{cpu}/cache", "index"):
            path = f"{CPU}/cpu{cpu}/cache/index{index}"
            subject = _cache_subject(tree.amount(f"{path}/level"), (tree.text(f"{path}/type") or "").lower())
            yield subject or "caches", f"{path}/shared_cpu_list", f"{path}/shared_cpu_map"
    for number in tree.numbers(NODE, "node"):
        yield "NUMA nodes", f"{NODE}/node{number}/cpulist", f"{NODE}/node{number}/cpumap"


def _node_statements(nodes: Sequence[NumaNode]) -> dict[str, str]:
    sizes = ", ".join(f"{node.os}: {bytes_text(node.memory_bytes or None)}" for node in nodes)
    return {"NUMA nodes": cpus_text(node.os for node in nodes), "memory of NUMA nodes": sizes}


def _cache_subject(level: int | None, kind: str) -> str:
    letter = {"data": "d", "instruction": "i", "unified": ""}.get(kind)
    return f"L{level}{letter} caches" if level and letter is not None else ""


def _cache_statements(caches: Iterable[tuple[str, int | None]]) -> dict[str, str]:
    """Return the number of caches of each size, by subject."""
    found: dict[str, list[str]] = {}
    for (subject, size), count in sorted(Counter(caches).items(), key=lambda one: (one[0][0], one[0][1] or 0)):
        found.setdefault(subject, []).append(f"{count} of {bytes_text(size)}")
    return {subject: ", ".join(parts) for subject, parts in found.items()}
