"""Programs would be faster on huge pages, and do not get them by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import groups, size_knob, size_of, size_text, subject
from octant.advice.findings._evidence import gain_of, is_beyond, paired_ratio
from octant.advice.findings._huge_pages import heap_may_ask
from octant.advice.findings._thresholds import WORTH
from octant.program import is_program
from octant.units import si_text

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
        """The ratio of both medians, which has no interval."""
        assert self.base.value is not None  # noqa: S101 - `_pairs` leaves such figures out
        assert self.huge.value is not None  # noqa: S101
        ratio = self.huge.value.middle / self.base.value.middle
        return ratio if self.base.metric.better == "higher" else 1 / ratio


def judge(summary: Summary) -> RuleResult:
    """Fires where figures that differ in `pages` alone show a gain, and programs of the system get base pages."""
    if not heap_may_ask(summary.run.machine):
        return RuleResult()
    found, passed = [], []
    for workload, figures in summary.by_workload():
        if is_program(workload.name):  # its knobs mean what its user says
            continue
        pairs = sorted(_pairs(figures), key=lambda pair: pair.size)
        judged = [(pair, ratio) for pair in pairs if (ratio := paired_ratio(pair.base, pair.huge))]
        gains = [(pair, ratio) for pair, ratio in judged if _is_gain(pair, len(judged))]
        if gains:
            found.append(_finding(summary, figures, *gains[-1], pairs))
        elif judged:
            most = max(ratio.high for _, ratio in judged)
            passed.append(f"no gain by huge pages is proven for {workload.name}; × {most:.2f} could hide")
    return RuleResult(tuple(found), tuple(passed))


def _is_gain(pair: _Pair, of: int) -> bool:
    """Whether a gain beyond the margin is proven, where so many sizes are looked at."""
    certain = paired_ratio(pair.base, pair.huge, of=of)
    return certain is not None and is_beyond(certain)


def _pairs(figures: Sequence[Figure]) -> list[_Pair]:
    """Cells with base and with transparent huge pages that have a value, and differ in nothing else."""
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
        title=f"Huge pages: {subject(figures)} {ratio.middle:.2f} × as fast",
        body=f"{before} become {after}{at}{_little(pairs)}. It takes effect in programs that are started from the same "
        "shell afterwards and whose memory comes from malloc.",
        lines=(HEAP,),
        family="pages",
        gain=gain_of(summary, ratio.middle, figures),
        details=(
            f"{ratio.low:.2f} … {ratio.high:.2f}: {ratio.text}",
            *(f"× {one.middle:.2f} at {one.size_text}" for one in pairs if one.size_text),
            f"{LOOK} shows whether its memory is on huge pages: glibc 2.36 heeds the setting on some starts only",
        ),
        kind="gain",
        effect=ratio,
    )


def _little(pairs: Sequence[_Pair]) -> str:
    """Where huge pages bring little: `; they bring under × 1.1 at 8 KiB … 8 MiB`."""
    little = [place for place, pair in enumerate(pairs) if pair.middle < WORTH]
    if not little or not pairs[little[0]].size_text:
        return ""
    is_range = little == list(range(little[0], little[-1] + 1)) and len(little) > 2
    shown = [little[0], little[-1]] if is_range else little
    return (
        f"; they bring under × {WORTH:.1f} at {(' … ' if is_range else ', ').join(pairs[n].size_text for n in shown)}"
    )
