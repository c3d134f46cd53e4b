"""When a launch has surely hung: from the declared step, and from what its points took so far. No real clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from fake_kernel import Kernel, answer, request
from fake_run import machine, point
from octant import workloads
from octant.launch.execute import ProcessOutcome
from octant.record import Point
from octant.request import Launch, Request, Shape, Subject
from octant.runs import cell_costs, plan
from octant.runs.durations import Durations
from octant.runs.plan import STARTUP_S, UNKNOWN_S, planner_of, timeout_seconds
from octant.runs.session import MAX_TIMEOUTS, execute_run, run_all
from octant.step import Part, Step
from octant.store import Store, StoredRun

DEFAULTS = {"groups": "all", "threads": "1", "n": "1000", "seconds": "0.2", "kernel": "triad"}
SOON_S = 60.0  # a cell whose steps are short


def step(knobs: Mapping[str, str], ranks: int, _threads: int) -> Step:
    """As a factorisation."""
    n = int(knobs["n"])
    return Step({"flops": 2 / 3 * n**3, "bytes_read": 8 * n * n}, 8 * n * n, (Part("", 10 * ranks, 10**6),))


@pytest.fixture
def declares(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets node/stream declare such steps, at this pace; else it declares none."""
    stream = workloads.workload("node/stream")

    def make(pace: str) -> None:
        known = {"node/stream": replace(stream, step=step if pace else None)}
        monkeypatch.setattr("octant.workloads.workloads", lambda: known)
        monkeypatch.setattr(cell_costs, "pace", lambda _name, _knobs: pace)
        for module in (cell_costs, plan):
            monkeypatch.setattr(module, "default_knobs", lambda _name: DEFAULTS)

    return make


def took(seconds: float, **knobs: str) -> Point:
    spent = {"build_s": 1.0, "measure_s": 0.2 + seconds - 1.0, "check_s": 0.0}
    return point(workload="node/stream", knobs={**DEFAULTS, **knobs}, spent_s=spent)


def limit_s(question: Request, *points: Point, hardware_threads: int = 0) -> float:
    return timeout_seconds(Launch(question), hardware_threads, Durations().add(points))


def test_a_declared_step_has_far_more_than_any_machine_takes(declares: Callable[[str], None]) -> None:
    declares("whole")
    assert limit_s(request(n="20")) < SOON_S
    hpl_s = 2 / 3 * 20_000**3 / 1e9  # at 1 Gflop/s, and a machine does 10 times as much
    assert 2 * hpl_s < limit_s(request(n="20000")) < 100 * hpl_s
    assert limit_s(request(n="20000", warmup="4")) > 2 * limit_s(request(n="20000"))
    assert limit_s(request(n="20000"), hardware_threads=1) == limit_s(request(n="20000"))
    assert (
        limit_s(request(n="20000", threads="8"), hardware_threads=8) < limit_s(request(n="20000", threads="8")) * 1.01
    )
    assert limit_s(request(n="20000", threads="8"), hardware_threads=1) > limit_s(request(n="20000")) / 1.01
    assert limit_s(request(n="20000,20000")) > 1.9 * limit_s(request(n="20000"))
    once = limit_s(request(n="20000"))
    declares("steps")
    assert limit_s(request(n="20000")) > 5 * once, "a burst has several steps"


@pytest.mark.parametrize("question", [request(), request(n="many"), Request(Subject(command=("./solve",)))])
def test_where_nothing_says_a_launch_has_an_hour(declares: Callable[[str], None], question: Request) -> None:
    declares("steps" if "n" in question.knobs else "")
    assert UNKNOWN_S < limit_s(question) < UNKNOWN_S + SOON_S


def test_links_may_be_slower_than_any(declares: Callable[[str], None]) -> None:
    declares("steps")
    linked = replace(request(n="20"), shape=Shape(2, link="100Mbit/s,delay=1ms"))
    assert UNKNOWN_S < limit_s(linked) < UNKNOWN_S + SOON_S


