"""Advice as data with its evidence. Each file in `rules/` is one rule; its docstring is the rule's page."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Literal

from octant.machine import Machine
from octant.machine.surroundings import Surroundings

Severity = Literal["spoils", "slows", "note"]
SEVERITIES: tuple[Severity, ...] = ("spoils", "slows", "note")
"""Worst first: measurements cannot be trusted; speed is lost; good to know."""


@dataclass(frozen=True)
class Advice:
    """One thing worth changing or knowing: what was seen and where, why it matters, and the lines that mend it."""

    title: str
    severity: Severity
    evidence: Mapping[str, str]  # source (file, variable, command) to what it said; never empty
    fix: tuple[str, ...]  # lines for a shell; lines that start with # explain
    why: str
    rule: str = ""  # the name of the rule's file; filled in by `diagnose`


@dataclass(frozen=True)
class Facts:
    """What rules look at: the machine, and what surrounds a measurement on it."""

    machine: Machine
    surroundings: Surroundings = field(default_factory=Surroundings)

    def system(self, key: str) -> str:
        """A fact of `machine.system`, or the empty text where the system does not tell it."""
        return self.machine.system.get(key, "")

    def variable(self, name: str) -> str | None:
        """An environment variable, stripped; `None` where it is unset or empty."""
        return self.surroundings.environment.get(name, "").strip() or None


Rule = Callable[[Facts], Advice | list[Advice] | None]


def known() -> dict[str, Rule]:
    """Every rule by name. The folder is the registration."""
    return {name: _module(name).advise for name in _names()}


def page(name: str) -> str:
    """The page of a rule: its docstring.

    Raises:
        ValueError: no such rule; the message lists those that there are.
    """
    if name not in _names():
        raise ValueError(f"no rule {name!r}; try {', '.join(_names())}")
    return inspect.cleandoc(_module(name).__doc__ or "")


def diagnose(facts: Facts) -> list[Advice]:
    """What every rule has to say, the worst first."""
    found: list[Advice] = []
    for name, rule in known().items():
        said = rule(facts)
        several = said if isinstance(said, list) else [said] if said is not None else []
        found += [replace(advice, rule=name) for advice in several]
    return sorted(found, key=lambda advice: SEVERITIES.index(advice.severity))


def _names() -> list[str]:
    from octant.advice import rules as folder  # noqa: PLC0415 - the rules import this module

    return sorted(
        module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("test_")
    )


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"octant.advice.rules.{name}")
