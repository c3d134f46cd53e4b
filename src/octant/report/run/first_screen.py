"""What a report on a run says first, put together once for the page, the terminal and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings import first_of, review
from octant.report.run.belief import belief
from octant.report.run.tiles import answer_text, tiles

if TYPE_CHECKING:
    from octant.advice.findings import Finding
    from octant.analysis.summary import Summary
    from octant.report.run.answer import Belief, Tile


@dataclass(frozen=True)
class FirstScreen:
    """What the first screen says."""

    answer: str
    belief: Belief
    tiles: tuple[Tile, ...]
    findings: tuple[Finding, ...] = ()
    passed: tuple[str, ...] = ()  # what the rules looked at and found in order

    @property
    def shown(self) -> int:
        """How many findings need no opening."""
        return first_of(self.findings)

    @property
    def is_sound(self) -> bool:
        """Whether the run can be believed, so that no finding means that nothing is to be mended."""
        return self.belief.grade in ("sound", "note")


def first_screen(summary: Summary) -> FirstScreen:
    """The answer of a run, with what it rests on."""
    shown = tiles(summary)
    found = ((), ()) if summary.run.imported else review(summary)  # nothing can be done here about another's run
    return FirstScreen(answer_text(summary, shown), belief(summary, shown), shown, *found)
