"""Warnings about poor placements, each with a better placement of the same ranks and threads.

A placement gets a warning only if another placement of the planner is better in this respect and worse in no other.
The best possible placement therefore gets none. More threads than cores are the exception: they get a warning in every
placement, and the advice is to start fewer.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from octant.machine import CpuSet, Topology
from octant.placement import Placement
from octant.placement.planner import DoesNotFitError, local_nodes, ordered_cores, plan_or_suggest
from octant.placement.request import PlacementRequest

_ORDERS = ("compact", "scatter", "scatter:package", "scatter:numa")
_LEVELS = {"package": "package", "numa": "NUMA domain"}
"""Levels whose memory controllers and links threads share, outermost first, with their names."""
_DIGITS = 6
"""Digits of loads, so that rounding makes no difference."""


@dataclass(frozen=True)
class PlacementWarning:
    """A weakness of a placement that another placement does not have."""

    kind: str  # "oversubscribed", "shared-cores", "crossing", "idle-domains", "uneven"
    text: str


@dataclass(frozen=True)
class PlacementAdvice:
    """Warnings about a placement, and requests without these weaknesses; none if there are no warnings."""

    warnings: tuple[PlacementWarning, ...] = ()
    better: tuple[PlacementRequest, ...] = ()  # all equally good; the first has the fewest changes


NO_ADVICE = PlacementAdvice()


@dataclass(frozen=True)
class _Level:
    """Use of the packages or NUMA domains: the more of a number, the worse."""

    crossing: int  # domains that ranks use beyond their first one
    idle: int  # domains without a thread
    fullest: float  # threads in the domain with most of them; threads that may move count in parts
    loads: tuple[float, ...]  # threads in each domain


@dataclass(frozen=True)
class _Quality:
    """Weaknesses of a placement as numbers: the more, the worse."""

    without_thread: int  # threads that have no hardware thread of their own
    without_core: int  # threads that have no core of their own
    levels: tuple[tuple[str, _Level], ...]
    slow: int  # threads that may run on cores that are not of the fastest kind

    def numbers(self) -> tuple[float, ...]:
        """Return the numbers that decide, the most important first."""
        levels = [level for _, level in self.levels]
        parts = [[getattr(level, name) for level in levels] for name in ("crossing", "idle", "fullest")]
        return (self.without_thread, self.without_core, *itertools.chain(*parts))


def advise(
    placement: Placement, request: PlacementRequest, topology: Topology, *, accept_smt: bool = False
) -> PlacementAdvice:
    """Return warnings about a placement on one node, with a better request.

    Args:
        placement: of the request, or of the lines of a launcher.
        request: that gives these hardware threads.
        topology: of the node.
        accept_smt: the user requested several threads per core, which is no weakness if all cores are used.
    """
    bound = frozenset().union(*(place.cpus for place in placement.ranks))
    if request.torus or not topology.usable() or not bound <= topology.allowed:
        return NO_ADVICE
    fewer = _count_warning(request, topology, accept_smt)
    if fewer and fewer.kind == "oversubscribed":
        return PlacementAdvice((fewer,), _fewer(request, topology))
    current = _assess(placement, request, topology)
    better = [_Candidate(_rank(current, request, request), current, request), *_better(current, request, topology)]
    better.sort(key=lambda one: one.rank)
    best = better[0].quality
    warnings = tuple(_compare(current, best, topology))
    if fewer:
        others = [one for one in warnings if one.kind not in (fewer.kind, "uneven")]
        return PlacementAdvice((fewer, *others), _fewer(request, topology))
    equal = tuple(one.request for one in better if one.quality.numbers() == best.numbers())
    return PlacementAdvice(warnings, equal) if warnings else NO_ADVICE


def advise_on_request(placement: Placement, request: PlacementRequest, topology: Topology) -> PlacementAdvice:
    """Return the warnings about the placement of a request of the user, who may want several threads per core."""
    return advise(placement, request, topology, accept_smt=request.smt != 1 or bool(request.cpus))


@dataclass(frozen=True)
class _Candidate:
    """A request whose placement is in no respect worse than the current one; the lowest rank is the best."""

    rank: tuple[float, ...]
    quality: _Quality
    request: PlacementRequest


def _better(current: _Quality, request: PlacementRequest, topology: Topology) -> list[_Candidate]:
    """Return one candidate for each placement that is no worse than the current one."""
    found: dict[tuple[CpuSet, ...], _Candidate] = {}
    qualities: dict[tuple[CpuSet, ...], _Quality] = {}
    for candidate in _candidates(request, topology):
        try:
            planned = plan_or_suggest(topology, candidate)
        except (DoesNotFitError, ValueError):
            continue
        masks = tuple(bound for place in planned.ranks for bound in place.threads)
        if masks not in qualities:
            qualities[masks] = _assess(planned, candidate, topology)
        one = _Candidate(_rank(qualities[masks], candidate, request), qualities[masks], candidate)
        if _is_no_worse(one.quality, current) and (masks not in found or one.rank < found[masks].rank):
            found[masks] = one
    return list(found.values())


def _rank(quality: _Quality, candidate: PlacementRequest, request: PlacementRequest) -> tuple[float, ...]:
    """Return the order of candidates: the better first, then those with fewer changes of the request."""
    changed = sum(getattr(candidate, name) != getattr(request, name) for name in ("unit", "order", "smt", "share"))
    return (*quality.numbers(), quality.slow, changed + bool(request.cpus) * (not candidate.cpus))


def _is_no_worse(other: _Quality, current: _Quality) -> bool:
    pairs = zip((*other.numbers(), other.slow), (*current.numbers(), current.slow), strict=True)
    return all(new <= old for new, old in pairs)


def _candidates(request: PlacementRequest, topology: Topology) -> Iterator[PlacementRequest]:
    """Yield requests for the same ranks and threads: in every order, with as few threads per core as possible."""
    plain = replace(request, cpus=(), oversubscribe=False)
    forms = [replace(plain, unit="core", share=False)] + ([] if request.cpus else [plain])
    need = request.ranks * request.threads
    cores = ordered_cores(topology, request.kind)
    slots_by_smt = [sum(min(smt, len(core)) for core in cores) for smt in range(1, topology.smt() + 1)]
    least = next((smt for smt, slots in enumerate(slots_by_smt, 1) if slots >= need), topology.smt())
    most = slots_by_smt[-1]
    for form in forms:
        for smt in dict.fromkeys((least, min(form.smt or topology.smt(), topology.smt()), topology.smt())):
            for order in dict.fromkeys((form.order, *_ORDERS)):
                yield replace(form, order=order, smt=smt, oversubscribe=need > most)


def _assess(placement: Placement, request: PlacementRequest, topology: Topology) -> _Quality:
    """Return the weaknesses of a placement."""
    masks: Counter[CpuSet] = Counter(bound for place in placement.ranks for bound in place.threads)
    core_of = {cpu.os: cpu.core for cpu in topology.cpus}
    ranked = topology.kinds is not None and all(kind.rank is not None for kind in topology.kinds)
    slow = frozenset(cpu.os for cpu in topology.cpus if ranked and cpu.kind not in ("", "performance"))
    levels = {} if _chooses_memory(request) else _domains(topology)
    return _Quality(
        masks.total() - _count_matched(masks),
        masks.total() - _count_matched(_regroup(masks, core_of)),
        tuple((level, _use_of_level(placement, masks, of)) for level, of in levels.items()),
        sum(number for mask, number in masks.items() if mask & slow),
    )


def _chooses_memory(request: PlacementRequest) -> bool:
    """Return whether the request itself distributes the memory, so that the threads do not determine its place."""
    return bool(request.memory.nodes) or request.memory.policy == "interleave"


def _domains(topology: Topology) -> dict[str, Mapping[int, int]]:
    """Return the packages and the NUMA nodes of the usable hardware threads; levels with one domain are left out."""
    usable = topology.usable()
    homes = local_nodes(topology)
    found: dict[str, Mapping[int, int]] = {
        "package": {cpu.os: cpu.package for cpu in usable},
        "numa": {cpu.os: homes[cpu.os] for cpu in usable if cpu.os in homes},
    }
    return {level: of for level, of in found.items() if len(set(of.values())) > 1 and len(of) == len(usable)}


def _use_of_level(placement: Placement, masks: Mapping[CpuSet, int], domain_of: Mapping[int, int]) -> _Level:
    touched = [len({domain_of[cpu] for cpu in place.cpus}) for place in placement.ranks]
    domains = sorted(set(domain_of.values()))
    loads = dict.fromkeys(domains, 0.0)
    for mask, number in masks.items():
        for cpu in mask:
            loads[domain_of[cpu]] += number / len(mask)
    used = _count_matched(_regroup(masks, domain_of))
    rounded = tuple(round(loads[domain], _DIGITS) for domain in domains)
    return _Level(sum(touched) - len(touched), len(domains) - used, max(rounded), rounded)


def _regroup(masks: Mapping[CpuSet, int], unit_of: Mapping[int, int]) -> Mapping[CpuSet, int]:
    """Return the number of threads by the set of units (cores, domains) that they may use."""
    found: Counter[CpuSet] = Counter()
    for mask, number in masks.items():
        found[frozenset(unit_of[cpu] for cpu in mask if cpu in unit_of)] += number
    return found


def _count_matched(masks: Mapping[CpuSet, int]) -> int:
    """Return how many threads can have a place of their own at the same time (a maximum matching).

    Args:
        masks: number of threads by the set of places that each of them may use.
    """
    holder: dict[int, CpuSet] = {}
    failed: set[int] = set()  # places from which no augmenting path starts; they stay so
    for mask, number in sorted(masks.items(), key=lambda item: len(item[0])):
        for _ in range(number):
            path = _find_path(mask, holder, failed)
            if not path:
                break
            holder |= dict(path)
    return len(holder)


def _find_path(mask: CpuSet, holder: Mapping[int, CpuSet], failed: set[int]) -> list[tuple[int, CpuSet]]:
    """Return the places that change their holders so that one more thread of this mask has a place; empty if none."""
    reached: dict[int, tuple[int | None, CpuSet]] = {}  # place: the place that is left for it, and by which mask
    waiting: list[tuple[int | None, CpuSet]] = [(None, mask)]
    for origin, seeking in waiting:
        for place in seeking:
            if place in reached or place in failed:
                continue
            reached[place] = (origin, seeking)
            if place not in holder:
                path, at = [], place
                while True:
                    before, by = reached[at]
                    path.append((at, by))
                    if before is None:
                        return path
                    at = before
            waiting.append((place, holder[place]))
    failed.update(reached)
    return []


def _compare(current: _Quality, best: _Quality, topology: Topology) -> Iterator[PlacementWarning]:
    """Yield a warning for each respect in which the best placement is better."""
    threads, cores = len(topology.usable()), topology.usable_cores()
    if (number := current.without_thread) > best.without_thread:
        yield PlacementWarning(
            "oversubscribed",
            f"{_threads(number)} no hardware thread of {_own(number)}, although {threads} hardware threads are usable",
        )
    elif (number := current.without_core) > best.without_core:
        yield PlacementWarning(
            "shared-cores", f"{_threads(number)} no core of {_own(number)}, although {cores} cores are usable"
        )
    pairs = [(_LEVELS[name], now, new) for (name, now), (_, new) in zip(current.levels, best.levels, strict=True)]
    if found := [(name, now, new) for name, now, new in pairs if now.crossing > new.crossing]:
        name, _, new = found[-1]
        least = "one" if not new.crossing else "fewer"
        yield PlacementWarning("crossing", f"ranks use several {name}s each, although {least} would be enough")
    if found := [(name, now, new) for name, now, new in pairs if now.idle > new.idle]:
        name, now, _ = found[-1]
        count = len(now.loads)
        yield PlacementWarning(
            "idle-domains",
            f"only {count - now.idle} of {count} {name}s {'is' if count - now.idle == 1 else 'are'} used; "
            "the memory controllers of the others are idle",
        )
    elif found := [(name, now, new) for name, now, new in pairs if now.fullest > new.fullest]:
        name, now, new = found[-1]
        loads = ", ".join(f"{load:g}" for load in now.loads)
        yield PlacementWarning(
            "uneven", f"uneven numbers of threads in the {name}s: {loads}; at most {new.fullest:g} are necessary"
        )


def _threads(number: int) -> str:
    return "1 thread has" if number == 1 else f"{number} threads have"


def _own(number: int) -> str:
    return "its own" if number == 1 else "their own"


def _count_warning(request: PlacementRequest, topology: Topology, accept_smt: bool) -> PlacementWarning | None:
    """Return a warning if there are more threads than cores or hardware threads."""
    count, cores = request.ranks * request.threads, ordered_cores(topology, request.kind)
    places = sum(map(len, cores))
    if count > places > 0:
        text = f"{count} threads on {places} usable hardware threads: the threads wait for each other"
        return PlacementWarning("oversubscribed", text)
    if count > len(cores) > 0 and not accept_smt:
        return PlacementWarning(
            "shared-cores", f"{count} threads on {len(cores)} usable cores: the threads share cores"
        )
    return None


def _fewer(request: PlacementRequest, topology: Topology) -> tuple[PlacementRequest, ...]:
    """Return the best requests with as many ranks, or else threads, as there are cores."""
    cores = len(ordered_cores(topology, request.kind))
    ranks, threads = (cores // request.threads, request.threads) if request.threads <= cores else (1, cores)
    largest = replace(
        request, ranks=ranks, threads=threads, unit="core", smt=1, cpus=(), share=False, oversubscribe=False
    )
    return advise(plan_or_suggest(topology, largest), largest, topology).better or (largest,)
