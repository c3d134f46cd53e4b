"""Several techniques, each alone: how many bring something to some kind of work."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from octant.stats import Interval
from octant.study import file
from octant.study.file import StudyError
from octant.study.parts import Cell
from octant.study.question import Judgement, Study
from octant.study.values import CannotTest, LaunchValue, Quantity, StudyValue, StudyValues

NOW = datetime(2026, 11, 23, 16, 0, tzinfo=UTC)
TEXT = """
question = "?"
combinations = [{}, { one = "on" }, { two = "on" }, { three = "on" }]
baseline = { one = "off", two = "off", three = "off" }
[measures.triad]
workload = "node/stream"
metric = "bandwidth"
[measures.gemm]
workload = "node/gemm"
[factors.one]
off = {}
on = { knobs = { pages = "thp" } }
[factors.two]
off = {}
on = { knobs = { memory = "local" } }
[factors.three]
off = {}
on = { ranks = "2" }
[[findings]]
id = "p7-conclusion-all"
test = { kind = "ablation", SHARE changes = [{ one = "on" }, { two = "on" }, { three = "on" }] }
"""
Gains = Mapping[tuple[str, tuple[str, ...]], tuple[float, ...]]
BASE, ONE, TWO, THREE = ("off",) * 3, ("on", "off", "off"), ("off", "on", "off"), ("off", "off", "on")
NOISY = (0.9, 1.3, 0.8, 1.25, 0.95, 1.2)


def launches(*rates: float) -> StudyValue:
    return StudyValue(tuple(LaunchValue(Interval(x, x, x), n, NOW) for n, x in enumerate(rates)))


def judged(gains: Gains, share: str = "") -> Judgement:
    """Both measures do 1 without any technique; what is not given here cannot be had."""
    study: Study = file.parse(TEXT.replace("SHARE", share), "mine")
    rates_of = {(measure, BASE): (1.0,) * 6 for measure in ("triad", "gemm")} | dict(gains)
    cells = {Cell(measure, levels): {"": launches(*rates)} for (measure, levels), rates in rates_of.items()}
    absent = {Cell(m, levels): "no such thing" for m in ("triad", "gemm") for levels in (ONE, TWO, THREE)}
    quantities = {"triad": Quantity("B/s", "higher"), "gemm": Quantity("flop/s", "higher")}
    lacking = {cell: why for cell, why in absent.items() if cell not in cells}
    return study.findings[0].test.judge(study, StudyValues(quantities, cells, lacking, {}))


def test_a_technique_counts_by_the_measure_that_gains_most() -> None:
    found = judged(
        {("triad", ONE): (0.9,) * 6, ("gemm", ONE): (2.0,) * 6, ("triad", TWO): (1.1,) * 6, ("gemm", THREE): (1.0,) * 6}
    )
    assert found.status == "holds"
    assert found.why.startswith(
        "2 of 3 changes gain significantly: one on ×2.00 (gemm), two on ×1.10 (triad), three on ×1.00 (gemm)"
    )


def test_too_few_do_not_hold_even_if_all_that_is_open_held() -> None:
    found = judged({("triad", ONE): (1.0,) * 6, ("gemm", TWO): (1.0,) * 6, ("gemm", THREE): NOISY})
    assert found.status == "does not hold"


def test_what_is_open_or_absent_decides_nothing_else() -> None:
    some: Gains = {("triad", ONE): (1.5,) * 6, ("gemm", TWO): (1.0,) * 6}
    assert judged({**some, ("gemm", THREE): NOISY}).status == "undecided"
    with pytest.raises(CannotTest, match="no such thing"):
        judged(some)
    assert judged(some, "share = 0.3, ").status == "holds"


def test_a_change_of_nothing_is_refused() -> None:
    with pytest.raises(StudyError, match="a combination is compared with itself"):
        file.parse(TEXT.replace("SHARE", "").replace('[{ one = "on" }, { two', '[{ one = "off" }, { two'), "mine")
