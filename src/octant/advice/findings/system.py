"""Rules of `octant doctor` applied to the system settings that are stored with the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice import Facts, measurement_rules
from octant.advice.findings import Kind, RuleResult, RunFinding
from octant.units import capital

if TYPE_CHECKING:
    from octant.advice import Advice
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return the advice of rules that concern measurements, except notes."""
    facts, found, passed = Facts(summary.run.machine), [], []
    for name, (measured, rule) in measurement_rules().items():
        value = facts.system(measured.key)
        result = rule(facts)
        advice_list = result if isinstance(result, list) else [result] if result is not None else []
        important = [advice for advice in advice_list if advice.severity != "note"]
        found += [_finding(name, advice) for advice in important]
        passed += [f"{measured.what}: {value}"] if value and not important else []
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
