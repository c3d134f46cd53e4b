"""How long launches take, from what stored runs took and without any."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fake_run import MIB, launch_line, machine, point, point_line, stored, write_run
from octant.record import Point, Work
from octant.request import Request, Shape, Subject
from octant.runs.cell_costs import USUAL, CellCost
from octant.runs.durations import BYTE_S, POINT_S, START_RANKS_S, START_S, Durations, PointCost, load_durations
from octant.runs.starts import list_starts
from octant.step import Step
from octant.store import Store


def cost(size: float, beyond_s: float, measured_s: float = 0.2, power: float = 1.0, **knobs: str) -> PointCost:
    return PointCost(knobs, (1, 1), size, power, 0.2, measured_s, beyond_s)


def asked(ranks: int = 1, **knobs: str) -> Request:
    return Request(Subject("node/stream"), knobs, Shape(ranks=ranks))


def seconds(known: Durations, one: Request) -> float:
    return sum(map(known.seconds, list_starts(one.launches())))


@pytest.fixture(autouse=True)
def _declares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("octant.runs.durations.declared_cost", lambda _request, _cell: None)


def test_without_runs_a_launch_is_its_start_its_budgets_and_its_bytes() -> None:
    rules = Durations()
    assert seconds(rules, asked()) == pytest.approx(START_S + 0.2 + POINT_S)
    assert seconds(rules, asked(2, seconds="0.1,0.3")) == pytest.approx(START_RANKS_S + 0.4 + 2 * POINT_S)
    assert seconds(rules, asked(bytes="1GiB")) == pytest.approx(START_S + 0.2 + POINT_S + 2**30 * BYTE_S)
    assert seconds(rules, asked(duration="10")) == pytest.approx(START_S + 10.2 + POINT_S)
    assert "rough" in rules.source


def test_without_runs_a_declared_step_that_is_longer_than_the_budget_takes_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def step(knobs: Mapping[str, str]) -> CellCost:
        return CellCost(Step({"flops": int(knobs["n"]) * USUAL["flops"]}, int(3 * USUAL["filled"])), 1, 1, 2)

    monkeypatch.setattr("octant.runs.durations.declared_cost", lambda _request, cell: step(cell))
    assert seconds(Durations(), asked(n="0")) == pytest.approx(START_S + 0.2 + POINT_S + 3)
    assert seconds(Durations(), asked(n="40,50")) == pytest.approx(START_S + 2 * (POINT_S + 3) + 80 + 100)
    assert seconds(Durations(), asked(n="40", seconds="90")) == pytest.approx(START_S + 90 + POINT_S + 3)


def test_a_known_cell_takes_what_it_took() -> None:
    known = Durations({"node/stream": [cost(MIB, 0.05, kernel="triad"), cost(MIB, 0.5, kernel="copy")]}, 1.0, 1)
    assert seconds(known, asked(bytes="1MiB", kernel="triad")) == pytest.approx(START_S + 0.25)
    assert seconds(known, asked(bytes="1MiB", kernel="triad,copy")) == pytest.approx(START_S + 0.25 + 0.7)
    assert known.source == "estimated from 1 earlier run"


def test_one_launch_of_several_that_was_disturbed_counts_little() -> None:
    known = Durations({"node/stream": [cost(MIB, taken) for taken in (0.05, 0.05, 3.0)]})
    assert seconds(known, asked(bytes="1MiB")) == pytest.approx(START_S + 0.25)


def test_a_point_that_was_precise_enough_early_would_be_so_again() -> None:
    known = Durations({"node/stream": [cost(8, 0.0, measured_s=0.06)]})
    assert seconds(known, asked(bytes="8", seconds="2")) == pytest.approx(START_S + 0.06, abs=1e-3)
    assert seconds(known, asked(bytes="8", seconds="0.02")) == pytest.approx(START_S + 0.02, abs=1e-3)


def test_a_step_longer_than_the_budget_takes_its_time() -> None:
    known = Durations({"node/stream": [cost(MIB, 0.1, measured_s=5.0)]})
    assert seconds(known, asked(bytes="1MiB")) == pytest.approx(START_S + 5.1)
    assert seconds(known, asked(bytes="1MiB", seconds="1")) == pytest.approx(START_S + 1 + 4.8 + 0.1)


@pytest.mark.parametrize(
    ("size", "beyond_s"),
    [(2, 0.2), (4, 0.4), (8, 0.8), (1024, 1024 * 0.1), (1, 0.1)],
)
def test_other_sizes_lie_on_the_line_of_those_known(size: int, beyond_s: float) -> None:
    known = Durations({"node/stream": [cost(MIB, 0.1), cost(4 * MIB, 0.4)]})
    assert seconds(known, asked(bytes=f"{size}MiB")) == pytest.approx(START_S + 0.2 + beyond_s)


def test_time_grows_no_quicker_than_the_work() -> None:
    """A disturbed point of the largest size is no law: bytes take time about in proportion, products about n³."""
    known = Durations({"node/stream": [cost(MIB, 0.001), cost(2 * MIB, 0.1)]})
    assert seconds(known, asked(bytes="4MiB")) == pytest.approx(START_S + 0.2 + 0.1 * 2**1.15)
    products = Durations({"node/stream": [cost(256, 0.01, power=3.0), cost(512, 1.0, power=3.0)]})
    assert seconds(products, asked(n="1024")) == pytest.approx(START_S + 0.2 + 2**3.15)


def test_of_one_known_size_others_are_in_proportion() -> None:
    """Its time may be nearly all of what any size takes: the third power of 100 made hours of tens of milliseconds."""
    known = Durations({"node/stream": [cost(1000, 0.01, power=3.0)]})
    assert seconds(known, asked(n="100000")) == pytest.approx(START_S + 0.2 + 1.0)


def test_of_nothing_there_is_no_proportion() -> None:
    known = Durations({"node/stream": [cost(0, 0.01)]})
    assert seconds(known, asked(bytes="1MiB")) == pytest.approx(START_S + 0.2 + 0.01)


@pytest.mark.parametrize(
    ("knobs", "counts", "power"),
    [
        ({"n": "1000"}, {"elements": 1000, "bytes_read": 8000}, 1.0),  # functions of a vector
        ({"n": "1024"}, {"nominal_flops": 5 * 1024 * 10, "bytes_read": 16 * 1024}, 1.0),  # a transform
        ({"n": "64"}, {"nominal_flops": 5 * 64 * 6, "bytes_read": 16 * 64}, 1.0),
        ({"n": "100"}, {"flops": 2 * 100**3}, 3.0),  # a product of matrices
        ({"n": "1000"}, {"flops": 2 * 1000**3 // 3}, 3.0),  # a system of equations
        ({"n": "100"}, {"bytes_read": 8 * 100**2}, 2.0),  # a transposition
        ({"bytes": "4096"}, {"bytes_read": 4096, "flops": 10**9}, 1.0),
        ({"n": "1000"}, {}, 1.0),
    ],
)
def test_the_work_says_with_which_power_of_the_size_it_grows(
    tmp_path: Path, knobs: Mapping[str, str], counts: Mapping[str, int], power: float
) -> None:
    request = Request(Subject("node/stream"), knobs)
    (launch,) = request.launches()
    one = point(workload="node/stream", launch=launch.key, knobs=knobs, work=(Work(counts),), spent_s={"build_s": 0.3})
    write_run(stored(request.launches(), [one], folder=Path("runs/20261121-214530-3f2a")), tmp_path)
    ((known,),) = load_durations(Store(tmp_path), machine()).costs.values()
    assert known.power == power


def _took(launch: str, size: int, started: str, spent: Mapping[str, float]) -> Point:
    knobs = {"bytes": str(size), "seconds": "0.2", "kernel": "triad"}
    return point(workload="node/stream", launch=launch, knobs=knobs, started=started, spent_s=spent)


def test_each_library_of_a_launch_has_a_start_of_its_own(tmp_path: Path) -> None:
    """Two libraries, a start each second: of 0.65 s the point, and the rest the start."""
    request = Request(Subject("node/vecmath"), {"library": "libm,relaxed"}, repeats=12)
    points = [
        point(
            workload="node/vecmath", launch=launch.key, knobs={"library": library}, spent_s={"measure_s": 0.65},
            started=f"2026-11-21T21:45:{2 * number + half:02d}Z",
        )
        for number, launch in enumerate(request.launches())
        for half, library in enumerate(("libm", "relaxed"))
    ]  # fmt: skip
    run = write_run(stored(request.launches(), [], folder=Path("runs/20261121-214530-3f2a")), tmp_path)
    run.records.write_text("".join(f"{launch_line(one)}\n{point_line(one)}\n" for one in points), encoding="utf-8")
    assert load_durations(Store(tmp_path), machine()).start_scale == pytest.approx(0.35 / START_S)


def test_runs_of_the_machine_are_learnt_from(tmp_path: Path) -> None:
    """Twenty-four launches, one every two seconds, of which the point took 1.55 s: the rest is the start."""
    request = Request(Subject("node/stream"), {"bytes": str(MIB), "kernel": "triad"}, repeats=24)
    spent = {"build_s": 0.3, "measure_s": 0.25, "check_s": 1.0}
    points = [
        _took(launch.key, MIB, f"2026-11-21T21:45:{number * 2:02d}Z", spent)
        for number, launch in enumerate(request.launches())
    ]
    write_run(stored(request.launches(), points, folder=Path("runs/20261121-214530-3f2a")), tmp_path)
    known = load_durations(Store(tmp_path), machine())
    assert known.runs == 1
    assert known.start_scale == pytest.approx(0.45 / START_S)
    assert seconds(known, asked(bytes="1MiB", kernel="triad")) == pytest.approx(0.45 + 0.2 + 0.05 + 1.3)
    assert load_durations(Store(tmp_path), machine(cores=8)).runs == 0
    assert load_durations(Store(tmp_path), machine(), excluded_id="20261121-214530-3f2a").runs == 0
