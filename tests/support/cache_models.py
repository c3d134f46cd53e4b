"""Models of caches whose true levels are known, and the ladders that they give: sharp, blurred, or by random hits."""

import functools
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import trees
from octant import catalogue
from octant.analysis.level_names import NamedPlateau, named_plateaus
from octant.limit import MEMORY
from octant.machine import Cache
from octant.machine.cache_levels import disputed_levels, stated_sizes
from octant.machine.hwloc import load
from octant.units import parse_bytes
from paths import MACHINES

KIB, MIB = 2**10, 2**20
Transition = Literal["sharp", "blurred", "hits"]
TRANSITIONS: tuple[Transition, ...] = ("sharp", "blurred", "hits")
"""How values go over from a level to the next: at once; by chance near the capacity; or by the share of hits, as random
accesses do, which goes on far beyond the capacity."""
Scenario = Literal["as stated", "L3 slice", "no L3", "drift", "L3 understated", "L2 halved", "QEMU default"]
"""What the hardware gives of what is stated. A slice is a part of the L3 that grows smaller, up to none. Drift: there
is no L3, and the time of memory grows with the footprint (TLB). Understated: the L3 is larger than reported.
Halved: an invisible SMT sibling uses half of the L2. QEMU: its default sizes are stated, whatever the processor has."""
SCENARIOS: tuple[Scenario, ...] = (
    "as stated", "L3 slice", "no L3", "drift", "L3 understated", "L2 halved", "QEMU default",
)  # fmt: skip

PROCESSORS: dict[str, tuple[str, ...]] = {
    "Zen 2": ("32KiB", "512KiB", "16MiB"),
    "Zen 3": ("32KiB", "512KiB", "32MiB"),
    "Zen 3, stacked L3": ("32KiB", "512KiB", "96MiB"),
    "Zen 4": ("32KiB", "1MiB", "32MiB"),
    "Zen 5": ("48KiB", "1MiB", "32MiB"),
    "Skylake": ("32KiB", "256KiB", "8MiB"),
    "Skylake server": ("32KiB", "1MiB", "39424KiB"),
    "Ice Lake server": ("48KiB", "1280KiB", "54MiB"),
    "Sapphire Rapids": ("48KiB", "2MiB", "105MiB"),
    "Neoverse N1": ("64KiB", "1MiB", "32MiB"),
    "Neoverse N1, L3 not stated": ("64KiB", "1MiB"),
    "Neoverse V2": ("64KiB", "2MiB", "114MiB"),
    "A64FX": ("64KiB", "8MiB"),
    "POWER8": ("64KiB", "512KiB", "8MiB"),
    "POWER9": ("32KiB", "512KiB", "10MiB"),
}
"""Sizes of L1, L2 and L3 as one core sees them, from the vendors' manuals."""


@functools.cache
def stated_by_name() -> Mapping[str, Mapping[int, int]]:
    """The undisputed cache sizes of processors, recorded machines, published ones and described ones, by level."""
    found = {name: dict(enumerate(map(parse_bytes, sizes), 1)) for name, sizes in PROCESSORS.items()}
    for path in sorted([*MACHINES.glob("*.xml"), *MACHINES.glob("*.synthetic")]):
        found[path.name] = _sizes_of(load(path).caches or ())
    for name in trees.described():
        caches = [one for one in trees.description(name).caches if one.type != "Instruction"]
        found[name] = {one.level: parse_bytes(one.size.replace("K", "KiB")) for one in caches}
    guest = trees.machine("kvm-xeon-2cpu")
    disputed = disputed_levels(guest)
    found[guest.name] = {level: size for level, size in stated_sizes(guest).items() if level not in disputed}
    units = {"KB": KIB, "MB": MIB}
    for name, published in catalogue.machines().items():
        listed = {one["level"]: one for one in published.others.get("caches", ()) if "size" in one}
        levels = {level: listed.get(f"L{level}D") or listed.get(f"L{level}") for level in (1, 2, 3)}
        found[name] = {n: round(one["size"] * units[one["unit"]]) for n, one in levels.items() if one}
    return {name: sizes for name, sizes in found.items() if sizes}


