"""How the value of a figure is written: ends of an interval or a range never stand without what they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from octant import units
from octant.stats import Grade, Period

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octant.stats import Doubt, Estimate

Sort: TypeAlias = tuple[str, str, int]
"""What values have in common that claim the same: kind, claim, and number of launches."""


@dataclass(frozen=True)
class ValueTexts:
    """A value in one SI scale, ready to be aligned."""

    number: str = ""  # "24.31"
    unit: str = ""  # "GB/s"
    ends: str = ""  # "24.28 … 24.35"; of two values both; empty where nothing is known of the spread
    claim: str = ""  # what the ends are


def value_texts(value: Estimate | None, unit: str) -> ValueTexts:
    """A value, its unit, its ends and what they are; all empty without a value.

    Args:
        unit: the base unit of the value.
    """
    if value is None:
        return ValueTexts()
    digits = 4 if value.high - value.low < 0.02 * abs(value.middle) else 3
    scale, prefix = (1.0, "") if unit == "1" else units.si_scale(value.middle, digits)
    places = units.decimals(value.middle / scale, digits)
    number, low, high = (f"{x / scale:.{places}f}" for x in (value.middle, value.low, value.high))
    between = "and" if value.kind == "two values" else "…"
    known = value.kind != "one launch" or value.low < value.high
    return ValueTexts(number, "" if unit == "1" else prefix + unit, f"{low} {between} {high}" * known, value.text)


def sort_of(value: Estimate) -> Sort:
    """Values of one sort share a line of `claims`."""
    return value.kind, value.claim, value.number


def claims(values: Iterable[Estimate | None]) -> dict[Sort, str]:
    """What the ends of these values are: a line for each sort, over the launches of all values of that sort."""
    found: dict[Sort, Estimate] = {}
    for value in values:
        if value is not None:
            known = found.setdefault(sort_of(value), value).period
            period = Period(min(known.begin, value.period.begin), max(known.end, value.period.end))
            found[sort_of(value)] = replace(value, period=period)
    return {sort: value.text for sort, value in found.items()}


def caption(values: Iterable[Estimate | None]) -> str:
    """What the lines through the points of a picture are: ` Thin lines: 95 % interval for …`; empty without values."""
    lines = list(claims(values).values())
    return f" Thin lines: {'; or '.join(lines)}." if lines else ""


def warnings(doubts: Iterable[Doubt]) -> list[str]:
    """The doubts that every view shows."""
    return [one.text for one in doubts if one.grade > Grade.NOTE]


def notes(doubts: Iterable[Doubt]) -> list[str]:
    """The doubts that a view shows if asked."""
    return [one.text for one in doubts if one.grade == Grade.NOTE]
