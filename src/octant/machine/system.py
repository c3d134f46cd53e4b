"""System settings: pages, clock, SMT, NUMA balancing, virtualisation, control groups, limits.

The names of these facts are the keys of `Machine.system`. Facts that the system does not report are absent.

| key | value |
| --- | --- |
| `kernel`, `distribution` | release of the kernel; name of the distribution |
| `thp`, `thp_defrag` | the chosen value: `always`, `madvise`, `never` (and `defer`, …) |
| `thp_sizes` | the multi-size setting of each size that is not `never`: `64kB=madvise 2048kB=inherit` |
| `governor`, `frequency_driver`, `energy_preference` | values of cpufreq; governors joined by a space |
| `frequency_min_hz`, `frequency_max_hz`, `frequency_now_hz` | limits of the hardware; current frequency |
| `turbo` | `on` or `off` |
| `smt` | `on`, `off`, `forceoff`, `notsupported`, `notimplemented` |
| `numa_balancing` | `0`, `1`, `2` (kernel.numa_balancing) |
| `virtualisation`, `container` | `none` or the hypervisor's name; `none` or the container's kind |
| `clock_source`, `clock_sources` | clock source in use; available clock sources |
| `cpus_offline`, `cpus_isolated`, `cpus_nohz_full` | lists of hardware threads |
| `cgroup_cpu_quota` | CPU quota of the control group in CPUs: `1.5` |
| `cgroup_memory_bytes` | memory limit of the control group |
| `limit_memlock_bytes`, `limit_stack_bytes` | soft limits, a number or `unlimited` |
| `pressure` | `yes` if pressure-stall information is available |
| `steal_fraction` | fraction of CPU time stolen by the hypervisor since boot |
| `perf_event_paranoid`, `pmu` | value of the kernel; `yes` with hardware counters, `no` with software events only |
| `aslr` | `0`, `1`, `2` (kernel.randomize_va_space) |
| `file_systems` | mounted kinds of file systems that contain files: `ext4 nfs4 tmpfs` |
| `swap_bytes`, `swap_used_bytes`, `load_1min` | from /proc, at the time of discovery |
| `available_memory_bytes` | available memory at the time of discovery, also within the control groups |
| `hwprefetch`, `hwprefetch_why` | switch of the hardware prefetcher: `msr`, `dscr`; if there is none, the reason |
| `caches_unknown` | reason why caches are not known, and what to install |
| `family`, `model`, `stepping` | CPUID numbers on x86 |
| `microcode` | revision of the microcode, hexadecimal; several revisions are joined by a space |
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from octant.machine import PageSize
from octant.machine.cpus import CPU, list_cgroup_folders
from octant.machine.cpusets import cpus_text
from octant.machine.processor import architecture, model_numbers
from octant.machine.tree import FileTree

THP = "sys/kernel/mm/transparent_hugepage"
FILE_SYSTEMS = {
    "local": ("local file systems", ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "zfs", "overlay")),
    "nfs": ("NFS", ("nfs", "nfs4")),
    "parallel": ("parallel file systems", ("lustre", "gpfs", "beegfs", "ceph")),
}
"""Classes of file systems: their printed names, and the kinds of mounts that belong to them."""
EVENT_SOURCES = "sys/bus/event_source/devices"
VOLATILE = frozenset(
    {
        "frequency_now_hz",
        "steal_fraction",
        "swap_used_bytes",
        "available_memory_bytes",
        "caches_unknown",
        "file_systems",
        "hwprefetch",
        "hwprefetch_why",
        "load_1min",
        "limit_memlock_bytes",
        "limit_stack_bytes",
    }
)
"""Facts that may change on the same machine."""
_HIDDEN_MICROCODE = "0xffffffff"
"""Revision that virtual machines report if the hypervisor does not state it."""
_ONLY_PAGE: Mapping[str | None, int] = {"x86_64": 4096, "s390x": 4096}
"""Base page size in bytes of architectures that have only one."""
_LIMITS = ("memory.max", "memory.limit_in_bytes")
_BOUNDS = (
    (("memory.max", "memory.high"), "memory.current"),
    (("memory.limit_in_bytes",), "memory.usage_in_bytes"),
    (("memory.memsw.limit_in_bytes",), "memory.memsw.usage_in_bytes"),
)
"""Files of a control group with memory limits, and the file with the usage: version 2, version 1, with swap."""


def system(tree: FileTree) -> dict[str, str]:
    """Return the facts of the table above that the files of `tree` contain."""
    facts = [*_kernel(tree), *_pages(tree), *_clock(tree), *_host(tree), *_limits(tree), *_time(tree)]
    return {key: value for key, value in facts if value} | model_numbers(tree)


def mounts(mountinfo: str) -> list[tuple[str, str]]:
    """Return kind and source of each mount that contains files: on a device, on a server, or in memory.

    Known kinds count with any source, since pools and cluster file systems have arbitrary names.
    """
    known = {"tmpfs", "overlay", *(kind for _, kinds in FILE_SYSTEMS.values() for kind in kinds)}
    found = re.findall(r"(?m)^\d.* - (\S{1,64}) (\S+) \S+$", mountinfo)
    return [(kind, source) for kind, source in found if kind in known or re.search("[/:]", source)]


def chosen(text: str | None) -> str:
    """Return the selected value of a kernel setting such as `always [madvise] never`."""
    match = re.search(r"\[(\S+)\]", text or "")
    return match[1] if match else (text or "")


def page_sizes(tree: FileTree, base_bytes: int | None = None) -> tuple[PageSize, ...]:
    """Return the base page, if its size is known, then each huge-page pool.

    The base page size is `base_bytes`, else as the files state it, else the only one of the architecture.
    """
    folders = _by_size(tree, "sys/kernel/mm/hugepages")
    pools = [
        PageSize(kib * 1024, tree.amount(f"{folder}/nr_hugepages"), tree.amount(f"{folder}/free_hugepages"))
        for kib, folder in folders
    ]
    if base_bytes is None:
        shown = re.search(r"KernelPageSize:\s*([0-9]{1,12}) kB", tree.text("proc/self/smaps") or "")
        stated = re.fullmatch("[1-9][0-9]{0,9}", tree.table("proc/hwloc-nofile-info").get("PageSize", ""))
        base_bytes = int(shown[1]) * 1024 if shown else int(stated[0]) if stated else _ONLY_PAGE.get(architecture(tree))
    base = () if base_bytes is None else (PageSize(base_bytes),)
    return (*base, *pools)


def _by_size(tree: FileTree, folder: str) -> list[tuple[int, str]]:
    """Return size in KiB and path of the entries `hugepages-<size>kB` of a folder, ascending."""
    found = (re.fullmatch(r"hugepages-([0-9]{1,12})kB", name) for name in tree.names(folder))
    return sorted((int(match[1]), f"{folder}/{match[0]}") for match in found if match)


def _kernel(tree: FileTree) -> Iterator[tuple[str, str]]:
    yield "kernel", tree.text("proc/sys/kernel/osrelease") or ""
    yield "distribution", tree.table("etc/os-release", "=").get("PRETTY_NAME", "").strip('"')
    yield "microcode", _microcode(tree)
    yield "numa_balancing", tree.text("proc/sys/kernel/numa_balancing") or ""
    yield "aslr", tree.text("proc/sys/kernel/randomize_va_space") or ""
    yield "perf_event_paranoid", tree.text("proc/sys/kernel/perf_event_paranoid") or ""
    sources = tree.names(EVENT_SOURCES)
    units = [name for name in sources if re.fullmatch(r"cpu|cpu_core|cpu_atom|armv\d.*|power\d+|hv_24x7", name)]
    present = [name for name in units if tree.text(f"{EVENT_SOURCES}/{name}/type") is not None]
    yield "pmu", "yes" if present else "no" if sources else ""
    yield "file_systems", " ".join(sorted({kind for kind, _ in mounts(tree.text("proc/self/mountinfo") or "")}))
    yield "pressure", "yes" if tree.text("proc/pressure/cpu") else "no"


def _microcode(tree: FileTree) -> str:
    """Return the revisions of all hardware threads; "" on other processors and where a hypervisor hides them."""
    found = re.findall(r"(?m)^microcode\s*:\s*(0x[0-9a-f]{1,16})$", tree.text("proc/cpuinfo") or "")
    return " ".join(sorted(set(found) - {_HIDDEN_MICROCODE}))


def _pages(tree: FileTree) -> Iterator[tuple[str, str]]:
    yield "thp", chosen(tree.text(f"{THP}/enabled"))
    yield "thp_defrag", chosen(tree.text(f"{THP}/defrag"))
    sizes = ((kib, chosen(tree.text(f"{folder}/enabled"))) for kib, folder in _by_size(tree, THP))
    yield "thp_sizes", " ".join(f"{kib}kB={word}" for kib, word in sizes if word not in ("", "never"))


def _clock(tree: FileTree) -> Iterator[tuple[str, str]]:
    frequency = f"{CPU}/cpu0/cpufreq"
    governors = {tree.text(f"{CPU}/cpu{n}/cpufreq/scaling_governor") for n in tree.numbers(CPU, "cpu")}
    yield "governor", " ".join(sorted(filter(None, governors)))
    yield "frequency_driver", tree.text(f"{frequency}/scaling_driver") or ""
    yield "energy_preference", tree.text(f"{frequency}/energy_performance_preference") or ""
    for key, name in (("min", "cpuinfo_min_freq"), ("max", "cpuinfo_max_freq"), ("now", "scaling_cur_freq")):
        khz = tree.number(f"{frequency}/{name}")
        yield f"frequency_{key}_hz", str(khz * 1000) if khz else ""
    boost, no_turbo = tree.text(f"{CPU}/cpufreq/boost"), tree.text(f"{CPU}/intel_pstate/no_turbo")
    turbo = {"0": "on", "1": "off"}.get(no_turbo or "") or {"0": "off", "1": "on"}.get(boost or "")
    yield "turbo", turbo or ""
    sources = "sys/devices/system/clocksource/clocksource0"
    yield "clock_source", tree.text(f"{sources}/current_clocksource") or ""
    yield "clock_sources", tree.text(f"{sources}/available_clocksource") or ""
    yield "smt", tree.text(f"{CPU}/smt/control") or ""
    yield "cpus_offline", cpus_text(tree.cpus(f"{CPU}/offline") or ())
    yield "cpus_isolated", cpus_text(tree.cpus(f"{CPU}/isolated") or ())
    yield "cpus_nohz_full", cpus_text(tree.cpus(f"{CPU}/nohz_full") or ())


def _host(tree: FileTree) -> Iterator[tuple[str, str]]:
    flags = tree.table("proc/cpuinfo").get("flags", "").split()
    sources = (tree.text("sys/devices/system/clocksource/clocksource0/available_clocksource") or "").split()
    vendor = (tree.text("sys/class/dmi/id/sys_vendor") or "") + " " + (tree.text("sys/class/dmi/id/product_name") or "")
    signs = (
        ("kvm", "kvm-clock" in sources or "KVM" in vendor or "QEMU" in vendor),
        ("hyperv", "hyperv_clocksource" in " ".join(sources) or "Virtual Machine" in vendor),
        ("xen", tree.text("sys/hypervisor/type") == "xen"),
        ("vmware", "VMware" in vendor),
        ("amazon", "Amazon EC2" in vendor and "metal" not in vendor),
        ("powervm", "hypervisor" in (tree.text("proc/device-tree/hypervisor/compatible") or "")),
        ("unknown", "hypervisor" in flags),
    )
    yield "virtualisation", next((name for name, seen in signs if seen), "none")
    container = re.search(r"(?:^|\0)container=([^\0]+)", tree.text("proc/1/environ") or "")
    docker = tree.text(".dockerenv") is not None
    podman = tree.text("run/.containerenv") is not None
    yield "container", container[1] if container else "docker" if docker else "podman" if podman else "none"


def _limits(tree: FileTree) -> Iterator[tuple[str, str]]:
    for key, label in (("memlock", "Max locked memory"), ("stack", "Max stack size")):
        limit = re.search(rf"(?m)^{label}\s+(\S+)", tree.text("proc/self/limits") or "")
        yield f"limit_{key}_bytes", limit[1] if limit else ""
    quotas = [quota for folder in list_cgroup_folders(tree, "cpu") if (quota := _quota(tree, folder)) is not None]
    yield "cgroup_cpu_quota", f"{min(quotas):g}" if quotas else ""
    limits = [_least(tree, folder, _LIMITS) for folder in list_cgroup_folders(tree, "memory")]
    yield "cgroup_memory_bytes", str(min((limit for limit in limits if limit is not None), default=""))


def _least(tree: FileTree, folder: str, names: Iterable[str]) -> int | None:
    """Return the smallest limit in these files of a control group in bytes; `None` if none is set."""
    sizes = [size for name in names if (size := tree.number(f"{folder}/{name}")) is not None]
    return min((size for size in sizes if size < 2**60), default=None)  # version 1: a huge number means no limit


def _left_in_group(tree: FileTree, folder: str) -> int | None:
    """Return the available memory of a control group in bytes: limit - usage + reclaimable page cache.

    The formula is that of `native/harness/available_memory.cpp`. `None` if the group has no limit.
    """
    counts = dict(re.findall(r"(?m)^(\w+) ([0-9]{1,18})$", tree.text(f"{folder}/memory.stat") or ""))
    second = tree.number(f"{folder}/memory.current") is not None
    names = ("inactive_file", "active_file", "file_dirty", "file_writeback")
    if not second:
        names = ("total_inactive_file", "total_active_file", "total_dirty", "total_writeback")
    inactive, active, dirty, writeback = (int(counts.get(name, "0")) for name in names)
    cache = max(0, inactive + active - dirty - writeback)
    left = []
    for files, usage in _BOUNDS:
        limit = _least(tree, folder, files)
        above = int(counts.get("hierarchical_memory_limit", "0")) if files == ("memory.limit_in_bytes",) else 0
        if 0 < above < 2**60:
            limit = above if limit is None else min(limit, above)
        if limit is not None:
            left.append(limit - (tree.number(f"{folder}/{usage}") or 0) + cache)
    return max(0, min(left)) if left else None


def _available(tree: FileTree) -> int | None:
    left = [
        left for folder in list_cgroup_folders(tree, "memory") if (left := _left_in_group(tree, folder)) is not None
    ]
    available = memory_table(tree).get("MemAvailable")
    return min([*left, *([] if available is None else [available])], default=None)


def _quota(tree: FileTree, folder: str) -> float | None:
    """Return the CPU quota of a control group in CPUs, or `None` if it has none."""
    both = (tree.text(f"{folder}/cpu.max") or "").split()
    if len(both) == 2 and all(re.fullmatch("[1-9][0-9]{0,17}", word) for word in both):
        return int(both[0]) / int(both[1])
    quota, period = tree.number(f"{folder}/cpu.cfs_quota_us"), tree.number(f"{folder}/cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _time(tree: FileTree) -> Iterator[tuple[str, str]]:
    ticks = re.match(r"cpu\s+([^\n]*)", tree.text("proc/stat") or "")
    words = ticks[1].split()[:8] if ticks else []
    spent = [int(word) for word in words if re.fullmatch("[0-9]{1,18}", word)]
    yield "steal_fraction", f"{spent[7] / sum(spent):.3g}" if len(spent) == 8 and any(spent) else ""
    memory = memory_table(tree)
    if "SwapTotal" in memory:
        yield "swap_bytes", str(memory["SwapTotal"])
        yield "swap_used_bytes", str(memory["SwapTotal"] - memory.get("SwapFree", 0))
    available = _available(tree)
    yield "available_memory_bytes", "" if available is None else str(available)
    yield "load_1min", (tree.text("proc/loadavg") or "").partition(" ")[0]


def memory_table(tree: FileTree) -> dict[str, int]:
    """Return the values of `/proc/meminfo` in bytes."""
    table = tree.table("proc/meminfo").items()
    return {key: int(value.split()[0]) * 1024 for key, value in table if re.fullmatch("[0-9]{1,15} kB", value)}
