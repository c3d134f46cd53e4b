"""Whether the groups of hardware threads that times of pairs show are those that the system tells."""

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
"""Of two hardware threads there is one pair, which has nothing to be compared with."""


class TopologyTest(KindOfTest, frozen=True, kw_only=True):
    """Groups that the values of pairs show are told as cores, caches, nodes or packages; cores and caches show."""

    measure: str
    of: Levels = BASELINE
    at: str = ""  # axis value

    def problems(self, study: Study) -> Iterator[Problem]:
        """A measure, combination or axis value that is not there, or a measure without pairs."""
        yield from checks.shared_problems(study, (self.measure,), (self.of,), None)
        yield from checks.place_problems(study, self.measure, self.at)
        asked = study.measures[self.measure]
        if not asked.workload or not pair_readings(workloads.workload(asked.workload).metric(asked.metric).value):
            yield "measure", f"a topology needs a metric of pairs, and {self.measure} has none; try node/coherence"

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Groups that nobody tells, and told ones that make no difference, speak against it."""
        found = values.value(study.cell(self.measure, self.of), self.at)
        if values.topology is None or not found.pairs:
            raise CannotTest("the records do not say which pairs of hardware threads were at work")
        here = clusters(found.pairs, values.topology)
        if here.number < LEAST_THREADS:
            raise CannotTest("one pair of hardware threads, which has nothing to be compared with")
        if not here.complete:
            every = here.number * (here.number - 1) // 2
            raise CannotTest(f"{here.pairs} of {every} pairs were measured; more seconds measure all")
        if here.unreported:
            text = "; ".join(_text(one, "groups that are not told") for one in here.unreported)
            return Judgement("does not hold", f"{text} here")
        if here.undetected:
            units = " and ".join(UNITS[unit] for unit in here.undetected)
            return Judgement("does not hold", f"{units} are told, and their threads are no nearer to each other here")
        return Judgement("holds", f"{_found_text(here, list(found.pairs.values()))} here")


def _found_text(here: Clusters, values: list[float]) -> str:
    if here.found:
        return "; ".join(_text(one, here.names(one.groups)) for one in here.found)
    ends = f"{si_text(min(values), 's')} … {si_text(max(values), 's')}"
    return f"no groups are found, and none that share a cache are told: {ends}"


def _text(one: PairClusters, name: str) -> str:
    within, between = si_text(one.within, "s"), si_text(one.between, "s")
    return f"{name} {groups_text(one.groups)}, {within} within, {between} between"
