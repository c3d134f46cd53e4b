"""Advice of the doctor for people and for programs."""

import json
from dataclasses import asdict

from octant.advice import Diagnosis, Severity
from octant.report.tables.layout import fill
from octant.report.terminal import styled, text_width

_HEADINGS: dict[Severity, tuple[str, str]] = {
    "spoils": ("Invalidates measurements", "bold red"),
    "slows": ("Reduces performance", "bold yellow"),
    "note": ("Notes", "bold"),
}
"""The heading of each severity and its style."""


def as_json(found: Diagnosis) -> str:
    """Return a list of objects with `rule`, `severity`, `title`, `evidence`, `why` and `fix`.

    A rule that cannot be used has `rule`, `file`, `line` and `error`.
    """
    order = ("rule", "severity", "title", "evidence", "why", "fix")
    rows = [{name: asdict(advice)[name] for name in order} for advice in found.advice]
    rows += [{"rule": one.name, **one.as_data()} for one in found.broken]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def as_text(found: Diagnosis) -> str:
    """Return advice by severity, with its evidence and the commands that fix it, and the counts in the last line."""
    groups = {heading: [one for one in found.advice if one.severity == name] for name, heading in _HEADINGS.items()}
    return fill("machine/advice", groups=groups, broken=found.broken, width=text_width() - 10, styled=styled)
