"""Where Intel MPI pins ranks: the domains of its reference, in the order of I_MPI_PIN_ORDER.

The rules are those of Intel's reference (Process Pinning, Interoperability with OpenMP), made precise by runs of Intel
MPI 2021.18.1 on pretended machines (`tests/support/record_intelmpi.py`). What those runs do not confirm is refused.
"""

import itertools
import re
from collections.abc import Mapping, Sequence

from octant.launchers import _line
from octant.launchers._hydra import unit_objects
from octant.machine import CpuSet, Topology
from octant.machine.cpusets import parse_cpus, parse_mask

OFF = ("0", "off", "no", "disable")
_ON = ("1", "on", "yes", "enable")
_UNITS = {"core": "core", "numa": "numa", "socket": "package", "sock": "package", "cache2": "l2", "cache3": "l3"}
_LEVELS = ("package", "numa", "l3", "l2", "core", "thread")
_MASK = re.compile(r"(0[xX])?[0-9a-fA-F]+")


def rank_masks(
    variables: Mapping[str, str], ranks: int, threads: int | None, topology: Topology
) -> tuple[list[CpuSet], list[str]]:
    """Return the mask of each rank of a host, and remarks.

    Args:
        variables: those whose names begin with I_MPI_PIN.
        ranks: how many ranks the host has.
        threads: OMP_NUM_THREADS.
        topology: the host.

    Raises:
        ValueError: a value that Intel MPI refuses or ignores, or whose effect is not known for certain.
    """
    switch = variables.get("I_MPI_PIN", "1").lower()
    domain, listed = variables.get("I_MPI_PIN_DOMAIN"), _processor_list(variables)
    if switch in OFF and not (listed and domain):
        return [topology.allowed] * ranks, ["I_MPI_PIN=off: every rank may run on all hardware threads"]
    if switch not in (*_ON, *OFF):
        raise ValueError(f"cannot read I_MPI_PIN={switch[:60]}; use 1 or 0")
    if listed and domain is None:
        return _list_masks(listed, ranks, topology)
    if listed:
        raise ValueError(
            "cannot interpret I_MPI_PIN_PROCESSOR_LIST with I_MPI_PIN_DOMAIN (ignored according to Intel's "
            "reference, but Intel MPI 2021.18 makes domains inside the list); set one of them"
        )
    if domain is not None and domain.startswith("["):
        return _explicit(domain, ranks, topology), []
    return _domain_masks(domain or "auto", variables, ranks, threads, topology)


def _processor_list(variables: Mapping[str, str]) -> str:
    """Return the list of processors; the second name is an old one for the same."""
    return variables.get("I_MPI_PIN_PROCESSOR_LIST", variables.get("I_MPI_PIN_PROCS", ""))


