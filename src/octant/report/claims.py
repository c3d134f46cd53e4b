"""Texts of the value of a figure, with the meaning of its interval or range."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from octant import stats, units
from octant.report.plain import clean
from octant.stats import Period
from octant.stats.grades import GRADE_NAMES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from octant.analysis.figures import Figure
    from octant.metric import Metric
    from octant.stats import Estimate
    from octant.stats.caveats import Caveat
    from octant.stats.grades import GradeName
    from octant.stats.verdicts import Verdict

Sort: TypeAlias = tuple[str, str, int]
"""What values have in common that claim the same: kind, claim, and number of launches."""

MAX_WORDS = 8
"""Words of a caveat in a row of a table."""
BEST = "best of this run"
"""Text of a figure that is the limit of other figures, in place of its share."""
NARROW = units.NARROW
"""A narrow space at which no line ends, before units and %."""


@dataclass(frozen=True)
class ValueTexts:
    """A value in one SI scale, ready to be aligned."""

    number: str = ""  # "24.31"
    unit: str = ""  # "GB/s"
    ends: str = ""  # "24.28 … 24.35"; of two values both; empty where nothing is known of the spread
    claim: str = ""  # what the ends are


def value_texts(value: Estimate | None, unit: str, share: bool = False) -> ValueTexts:
    """Return a value, its unit, its ends and their meaning; all empty without a value.

    Value and ends have one scale and one number of decimals: the half-width of an interval keeps one digit, two where
    it begins with 1, and the value at most four; without an interval the value keeps three, if not measurable two.

    Args:
        unit: the base unit of the value.
        share: of a whole: the value is written in percent.
    """
    if value is None:
        return ValueTexts()
    value = value.stated
    scale, places, unit = _form(value, unit, share)
    if value.kind == "not measurable":
        return ValueTexts(_fixed(value.middle / scale, units.decimals(value.middle / scale, 2)), unit, "", value.text)
    number, low, high = (_fixed(x / scale, places) for x in (value.middle, value.low, value.high))
    between = "and" if value.kind == "two values" else "…"
    known = value.kind != "one launch" or value.low < value.high
    return ValueTexts(number, unit, f"{low} {between} {high}" * known, value.text)


def number_texts(value: float, unit: str, share: bool = False) -> ValueTexts:
    """Return a value without an interval, with three digits."""
    scale, unit = _scale(value, unit, share)
    return ValueTexts(_fixed(value / scale, _decimals(value / scale, 0.0)), unit)


def figure_texts(figure: Figure) -> ValueTexts:
    """Return the texts of the value of a figure; a share of time or capacity is in percent."""
    return value_texts(figure.value, figure.metric.unit, figure.metric.is_percentage)


def end_texts(value: Estimate, metric: Metric, ends: tuple[float, float]) -> tuple[str, str]:
    """Return the least and the greatest value of a figure's launches, in its scale and with its decimals."""
    scale, places, _ = _form(value, metric.unit, metric.is_percentage)
    return _fixed(ends[0] / scale, places), _fixed(ends[1] / scale, places)


def _form(value: Estimate, unit: str, share: bool) -> tuple[float, int, str]:
    """Return the divisor of a value and its interval, their decimals, and the unit."""
    reference = value.middle or max(abs(value.low), abs(value.high))
    scale, unit = _scale(reference, unit, share)
    return scale, _decimals(reference / scale, (value.high - value.low) / 2 / scale * value.is_interval), unit


def _scale(value: float, unit: str, share: bool) -> tuple[float, str]:
    """Return the divisor of a value and its unit: sizes in powers of 1024, others in powers of 1000."""
    if share:
        return 0.01, "%"
    if unit == "1":
        return 1.0, ""
    if unit == "B":
        power = min(4, max(0, math.floor(math.log2(abs(value)) / 10))) if value and math.isfinite(value) else 0
        return 1024.0**power, ("B", "KiB", "MiB", "GiB", "TiB")[power]
    scale, prefix = units.si_scale(value, 4, unit)
    return (1.0, unit) if unit == "s" and scale > 1 else (scale, prefix + unit)


def _decimals(value: float, half: float) -> int:
    """Return the decimals of a value in its scale; `half` is half the width of its interval, 0 without one."""
    if not 0 < half < math.inf:
        return units.decimals(value, 3)
    exponent = math.floor(math.log10(half))
    two = half < 2 * 10.0**exponent
    return max(0, min(two - exponent, units.decimals(value, 4)))


def _fixed(value: float, places: int) -> str:
    """Return a number with these decimals; zero has no sign."""
    text = units.fixed_text(value, places)
    return text.removeprefix("-") if not float(text) else text


def quantity(value: float, unit: str, share: bool = False) -> str:
    """Return a value with its unit, with three digits and without a line break: `25.7 GB/s`, `3.4 %`."""
    return numbered(number_texts(value, unit, share))


def numbered(texts: ValueTexts) -> str:
    """Return the number with its unit, without a line break."""
    return f"{texts.number}{NARROW}{texts.unit}" if texts.unit else texts.number


def part_texts(shares: Sequence[float], headline: str) -> list[str]:
    """Return parts of a share in percent, rounded so that they add up to it, with at least one decimal.

    Whole percentages that add up would show 72.6 % as 72 %.

    Args:
        shares: of the parts, which add up to the whole.
        headline: the whole in percent, without its unit: `4.1`.
    """
    decimals = len(headline.partition(".")[2])
    places = max(decimals, 1)
    total = float(headline) if decimals else round(100 * sum(shares), 1)
    exact = [100 * share * 10**places for share in shares]
    whole = [int(value) for value in exact]
    most = sorted(range(len(exact)), key=lambda i: whole[i] - exact[i])
    for i in most[: max(0, round(total * 10**places) - sum(whole))]:
        whole[i] += 1
    return [f"{value / 10**places:.{places}f}{NARROW}%" for value in whole]


