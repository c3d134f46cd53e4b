"""Effect of OS noise on an operation that waits for all ranks.

Each core is interrupted at random times, independently of the others, for a duration d at a mean interval I. A rank is
at least x late if an interruption has more than x left when the operation starts, or begins within its T seconds. This
has the probability 1 - exp(-(T + d - x) / I). The operation is as late as the last of P ranks (Tsafrir, Etsion,
Feitelson, Kirkpatrick, System noise, OS clock ticks, and fine-grained parallel applications, ICS 2005). Two
interruptions of one rank are not added, and an operation with several steps is late once. Both simplifications have
little effect for rare interruptions.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.units import parse_seconds

MAX_KINDS = 64
_SMALL = 1e-9  # below it, 1 - (1 - exp(-w)) / w is w / 2 in double precision


@dataclass(frozen=True)
class Interruption:
    """One kind of interruption of a core."""

    length_s: float
    every_s: float  # mean interval on one core

    @property
    def share(self) -> float:
        """Share of the time of the core."""
        return self.length_s / self.every_s


@dataclass(frozen=True)
class Delay:
    """Delay of an operation, in seconds."""

    mean_s: float
    median_s: float
    worst_s: float  # median of the largest delay of `of` operations
    of: int


def read_interruptions(text: str) -> list[Interruption]:
    """Return the kinds of interruption in `50us/10ms,1us/1ms`: duration and mean interval.

    Raises:
        Refusal: the list is invalid, a duration exceeds its interval, or there are more than 64 kinds.
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
                f"{word[:60]!r} is not of the form DURATION/PERIOD with DURATION < PERIOD; try 50us/10ms",
                Exit.WRONG_WORD,
            ) from None
        found.append(one)
    if len(found) > MAX_KINDS:
        raise Refusal(f"{len(found)} kinds of interruption are too many; try at most {MAX_KINDS}", Exit.WRONG_WORD)
    return found


def operation_delay(seconds: float, ranks: int, noise: Sequence[Interruption], of: int = 10_000) -> Delay:
    """Return the delay of an operation that waits for all ranks, each on its own core.

    Args:
        seconds: time of the operation without noise.
        ranks: number of ranks.
        noise: independent kinds of interruption of every core.
        of: number of operations for the largest delay.
    """
    ends = [0.0, *sorted({kind.length_s for kind in noise})]
    mean = sum(_mean_within(low, high, seconds, ranks, noise) for low, high in itertools.pairwise(ends))
    # P(late <= x) = exp(-ranks * hazard(x)), and the latest of `of` operations has its power.
    median, worst = (_latest(math.log(2) / (ranks * count), seconds, noise, ends[-1]) for count in (1, of))
    return Delay(mean, median, worst, of)


def _mean_within(low: float, high: float, seconds: float, ranks: int, noise: Sequence[Interruption]) -> float:
    """Return the integral of P(late > x) between two adjacent lengths, where the hazard is a - b x."""
    active = [kind for kind in noise if kind.length_s >= high]
    a, b = sum((seconds + kind.length_s) / kind.every_s for kind in active), sum(1 / kind.every_s for kind in active)
    least, width = (
        ranks * (a - b * high),
        ranks * b * (high - low),
    )  # the hazard of all ranks at the upper end, and more
    lost = width / 2 if width < _SMALL else 1 + math.expm1(-width) / width
    return (high - low) * (math.exp(-least) * lost - math.expm1(-least))


def _hazard(x: float, seconds: float, noise: Sequence[Interruption]) -> float:
    """Return -log of the probability that one rank is at most `x` late."""
    return sum((seconds + kind.length_s - x) / kind.every_s for kind in noise if x < kind.length_s)


def _latest(enough: float, seconds: float, noise: Sequence[Interruption], longest: float) -> float:
    """Return the least x whose hazard is at most `enough`; the hazard decreases with x."""
    if _hazard(0.0, seconds, noise) <= enough:
        return 0.0
    low, high = 0.0, longest
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if _hazard(middle, seconds, noise) <= enough else (middle, high)
    return high