def _list_masks(text: str, ranks: int, topology: Topology) -> tuple[list[CpuSet], list[str]]:
    """Return the masks of an explicit list: rank i gets the i-th hardware thread."""
    if not re.fullmatch(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", text):
        raise ValueError(
            f"cannot interpret I_MPI_PIN_PROCESSOR_LIST={text[:60]} (Intel MPI 2021.18 ignores processor sets, "
            "map=, grain= and shift=, and pins by default); use a list of numbers"
        )
    cpus = [n for part in text.split(",") for n in sorted(parse_cpus(part))]
    outside = sorted(set(cpus) - topology.allowed)
    if outside:
        raise ValueError(
            f"cannot use hardware thread {outside[0]} of I_MPI_PIN_PROCESSOR_LIST: it does not exist or is not "
            "allowed; remove it from the list"
        )
    cores = [core for core in topology.groups("core") if core & frozenset(cpus)]
    if ranks > len(cpus) and any(len(core & frozenset(cpus)) > 1 for core in cores):
        raise ValueError(
            f"cannot interpret {ranks} ranks with I_MPI_PIN_PROCESSOR_LIST={text[:60]} (Intel MPI then skips "
            "hardware threads of the same core); use I_MPI_PIN_DOMAIN with masks"
        )
    notes = [] if ranks <= len(cpus) else [
        f"Intel MPI starts again at the beginning of the list: {ranks} ranks on {len(cpus)} hardware threads"
    ]  # fmt: skip
    return [frozenset({cpus[rank % len(cpus)]}) for rank in range(ranks)], notes


def _explicit(domain: str, ranks: int, topology: Topology) -> list[CpuSet]:
    """Return the masks of `[0x3,0xc]`.

    Raises:
        ValueError: Intel MPI does not take them, and pins by default then.
    """
    words = domain.removeprefix("[").removesuffix("]").split(",")
    if not domain.endswith("]") or not all(_MASK.fullmatch(word) for word in words):
        raise ValueError(f"cannot read I_MPI_PIN_DOMAIN={domain[:60]} as masks; use [0x3,0xc]")
    if not all(word[:2] in ("0x", "0X") for word in words):
        raise ValueError(
            f"cannot interpret I_MPI_PIN_DOMAIN={domain[:60]} (Intel MPI 2021.18 reports masks without 0x as "
            "invalid and pins by default); write each mask as 0x…"
        )
    if len(words) != ranks:
        raise ValueError(
            f"cannot use {len(words)} masks of I_MPI_PIN_DOMAIN for {ranks} ranks (Intel MPI then pins by "
            "default); give one mask per rank"
        )
    masks = [parse_mask(word) for word in words]
    if not all(mask and mask <= topology.allowed for mask in masks):
        raise ValueError(
            "cannot use I_MPI_PIN_DOMAIN (a mask has hardware threads that do not exist or are not allowed); "
            "correct the masks"
        )
    return masks


def _domain_masks(
    domain: str, variables: Mapping[str, str], ranks: int, threads: int | None, topology: Topology
) -> tuple[list[CpuSet], list[str]]:
    """Return the masks of domains by a unit, a size or a formula."""
    name, _, layout = domain.partition(":")
    order = _order(variables, domain, layout)
    cells = _cells(variables, topology)
    usable = frozenset().union(*cells)
    if name == "auto":
        return [mask & usable for mask in _auto(ranks, order, topology)], []
    if name == "node" and not layout:
        return [usable] * ranks, []
    if name in _UNITS and not layout:
        domains = unit_objects(topology, _UNITS[name])
        if not domains:
            raise ValueError(f"cannot find any {name} on this topology")
        if not all(any(one <= package for package in unit_objects(topology, "package")) for one in domains):
            raise ValueError(f"cannot interpret I_MPI_PIN_DOMAIN={name}: it is larger than a package here; use masks")
        masks, notes = _dealt_out(domains, ranks, order, topology)
        return [mask & usable for mask in masks], notes
    if name == "omp":
        if threads is None:
            raise ValueError(
                "cannot interpret I_MPI_PIN_DOMAIN=omp without OMP_NUM_THREADS (Intel MPI then pins by "
                "default); set OMP_NUM_THREADS"
            )
        name = str(threads)
    if not name.isdigit() or int(name) == 0:
        why = (
            "Intel MPI 2021.18 ignores it and pins by default" if name in ("cache", "cache1") else "it is not a domain"
        )
        raise ValueError(
            f"cannot read I_MPI_PIN_DOMAIN={domain[:60]} ({why}); supported: masks, auto, omp, a number, node, "
            f"{', '.join(_UNITS)}"
        )
    return _sized(_line.read_integer("I_MPI_PIN_DOMAIN", name), cells, ranks, order, topology)


def _order(variables: Mapping[str, str], domain: str, layout: str) -> str:
    """Return the order of domains: `bunch`, or `compact` if the layout says so.

    Raises:
        ValueError: an order or a layout that Intel MPI ignores, or for which the runs confirm no rule.
    """
    order = variables.get("I_MPI_PIN_ORDER", "bunch")
    if order not in ("bunch", "compact"):
        known = order in ("scatter", "spread", "range")
        why = (
            "not supported: no rule agrees with Intel MPI in all recorded cases"
            if known
            else "Intel MPI ignores it and uses bunch"
        )
        raise ValueError(f"cannot interpret I_MPI_PIN_ORDER={order[:60]} ({why}); use bunch or compact")
    if layout and (layout != "compact" or not domain.startswith(("auto", "omp"))):
        raise ValueError(
            f"cannot interpret I_MPI_PIN_DOMAIN={domain[:60]} (not supported: no rule for this layout agrees "
            "with Intel MPI in all recorded cases); use masks"
        )
    return "compact" if layout else order


def _cells(variables: Mapping[str, str], topology: Topology) -> tuple[CpuSet, ...]:
    """Return the hardware threads that domains consist of: all, or the first one of each core."""
    cell = variables.get("I_MPI_PIN_CELL", "unit")
    if cell not in ("unit", "core"):
        raise ValueError(f"cannot read I_MPI_PIN_CELL={cell[:60]}; use unit or core")
    cells = unit_objects(topology, "thread")
    if cell == "unit":
        return cells
    firsts = {min(core & topology.allowed) for core in unit_objects(topology, "core")}
    return tuple(held for held in cells if held & firsts)


def _even(count: int, parts: int) -> list[int]:
    """Return how many of a number of things each part gets; the first parts get one more."""
    return [count // parts + (part < count % parts) for part in range(parts)]


def _level(held: CpuSet, parts: int, topology: Topology) -> tuple[CpuSet, ...]:
    """Return the objects of the widest kind with at least `parts` members in a set; (): there are fewer threads."""
    for level in _LEVELS:
        inside = tuple(one & held for one in unit_objects(topology, level) if one & held)
        if len(inside) >= parts and frozenset().union(*inside) == held:
            return inside
    return ()


def _slices(held: CpuSet, parts: int, topology: Topology) -> list[CpuSet]:
    """Return a set cut into parts along the objects of `_level`."""
    inside = _level(held, parts, topology)
    starts = [sum(_even(len(inside), parts)[:part]) for part in range(parts + 1)]
    return [frozenset().union(*inside[a:b]) for a, b in itertools.pairwise(starts)]


def _uniform(topology: Topology) -> bool:
    """Return whether all packages are alike; Intel MPI falls back to compact otherwise."""
    packages = unit_objects(topology, "package")
    return all(_alike(packages, unit_objects(topology, level)) for level in ("package", "numa", "core") if packages)


def _alike(packages: Sequence[CpuSet], objects: Sequence[CpuSet]) -> bool:
    """Return whether each package has as many of the objects, all of one size in it."""
    sizes = [[len(one & package) for one in objects if one & package] for package in packages]
    return len({len(inside) for inside in sizes}) == 1 and all(len(set(inside)) == 1 for inside in sizes)


def _nodes(package: CpuSet, topology: Topology) -> list[CpuSet]:
    """Return the NUMA nodes of a package, or the package itself if a node is as large."""
    return [node for node in unit_objects(topology, "numa") if node < package] or [package]


def _by_node(ranks: int, most: int, each: int | None, topology: Topology) -> bool:
    """Return whether `bunch` divides the ranks of a package among its NUMA nodes.

    It does if ranks divide evenly among all nodes, or if a package has more ranks than nodes and than a node has
    domains.

    Args:
        ranks: of the host.
        most: of a package.
        each: domains in a NUMA node; `None`: domains are a number of hardware threads, and only even divisions count.
        topology: the host.
    """
    packages = unit_objects(topology, "package")
    nodes = len(_nodes(packages[0], topology))
    return 1 < nodes <= most and (
        ranks % (nodes * len(packages)) == 0 or (each is not None and most > max(each, nodes))
    )


def _auto(ranks: int, order: str, topology: Topology) -> list[CpuSet]:
    """Return domains of hardware threads / ranks each: ranks are divided among packages, then packages among ranks.

    Raises:
        ValueError: more ranks than hardware threads.
    """
    packages = unit_objects(topology, "package")
    if ranks > len(topology.allowed):
        raise ValueError(
            f"cannot interpret I_MPI_PIN_DOMAIN=auto with {ranks} ranks on {len(topology.allowed)} hardware "
            "threads; reduce the number of ranks"
        )
    if order == "compact" or ranks < len(packages) or not _uniform(topology):
        return _slices(topology.allowed, ranks, topology)
    found: list[CpuSet] = []
    counts = _even(ranks, len(packages))
    first = _nodes(packages[0], topology)[0]
    each = sum(1 for one in _level(packages[0], counts[0], topology) if one <= first)
    by_node = _by_node(ranks, counts[0], each, topology)
    for package, count in zip(packages, counts, strict=True):
        nodes = _nodes(package, topology)
        nodes = nodes if by_node and count >= len(nodes) else [package]
        for node, own in zip(nodes, _even(count, len(nodes)), strict=True):
            found += _slices(node, own, topology) if own else []
    return found


def _dealt_out(domains: Sequence[CpuSet], ranks: int, order: str, topology: Topology) -> tuple[list[CpuSet], list[str]]:
    """Return the domain of each rank: `bunch` gives each package its share of the ranks."""
    packages = unit_objects(topology, "package")
    counts = _even(ranks, len(packages))
    fits = all(count <= sum(1 for one in domains if one <= package)
               for count, package in zip(counts, packages, strict=True))  # fmt: skip
    if order == "bunch" and fits and _uniform(topology):
        first = _nodes(packages[0], topology)[0]
        by_node = _by_node(ranks, counts[0], sum(1 for one in domains if one <= first), topology)
        found: list[CpuSet] = []
        for package, count in zip(packages, counts, strict=True):
            nodes = _nodes(package, topology)
            nodes = nodes if by_node and count >= len(nodes) else [package]
            for node, own in zip(nodes, _even(count, len(nodes)), strict=True):
                found += [one for one in domains if one <= node][:own]
        return found, []
    notes = [] if ranks <= len(domains) else [
        f"Intel MPI overlaps domains without a warning: {ranks} ranks on {len(domains)} domains"
    ]  # fmt: skip
    return [domains[rank % len(domains)] for rank in range(ranks)], notes


def _sized(
    width: int, cells: Sequence[CpuSet], ranks: int, order: str, topology: Topology
) -> tuple[list[CpuSet], list[str]]:
    """Return domains of a number of cells each.

    Raises:
        ValueError: domains that fit the machine, but not the packages that they are divided among.
    """
    packages = unit_objects(topology, "package")
    counts = _even(ranks, len(packages))
    shares = [[cell for cell in cells if cell <= package] for package in packages]
    fits = all(count * width <= len(share) for count, share in zip(counts, shares, strict=True))
    if order == "bunch" and _uniform(topology):
        if fits:
            by_node = _by_node(ranks, counts[0], None, topology)
            found: list[CpuSet] = []
            for package, count in zip(packages, counts, strict=True):
                nodes = _nodes(package, topology) if by_node else [package]
                for node, own in zip(nodes, _even(count, len(nodes)), strict=True):
                    inside = [cell for cell in cells if cell <= node]
                    found += [frozenset().union(*inside[i * width : (i + 1) * width]) for i in range(own)]
            return found, []
        if ranks * width <= len(cells):
            raise ValueError(
                f"cannot interpret I_MPI_PIN_DOMAIN={width} with {ranks} ranks (they fit on the machine, but "
                "not on each package); use I_MPI_PIN_ORDER=compact, or masks"
            )
    notes = [] if ranks * width <= len(cells) else [
        f"Intel MPI overlaps domains without a warning: {ranks} ranks of {width} hardware threads on {len(cells)}"
    ]  # fmt: skip
    return [frozenset().union(*(cells[(rank * width + i) % len(cells)] for i in range(min(width, len(cells)))))
            for rank in range(ranks)], notes  # fmt: skip
