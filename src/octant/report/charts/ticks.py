"""Ticks of axes: round values with their texts."""

import math
from collections.abc import Callable, Iterable, Sequence

from octant import units
from octant.report.charts.picture import Axis

ZERO_BYTES = 0.5
"""Place of an empty message on an axis of powers of two."""
WIDE = 20
"""Rates and times that differ by at least this factor are on a logarithmic axis."""

MAX_SIZES = 10


def si_ticks(unit: str) -> Callable[[float], str]:
    """Return a function that writes round values of a unit: `20 GB/s`."""

    def text(value: float) -> str:
        if unit == "1":
            return f"{value:g}"
        scale, prefix = units.si_scale(value, unit=unit)
        return f"{value / scale:g} {prefix}{unit}"

    return text


def with_unit(title: str, log: bool, ticks: Sequence[tuple[float, str]], unit: str) -> Axis:
    """Return an axis with its unit in the title, or at the ticks if these need several prefixes."""
    at = [tick for tick, _ in ticks]
    some = [tick for tick in at if tick > 0] or [1.0]
    scale, prefix = (1.0, "") if unit == "1" else units.si_scale(some[len(some) // 2], unit=unit)
    if unit == "1" or (min(some) >= 0.1 * scale and max(some) < 1e4 * scale):
        named = title if unit == "1" else f"{title}, {prefix}{unit}"
        return Axis(named, log, tuple((tick, f"{tick / scale:g}") for tick in at), unit)
    return Axis(title, log, tuple((tick, si_ticks(unit)(tick) if tick else "0") for tick in at), unit)


def even_ticks(most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Return ticks from 0 to `most` in five to nine round steps."""
    if most <= 0:
        return ((0.0, "0"),)
    decade = 10.0 ** math.floor(math.log10(most / 5))
    step = next(factor * decade for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * decade * 8 >= most)
    return tuple((step * i, text(step * i) if i else "0") for i in range(math.floor(most / step + 1e-9) + 1))


def decades(least: float, most: float, text: Callable[[float], str]) -> tuple[tuple[float, str], ...]:
    """Return ticks at 1, 2 and 5 of each decade; of many decades only at 1, within one at more places."""
    exponents = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    steps: Iterable[float] = (1, 2, 5) if len(exponents) <= 4 else (1,)
    steps = (1, 1.5, 2, 3, 4, 5, 6, 8) if most / least < 8 else steps
    ticks = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
    return tuple((tick, text(tick)) for tick in ticks if least / 2.5 <= tick <= most * 2.5)


def places(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return ticks at the values themselves if these are few."""
    return tuple((x, count_text(x)) for x in xs) if len(xs) <= 8 else decades(xs[0], xs[-1], count_text)


def count_text(value: float) -> str:
    """Return a count as `65536`, `2^20` or `10^6`; other values are written as numbers."""
    for base, first in ((2, 17), (10, 6)):
        power = round(math.log(value, base)) if value >= 1 else 0
        if power >= first and value == base**power:
            return f"{base}^{power}"
    return f"{value:.0f}" if value == round(value) and value < 1e7 else f"{value:g}"


def size_ticks(xs: Sequence[float]) -> tuple[tuple[float, str], ...]:
    """Return at most ten evenly spaced ticks at powers of two, in KiB, MiB and GiB."""
    zero = ((ZERO_BYTES, "0"),) if xs[0] == ZERO_BYTES else ()
    positive = [x for x in xs if x >= 1]
    if not positive:
        return zero
    first, last = math.floor(math.log2(positive[0])), math.ceil(math.log2(positive[-1]))
    step = next(step for step in (1, 2, 3, 4, 5, 10) if (last - first) / step < MAX_SIZES or step == 10)
    ticks = [2.0**power for power in range(math.ceil(math.log2(positive[0])), last + 1, step)]
    return (*zero, *((tick, units.bytes_text(tick)) for tick in ticks))
