"""How many launches a program has, in which order its cells start, and how long each may take."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import machine, point
from octant.failure import Exit, Refusal
from octant.program import ProgramCheck
from octant.record import Point, Result
from octant.request import Launch, Request, Subject
from octant.runs.program_schedule import baseline_starts, launches_within, repeats_text, schedule_launches
from octant.runs.programs.timeouts import LEAST_S, NO_LIMIT_S, TIMES, TimeLimits
from octant.runs.session import Batch
from octant.runs.starts import list_starts
from octant.store import Repeats, Store, StoredRun


def program(*checks: ProgramCheck, repeats: int = 6, **knobs: str) -> Request:
    return Request(Subject(command=("./app", "{n}"), checks=checks), knobs or {"n": "1,2,3"}, repeats=repeats)


def answer(launch: Launch, cell: Mapping[str, str], wall_s: float, *results: Result) -> Point:
    return point("whole", launch=launch.key, knobs=cell, results=results, spent_s={"measure_s": wall_s})


class Runner:
    """Answers every launch at once, as `execute_run` does: with what is stored, and what is measured now."""

    def __init__(
        self, run: StoredRun, wall_s: float = 1.0, results: Callable[[int], Sequence[Result]] = lambda _repeat: ()
    ) -> None:
        self.run, self.wall_s, self.results = run, wall_s, results  # results: by the number of the launch
        self.fails = False
        self.points: dict[tuple[str, str], Point] = {}
        self.started: list[tuple[int, str]] = []
        self.decided: list[Repeats] = []

    def go(self, stop_after: int = 10**9) -> None:
        deciding = schedule_launches(self.run, self.decided.append)
        launch = next(deciding, None)
        while launch is not None:
            for cell in launch.cells():
                if (launch.key, cell["n"]) in self.points or self.fails:
                    continue
                if len(self.started) == stop_after:
                    return
                self.started.append((launch.repeat, cell["n"]))
                self.points[launch.key, cell["n"]] = answer(launch, cell, self.wall_s, *self.results(launch.repeat))
            found = tuple(one for (key, _), one in self.points.items() if key == launch.key)
            try:
                launch = deciding.send(Batch(launch, found, ()))
            except StopIteration:
                return


def steady(_repeat: int) -> Sequence[Result]:
    return Result("x", 1.0), Result("check", 0.0, bound=0.1)


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


def created(store: Store, request: Request, who: str = "run") -> StoredRun:
    return store.create("q", machine(), [request], who=who)


@given(st.floats(1e-6, 1e6), st.integers(1, 50))
def test_as_many_launches_as_fit_into_the_time_and_at_least_one(round_s: float, most: int) -> None:
    found = launches_within(600.0, round_s, most)
    assert 1 <= found <= most
    assert found == 1 or found * round_s <= 600.0
    assert found == most or (found + 1) * round_s > 600.0


@pytest.mark.parametrize(("wall_s", "repeats"), [(0.0, 6), (1.0, 6), (33.0, 6), (34.0, 5), (90.0, 2), (1e4, 1)])
def test_the_first_launch_of_each_cell_decides_and_the_rest_follows(store: Store, wall_s: float, repeats: int) -> None:
    runner = Runner(created(store, program()), wall_s)
    runner.go()
    assert [one.repeats for one in runner.decided] == [repeats]
    assert runner.started == [(repeat, n) for repeat in range(repeats) for n in "123"]


@pytest.mark.parametrize(("who", "given"), [("run", 2), ("study", None), ("suite", None)])
def test_a_number_that_was_asked_for_is_not_decided(store: Store, who: str, given: int | None) -> None:
    run = created(store, program(), who)
    if given:
        store.decide_repeats(run, Repeats(given))
    runner = Runner(store.read(run.id), 1e5)
    runner.go()
    assert not runner.decided
    assert len(runner.started) == 3 * (given or 6)


@pytest.mark.parametrize("stop_after", range(20))
def test_resuming_decides_the_same_again(store: Store, stop_after: int) -> None:
    request = program(ProgramCheck("value", "x", 0.1), repeats=6)
    whole, parts = Runner(created(store, request), 34.0, steady), Runner(created(store, request), 34.0, steady)
    whole.go()
    parts.go(stop_after)
    if parts.decided:
        parts.run = replace(parts.run, repeats=parts.decided[0])
    parts.go()
    assert parts.started == whole.started
    assert parts.decided == whole.decided


def test_a_run_ends_at_the_number_that_was_decided(store: Store) -> None:
    run = created(store, program())
    assert len(run.launches) == 6
    store.decide_repeats(run, Repeats(2, 250.0))
    store.decide_repeats(run, Repeats(5, 1.0))
    read = store.read(run.id)
    assert read.repeats == Repeats(2, 250.0), "what was decided first holds"
    assert [launch.repeat for launch in read.launches] == [0, 1]
    assert [launch.repeat for launch in read.remaining()] == [0, 1]


def test_a_damaged_decision_is_named_and_decides_nothing(store: Store) -> None:
    run = created(store, program())
    store.decide_repeats(run, Repeats(2))
    text = run.plan.read_text()
    for damaged in (text.replace('"repeats":2', '"repeats":3'), text.replace('"repeats"', '"repeat"', 1)):
        run.plan.write_text(damaged)
        read = store.read(run.id)
        assert (read.repeats, len(read.damaged)) == (None, 1)


def test_the_baseline_runs_twice_before_anything_else(store: Store) -> None:
    runner = Runner(created(store, program(ProgramCheck("value", "x", 0.1))), results=steady)
    runner.go()
    assert runner.started[:2] == [(0, "1"), (1, "1")]
    assert sorted(runner.started) == [(repeat, n) for repeat in range(6) for n in "123"]


@pytest.mark.parametrize(
    "check", [ProgramCheck("value", "x", 0.1, expected=1.0), ProgramCheck("file", file="a", reference="b")]
)
def test_a_check_without_a_baseline_needs_no_second_launch(store: Store, check: ProgramCheck) -> None:
    runner = Runner(created(store, program(check)), 1e4)
    runner.go()
    assert runner.started == [(0, "1"), (0, "2"), (0, "3")]


def test_with_one_launch_the_second_of_the_baseline_is_no_launch_of_the_run(store: Store) -> None:
    run = created(store, program(ProgramCheck("value", "x", 0.1), repeats=1), "study")
    runner = Runner(run, results=steady)
    runner.go()
    assert runner.started == [(0, "1"), (1, "1"), (0, "2"), (0, "3")]


@given(st.floats(0.1, 10), st.floats(0.1, 10), st.floats(1e-6, 1), st.booleans())
def test_two_equal_runs_that_differ_more_than_the_tolerance_refuse_the_run(
    first: float, second: float, tolerance: float, relative: bool
) -> None:
    check = ProgramCheck("value", "x", tolerance, relative)
    apart = abs(first - second) / (first if relative else 1)

    def results(repeat: int) -> Sequence[Result]:
        value = second if repeat % 2 else first
        return Result("x", value), Result(check.name, apart * (repeat % 2), bound=tolerance)

    runner = Runner(StoredRun(**_question(check)), results=results)
    if apart <= tolerance:
        runner.go()
        return
    with pytest.raises(Refusal) as refused:
        runner.go()
    assert refused.value.code == Exit.NOT_SUPPORTED
    assert f"two launches with equal inputs gave {first:.6g} and {second:.6g}" in str(refused.value)
    suggested = float(str(refused.value).rpartition("tolerance of ")[2].split()[0])
    assert 2 * apart * (1 - 1e-6) <= suggested <= 20 * apart
    assert str(refused.value).endswith(" absolute") is not relative
    assert len(runner.started) == 2, "nothing else was launched"


def _question(check: ProgramCheck) -> dict[str, Any]:
    request = program(check)
    order = tuple((0, repeat) for repeat in range(request.repeats))
    return {
        "who": "run", "title": "q", "started": "", "machine": machine(), "environment": {}, "requests": (request,),
        "order": order, "id": "x", "folder": Path(),
    }  # fmt: skip


def test_files_of_two_equal_runs_that_differ_refuse_the_run(store: Store) -> None:
    run = created(store, program(ProgramCheck("file", file="out.dat")))
    runner = Runner(run, results=lambda repeat: [Result("bytes", 17.0 * repeat, bound=0.0)])
    with pytest.raises(
        Refusal, match=r"cannot check the file out.dat \(two launches with equal inputs differ in 17 bytes"
    ) as refused:
        runner.go()
    assert refused.value.code == Exit.NOT_SUPPORTED


def test_a_baseline_without_the_value_is_a_wrong_result(store: Store) -> None:
    why = "no number follows 'x'; describe it with --value 'x=REGEX'"
    missing = Result("check", float("nan"), bound=0.1, where=why)
    run = created(store, program(ProgramCheck("value", "x", 0.1)))
    runner = Runner(run, results=lambda _repeat: [missing])
    with pytest.raises(Refusal, match="no number follows 'x'") as refused:
        runner.go()
    assert refused.value.code == Exit.WRONG_ANSWER


def test_a_program_that_never_ends_well_is_launched_once(store: Store) -> None:
    for check in ((), (ProgramCheck("value", "x", 0.1),)):
        runner = Runner(created(store, program(*check)))
        runner.fails = True
        runner.go()
        assert not runner.decided


@pytest.mark.parametrize(
    ("decided", "cells", "text"),
    [
        (Repeats(6, 90.0), 1, "one launch takes 90 s; 6 launches take about 9.0 min (--repeats N sets the number)"),
        (Repeats(1, 800.0), 1, "one launch takes 13.3 min; no further launch is planned (--repeats N sets the number)"),
        (Repeats(6, 0.0123), 4, "one launch of all 4 configurations takes 12 ms; 6 launches take about 74 ms (--repeats N sets the number)"),  # noqa: E501
    ],
)  # fmt: skip
def test_the_number_of_launches_is_announced(decided: Repeats, cells: int, text: str) -> None:
    assert repeats_text(decided, cells) == text


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 9))
def test_the_cells_of_a_launch_are_a_randomised_block(seed: int, count: int, repeat: int) -> None:
    request = program(n=",".join(map(str, range(count))), m="a,b")
    orders = [
        [start.started_knobs for start in list_starts([Launch(request, number)], seed)] for number in (repeat, repeat)
    ]
    assert orders[0] == orders[1], "resuming has the same order"
    assert sorted(map(repr, orders[0])) == sorted(map(repr, request.cells()))
    pair = [list_starts([Launch(request, repeat // 2 * 2 + number)], seed) for number in (0, 1)]
    assert [one.started_knobs for one in pair[0]] == [one.started_knobs for one in reversed(pair[1])]
    left = replace(Launch(request, repeat), knobs={"n": request.knobs["n"], "m": "b"})
    assert [one.started_knobs for one in list_starts([left], seed)] == [one for one in orders[0] if one["m"] == "b"]


def test_each_cell_is_first_about_equally_often() -> None:
    request = program(n="1,2,3,4")
    first = [list_starts([Launch(request, 0)], seed)[0].started_knobs["n"] for seed in range(400)]
    assert all(60 < first.count(n) < 140 for n in "1234")


@given(st.lists(st.tuples(st.sampled_from("12"), st.floats(0, 1e4)), max_size=8))
def test_the_time_limit_follows_the_slowest_launch_of_the_cell(taken: list[tuple[str, float]]) -> None:
    request, limits = program(n="1,2"), TimeLimits()
    for repeat, (n, wall_s) in enumerate(taken):
        limits.add([answer(Launch(request, repeat), {"n": n}, wall_s)])
    for n, other in itertools.product("12", (request, program(n="1,2,9"))):
        slowest = max((wall_s for one, wall_s in taken if one == n and other is request), default=None)
        limit_s = limits.limit_s(Launch(other, 8, {"n": n}))
        if slowest is None:
            assert limit_s == NO_LIMIT_S
        else:
            assert limit_s >= max(TIMES * slowest, slowest + LEAST_S) - 1e-9
            assert limit_s <= TIMES * slowest + LEAST_S


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize(
    "checks", [(), (ProgramCheck("value", "v", 0.1),), (ProgramCheck("value", "v", 0.1, expected=1.0),)]
)
def test_progress_counts_every_launch_of_the_baseline(
    tmp_path: Path, repeats: int, checks: tuple[ProgramCheck, ...]
) -> None:
    run = Store(tmp_path).create("q", machine(), [program(*checks, repeats=repeats)], who="run")
    run = replace(run, repeats=Repeats(repeats, 1.0))
    for stop_after in (0, 1, 2, 3):
        runner = Runner(
            run, results=lambda _: [Result("v", 1.0), *(Result(one.name, 0.0, bound=0.1) for one in checks)]
        )
        runner.go(stop_after)
        stopped = replace(run, points=tuple(runner.points.values()))
        left = list_starts([*baseline_starts(stopped), *stopped.remaining()])
        begun = len(runner.started)
        runner.go()
        assert len(left) == len(runner.started) - begun
