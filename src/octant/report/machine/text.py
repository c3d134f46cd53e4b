"""A machine for people: a drawing of packages, domains and cores, then what matters about it in tables."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from octant.machine import LAST_CACHE, Cache, CpuSet, Machine, PageSize, Topology
from octant.machine.codec import to_json
from octant.machine.cpusets import cpus_text
from octant.machine.modes import describe_numa_mode
from octant.placement.draw import NO_MEMORY
from octant.report.tables.layout import fill, text_table
from octant.report.terminal import render
from octant.units import bytes_text, counted, si_text

_FLAGS = (  # in the order of people's interest: the name, and the flags whose rest is listed behind it
    ("AMX", "amx_"), ("AVX-512", "avx512"), ("AVX2", "avx2"), ("FMA", "fma"), ("AVX", "avx"), ("SSE2", "sse2"),
    ("SVE2", "sve2"), ("SVE", "sve"), ("BF16", "bf16"), ("I8MM", "i8mm"), ("Neon", "asimd"),
    ("MMA", "mma"), ("VSX", "vsx"), ("VMX", "altivec"),
)  # fmt: skip
_SHADOWED = {"AVX": "AVX2", "SSE2": "AVX", "SVE": "SVE2", "Neon": "SVE", "VMX": "VSX"}  # the stronger one implies it
_SETTINGS = (
    ("kernel", "kernel"), ("microcode", "microcode"), ("distribution", "distribution"),
    ("virtualisation", "virtualisation"), ("container", "container"), ("governor", "governor"),
    ("turbo", "turbo"), ("SMT", "smt"),
    ("NUMA balancing", "numa_balancing"), ("transparent pages", "thp"), ("transparent pages, other sizes", "thp_sizes"),
    ("clock source", "clock_source"), ("hardware counters", "pmu"), ("perf_event_paranoid", "perf_event_paranoid"),
    ("processor quota", "cgroup_cpu_quota"), ("switched off", "cpus_offline"), ("isolated", "cpus_isolated"),
)  # fmt: skip
_LIMITS = (
    ("memory limit", "cgroup_memory_bytes"), ("lockable memory", "limit_memlock_bytes"), ("stack", "limit_stack_bytes"),
)  # fmt: skip
_WORDS = {
    ("numa_balancing", "0"): "off", ("numa_balancing", "1"): "on", ("smt", "notsupported"): "not supported",
    ("smt", "notimplemented"): "not implemented", ("pmu", "no"): "none shown", ("pmu", "yes"): "there",
}  # fmt: skip


def as_json(machine: Machine) -> str:
    """Return the machine as JSON, which `octant.machine.codec.StoredMachine` reads."""
    return json.dumps(to_json(machine), indent=2)


def as_text(machine: Machine) -> str:
    """Return the machine for the terminal."""
    top = machine.topology
    return fill(
        "machine/machine", "page", machine=machine, top=top, caches=_caches(top), cpus=cpus_text,
        drawing=render(Group(_headline(machine), Text(), *_drawing(machine))),
        instructions=instructions(machine.processor.flags), numa_mode=describe_numa_mode(machine),
        pages=pages_text(machine.page_sizes), settings=setting_texts(machine.system),
        names={cpu.os: cpu.kind for cpu in top.cpus},
        offline=(top.complete or frozenset()) - {cpu.os for cpu in top.cpus},
    )  # fmt: skip


def counts_text(top: Topology) -> str:
    """Return the numbers of packages, NUMA domains, cores and hardware threads."""
    units = (("package", "package"), ("numa", "NUMA domain"), ("core", "core"), ("thread", "hardware thread"))
    numbers = ((len(top.groups(unit)), name) for unit, name in units)
    return ", ".join(counted(number, name) if number else f"{name}s not known" for number, name in numbers)


def _headline(machine: Machine) -> Text:
    top, processor = machine.topology, machine.processor
    clock = f", {si_text(processor.nominal_hz, 'Hz')} stated" if processor.nominal_hz else ""
    usable = "" if len(top.allowed) == len(top.cpus) else f"; {len(top.allowed)} usable here"
    size = "memory not known" if machine.memory_bytes is None else f"{bytes_text(machine.memory_bytes)} of memory"
    model = f"  {processor.model} ({processor.architecture or 'architecture not known'}{clock})\n"
    return Text.assemble((machine.name, "bold"), model, f"{counts_text(top)}{usable}; {size}")


def _drawing(machine: Machine) -> Iterator[RenderableType]:
    """Return a line for each NUMA domain, or for each of its last-level caches; `[0,64]` is a core and its threads."""
    top, data = machine.topology, machine.topology.data_caches()
    cores, last = top.groups("core"), [cache for cache in data if cache.level == max(one.level for one in data)]
    disputed = {entry.subject for entry in machine.disagreements}
    caveat, forbidden = " (disputed, see below)", top.forbidden_nodes()
    for package in top.groups("package"):
        around = [cache for cache in last if cache.cpus >= package]
        name = next(cpu.package for cpu in top.cpus if cpu.os in package)
        yield Text(f"package {name}" + _cache_text(around) + caveat * (bool(around) and LAST_CACHE in disputed))
        for node in top.numa:
            here = node.cpus & package
            if not here and (node.cpus or package != top.groups("package")[0]):
                continue  # memory without cores is drawn once
            shared = [cache for cache in last if here and cache.cpus >= here and not cache.cpus >= package]
            size = f"  {bytes_text(node.memory_bytes)}" if node.memory_bytes else ""
            size += " (this process may not use its memory)" * (node.os in forbidden)
            size += f" {node.kind}" * bool(node.kind) + caveat * (bool(size) and "memory size" in disputed)
            size += "".join(f"  memory-side cache {bytes_text(cache)}" for cache in node.side_caches)
            yield Padding(Text(f"NUMA {node.os}{size}" + _cache_text(shared)), (0, 0, 0, 2))
            within = [cache for cache in last if cache.cpus < here]
            coarse = any(sum(core <= cache.cpus for core in cores) > 2 for cache in within)
            split = within if coarse and sum(len(cache.cpus) for cache in within) == len(here) else []
            for cache in split:
                yield _line(f"L{cache.level} {bytes_text(cache.size_bytes)} ", _boxes(top, cores, cache.cpus))
            if here and not split:
                yield _line("", _boxes(top, cores, here))
        if outside := frozenset(cpu.os for cpu in top.cpus if cpu.numa is None) & package:
            yield Padding(Text(NO_MEMORY if top.numa else "NUMA nodes are not stated"), (0, 0, 0, 2))
            yield _line("", _boxes(top, cores, outside))
    if top.allowed != frozenset(cpu.os for cpu in top.cpus):
        yield Text("  [ ] may be used by this process, ( ) may not", style="dim")


def _cache_text(caches: list[Cache]) -> str:
    return f"  L{caches[0].level} {bytes_text(caches[0].size_bytes)}" if caches else ""


def _boxes(top: Topology, cores: tuple[CpuSet, ...], within: CpuSet) -> Text:
    kinds = {cpu.os: cpu.kind[:1].upper() for cpu in top.cpus}
    text = Text()
    for core in cores:
        if here := core & within:
            usable = here & top.allowed
            left, right = ("[", "]") if usable == here else ("(", ")") if not usable else ("[", ")")
            box = f"{kinds[min(here)]}{left}{cpus_text(here)}{right}"
            text.append((" " if text else "") + box, style="" if usable else "dim")
    return text


def _line(head: str, boxes: Text) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=bool(head))
    grid.add_row(*filter(None, [head]), boxes)
    return Padding(grid, (0, 0, 0, 4))


def _caches(top: Topology) -> str:
    """Return a table of the sorts of caches, with the number of each and the cores that share one."""
    if not top.caches:
        return "Caches are not known." if top.caches is None else "No cache is described."
    cores, count = top.groups("core"), Counter[tuple[int, str, int, int, int, int]]()
    with_cache: dict[tuple[int, str], CpuSet] = {}
    for one in top.caches:
        sharing = sum(bool(core & one.cpus) for core in cores)
        part = len(one.cpus) if any(one.cpus < core for core in cores) else 0  # of a core with several such caches
        count[one.level, one.kind, one.size_bytes or 0, one.line_bytes or 0, sharing, part] += 1
        with_cache[one.level, one.kind] = with_cache.get((one.level, one.kind), frozenset()) | one.cpus
    rows = []
    for (level, kind, size, line, sharing, part), number in sorted(count.items()):
        letter = {"data": "d", "instruction": "i", "unified": ""}[kind]
        having = sum(bool(core & with_cache[level, kind]) for core in cores)
        of = "each core" if having == len(cores) else f"{having} of {len(cores)} cores"
        of = counted(part, "hardware thread") if part else of if sharing == 1 else f"{sharing} cores"
        rows.append((f"L{level}{letter}", bytes_text(size or None), bytes_text(line or None), number, of))
    return text_table(("cache", ">size", ">line", ">number", "of"), rows)


def instructions(flags: frozenset[str]) -> str:
    """Return the instruction sets that matter for speed: `AMX (bf16, int8, tile), AVX-512 (bf16, …), AVX2, FMA`."""
    found: dict[str, str] = {}
    for name, start in _FLAGS:
        family = name in ("AMX", "AVX-512")
        rest = sorted(flag.removeprefix(start).strip("_") for flag in flags if family and flag.startswith(start))
        if rest or start in flags:
            found[name] = f"{name} ({', '.join(rest)})" if rest else name
    return ", ".join(text for name, text in found.items() if _SHADOWED.get(name) not in found)


def pages_text(sizes: Iterable[PageSize]) -> str:
    """Return page sizes with the contents of their pools: `4 KiB, 2 MiB (empty pool)`."""
    texts = []
    for page in sizes:
        pool = "" if page.pool_pages is None else f" ({page.free_pages} of {page.pool_pages} free)"
        texts.append(bytes_text(page.size_bytes) + (" (empty pool)" if page.pool_pages == 0 else pool))
    return ", ".join(texts)


def setting_texts(system: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Return settings that matter for speed, with labels and values for people."""
    for label, key in _SETTINGS:
        if system.get(key, "none") != "none":
            yield label, _WORDS.get((key, system[key]), system[key])
    for label, key in _LIMITS:
        if limit := system.get(key):
            yield label, bytes_text(int(limit)) if limit.isdigit() else limit
