"""Findings about a stored run: each file is one rule.

A rule uses the figures and the facts that are stored with them, never this machine, which may be another one. It states
a gain only if the interval from paired launches exceeds `NOTHING_BELOW`, and only commands that are valid or tested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from octant import registry
from octant.failure import suggestion
from octant.registry import UndeclaredError
from octant.units import unbroken

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from octant.analysis.summary import Summary
    from octant.registry import Broken
    from octant.stats import Estimate

Kind: TypeAlias = Literal["wrong", "reliability", "gain", "advice"]
KINDS: tuple[Kind, ...] = ("wrong", "reliability", "gain", "advice")
"""In order: a wrong result; measurements that are not reliable; a measured gain; a possible gain."""
FIRST = 3
"""Maximum number of findings on the first screen, at most one per family."""


@dataclass(frozen=True)
class RunFinding:
    """Finding about a run: an effect with a number, the evidence with its scope, and commands to copy."""

    rule: str  # the name of the rule in the table of thresholds
    title: str
    body: str  # at most two sentences
    lines: tuple[str, ...]  # tested commands or settings, one per line
    family: str = ""  # at most one finding per family on the first screen
    gain: float = 0.0  # order of findings: log ratio times the share of affected tiles
    details: tuple[str, ...] = ()  # the interval, the launches, the scope
    kind: Kind = "advice"
    effect: Estimate | None = None  # the ratio of a gain


@dataclass(frozen=True)
class RuleResult:
    """Result of a rule: findings and passed checks; empty if it does not apply."""

    found: tuple[RunFinding, ...] = ()
    passed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Review:
    """Results of all rules for a run."""

    findings: tuple[RunFinding, ...] = ()  # wrong results, unreliable measurements, then by gain
    passed: tuple[str, ...] = ()  # the checks that passed, a sentence each
    broken: tuple[Broken, ...] = ()  # unusable rules, and rules that raised an error


def review(summary: Summary) -> Review:
    """Apply all rules to a run. An unusable rule is reported and does not affect the others."""
    rules = registry.entries(__name__, lambda module: registry.declared(module, "judge"))
    made = registry.collect(
        (name, registry.attempt_of(__name__, name, partial(_judged, module, summary)))
        for name, module in rules.working.items()
    )
    judged = list(made.working.values())
    found = [_written(one) for judgement in judged for one in judgement.found]
    passed = tuple(unbroken(text) for judgement in judged for text in judgement.passed)
    ordered = _spread(sorted(found, key=lambda one: (KINDS.index(one.kind), -one.gain)))
    return Review(ordered, passed, (*rules.broken.values(), *made.broken.values()))


def findings(summary: Summary) -> tuple[RunFinding, ...]:
    """Return the findings about a run, the most important first."""
    return review(summary).findings


def first_of(found: Sequence[RunFinding]) -> int:
    """Return how many findings are on the first screen: at most `FIRST`, and one per family."""
    families = [one.family or one.rule for one in found[: FIRST + 1]]
    return next((n for n, family in enumerate(families) if n == FIRST or family in families[:n]), len(families))


def _judged(module: ModuleType, summary: Summary) -> RuleResult:
    """Return the result of a rule for a run.

    Raises:
        UndeclaredError: the result is not a `RuleResult`, or a finding has an unknown kind.
    """
    result = module.judge(summary)
    if not isinstance(result, RuleResult):
        raise UndeclaredError(f"its judge returns a {type(result).__name__}, not RuleResult")
    for one in result.found:
        if one.kind not in KINDS:
            hint = suggestion(str(one.kind), KINDS)
            raise UndeclaredError(f"its finding {one.title!r} is of the kind {one.kind!r}; {hint}")
    return result


def _written(one: RunFinding) -> RunFinding:
    title, body, *details = map(unbroken, (one.title, one.body, *one.details))
    return replace(one, title=title, body=body, details=tuple(details))


def _spread(ordered: Iterable[RunFinding]) -> tuple[RunFinding, ...]:
    """Return the findings with one of each family first, as far as the first screen extends."""
    first: list[RunFinding] = []
    rest: list[RunFinding] = []
    for one in ordered:
        family = one.family or one.rule
        seen = len(first) == FIRST or any(family == other.family for other in first)
        (rest if seen else first).append(replace(one, family=family))
    return (*first, *rest)
