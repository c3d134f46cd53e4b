"""Two machines and the clock between them: published ones, this one, and launches."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fake_run import MIB, durations, lane, machine, point, stored, write_run
from octant.cli._own_run import own_run
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.stats import Interval
from octant.store import StoredRun
from octant.study import file, outcome
from octant.study.file import StudyError
from octant.study.local_reference import NO_LOCAL_RUN, LocalRun
from octant.study.parts import Cell
from octant.study.values import LaunchValue, Quantity, StudyValue, StudyValues

NOW = datetime(2026, 11, 23, 16, 0, tzinfo=UTC)
TEXT = """
question = "?"
source = "model"
baseline = { machine = "old" }
[measures.wait]
model = "published"
kind = "time"
unit = "s"
[measures.clock]
model = "published"
unit = "Hz"
[factors.machine]
old = {}
new = {}
[[findings]]
id = "p6-latency-not-scaling"
test = { kind = "generation", measure = "wait", clock = "clock", of = { machine = "new" }, bar = { below = 0.9 } }
"""


def test_the_latency_of_three_generations_grew_in_cycles() -> None:
    """110 to 90 ns, while the clock went from 1.9 to 4.7 GHz."""
    pytest.importorskip("octant._network")
    found = outcome.outcome_of_model("memory-latency-generations").verdicts[0]
    assert found.status == "holds"
    assert found.here
    assert found.here.middle == pytest.approx((110 / 90) / (4.7 / 1.9))
    assert found.why == (
        "×0.494, Power 575 over POWER5+: latency ×1.22, clock ×2.47, latency in cycles ×2.02 (required: below 0.9)"
    )


@pytest.mark.parametrize(("ns", "status"), [(50.0, "does not hold"), (90.0, "holds"), (52.0, "does not hold")])
def test_launches_are_compared_round_by_round(ns: float, status: str) -> None:
    """The clock doubles: from 100 ns a time in proportion is 50."""
    study = file.parse(TEXT, "mine")
    stated = {("wait", "old"): 100.0, ("wait", "new"): ns, ("clock", "old"): 2e9, ("clock", "new"): 4e9}
    cells = {Cell(measure, (level,)): {"": launches(value)} for (measure, level), value in stated.items()}
    quantities = {"wait": Quantity("s", "lower"), "clock": Quantity("Hz", "higher")}
    found = study.findings[0].test.judge(study, StudyValues(quantities, cells, {}, {}))
    assert found.status == status
    assert found.here
    assert found.here.middle == pytest.approx(50.0 / ns)
    assert found.here.high == pytest.approx(found.here.low)  # what a round does to both machines is not in it


def launches(value: float) -> StudyValue:
    """Each half as long again as the one before it."""
    drifting = (value * 1.5**n for n in range(6))
    return StudyValue(tuple(LaunchValue(Interval(one, one, one), n, NOW) for n, one in enumerate(drifting)))


@pytest.mark.parametrize(
    ("was", "becomes", "problem"),
    [
        ('unit = "Hz"', 'unit = "s"', "clock: a clock is in Hz, and clock in s"),
        ('machine = "new" }', 'machine = "old" }', "a combination is compared with itself"),
        ('measure = "wait"', 'measure = "weight"', "no measure 'weight'"),
    ],
)
def test_what_leads_nowhere_is_refused(was: str, becomes: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        file.parse(TEXT.replace(was, becomes), "mine")


def test_this_machine_is_shown_or_the_command_that_adds_it() -> None:
    pytest.importorskip("octant._network")
    without = outcome.outcome_of_model("memory-latency-generations").verdicts[2]
    assert without.status == "cannot be tested here"
    assert without.why.endswith("try octant run latency bytes=1GiB pages=thp")
    figures = {"memory_latency_ns": Interval(5e-8, 5e-8, 5e-8), "clock": Interval(3.8e9, 3.8e9, 3.8e9)}
    mine = outcome.outcome_of_model("memory-latency-generations", LocalRun("r", "mine", 2026, figures))
    assert mine.verdicts[2].status == "does not hold"  # 2.2 times as quick with twice the clock
    assert mine.values.absent[Cell("cycles", ("this machine",))] == "run r has no memory_latency_cycles"


def latency_run(size: int, clock_hz: tuple[int, ...], name: str, **others: str) -> StoredRun:
    """100 ns a load; the fake machine's caches hold 32 MiB."""
    knobs = {"bytes": str(size), "pages": "thp", **others}
    launch = Launch(Request(Subject("node/latency"), knobs, Shape(), {}, Presentation("latency"), 1), 0)
    made = point(
        workload="node/latency", launch=launch.key, knobs=knobs, counts={"loads": 1000},
        lanes=(lane(durations(100_000), clock_hz=clock_hz),),
    )  # fmt: skip
    return stored([launch], [made], folder=Path("runs", name), on=machine())


def test_the_newest_run_past_the_caches_is_this_machine(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert own_run(store, "published") == NO_LOCAL_RUN
    write_run(latency_run(256 * MIB, (4_000_000_000,), "20261121-100000-aaaa"), store)
    write_run(latency_run(16 * MIB, (4_000_000_000,), "20261121-110000-bbbb"), store)  # within the caches
    write_run(latency_run(256 * MIB, (), "20261121-120000-cccc"), store)  # its clock was not observed
    hertz, others = (4_000_000_000,), ({"pattern": "pages"}, {"pages": "base"}, {"memory": "bind:1"})
    for minute, knobs in enumerate(others):  # walks over pages, other pages, another policy
        write_run(latency_run(256 * MIB, hertz, f"20261121-13{minute:02}00-dddd", **knobs), store)
    own = own_run(store, "published")
    assert own.id == "20261121-100000-aaaa"
    assert {name: value.middle for name, value in own.figures.items()} == pytest.approx(
        {"memory_latency_ns": 1e-7, "memory_latency_cycles": 400, "clock": 4e9}
    )
