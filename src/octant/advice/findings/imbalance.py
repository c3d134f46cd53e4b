"""A core, socket or host is slower than others that run the same work at the same time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._evidence import gain_of, is_beyond
from octant.advice.findings._thresholds import LEAST_PAIRS
from octant.analysis.balance import balance
from octant.analysis.names import short_name
from octant.placement import set_text
from octant.placement.nonempty import NonEmptySet
from octant.stats import Estimate
from octant.units import capital, percent_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.balance import PlaceBalance
    from octant.analysis.summary import Summary

WHERE = "octant where -- PROGRAM"


def judge(summary: Summary) -> RuleResult:
    """Return one finding per kind of place, on the one that is significantly slowest in most figures."""
    found, passed = [], []
    by_kind: dict[str, list[PlaceBalance]] = {}
    for one in balance(summary):
        if one.ratio.is_interval and one.ratio.number >= LEAST_PAIRS:
            by_kind.setdefault(one.kind, []).append(one)
    for kind, known in by_kind.items():
        slow = [one for one in known if is_beyond(fastest_over_slowest(one))]
        if slow:
            found.append(_finding(summary, slow, known))
        else:
            least = max(one.max_undetected_slowdown or 0.0 for one in known)
            passed.append(f"no slower {kind} detected; differences below {percent_text(least)} are not detectable")
    return RuleResult(tuple(found), tuple(passed))


def fastest_over_slowest(one: PlaceBalance) -> Estimate:
    """Return the inverse ratio of a balance, above 1."""
    ratio = one.ratio
    ends = (1 / ratio.high, 1 / ratio.middle, 1 / ratio.low)
    return Estimate(*ends, ratio.kind, ratio.claim, ratio.number, ratio.period)


def _finding(summary: Summary, slow: Sequence[PlaceBalance], known: Sequence[PlaceBalance]) -> RunFinding:
    name = Counter(one.slowest.name for one in slow).most_common(1)[0][0]
    who = f"Host {name}" if slow[0].kind == "host" else capital(name)
    those = sorted((one for one in slow if one.slowest.name == name), key=lambda one: one.ratio.middle)
    worst = those[0]
    how_much = "up to " * (len(those) > 1) + percent_text(1 - worst.ratio.middle)
    gain, placement = fastest_over_slowest(worst), _placement(worst)
    without = f"; the second leaves {name} idle" if placement else ""
    return RunFinding(
        rule="imbalance",
        title=f"{who} is {how_much} slower in {len(those)} of {len(known)} figures",
        body=f"The reference is {worst.fastest.name}; all {worst.kind}s run the same work at the same time "
        f"({short_name(worst.figure)}). "
        f"The first command shows where the threads of a program run{without}.",
        lines=(WHERE, *placement),
        family="imbalance",
        gain=gain_of(summary, gain.middle, [one.figure for one in those]),
        details=tuple(
            f"{short_name(one.figure)}: {percent_text(1 - one.ratio.high)} … {percent_text(1 - one.ratio.low)} "
            f"slower than {one.fastest.name}, {one.ratio.text}"
            for one in those
        ),
        kind="gain",
        effect=gain,
    )


def _placement(worst: PlaceBalance) -> tuple[str, ...]:
    """Return the command that places a thread on each core except the slowest; empty if the places are not cores."""
    if worst.kind != "core" or len({host for place in worst.places for host, _ in place.cpus}) != 1:
        return ()
    cpus = [min(number for _, number in place.cpus) for place in worst.places if place != worst.slowest]
    return (f"octant bind --place {set_text(NonEmptySet(cpus, 'cores besides the slowest'))}",) if cpus else ()
