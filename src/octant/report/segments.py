"""Texts on the segments of message times: lengths, fitted lines, errors and causes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant import units
from octant.report import claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.segments import Segment

LETTERS = "ABCDEFG"
_UNSEEN = 0.005
"""Share of the time below which start-up or slope does not change three digits."""


def range_text(number: int, found: Sequence[Segment]) -> str:
    """Return the lengths of a segment: `to 4 KiB`, `8 KiB to 512 KiB`, `from 1 MiB`."""
    first, last = units.bytes_text(found[number].first), units.bytes_text(found[number].last)
    if len(found) == 1:
        return "all lengths"
    if number == 0:
        return f"to {last}"
    return f"from {first}" if number == len(found) - 1 else f"{first} to {last}"


def formula(of: Segment) -> str:
    """Return the fitted line: `4.00 µs + n / 12.0 GB/s`, or that no line fits."""
    if not of.fits:
        return f"no line fits (error {claims.percent(of.error)})"
    if of.seconds_per_byte * of.last < _UNSEEN * of.at_first_s:
        return claims.quantity(of.at_first_s, "s")
    rate = claims.quantity(of.bandwidth, "B/s")
    if abs(of.startup_s) < _UNSEEN * of.at_first_s:
        return f"n / {rate}"
    if of.startup_s < 0:
        return f"{claims.quantity(of.at_first_s, 's')} at {units.bytes_text(of.first)}, then {rate}"
    return f"{claims.quantity(of.startup_s, 's')} + n / {rate}"


def segment_facts(found: Sequence[Segment]) -> list[tuple[str, str]]:
    """Return the letter and lengths of each segment; its line, the worst error, and the cause of its border."""
    facts = []
    for i, one in enumerate(found):
        text = formula(one) + f", error {claims.percent(one.error)}" * one.fits
        if one.kind is not None:
            text += f"; step of {claims.quantity(one.step_s, 's')}" if one.kind == "step" else "; knee"
            text += f" ({one.cause})" * bool(one.cause)
        facts.append((f"{LETTERS[i]}, {range_text(i, found)}", text))
    return facts
