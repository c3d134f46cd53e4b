"""Whether the groups that times of pairs show are the reported ones: by planted times, no process starts."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest

from octant.machine import Topology
from octant.machine.hwloc import read_synthetic
from octant.stats import Interval
from octant.study import file
from octant.study.file import StudyError
from octant.study.question import Judgement, Study
from octant.study.values import CannotTest, LaunchValue, Quantity, StudyValue, StudyValues
from pair_times import TWO_SOCKETS, distance_ns, flat, values

TEXT = """
question = "?"
[baseline]
who = "all"
[measures.pairs]
workload = "node/coherence"
knobs = { protocol = "exchange" }
[measures.shared]
workload = "node/coherence"
metric = "slowdown"
[factors.who]
all = {}
[[findings]]
id = "p6-rset-over-bindprocessor"
test = { kind = "topology", measure = "MEASURE" }
"""
ONE = LaunchValue(Interval(1e-7, 1e-7, 1e-7), 0, datetime(2026, 11, 23, 16, 0, tzinfo=UTC))


def study(measure: str = "pairs") -> Study:
    return file.parse(TEXT.replace("MEASURE", measure), "test")


def judged(
    topology: Topology, cpus: Sequence[int] = range(16), ns: Callable[[int, int], float] = distance_ns, lost: int = 0
) -> Judgement:
    asked = study()
    pairs = dict(list(values(cpus, ns).items())[lost:])
    found = {asked.cell("pairs", {}): {"": StudyValue((ONE,), pairs=pairs)}}
    known = StudyValues({"pairs": Quantity("s", "lower")}, found, {}, {}, topology=topology)
    return asked.findings[0].test.judge(asked, known)


def test_it_holds_if_every_group_is_reported() -> None:
    found = judged(TWO_SOCKETS)
    assert found.status == "holds"
    assert found.why.startswith(
        "cores 0-1; 2-3; 4-5; 6-7 and 4 more, 7.00 ns within a group, 20.0 ns between groups; L3 caches 0-3;"
    )
    alike = judged(flat(), ns=lambda a, b: 50 + abs(a - b))
    assert alike.status == "holds"
    assert "no groups found" in alike.why


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("pack:2 l3:2 core:4 pu:1", "groups not reported by the operating system: 0-1; 2-3;"),
        ("pack:2 l3:1 core:4 pu:2", "0-3; 4-7; 8-11; 12-15"),
    ],
)
def test_it_does_not_hold_if_siblings_or_caches_are_not_reported(text: str, groups: str) -> None:
    found = judged(read_synthetic(text))
    assert found.status == "does not hold"
    assert groups in found.why


def test_it_does_not_hold_if_reported_siblings_are_no_nearer() -> None:
    found = judged(TWO_SOCKETS, ns=lambda a, b: max(distance_ns(a, b), 20.0))
    assert found.status == "does not hold"
    assert found.why.startswith("the operating system reports cores")


def test_one_pair_and_missing_pairs_have_no_verdict() -> None:
    with pytest.raises(CannotTest, match="one pair of hardware threads"):
        judged(flat("core:2 pu:1"), cpus=[0, 1])
    with pytest.raises(CannotTest, match="117 of 120 pairs were measured"):
        judged(TWO_SOCKETS, lost=3)


def test_a_measure_without_pairs_is_refused() -> None:
    with pytest.raises(StudyError, match="a topology needs a metric of pairs, and shared has none"):
        study("shared")
