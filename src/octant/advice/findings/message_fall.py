"""Long messages have a much lower rate than messages of the best length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import groups, size_knob, size_of
from octant.advice.findings._evidence import gain_of, is_beyond, is_usable, paired_ratio
from octant.advice.findings._lines import figure_command, sizes_text
from octant.advice.findings._thresholds import FALL, LEAST_PAIRS
from octant.machine.cache_levels import disputed_levels
from octant.metric import Rate, Seconds
from octant.request import EFFORT, comparable
from octant.units import bytes_text, percent_text, si_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.machine import Machine
    from octant.stats import Estimate

_LEAST_LENGTHS = 3


@dataclass(frozen=True)
class _Length:
    figure: Figure
    bytes: float  # of one message
    rate: float  # B/s


def judge(summary: Summary) -> RuleResult:
    """Return a finding if the longest of messages that differ only in length have half of the best rate or less."""
    found: list[RunFinding] = []
    passed = []
    every = groups((one for one in summary.figures if one.workload.messages), *_knobs(summary))
    for group in every:
        lengths = sorted((one for figure in group if (one := _length(figure))), key=lambda one: one.bytes)
        if len(lengths) < _LEAST_LENGTHS:
            continue
        best, longest = max(lengths, key=lambda one: one.rate), lengths[-1]
        share = longest.rate / best.rate
        per_length = 1.0 if isinstance(best.figure.metric.value, Rate) else best.bytes / longest.bytes
        ratio = paired_ratio(longest.figure, best.figure, per_length) if best is not longest else None
        if ratio and is_beyond(ratio) and ratio.middle >= FALL:
            found.append(_finding(summary, group, best, longest, ratio))
        elif best is longest or (ratio and ratio.middle < FALL):
            name = _name(group, every)
            passed.append(f"{name}: messages of {_length_text(longest)} reach {percent_text(share)} of the best rate")
    return RuleResult(tuple(sorted(found, key=lambda one: -one.gain)[:1]), tuple(passed))


def _name(group: Sequence[Figure], every: Sequence[Sequence[Figure]]) -> str:
    """Return the parts of a group's label that differ between groups, such as `new buffers`."""
    parts = group[0].label.split(", ")
    others = [one[0].label.split(", ") for one in every]
    return ", ".join(part for part in parts if not all(part in other for other in others)) or group[0].label


def _knobs(summary: Summary) -> set[str]:
    return {knob for one in summary.figures if one.workload.messages and (knob := size_knob(one))}


def _length(figure: Figure) -> _Length | None:
    """Return a figure as a message rate; `None` if it is neither a rate nor a time, or has too few launches."""
    value, point = figure.metric.value, figure.point
    sent, number = point.count("bytes_sent"), point.count("messages")
    if not (
        sent and number and is_usable(figure) and figure.value and not math.isnan(size_of(figure, size_knob(figure)))
    ):
        return None
    if figure.value.number < LEAST_PAIRS:
        return None
    length, middle = sent / number, figure.value.middle
    if isinstance(value, Seconds) and value.per in (("messages",), ("turns",)):
        return _Length(figure, length, length / middle)
    if isinstance(value, Rate) and value.counts in (("bytes_sent",), ("bytes_passed",)):
        return _Length(figure, length, middle)
    return None


def _finding(summary: Summary, group: Sequence[Figure], best: _Length, longest: _Length, ratio: Estimate) -> RunFinding:
    knob = size_knob(longest.figure)
    steps = max(1, math.ceil(math.log2(longest.bytes / best.bytes)))
    between = [best.bytes * 2**step for step in range(steps)]
    sizes = [round(size) for size in (*between, longest.bytes)]
    return RunFinding(
        rule="message fall",
        title=f"Large messages reach only {percent_text(1 / ratio.middle)} of the best rate",
        body=f"The rate is {si_text(best.rate, 'B/s')} at {_length_text(best)} and {si_text(longest.rate, 'B/s')} at "
        f"{_length_text(longest)}{_cache_text(summary.run.machine, best, longest)}. The command measures the sizes in "
        f"between.",
        lines=figure_command(
            summary, longest.figure, **{knob: sizes_text(knob, sizes), **_others(summary, longest.figure, knob)}
        ),
        family="messages",
        gain=gain_of(summary, ratio.middle, group),
        details=(
            f"best rate / rate of the longest: {ratio.low:.2f} … {ratio.high:.2f}, {ratio.text}",
            "long messages may be faster if split, depending on the location of the buffer; the command measures both",
        ),
        kind="gain",
        effect=ratio,
    )


def _others(summary: Summary, figure: Figure, knob: str) -> dict[str, str]:
    """Return the values of the other knobs in which the curves of the workload differ, all values of a knob together.

    Names include defaults that were measured; numbers only those that were requested.
    """
    alike = [
        one for one in summary.figures if one.workload is figure.workload and one.point.ranks == figure.point.ranks
    ]
    asked = [(one, request) for one in alike if (request := summary.run.request_of(one.point.launch))]
    found = {}
    for name in sorted({name for _, request in asked for name in request.knobs} - {knob, *EFFORT}):
        every = {one.knobs.get(name, ""): name in request.knobs for one, request in asked}
        if len(every) > 1:
            found[name] = ",".join(
                value for value, wanted in every.items() if wanted or not comparable(value).isdigit()
            )
    return found


def _cache_text(machine: Machine, best: _Length, longest: _Length) -> str:
    """Return the caches of a core, of undisputed size, that hold the best but not the longest message."""
    sizes = {(one.level, one.size_bytes) for one in machine.topology.data_caches() if one.size_bytes is not None}
    known = sorted(one for one in sizes if one[0] not in disputed_levels(machine))
    between = [(level, size) for level, size in known if best.bytes <= size < longest.bytes]
    names = ", ".join(f"L{level}: {bytes_text(size)}" for level, size in between)
    return f" ({names})" if names else ""


def _length_text(length: _Length) -> str:
    return bytes_text(length.bytes)
