"""What MPICH's Hydra does with its options: the masks that it assigns, and which ranks are on its first host.

The rules are those of Hydra 4.0.2 to 5.0.2. `tests/support/record_hydra.py` records what Hydra itself does.
"""

import math
import re
from collections.abc import Sequence

from octant.launchers import _line
from octant.machine import CpuSet, NotKnownError, Topology
from octant.placement.expressions import known_caches, objects

_UNITS = {
    "hwthread": "thread", "core": "core", "numa": "numa", "numanode": "numa", "socket": "package",
    "package": "package", "die": "die", "machine": "machine",
    **{f"l{n}{kind}cache": f"l{n}" for n in (1, 2, 3, 4, 5) for kind in ("", "d", "u")},
}  # fmt: skip
_DEVICES = ("pci:", "gpu", "ib", "hfi", "hsn", "eth", "en")
_ENTRY = re.compile(r"([0-9]+(?:-[0-9]+)?(?:\+[0-9]+(?:-[0-9]+)?)*)(?:x([0-9]+))?")
UNSUPPORTED = "Hydra exits with an error"


def rank_masks(binding: str, mapping: str, ranks: int, topology: Topology) -> tuple[list[CpuSet], list[str]]:
    """Return the mask of each rank of a host, and remarks.

    Args:
        binding: the value of -bind-to.
        mapping: the value of -map-by; "": that of the binding.
        ranks: how many ranks the host has.
        topology: the host.

    Raises:
        ValueError: Hydra refuses the values, or the placement depends on unknown data.
    """
    if binding == "none":
        return [topology.allowed] * ranks, [
            "MPICH does not bind ranks here: every rank may run on all hardware threads"
        ]
    if binding.startswith("user:"):
        masks = _user_masks(binding.removeprefix("user:"))
        notes = [] if ranks <= len(masks) else [
            f"Hydra binds ranks 0-{len(masks) - 1} only; the other ranks are unbound, without a warning"
        ]  # fmt: skip
        return [*_checked(masks[:ranks], topology), *[topology.allowed] * (ranks - len(masks))], notes
    if binding == "rr":
        masks = [frozenset({number}) for number in range(len(topology.allowed))]
    else:
        masks = object_masks(topology, binding, mapping or binding)
    notes = [] if ranks <= len(masks) else [
        f"Hydra starts again with the first mask, without a warning: rank {len(masks)} has the mask of rank 0 "
        f"({ranks} ranks, {len(masks)} masks)"
    ]  # fmt: skip
    return _checked([masks[rank % len(masks)] for rank in range(ranks)], topology), notes


def _checked(masks: Sequence[CpuSet], topology: Topology) -> list[CpuSet]:
    """Return the masks without hardware threads that this job may not use.

    Raises:
        ValueError: a mask is empty or contains hardware threads that do not exist, which the system refuses.
    """
    existing = frozenset(cpu.os for cpu in topology.cpus)
    for rank, mask in enumerate(masks):
        if not mask <= existing or not mask & topology.allowed:
            missing = ", ".join(map(str, sorted(mask - existing)[:3])) or "none is allowed"
            raise ValueError(
                f"cannot bind rank {rank}: its hardware threads ({missing}) do not exist or are not allowed; "
                "Hydra 5 exits with an error, older versions leave the rank unbound"
            )
    return [mask & topology.allowed for mask in masks]


def _user_masks(text: str) -> list[CpuSet]:
    """Return the masks of `user:0+2,1-3x2`: an entry for each rank, `+` in it, `xN` repeats it."""
    masks: list[CpuSet] = []
    for entry in text.split(","):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise ValueError(
                f"cannot read -bind-to user:{text[:60]}; give one entry per rank, such as user:0+2,1-3,4x2"
            )
        held: set[int] = set()
        for part in match[1].split("+"):
            first, _, last = part.partition("-")
            begin = _line.read_integer("user:", first, least=0)
            held |= set(range(begin, max(begin, _line.read_integer("user:", last or first, least=0)) + 1))
        masks += [frozenset(held)] * _line.read_integer("user:", match[2] or "1")
    return masks


