"""The studies of message passing: what they ask of machines, and their verdicts on values whose outcome is known."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from fake_run import machine
from octant.stats import Interval
from octant.study import file
from octant.study.cells import cells
from octant.study.design import MpiInUse, design
from octant.study.parts import Cell, Level
from octant.study.question import Study, quantities
from octant.study.values import LaunchValue, StudyValue, StudyValues
from octant.study.verdict import verdicts
from paths import ROOT

BEGUN = datetime(2026, 11, 22, tzinfo=UTC)
HOLDS, NOT, NO = "holds", "does not hold", "cannot be tested here"
SMALL, LARGE = 1e-6, 1e-3

# Of each study: values by measure and level (" at " an axis value), a rest, and the status of each finding in the order
# of the file. Here are two cores.
TWO_CORES: Mapping[str, tuple[Mapping[str, float], list[str]]] = {
    "alltoall-schedule-measured": ({}, [NO, NO]),
    "barrier-collective-offload": (
        {
            "spread barrier": 0.1, "spread, undisturbed barrier": 0.3,
            "spread dissemination": 5.0, "spread, 99.9 % dissemination": 0.15,
            "time barrier": SMALL, "time all-to-all, 64 KiB": 20 * SMALL,
        },
        [NO, NO, HOLDS, NOT, HOLDS, HOLDS, HOLDS],
    ),
    "bulk-exchange-protocol": (
        {"time exchange at 4MiB": LARGE, "time barrier at 4MiB": SMALL, "time exchange at 32MiB": 8 * LARGE},
        [HOLDS, HOLDS, NO],
    ),
    "mpi-barrier-pmb": ({"barrier 2": SMALL, "barrier 2 on two hosts": 50 * SMALL}, [NO, NO, HOLDS]),
    "mpi-buffer-size": ({}, [NO]),
    "mpi-eager-limit": ({"pingpong default at 32KiB": 2 * SMALL, "pingpong 64KiB at 32KiB": SMALL}, [HOLDS]),
    "mpi-overhead": (
        {
            "exchange two-sided at 1MiB": 1e9, "exchange one-sided at 1MiB": 2e9, "exchange shared-memory at 1MiB": 4e9,
            "exchange two-sided at 64KiB": 1e9, "exchange shared-memory at 64KiB": 9e8,
        },
        [HOLDS, HOLDS, NOT],
    ),
    "mpi-rdma": (
        {
            "pingpong both 64 KiB, default": 1e9, "pingpong bulk 16 KiB, default": 2e9,
            "pingpong eager 16 KiB, default": 1e9, "pingpong both 16 KiB, default": 2e9,
        },
        [NOT, HOLDS, NO, NO, NO, NO],
    ),
    "mpi-parameter-checks": ({"pingpong yes": 1.1 * SMALL, "pingpong no": SMALL}, [HOLDS]),
    "mpi-shm-crossover": (
        {
            "pingpong two at 1MiB": 1e9, "pingpong one at 1MiB": 2e9, "pingpong two at 256KiB": 1e9,
            "pingpong one at 256KiB": 2e9, "pingpong two at 1KiB": 1e9, "pingpong one at 1KiB": 5e8,
        },
        [HOLDS, NOT, HOLDS],
    ),
    "pmb-collectives": ({}, [NO]),
}  # fmt: skip


def measured(value: float) -> StudyValue:
    """Six launches that agree."""
    return StudyValue(tuple(LaunchValue(Interval(value, value, value), n, BEGUN) for n in range(6)))


@pytest.mark.parametrize("name", sorted(TWO_CORES))
def test_verdicts_on_two_cores(name: str) -> None:
    study, (known, expected) = file.load(name), TWO_CORES[name]
    plan = design(study, machine(), seed=0, library=MpiInUse("mpich"))
    by_cell: dict[Cell, dict[str, StudyValue]] = {}
    for cell in plan.questions:
        axis = study.measures[cell.measure].axis
        for at in axis.values if axis else ("",):
            words = f"{cell.measure} {', '.join(cell.levels)}{f' at {at}' if at else ''}"
            by_cell.setdefault(cell, {})[at] = measured(known.get(words, 1.0))
    values = StudyValues(quantities(study), by_cell, plan.absent, {})
    assert [verdict.status for verdict in verdicts(study, values, machine())] == expected


@pytest.mark.parametrize(("name", "nodes", "cores"), [("pmb-collectives", 2, 4), ("alltoall-schedule-measured", 4, 8)])
def test_with_enough_cores_all_is_asked(name: str, nodes: int, cores: int) -> None:
    study, large = file.load(name), machine(nodes=nodes)
    plan = design(study, large, seed=0)
    assert set(plan.questions) == set(cells(study))
    assert {request.shape.ranks for request in plan.requests} == {cores}


def test_what_cannot_be_tested_names_what_is_missing() -> None:
    def reasons(name: str) -> dict[str, str]:
        study = file.load(name)
        values = StudyValues(quantities(study), {}, design(study, machine(), 0, MpiInUse("mpich")).absent, {})
        return {verdict.finding.id: verdict.why for verdict in verdicts(study, values, machine())}

    offload = reasons("barrier-collective-offload")
    assert offload["bgp-barrier-20x"] == (
        "needs a machine whose network carries collectives in its hardware; this is one node"
    )
    assert offload["bgp-barrier-cores-2x"] == "needs two nodes with a network between them; this is one node"
    assert reasons("bulk-exchange-protocol")["p775-fifo-full-is-loss"].startswith(
        "needs nodes whose network may lose packets"
    )
    assert reasons("mpi-barrier-pmb")["pmb-barrier-p690-log"] == "needs 32 usable cores; this machine has 2"
    assert reasons("mpi-rdma")["p6-rdma-more-memory"] == (
        "needs two nodes with adapters that read and write each other's memory (RDMA); this is one node"
    )
    assert reasons("mpi-buffer-size")["p6-large-fifo-for-large-jobs"] == "needs 16 usable cores; this machine has 2"


def test_the_handbook_says_how_each_finding_is_tested() -> None:
    """Each row names a finding of that study, and a part of the study that measures, models or omits it."""
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| (.+) \|$", (ROOT / "docs/mpi.md").read_text(), re.MULTILINE)
    assert len(rows) >= 38
    for finding, key, how in rows:
        parts = [file.load(name) for name in file.names() if re.fullmatch(rf"{key}(-[a-z]+)?", name)]
        parts = [study for study in parts if finding in {asked.id for asked in study.findings}]
        assert ("model" in how) == any(study.source == "model" for study in parts), finding
        linked = [s for s in parts if any(one.link for one in levels_of(s)) or any(m.link for m in s.measures.values())]
        assert linked or "emulated link" not in how, finding
        assert parts, finding


def levels_of(study: Study) -> list[Level]:
    return [level for levels in study.factors.values() for level in levels.values()]
