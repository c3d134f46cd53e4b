"""Advice for people and for programs."""

import json

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from octant.advice import Advice, Diagnosis, Severity
from octant.report.terminal import render

_HEADINGS: dict[Severity, tuple[str, str]] = {
    "spoils": ("Spoils measurements", "bold red"),
    "slows": ("Costs speed", "bold yellow"),
    "note": ("Good to know", "bold"),
}


def as_json(found: Diagnosis) -> str:
    """A list of objects with `rule`, `severity`, `title`, `evidence`, `why` and `fix`.

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
    """Advice by severity, each with its evidence and the commands that fix it; counts in the last line.

    Rules that cannot be used are listed with their errors.
    """
    parts: list[RenderableType] = []
    for severity, (heading, style) in _HEADINGS.items():
        group = [advice for advice in found.advice if advice.severity == severity]
        if group:
            parts += [Text(heading, style=style), Text()]
        for advice in group:
            parts += [*_block(advice), Text()]
    if found.broken:
        parts += [Text("Rules that cannot be used here", style="bold yellow"), Text()]
        parts += [Padding(Text(f"{one.name}: {one.reason}"), (0, 0, 0, 2)) for one in found.broken]
        parts.append(Text())
    return render(Group(*parts, Text(_sum(found))))


def _block(advice: Advice) -> list[RenderableType]:
    title = Text(advice.title)
    title.append(f"  ({advice.rule})", style="dim")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for source, says in advice.evidence.items():
        grid.add_row("seen", f"{source}: {says}")
    grid.add_row("why", advice.why)
    # A line to be copied is never folded: the terminal may do that, and knows that it is one line.
    fix = [
        Text("    " + ("fix   " if number == 0 else "      ") + line, style="cyan", no_wrap=True, overflow="ignore")
        for number, line in enumerate(advice.fix)
    ]
    return [Padding(title, (0, 0, 0, 2)), Padding(grid, (0, 0, 0, 4)), *fix]


def _sum(found: Diagnosis) -> str:
    if not found.advice and not found.broken:
        return "Nothing to fix: this system is set up for measuring."
    counts = {
        heading: sum(advice.severity == severity for advice in found.advice)
        for severity, (heading, _) in _HEADINGS.items()
    }
    counts |= {"rules that cannot be used": len(found.broken)} if found.broken else {}
    return "; ".join(f"{heading.lower()}: {count}" for heading, count in counts.items())
