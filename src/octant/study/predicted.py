"""Predictions of the network model for a study, from the messages that the same run measured.

The workload of a measure with `predicted` declares its step (`octant.step`). The value of one rank at the baseline
gives the computation rate; the patterns `pingpong` and `duplex` of `p2p` give the message times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from octant import workloads
from octant.benchmarks.described import System, described_tests
from octant.failure import Refusal
from octant.study.values import CannotTest

if TYPE_CHECKING:
    from octant import stats
    from octant.request import Request
    from octant.simulate.projection import MessagePaths, ProjectedSystem
    from octant.store import StoredRun
    from octant.study.parts import Cell
    from octant.study.question import Study
    from octant.study.stored import RequestedCells
    from octant.study.values import StudyValues

_NO_MODEL = "this installation has no network model; use an installation by `make setup`"


@dataclass(frozen=True)
class Predictions:
    """Predictions for cells and for more nodes, with the reasons for missing ones."""

    by_cell: Mapping[Cell, stats.Interval] = field(default_factory=dict)
    why_none: tuple[str, ...] = ()
    larger: ProjectedSystem | None = None
    systems: tuple[System, ...] = ()  # described machines


NONE = Predictions()


def predictions(study: Study, requested_cells: RequestedCells, values: StudyValues, run: StoredRun) -> Predictions:
    """Return the predictions for all cells of measures with `predicted`."""
    if not any(measure.predicted for measure in study.measures.values()):
        return NONE
    try:
        from octant.simulate.projection import message_paths  # noqa: PLC0415 - not every installation has the model
    except ImportError:
        return Predictions(why_none=(_NO_MODEL,))
    ways, requests = message_paths(run), {request.key: request for request in run.requests}
    found: dict[Cell, stats.Interval] = {}
    reasons: list[str] = []
    for cell, key in requested_cells.requests.items():
        if not study.measures[cell.measure].predicted or key not in requests:
            continue
        try:
            one = _predicted(study, cell, requests[key], ways, values)
        except CannotTest as reason:
            reasons.append(str(reason))
            continue
        if one is not None:
            found[cell] = one
    larger, systems, why = _larger(study, run)
    return Predictions(found, tuple(dict.fromkeys([*reasons, *why])), larger, systems)


def _predicted(
    study: Study, cell: Cell, request: Request, ways: MessagePaths, values: StudyValues
) -> stats.Interval | None:
    """Return the prediction for a cell; `None` for one rank, or if nothing was measured.

    Raises:
        CannotTest: no messages were measured for its ranks, or a single rank has no value.
    """
    from octant.simulate.projection import HOW, rate_here  # noqa: PLC0415 - as above

    if request.shape.ranks < 2:
        return None
    hosts = len(request.shape.hosts) if request.shape.hosts else 1 + bool(request.shape.link)
    way = ways.of(hosts, request.shape.link)
    if way is None:
        where = f"over a link of {request.shape.link}" if request.shape.link else "between ranks of one node"
        raise CannotTest(f"fewer than three message sizes were measured reliably {where}; try {HOW}")
    value = values.by_cell.get(cell, {}).get("")
    if value is None or value.figure is None:
        return None
    figure = value.figure
    alone = 0.0
    if figure.workload.counts_of(figure.metric.name):
        alone = values.value(study.cell(cell.measure, {}), "").value.middle
    try:
        found = rate_here(figure, alone, way)
    except (KeyError, ValueError) as error:
        raise CannotTest(f"{cell}: the step cannot be computed from its knobs ({error})") from error
    return found.per_s if found else None


def _larger(study: Study, run: StoredRun) -> tuple[ProjectedSystem | None, tuple[System, ...], list[str]]:
    from octant.network import load  # noqa: PLC0415 - as above
    from octant.simulate.projection import project_to_nodes  # noqa: PLC0415 - as above

    if study.larger is None:
        return None, (), []
    predicted = [one for one in study.measures.values() if one.predicted]
    names = [workloads.full_name(one.workload, workloads.workloads()) for one in predicted]
    described, systems, why = described_tests(names), list[System](), list[str]()
    if described is not None:
        systems = [described.on_system(load(name), max(study.larger.nodes)) for name in study.larger.networks]
    elif study.larger.networks:
        why = ["no benchmark with these workloads has tests on described machines"]
    try:
        return project_to_nodes(run, study.larger.nodes, names), tuple(systems), why
    except Refusal as refusal:
        return None, tuple(systems), [*why, str(refusal)]