def object_masks(topology: Topology, binding: str, mapping: str) -> list[CpuSet]:
    """Return all masks that Hydra assigns before it starts again.

    For each mapping domain, round-robin, the next binding domain inside it; smaller binding domains wrap around within
    the mapping domain.

    Raises:
        ValueError: no such unit.
    """
    bind_objs, bind_count = _unit(binding, topology)
    map_objs, map_count = _unit(mapping, topology)
    pus = [cpu for held in objects(topology, "thread") for cpu in held]
    map_width = len(pus) // len(map_objs) * map_count
    bind_width = len(pus) // len(bind_objs) * bind_count
    if map_width > len(pus):
        raise ValueError(f"cannot map by {mapping} (it is larger than the machine); {UNSUPPORTED}")
    rounds = math.lcm(len(map_objs), map_count) // map_count
    domains = [[map_objs[(i * map_count + j) % len(map_objs)] for j in range(map_count)] for i in range(rounds)]
    total = rounds
    if bind_width < map_width:
        total = math.lcm(map_width, bind_width) // bind_width * rounds
    inside = [[cpu for cpu in pus if any(cpu in obj for obj in domain)] for domain in domains]
    starts = [cpus.index(next(c for c in pus if c in domain[0])) for cpus, domain in zip(inside, domains, strict=True)]
    wraps = bind_width < map_width
    everything = [held for unit in {*_UNITS.values()} for held in unit_objects(topology, unit)] if wraps else []
    covers = [_covering(frozenset(cpus), everything) if wraps else None for cpus in inside]
    masks: list[CpuSet] = []
    while len(masks) < total:
        for d in range(rounds):
            first = next((k for k, obj in enumerate(bind_objs) if inside[d][starts[d]] in obj), None)
            if first is None:
                raise ValueError(
                    f"cannot bind to {binding} (hardware thread {inside[d][starts[d]]} is in no such object); choose "
                    "another object"
                )
            masks.append(_walk(bind_objs, first, bind_count, covers[d]))
            if wraps:
                starts[d] = (starts[d] + bind_width) % len(inside[d])
    return masks


def _covering(held: CpuSet, everything: Sequence[CpuSet]) -> CpuSet:
    """Return the smallest object that contains them: Hydra wraps around in it, not in the mapping domain itself."""
    return min((one for one in everything if one >= held), key=len)


def _walk(objs: Sequence[CpuSet], first: int, count: int, domain: CpuSet | None) -> CpuSet:
    held: set[int] = set()
    at = first
    for _ in range(min(count, len(objs))):  # then it comes to the same ones again
        held |= objs[at]
        steps = ((at + i) % len(objs) for i in range(1, len(objs) + 1))
        at = next((k for k in steps if domain is None or objs[k] <= domain), at)
    return frozenset(held)


def _unit(text: str, topology: Topology) -> tuple[tuple[CpuSet, ...], int]:
    name, _, count = text.partition(":")
    if text.startswith(_DEVICES):
        raise ValueError(
            f"cannot interpret binding to {text} (the location of devices is unknown); give a list of hardware "
            "threads, user:…"
        )
    if name not in _UNITS:
        raise ValueError(
            f"cannot read {text!r}; valid values of Hydra: {', '.join(_UNITS)}, each with :COUNT, and user:"
        )
    found = unit_objects(topology, _UNITS[name])
    if not found:
        raise ValueError(f"cannot find any {name} on this topology; {UNSUPPORTED}")
    return found, _line.read_integer(name, count or "1")


def unit_objects(topology: Topology, unit: str) -> tuple[CpuSet, ...]:
    """Return the objects of hwloc in its order; those with the same hardware threads are one."""
    level = re.fullmatch(r"l(\d)", unit)
    if unit == "die" and len(topology.groups("die")) <= len(topology.groups("package")):
        return ()  # hwloc has no level of dies that are the packages
    if level is None:
        return tuple(dict.fromkeys(objects(topology, unit)))
    place = {cpu: at for at, held in enumerate(objects(topology, "thread")) for cpu in held}
    sets = {cache.cpus & topology.allowed for cache in known_caches(topology)
            if cache.level == int(level[1]) and cache.kind != "instruction"}  # fmt: skip
    return tuple(sorted(filter(None, sets), key=lambda held: min(place[cpu] for cpu in held)))


