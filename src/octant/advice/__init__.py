"""Advice as data with its evidence. Each file in `rules/` is one rule; its docstring is the rule's page."""

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
"""Worst first: measurements cannot be trusted; speed is lost; good to know."""


@dataclass(frozen=True)
class Advice:
    """One thing worth changing or knowing: what was seen and where, why it matters, and the commands that fix it."""

    title: str
    severity: Severity
    evidence: Mapping[str, str]  # source (file, variable, command) to its content; never empty
    fix: tuple[str, ...]  # lines for a shell; lines that start with # explain
    why: str
    rule: str = ""  # the name of the rule's file; filled in by `diagnose`


@dataclass(frozen=True)
class MeasuredFact:
    """That a rule concerns what Octant itself measured, and by which fact of the system; a rule's file says it."""

    what: str  # "clock source"
    key: str  # of `machine.system`


@dataclass(frozen=True)
class Facts:
    """What rules look at: the machine, and what surrounds a measurement on it."""

    machine: Machine
    surroundings: Surroundings = field(default_factory=Surroundings)

    def system(self, key: str) -> str:
        """A fact of `machine.system`, or the empty text where the system does not report it."""
        return self.machine.system.get(key, "")

    def command(self, command: str, shown: str = "{}") -> str:
        """A line of a fix with whether the command was tried here; one without effect becomes a comment that says so.

        Args:
            shown: the line with the command as `{}`.
        """
        line, outcome = shown.format(command), self.surroundings.tried.get(command)
        if outcome:
            return f"# {line}  would have no effect here: {outcome}"
        return f"{line}  # {'not ' if outcome is None else ''}verified here"

    def variable(self, name: str) -> str | None:
        """An environment variable, stripped; `None` where it is unset or empty."""
        return self.surroundings.environment.get(name, "").strip() or None


Rule = Callable[[Facts], Advice | list[Advice] | None]


def all_rules() -> dict[str, Rule]:
    """Every rule by name. The folder is the registration."""
    return {name: module.advise for name, module in _entries().working.items()}


def _entries() -> Entries[ModuleType]:
    return registry.entries(_RULES, lambda module: registry.declared(module, "advise"))


def of_what_was_measured() -> dict[str, tuple[MeasuredFact, Rule]]:
    """By name, the rules that concern what Octant measured, not what is started from this shell."""
    modules = _entries().working.items()
    return {name: (module.MEASURED, module.advise) for name, module in modules if hasattr(module, "MEASURED")}


def page(name: str) -> str:
    """The page of a rule: its docstring.

    Raises:
        Refusal: no such rule; the message names the nearest. Or its file cannot be used.
    """
    _entries().check(name, "rule")
    rules = _entries().working
    if name not in rules:
        raise Refusal(f"cannot explain {name!r} (no such rule); {suggestion(name, rules)}", Exit.WRONG_WORD)
    return inspect.cleandoc(rules[name].__doc__ or "")


@dataclass(frozen=True)
class Diagnosis:
    """The advice of all rules, the worst first, and the rules that could not be used."""

    advice: tuple[Advice, ...]
    broken: tuple[Broken, ...] = ()


def diagnose(facts: Facts) -> Diagnosis:
    """Ask every rule. One whose file cannot be used, or that raises an error, says nothing and stops no other."""
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
    """Return what a rule says.

    Raises:
        UndeclaredError: it is no advice, or its severity does not exist.
    """
    result = rule(facts)
    several = result if isinstance(result, list) else [result] if result is not None else []
    for one in several:
        if not isinstance(one, Advice):
            raise UndeclaredError(f"its advise returns a {type(one).__name__}, not Advice")
        if one.severity not in SEVERITIES:
            hint = suggestion(str(one.severity), SEVERITIES)
            raise UndeclaredError(f"its advice {one.title!r} has the severity {one.severity!r}; {hint}")
    return several
