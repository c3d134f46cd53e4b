"""Classification of cores as `performance` or `efficiency` on hybrid processors."""

import itertools
from collections.abc import Sequence

from octant.machine import CpuKind

LEAST_STEP = 1.2
"""Kinds that differ by a smaller factor count as one: some cores or clusters have slightly higher frequency limits."""
_CORE_TYPES = {"IntelCore": "performance", "IntelAtom": "efficiency"}
_MEASURES = ("LinuxCapacity", "FrequencyBaseMHz", "FrequencyMaxMHz")
"""Infos of hwloc that state the performance of a kind, the most accurate first."""


def classify(kinds: Sequence[CpuKind]) -> dict[int, str]:
    """Return `performance` or `efficiency` for each hardware thread; empty if all cores are of one kind.

    Intel's core types decide if every kind states one. Otherwise the kinds are divided into two classes at one place of
    hwloc's ranking: where the stated performance rises by the largest factor, provided that this is at least
    `LEAST_STEP`. With three or more tiers, the upper ones are `performance` and the lower ones `efficiency`. If no
    performance is stated, the highest kind of the ranking is `performance`.
    """
    ranked = sorted((kind for kind in kinds if kind.rank is not None), key=lambda kind: kind.rank or 0)
    types = [_CORE_TYPES.get(dict(kind.infos).get("CoreType", ""), "") for kind in ranked]
    if len(ranked) < 2 or len(ranked) < len(kinds):
        return {}
    if all(types):
        names = types if len(set(types)) == 2 else [""] * len(ranked)
    else:
        first = _first_fast(ranked)
        names = ["efficiency" if place < first else "performance" for place in range(len(ranked))] if first else []
    return {cpu: name for kind, name in zip(ranked, names, strict=False) if name for cpu in kind.cpus}


def _first_fast(ranked: Sequence[CpuKind]) -> int:
    """Return the index of the slowest `performance` kind; 0 if all cores are of one kind."""
    for name in _MEASURES:
        stated = [dict(kind.infos).get(name, "") for kind in ranked]
        values = [int(text) for text in stated if text.isdecimal() and len(text) < 10 and int(text)]
        if len(values) == len(ranked):
            steps = [later / earlier for earlier, later in itertools.pairwise(values)]
            return steps.index(max(steps)) + 1 if max(steps) >= LEAST_STEP else 0
    return len(ranked) - 1
