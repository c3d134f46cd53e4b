"""Test whether pair latencies show the groups of hardware threads that the operating system reports."""

from __future__ import annotations

from collections.abc import Iterator

from octant import workloads
from octant.analysis.clusters import UNITS, Clusters, PairClusters, clusters, groups_text
from octant.analysis.series import pair_readings
from octant.study import checks
from octant.study.parts import BASELINE, Levels, Problem
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.values import CannotTest, StudyValues
from octant.units import si_text

LEAST_THREADS = 3
"""Two hardware threads are only one pair, which cannot be compared with others."""


class TopologyTest(KindOfTest, frozen=True, kw_only=True):
    """Groups in the pair latencies are reported as cores, caches, nodes or packages, and reported ones are visible."""

    measure: str
    of: Levels = BASELINE
    at: str = ""  # axis value

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, and measures without pairs."""
        yield from checks.shared_problems(study, (self.measure,), (self.of,), None)
        yield from checks.place_problems(study, self.measure, self.at)
        asked = study.measures[self.measure]
        if not asked.workload or not pair_readings(workloads.workload(asked.workload).metric(asked.metric).value):
            yield "measure", f"a topology needs a metric of pairs, and {self.measure} has none; try node/coherence"

    @property
    def least_launches(self) -> int:
        """Return one launch: further ones are not needed for a verdict."""
        return 1

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge against groups that are not reported, and reported ones that are not visible."""
        found = values.value(study.cell(self.measure, self.of), self.at)
        if values.topology is None or not found.pairs:
            raise CannotTest("the records do not contain the measured pairs of hardware threads")
        here = clusters(found.pairs, values.topology)
        if here.number < LEAST_THREADS:
            raise CannotTest("there is only one pair of hardware threads")
        if not here.complete:
            every = here.number * (here.number - 1) // 2
            raise CannotTest(f"{here.pairs} of {every} pairs were measured; increase seconds")
        if here.unreported:
            text = "; ".join(_text(one, "groups not reported by the operating system:") for one in here.unreported)
            return Judgement("does not hold", text)
        if here.undetected:
            units = " and ".join(UNITS[unit] for unit in here.undetected)
            return Judgement(
                "does not hold",
                f"the operating system reports {units}, but transfers between their threads are not faster",
            )
        return Judgement("holds", _found_text(here, list(found.pairs.values())))


def _found_text(here: Clusters, values: list[float]) -> str:
    if here.found:
        return "; ".join(_text(one, here.names(one.groups)) for one in here.found)
    ends = f"{si_text(min(values), 's')} … {si_text(max(values), 's')}"
    return f"no groups found, and no shared caches reported: {ends}"


def _text(one: PairClusters, name: str) -> str:
    within, between = si_text(one.within, "s"), si_text(one.between, "s")
    return f"{name} {groups_text(one.groups)}, {within} within a group, {between} between groups"
