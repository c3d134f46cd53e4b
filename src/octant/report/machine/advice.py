"""Advice of the doctor for people and for programs."""

import json

from octant.advice import Diagnosis, Severity
from octant.report.tables.layout import fill
from octant.report.terminal import text_width

_HEADINGS: dict[Severity, str] = {
    "spoils": "Invalidates measurements",
    "slows": "Reduces performance",
    "note": "Notes",
}


def as_json(found: Diagnosis) -> str:
    """Return a list of objects with `rule`, `severity`, `title`, `evidence`, `why` and `fix`.

    A rule that cannot be used has `rule`, `file`, `line` and `error`.
    """
    rows: list[dict[str, object]] = [
        {
            "rule": advice.rule,
            "severity": advice.severity,
            "title": advice.title,
            "evidence": dict(advice.evidence),
            "why": advice.why,
            "fix": list(advice.fix),
        }
        for advice in found.advice
    ]
    rows += [{"rule": one.name, **one.as_data()} for one in found.broken]
    return json.dumps(rows, indent=2, ensure_ascii=False)


def as_text(found: Diagnosis) -> str:
    """Return advice by severity, with its evidence and the commands that fix it, and the counts in the last line."""
    groups = {
        heading: [advice for advice in found.advice if advice.severity == severity]
        for severity, heading in _HEADINGS.items()
    }
    return fill("machine/advice", groups=groups, broken=found.broken, width=text_width() - 10)
