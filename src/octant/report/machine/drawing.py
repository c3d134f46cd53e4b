"""The machine as a drawing: packages, NUMA domains, caches, cores and hardware threads, as one inline SVG."""

from dataclasses import dataclass
from html import escape

from octant import units
from octant.machine import Cache, CpuSet, Machine, NumaNode
from octant.placement.draw import NO_MEMORY
from octant.report.machine.text import counts_text

GAP = 8.0
LINE = 18.0
DETAILED = 16  # cores of a domain up to which each core shows its own caches


@dataclass(frozen=True)
class _Block:
    """A piece of the drawing and its size."""

    width: float
    height: float
    svg: str

    def at(self, x: float, y: float) -> str:
        return f'<g transform="translate({x:g} {y:g})">{self.svg}</g>'


def svg(machine: Machine) -> str:
    """Return the drawing; its classes take their colours from the page, and sizes are in CSS pixels."""
    numbers = {cpu.os: cpu.package for cpu in machine.topology.cpus}
    packages = [_package(machine, numbers[min(cpus)], cpus) for cpus in machine.topology.groups("package")]
    alone = [
        _boxed(_Block(0, 0, ""), f"{_node_text(node)} without cores", "domain")
        for node in machine.topology.numa
        if not node.cpus
    ]
    whole = _stack([_grid(packages, 2, GAP), *alone])
    words = escape(description(machine))
    return (
        f'<svg class="machine" role="img" aria-label="{words}" viewBox="0 0 {whole.width:g} {whole.height:g}" '
        f'width="{whole.width:g}" height="{whole.height:g}" xmlns="http://www.w3.org/2000/svg">{whole.svg}</svg>'
    )


def description(machine: Machine) -> str:
    """Return the contents of the drawing in one sentence."""
    topology = machine.topology
    caches = [
        f"{units.counted(len({cache.cpus for cache in found}), f'L{level} cache')} of "
        f"{units.bytes_text(found[0].size_bytes)}"
        for level in range(1, 5)
        if (found := topology.data_caches(level))
    ]
    none = "no caches visible" if topology.caches is not None else "caches not known"
    idle = len(topology.cpus) - len(topology.usable())
    barred = f"; {units.counted(idle, 'hardware thread')} not allowed to this process" if idle else ""
    return f"{counts_text(topology)}; {', '.join(caches) or none}{barred}."


def _node_text(node: NumaNode) -> str:
    return f"NUMA {node.os} · {units.bytes_text(node.memory_bytes)}"


def _package(machine: Machine, number: int, cpus: CpuSet) -> _Block:
    domains = [(_node_text(node), node.cpus & cpus) for node in machine.topology.numa if node.cpus & cpus]
    if without := cpus.difference(*(part for _, part in domains)):
        domains.append((NO_MEMORY, without))
    inside = [_boxed(_domain(machine, part), title, "domain") for title, part in domains]
    return _boxed(_stack(inside), f"package {number}", "package")


def _domain(machine: Machine, cpus: CpuSet) -> _Block:
    """Return the cores of one domain, above the bars of the caches that they share."""
    shared = _shared_caches(machine, cpus)
    outer = [cache for cache in shared if cache.level == shared[-1].level]
    cores = [core & cpus for core in machine.topology.groups("core") if core & cpus]
    detailed = len(cores) <= DETAILED
    blocks = []
    for group in [cache.cpus & cpus for cache in outer] or [cpus]:
        grid = _grid([_core(machine, core, detailed) for core in cores if core & group], 4 if detailed else 12)
        bars = []
        for cache in (one for one in outer if one.cpus & group):
            text = f"L{cache.level} {units.bytes_text(cache.size_bytes)}"
            bars.append(_Block(grid.width, 20, _box(0, 0, grid.width, 20, "cache", text)))
        blocks.append(_stack([grid, *bars], 4))
    return _stack(blocks)


def _shared_caches(machine: Machine, cpus: CpuSet) -> list[Cache]:
    """Return the data caches that serve several cores of the domain, by level."""
    cores = [core & cpus for core in machine.topology.groups("core") if core & cpus]
    data = [cache for cache in machine.topology.data_caches() if cache.cpus & cpus]
    many = [cache for cache in data if sum(bool(core & cache.cpus) for core in cores) > 1]
    return sorted(many, key=lambda cache: (cache.level, min(cache.cpus)))


def _core(machine: Machine, core: CpuSet, detailed: bool) -> _Block:
    allowed = machine.topology.allowed
    width = max(96.0 if detailed else 30.0, 30.0 * len(core) + 2 * 4 if detailed else 30.0)
    parts, x = [], 4.0
    shown = sorted(core) if detailed else sorted(core)[:1]
    each = (width - 8 - 4 * (len(shown) - 1)) / len(shown)
    for cpu in shown:
        parts.append(_box(x, 4, each, 20, "thread" if cpu in allowed else "thread barred", str(cpu)))
        x += each + 4
    y = 28.0
    if detailed:
        shared = _shared_caches(machine, frozenset(cpu.os for cpu in machine.topology.cpus))
        data = [c for c in machine.topology.data_caches() if c.cpus & core]
        for cache in sorted((c for c in data if c not in shared), key=lambda c: c.level):
            parts.append(_box(4, y, width - 8, 16, "cache", f"L{cache.level} {units.bytes_text(cache.size_bytes)}"))
            y += 20
    return _Block(width, y, f'<rect class="core" width="{width:g}" height="{y:g}" rx="3"/>' + "".join(parts))


def _box(x: float, y: float, width: float, height: float, kind: str, text: str) -> str:
    return (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2"/>'
        f'<text x="{x + width / 2:g}" y="{y + height / 2 + 4:g}" text-anchor="middle">{escape(text)}</text>'
    )


def _grid(blocks: list[_Block], columns: int, gap: float = 4) -> _Block:
    if not blocks:
        return _Block(0, 0, "")
    columns = min(columns, len(blocks))
    width, height = max(b.width for b in blocks), max(b.height for b in blocks)
    rows = -(-len(blocks) // columns)
    parts = [b.at(i % columns * (width + gap), i // columns * (height + gap)) for i, b in enumerate(blocks)]
    return _Block(columns * (width + gap) - gap, rows * (height + gap) - gap, "".join(parts))


def _stack(blocks: list[_Block], gap: float = GAP) -> _Block:
    parts, y = [], 0.0
    for block in blocks:
        parts.append(block.at(0, y))
        y += block.height + gap
    return _Block(max((b.width for b in blocks), default=0), max(y - gap, 0), "".join(parts))


def _boxed(inside: _Block, title: str, kind: str) -> _Block:
    width = max(inside.width, 7.0 * len(title)) + 2 * GAP
    height = inside.height + LINE + 2 * GAP
    frame = f'<rect class="{kind}" width="{width:g}" height="{height:g}" rx="5"/>'
    label = f'<text class="label" x="{GAP:g}" y="{GAP + 10:g}">{escape(title)}</text>'
    return _Block(width, height, frame + label + inside.at(GAP, GAP + LINE))
