"""Ticks of axes: round values in the words that people read."""

import math
from collections.abc import Callable, Iterable, Sequence

from octant import units

ZERO_BYTES = 0.5
"""Where a message of no bytes stands on an axis of powers of two."""
WIDE = 20
"""From this factor on between the least and the most, rates and times stand on a logarithmic axis."""


def si_ticks(unit: str) -> Callable[[float], str]:
    """Writes round values of a unit: `20 GB/s`."""

    def text(value: float) -> str:
        if unit == "1":
            return f"{value:g}"
        scale, prefix = units.si_scale(value)
        return f"{value / scale:g} {prefix}{unit}"

    return text


def even_ticks(most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """From 0 to `most` in five to nine round steps."""
    if most <= 0:
        return ((0.0, "0"),)
    decade = 10.0 ** math.floor(math.log10(most / 5))
    step = next(factor * decade for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * decade * 8 >= most)
    return tuple((step * i, text(step * i) if i else "0") for i in range(math.floor(most / step + 1e-9) + 1))


def decades(least: float, most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Ticks at 1, 2 and 5 of each decade; only at 1 where there are many decades, at more places within one."""
    exponents = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps: Iterable[float] = (1, 2, 5) if len(exponents) <= 4 else (1,)
    steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if most / least < 8 else steps
    ticks = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
    return tuple((tick, text(tick)) for tick in ticks if least / 2.5 <= tick <= most * 2.5)


def places(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Ticks at the values themselves where they are few."""
    return tuple((x, f"{x:g}") for x in xs) if len(xs) <= 8 else decades(xs[0], xs[-1], lambda v: f"{v:g}")


def size_ticks(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Ticks at powers of two, in KiB, MiB and GiB."""
    zero = ((ZERO_BYTES, "0"),) if xs[0] == ZERO_BYTES else ()
    positive = [x for x in xs if x >= 1]
    if not positive:
        return zero
    first, last = math.floor(math.log2(positive[0])), math.ceil(math.log2(positive[-1]))
    step = 5 if last - first > 12 else 2
    ticks = [2.0**power for power in range(first - first % step if first % step else first, last + 1, step)]
    return (*zero, *((tick, units.bytes_text(tick)) for tick in ticks if tick >= positive[0]))
