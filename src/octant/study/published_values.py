"""Published values of a study from the catalogue, by combination."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from octant import catalogue
from octant.study.cells import combinations
from octant.study.parts import Cell
from octant.study.values import Place, PublishedValue, quantity_of

if TYPE_CHECKING:
    from octant.study.parts import PublishedTable
    from octant.study.question import FindingTest, Study


def published_values(study: Study) -> list[PublishedValue]:
    """Return all published values of cells of the study."""
    return [one for published in study.published for one in _values_of(study, published)]


def _values_of(study: Study, published: PublishedTable) -> Iterator[PublishedValue]:
    table = catalogue.results()[published.table]
    for levels in combinations(study):
        where: dict[str, str] | None = dict(published.where)
        for factor, level in zip(study.factors, levels, strict=True):
            if factor in published.columns:
                wanted = published.columns[factor].get(level)
                where = None if wanted is None or where is None else {**where, **wanted}
        for observation in table.find(published.metric, where) if where is not None else ():
            at = observation.configuration.get(published.axis, "") if published.axis else ""
            if observation.value is not None:
                yield PublishedValue(
                    Cell(published.measure, levels), at, observation, observation.value * published.scale
                )


def published_gains(study: Study) -> dict[Place, tuple[float, float]]:
    """Return the range of the published gain of each place over the baseline.

    Sources are published values, and published ratios in findings, which are chained to the baseline. Places without a
    chain to the baseline at the same axis value are excluded, and the baseline itself.
    """
    edges = _edges(study)
    found: dict[Place, tuple[float, float]] = {}
    places = {place for pair in edges for place in pair}
    for origin in {(Cell(place[0].measure, study.baseline_of(place[0].levels)), place[1]) for place in places}:
        reached, ends = {origin: (1.0, 1.0)}, [origin]
        while ends:
            here = ends.pop(0)
            for (of, to), (low, high) in edges.items():
                if to == here and of not in reached:
                    reached[of] = (reached[here][0] * low, reached[here][1] * high)
                    ends.append(of)
        found |= {
            place: gain
            for place, gain in reached.items()
            if (study.baseline_of(place[0].levels), place[1]) == (origin[0].levels, origin[1]) and place != origin
        }
    return found


def _edges(study: Study) -> dict[tuple[Place, Place], tuple[float, float]]:
    """Return published gains between places, in both directions; values have priority over stated ratios."""
    found: dict[tuple[Place, Place], tuple[float, float]] = {}
    values: dict[Place, list[float]] = {}
    for one in published_values(study):
        values.setdefault((one.cell, one.at), []).append(one.value)
    for of, to in itertools.permutations(values, 2):
        if (of[0].measure, of[1]) == (to[0].measure, to[1]) and min(*values[of], *values[to]) > 0:
            low, high = min(values[of]) / max(values[to]), max(values[of]) / min(values[to])
            higher = quantity_of(study.measures[of[0].measure]).better == "higher"
            found[of, to] = (low, high) if higher else (1 / high, 1 / low)
    for finding_test in study.findings:
        stated, places = published_range(study, finding_test), finding_test.test.compared(study)
        if finding_test.there is not None and stated and places and stated[0] > 0:
            found.setdefault(places, stated)
            found.setdefault((places[1], places[0]), (1 / stated[1], 1 / stated[0]))
    return found


def published_range(study: Study, finding_test: FindingTest) -> tuple[float, float] | None:
    """Return the published range of the quantity that a finding tests; `None` if nothing is published.

    Unless the study specifies the values, only tables that the catalogue lists as evidence of the finding are used:
    other tables may have the same combinations for another kind of machine.
    """
    if finding_test.there is not None:
        there = finding_test.there
        table = catalogue.results()[there.table]
        values = [o.value for o in table.find(there.metric, there.where) if o.value is not None]
        scale = {"gain": (0.0, 1.0), "percent": (1.0, 0.01), "share": (0.0, 0.01)}[there.means]
        factors = [scale[0] + scale[1] * value for value in values]
        if there.to:
            longer = [o.value for o in table.find(there.metric, there.to) if o.value is not None]
            factors = [a / b for a in longer for b in values if b > 0]
        return (min(factors), max(factors)) if factors else None
    evidence = finding_test.finding.evidence
    known = [value for one in study.published if one.table in evidence for value in _values_of(study, one)]
    return finding_test.test.published_range(study, known)
