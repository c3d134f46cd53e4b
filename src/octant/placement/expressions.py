"""Hardware threads in the notation of other tools: LIKWID's CPU expressions and hwloc's location expressions."""

import functools
import re

from octant.failure import suggestion
from octant.machine import Cache, CpuSet, NotKnownError, Topology
from octant.machine.cpusets import parse_cpus, parse_mask
from octant.placement import numbers_text
from octant.placement.planner import ordered_cores
from octant.placement.request import LONGEST, PlacementRequest, parse_request, request_from_lists

_LIKWID = re.compile(r"(?:[NSDCM]\d*:|[EL]:|\d+(?:[-,]\d+)*$)")
_DOMAINS = {"N": "machine", "S": "package", "D": "die", "C": "l4", "M": "numa"}
_MAX_CPUS = 1 << 16
_HWLOC_TYPES = {
    "machine": "machine", "package": "package", "pack": "package", "socket": "package", "die": "die",
    "numa": "numa", "numanode": "numa", "node": "numa", "core": "core", "pu": "thread", "thread": "thread",
    **{f"l{n}": f"l{n}" for n in range(1, 5)}, **{f"l{n}cache": f"l{n}" for n in range(1, 5)},
}  # fmt: skip
LOCATION = re.compile(r"[~x^]?(?:0x[0-9a-fA-F,]+|all|root|[A-Za-z]\w*:[-\w:]+(?:\.[A-Za-z]\w*:[-\w:]+)*)")


