"""What a report on a run says first, put together once for the page, the terminal and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings import Review, first_of, review
from octant.report.screen.reliability import reliability
from octant.report.screen.tiles import answer_text, tiles
from octant.workloads import NOT_INSTALLED, why_absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.advice.findings import RunFinding
    from octant.analysis.summary import Summary
    from octant.report.charts.picture import Picture
    from octant.report.screen.answer import Reliability, Tile


FROM_RECORDS = "its figures are made from the records alone, without its metrics, limits and pictures"
"""What a report lacks for a workload that is not installed."""


@dataclass(frozen=True)
class FirstScreen:
    """What the first screen says."""

    answer: str
    reliability: Reliability
    tiles: tuple[Tile, ...]
    findings: tuple[RunFinding, ...] = ()
    passed: tuple[str, ...] = ()  # what the rules looked at and found in order
    absent: tuple[str, ...] = ()  # workloads and rules that this installation lacks, and what is missing therefore

    @property
    def shown(self) -> int:
        """How many findings need no opening."""
        return first_of(self.findings)

    @property
    def is_reliable(self) -> bool:
        """Whether the run can be believed, so that no finding means that nothing is to be mended."""
        return self.reliability.grade in ("reliable", "note")


@dataclass(frozen=True)
class RunReport:
    """What the report of a run says, made once: the terminal, the page and programs write it."""

    summary: Summary
    first: FirstScreen
    pictures: Sequence[Picture] = ()


def first_screen(summary: Summary) -> FirstScreen:
    """The answer of a run, with what it rests on."""
    shown = tiles(summary)
    found = Review() if summary.run.imported else review(summary)  # nothing can be done here about another's run
    rules = [f"the rule {one.name} cannot be used here ({one.reason})" for one in found.broken]
    absent = (*absent_workloads(summary), *rules)
    return FirstScreen(
        answer_text(summary, shown), reliability(summary, shown), shown, found.findings, found.passed, absent
    )


def absent_workloads(*summaries: Summary) -> list[str]:
    """Return a remark on each workload of these runs that this installation cannot use."""
    names = sorted({name for summary in summaries for name in summary.unknown})
    return [f"{why_absent(name) or NOT_INSTALLED.format(name)}; {FROM_RECORDS}" for name in names]
