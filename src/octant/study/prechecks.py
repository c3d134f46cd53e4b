"""Checks before the first launch: which tests of a study cannot be decided, and what is required."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octant.failure import Exit, Refusal
from octant.study.testable import PlannedStudy
from octant.units import counted

MAX_NAMED = 4
"""Number of tests that a line names."""
COMPARISONS = "comparisons with the baseline"


@dataclass(frozen=True)
class Obstacle:
    """Test or comparison that a planned study cannot decide."""

    what: str  # the finding, or `COMPARISONS`
    why: str = ""  # of the machine; empty: the number of launches
    launches: int = 0  # that are sufficient
    is_partial: bool = False  # one verdict is possible, another is not


def find_obstacles(planned: PlannedStudy) -> list[Obstacle]:
    """Return the tests and comparisons that cannot be decided on this machine or with this number of launches."""
    found, repeats = [], planned.study.repeats
    for finding_test in planned.study.findings:
        test, why = finding_test.test, planned.why_not(finding_test)
        if why:
            found.append(Obstacle(finding_test.id, why))
        elif repeats < test.sufficient_launches:
            is_partial = repeats >= test.least_launches
            found.append(Obstacle(finding_test.id, "", test.sufficient_launches, is_partial))
    if required := planned.launches_of_comparisons():
        found.append(Obstacle(COMPARISONS, "", required))
    return found


def check_decidable(name: str, planned: PlannedStudy, anyway: bool) -> list[str]:
    """Return a warning for each reason why tests and comparisons cannot be decided.

    Args:
        anyway: measure even if nothing can be decided.

    Raises:
        Refusal: no test can be decided; for a study without tests, no comparison.
    """
    obstacles, repeats = find_obstacles(planned), planned.study.repeats
    total = [one for one in obstacles if not one.is_partial]
    tests = [one for one in total if one.what != COMPARISONS]
    blocked = tests if planned.study.findings else total
    if blocked and len(blocked) == max(1, len(planned.study.findings)) and not anyway:
        raise _refusal(name, blocked, repeats)
    return list(_warnings(obstacles, repeats))


def _refusal(name: str, blocked: list[Obstacle], repeats: int) -> Refusal:
    """Return the refusal of a study without a decidable test, with the number of launches that works."""
    required = sorted({one.launches for one in blocked if one.launches})
    what = "make any comparison" if blocked[0].what == COMPARISONS else "decide any test"
    if not required:
        why = "; ".join(dict.fromkeys(one.why for one in blocked))
        text = f"cannot {what} of {name} on this machine ({why}); to measure only values, use --anyway"
        return Refusal(text, Exit.NOT_SUPPORTED)
    why, most = _launches_text(required, repeats), required[-1]
    text = f"cannot {what} of {name} ({why}); use --repeats {most}, or --anyway to measure only values"
    return Refusal(text, Exit.WRONG_WORD)


def _warnings(obstacles: Iterable[Obstacle], repeats: int) -> Iterable[str]:
    """Yield one sentence per reason, with the tests that it concerns."""
    groups: dict[tuple[str, int, bool], list[str]] = {}
    for one in obstacles:
        groups.setdefault((one.why, one.launches, one.is_partial), []).append(one.what)
    for (why, launches, is_partial), names in groups.items():
        named = ", ".join(list(dict.fromkeys(names))[:MAX_NAMED])
        more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
        if why:
            yield f"cannot be tested on this machine ({why}): {named}{more}"
        else:
            what = "can be decided in one direction only" if is_partial else "cannot be decided"
            yield f"{what} ({_launches_text([launches], repeats)}): {named}{more}; use --repeats {launches}"


def _launches_text(required: Sequence[int], repeats: int) -> str:
    numbers = " to ".join(map(str, dict.fromkeys((required[0], required[-1]))))
    return f"{counted(repeats, 'launch')} per configuration, at least {numbers} are required"