def parse_place(text: str, topology: Topology) -> PlacementRequest:
    """Return the request of a text in the notation of Octant, LIKWID or hwloc.

    A LIKWID expression is one rank with one thread per number; `_` separates ranks as in likwid-mpirun. An hwloc
    expression is one rank with one thread per core; `;` separates ranks.

    Raises:
        ValueError: the text has none of these notations; the message shows an example of each.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise ValueError(f"the placement has {len(text)} characters; at most {LONGEST} are supported")
    if _LIKWID.match(text):
        return request_from_lists([tuple(likwid(part, topology)) for part in text.split("_")])
    parts = [part.strip() for part in text.split(";")]
    if all(part and all(LOCATION.fullmatch(word) for word in part.split()) for part in parts):
        sets = [hwloc(part, topology) for part in parts]
        cores = topology.groups("core")
        threads = min(sum(1 for core in cores if core & held) for held in sets)
        order = [cpu.os for core in ordered_cores(topology) for cpu in core]
        return request_from_lists([tuple(cpu for cpu in order if cpu in held) for held in sets], max(threads, 1))
    try:
        return parse_request(text)
    except ValueError as error:
        if "=" in text or re.match(r"\d+x\d", text):
            raise
        raise ValueError(f"{error}; or use LIKWID's E:S0:8:1:2 or hwloc's numa:1.core:0-1") from None


def known_caches(topology: Topology) -> tuple[Cache, ...]:
    """Return the caches of a machine.

    Raises:
        NotKnownError: caches are not known, so that the result of a launcher is not known.
    """
    if topology.caches is None:
        raise NotKnownError("cannot map by caches: caches are not known; map by packages or cores")
    return topology.caches


@functools.lru_cache(maxsize=256)
def objects(topology: Topology, unit: str, partial: bool = False) -> tuple[CpuSet, ...]:
    """Return the instances of a unit that contain usable hardware threads, in hwloc's logical order.

    The instances contain every usable hardware thread; with `partial`, except those that are in no NUMA node.

    Raises:
        ValueError: unknown unit.
        NotKnownError: some hardware threads are in no NUMA node, so that the result of a launcher is not known.
    """
    lost = frozenset(cpu.os for cpu in topology.usable() if cpu.numa is None) if unit == "numa" else frozenset()
    if lost and not partial:
        raise NotKnownError(
            f"cannot map by NUMA nodes: hardware threads {numbers_text(lost)} are in no NUMA node; "
            "map by packages or cores"
        )
    position = {cpu.os: i for i, core in enumerate(ordered_cores(topology)) for cpu in core}
    if unit == "thread":
        return tuple(frozenset({cpu.os}) for core in ordered_cores(topology) for cpu in core)
    groups = [group & topology.allowed for group in topology.groups(unit)]
    return tuple(sorted((g for g in groups if g), key=lambda group: min((position[c], c) for c in group)))


def likwid(text: str, topology: Topology) -> list[int]:
    """Return the hardware threads of a LIKWID expression, in order.

    Supported: lists of OS indexes (`0,4,8`), numbers in a domain with first threads of cores first (`S0:0-3`,
    `L:N:0-3`), `E:domain[:count[:chunk:stride[:offset]]]` with consecutive siblings, `S:scatter[:count]`, `balanced`,
    `cbalanced`; domains N, S, D, C (last-level cache), M; expressions joined by `@`.

    Raises:
        ValueError: invalid expression or unknown domain.
    """
    found: list[int] = []
    for part in text.split("@"):
        words = part.split(":")
        if words[0] == "E":
            found += _chunks(words, topology)
        elif len(words) > 1 and words[1] in ("scatter", "balanced", "cbalanced"):
            found += _spread(words, topology)
        elif len(words) > 1:
            found += _logical(words[1:] if words[0] == "L" else words, topology)
        else:
            numbers = [n for piece in part.split(",") for n in sorted(parse_cpus(piece))]
            missing = sorted(set(numbers) - topology.allowed)
            if missing:
                raise ValueError(f"hardware thread {missing[0]} is outside of the affinity mask of this job")
            found += numbers
    return found


def _domain(tag: str, topology: Topology) -> list[int]:
    """Return the hardware threads of one domain such as S0; siblings are consecutive."""
    unit = _DOMAINS.get(tag[:1])
    groups = objects(topology, unit, partial=True) if unit else ()
    index = int(tag[1:]) if re.fullmatch("[0-9]{1,9}", tag[1:]) else 0 if tag == "N" else -1
    if not 0 <= index < len(groups):
        kinds = ", ".join(
            f"{k}0-{k}{len(objects(topology, u, partial=True)) - 1}" for k, u in _DOMAINS.items() if k != "N"
        )
        raise ValueError(f"unknown domain {tag!r}; use N, {kinds}")
    return [c.os for core in ordered_cores(topology) for c in core if c.os in groups[index]]


def _firsts(cpus: list[int], topology: Topology) -> list[int]:
    """Return the hardware threads ordered by their number in the core: first threads of all cores, then second ones."""
    core_of = {cpu.os: cpu.core for cpu in topology.cpus}
    seen: dict[int, int] = {}
    ranked = []
    for cpu in cpus:
        seen[core_of[cpu]] = seen.get(core_of[cpu], 0) + 1
        ranked.append((seen[core_of[cpu]], cpu))
    return [cpu for _nth, cpu in sorted(ranked, key=lambda pair: pair[0])]


def _numbers(words: list[str]) -> list[int]:
    if not all(re.fullmatch("[0-9]{1,18}", word) for word in words):
        raise ValueError(f"{':'.join(words)!r} are not numbers; use the form E:S0:8:1:2")
    return [int(word) for word in words]


def _chunks(words: list[str], topology: Topology) -> list[int]:
    cpus = _domain(words[1] if len(words) > 1 else "", topology)
    numbers = _numbers(words[2:])
    if len(numbers) not in (0, 1, 3, 4):
        raise ValueError(
            f"cannot read {':'.join(words)!r}; use E:DOMAIN, E:DOMAIN:COUNT or E:DOMAIN:COUNT:CHUNK:STRIDE"
        )
    count = numbers[0] if numbers else len(cpus)
    chunk, stride, start = (*numbers[1:], 0)[:3] if len(numbers) > 2 else (1, 1, 0)
    if not count or not chunk or not stride or start >= len(cpus):
        raise ValueError(f"{':'.join(words)!r}: count, chunk and stride must be at least 1")
    if count > (len(cpus) if len(numbers) < 2 else _MAX_CPUS):  # with a stride, it wraps around
        raise ValueError(f"{':'.join(words)!r} requests {count} hardware threads; the domain has {len(cpus)}")
    found: list[int] = []
    at = start
    while len(found) < count:
        found += cpus[at : at + chunk]
        at = at + stride if at + stride < len(cpus) else start
    return found[:count]


def _spread(words: list[str], topology: Topology) -> list[int]:
    kind = words[0] if words[0] in _DOMAINS and words[0] != "N" else ""
    count = len(objects(topology, _DOMAINS[kind], partial=True)) if kind else 0
    domains = [_domain(f"{kind}{index}", topology) for index in range(count)] or [_domain(words[0], topology)]
    total = sum(len(domain) for domain in domains)
    count = _numbers(words[2:3])[0] if len(words) > 2 else total
    if not domains or count > total:
        raise ValueError(f"{':'.join(words)!r} requests {count} hardware threads; the domain has {total}")
    if words[1] == "scatter":
        lists = [_firsts(domain, topology) for domain in domains]
        longest = max(len(domain) for domain in lists)
        return [held[i] for i in range(longest) for held in lists if i < len(held)][:count]
    share = [count // len(domains) + (i < count % len(domains)) for i in range(len(domains))]
    lists = domains if words[1] == "balanced" else [_firsts(domain, topology) for domain in domains]
    return [cpu for held, number in zip(lists, share, strict=True) for cpu in held[:number]]


def _logical(words: list[str], topology: Topology) -> list[int]:
    if len(words) != 2:
        raise ValueError(f"cannot read {':'.join(words)!r}; use the form S0:0-3")
    cpus = _firsts(_domain(words[0], topology), topology)
    places = [n for piece in words[1].split(",") for n in _either_way(piece)]
    if places and max(places) >= len(cpus):
        raise ValueError(f"{words[0]} has no hardware thread {max(places)}; it has {len(cpus)} hardware threads")
    return [cpus[place] for place in places]


def _either_way(text: str) -> list[int]:
    """Return the numbers of an ascending or descending range: `1-3` or `3-1`."""
    down = re.fullmatch("([0-9]{1,9})-([0-9]{1,9})", text)
    if down and int(down[1]) > int(down[2]):
        return sorted(parse_cpus(f"{down[2]}-{down[1]}"), reverse=True)
    return sorted(parse_cpus(text))


def hwloc(text: str, topology: Topology) -> CpuSet:
    """Return the hardware threads of an hwloc location.

    Supported: `type:index` chains separated by `.` (`numa:1.core:0-1`; indexes are logical: `2`, `0-3`, `4-`, `2:3`
    for three from 2 on, `all`, `odd`, `even`), masks (`0xf0`) and `all`. Words are combined by union; the prefix `~`
    removes a set, `x` is the intersection, `^` the symmetric difference.

    Raises:
        ValueError: unknown type or index.
    """
    found: CpuSet = frozenset()
    for word in text.split():
        sign, rest = (word[0], word[1:]) if word[0] in "~x^" else ("", word)
        held = _location(rest, topology)
        if sign == "~":
            found -= held
        elif sign == "x":
            found &= held
        else:
            found = found ^ held if sign == "^" else found | held
    if not found:
        raise ValueError(f"{text!r} contains no hardware thread that this job may use")
    return found


def _location(text: str, topology: Topology) -> CpuSet:
    if text in ("all", "root"):
        return topology.allowed
    if text.startswith("0x"):
        return parse_mask(text) & topology.allowed
    within = [topology.allowed]  # `numa:0-1.core:0` is core 0 of both NUMA nodes
    for link in text.split("."):
        kind, _, index = link.partition(":")
        unit = _HWLOC_TYPES.get(kind.lower())
        if unit is None:
            raise ValueError(f"unknown object type {kind!r} in {link!r}; {suggestion(kind.lower(), _HWLOC_TYPES)}")
        chosen = []
        for held in within:
            inside = [group & held for group in objects(topology, unit, partial=True) if group & held]
            chosen += [inside[i] for i in _indexes(index, len(inside), link)]
        within = chosen
    return frozenset().union(*within)


def _indexes(text: str, count: int, link: str) -> list[int]:
    simple = {"all": range(count), "odd": range(1, count, 2), "even": range(0, count, 2)}
    if text in simple:
        return list(simple[text])
    match = re.fullmatch("([0-9]{1,9})(?:(-)([0-9]{0,9})|:([0-9]{1,9}))?", text)
    if match is None:
        raise ValueError(f"invalid index in {link!r}; use the form 2, 0-3, 4-, 2:3, all, odd or even")
    first = int(match[1])
    last = first
    if match[2]:
        last = int(match[3]) if match[3] else count - 1
    elif match[4] and int(match[4]) and first < count:
        return [(first + i) % count for i in range(min(int(match[4]), count))]  # hwloc wraps around
    elif match[4]:
        last = -1
    if last >= count or first > last:
        raise ValueError(f"{link!r} is out of range; the indexes are 0 to {count - 1}")
    return list(range(first, last + 1))