def percent(share: float) -> str:
    """Return a share in percent: `93 %`, `0.4 %`; of 100 % and more without decimals."""
    return units.percent_text(share).replace(" ", NARROW)


def ratio(value: float) -> str:
    """Return `× 1.40`."""
    return f"×{NARROW}{units.fixed_text(value, 2)}"


def launches_text(figure: Figure) -> str:
    """Return the number of launches of a figure: `6 launches`, `5 of 6 launches`."""
    number = figure.valid_count
    return units.counted(number, "launch") if number == figure.tried else f"{number} of {figure.tried} launches"


def without_interval(figure: Figure) -> str:
    """Return why there is no interval: `one launch`, `none valid`, or `no interval` if it is not measurable."""
    if figure.value is None:
        return ""
    if figure.valid_count < min(2, figure.tried):
        return "one launch" if figure.valid_count else "none valid"
    return "no interval" if figure.value.kind == "not measurable" else ""


def claim_text(figure: Figure) -> str:
    """Return the ends and their meaning: `123 … 136: 95 % interval, median of 5 of 6 launches`."""
    value = figure.value
    if value is None:
        return ""
    dropped = figure.tried > value.number
    if not figure.valid_count:
        return f"none of {units.counted(figure.tried, 'launch')} is valid: each lost over half of its time"
    if value.kind == "one launch":
        return f"{launches_text(figure)}, no interval" if dropped else "one launch; launches were not repeated"
    if value.kind == "not measurable":
        return f"{launches_text(figure)}, no interval"
    ends = figure_texts(figure).ends
    if value.kind == "two values":
        return f"{ends}: {launches_text(figure) if dropped else 'two launches'}, no interval"
    few = ", few" * (value.number < stats.FEW_LAUNCHES)
    what = "share of all time of" if value.claim == "share" else "median of"
    return f"{ends}: 95{NARROW}% interval, {what} {launches_text(figure)}{few}"


def grade(figure: Figure) -> GradeName:
    """Return the grade of a figure: that of its worst caveat."""
    if figure.wrong:
        return "wrong"
    worst = max((one.grade for one in figure.caveats), default=0)
    return GRADE_NAMES[worst]


def grade_of_verdicts(verdicts: Collection[Verdict]) -> GradeName:
    """Return the grade of a comparison; if noise leaves all figures undecided, it is not measurable.

    Verdicts that have too few rounds are open for want of rounds, not for noise.
    """
    undecided = [one for one in verdicts if not one.is_decided]
    if not undecided:
        return "reliable"
    if len(undecided) == len(verdicts) and any(one.speed for one in undecided):
        return "not measurable"
    return "limited" if 2 * len(undecided) >= len(verdicts) else "note"


def short_caveat(caveats: Sequence[Caveat]) -> str:
    """Return the first clause of the worst caveat, or its kind and size if that is longer than eight words.

    Args:
        caveats: the worst first; without any the text is empty.
    """
    if not caveats:
        return ""
    clause = re.split(r"[:;(]", caveats[0].text, maxsplit=1)[0].strip(" ,")
    return clause if len(clause.split(" ")) <= MAX_WORDS else caveats[0].short_text


def sort_of(value: Estimate) -> Sort:
    """Return the sort of a value; values of one sort share a line of `claims`."""
    return value.kind, value.claim, value.number


def claims(values: Iterable[Estimate | None]) -> dict[Sort, str]:
    """Return the meaning of the ends of these values: a line for each sort, over the launches of all its values.

    What is not measurable has no ends, and no line.
    """
    found: dict[Sort, Estimate] = {}
    for value in values:
        if value is not None and value.stated.kind != "not measurable":
            known = found.setdefault(sort_of(value), value).period
            period = Period(min(known.begin, value.period.begin), max(known.end, value.period.end))
            found[sort_of(value)] = replace(value, period=period)
    return {sort: value.text for sort, value in found.items()}


def legend(values: Iterable[Estimate | None]) -> list[str]:
    """Return the meaning of the ends in a table with a column of launches: a line for each kind of value."""
    found = [value for value in values if value is not None]
    if not found:
        return []
    when = Period(min(value.period.begin for value in found), max(value.period.end for value in found)).text
    kinds = {value.claim if value.is_interval else value.kind for value in found}
    texts = {
        "median": f"95 % interval for the median of the valid launches, {when}",
        "share": f"95 % interval for the share of time in all valid launches, {when}",
        "two values": f"no interval: both values of two launches, {when}",
        "one launch": f"range within one launch, {when}; the launch was not repeated",
    }
    return [text for kind, text in texts.items() if kind in kinds]


def link_text(link: str) -> str:
    """Return the footnote on figures that were measured over an emulated link."""
    return f"emulated link: all hosts are on this machine, connected at {clean(link)}; no real network was measured"


def caption(values: Iterable[Estimate | None]) -> str:
    """Return the meaning of the lines of a picture: ` Thin lines: 95 % interval for …`; empty without any."""
    lines = list(claims(value for value in values if value and value.low < value.high).values())
    return f" Thin lines: {'; or '.join(lines)}." if lines else ""


def mark(number: int) -> str:
    """Return the mark of a footnote: `a` … `z`, then `aa`, `ab` …."""
    more, last = divmod(number, 26)
    return (mark(more - 1) if more else "") + chr(ord("a") + last)
