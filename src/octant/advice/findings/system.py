"""The doctor's rules on what was measured: settings of the system, as they were stored with the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice import Facts, of_what_was_measured
from octant.advice.findings import Kind, RuleResult, RunFinding
from octant.units import capital

if TYPE_CHECKING:
    from octant.advice import Advice
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Fires where a rule that concerns measurements does, and is worse than good to know."""
    facts, found, passed = Facts(summary.run.machine), [], []
    for name, (measured, rule) in of_what_was_measured().items():
        value = facts.system(measured.key)
        result = rule(facts)
        several = result if isinstance(result, list) else [result] if result is not None else []
        worse = [advice for advice in several if advice.severity != "note"]
        found += [_finding(name, advice) for advice in worse]
        passed += [f"{measured.what}: {value}"] if value and not worse else []
    return RuleResult(tuple(found), tuple(passed))


def _finding(name: str, advice: Advice) -> RunFinding:
    kind: Kind = "reliability" if advice.severity == "spoils" else "advice"
    return RunFinding(
        rule=name,
        title=capital(advice.title),
        body=f"{capital(advice.why)}.",
        lines=advice.fix,
        family="pages" if name == "transparent_pages" else name,
        details=tuple(f"{source}: {seen}" for source, seen in advice.evidence.items()),
        kind=kind,
    )
