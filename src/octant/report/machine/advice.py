"""Advice of the doctor for people and for programs."""

import json
from dataclasses import asdict

from octant.advice import Diagnosis, Severity
from octant.advice.fitness import Fitness, MachineVerdict
from octant.analysis.noise_test import NoiseTest
from octant.report.tables.layout import fill
from octant.report.terminal import styled, text_width
from octant.units import fixed_text, percent_text, si_text

_HEADINGS: dict[Severity, tuple[str, str]] = {
    "spoils": ("Invalidates measurements", "bold red"),
    "slows": ("Reduces performance", "bold yellow"),
    "note": ("Notes", "bold"),
}
"""The heading of each severity and its style."""


_STYLES: dict[MachineVerdict, str] = {
    "fit": "bold green",
    "fit with reservations": "bold yellow",
    "not fit": "bold red",
}


def as_json(found: Diagnosis, fitness: Fitness) -> str:
    """Return an object with `verdict`, `reasons`, `noise_test`, `not_tested`, `advice` and `unusable_rules`.

    An entry of `advice` has `rule`, `severity`, `title`, `evidence`, `why` and `fix`; a rule that cannot be used has
    `rule`, `file`, `line` and `error`.
    """
    order = ("rule", "severity", "title", "evidence", "why", "fix")
    document = {
        "verdict": fitness.verdict,
        "reasons": [asdict(reason) for reason in fitness.reasons],
        "noise_test": _test_data(fitness.tested) if fitness.tested else None,
        "not_tested": fitness.untested or None,
        "advice": [{name: asdict(advice)[name] for name in order} for advice in found.advice],
        "unusable_rules": [{"rule": one.name, **one.as_data()} for one in found.broken],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _test_data(test: NoiseTest) -> dict[str, object]:
    """Return the observations of a noise test; shares are 0 to 1."""
    return {
        "launches": test.launches,
        "seconds": round(test.seconds, 3),
        "lost": test.causes.lost,
        "causes": dict(test.causes.parts),
        "by_hardware_thread": {
            str(number): {"lost": one.lost, "causes": dict(one.parts)}
            for number, one in test.by_hardware_thread.items()
        },
        "excess_in_samples": test.excess,
        "clock_hz": test.clock_hz,
        "clock_change": test.clock_change,
        "other_load": test.other_load,
    }


def as_text(found: Diagnosis, fitness: Fitness) -> str:
    """Return advice by severity with evidence and commands, the noise test, and the verdict with its reasons."""
    groups = {heading: [one for one in found.advice if one.severity == name] for name, heading in _HEADINGS.items()}
    return fill(
        "machine/advice", groups=groups, broken=found.broken, width=text_width() - 10, styled=styled, fitness=fitness,
        noise=_test_rows(fitness.tested) if fitness.tested else (),
        verdict_style=_STYLES[fitness.verdict],
    )  # fmt: skip


def _test_rows(test: NoiseTest) -> list[tuple[str, str]]:
    """Return what the noise test observed, as label and text."""
    worst = test.by_hardware_thread[test.worst]
    lost = percent_text(test.causes.lost)
    if len(test.by_hardware_thread) > 1:
        lost += f"; hardware thread {test.worst} lost most: {percent_text(worst.lost)}"
    causes = ", ".join(f"{name} {percent_text(share)}" for name, share in test.causes.named)
    rows = [("lost time", lost), ("causes", causes or "none"), ("excess in samples", percent_text(test.excess))]
    if test.clock_hz:
        change = percent_text(abs(test.clock_change))
        way = "higher" if test.clock_change > 0 else "lower"
        drift = f"{change} {way} in the second half" if test.clock_change else "no change detected"
        rows.append(("clock", f"{si_text(test.clock_hz, 'Hz')}, {drift}"))
    if test.other_load is not None:
        rows.append(("other load", f"{fixed_text(test.other_load, 2)} hardware threads"))
    return rows
