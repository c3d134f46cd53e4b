"""What interruptions by the operating system add to an operation that waits for every rank.

Each core is interrupted at random moments, independently of the others: interruptions of length d, one every I. A rank
comes x late where one of them has more than x left when the operation begins, or begins within its T seconds: with
probability 1 - exp(-(T + d - x) / I). The operation is as late as the last of P ranks (Tsafrir, Etsion, Feitelson,
Kirkpatrick, System noise, OS clock ticks, and fine-grained parallel applications, ICS 2005). Two interruptions of one
rank do not add up, and an operation of several steps is late once: for rare interruptions both matter little.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.units import parse_seconds

MOST_KINDS = 64
_SMALL = 1e-9  # where 1 - (1 - exp(-w)) / w is w / 2 to all digits that count


@dataclass(frozen=True)
class Interruption:
    """One kind of interruption of a core."""

    length_s: float
    every_s: float  # mean time from one to the next, of one core

    @property
    def share(self) -> float:
        """Of the core's time."""
        return self.length_s / self.every_s


@dataclass(frozen=True)
class Delay:
    """How late an operation is, in seconds."""

    mean_s: float
    median_s: float
    worst_s: float  # of `of` operations: the median of the latest
    of: int


def read_interruptions(text: str) -> list[Interruption]:
    """Kinds of interruption from `50us/10ms,1us/1ms`: length and mean interval.

    Raises:
        Refusal: no such list, an interruption that takes all the time, or more than 64 kinds.
    """
    found = []
    for word in text.split(","):
        length, slash, every = word.partition("/")
        try:
            one = Interruption(parse_seconds(length), parse_seconds(every))
            if not slash or not 0 < one.length_s < one.every_s:
                raise ValueError
        except ValueError:
            raise Refusal(
                f"cannot read {word[:60]!r} as interruptions; try 50us/10ms (50 us long, one every 10 ms of a core)",
                Exit.WRONG_WORD,
            ) from None
        found.append(one)
    if len(found) > MOST_KINDS:
        raise Refusal(f"cannot use {len(found)} kinds of interruption; try {MOST_KINDS} at most", Exit.WRONG_WORD)
    return found


def operation_delay(seconds: float, ranks: int, noise: Sequence[Interruption], of: int = 10_000) -> Delay:
    """How late an operation of `seconds` is that waits for all of `ranks`, each on a core of its own.

    Args:
        seconds: of the operation without interruptions.
        ranks: that it waits for.
        noise: independent kinds of interruption of every core.
        of: number of operations whose latest is asked for.
    """
    ends = [0.0, *sorted({kind.length_s for kind in noise})]
    mean = sum(_mean_within(low, high, seconds, ranks, noise) for low, high in itertools.pairwise(ends))
    # P(late <= x) = exp(-ranks * hazard(x)), and the latest of `of` operations has its power.
    median, worst = (_latest(math.log(2) / (ranks * count), seconds, noise, ends[-1]) for count in (1, of))
    return Delay(mean, median, worst, of)


def _mean_within(low: float, high: float, seconds: float, ranks: int, noise: Sequence[Interruption]) -> float:
    """The integral of P(late > x) where no length lies between: the hazard is a straight line a - b x there."""
    active = [kind for kind in noise if kind.length_s >= high]
    a, b = sum((seconds + kind.length_s) / kind.every_s for kind in active), sum(1 / kind.every_s for kind in active)
    least, width = (
        ranks * (a - b * high),
        ranks * b * (high - low),
    )  # the hazard of all ranks at the upper end, and more
    lost = width / 2 if width < _SMALL else 1 + math.expm1(-width) / width
    return (high - low) * (math.exp(-least) * lost - math.expm1(-least))


def _hazard(x: float, seconds: float, noise: Sequence[Interruption]) -> float:
    """-log of the probability that one rank is at most `x` late."""
    return sum((seconds + kind.length_s - x) / kind.every_s for kind in noise if x < kind.length_s)


def _latest(enough: float, seconds: float, noise: Sequence[Interruption], longest: float) -> float:
    """The least x whose hazard is at most `enough`; the hazard falls with x."""
    if _hazard(0.0, seconds, noise) <= enough:
        return 0.0
    low, high = 0.0, longest
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if _hazard(middle, seconds, noise) <= enough else (middle, high)
    return high