@pytest.mark.parametrize("pace", ["", "steps"])
def test_a_known_cell_has_ten_times_what_its_slowest_point_took(declares: Callable[[str], None], pace: str) -> None:
    declares(pace)
    base = limit_s(request(), took(1.0)) - 10.0
    assert STARTUP_S < base < SOON_S
    assert limit_s(request(), took(40.0), took(300.0)) == pytest.approx(base + 3000.0)
    assert limit_s(request(n="1000", kernel="triad"), took(300.0)) == pytest.approx(base + 3000.0)
    assert limit_s(request(seconds="5"), took(300.0)) == pytest.approx(base + 3000.0 + 4 * 4.8)
    unknown = limit_s(request())
    for other in ({"n": "999"}, {"kernel": "copy"}, {"threads": "2"}):
        assert limit_s(request(), took(300.0, **other)) == unknown
    assert limit_s(request(ranks=2), took(300.0)) == limit_s(request(ranks=2))
    assert limit_s(request(), point(workload="node/stream", knobs=DEFAULTS)) == unknown, (
        "it does not say how long it took"
    )


@dataclass
class Slow(Kernel):
    """Each start lasts so long, or until its time is over; no real time passes."""

    lasts_s: Sequence[float] = ()
    limits_s: list[float] = field(default_factory=list)

    def __call__(
        self, words: Sequence[str], environment: object, timeout_s: float, observe: Callable[[float], None]
    ) -> ProcessOutcome:
        lasts_s = self.lasts_s[len(self.limits_s)]
        self.limits_s.append(timeout_s)
        if lasts_s > timeout_s:
            self.starts.append(list(words))
            return ProcessOutcome(-9, True, timeout_s, "timed out")

        def slow(workload: str, launch: str, cell: Mapping[str, str]) -> Point:
            spent = {"build_s": 0.1, "measure_s": lasts_s, "check_s": 0.1}
            return replace(answer(workload, launch, {**DEFAULTS, **cell}), spent_s=spent)

        self.answer = slow
        return super().__call__(words, environment, timeout_s, observe)


def measured(tmp_path: Path, kernel: Slow, timeout_s: float | None = None) -> StoredRun:
    for name in ("octant-node-stream", "octant-bind"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    where = Store(tmp_path / "store")
    run = where.create("q", machine(), [request(5)])
    return execute_run(where, run, run_all(run.launches), planner_of(run, timeout_s), start=kernel)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCTANT_KERNELS", str(tmp_path))


@pytest.mark.parametrize("pace", ["", "whole"])
def test_a_kernel_that_runs_for_five_minutes_comes_to_its_end(
    declares: Callable[[str], None], pace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declares(pace)
    monkeypatch.setitem(DEFAULTS, "n", "6000")
    run = measured(tmp_path, kernel := Slow(lasts_s=[300.0, 310.0, 305.0, 300.0, 300.0]))
    assert (len(run.points), run.failures) == (5, ())
    assert 3000 < kernel.limits_s[1] < 3000 + SOON_S
    assert 3100 < kernel.limits_s[2] < 3100 + SOON_S
    assert kernel.limits_s[2] == kernel.limits_s[4]


def test_a_hang_ends_soon_once_a_cell_is_known(declares: Callable[[str], None], tmp_path: Path) -> None:
    declares("")
    never = float("inf")
    run = measured(tmp_path, kernel := Slow(lasts_s=[0.3, never, never]))
    assert kernel.limits_s[0] > UNKNOWN_S
    assert max(kernel.limits_s[1:]) < SOON_S
    assert len(kernel.limits_s) == 1 + MAX_TIMEOUTS
    assert (len(run.points), len(run.failures)) == (1, MAX_TIMEOUTS)


def test_a_time_limit_that_is_asked_for_is_the_only_one(declares: Callable[[str], None], tmp_path: Path) -> None:
    declares("")
    measured(tmp_path, kernel := Slow(lasts_s=[0.3] * 5), 7.0)
    assert kernel.limits_s == [7.0] * 5
