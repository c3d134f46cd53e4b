"""A library uses kernels for another core and is far below peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.advice.findings import RuleResult, RunFinding
from octant.advice.findings._curves import subject
from octant.advice.findings._evidence import gain_of, gap_of, is_of_another_core, is_sure
from octant.advice.findings._lines import DOCTOR, larger_sizes_command
from octant.software.blas import own_core
from octant.units import capital, percent_text, si_text

if TYPE_CHECKING:
    from octant.analysis.summary import Summary


def judge(summary: Summary) -> RuleResult:
    """Return one finding per workload: the figure of the table farthest from peak whose launches note another core.

    A stored run does not show whether other kernels are faster; `octant doctor` tries them.
    """
    found = []
    for _, figures in summary.by_workload():
        far = [
            (share, figure, gap)
            for figure in figures
            if figure.show.table
            and is_of_another_core(summary, figure)
            and is_sure(figure)
            and (share := figure.of_limit) is not None
            and (gap := gap_of(figure))
        ]
        if not far:
            continue
        share, figure, gap = min(far, key=lambda each: each[0])
        processor = summary.run.machine.processor
        core, own = figure.point.notes["library_core"], own_core(processor.vendor, processor.flags)
        assert figure.value is not None  # noqa: S101 - it has a share
        found.append(
            RunFinding(
                rule="library kernel",
                title=f"{capital(subject((figure,)))} reaches {percent_text(share)} of peak with kernels for {core}",
                body=f"It reaches {si_text(figure.value.middle, figure.metric.unit)}, and the processor has the "
                f"instructions "
                f"of {own}. `octant doctor` tries the other kernels of the library and reports faster ones.",
                lines=(DOCTOR, *larger_sizes_command(summary, figure)),
                family="limit",
                gain=gain_of(summary, gap.middle, (figure,)),
                details=(
                    figure.name,
                    f"peak / figure: {gap.low:.2f} … {gap.high:.2f}, {gap.text}",
                ),
                kind="gain",
                effect=gap,
            )
        )
    return RuleResult(tuple(found))
