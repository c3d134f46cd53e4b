"""Programs would be faster on huge pages, which they do not get by default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import groups, size_knob, size_of, size_text, subject
from octant.advice.findings._evidence import gain_of, is_beyond, paired_ratio
from octant.advice.findings._huge_pages import needs_heap_request
from octant.advice.findings._thresholds import WORTH
from octant.program import is_program
from octant.units import capital, si_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.stats import Estimate

HEAP = "export GLIBC_TUNABLES=glibc.malloc.hugetlb=1"
LOOK = "octant where --place 1x1,heap=huge -- PROGRAM"


@dataclass(frozen=True)
class _Pair:
    base: Figure
    huge: Figure

    @property
    def size(self) -> float:
        return size_of(self.base, size_knob(self.base))

    @property
    def size_text(self) -> str:
        return size_text(self.base)

    @property
    def middle(self) -> float:
        """Return the ratio of both medians, without an interval."""
        assert self.base.value is not None  # noqa: S101 - `_pairs` leaves such figures out
        assert self.huge.value is not None  # noqa: S101
        ratio = self.huge.value.middle / self.base.value.middle
        return ratio if self.base.metric.better == "higher" else 1 / ratio


def judge(summary: Summary) -> RuleResult:
    """Return one finding per workload whose figures gain from huge pages, if programs get base pages."""
    if not needs_heap_request(summary.run.machine):
        return RuleResult()
    found, passed = [], []
    for workload, figures in summary.by_workload():
        if is_program(workload.name):  # the user defines its knobs
            continue
        pairs = sorted(_pairs(figures), key=lambda pair: pair.size)
        judged = [(pair, ratio) for pair in pairs if (ratio := paired_ratio(pair.base, pair.huge))]
        gains = [(pair, ratio) for pair, ratio in judged if _is_gain(pair, len(judged))]
        if gains:
            found.append(_finding(summary, figures, *gains[-1], pairs))
        elif judged:
            most = max(ratio.high for _, ratio in judged)
            passed.append(f"no gain from huge pages detected for {workload.name} (at most × {most:.2f})")
    return RuleResult(tuple(found), tuple(passed))


def _is_gain(pair: _Pair, of: int) -> bool:
    """Return whether the gain exceeds the margin significantly, corrected for the number of sizes."""
    certain = paired_ratio(pair.base, pair.huge, of=of)
    return certain is not None and is_beyond(certain)


def _pairs(figures: Sequence[Figure]) -> list[_Pair]:
    """Return the pairs of cells with base and transparent huge pages that differ in nothing else."""
    shown = [figure for figure in figures if figure.value and figure.value.middle > 0 and not figure.invalid]
    found = []
    for group in groups(shown, "pages"):
        by_pages = {figure.knobs.get("pages"): figure for figure in group}
        if "base" in by_pages and "thp" in by_pages:
            found.append(_Pair(by_pages["base"], by_pages["thp"]))
    return found


def _finding(
    summary: Summary, figures: Sequence[Figure], pair: _Pair, ratio: Estimate, pairs: Sequence[_Pair]
) -> RunFinding:
    unit = pair.base.metric.unit
    before, after = (si_text(one.value.middle, unit) for one in (pair.base, pair.huge) if one.value)
    at = f" at {pair.size_text}" if pair.size_text else ""
    return RunFinding(
        rule="pages",
        title=f"{capital(subject(figures))} is {ratio.middle:.2f} times as fast with huge pages",
        body=f"Huge pages change {before} to {after}{at}{_small_gain_text(pairs)}. The setting applies to memory from "
        f"malloc, in "
        "programs that are started from the same shell.",
        lines=(HEAP,),
        family="pages",
        gain=gain_of(summary, ratio.middle, figures),
        details=(
            f"{ratio.low:.2f} … {ratio.high:.2f}, {ratio.text}",
            *(f"× {one.middle:.2f} at {one.size_text}" for one in pairs if one.size_text),
            f"{LOOK} shows whether the memory of a program is on huge pages; glibc 2.36 applies the setting only in "
            f"some launches",
        ),
        kind="gain",
        effect=ratio,
    )


def _small_gain_text(pairs: Sequence[_Pair]) -> str:
    """Return the sizes with a small gain: `; the gain is below × 1.1 at 8 KiB … 8 MiB`."""
    small = [place for place, pair in enumerate(pairs) if pair.middle < WORTH]
    if not small or not pairs[small[0]].size_text:
        return ""
    is_range = small == list(range(small[0], small[-1] + 1)) and len(small) > 2
    shown = [small[0], small[-1]] if is_range else small
    return (
        f"; the gain is below × {WORTH:.1f} at {(' … ' if is_range else ', ').join(pairs[n].size_text for n in shown)}"
    )