def has_unit(topology: Topology, name: str) -> bool:
    """Return whether hwloc is known to have objects that Hydra calls so."""
    try:
        return bool(unit_objects(topology, _UNITS[name]))
    except NotKnownError:
        return False


def first_host(ranks: int | None, each: int | None, hosts: str, rankmap: str, order: str) -> tuple[int, list[int], int]:
    """Return how many hosts there are, the ranks of the host that has rank 0, and the number of all ranks.

    Args:
        ranks: the value of -n; `None`: not given, as many as the hosts have places.
        each: the value of -ppn, which replaces the numbers in the list of hosts.
        hosts: the value of -hosts: `a:2,b` has two places on a and one on b.
        rankmap: the value of -rankmap: the host of each rank, or `(FIRST,HOSTS,RANKS)`.
        order: the value of -order-nodes.

    Raises:
        ValueError: a value that Hydra refuses.
    """
    places = [each or places for places in _places(hosts)] or [each or 1]
    if order.lower() in ("descending", "down"):
        places.sort(reverse=True)
    elif order.lower() in ("ascending", "up"):
        places.sort()
    elif order:
        raise ValueError(f"cannot read -order-nodes {order[:60]}; use ASCENDING or DESCENDING")
    total = sum(places) if ranks is None else ranks
    if total > _line.MAX_RANKS * len(places):
        raise ValueError(f"cannot place {total} ranks (at most {_line.MAX_RANKS} per host); reduce -n")
    turns = _map(rankmap) if rankmap else [host for host, count in enumerate(places) for _ in range(count)]
    if max(turns) >= len(places):
        raise ValueError(
            f"cannot use -rankmap {rankmap[:60]} (host {max(turns)} is not in the list of hosts); correct one of them"
        )
    if rankmap and len(turns) < total and len(places) > 1:
        raise ValueError(
            f"cannot use -rankmap {rankmap[:60]} (it has {len(turns)} ranks, -n is {total}); give all ranks"
        )
    return len(places), [rank for rank in range(total) if turns[rank % len(turns)] == turns[0]], total


def _places(hosts: str) -> list[int]:
    """Return the number of ranks of each host of a list."""
    names: list[str] = []
    places: list[int] = []
    for name, _, count in (entry.partition(":") for entry in hosts.split(",") if entry):
        number = _line.read_integer("-hosts", count or "1")
        if names and names[-1] == name:
            places[-1] += number
        elif name in names:
            raise ValueError(
                f"cannot interpret -hosts {hosts[:60]}: {name} occurs twice, with another host in between; list it once"
            )
        else:
            names.append(name)
            places.append(number)
    return places


def _map(text: str) -> list[int]:
    """Return the host of each rank."""
    turns: list[int] = []
    block = r"\(([0-9]{1,5}),([0-9]{1,4}),([0-9]{1,4})\)"
    if not re.fullmatch(rf"(?:{block}|[0-9]{{1,5}})(?:,(?:{block}|[0-9]{{1,5}}))*", text):
        raise ValueError(
            f"cannot read -rankmap {text[:60]}; use 0,0,1,1 or (0,2,2), which is (first host, number of hosts, "
            "ranks per host)"
        )
    for found in re.finditer(rf"{block}|([0-9]+)", text):
        first, count, each = (int(found[1]), int(found[2]), int(found[3])) if found[1] else (int(found[4]), 1, 1)
        turns += [first + host for host in range(count) for _ in range(each)]
        if len(turns) > _line.MAX_RANKS:
            raise ValueError(f"cannot read -rankmap {text[:60]} (more than {_line.MAX_RANKS} ranks); reduce it")
    if not turns:
        raise ValueError(f"cannot read -rankmap {text[:60]} (it contains no rank); use 0,0,1,1")
    return turns