def _sizes_of(caches: Iterable[Cache]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for cache in caches:
        if cache.kind != "instruction" and cache.size_bytes is not None:
            sizes[cache.level] = max(cache.size_bytes, sizes.get(cache.level, 0))
    return dict(sorted(sizes.items()))


@dataclass(frozen=True)
class Case:
    """A ladder over a machine whose true capacities are known."""

    stated: Mapping[int, int]
    capacities: Mapping[int, float]  # bytes that really fit, by level
    ratio: float  # of the values of neighbouring levels
    noise: float  # uniform, relative
    transition: Transition
    rising: bool  # times; else rates
    points: tuple[tuple[float, float], ...]
    named: tuple[NamedPlateau, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The true levels, the nearest first."""
        return (*(f"L{level}" for level in self.capacities), MEMORY)

    def true_levels(self, size: float) -> set[str]:
        """Where data of that size lie; near a capacity two answers are right."""
        names, capacities = self.names, list(self.capacities.values())
        found = {names[next((i for i, most in enumerate(capacities) if size <= most), len(capacities))]}
        for i, most in enumerate(capacities):
            if 2 / 3 * most < size <= 2 * most:
                found |= {names[i], names[i + 1]}
        return found

    def wrong_plateaus(self) -> list[str]:
        """Plateaus of which more than a quarter of the points lie in levels that their names do not have."""
        found = []
        for one in self.named:
            within = [size for size, _ in self.points if one.first <= size <= one.last]
            wrong = [size for size in within if not self._is_right(one, size)]
            if len(wrong) > len(within) / 4:
                found.append(f"{one.name} at {wrong}")
        return found

    def _is_right(self, plateau: NamedPlateau, size: float) -> bool:
        levels = self.true_levels(size)
        if plateau.name.startswith("beyond L"):
            return any(name == MEMORY or name > plateau.name.removeprefix("beyond ") for name in levels)
        return not plateau.levels or bool(levels & set(plateau.levels))

    def levels_with_points(self, least: int = 3) -> list[str]:
        """Levels in which so many points lie for certain."""
        certain = [levels.copy().pop() for size, _ in self.points if len(levels := self.true_levels(size)) == 1]
        return [name for name in self.names if certain.count(name) >= least]


def cases(name: str, scenario: Scenario, number: int, seed: int = 0) -> Iterator[Case]:
    """Random ladders of a machine; the same ones for the same arguments."""
    stated = stated_by_name()[name]
    draw = random.Random(f"{name}, {scenario}, {seed}")
    if scenario not in ("as stated", "L2 halved") and len(stated) < 3:
        return
    for _ in range(number):
        ratio, noise = draw.choice([1.1, 1.2, 1.3, 1.5, 2.0, 3.0]), draw.choice([0.0, 0.01, 0.03, 0.05, 0.1])
        yield case(stated, scenario, ratio, noise, draw)


def case(
    stated: Mapping[int, int],
    scenario: Scenario,
    ratio: float,
    noise: float,
    draw: random.Random,
    transition: Transition | None = None,
) -> Case:
    """One ladder; what is not given is drawn."""
    capacities: dict[int, float] = dict(stated)
    reported = dict(stated)
    if scenario in ("L3 slice", "no L3", "drift"):
        part = draw.choice([0.03, 0.06, 0.12, 0.25, 0.5]) if scenario == "L3 slice" else 0.0
        capacities[3] = max(capacities[2], part * capacities[3])
    elif scenario == "L3 understated":
        reported[3] = max(round(draw.choice([0.06, 0.12, 0.25, 0.5]) * reported[3]), round(1.3 * reported[2]))
    elif scenario == "L2 halved" and 2 in capacities:
        capacities[2] /= 2
    elif scenario == "QEMU default":
        reported = {1: 32 * KIB, 2: 4 * MIB, 3: 16 * MIB}
    rising = draw.random() < 0.5
    chosen: Transition = draw.choice(TRANSITIONS) if transition is None else transition
    exponent = draw.choice([0.03, 0.06, 0.1]) if scenario == "drift" else 0.0
    values = [ratio**i for i in range(len(capacities) + 1)]
    points = []
    for size in _sizes(reported, draw):
        time = _time(size, list(capacities.values()), values, chosen, draw)
        time *= max(1.0, size / list(capacities.values())[-1]) ** exponent
        value = time if rising else 1 / time
        points.append((float(size), value * (1 + draw.uniform(-noise, noise))))
    named = named_plateaus(points, reported, rising=rising)
    return Case(reported, capacities, ratio, noise, chosen, rising, tuple(points), named)


def _sizes(stated: Mapping[int, int], draw: random.Random) -> list[int]:
    """The footprints of the suites: quick; full, bandwidth; full, latency."""
    last, second = 4 * max(stated.values()), 4 * stated.get(2, MIB)
    ends = draw.choice([(256 * MIB, second), (last, second), (last, last)])
    return sorted({begin << i for begin, end in zip((8 * KIB, 12 * KIB), ends, strict=True)
                   for i in range(30) if begin << i <= end})  # fmt: skip


def _time(
    size: int, capacities: list[float], values: list[float], transition: Transition, draw: random.Random
) -> float:
    level = next((i for i, most in enumerate(capacities) if size <= most), len(capacities))
    if transition == "hits":
        shares = [min(1.0, most / size) for most in capacities]
        return sum((b - a) * value for (a, b), value in zip(pairwise([0.0, *shares, 1.0]), values, strict=True))
    for i, most in enumerate(capacities):
        if transition == "blurred" and 2 / 3 * most < size < 2 * most:
            weight = draw.random()
            return values[i] * (1 - weight) + values[i + 1] * weight
    return values[level]
