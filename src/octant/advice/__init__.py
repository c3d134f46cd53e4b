"""Advice as data, with evidence. Each file in `rules/` is one rule; its docstring is the page of the rule."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Literal

from octant import registry
from octant.failure import Exit, Refusal, suggestion
from octant.machine import Machine
from octant.registry import Broken, Entries, UndeclaredError
from octant.software.surroundings import Surroundings

_RULES = "octant.advice.rules"

Severity = Literal["spoils", "slows", "note"]
SEVERITIES: tuple[Severity, ...] = ("spoils", "slows", "note")
"""Worst first: measurements are not reliable; performance is lost; good to know."""


@dataclass(frozen=True)
class Advice:
    """Recommendation with evidence, reason and the commands that apply it."""

    title: str
    severity: Severity
    evidence: Mapping[str, str]  # source (file, variable, command) to its content; never empty
    fix: tuple[str, ...]  # lines for a shell; lines that start with # explain
    why: str
    rule: str = ""  # the name of the rule's file; filled in by `diagnose`


@dataclass(frozen=True)
class MeasuredFact:
    """System fact by which a rule concerns measurements of Octant; declared in the file of the rule."""

    what: str  # "clock source"
    key: str  # of `machine.system`


@dataclass(frozen=True)
class Facts:
    """Input of the rules: the machine and the surroundings of a measurement."""

    machine: Machine
    surroundings: Surroundings = field(default_factory=Surroundings)

    def system(self, key: str) -> str:
        """Return a fact of `machine.system`; empty if the system does not report it."""
        return self.machine.system.get(key, "")

    def command(self, command: str, template: str = "{}") -> str:
        """Return a line of a fix, with a note whether it was verified; a command without effect becomes a comment.

        Args:
            template: the line, with `{}` for the command.
        """
        line, outcome = template.format(command), self.surroundings.tried.get(command)
        if outcome:
            return f"# {line}  has no effect here: {outcome}"
        return f"{line}  # {'not ' if outcome is None else ''}verified here"

    def variable(self, name: str) -> str | None:
        """Return an environment variable, stripped; `None` if it is unset or empty."""
        return self.surroundings.environment.get(name, "").strip() or None


Rule = Callable[[Facts], Advice | list[Advice] | None]


def all_rules() -> dict[str, Rule]:
    """Return all rules by name."""
    return {name: module.advise for name, module in _entries().working.items()}


def _entries() -> Entries[ModuleType]:
    return registry.entries(_RULES, lambda module: registry.declared(module, "advise"))


def measurement_rules() -> dict[str, tuple[MeasuredFact, Rule]]:
    """Return the rules that concern measurements of Octant, not programs started from this shell."""
    modules = _entries().working.items()
    return {name: (module.MEASURED, module.advise) for name, module in modules if hasattr(module, "MEASURED")}


def tested_rules() -> frozenset[str]:
    """Return the rules whose effect the noise test measures; their files set `TESTED`."""
    return frozenset(name for name, module in _entries().working.items() if getattr(module, "TESTED", False))


def page(name: str) -> str:
    """Return the page of a rule: its docstring.

    Raises:
        Refusal: the rule does not exist (with a suggestion), or its file cannot be used.
    """
    _entries().check(name, "rule")
    rules = _entries().working
    if name not in rules:
        raise Refusal(f"cannot explain {name!r} (no such rule); {suggestion(name, rules)}", Exit.WRONG_WORD)
    return inspect.cleandoc(rules[name].__doc__ or "")


@dataclass(frozen=True)
class Diagnosis:
    """Advice of all rules, the worst first, and the unusable rules."""

    advice: tuple[Advice, ...]
    broken: tuple[Broken, ...] = ()


def diagnose(facts: Facts) -> Diagnosis:
    """Apply all rules. A rule that is unusable or raises an error is reported and does not affect the others."""
    found: list[Advice] = []
    broken = list(_entries().broken.values())
    for name, rule in all_rules().items():
        result = registry.attempt_of(_RULES, name, functools.partial(_advice, rule, facts))
        if isinstance(result, Broken):
            broken.append(result)
            continue
        found += [replace(advice, rule=name) for advice in result]
    ordered = sorted(found, key=lambda advice: SEVERITIES.index(advice.severity))
    return Diagnosis(tuple(ordered), tuple(broken))


def _advice(rule: Rule, facts: Facts) -> list[Advice]:
    """Return the advice of a rule.

    Raises:
        UndeclaredError: the result is not advice, or its severity does not exist.
    """
    result = rule(facts)
    advice_list = result if isinstance(result, list) else [result] if result is not None else []
    for one in advice_list:
        if not isinstance(one, Advice):
            raise UndeclaredError(f"its advise returns a {type(one).__name__}, not Advice")
        if one.severity not in SEVERITIES:
            hint = suggestion(str(one.severity), SEVERITIES)
            raise UndeclaredError(f"its advice {one.title!r} has the severity {one.severity!r}; {hint}")
    return advice_list
