"""Drawings of a placement for terminals and as SVG: packages, NUMA nodes, cores and hardware threads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from rich.text import Text

from octant.machine import CpuSet, Topology
from octant.placement import Placement, RankPlacement, numbers_text
from octant.placement.expressions import objects
from octant.units import bytes_text

IDLE, FORBIDDEN = "·", "×"
NO_MEMORY = "no local NUMA node"
"""Label of hardware threads that are in no NUMA node."""
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
_TERMINAL = ("blue", "yellow", "green", "magenta", "cyan", "red", "bright_yellow", "white")
_SHARED = "#ffffff"


@dataclass(frozen=True)
class _Cell:
    """One hardware thread: its label and its rank (`None`: no rank, or more than one)."""

    cpu: int
    label: str
    rank: int | None
    idle: bool


@dataclass(frozen=True)
class _Domain:
    """One NUMA node of one package: rows of cores, one row per last-level cache.

    If `node` is `None`, these are the cores of the package that are in no NUMA node.
    """

    node: int | None
    memory_bytes: int
    rows: tuple[tuple[tuple[_Cell, ...], ...], ...]


def _cells(topology: Topology, ranks: Sequence[RankPlacement]) -> dict[int, _Cell]:
    alone = all(len(place.threads) == 1 or len(set(place.threads)) == 1 for place in ranks)
    found = {}
    on: dict[int, list[RankPlacement]] = {}
    for place in ranks:
        for number in place.cpus:
            on.setdefault(number, []).append(place)
    for cpu in topology.cpus:
        here = on.get(cpu.os, [])
        if cpu.os not in topology.allowed:
            label = FORBIDDEN
        elif not here:
            label = IDLE
        elif len(here) > 1:
            label = _short([place.rank for place in here])
        elif alone:
            label = str(here[0].rank)
        else:
            threads = [n for n, bound in enumerate(here[0].threads) if cpu.os in bound]
            label = f"{here[0].rank}.{_short(threads)}"
        found[cpu.os] = _Cell(cpu.os, label, here[0].rank if len(here) == 1 else None, not here)
    return found


def _short(numbers: list[int]) -> str:
    """Return numbers as a list, or the first and the last number if the list is long."""
    text = numbers_text(tuple(numbers))
    return text if len(text) <= 5 else f"{numbers[0]}…{numbers[-1]}"


def _domains(topology: Topology, ranks: Sequence[RankPlacement]) -> Iterator[tuple[int, list[_Domain]]]:
    """Yield packages with their NUMA nodes and all hardware threads, including those that are not usable."""
    cells = _cells(topology, ranks)
    full = replace(topology, allowed=frozenset(cell for cell in cells))
    last = {
        cpu: i for i, group in enumerate(objects(full, "core" if topology.caches is None else "l4")) for cpu in group
    }
    packages = objects(full, "package")
    home = {cpu: i for i, package in enumerate(packages) for cpu in package}
    nodes = {cpu.os: cpu.numa for cpu in topology.cpus}
    found: list[dict[int | None, list[CpuSet]]] = [{} for _ in packages]  # cores by node for each package
    for core in objects(full, "core"):
        number = next((nodes[cpu] for cpu in sorted(core) if nodes[cpu] is not None), None)
        found[home[min(core)]].setdefault(number, []).append(core)
    of_number = {node.os: node for node in topology.numa}
    for index, package in enumerate(packages):
        inside = []
        for number, held in sorted(found[index].items(), key=lambda one: (one[0] is None, min(map(min, one[1])))):
            rows: dict[int, list[tuple[_Cell, ...]]] = {}
            split = len({last[min(core)] for core in held}) < len(held)
            for core in held:
                rows.setdefault(last[min(core)] if split else 0, []).append(tuple(cells[c] for c in sorted(core)))
            node = None if number is None else of_number.get(number)
            whole = node is not None and node.cpus <= package  # else its memory is shared with another package
            memory_bytes = node.memory_bytes or 0 if node is not None and whole else 0
            inside.append(_Domain(number, memory_bytes, tuple(tuple(row) for row in rows.values())))
        yield index, inside


def as_text(topology: Topology, placement: Placement, width: int = 100) -> Text:
    """Return rows of cores separated by `│`; a cell has the rank or rank.thread, `·` (idle) or `×` (not usable)."""
    ranks = _one_node(placement)
    size = max((len(cell.label) for cell in _cells(topology, ranks).values()), default=1)
    text = Text()
    for package, domains in _domains(topology, ranks):
        text.append(f"package {package}\n", style="bold")
        for domain in domains:
            head = f"  {NO_MEMORY}  " if domain.node is None else f"  NUMA node {domain.node:<3}"
            for row in domain.rows:
                wide = max(len(core) for core in row) * (size + 1)
                per_line = _even(len(row), max(1, (width - len(head) - 2) // (wide + 1)))
                for start in range(0, len(row), per_line):
                    text.append(head)
                    head = " " * len(head)
                    _append_cores(text, row[start : start + per_line], size)
    text.append(_legend(ranks), style="dim")
    return text


def _even(count: int, most: int) -> int:
    """Return the number of items per line, at most `most`, for lines of about equal length."""
    return -(-count // -(-count // most))


def _append_cores(text: Text, cores: Sequence[tuple[_Cell, ...]], size: int) -> None:
    text.append("│", style="dim")
    for core in cores:
        for nth, cell in enumerate(core):
            style = "dim" if cell.idle else "bold" if cell.rank is None else _TERMINAL[cell.rank % len(_TERMINAL)]
            text.append(("" if nth == 0 else " ") + cell.label.rjust(size), style=style)
        text.append("│", style="dim")
    text.append("\n")


def _legend(ranks: Sequence[RankPlacement]) -> str:
    alone = all(len(set(place.threads)) == 1 for place in ranks)
    what = "rank" if alone else "rank.thread"
    return f"each cell is a hardware thread: {what}, · idle, × not usable; │ separates cores"


def _one_node(placement: Placement) -> tuple[RankPlacement, ...]:
    """Return the ranks of the first node; the nodes of a torus are equal."""
    first = placement.ranks[0].coordinates[:-1]
    return tuple(place for place in placement.ranks if place.coordinates[:-1] == first)


_CELL_W, _CELL_H, _GAP, _PAD, _HEAD, _TITLE, _ABREAST = 34, 24, 4, 10, 20, 44, 4


def as_svg(topology: Topology, placement: Placement, title: str = "Placement") -> str:
    """Return the drawing as SVG; it is readable without colours, since each cell has its rank and thread."""
    ranks = _one_node(placement)
    packages = list(_domains(topology, ranks))
    per_line = _per_line(packages)
    drawn = [_package_svg(index, domains, per_line) for index, domains in packages]
    body, y, total_w = [], _TITLE, 420
    for start in range(0, len(drawn), _ABREAST):
        line = drawn[start : start + _ABREAST]
        x = _PAD
        for inner, width, _height in line:
            body.append(f'<g transform="translate({x},{y})">{inner}</g>')
            x += width + _PAD
        y += max(height for _inner, _width, height in line) + _PAD
        total_w = max(total_w, x)
    total_h = y + _PAD + 10
    legend = _legend(ranks).replace("; │ separates cores", "; boxes are packages, NUMA nodes and cores")
    description = escape(describe(placement))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_w} {total_h}" width="{total_w}" '
        f'height="{total_h}" role="img" aria-labelledby="t d" font-family="system-ui, sans-serif">\n'
        f'<title id="t">{escape(title)}</title>\n<desc id="d">{description}</desc>\n'
        f'<rect width="{total_w}" height="{total_h}" fill="#fff"/>\n'
        f'<text x="{_PAD}" y="28" font-size="17" font-weight="600" fill="#111">{escape(title)}</text>\n'
        + "\n".join(body)
        + f'\n<text x="{_PAD}" y="{total_h - 10}" font-size="12" fill="#444">{escape(legend)}</text>\n</svg>\n'
    )


def describe(placement: Placement) -> str:
    """Return a description for screen readers, with one clause per rank."""
    clauses = [f"rank {p.rank} on hardware threads {numbers_text(p.cpus)}" for p in _one_node(placement)]
    return "; ".join(clauses) + "."


def _per_line(packages: list[tuple[int, list[_Domain]]]) -> int:
    """Return the number of cores per line: at most 8, fewer if cores have many hardware threads."""
    rows = [row for _index, domains in packages for domain in domains for row in domain.rows]
    threads = max(len(core) for row in rows for core in row)
    longest = max(len(row) for row in rows)
    return _even(longest, 8 if threads <= 2 else 4 if threads <= 4 else 2)


def _package_svg(index: int, domains: list[_Domain], per_line: int) -> tuple[str, int, int]:
    threads = max(len(core) for domain in domains for row in domain.rows for core in row)
    core_w = threads * _CELL_W + 2 * _GAP
    width = per_line * (core_w + _GAP) + 3 * _PAD
    y, parts = _HEAD + 6, []
    for domain in domains:
        inner, height = _domain_svg(domain, per_line, core_w, width - 2 * _PAD)
        parts.append(f'<g transform="translate({_PAD},{y})">{inner}</g>')
        y += height + _GAP * 2
    height = y + 2
    frame = f'<rect width="{width}" height="{height}" rx="8" fill="#f4f4f4" stroke="#555" stroke-width="1.5"/>'
    label = f'<text x="{_PAD}" y="18" font-size="13" font-weight="600" fill="#111">package {index}</text>'
    return frame + label + "".join(parts), width, height


def _domain_svg(domain: _Domain, per_line: int, core_w: int, width: int) -> tuple[str, int]:
    parts, y = [], _HEAD
    for row in domain.rows:
        for start in range(0, len(row), per_line):
            for column, core in enumerate(row[start : start + per_line]):
                x = _GAP + column * (core_w + _GAP)
                parts.append(f'<g transform="translate({x},{y})">{_core_svg(core, core_w)}</g>')
            y += _CELL_H + 3 * _GAP
        y += _GAP
    memory = f", {bytes_text(domain.memory_bytes)}" if domain.memory_bytes else ""
    frame = f'<rect width="{width}" height="{y}" rx="5" fill="#fff" stroke="#888"/>'
    name = NO_MEMORY if domain.node is None else f"NUMA node {domain.node}{memory}"
    label = f'<text x="{_GAP + 2}" y="14" font-size="11" fill="#333">{name}</text>'
    return frame + label + "".join(parts), y


def _core_svg(core: tuple[_Cell, ...], core_w: int) -> str:
    parts = [f'<rect width="{core_w}" height="{_CELL_H + 2 * _GAP}" rx="3" fill="#e4e4e4" stroke="#777"/>']
    for nth, cell in enumerate(core):
        x = _GAP + nth * _CELL_W
        fill = "#fff" if cell.idle else _SHARED if cell.rank is None else _COLOURS[cell.rank % len(_COLOURS)]
        ink = "#fff" if fill == _COLOURS[0] else "#111"  # contrast of at least 4.5 to 1
        dash = ' stroke-dasharray="3 2"' if cell.idle else ""
        thick = 2 if not cell.idle and cell.rank is None else 0.8
        size = 12 if len(cell.label) <= 4 else 9
        parts.append(
            f'<rect x="{x}" y="{_GAP}" width="{_CELL_W - 2}" height="{_CELL_H}" rx="2" fill="{fill}" stroke="#333" '
            f'stroke-width="{thick}"{dash}><title>hardware thread {cell.cpu}</title></rect>'
            f'<text x="{x + (_CELL_W - 2) / 2:g}" y="{_GAP + 16}" font-size="{size}" text-anchor="middle" '
            f'fill="{ink}">{escape(cell.label)}</text>'
        )
    return "".join(parts)
