"""What is worth doing about a stored run: each file here is one rule, which judges the run and nothing else.

A rule looks at the figures, and at the facts that were stored with them: never at this machine, which may be another.
It gives a gain only where paired launches show one whose interval lies beyond `NOTHING_BELOW`, and lines that this
command line reads or that were tried.
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
"""First to last: an answer is wrong; measurements cannot be trusted; speed that was measured; speed that was not."""
FIRST = 3
"""So many findings are on the first screen; of one family at most one is among them."""


@dataclass(frozen=True)
class RunFinding:
    """What is worth doing: an effect with a number, the evidence with its scope, and lines to copy."""

    rule: str  # the name of the rule in the table of thresholds
    title: str
    body: str  # at most two sentences
    lines: tuple[str, ...]  # commands or settings that were tried, one a line
    family: str = ""  # of one family at most one is among the first three
    gain: float = 0.0  # orders findings: log ratio times the share of the tiles that it touches
    details: tuple[str, ...] = ()  # the interval, the launches, where it holds and where not
    kind: Kind = "advice"
    effect: Estimate | None = None  # the ratio that a gain rests on


@dataclass(frozen=True)
class RuleResult:
    """What a rule says of a run: findings, and what it looked at and found in order. Nothing where it cannot tell."""

    found: tuple[RunFinding, ...] = ()
    passed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Review:
    """What the rules say of a run."""

    findings: tuple[RunFinding, ...] = ()  # wrong answers, what spoils belief, then by gain
    passed: tuple[str, ...] = ()  # the checks that passed, a sentence each
    broken: tuple[Broken, ...] = ()  # rules that cannot be used, or that raised an error


def review(summary: Summary) -> Review:
    """Ask every rule about a run. One that cannot be used says nothing and stops no other."""
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
    """What is worth doing about a run, the first things first."""
    return review(summary).findings


def first_of(found: Sequence[RunFinding]) -> int:
    """How many of these stand on the first screen: at most `FIRST`, of each family one."""
    families = [one.family or one.rule for one in found[: FIRST + 1]]
    return next((n for n, family in enumerate(families) if n == FIRST or family in families[:n]), len(families))


def _judged(module: ModuleType, summary: Summary) -> RuleResult:
    """Return what a rule says of a run.

    Raises:
        UndeclaredError: it is no judgement, or a finding is of a kind that does not exist.
    """
    result = module.judge(summary)
    if not isinstance(result, RuleResult):
        raise UndeclaredError(f"its judge returns a {type(result).__name__}, not Judged")
    for one in result.found:
        if one.kind not in KINDS:
            hint = suggestion(str(one.kind), KINDS)
            raise UndeclaredError(f"its finding {one.title!r} is of the kind {one.kind!r}; {hint}")
    return result


def _written(one: RunFinding) -> RunFinding:
    title, body, *details = map(unbroken, (one.title, one.body, *one.details))
    return replace(one, title=title, body=body, details=tuple(details))


def _spread(ordered: Iterable[RunFinding]) -> tuple[RunFinding, ...]:
    """The first of each family before others of it, as far as the first screen goes."""
    first: list[RunFinding] = []
    rest: list[RunFinding] = []
    for one in ordered:
        family = one.family or one.rule
        seen = len(first) == FIRST or any(family == other.family for other in first)
        (rest if seen else first).append(replace(one, family=family))
    return (*first, *rest)
